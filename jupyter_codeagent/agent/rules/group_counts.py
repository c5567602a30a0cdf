"""Counts by group of rows whose value is missing, which are none where that value is what is counted."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jupyter_codeagent.agent.rules.rule import Program, from_edits
from jupyter_codeagent.agent.source import Edit, column_of, single_values, span, valued


@from_edits
def count_missing_rows(program: Program) -> list[tuple[Edit, str]]:
    """Count the rows of groups in which a column is missing.

    ``df[df["sex"].isna()].groupby("island")["sex"].count()`` is 0 whatever the data: `count` leaves out what is
    missing, and here everything is.
    """
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
                found.append((edit, f"counted the rows without {label}: `count()` skips missing values"))
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
