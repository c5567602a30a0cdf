"""Groupings and aggregates of pandas: groups, rows without a key, missing values skipped, rows counted twice."""

from __future__ import annotations

import re
import weakref
from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace
from typing import Any

from .call import Call, Operation, add_part, add_repeats
from .different_rows import ROWS_NS, PandasRows
from .keys import MAX_UNIQUE, add_variants
from .pandas_columns import (
    OBJECT_NS,
    add_missing,
    add_numbers_as_text,
    cost_ns,
    is_grouping,
    is_text,
    label_of,
    missing_count,
)
from .single_rows import MOST_COLUMNS, ROW_NS, add_single_row
from .table_checks import (
    CELL_NS,
    CHECK_SHARE,
    MAX_NUMBERS,
    NUMBER_NS,
    Use,
    add_implausible_numbers,
    check_table,
)

SKIPPING = frozenset(
    [
        "mean",
        "sum",
        "median",
        "std",
        "var",
        "sem",
        "min",
        "max",
        "prod",
        "quantile",
        "count",
        "nunique",
        "skew",
        "kurt",
        "mode",
        "first",
        "last",
        "idxmin",
        "idxmax",
        "describe",
        "corr",
        "cov",
        "cumsum",
        "cumprod",
        "cummax",
        "cummin",
    ]
)
"""Aggregates that skip missing values."""
COUNTING = frozenset({"size", "value_counts", "crosstab"})
AVERAGES = frozenset({"mean", "median"})
NUMERIC = frozenset(
    ["mean", "sum", "median", "std", "var", "sem", "prod", "quantile", "skew", "kurt", "corr", "cov"]
)
ORDERED = frozenset({"max", "min", "sum", "median", "idxmax", "idxmin", "rank"})
ADDED = frozenset({"sum", "median"})
"""Of these, what is wrong for numbers as text whatever their order."""
AGGREGATES = SKIPPING | COUNTING
OF_COMPARISONS = {"mean": "share", "sum": "count"}
"""What an aggregate of true and false is."""
MANY = frozenset({"agg", "aggregate", "transform"})
_WORD = re.compile(r"\w+")
UNCHANGED_BY_REPEATS = frozenset({"min", "max", "nunique", "mode", "idxmin", "idxmax"})


def _aggregate(call: Call, _: Any) -> Operation | None:
    one = _of_receiver(call)
    call.origin = replace(call.origin, compared={})
    return one


def _of_receiver(call: Call) -> Operation | None:
    import pandas as pd

    receiver = call.receiver
    if isinstance(receiver, pd.Series):
        return _of_columns(call, receiver.to_frame(label_of(receiver)), is_series=True)
    if isinstance(receiver, pd.DataFrame):
        return _of_columns(call, receiver, is_series=False)
    if is_grouping(receiver):
        return _of_groups(call, receiver)
    if type(receiver).__name__.endswith("Resampler"):
        return _of_periods(call, receiver)
    return None


