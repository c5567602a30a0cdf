"""``x.str.replace(r"\\(.*\\)", "")``: since pandas 2 a plain text that stands nowhere, and a pattern is meant."""

from __future__ import annotations

import ast
import re

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, add_argument

_PATTERN = re.compile(
    r"\\[dDsSwWb()\[\].$+*?|^{}]"  # an escape: nobody writes a backslash before these in a text
    r"|\.[*+]"
    # [^a-z], [0-9.], [$,]; not [edit] nor [1]
    r"|\[\^(?:\[|[^\[\]])[^\[\]]*+\]|\[(?=[^\[\]]*+\])(?:[^\[\]]*?\w-\w|[^\[\]\w\s]{2,}+\])"
)
_POLARS = re.compile(r"\bpl\.|\.(?:with_columns|select|group_by)\(")
"""There each of them reads a pattern, and none takes ``regex=True``."""
_DRIVE = re.compile(r"^[A-Za-z]:\\")


@from_edits
def read_as_patterns(program: Program) -> list[tuple[Edit, str]]:
    """Add ``regex=True`` to `Series.str.replace` with what can be nothing but a pattern.

    The other methods of pandas read a pattern by default.
    """
    tree, code = program.tree, program.code
    if _POLARS.search(code):
        return []
    return [
        (add_argument(code, node, "regex=True"), "added regex=True to `str.replace()`")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _replaces_by_pattern(node)
    ]


def _replaces_by_pattern(call: ast.Call) -> bool:
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="str"), attr="replace"),
            args=[ast.Constant(value=str(text)), *rest],
        ) if len(rest) < 2:
            is_pattern = _PATTERN.search(text) is not None and _DRIVE.match(text) is None
            return is_pattern and all(word.arg in ("repl", "case", "n") for word in call.keywords)
    return False
