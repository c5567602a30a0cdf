"""Which names the last cells used: parsed, never executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

MAX_CELLS = 5
MAX_CELL_CHARS = 20_000
"""Longer cells are data or programs; parsing them would cost more than the order is worth."""
CODE_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit")
"""Cell magics whose body is the user's Python; the body of any other is prose, shell or another language."""
_MAGIC_LINE = re.compile(r"^[ \t]*+[%!?].*$", re.MULTILINE)
_ASSIGNED_MAGIC = re.compile(r"^([ \t]*+[\w, ]++=[ \t]*+)[%!].*$", re.MULTILINE)


def recent_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Names in the last `MAX_CELLS` cells of code, the latest cell first, in each by first appearance.

    `cells` are raw sources, the oldest first. What is no Python (questions to the agent, other magics, cells with
    a syntax error) is passed over.
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
            warnings.simplefilter("ignore")  # of the user's cell, which has been told already when it ran
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # not Python, or too deep to parse: it says nothing about the order
    return _in_order(tree)


def _in_order(tree: ast.AST) -> list[str]:
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.lineno, node.col_offset, node.id))
        elif isinstance(node, ast.alias):
            found.append((node.lineno, node.col_offset, node.asname or node.name))
    return [name for _, _, name in sorted(found)]
