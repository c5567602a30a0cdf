"""Calls of polars: what each does to rows and values. A lazy frame is counted where it is collected."""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import polars_aggregates, polars_joins, polars_order
from .call import Call, Operation, Origin, Repeats, with_facts
from .keys import near_misses
from .polars_columns import add_numbers_as_text, value_counts
from .table_checks import CELL_NS
from .values import are_misordered_numbers, are_numbers

VALUE_NS = 5
_COMPARED = re.compile(r'\[?\(?col\("([^"]+)"\)\)? (==|!=|<|<=|>|>=) \(?"([^"]*)"\)?\]?')
"""A column compared with a text, in the text of an expression."""
_UNEQUAL = re.compile(r'\[?\(?col\("([^"]+)"\)\)? != ')


def observe(call: Call, origin_of: Any) -> Operation | None:
    """Return what the call did; None if that is nothing to rows or values."""
    import polars as pl

    value = call.receiver if type(call.receiver).__name__ != "module" else call.arguments.get(0)
    call.origin = origin_of(value)
    name = call.site.name
    if type(call.receiver).__name__ == "LazyGroupBy" and name == "agg":
        return polars_aggregates.observe_lazily(call)
    if name in ("group_by", "get_column", "lazy") or (name == "[]" and isinstance(call.result, pl.Series)):
        _keep_frame(call)
        return None
    if name == "[]":
        return _part(call) if isinstance(value, pl.DataFrame) else None
    if type(call.receiver).__name__ == "GroupBy":
        return polars_aggregates.observe_groups(call)
    if name == "[]=" or not call.site.all_known:
        return None
    handler = HANDLERS.get(name)
    if type(call.receiver).__name__ == "LazyFrame":
        _keep_lazily(call)
        return None
    if handler is None or type(call.receiver).__name__ in ("Expr", "LazyGroupBy"):
        return None
    return with_facts(call, handler(call), polars_order.order_facts(call))


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
    for label in _UNEQUAL.findall(expression)[:10]:
        if label in frame.columns and (count := frame[label].null_count()):
            one.add("nulls_filtered", count, len(frame), label)
    for label, operator, wanted in _COMPARED.findall(expression)[:10]:
        if label in frame.columns and str(frame[label].dtype) in ("String", "Categorical"):
            column = frame[label].cast(str)
            if operator in ("==", "!="):
                near_misses(one, label, value_counts(column), (wanted,))
            elif are_numbers((wanted,) * 2) and are_misordered_numbers([wanted, *column.head(1000)]):
                one.add("numbers_as_text", len(column), label=label)


def _part(call: Call) -> Operation | None:
    """Observe a slice, `head` and the like: a part that may be taken for all."""
    frame, result = call.receiver, call.result
    if type(result) is not type(frame) or len(result) >= len(frame):
        return None
    one = call.operation("cut", frame, result)
    if call.origin.sorted_by:
        _add_ties(call, one, frame, result)
    call.keep_cut(len(result), len(frame))
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
            add_numbers_as_text(one, call.receiver[label])
    return one if one.facts else None


def _top(call: Call) -> Operation | None:
    by = call.get("by")
    call.origin = replace(call.origin, sorted_by=(by,) if isinstance(by, str) else ("",))
    if len(call.result) >= len(call.receiver):
        return None
    one = call.operation("cut", call.receiver, call.result)
    call.keep_cut(len(call.result), len(call.receiver))
    if isinstance(by, str):
        _add_ties(call, one, call.receiver, call.result)
    return one


def _unique(call: Call) -> Operation | None:
    import polars as pl

    frame, result = call.receiver, call.result
    if not hasattr(result, "shape"):
        return None
    one = call.operation("deduplicate", frame, result)
    subset = call.get("subset", 0)
    labels = [subset] if isinstance(subset, str) else subset
    if (
        isinstance(frame, pl.DataFrame)
        and isinstance(labels, list | tuple)
        and all(isinstance(label, str) for label in labels)
    ):
        keyless = pl.all_horizontal(pl.col(label).is_null() for label in labels).sum()
        before, after = (int(one.select(keyless).item()) for one in (frame, result))
        if before > after:
            one.add("keyless", before - after, before, ", ".join(labels))
    return one


