"""Calls of polars: what each does to rows and values. A lazy frame is counted where it is collected."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .call import Call, Operation, Origin
from .keys import MAX_UNIQUE, add_near_keys, add_variants, count_matches, count_repeats, near_misses
from .table_checks import CELL_NS, CHECK_SHARE, Use, check_table
from .values import are_numbers

VALUE_NS, JOIN_NS = 5, 120
_COMPARED = re.compile(r'\[?\(?col\("([^"]+)"\)\)? (==|!=|<|<=|>|>=) \(?"([^"]*)"\)?\]?')
"""A column compared with a text, in the text of an expression."""
SKIPPING = frozenset(
    ["mean", "sum", "median", "std", "var", "min", "max", "quantile", "count", "n_unique", "describe"]
)
AVERAGES = frozenset({"mean", "median"})


def observe(call: Call, origin_of: Any) -> Operation | None:
    """Return what the call did; None if that is nothing to rows or values."""
    import polars as pl

    value = call.receiver if type(call.receiver).__name__ != "module" else call.arguments.get(0)
    call.origin = origin_of(value)
    name = call.site.name
    if type(call.receiver).__name__ == "LazyGroupBy" and name == "agg":
        return _aggregate_lazily(call)
    if name in ("group_by", "get_column", "lazy") or (name == "[]" and isinstance(call.result, pl.Series)):
        _keep_frame(call)
        return None
    if name == "[]":
        return _part(call) if isinstance(value, pl.DataFrame) else None
    if type(call.receiver).__name__ == "GroupBy":
        return _aggregate_groups(call)
    if name == "[]=" or not call.site.all_known:
        return None
    handler = HANDLERS.get(name)
    if type(call.receiver).__name__ == "LazyFrame":
        _keep_lazily(call)
        return None
    if handler is None or type(call.receiver).__name__ in ("Expr", "LazyGroupBy"):
        return None
    return handler(call)


def _filter(call: Call) -> Operation | None:
    import polars as pl

    if not isinstance(call.result, pl.DataFrame | pl.Series):
        return None
    frame = call.receiver
    one = call.operation("filter", frame, call.result)
    if isinstance(frame, pl.DataFrame) and call.budget.allows(len(frame), VALUE_NS * 10):
        for key, value in call.arguments.items():
            if isinstance(key, int):
                _add_comparisons(one, frame, str(value))
    return one


def _add_comparisons(one: Operation, frame: Any, expression: str) -> None:
    """Add what the comparisons with texts in an expression can hardly mean."""
    for label, operator, wanted in _COMPARED.findall(expression)[:10]:
        if label in frame.columns and str(frame[label].dtype) in ("String", "Categorical"):
            column = frame[label].cast(str)
            if operator in ("==", "!="):
                if operator == "!=" and (count := column.null_count()):
                    one.add("missing", count, len(column), label)
                near_misses(one, label, _value_counts(column), (wanted,))
            elif are_numbers((wanted,) * 2) and are_numbers(column.head(1000)):
                one.add("numbers_as_text", len(column), label=label)


def _value_counts(column: Any) -> dict[Any, int]:
    counted = column.drop_nulls().value_counts()
    return dict(zip(counted.to_series(0).to_list(), counted.to_series(1).to_list(), strict=True))


def _part(call: Call) -> Operation | None:
    """Observe a slice, `head` and the like: a part that may be taken for all."""
    frame, result = call.receiver, call.result
    if type(result) is not type(frame) or len(result) >= len(frame):
        return None
    one = call.operation("cut", frame, result)
    if call.origin.sorted_by:
        _add_ties(call, one, frame, result)
    else:
        part = f"{call.site.name}({call.site.detail})"
        call.origin = replace(call.origin, part=part, part_rows=(len(result), len(frame)))
    return one


def _add_ties(call: Call, one: Operation, frame: Any, result: Any) -> None:
    labels = [label for label in call.origin.sorted_by if label in getattr(frame, "columns", ())]
    if not labels or not len(result) or not call.budget.allows(len(frame), VALUE_NS * len(labels)):
        return
    last = result.row(0 if call.site.name == "tail" else -1, named=True)
    counts = []
    for part in (frame, result):
        equal = part[labels[0]].eq_missing(last[labels[0]])
        for label in labels[1:]:
            equal = equal & part[label].eq_missing(last[label])
        counts.append(int(equal.sum()))
    if counts[0] > counts[1]:
        one.add("ties", counts[0] - counts[1], label=", ".join(labels))


def _sort(call: Call) -> Operation | None:
    by = [value for key, value in call.arguments.items() if isinstance(key, int) or key == "by"]
    labels = [label for value in by for label in (value if isinstance(value, list | tuple) else [value])]
    call.origin = replace(
        call.origin, sorted_by=tuple(label for label in labels if isinstance(label, str)) or ("",)
    )
    one = call.operation("sort", call.receiver, call.result)
    for label in call.origin.sorted_by:
        if label in getattr(call.receiver, "columns", ()):
            _add_numbers_as_text(one, call.receiver[label])
    return one if one.facts else None


def _top(call: Call) -> Operation | None:
    by = call.get("by")
    call.origin = replace(call.origin, sorted_by=(by,) if isinstance(by, str) else ("",))
    if len(call.result) >= len(call.receiver):
        return None
    one = call.operation("cut", call.receiver, call.result)
    if isinstance(by, str):
        _add_ties(call, one, call.receiver, call.result)
    return one


def _add_numbers_as_text(one: Operation, column: Any) -> None:
    if str(column.dtype) == "String" and are_numbers(column.head(1000)):
        one.add("numbers_as_text", len(column), label=column.name)
        one.show("text", [column.name], [[repr(value)] for value in column.head(5)])


def _unique(call: Call) -> Operation | None:
    return call.operation("deduplicate", call.receiver, call.result) if hasattr(call.result, "shape") else None


def _drop_nulls(call: Call) -> Operation | None:
    one = call.operation("drop_missing", call.receiver, call.result)
    if hasattr(call.receiver, "columns"):
        for column in call.receiver.get_columns():
            if count := column.null_count():
                one.add("missing", count, len(call.receiver), column.name)
    return one


def _join(call: Call) -> Operation | None:
    import polars as pl

    left, right, how = call.receiver, call.get("other", 0), call.get("how", 2, "inner")
    if not isinstance(left, pl.DataFrame) or not isinstance(right, pl.DataFrame):
        return None
    one = call.operation("join", left, call.result)
    one.other_rows = len(right)
    keys = _join_keys(call, left, right)
    if keys is None or how in ("cross", "semi", "anti"):
        return one
    if call.budget.allows((len(left) + len(right)) * len(keys[0]), JOIN_NS):
        _add_matches(call, one, how, (left, right), keys)
    return one


def _join_keys(call: Call, left: Any, right: Any) -> tuple[list[str], list[str]] | None:
    """Return the labels of the keys on both sides; None where they are given in another way."""
    on = call.get("on", 1)
    ours, theirs = (_labels(call.get(side) or on) for side in ("left_on", "right_on"))
    known = {*ours} <= {*left.columns} and {*theirs} <= {*right.columns}
    return (ours, theirs) if ours and len(ours) == len(theirs) and known else None


def _add_matches(
    call: Call, one: Operation, how: str, tables: tuple[Any, Any], keys: tuple[list[str], list[str]]
) -> None:
    import polars as pl

    left, right = tables
    for label in keys[0]:
        if nulls := left[label].null_count():
            one.add("missing_keys", nulls, len(left), label)
    is_filter = len(right.columns) <= len(keys[1])
    matches = count_matches(one, how, _codes(left.select(keys[0]), right.select(keys[1])), is_filter=is_filter)
    lacking = left.filter(pl.Series(~matches.in_right))
    if len(lacking):
        one.show("rows without a match", lacking.columns, lacking.head(5).rows())
    if len(keys[0]) == 1 and str(left[keys[0][0]].dtype) == "String":
        ours, theirs = lacking[keys[0][0]], right[keys[1][0]]
        add_near_keys(one, keys[0][0], _value_counts(ours), theirs.drop_nulls().unique())
    count_repeats(one, call, how, matches, (left.columns, right.columns))


def _labels(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    return list(values) if all(isinstance(one, str) for one in values) else []


def _codes(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both sides' keys as numbers; those of missing keys match nothing, as in polars."""
    import numpy as np
    import polars as pl

    combined = np.zeros(len(left) + len(right), dtype=np.int64)
    missing = np.zeros(len(combined), dtype=bool)
    for at in range(len(left.columns)):
        both = pl.concat([left.to_series(at).alias("key"), right.to_series(at).alias("key")])
        codes = both.cast(pl.String).cast(pl.Categorical).to_physical()
        missing |= both.is_null().to_numpy()
        codes_np = codes.cast(pl.Int64).fill_null(0).to_numpy()
        _, combined = np.unique(combined * (int(codes_np.max()) + 1) + codes_np, return_inverse=True)
    ours, theirs = combined[: len(left)] + 1, combined[len(left) :] + 1
    ours[missing[: len(left)]], theirs[missing[len(left) :]] = 0, -1
    return ours, theirs


