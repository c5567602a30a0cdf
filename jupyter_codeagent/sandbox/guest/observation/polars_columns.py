"""Looking at columns of polars."""

from __future__ import annotations

from typing import Any

from .call import Operation
from .values import are_misordered_numbers, are_numbers


def value_counts(column: Any) -> dict[Any, int]:
    """Return how many rows have each value."""
    counted = column.drop_nulls().value_counts()
    return dict(zip(counted.to_series(0).to_list(), counted.to_series(1).to_list(), strict=True))


def add_numbers_as_text(one: Operation, column: Any, *, are_added: bool = False) -> None:
    """Add the fact that a column whose order counts, or that is added up, holds numbers as text."""
    is_wrong = are_numbers if are_added else are_misordered_numbers
    if str(column.dtype) == "String" and is_wrong(column.head(1000)):
        one.add("numbers_as_text", len(column), label=column.name)
        one.show("text", [column.name], [[repr(value)] for value in column.head(5)])
