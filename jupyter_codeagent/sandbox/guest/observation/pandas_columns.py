"""Looking at columns of pandas without changing them, and at what they cost."""

from __future__ import annotations

from typing import Any

from .call import Call, Operation
from .values import are_days_in_wrong_order, are_misordered_numbers, are_numbers

OBJECT_NS, PLAIN_NS = 60, 3
"""Nanoseconds that one value of an object column, or of another one, takes to be looked at; measured."""
FIRST = 1000
MOST_COLUMNS = 5


def cost_ns(column: Any) -> float:
    """Return the nanoseconds for each value."""
    return OBJECT_NS if column.dtype == object else PLAIN_NS


def is_text(column: Any) -> bool:
    """Check whether a column holds texts, among missing values."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return bool(len(column.cat.categories)) and isinstance(column.cat.categories[0], str)
    if isinstance(column.dtype, pd.StringDtype):
        return True
    return column.dtype == object and any(isinstance(value, str) for value in first_values(column)[:1])


def first_values(column: Any) -> list[Any]:
    """Return the values that are not missing among the first thousand."""
    return list(column.iloc[:FIRST].dropna())


def missing_count(call: Call, column: Any) -> int:
    """Return how many values are missing; 0 where there is no time to count them."""
    if not call.budget.allows(len(column), cost_ns(column)):
        return 0
    return int(column.isna().sum())


def label_of(column: Any) -> str:
    """Return the label of a column, empty if it has none."""
    name = column.name
    return "" if name is None else str(name)


def is_grouping(value: Any) -> bool:
    """Check for ``df.groupby(…)``, and for columns selected of it."""
    return type(value).__name__ in ("DataFrameGroupBy", "SeriesGroupBy")


def value_counts(column: Any) -> dict[Any, int]:
    """Return how many rows have each value."""
    return {value: int(count) for value, count in column.value_counts().items()}


def add_missing(call: Call, one: Operation, frame: Any, kind: str) -> None:
    """Add a fact for the columns with the most missing values."""
    found = [(missing_count(call, frame.iloc[:, at]), label) for at, label in enumerate(frame.columns)]
    for count, label in sorted(((c, str(name)) for c, name in found if c), reverse=True)[:MOST_COLUMNS]:
        one.add(kind, count, len(frame), label)


def add_numbers_as_text(one: Operation, column: Any, *, are_added: bool = False) -> None:
    """Add the fact that a column whose order counts, or that is added up, holds numbers as text."""
    is_wrong = are_numbers if are_added else are_misordered_numbers
    if is_text(column) and are_days_in_wrong_order(first_values(column)):
        one.add("dates_as_text", len(column), label=label_of(column))
    elif is_text(column) and is_wrong(first_values(column)):
        one.add("numbers_as_text", len(column), label=label_of(column))
        one.show("text", [label_of(column)], [[repr(value)] for value in first_values(column)[:5]])


def show_rows(one: Operation, title: str, frame: Any, positions: Any) -> None:
    """Show the rows at some positions."""
    import pandas as pd

    if not len(positions):
        return
    rows = frame.iloc[positions]
    if isinstance(rows, pd.Series):
        one.show(title, [label_of(rows) or "value"], [[value] for value in rows])
    else:
        few = rows.iloc[:, :6]
        one.show(title, list(few.columns), few.itertuples(index=False, name=None))
