"""Find the names that the last cells used; cells are parsed, never executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from jupyter_codeagent.types.syntax_trees import module_tree

MAX_CELLS = 5
MAX_CELL_CHARS = 20_000
"""Longer cells are data or whole programs; parsing them would cost more than a better order is worth."""
CODE_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit")
"""Cell magics whose body is the user's Python; the body of any other is prose, shell or another language."""
_MAGIC_LINE = re.compile(r"^[ \t]*+[%!?].*$", re.MULTILINE)
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*+[\w, ]++=[ \t]*+)[%!].*$", re.MULTILINE)


def recent_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names in the last `MAX_CELLS` code cells, the latest cell first, in each by first appearance.

    `cells` are raw sources, the oldest first. Cells that are not Python (questions to the agent, other magics,
    syntax errors) are skipped.
    """
    names: dict[str, None] = {}
    read = 0
    for cell in reversed(cells):
        found = _names(cell)
        names.update(dict.fromkeys(found))
        read += bool(found)
        if read == MAX_CELLS:
            break
    return tuple(names)


def _names(cell: str) -> list[str]:
    source = cell.strip()
    first, _, body = source.partition("\n")
    if source.startswith("%%"):
        if first.split()[0] not in CODE_MAGICS:
            return []
        source = body
    if len(source) > MAX_CELL_CHARS:
        return []
    source = _ASSIGNED_MAGIC.sub(r"\1None", _MAGIC_LINE.sub("", source))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen the warnings of this cell when it ran
            tree = module_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # not Python, or nested too deeply to parse
    return _in_order(tree)


def _in_order(tree: ast.AST) -> list[str]:
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.lineno, node.col_offset, node.id))
        elif isinstance(node, ast.alias):
            found.append((node.lineno, node.col_offset, node.asname or node.name))
    return [name for _, _, name in sorted(found)]
