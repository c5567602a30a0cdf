"""Find the names that cells used or bound; cells are parsed, never executed."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Sequence

from jupyter_codeagent.notebook.effects.scopes import bound
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


def names_bound_by(programs: Collection[str], cells: Sequence[str]) -> frozenset[str]:
    """Return the names whose last binding in these cells is in a cell that is one of the programs, unchanged."""
    codes = {program.strip() for program in programs}
    ran = [cell.strip() in codes for cell in cells]
    last: dict[str, bool] = {}
    for cell in cells[ran.index(True) :] if any(ran) else ():
        tree = _tree(cell)
        last.update(dict.fromkeys(bound(tree.body) if tree else (), cell.strip() in codes))
    return frozenset(name for name, is_of_program in last.items() if is_of_program)


def _names(cell: str) -> list[str]:
    tree = _tree(cell)
    return _in_order(tree) if tree is not None else []


def _tree(cell: str) -> ast.Module | None:
    """Return the syntax tree of a cell; None where it is not Python or too long."""
    source = cell.strip()
    first, _, body = source.partition("\n")
    if source.startswith("%%"):
        if first.split()[0] not in CODE_MAGICS:
            return None
        source = body
    if len(source) > MAX_CELL_CHARS:
        return None
    source = _ASSIGNED_MAGIC.sub(r"\1None", _MAGIC_LINE.sub("", source))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen the warnings of this cell when it ran
            return module_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # not Python, or nested too deeply to parse


def _in_order(tree: ast.AST) -> list[str]:
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.append((node.lineno, node.col_offset, node.id))
        elif isinstance(node, ast.alias):
            found.append((node.lineno, node.col_offset, node.asname or node.name))
    return [name for _, _, name in sorted(found)]