def _of_columns(call: Call, frame: Any, *, is_series: bool) -> Operation | None:
    import pandas as pd

    name = call.site.name
    if name == "transform":
        return None
    one = call.operation("aggregate")
    one.rows = (len(frame), len(call.result) if isinstance(call.result, pd.Series | pd.DataFrame) else 1)
    one.detail = label_of(call.receiver) if is_series else ""
    used = frame if is_series or name not in NUMERIC else frame.select_dtypes("number")
    if name == "value_counts" and call.get("dropna", 4, True) is not True:
        used = used.iloc[:, :0]
    if name in ("value_counts", "mode"):
        add_missing(call, one, used, "missing_keys")
    else:
        _add_skipped(call, one, used)
    if is_series and name in ("nunique", "value_counts"):
        values = call.result.index if name == "value_counts" else call.receiver.dropna().unique()
        add_variants(one, label_of(call.receiver), values[:MAX_UNIQUE])
    if is_series and name in ORDERED:
        add_numbers_as_text(one, call.receiver, are_added=name in ADDED)
    if is_series and name.startswith("cum") and call.receiver.index.is_monotonic_increasing:
        add_numbers_as_text(one, call.receiver.index.to_series())
    if call.origin.uneven_means and name in AVERAGES:
        one.add("mean_of_means", call.origin.uneven_means)
        call.origin = replace(call.origin, uneven_means=0)
    _add_single_row(call, one, used, (), None)
    source = call.origin.frame() if is_series and call.origin.frame is not None else None if is_series else frame
    keys = (label_of(call.receiver),) if is_series and name in COUNTING else ()
    _add_compared(call, one, used, source)
    _add_warnings(call, one, source if source is not None and len(source) == len(frame) else frame, used, keys)
    if name in COUNTING:
        one.kind = "group"
        one.add("groups", len(call.result))
        call.origin = replace(call.origin, sorted_by=("",), part="", top="")
    return one


def _of_groups(call: Call, groups: Any) -> Operation | None:
    import pandas as pd

    name, obj, result = call.site.name, groups.obj, call.result
    if not isinstance(result, pd.DataFrame | pd.Series) or not isinstance(obj, pd.DataFrame | pd.Series):
        return None
    frame = obj.to_frame(label_of(obj)) if isinstance(obj, pd.Series) else obj
    one = call.operation("group")
    one.rows = (len(obj), len(result))
    keys = tuple(str(key) for key in _key_labels(groups))
    used = frame if isinstance(obj, pd.Series) else _used_columns(call, frame, result, keys)
    one.detail = ", ".join(map(str, used.columns)) if name not in COUNTING else ""
    one.add("groups", groups.ngroups, label=", ".join(keys))
    _add_key_variants(one, result, keys)
    numbers = _number_groups(call, one, groups, frame, keys)
    if name not in COUNTING:
        _add_skipped(call, one, used)
    if name in ORDERED or (name in MANY and ORDERED.intersection(_WORD.findall(call.site.detail))):
        are_added = not ADDED.isdisjoint({name, *_WORD.findall(call.site.detail)})
        for at in range(min(used.shape[1], 5)):
            add_numbers_as_text(one, used.iloc[:, at], are_added=are_added)
    if "nunique" in (name, *(_WORD.findall(call.site.detail) if name in MANY else ())):
        for label, column in list(used.items())[:5]:
            if is_text(column) and call.budget.allows(len(column), OBJECT_NS):
                add_variants(one, str(label), column.unique()[:MAX_UNIQUE])
    source = call.origin.frame() if call.origin.frame is not None else None
    _add_compared(call, one, used, source if source is not None else frame)
    _add_warnings(call, one, source if source is not None else frame, used, keys)
    _add_mean_of_means(call, one, groups)
    if numbers is not None:
        _add_single_row(call, one, used, keys, numbers)
    call.origin = replace(call.origin, part="", top="", sorted_by=(), repeated={}, frame=None, ratios=frozenset())
    return one


def _number_groups(call: Call, one: Operation, groups: Any, frame: Any, keys: tuple[str, ...]) -> Any:
    """Return the number of each row's group, and add rows that have none; None where there is no time for it."""
    if not call.budget.allows(len(frame), 10):
        return None
    numbers = groups.ngroup()
    lost = int((numbers.isna() | (numbers == -1)).sum()) if getattr(groups, "dropna", True) else 0
    if lost:
        one.add("missing_keys", lost, len(frame), ", ".join(_lacking(call, frame, keys)))
    return numbers