def _keep_frame(call: Call) -> None:
    """Keep the frame of a column or of a grouping for the aggregate that follows."""
    import polars as pl

    if isinstance(call.receiver, pl.DataFrame):
        call.origin = replace(call.origin, frame=weakref.ref(call.receiver))
    elif call.site.name == "group_by":
        return  # of a lazy frame, which may be a whole one


def _aggregate_groups(call: Call) -> Operation | None:
    import polars as pl

    frame = call.origin.frame() if call.origin.frame is not None else None
    if not isinstance(frame, pl.DataFrame) or not isinstance(call.result, pl.DataFrame):
        return None
    one = call.operation("group")
    one.detail = "" if call.site.name == "agg" else one.detail
    one.rows = (len(frame), len(call.result))
    roots = _root_names(call)
    keys = [label for label in call.result.columns if label in frame.columns and label not in roots]
    one.add("groups", len(call.result), label=", ".join(keys))
    if len(keys) == 1 and len(call.result) <= MAX_UNIQUE:
        add_variants(one, keys[0], call.result[keys[0]])
    for label in roots:
        if label in frame.columns and (count := frame[label].null_count()):
            one.add("skipped", count, len(frame), label)
    _add_warnings(call, one, frame, roots, keys)
    if "mean" in call.site.detail or call.site.name in AVERAGES:
        call.origin = replace(call.origin, uneven_means=len(call.result) if _is_uneven(frame, keys) else 0)
    call.origin = replace(call.origin, frame=None, part="", sorted_by=(), repeated=frozenset())
    return one


