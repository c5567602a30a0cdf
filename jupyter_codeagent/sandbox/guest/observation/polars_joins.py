"""Joins of polars: matched, unmatched and multiplied rows."""

from __future__ import annotations

from typing import Any

from .call import Call, Operation
from .keys import add_near_keys, count_matches, count_repeats, telling_columns
from .polars_columns import value_counts

JOIN_NS = 120


def observe_join(call: Call) -> Operation | None:
    """Return what a join did to the rows of both tables."""
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
    else:
        one.add("not_counted", len(left), len(left))
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
    for label, other in zip(*keys, strict=True):
        if nulls := left[label].null_count():
            one.add("missing_keys", nulls, len(left), label)
            if right[other].null_count() and not call.get("nulls_equal"):
                one.add("unjoined_nulls", nulls, len(left), label)
    is_filter = len(right.columns) <= len(keys[1])
    matches = count_matches(one, how, _codes(left.select(keys[0]), right.select(keys[1])), is_filter=is_filter)
    lacking = left.filter(pl.Series(~matches.in_right))
    if len(lacking):
        one.show("rows without a match", lacking.columns, lacking.head(5).rows())
    if len(keys[0]) == 1 and str(left[keys[0][0]].dtype) == "String":
        ours, theirs = lacking[keys[0][0]], right[keys[1][0]]
        add_near_keys(one, keys[0][0], value_counts(ours), theirs.drop_nulls().unique())
    telling = (
        _telling(call, left, keys[0], right) if matches.right_repeats and matches.left_repeats else frozenset(),
        _telling(call, right, keys[1], left) if matches.right_repeats else frozenset(),
    )
    count_repeats(one, call, how, matches, (left.columns, right.columns), telling)


def _telling(call: Call, frame: Any, keys: list[str], other: Any) -> frozenset[str]:
    """Return the columns that tell rows with the same key apart."""

    def is_unique(label: str) -> bool:
        if not call.budget.allows(len(frame), JOIN_NS * (1 + len(keys))):
            return False
        return not frame.select([*keys, label]).is_duplicated().any()

    return telling_columns([label for label in frame.columns if label not in keys], other.columns, is_unique)


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