def _add_single_row(call: Call, one: Operation, used: Any, keys: tuple[str, ...], groups: Any) -> None:
    """Add columns whose greatest sum or mean is made by one row.

    `groups` are the numbers of the groups, a Series; None where all rows are one.
    """
    import numpy as np

    figures = {"sum", "mean"}.intersection({call.site.name, *_WORD.findall(call.site.detail)})
    numbers = used.select_dtypes("number").iloc[:, :MOST_COLUMNS] if figures else used.iloc[:, :0]
    if not len(numbers) or not call.budget.allows(numbers.size, ROW_NS):
        return
    places = np.zeros(len(numbers), int) if groups is None else groups.fillna(-1).to_numpy(int)
    for label, column in numbers.items():
        values = column.to_numpy(float, na_value=np.nan)
        add_single_row(one, str(label), values, places, ", ".join(keys), is_mean="sum" not in figures)


def _lacking(call: Call, frame: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the keys have missing values; all where that cannot be told."""
    if len(keys) < 2 or not frame.columns.is_unique or not {*keys} <= {*map(str, frame.columns)}:
        return keys
    lacking = {str(label) for label in frame.columns if str(label) in keys and missing_count(call, frame[label])}
    return tuple(key for key in keys if key in lacking) or keys


def _add_key_variants(one: Operation, result: Any, keys: tuple[str, ...]) -> None:
    """Add groups that are one but for case and blanks, key by key."""
    values = {str(label): column for label, column in result.items()} if result.ndim == 2 else {}
    for axis in result.axes:
        values |= dict(zip(map(str, axis.names), getattr(axis, "levels", [axis]), strict=True))
    for key in keys:
        if key in values and len(values[key]) <= MAX_UNIQUE:
            add_variants(one, key, values[key])


def _add_mean_of_means(call: Call, one: Operation, groups: Any) -> None:
    """Add that means of groups are averaged, and remember those of groups that differ in size."""
    name = call.site.name
    if name not in AVERAGES and not (name in MANY and "mean" in call.site.detail):
        return
    if call.origin.uneven_means:
        one.add("mean_of_means", call.origin.uneven_means)
    sizes = groups.size().to_numpy()[..., -1] if not groups.as_index else groups.size().to_numpy()
    if len(sizes) > 1 and sizes.min() != sizes.max():
        call.origin = replace(call.origin, uneven_means=len(sizes))


def _key_labels(groups: Any) -> list[Any]:
    """Return the labels of the grouping's keys; those of computed keys by their name."""
    keys = groups.keys
    keys = keys if isinstance(keys, list) else [keys]
    return [
        getattr(key, "name", None) or (key if isinstance(key, str) else "key") for key in keys if key is not None
    ]


def _used_columns(call: Call, frame: Any, result: Any, keys: tuple[str, ...]) -> Any:
    """Return the columns that are aggregated."""
    import pandas as pd

    if isinstance(result, pd.Series):
        labels = [result.name] if result.name in frame.columns else []
    else:
        top = result.columns.get_level_values(0) if result.columns.nlevels > 1 else result.columns
        labels = [label for label in frame.columns if label in set(top) and str(label) not in keys]
    for value in call.arguments.values():  # named aggregation: total=("price", "sum")
        if isinstance(value, tuple) and len(value) == 2 and value[0] in frame.columns and value[0] not in labels:
            labels.append(value[0])
    return frame.loc[:, labels] if frame.columns.is_unique else frame.iloc[:, :0]


def _of_periods(call: Call, periods: Any) -> Operation | None:
    import pandas as pd

    obj, result = periods.obj, call.result
    if not isinstance(result, pd.DataFrame | pd.Series) or not isinstance(obj, pd.DataFrame | pd.Series):
        return None
    frame = obj.to_frame(label_of(obj)) if isinstance(obj, pd.Series) else obj
    one = call.operation("group")
    one.rows = (len(obj), len(result))
    one.add("groups", len(result))
    used = _used_columns(call, frame, result, ())
    _add_skipped(call, one, used)
    if isinstance(frame.index, pd.DatetimeIndex) and frame.columns.is_unique:
        frame = frame.assign(**{str(frame.index.name or "time"): frame.index})
    _add_warnings(call, one, frame, used, ())
    return one


def _add_compared(call: Call, one: Operation, used: Any, source: Any) -> None:
    """Add the missing values that a comparison has counted as no, and name the comparison."""
    name, compared = call.site.name, call.origin.compared
    words = {name, *_WORD.findall(call.site.detail)} if name in MANY | {"pivot_table"} else {name}
    if not compared or not words & {*OF_COMPARISONS, "value_counts", "pivot_table"}:
        return
    found = [compared[label] for label in map(str, used.columns) if label in compared]
    if len(found) == used.shape[1] == 1:
        one.name, one.detail = OF_COMPARISONS.get(name, name), found[0].text
    for each in found:
        missing = each.missing
        if len(used) != each.rows:  # rows were left out since
            missing = missing_count(call, source[each.label]) if each.label in getattr(source, "columns", ()) else 0
        if missing:
            one.add("counted_yes" if each.is_yes else "counted_no", missing, len(used), each.label)


def _add_skipped(call: Call, one: Operation, used: Any) -> None:
    if call.site.name in COUNTING or call.get("skipna") is False:
        return
    for at in range(min(used.shape[1], 12)):
        column = used.iloc[:, at]
        if missing := missing_count(call, column):
            one.add("skipped", missing, len(column), label_of(column))


def _add_warnings(call: Call, one: Operation, frame: Any, used: Any, keys: tuple[str, ...]) -> None:
    """Add what makes a figure doubtful: rows repeated by a join, a part of the rows, and what the table holds."""
    name, origin = call.site.name, call.origin
    functions = AGGREGATES.intersection(_WORD.findall(call.site.detail)) if name in MANY else {name}
    _add_implausible_numbers(call, one, used, functions)
    if functions and functions <= UNCHANGED_BY_REPEATS:
        return
    labels = [str(label) for label in used.columns]
    add_repeats(one, origin, labels, keys, counts_rows=name in COUNTING)
    _add_repeated_sums(call, one, labels, keys)
    if averaged := [label for label in labels if label in origin.ratios and "mean" in functions]:
        one.add("mean_of_ratios", len(frame), len(frame), averaged[0])
    if origin.unmatched:
        one.add("unmatched_labels", origin.unmatched, len(frame))
    add_part(one, origin)
    step = call.budget.step_within(frame.size, CELL_NS, CHECK_SHARE)
    if step and frame.columns.is_unique:
        adds = name in NUMERIC or name in MANY or name == "pivot_table"
        table = {str(label): frame[label].iloc[::step].tolist() for label in frame.columns}
        use = Use(
            labels,
            keys,
            origin.computed,
            counts_rows=name in COUNTING or name == "count",
            adds=adds,
            averages=name == "pivot_table" or bool(AVERAGES.intersection(functions)),
        )
        is_compared = not origin.repeated and call.budget.allows(frame.size, ROWS_NS / CHECK_SHARE)
        check_table(one, table, use, PandasRows(frame) if is_compared else None)


def _add_implausible_numbers(call: Call, one: Operation, used: Any, functions: Collection[str]) -> None:
    """Add columns whose numbers are computed with though some are codes for missing ones."""
    import pandas as pd

    for at in range(min(used.shape[1], 12)):
        column = used.iloc[:, at]
        is_number = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
        if is_number and call.budget.allows(min(len(column), MAX_NUMBERS), NUMBER_NS):
            numbers = column.iloc[:: max(1, len(column) // MAX_NUMBERS)].tolist()
            add_implausible_numbers(one, label_of(column), numbers, column, functions)


def _add_repeated_sums(call: Call, one: Operation, labels: list[str], keys: tuple[str, ...]) -> None:
    """Add columns of the smaller table of a join that are added up once for each row."""
    origin = call.origin
    added = [label for label in labels if label in origin.summed_once - origin.computed]
    is_sum = call.site.name == "sum" or "sum" in call.site.detail
    if added and is_sum and not origin.summed_once.intersection(keys):
        one.add("repeated_sums", origin.repeats[0], origin.repeats[1], ", ".join(added))


def _pivot(call: Call, _: Any) -> Operation | None:
    """Observe `pivot_table` and `crosstab`: rows without a key, missing values skipped."""
    import pandas as pd

    is_function = type(call.receiver).__name__ == "module"
    frame = call.arguments.get(0, call.arguments.get("data")) if is_function else call.receiver
    result = call.result
    if not isinstance(result, pd.DataFrame):
        return None
    if not isinstance(frame, pd.DataFrame):
        one = call.operation("group")
        sides = [side for side in (call.get("index", 0), call.get("columns", 1)) if isinstance(side, pd.Series)]
        if sides:
            one.rows = (len(sides[0]), len(result))
            _add_key_variants(one, result, tuple(label_of(side) for side in sides))
            lost = pd.concat([side.isna().reset_index(drop=True) for side in sides], axis=1).any(axis=1).sum()
            if lost and call.get("dropna", None, True):
                one.add("missing_keys", int(lost), len(sides[0]), ", ".join(label_of(side) for side in sides))
            source = call.origin.frame() if call.origin.frame is not None else None
            if source is not None and len(source) == len(sides[0]):
                _add_warnings(call, one, source, source.iloc[:, :0], tuple(label_of(side) for side in sides))
        return one
    one = call.operation("group")
    one.rows = (len(frame), len(result))
    keys = _labels_in(frame, (*_list(call.get("index")), *_list(call.get("columns"))))
    values = _labels_in(frame, _list(call.get("values", 0)))
    one.detail = ", ".join(map(str, values))
    one.add("groups", len(result), label=", ".join(map(str, keys)))
    _add_key_variants(one, result, tuple(map(str, keys)))
    if keys and call.budget.allows(len(frame), sum(cost_ns(frame[key]) for key in keys)):
        _add_of_keys(call, one, frame, keys, frame[values])
    _add_skipped(call, one, frame[values])
    _add_compared(call, one, frame[values], frame)
    _add_warnings(call, one, frame, frame[values], tuple(map(str, keys)))
    function = call.get("aggfunc", 3, "mean")
    if isinstance(function, str) and function in AVERAGES and keys and call.budget.allows(len(frame), 60):
        sizes = frame.groupby(keys, observed=True).size()
        if len(sizes) > 1 and sizes.min() != sizes.max():
            call.origin = replace(call.origin, uneven_means=len(sizes))
    return one


def _add_of_keys(call: Call, one: Operation, frame: Any, keys: list[Any], used: Any) -> None:
    """Add rows without a key, and a figure that one row makes up."""
    labels = tuple(map(str, keys))
    lost = int(frame[keys].isna().any(axis=1).sum())
    if lost:
        one.add("missing_keys", lost, len(frame), ", ".join(_lacking(call, frame, labels)))
    _add_single_row(call, one, used, labels, frame.groupby(keys, observed=True).ngroup())


def _labels_in(frame: Any, asked: Iterable[Any]) -> list[Any]:
    """Return what are labels of the frame; a key may also be a column of values that was computed."""
    return [label for label in asked if isinstance(label, Hashable) and label in frame.columns]


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _group_by(call: Call, _: Any) -> Operation | None:
    """Keep the origin for the aggregate that follows, and the frame, which a selected column alone is not."""
    import pandas as pd

    if isinstance(call.receiver, pd.DataFrame):
        call.origin = replace(call.origin, frame=weakref.ref(call.receiver))
    return None


HANDLERS = {
    **dict.fromkeys((SKIPPING | COUNTING | MANY | {"rank"}) - {"crosstab"}, _aggregate),
    **dict.fromkeys(("pivot_table", "crosstab"), _pivot),
    **dict.fromkeys(("groupby", "resample", "rolling", "expanding"), _group_by),
}