def _drop_nulls(call: Call) -> Operation | None:
    one = call.operation("drop_missing", call.receiver, call.result)
    if hasattr(call.receiver, "columns"):
        for column in call.receiver.get_columns():
            if count := column.null_count():
                one.add("missing", count, len(call.receiver), column.name)
    return one


def _keep_frame(call: Call) -> None:
    """Keep the frame of a column or of a grouping for the aggregate that follows; a lazy frame has it already."""
    import polars as pl

    if isinstance(call.receiver, pl.DataFrame):
        call.origin = replace(call.origin, frame=weakref.ref(call.receiver))


def _keep_lazily(call: Call) -> None:
    """Keep the frame of a lazy frame as long as its rows stay the same, and that they are a part of them."""
    if call.site.name in ("head", "limit", "tail", "slice", "first") and not call.origin.sorted_by:
        frame = call.origin.frame() if call.origin.frame is not None else None
        count = call.get("n", 0, call.get("length", 1, 5))
        if frame is not None and isinstance(count, int) and count < len(frame):
            call.keep_cut(count, len(frame))
        return
    if call.site.name == "sort":
        call.origin = replace(call.origin, sorted_by=("",))
    if call.site.name == "with_columns":
        call.origin = replace(call.origin, computed=call.origin.computed | {*polars_aggregates.output_names(call)})
    elif call.site.name not in ("sort", "group_by"):
        call.origin = Origin()


def _with_columns(call: Call) -> Operation | None:
    import polars as pl

    before, after = call.receiver, call.result
    if not isinstance(before, pl.DataFrame) or not isinstance(after, pl.DataFrame):
        return None
    one = call.operation("columns", before, after)
    call.origin = replace(
        call.origin,
        computed=call.origin.computed | {*polars_aggregates.output_names(call)},
        repeated={**call.origin.repeated, **_repeated_outputs(call)},
    )
    added = [label for label in after.columns if label not in before.columns]
    if added:
        one.add("added", len(added), label=", ".join(added))
    for label in before.columns:
        if label in after.columns and before[label].dtype != after[label].dtype:
            one.add("retyped", 1, label=f"{label} {before[label].dtype} → {after[label].dtype}")
        if label in after.columns:
            _add_became_missing(one, before[label], after[label])
    for name, root in _converted_into(call) if "strict=False" in call.site.detail else ():
        if name in added and root in before.columns:
            _add_became_missing(one, before[root], after[name])
    return one if one.facts else None


def _add_became_missing(one: Operation, column: Any, result: Any) -> bool:
    """Add how many values of a column are missing in what it became; return whether any is."""
    missing = int(column.null_count())
    count = int(result.null_count()) - missing
    if count > 0:
        one.add("became_missing", count, len(column) - missing, column.name)
    return count > 0


def _converted_into(call: Call) -> list[tuple[str, str]]:
    """Return the columns that are computed of one other column each, with that."""
    return [(name, roots[0]) for name, roots in polars_aggregates.roots_by_output(call) if len(roots) == 1]


def _repeated_outputs(call: Call) -> dict[str, Repeats]:
    """Return the computed columns that are made of repeated ones."""
    repeated = call.origin.repeated
    return {
        name: repeated[root]
        for name, roots in polars_aggregates.roots_by_output(call)
        for root in roots
        if root in repeated
    }


def _convert(call: Call) -> Operation | None:
    import polars as pl

    column, result = getattr(call.receiver, "_s", call.receiver), call.result
    if not isinstance(column, pl.Series) or not isinstance(result, pl.Series) or len(column) != len(result):
        return None
    one = call.operation("convert")
    if _add_became_missing(one, column, result):
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
    **dict.fromkeys(polars_aggregates.SKIPPING, polars_aggregates.observe_aggregate),
    **dict.fromkeys(("head", "tail", "limit", "slice", "sample", "gather_every"), _part),
    **dict.fromkeys(("top_k", "bottom_k"), _top),
    **dict.fromkeys(("cast", "to_date", "to_datetime", "to_integer", "to_decimal", "strptime"), _convert),
    **dict.fromkeys(("fill_null", "fill_nan"), _fill),
    "filter": _filter,
    "sort": _sort,
    "unique": _unique,
    "drop_nulls": _drop_nulls,
    "join": polars_joins.observe_join,
    "concat": _concat,
    "with_columns": _with_columns,
    "select": polars_aggregates.observe_select,
}
