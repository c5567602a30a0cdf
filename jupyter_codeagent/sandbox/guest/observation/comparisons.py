"""Comparisons of a pandas column with a value: another spelling, another type, numbers that are text."""

from __future__ import annotations

from typing import Any

from .call import Call, Operation
from .keys import near_misses
from .pandas_columns import OBJECT_NS, first_values, is_text, label_of, value_counts
from .values import are_days_in_wrong_order, are_numbers


def observe(call: Call) -> Operation | None:
    """Return an operation only if the comparison can hardly mean what it says."""
    import pandas as pd

    column, other, name = call.receiver, call.arguments.get(0), call.site.name
    if not isinstance(column, pd.Series) or not call.budget.allows(len(column), OBJECT_NS):
        return None
    one = call.operation("comparison")
    if isinstance(other, str | int | float):
        add_comparison(one, column, name, other)
    elif (
        isinstance(other, pd.Series)
        and name not in ("==", "!=")
        and all(is_text(side) and are_numbers(first_values(side)) for side in (column, other))
    ):
        one.add("numbers_as_text", len(column), label=column.name)
    return one if one.facts else None


def add_comparison(one: Operation, column: Any, operator: str, other: Any) -> None:
    """Add what a comparison of a column with one value can hardly mean."""
    is_equality = operator in ("==", "!=")
    if isinstance(other, str) and is_text(column):
        if is_equality:
            near_misses(one, label_of(column), value_counts(column), (other,))
        elif are_days_in_wrong_order(first_values(column)):
            one.add("dates_as_text", len(column), label=label_of(column))
        elif are_numbers((other,) * 2) and are_numbers(first_values(column)):
            one.add("numbers_as_text", len(column), label=label_of(column))
            one.show("text", [label_of(column)], [[repr(value)] for value in first_values(column)[:5]])
    elif is_equality and differs_in_type(column, other):
        one.add("types_differ", len(column), label=label_of(column))
        compared = [[repr(value), repr(other)] for value in first_values(column)[:3]]
        one.show("types", [label_of(column), "compared with"], compared)


def differs_in_type(column: Any, other: Any) -> bool:
    """Check for text compared with a number, or numbers with a text."""
    import pandas as pd

    if isinstance(other, bool) or not isinstance(other, str | int | float):
        return False
    if isinstance(other, str):
        return bool(pd.api.types.is_numeric_dtype(column.dtype)) and not pd.api.types.is_bool_dtype(column.dtype)
    return is_text(column) and are_numbers(first_values(column))
