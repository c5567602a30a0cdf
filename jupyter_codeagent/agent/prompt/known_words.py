"""Decide which words may go into the prompt where the data may not.

Those are the words of this package, those that the model knows, and names of libraries. Hints and warnings contain
names and messages from the sandbox, which code can choose freely. So their text is checked word by word in the end,
whatever made it.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jupyter_codeagent.types.syntax_trees import module_tree

LIBRARIES = frozenset(
    (
        *("pandas", "numpy", "polars", "pyarrow", "scipy", "sklearn", "statsmodels", "matplotlib", "seaborn"),
        *(
            "duckdb",
            "xarray",
            "geopandas",
            "ibis",
            "dask",
            "networkx",
            "sympy",
            "plotly",
            "altair",
            "jupyter_codeagent",
        ),
        *sys.stdlib_module_names,
    )
)
_WORD = re.compile(r"\w+")
_TYPES = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(_WORD.findall(text))


def unknown_words(text: str, known: str) -> list[str]:
    """Return the words of a text that are neither known nor of this package, in order."""
    allowed = words_of(known) | package_words()
    return [word for word in _WORD.findall(text) if word not in allowed]


@cache
def package_words() -> frozenset[str]:
    """Return all words in string literals of this package, without docstrings: of hints, warnings, methods."""
    words: set[str] = set()
    for path in Path(__file__).parents[1].rglob("*.py"):
        tree = module_tree(path.read_text(encoding="utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs)
        words.update(word for node in texts if isinstance(node.value, str) for word in _WORD.findall(node.value))
    return frozenset(words)


def is_library_error(name: str) -> bool:
    """Check whether Python or a loaded library has an exception of that name."""
    return any(kind.__name__ == name for kind in _errors(BaseException))


def _errors(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    if str(kind.__module__).partition(".")[0] in LIBRARIES:
        yield kind
    for narrower in type.__subclasses__(kind):
        yield from _errors(narrower)


def is_library_type(name: str) -> bool:
    """Check whether it is a built-in type or a class at the top of a loaded library."""
    if name in _TYPES or name == "NoneType":
        return True
    loaded = (sys.modules[library] for library in LIBRARIES - sys.stdlib_module_names if library in sys.modules)
    return any(isinstance(vars(module).get(name), type) for module in loaded)
