"""Calls of pandas that change values or columns: conversions, filling, assignment."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .call import Call, Operation
from .comparisons import SIGNS, keep_compared, with_columns
from .keys import add_cut_offs, add_near_keys
from .pandas_columns import (
    FIRST,
    OBJECT_NS,
    add_numbers_as_text,
    cost_ns,
    first_values,
    is_text,
    label_of,
    missing_count,
    value_counts,
)
from .values import ambiguous_days, are_placeholders, have_three_decimals, read_days

CONVERSIONS = frozenset(
    [
        "to_numeric",
        "to_datetime",
        "to_timedelta",
        "astype",
        "map",
        "replace",
        "cut",
        "qcut",
        "extract",
        "apply",
        "mask",
        "where",
        "to_period",
        "reindex",
    ]
)
COMPUTED = "arithmetic"
"""Name of the operation of two columns that are added, subtracted, multiplied or divided."""
NO_DATE_YEARS = 30
"""Years ahead from which one date in several rows, such as 2199-12-31, stands for none."""
PARSING = frozenset({"to_numeric", "to_datetime", "to_timedelta"})


def _convert(call: Call, _: Any) -> Operation | None:
    """Observe a conversion of a column: values that became missing, dates that can be read in two ways."""
    import pandas as pd

    column, result = _converted(call), call.result
    if not isinstance(column, pd.Series):
        return None
    if isinstance(result, pd.DataFrame) and result.shape[1] == 1:
        result = result.iloc[:, 0]
    if not isinstance(result, pd.Series) or len(result) != len(column):
        return None
    one = call.operation("convert", column, result)
    call.origin = replace(call.origin, computed=call.origin.computed | {label_of(result)})
    _add_lost(call, one, column, result)
    zone = getattr(result.dtype, "tz", None)
    if zone is not None:
        one.add("time_zone", len(result), label=str(zone))
    _add_misread(call, one, column, result)
    if str(column.dtype) != str(result.dtype) and call.site.name not in (
        "map",
        "apply",
        "replace",
        "where",
        "mask",
    ):
        one.add("retyped", 1, label=f"{label_of(column)} {column.dtype} → {result.dtype}".strip())
    return one if one.facts else None


def _add_lost(call: Call, one: Operation, column: Any, result: Any) -> None:
    """Add values that became missing, and keys of a ``map`` that differ in spelling from those of its table."""
    import pandas as pd

    if call.budget.allows(len(column), cost_ns(column) + cost_ns(result)):
        known = ~column.isna()
        became = (result.isna() & known).to_numpy(dtype=bool)
        if count := int(became.sum()):
            is_placeholder = call.site.name in PARSING and are_placeholders(column[became].head(FIRST))
            kind = "placeholders" if is_placeholder else "became_missing"
            one.add(kind, count, int(known.sum()), label_of(column))
            one.show("values that became missing", [label_of(column)], [[repr(v)] for v in column[became].head(5)])
    if call.site.name == "map" and isinstance(table := call.get("arg", 0), pd.Series) and is_text(column):
        lacking = column[~column.isin(table.index)]
        if call.budget.allows(len(lacking) + len(table), OBJECT_NS):
            add_near_keys(one, label_of(column), value_counts(lacking), table.index.dropna())


def _add_misread(call: Call, one: Operation, column: Any, result: Any) -> None:
    """Add texts and dates that may be read in another way than they are meant."""
    if call.site.name in ("astype", "to_numeric") and is_text(column) and have_three_decimals(first_values(column)):
        one.add("thousands_point", len(column), label=label_of(column))
        one.show("text", [label_of(column)], [[repr(value)] for value in first_values(column)[:5]])
    is_text_method = type(call.receiver).__name__ == "StringMethods"
    if (
        is_text_method
        and call.site.name in ("extract", "replace")
        and call.budget.allows(min(len(column), FIRST), OBJECT_NS * 20)
    ):
        add_cut_offs(one, label_of(column), column.head(FIRST), result.head(FIRST))
    if call.site.name == "to_datetime":
        _add_dates(call, one, column, result)
        _add_implausible_dates(one, column, result, in_days=call.get("unit") == "D")


def _converted(call: Call) -> Any:
    """Return the column that is converted: the receiver, that of ``column.str``, or the argument of ``pd.cut``."""
    receiver = call.receiver
    if type(receiver).__name__ == "module":
        return call.arguments.get(0, call.arguments.get("arg"))
    return getattr(receiver, "_orig", receiver) if type(receiver).__name__ == "StringMethods" else receiver


def _add_dates(call: Call, one: Operation, column: Any, result: Any) -> None:
    if not is_text(column):
        if call.get("unit") == "D" and str(call.get("origin")).startswith("1900-01-01"):
            one.add("excel_days", len(column), label=label_of(column))
        return
    if call.get("format") not in (None, "mixed", "ISO8601"):
        return
    if not call.budget.allows(min(len(column), 5000), OBJECT_NS * 10) or not hasattr(result, "dt"):
        return
    texts = column.iloc[:5000]
    either, day_first, month_first = ambiguous_days(texts)
    as_day_first, as_month_first = read_days(texts, result.iloc[:5000].dt.day)
    if day_first and month_first:
        return
    if swapped := as_month_first if day_first else as_day_first if month_first else 0:
        one.add("other_date_order", swapped, len(column), label_of(column))
    elif either and not day_first and not month_first and call.get("dayfirst") is None:
        one.add("ambiguous_dates", either, len(column), label_of(column))


def _add_implausible_dates(one: Operation, column: Any, result: Any, *, in_days: bool) -> None:
    """Add numbers that all became dates of 1970, and days or two-digit years that became years to come."""
    import pandas as pd

    known = result.iloc[:5000].dropna()
    if not len(known) or not hasattr(known, "dt"):
        return
    years = known.dt.year
    if pd.api.types.is_numeric_dtype(column.dtype) and len(known) > 1 and years.max() == 1970:
        one.add("dates_in_1970", len(known), len(column), label_of(column))
    elif in_days and years.min() > time.localtime().tm_year + 1:
        one.add("later_years", len(known), len(column), label_of(column))
    elif is_text(column) and (later := int((years > time.localtime().tm_year + 1).sum())):
        one.add("later_years", later, len(column), label_of(column))


def computed(call: Call, sides: Sequence[tuple[Any, bool]]) -> Operation | None:
    """Observe arithmetic with two columns, each with whether a join found no match for some of its rows."""
    import pandas as pd

    (left, _), (right, _) = sides
    if not all(isinstance(value, pd.Series) and len(value) == len(left) for value in (left, right, call.result)):
        return None
    one = call.operation("convert", left, call.result)
    one.name, one.detail = COMPUTED, f"{label_of(left)} {call.site.detail} {label_of(right)}"
    if call.site.detail == "-" and call.budget.allows(min(len(left), 5000), OBJECT_NS):
        _add_subtracted(one, left, right)
    for (lacking, is_unjoined), (other, is_too) in (sides, sides[::-1]):
        if is_unjoined and not is_too and call.budget.allows(len(other), cost_ns(other) + cost_ns(lacking)):
            is_lost = lacking.isna().to_numpy(dtype=bool) & other.notna().to_numpy(dtype=bool)
            if count := int(is_lost.sum()):
                label = f"{label_of(other)} without {label_of(lacking)}"
                one.add("became_missing", count, int(other.notna().sum()), label)
    return one if one.facts else None


def _add_subtracted(one: Operation, left: Any, right: Any) -> None:
    """Add dates far ahead that stand for none."""
    import pandas as pd

    for side in (left, right):
        if pd.api.types.is_datetime64_any_dtype(side.dtype):
            years = side.iloc[:5000].dropna().dt.year
            later = years > time.localtime().tm_year + NO_DATE_YEARS
            if later.sum() > 1 and years[later].nunique() == 1 and not later.all():
                one.add("later_years", int((side.dt.year == years[later].iloc[0]).sum()), len(side), label_of(side))


def _fill(call: Call, _: Any) -> Operation | None:
    """Observe `fillna` and its kin: values that were missing and no longer are."""
    import pandas as pd

    before, after = call.receiver, call.result
    one = call.operation("fill", before, after)
    if isinstance(before, pd.Series) and isinstance(after, pd.Series) and len(before) == len(after):
        if filled := missing_count(call, before) - missing_count(call, after):
            one.add("filled", filled, len(before), label_of(before))
    elif isinstance(before, pd.DataFrame) and isinstance(after, pd.DataFrame) and before.shape == after.shape:
        for at, label in enumerate(before.columns):
            filled = missing_count(call, before.iloc[:, at]) - missing_count(call, after.iloc[:, at])
            if filled > 0:
                one.add("filled", filled, len(before), label)
    return one if one.facts else None


def columns_changed(call: Call, origin_of: Any = None) -> Operation | None:
    """Observe `assign`, `rename` and `drop`: columns added, overwritten and removed."""
    import pandas as pd

    before, after = call.receiver, call.result
    if not isinstance(before, pd.DataFrame) or not isinstance(after, pd.DataFrame):
        return None
    one = call.operation("columns", before, after)
    old, new = [str(label) for label in before.columns], [str(label) for label in after.columns]
    if added := [label for label in new if label not in set(old)]:
        one.add("added", len(added), label=", ".join(added))
    if removed := [label for label in old if label not in set(new)]:
        one.add("removed", len(removed), label=", ".join(removed))
    if call.site.name == "assign" and origin_of is not None:
        call.origin = with_columns(call.origin, {key: call.arguments[key] for key in _assigned(call)}, origin_of)
        overwritten = [str(key) for key in _assigned(call) if str(key) in set(old)]
        if overwritten:
            one.add("overwritten", len(overwritten), label=", ".join(overwritten))
    return one if one.facts else None


def _assigned(call: Call) -> list[str]:
    return [key for key in call.arguments if isinstance(key, str)]


def stored(call: Call) -> Operation | None:
    """Observe ``df["x"] = values``: a new column or one overwritten, with values that are missing now."""
    import pandas as pd

    frame, labels, value = call.receiver, call.arguments.get(0), call.result
    if not isinstance(frame, pd.DataFrame):
        return None
    one = call.operation("columns")
    one.rows = (len(frame), len(frame))
    known = set(frame.columns)
    for label in labels if isinstance(labels, list) else [labels]:
        one.add("overwritten" if label in known else "added", 1, label=label)
    if isinstance(value, pd.Series) and not isinstance(labels, list) and not call.get("is_part"):
        if labels in known and len(value) == len(frame):
            old = frame[labels]
            if isinstance(old, pd.Series) and str(old.dtype) != str(value.dtype):
                one.add("retyped", 1, label=f"{labels} {old.dtype} → {value.dtype}")
        unmatched = _unaligned(call, frame, value)
        if unmatched:
            one.add("became_missing", unmatched, len(frame), labels)
    return one


def _unaligned(call: Call, frame: Any, value: Any) -> int:
    """Return how many rows get nothing because the index of the values has no such label."""
    if frame.index is value.index or not call.budget.allows(len(frame), 40) or frame.index.equals(value.index):
        return 0
    return int((~frame.index.isin(value.index)).sum())


def _compare(call: Call, _: Any) -> Operation | None:
    keep_compared(call)
    if call.site.name in ("eq", "ne"):
        return None
    one = call.operation("comparison")
    if hasattr(call.receiver, "dtype") and call.budget.allows(1000, OBJECT_NS):
        add_numbers_as_text(one, call.receiver)
    return one if one.facts else None


HANDLERS: dict[str, Callable[[Call, Any], Operation | None]] = {
    **dict.fromkeys(CONVERSIONS, _convert),
    **dict.fromkeys(("fillna", "ffill", "bfill", "interpolate"), _fill),
    **dict.fromkeys(("assign", "rename", "add_prefix", "add_suffix"), columns_changed),
    **dict.fromkeys((*SIGNS, "between"), _compare),
}
