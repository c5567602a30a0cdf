"""Shares by group of two counts: a group that has none of what was counted has a share of 0, not a missing one.
And counts by group of rows whose value is missing, which are none where that value is what is counted."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, column_of, single_values, span, text_of, valued

_SEES_TO_IT = frozenset(
    {"dropna", "fillna", "isna", "notna", "isnull", "notnull", "mean", "median", "std", "var", "describe", "loc"}
)


@from_edits
def none_is_zero(program: Program) -> list[tuple[Edit, str]]:
    """``heavy["origin"].value_counts() / cars["origin"].value_counts()`` has no figure for an origin without heavy
    cars. Only of rows of a table over all of its rows, by the same key; not where the program sees to what is
    missing, or goes on with a figure of all groups, for which it is open whether those without count."""
    tree, code = program.tree, program.code
    if any(isinstance(node, ast.Attribute) and node.attr in _SEES_TO_IT for node in ast.walk(tree)):
        return []
    values = single_values(tree)
    edits = []
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                some, whole = _counted(left, values), _counted(right, values)
                if some is None or whole is None or some[1] != whole[1]:
                    continue
                if isinstance(whole[0], ast.Name) and _is_part_of(some[0], whole[0].id, values):
                    _, end = span(code, left)
                    filled = f".reindex({text_of(code, right)}.index, fill_value=0)"
                    edits.append(Edit(start=end, end=end, text=filled))
    return [(edit, "the share of a group that has none is 0") for edit in edits]


@from_edits
def count_missing_rows(program: Program) -> list[tuple[Edit, str]]:
    """``df[df["sex"].isna()].groupby("island")["sex"].count()`` is 0 whatever the data: `count` leaves out what is
    missing, and here all is. The rows themselves are meant."""
    tree, code = program.tree, program.code
    values = single_values(tree)
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Subscript(
                        value=ast.Call(func=ast.Attribute(value=rows, attr="groupby"), keywords=[]) as groups,
                        slice=ast.Constant(value=str(label)),
                    ),
                    attr="count",
                ),
                args=[],
            ) if _is_missing_in(rows, label, values):
                edit = Edit(start=span(code, groups)[1], end=span(code, node)[1], text=f".size().rename({label!r})")
                found.append((edit, f"rows without {label} are counted: count leaves out what is missing"))
    return found


def _is_missing_in(rows: ast.expr, label: str, values: Mapping[str, ast.expr]) -> bool:
    """Whether these are ``frame[frame[label].isna()]``, or a name for them."""
    match valued(rows, values):
        case ast.Subscript(
            value=ast.Name(id=frame),
            slice=ast.Call(func=ast.Attribute(value=column, attr="isna" | "isnull"), args=[]),
        ):
            return column_of(column) == (frame, label)
    return False


def _counted(value: ast.expr, values: Mapping[str, ast.expr]) -> tuple[ast.expr, str] | None:
    """(table, key) of a count of its rows by group."""
    match valued(value, values):
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript() as column, attr="value_counts"), args=[], keywords=[]
        ):
            if isinstance(column.slice, ast.Constant):
                return column.value, ast.unparse(column.slice)
        case ast.Call(func=ast.Attribute(value=ast.Call() as groups, attr="size"), args=[]):
            match groups:
                case ast.Call(func=ast.Attribute(value=table, attr="groupby"), args=[key], keywords=[]):
                    return table, ast.unparse(key)
    return None


def _is_part_of(table: ast.expr, whole: str, values: Mapping[str, ast.expr]) -> bool:
    """Whether these are rows of that table: ``whole[…]``, ``whole.query(…)``, or a name for it."""
    match valued(table, values):
        case ast.Subscript(value=ast.Name(id=name)):
            return name == whole
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="query" | "dropna")):
            return name == whole
    return False
