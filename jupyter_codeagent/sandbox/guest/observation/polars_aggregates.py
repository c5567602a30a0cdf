"""Groupings and aggregates of polars: groups, missing values skipped, rows counted twice."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .call import Call, Operation, Origin, add_part, add_repeats
from .different_rows import ROWS_NS, PolarsRows
from .keys import MAX_UNIQUE, add_variants
from .polars_columns import add_numbers_as_text
from .single_rows import MOST_COLUMNS, ROW_NS, add_single_row
from .table_checks import CELL_NS, CHECK_SHARE, MAX_NUMBERS, NUMBER_NS, Use, add_implausible_numbers, check_table

SKIPPING = frozenset(
    ["mean", "sum", "median", "std", "var", "min", "max", "quantile", "count", "n_unique", "describe"]
)
AVERAGES = frozenset({"mean", "median"})
GROUP_NS = 300
"""Nanoseconds in which one row is given the number of its group; measured."""
_WORD = re.compile(r"\w+")
_EXTREME = re.compile(r'col\("[^"]*"\)\.(?:max|min|sort)\(.*', re.DOTALL)


def observe_groups(call: Call) -> Operation | None:
    """Return what the aggregate of a grouping did to the rows of its frame."""
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
    if len(call.result) <= MAX_UNIQUE:
        for key in keys:
            add_variants(one, key, call.result[key])
    for label in roots:
        if label in frame.columns and (count := frame[label].null_count()):
            one.add("skipped", count, len(frame), label)
    _add_text_extremes(call, one, frame)
    _add_warnings(call, one, frame, roots, keys)
    _add_single_row(call, one, frame, roots, keys)
    if "mean" in call.site.detail or call.site.name in AVERAGES:
        call.origin = replace(call.origin, uneven_means=len(call.result) if _is_uneven(frame, keys) else 0)
    call.origin = replace(call.origin, frame=None, part="", top="", sorted_by=(), repeated={})
    return one


def _add_single_row(call: Call, one: Operation, frame: Any, roots: list[str], keys: list[str]) -> None:
    """Add columns whose greatest sum or mean of a group is made by one row."""
    import polars as pl

    figures = {"sum", "mean"}.intersection(_WORD.findall(f"{call.site.name} {call.site.detail}"))
    numbers = [name for name in roots if name in frame.columns and frame[name].dtype.is_numeric()][:MOST_COLUMNS]
    if not figures or not keys or not call.budget.allows(len(frame) * len(numbers), GROUP_NS + ROW_NS):
        return
    places = frame.select(pl.struct(keys).rank("dense")).to_series().to_numpy().astype(int) - 1
    for label in numbers:
        values = frame[label].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        add_single_row(one, label, values, places, ", ".join(keys), is_mean="sum" not in figures)


def _add_text_extremes(call: Call, one: Operation, frame: Any) -> None:
    """Add columns of text whose least or greatest value is asked for, where they hold numbers."""
    for expression in _expressions(call):
        roots = expression.meta.root_names()
        if len(roots) == 1 and roots[0] in frame.columns and _EXTREME.fullmatch(str(expression)):
            add_numbers_as_text(one, frame[roots[0]])


def observe_lazily(call: Call) -> Operation | None:
    """Observe an aggregate of a lazy frame that is a whole frame, by what the frame holds."""
    import polars as pl

    frame = call.origin.frame() if call.origin.frame is not None else None
    if not isinstance(frame, pl.DataFrame):
        return None
    one = call.operation("group")
    _add_warnings(call, one, frame, _root_names(call), [])
    return one if one.facts else None


def _is_uneven(frame: Any, keys: list[str]) -> bool:
    if not keys:
        return False
    sizes = frame.group_by(keys).len()["len"]
    return len(sizes) > 1 and sizes.min() != sizes.max()


def _root_names(call: Call) -> list[str]:
    """Return the columns that the expressions of a call are computed of."""
    return list(dict.fromkeys(name for one in _expressions(call) for name in one.meta.root_names()))


def roots_by_output(call: Call) -> list[tuple[str, list[str]]]:
    """Return each column that the expressions of a call compute, with those that it is computed of."""
    found = [
        (one.meta.output_name(raise_if_undetermined=False) or "", one.meta.root_names())
        for one in _expressions(call)
    ]
    named = {key: value for key, value in call.arguments.items() if isinstance(key, str)}
    return found + [(key, one.meta.root_names()) for key, one in named.items() if hasattr(one, "meta")]


def output_names(call: Call) -> list[str]:
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


def observe_select(call: Call) -> Operation | None:
    """Observe `select`: aggregates of whole columns."""
    import polars as pl

    frame, result = call.receiver, call.result
    if (
        not isinstance(frame, pl.DataFrame)
        or not isinstance(result, pl.DataFrame)
        or not len(result) == 1 < len(frame)
    ):
        return None
    one = call.operation("aggregate")
    one.rows = (len(frame), 1)
    roots = _root_names(call)
    for label in roots:
        if label in frame.columns and (count := frame[label].null_count()):
            one.add("skipped", count, len(frame), label)
    _add_warnings(call, one, frame, roots, [])
    return one


def observe_aggregate(call: Call) -> Operation | None:
    """Return what an aggregate of one column skips."""
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
        add_numbers_as_text(one, column, are_added=call.site.name == "sum")
    if call.origin.uneven_means and call.site.name in AVERAGES:
        one.add("mean_of_means", call.origin.uneven_means)
    source = call.origin.frame() if call.origin.frame is not None else None
    _add_warnings(call, one, source if source is not None else column.to_frame(), [column.name], [])
    return one


def _add_warnings(call: Call, one: Operation, frame: Any, used: list[str], keys: list[str]) -> None:
    origin: Origin = call.origin
    counts_rows = not used or "len()" in call.site.detail or "count()" in call.site.detail
    words = f"{call.site.name} {call.site.detail}"
    functions = frozenset(_WORD.findall(words))
    for label in used:
        if label not in frame.columns or not frame[label].dtype.is_numeric():
            continue
        column = frame[label]
        if call.budget.allows(min(len(column), MAX_NUMBERS), NUMBER_NS):
            numbers = column.gather_every(max(1, len(column) // MAX_NUMBERS)).to_list()
            add_implausible_numbers(one, label, numbers, column, functions)
    add_repeats(one, origin, used, keys, counts_rows=counts_rows)
    add_part(one, origin)
    step = call.budget.step_within(frame.width * frame.height, CELL_NS, CHECK_SHARE)
    if step:
        adds = any(word in words for word in ("sum", "mean", "median", "std"))
        averages = any(word in words for word in AVERAGES)
        use = Use(used, keys, origin.computed, counts_rows=counts_rows, adds=adds, averages=averages)
        cells = frame.width * frame.height
        is_compared = not origin.repeated and call.budget.allows(cells, ROWS_NS / CHECK_SHARE)
        rows = PolarsRows(frame) if is_compared and PolarsRows.can_compare(frame) else None
        check_table(one, frame.gather_every(step).to_dict(as_series=False), use, rows)
