"""Joins and concatenations of pandas: matched, unmatched and multiplied rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .call import Call, Operation
from .keys import add_near_keys, count_matches, count_repeats, telling_columns
from .pandas_columns import OBJECT_NS, cost_ns, is_text, label_of, show_rows, value_counts
from .table_checks import CELL_NS

JOIN_NS = 90
"""Nanoseconds for each key that is looked up on the other side; measured with numbers, texts take twice that."""


def _merge(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    is_function = type(call.receiver).__name__ == "module"
    shift = 1 if is_function else 0
    left = call.arguments.get(0, call.arguments.get("left")) if is_function else call.receiver
    right = call.get("right", shift)
    right = right.to_frame() if isinstance(right, pd.Series) else right
    left = left.to_frame() if isinstance(left, pd.Series) else left
    if not isinstance(left, pd.DataFrame) or not isinstance(right, pd.DataFrame):
        return None
    how = call.get("how", 1 + shift, "inner")
    sides = _merge_keys(call, left, right, shift)
    return _joined(call, left, right, how, sides)


def _merge_keys(call: Call, left: Any, right: Any, shift: int) -> tuple[Any, Any] | None:
    """Return the keys of both sides as frames, or None where they are given in another way."""
    on = call.get("on", 2 + shift)
    left_on, right_on = call.get("left_on", 3 + shift, on), call.get("right_on", 4 + shift, on)
    left_index, right_index = call.get("left_index", 5 + shift), call.get("right_index", 6 + shift)
    if left_on is None and right_on is None and not left_index and not right_index:
        left_on = right_on = [label for label in left.columns if label in set(right.columns)]
    keys = _keys(left, left_on, left_index), _keys(right, right_on, right_index)
    return (keys[0], keys[1]) if keys[0] is not None and keys[1] is not None else None


def _keys(frame: Any, on: Any, by_index: Any) -> Any:
    if by_index:
        return frame.index.to_frame(index=False)
    labels = [on] if isinstance(on, str) else on
    if not isinstance(labels, list | tuple) or not set(labels) <= {*frame.columns, *frame.index.names}:
        return None
    import pandas as pd

    named = set(frame.columns)
    parts = [
        frame[label] if label in named else frame.index.get_level_values(label).to_series() for label in labels
    ]
    return pd.concat([part.reset_index(drop=True) for part in parts], axis=1)


def _join(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    left, right = call.receiver, call.get("other", 0)
    right = right.to_frame() if isinstance(right, pd.Series) else right
    if not isinstance(left, pd.DataFrame) or not isinstance(right, pd.DataFrame):
        return None
    keys = _keys(left, call.get("on", 1), call.get("on", 1) is None), _keys(right, None, True)
    sides = (keys[0], keys[1]) if keys[0] is not None and keys[1] is not None else None
    return _joined(call, left, right, call.get("how", 2, "left"), sides)


def _joined(call: Call, left: Any, right: Any, how: str, sides: tuple[Any, Any] | None) -> Operation:
    import numpy as np

    one = call.operation("join", left, call.result)
    one.other_rows = len(right)
    if sides is None or how == "cross" or len(sides[0].columns) != len(sides[1].columns):
        return one
    costs = sum(len(side) * (JOIN_NS + cost_ns(side.iloc[:, 0])) * len(side.columns) for side in sides)
    if not call.budget.allows(1, costs):
        one.add("not_counted", len(left), len(left))
        return one
    matches = count_matches(one, how, _codes(*sides), is_filter=len(right.columns) <= len(sides[1].columns))
    show_rows(one, "rows without a match", left, np.flatnonzero(~matches.in_right)[:5])
    if len(sides[0].columns) == 1:
        ours, theirs = sides[0].iloc[:, 0], sides[1].iloc[:, 0]
        lacking = ours[~matches.in_right]
        if call.budget.allows(len(lacking) + len(theirs), OBJECT_NS) and (is_text(lacking) or is_text(theirs)):
            add_near_keys(one, label_of(ours), value_counts(lacking), theirs.dropna().unique())
    telling = (
        _telling(call, left, sides[0], right) if matches.right_repeats and matches.left_repeats else frozenset(),
        _telling(call, right, sides[1], left) if matches.right_repeats else frozenset(),
    )
    count_repeats(one, call, how, matches, (left.columns, right.columns), telling)
    if how == "left" and not matches.in_right.all():
        own = frozenset(map(str, right.columns)) - frozenset(map(str, left.columns))
        call.origin = replace(call.origin, unjoined=call.origin.unjoined | own)
    return one


def _telling(call: Call, frame: Any, keys: Any, other: Any) -> frozenset[str]:
    """Return the columns that tell rows with the same key apart."""
    import pandas as pd

    def is_unique(label: Any) -> bool:
        if not call.budget.allows(len(frame), JOIN_NS * (1 + len(keys.columns))):
            return False
        column = frame[label]
        if not isinstance(column, pd.Series):
            return False
        return not pd.concat([keys, column.reset_index(drop=True)], axis=1).duplicated().any()

    return telling_columns(frame.columns, other.columns, is_unique)


def _codes(left: Any, right: Any) -> tuple[Any, Any]:
    """Return both sides' keys as numbers, equal where the keys are equal."""
    import numpy as np
    import pandas as pd

    codes: list[Any] = []
    for at in range(len(left.columns)):
        both = pd.concat([left.iloc[:, at], right.iloc[:, at]], ignore_index=True)
        codes.append(pd.factorize(both)[0].astype(np.int64))
    combined = codes[0]
    for more in codes[1:]:
        combined = pd.factorize(combined * (int(more.max()) + 2) + more + 1)[0].astype(np.int64)
    return combined[: len(left)], combined[len(left) :]


