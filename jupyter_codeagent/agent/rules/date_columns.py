"""Columns that a table does not have, but its year, month and day do: ``groupby("quarter")``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from jupyter_codeagent.agent.rules.error_reading import frames, missing_labels
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited, with_line_before
from jupyter_codeagent.agent.source import Edit, called_name, column_of, span, statement_at, used_names
from jupyter_codeagent.types.sandbox import NamespaceEntry
from jupyter_codeagent.variables.describers.date_parts import PARTS

_OF_DATE: Mapping[str, str] = {
    "quarter": ".dt.quarter",
    "date": "",
    **dict.fromkeys(("weekday", "day_of_week", "day_name"), ".dt.day_name()"),
    **dict.fromkeys(("month_name", "monthname"), ".dt.month_name()"),
}
"""Column -> how it is made of dates."""
_GROUPING = frozenset({"groupby", "pivot_table", "value_counts", "sort_values", "reset_index"})


def derive_from_dates(program: Program) -> Fix | None:
    """``groupby("quarter")`` of a table with year, month and day: the column is made in front of the statement.

    Only where the statement reads one such table and the program uses the column for groups alone.
    """
    tree, error, namespace = program.tree, program.error, program.namespace
    is_column = error.ename == "KeyError" or error.evalue.startswith("'DataFrame' object")
    labels = missing_labels(error) if is_column else ()
    statement = statement_at(tree, error.line)
    if statement is None or len(labels) != 1 or labels[0].lower() not in _OF_DATE:
        return None
    label, used = labels[0], used_names(statement)
    tables = [entry for entry in frames(namespace) if entry.name in used and entry.type_name == "DataFrame"]
    if len(tables) != 1 or not _groups_alone(tree, label):
        return None
    value = _value(tables[0], label.lower())
    if not value or label in tables[0].columns or not label.isidentifier():
        return None
    line = f"{tables[0].name} = {tables[0].name}.assign({label}={value})"
    return with_line_before(program, statement, line, f"column {label!r} is made of the dates")


def _groups_alone(tree: ast.Module, label: str) -> bool:
    """Whether the label stands in calls that make groups, and nowhere else: with what it is compared is a guess, a
    weekday may be 5, ``Sat`` or ``Saturday``."""
    in_groups: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called_name(node)[1] in _GROUPING:
            arguments = [*node.args, *(word.value for word in node.keywords)]
            in_groups |= {id(part) for argument in arguments for part in ast.walk(argument)}
    uses = [
        node
        for node in ast.walk(tree)
        if (isinstance(node, ast.Constant) and node.value == label)
        or (isinstance(node, ast.Attribute) and node.attr == label)
    ]
    return bool(uses) and all(id(node) in in_groups and isinstance(node, ast.Constant) for node in uses)


def parts_as_dates(program: Program) -> Fix | None:
    """``trips["day"].dt`` of a table with year, month and day as numbers: the date that they make is meant."""
    tree, code, error, namespace = program.tree, program.code, program.error, program.namespace
    if "Can only use .dt accessor with datetimelike values" not in error.evalue:
        return None
    tables = {entry.name: made for entry in frames(namespace) if (made := _made_of_parts(entry))}
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "dt" and (column := column_of(node.value)) is not None:
            name, label = column
            if name in tables and label.lower() in PARTS:
                start, end = span(code, node.value)
                edits.append(Edit(start=start, end=end, text=tables[name]))
    return edited(program, edits, "year, month and day are taken together as dates", imports=True)


def _made_of_parts(table: NamespaceEntry) -> str:
    """``pd.to_datetime(…)`` of its year, month and day; empty where these are no columns of whole numbers."""
    numbers = _numbers(table)
    made = f"pd.to_datetime({table.name}[{[numbers.get(name, '') for name in PARTS]!r}])"
    return made if all(name in numbers for name in PARTS) else ""


def _numbers(table: NamespaceEntry) -> dict[str, str]:
    """Columns of whole numbers, by their names in small letters."""
    kinds = zip(table.columns, table.dtypes, strict=False)
    return {column.lower(): column for column, kind in kinds if kind.lower().startswith("int")}


def _value(table: NamespaceEntry, label: str) -> str:
    """Empty where the table has not the numbers for it."""
    if made := _made_of_parts(table):
        return f"{made}{_OF_DATE[label]}"
    if label == "quarter" and (month := _numbers(table).get("month")):
        return f"({table.name}[{month!r}] - 1) // 3 + 1"
    return ""
