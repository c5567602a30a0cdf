"""Joins that multiply rows: more in the result than in both inputs together, so the key is unique in neither.

Told only where all three sizes are known for certain: of frames that exist when the code has ended and that nothing
has changed since the join. A result that is narrowed under the same name is not judged. Of ``df = df.merge(…)`` the
rows before are those of the copy, as the sandbox tells its changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.agent.source import called_name
from jupyter_codeagent.types.sandbox import CopyChange

_KEEPS_ROWS = frozenset(
    {
        "rename",
        "copy",
        "clone",
        "reset_index",
        "set_index",
        "assign",
        "sort_values",
        "sort",
        "add_prefix",
        "add_suffix",
    }
)
_KINDS = frozenset({"inner", "left", "right", "outer", "full"})
_COUNTS_ONCE = frozenset({"drop_duplicates", "nunique", "n_unique", "unique"})
"""Of code that knows of repeated rows."""
_PANDAS = frozenset({"pd", "pandas"})
_ROWS_BEFORE = re.compile(r"([\d,]+) → [\d,]+ rows")


@dataclass(frozen=True, kw_only=True)
class _Join:
    line: int
    result: str
    left: str
    right: str


@from_text
def exploded_join(program: Program) -> str:
    """Report the first join that repeats rows because its key is unique in neither table."""
    tree = program.tree
    if any(_counts_once(node) for node in ast.walk(tree)):
        return ""
    rows = {entry.name: entry.shape[0] for entry in program.namespace if len(entry.shape) == 2}
    bound, before = _bindings(tree), _rows_before(program.result.changes if program.result is not None else ())
    for join in _joins(tree):
        if not _is_settled(tree, join, bound):
            continue
        result = rows.get(join.result, 0)
        left, right = ((before if name == join.result else rows).get(name, 0) for name in (join.left, join.right))
        if result > left + right and left and right:
            return (
                f"The join made {result:,} rows from {left:,} and {right:,}: its key is unique in neither table, "
                "so rows are repeated. Join on all columns that tell rows apart, or aggregate one table to one row "
                "per key first; leave it as it is only if all pairs are wanted."
            )
    return ""


def _joins(tree: ast.Module) -> Iterator[_Join]:
    """Yield joins such as ``joined = left.merge(right, …)`` at the top level."""
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=result)], value=ast.Call() as call):
                sides = _sides(call)
                if sides is not None and sides[0] != sides[1]:  # of a table with itself pairs are wanted
                    yield _Join(line=statement.lineno, result=result, left=sides[0], right=sides[1])


def _sides(call: ast.Call) -> tuple[str, str] | None:
    """Names of the tables, if it is a join that a key restricts."""
    owner, name = called_name(call)
    how = next((word.value for word in call.keywords if word.arg == "how"), ast.Constant(value="inner"))
    if not isinstance(how, ast.Constant) or how.value not in _KINDS or not isinstance(call.func, ast.Attribute):
        return None
    tables = list(call.args)
    tables += [word.value for at in ("left", "right", "other") for word in call.keywords if word.arg == at]
    if name == "merge" and owner in _PANDAS:
        sides = tables[:2]
    elif name in ("merge", "join") and len(call.args) <= 2:
        sides = [call.func.value, *tables[:1]]
    else:
        return None
    names = [_table(side) for side in sides]
    return (names[0], names[1]) if len(names) == 2 and all(names) else None


def _table(value: ast.expr) -> str:
    """Return the frame that has as many rows as this expression; empty if that is unknown."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=inner, slice=ast.List()):
            return _table(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _KEEPS_ROWS:
            return _table(inner)
    return ""


def _rows_before(changes: Sequence[CopyChange]) -> dict[str, int]:
    """Of copies whose name this code has given to another frame."""
    told = (
        (change, note)
        for change in changes
        if change.kind == "rebound" and not change.earlier
        for note in change.notes
    )
    found = ((change.name, _ROWS_BEFORE.fullmatch(note)) for change, note in told)
    return {name: int(match.group(1).replace(",", "")) for name, match in found if match is not None}


def _bindings(tree: ast.Module) -> Mapping[str, list[int]]:
    """Name -> lines where it is bound."""
    lines: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            lines.setdefault(node.id, []).append(node.lineno)
    return lines


def _is_settled(tree: ast.Module, join: _Join, bound: Mapping[str, list[int]]) -> bool:
    """Whether the three frames have at the end the rows that they had at the join."""
    if len(bound[join.result]) != 1:
        return False
    for name in {join.left, join.right} - {join.result}:
        lines = bound.get(name, [])
        if len(lines) > 1 or any(at >= join.line for at in lines):
            return False
    return not ({join.result, join.left, join.right} & set(_changed_in_place(tree)))


def _changed_in_place(tree: ast.Module) -> Iterator[str]:
    """Frames that may have lost or got rows without being bound anew."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), keywords=words) if any(
                word.arg == "inplace" for word in words
            ):
                yield name
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="loc" | "iloc"), ctx=ast.Store()):
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="extend" | "vstack" | "insert_row")):
                yield name


def _counts_once(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in _COUNTS_ONCE
