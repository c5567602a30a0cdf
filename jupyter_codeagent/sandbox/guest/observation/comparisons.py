"""Comparisons of a pandas column with a value: another spelling, another type, numbers that are text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .call import Call, Compared, Operation, Origin, text
from .keys import near_misses
from .pandas_columns import OBJECT_NS, cost_ns, first_values, is_text, label_of, value_counts
from .values import CHECKED, are_days_in_wrong_order, are_misordered_numbers, are_numbers

SIGNS = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}
AND_OR = {"&": " and ", "|": " or "}
COMPARING = frozenset({*SIGNS, "between", "isin"})
"""Methods that compare a column."""


def observe(call: Call) -> Operation | None:
    """Return an operation only if the comparison can hardly mean what it says."""
    import pandas as pd

    keep_compared(call)
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
        and are_misordered_numbers(
            value for side in (column, other) for value in first_values(side)[: CHECKED // 2]
        )
    ):
        one.add("numbers_as_text", len(column), label=column.name)
    return one if one.facts else None


def keep_compared(call: Call) -> None:
    """Keep that the result is one of a comparison, for which a missing value is false, or true if it is ``!=``."""
    import pandas as pd

    column, result, other = call.receiver, call.result, call.arguments.get(0)
    if not isinstance(column, pd.Series) or not isinstance(result, pd.Series) or len(result) != len(column):
        return
    if result.dtype != bool or not call.budget.allows(len(column), cost_ns(column)):
        return  # missing values of other types stay missing
    missing = column.isna().to_numpy(dtype=bool)
    if isinstance(other, pd.Series) and len(other) == len(column):
        missing = missing | other.isna().to_numpy(dtype=bool)
    count = int(missing.sum())
    is_yes = call.site.name in ("!=", "ne")
    compared = Compared(_comparison_text(call), label_of(column), count, len(column), is_yes)
    call.origin = replace(call.origin, compared={label_of(result): compared})


def both_compared(call: Call, other: Origin) -> dict[str, Compared]:
    """Return what ``a & b`` or ``a | b`` compares, with the missing values of the side that has more of them."""
    sides = [of_column(side, of) for side, of in ((call.receiver, call.origin), (call.arguments.get(0), other))]
    known = [side for side in sides if side is not None and side.rows == len(call.result)]
    if not known or call.site.detail not in AND_OR:
        return {}
    whole = AND_OR[call.site.detail].join("…" if side is None else side.text for side in sides)
    return {label_of(call.result): replace(max(known, key=lambda side: side.missing), text=text(whole))}


def of_column(column: Any, origin: Origin) -> Compared | None:
    """Return the comparison that a column is the result of."""
    import pandas as pd

    return origin.compared.get(label_of(column)) if isinstance(column, pd.Series) else None


def with_columns(origin: Origin, columns: Mapping[str, Any], origin_of: Callable[[Any], Origin]) -> Origin:
    """Return the origin of a frame in which these columns are stored; they may be results of comparisons."""
    found = {label: of_column(column, origin_of(column)) for label, column in columns.items()}
    kept = {label: one for label, one in origin.compared.items() if label not in columns}
    return replace(origin, compared=kept | {label: one for label, one in found.items() if one is not None})


def _comparison_text(call: Call) -> str:
    """Return ``delay > 0``, whether it is written as an operator or as a method."""
    name, label, other = call.site.name, label_of(call.receiver), call.arguments.get(0)
    sign = SIGNS.get(name, name)
    if sign in SIGNS.values() and label and isinstance(other, str | int | float):
        return text(f"{label} {sign} {other!r}")
    return text(f"{label}.{name}({call.site.detail})" if name in COMPARING else call.site.detail)


def add_comparison(one: Operation, column: Any, operator: str, other: Any) -> None:
    """Add what a comparison of a column with one value can hardly mean."""
    is_equality = operator in ("==", "!=")
    if isinstance(other, str) and is_text(column):
        if is_equality:
            near_misses(one, label_of(column), value_counts(column), (other,))
        elif are_days_in_wrong_order(first_values(column)):
            one.add("dates_as_text", len(column), label=label_of(column))
        elif are_numbers((other,) * 2) and are_misordered_numbers([other, *first_values(column)]):
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