def _aggregate_lazily(call: Call) -> Operation | None:
    """Observe an aggregate of a lazy frame that is a whole frame, by what the frame holds."""
    import polars as pl

    frame = call.origin.frame() if call.origin.frame is not None else None
    if not isinstance(frame, pl.DataFrame):
        return None
    one = call.operation("group")
    _add_warnings(call, one, frame, _root_names(call), [])
    return one if one.facts else None


def _keep_lazily(call: Call) -> None:
    """Keep the frame of a lazy frame as long as its rows stay the same, and that they are a part of them."""
    if call.site.name in ("head", "limit", "tail", "slice", "first") and not call.origin.sorted_by:
        frame = call.origin.frame() if call.origin.frame is not None else None
        count = call.get("n", 0, call.get("length", 1, 5))
        if frame is not None and isinstance(count, int) and count < len(frame):
            part = f"{call.site.name}({call.site.detail})"
            call.origin = replace(call.origin, part=part, part_rows=(count, len(frame)))
        return
    if call.site.name == "sort":
        call.origin = replace(call.origin, sorted_by=("",))
    if call.site.name == "with_columns":
        call.origin = replace(call.origin, computed=call.origin.computed | {*_output_names(call)})
    elif call.site.name not in ("sort", "group_by"):
        call.origin = Origin()


def _is_uneven(frame: Any, keys: list[str]) -> bool:
    if not keys:
        return False
    sizes = frame.group_by(keys).len()["len"]
    return len(sizes) > 1 and sizes.min() != sizes.max()


def _root_names(call: Call) -> list[str]:
    """Return the columns that the expressions of a call are computed of."""
    return list(dict.fromkeys(name for one in _expressions(call) for name in one.meta.root_names()))


def _output_names(call: Call) -> list[str]:
    """Return the columns that the expressions of a call compute."""
    named = [key for key in call.arguments if isinstance(key, str)]
    return [*named, *(one.meta.output_name(raise_if_undetermined=False) or "" for one in _expressions(call))]


def _expressions(call: Call) -> list[Any]:
    import polars as pl

    values = [
        expression
        for value in call.arguments.values()
        for expression in (value if isinstance(value, list | tuple) else [value])
    ]
    return [value for value in values if isinstance(value, pl.Expr)]


def _select(call: Call) -> Operation | None:
    """Observe `select`: aggregates of whole columns."""
    import polars as pl

    frame, result = call.receiver, call.result
    if not isinstance(frame, pl.DataFrame) or not isinstance(result, pl.DataFrame) or len(result) != 1 < len(frame):
        return None
    one = call.operation("aggregate")
    one.rows = (len(frame), 1)
    roots = _root_names(call)
    for label in roots:
        if label in frame.columns and (count := frame[label].null_count()):
            one.add("skipped", count, len(frame), label)
    _add_warnings(call, one, frame, roots, [])
    return one


def _aggregate(call: Call) -> Operation | None:
    import polars as pl

    column = call.receiver
    if not isinstance(column, pl.Series):
        return None
    one = call.operation("aggregate")
    one.detail = column.name
    one.rows = (len(column), 1)
    if count := column.null_count():
        one.add("skipped", count, len(column), column.name)
    if call.site.name in ("max", "min", "sum"):
        _add_numbers_as_text(one, column)
    if call.origin.uneven_means and call.site.name in AVERAGES:
        one.add("mean_of_means", call.origin.uneven_means)
    source = call.origin.frame() if call.origin.frame is not None else None
    _add_warnings(call, one, source if source is not None else column.to_frame(), [column.name], [])
    return one