def _concat(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    parts = call.get("objs", 0)
    parts = list(parts.values()) if isinstance(parts, dict) else parts
    if not isinstance(parts, list | tuple) or not all(isinstance(part, pd.DataFrame | pd.Series) for part in parts):
        return None
    result = call.result
    one = call.operation("concat", parts[0] if parts else None, result)
    if call.get("axis", 1, 0) in (0, "index"):
        one.rows = (sum(len(part) for part in parts), len(result))
        if isinstance(result, pd.DataFrame) and call.budget.allows(result.size, CELL_NS):
            _add_overlap(one, parts, result)
        frames = [part for part in parts if isinstance(part, pd.DataFrame)]
        only_some = [
            label for label in getattr(result, "columns", ()) if any(label not in part.columns for part in frames)
        ]
        if only_some:
            one.add("not_in_all", len(only_some), label=", ".join(map(str, only_some)))
    else:
        before = max((len(part) for part in parts), default=0)
        one.rows = (before, len(result))
        if call.get("join") == "inner" and (lost := max(map(len, parts), default=0) - len(result)) > 0:
            one.add("lost_left", lost, before)
        if len(result) > before:
            one.add("unmatched_left", len(result) - min(map(len, parts)), len(result))
    return one


def _add_overlap(one: Operation, parts: Sequence[Any], result: Any) -> None:
    """Add rows that stand in more than one of the tables."""
    try:
        both = int(result.duplicated().sum()) - sum(int(part.duplicated().sum()) for part in parts)
    except TypeError:
        return  # cells that cannot be compared, such as lists
    if both >= max(2, 0.02 * len(result)):
        one.add("overlap", both, len(result))


def _merge_asof(call: Call, _: Any) -> Operation | None:
    """Observe a join to the nearest key: rows only, its keys need not be equal."""
    left, right = call.arguments.get(0, call.arguments.get("left")), call.arguments.get(1, call.get("right"))
    one = call.operation("join", left, call.result)
    one.other_rows = len(right) if hasattr(right, "columns") else None
    return one


HANDLERS = {"merge": _merge, "join": _join, "merge_asof": _merge_asof, "concat": _concat}