def _add_warnings(call: Call, one: Operation, frame: Any, used: list[str], keys: list[str]) -> None:
    origin: Origin = call.origin
    repeated = [label for label in used if label in origin.repeated]
    counts_rows = not used or "len()" in call.site.detail or "count()" in call.site.detail
    if origin.repeated and (repeated or counts_rows) and not origin.repeated_by.intersection(keys):
        one.add("repeated", origin.repeats[0], origin.repeats[1], ", ".join(repeated))
    if origin.part:
        one.add("part_of_rows", origin.part_rows[0], origin.part_rows[1], origin.part)
    step = call.budget.step_within(frame.width * frame.height, CELL_NS, CHECK_SHARE)
    if step:
        adds = any(word in f"{call.site.name} {call.site.detail}" for word in ("sum", "mean", "median", "std"))
        all_rows = step == 1 and not origin.repeated
        use = Use(used, keys, origin.computed, counts_rows=counts_rows, adds=adds, all_rows=all_rows)
        check_table(one, frame.gather_every(step).to_dict(as_series=False), use)


def _with_columns(call: Call) -> Operation | None:
    import polars as pl

    before, after = call.receiver, call.result
    if not isinstance(before, pl.DataFrame) or not isinstance(after, pl.DataFrame):
        return None
    one = call.operation("columns", before, after)
    call.origin = replace(call.origin, computed=call.origin.computed | {*_output_names(call)})
    added = [label for label in after.columns if label not in before.columns]
    if added:
        one.add("added", len(added), label=", ".join(added))
    for label in before.columns:
        if label in after.columns and before[label].dtype != after[label].dtype:
            one.add("retyped", 1, label=f"{label} {before[label].dtype} → {after[label].dtype}")
        if label in after.columns and (count := after[label].null_count() - before[label].null_count()) > 0:
            one.add("became_missing", count, len(before), label)
    return one if one.facts else None


def _convert(call: Call) -> Operation | None:
    import polars as pl

    column, result = getattr(call.receiver, "_s", call.receiver), call.result
    if not isinstance(column, pl.Series) or not isinstance(result, pl.Series) or len(column) != len(result):
        return None
    one = call.operation("convert")
    if (count := result.null_count() - column.null_count()) > 0:
        one.add("became_missing", count, len(column), column.name)
        became = column.filter(result.is_null() & column.is_not_null()).head(5)
        one.show("values that became missing", [column.name], [[repr(value)] for value in became])
    return one if one.facts else None


def _fill(call: Call) -> Operation | None:
    import polars as pl

    before, after = call.receiver, call.result
    one = call.operation("fill", before, after)
    if isinstance(before, pl.DataFrame) and isinstance(after, pl.DataFrame) and before.shape == after.shape:
        for column in before.get_columns():
            if (count := column.null_count() - after[column.name].null_count()) > 0:
                one.add("filled", count, len(before), column.name)
    elif isinstance(before, pl.Series) and (count := before.null_count() - after.null_count()) > 0:
        one.add("filled", count, len(before), before.name)
    return one if one.facts else None


def _concat(call: Call) -> Operation | None:
    import polars as pl

    parts = call.get("items", 0)
    if not isinstance(parts, list | tuple) or not all(isinstance(part, pl.DataFrame) for part in parts):
        return None
    result = call.result
    one = call.operation("concat")
    one.rows = (sum(len(part) for part in parts), len(result))
    if call.budget.allows(result.width * result.height, CELL_NS):
        both = sum(len(part.unique()) for part in parts) - len(result.unique())
        if both >= max(2, 0.02 * len(result)):
            one.add("overlap", both, len(result))
    return one


HANDLERS: dict[str, Callable[[Call], Operation | None]] = {
    **dict.fromkeys(SKIPPING, _aggregate),
    **dict.fromkeys(("head", "tail", "limit", "slice", "sample", "gather_every"), _part),
    **dict.fromkeys(("top_k", "bottom_k"), _top),
    **dict.fromkeys(("cast", "to_date", "to_datetime", "to_integer", "to_decimal", "strptime"), _convert),
    **dict.fromkeys(("fill_null", "fill_nan"), _fill),
    "filter": _filter,
    "sort": _sort,
    "unique": _unique,
    "drop_nulls": _drop_nulls,
    "join": _join,
    "concat": _concat,
    "with_columns": _with_columns,
    "select": _select,
}
