"""Calls of pandas: which are observed, and what each does to rows and values."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import comparisons, pandas_aggregates, pandas_joins, pandas_order, pandas_rows, pandas_values
from .call import Call, Operation, Origin, with_facts
from .hooks import ARITHMETIC, ATTRIBUTE, STORE, SUBSCRIPT
from .pandas_columns import is_grouping, label_of

Observe = Callable[[Call, Any], "Operation | None"]
MAX_KEPT_CELLS = 1_000_000


def observe(call: Call, origin_of: Any) -> Operation | None:
    """Return what the call did; None if that is nothing to rows or values."""
    call.origin = _inherited(call, origin_of)
    name = call.site.name
    if name == SUBSCRIPT:
        return _subscript(call, origin_of)
    if name == STORE:
        return _stored(call, origin_of)
    if name == ATTRIBUTE:
        _keep_column(call)
        return None
    if name == ARITHMETIC:
        return _computed_of_columns(call, origin_of)
    in_order = pandas_order.order_facts(call) if call.site.all_known else []
    if call.site.all_known and (handler := HANDLERS.get(name)) is not None:
        return with_facts(call, handler(call, origin_of), in_order)
    _keep_rows(call)
    return with_facts(call, None, in_order)


def _keep_rows(call: Call) -> None:
    """Keep the origin of what has as many rows, such as ``column.eq(1)``; anything else is of unknown origin."""
    before, after = (getattr(value, "shape", None) for value in (call.receiver, call.result))
    if not before or not after or before[0] != after[0]:
        call.origin = Origin()


def _inherited(call: Call, origin_of: Any) -> Origin:
    """Return the origin of the receiver, or of the first argument of a function such as ``pd.merge(df, …)``."""
    import pandas as pd

    value = call.receiver
    if type(value).__name__ == "module":
        value = call.arguments.get(0)
    origin: Origin = origin_of(value)
    if isinstance(value, pd.DataFrame) and origin.frame is not None:
        origin = replace(origin, frame=None)
    return origin


def _subscript(call: Call, origin_of: Any) -> Operation | None:
    import pandas as pd

    receiver, key = call.receiver, call.arguments.get(0)
    if is_grouping(receiver):
        return None
    frame = receiver if isinstance(receiver, pd.DataFrame | pd.Series) else getattr(receiver, "obj", None)
    if not isinstance(frame, pd.DataFrame | pd.Series):
        return None
    if frame is not receiver:
        call.origin = origin_of(frame)
    result = call.result
    if not isinstance(result, pd.DataFrame | pd.Series):
        return None
    if isinstance(frame, pd.DataFrame) and isinstance(result, pd.Series) and len(result) == len(frame):
        call.origin = _of_column(call.origin, frame)
        return None
    if len(result) == len(frame) and not pandas_rows.is_mask(key):
        return None
    if pandas_rows.is_mask(key):
        return pandas_rows.filtered(call, frame, key)
    if call.site.detail.count(":") and len(result) < len(frame):
        return pandas_rows.cut(call, frame)
    return None


def _keep_column(call: Call) -> None:
    """Keep the origin of ``df.column``."""
    import pandas as pd

    if isinstance(call.receiver, pd.DataFrame) and isinstance(call.result, pd.Series):
        call.origin = _of_column(call.origin, call.receiver)
    elif not is_grouping(call.receiver):
        call.origin = Origin()


def _computed_of_columns(call: Call, origin_of: Any) -> Operation | None:
    """Observe arithmetic with two columns."""
    import pandas as pd

    sides = [
        (side, isinstance(side, pd.Series) and label_of(side) in origin_of(side).unjoined)
        for side in (call.receiver, call.arguments.get(0))
    ]
    _keep_operands(call, origin_of)
    return pandas_values.computed(call, sides)


def _keep_operands(call: Call, origin_of: Any) -> None:
    """Keep the origin of what is computed with: a product of repeated values is repeated."""
    import pandas as pd

    right = call.arguments.get(0)
    other: Origin = origin_of(right)
    origin = call.origin if call.origin != Origin() else other
    if not isinstance(call.result, pd.Series):
        call.origin = origin if isinstance(call.result, pd.DataFrame) else Origin()
        return
    label = label_of(call.result)
    origin = replace(origin, unmatched=_unmatched_labels(call, right) or origin.unmatched)
    for side, of in ((call.receiver, call.origin), (right, other)):
        if _is_repeated(side, of):
            origin = replace(origin, repeated={**origin.repeated, label: of.repeated[label_of(side)]})
    is_ratio = _is_ratio(call, right) or any(
        isinstance(side, pd.Series) and label_of(side) in of.ratios
        for side, of in ((call.receiver, call.origin), (right, other))
    )
    ratios = origin.ratios | {label} if is_ratio else origin.ratios - {label}
    both = comparisons.both_compared(call, other)
    call.origin = replace(origin, computed=origin.computed | {label}, ratios=ratios, compared=both)


def _is_ratio(call: Call, right: Any) -> bool:
    """Check for the division of a column by another, row by row."""
    import pandas as pd

    left = call.receiver
    return (
        call.site.detail == "/"
        and isinstance(left, pd.Series)
        and isinstance(right, pd.Series)
        and pd.api.types.is_numeric_dtype(left.dtype)
    )


def _unmatched_labels(call: Call, right: Any) -> int:
    """Return how many labels only one of two columns has: what is computed of them is missing."""
    import pandas as pd

    left = call.receiver
    if not isinstance(left, pd.Series) or not isinstance(right, pd.Series) or left.index is right.index:
        return 0
    if not call.budget.allows(len(call.result), 60) or left.index.equals(right.index):
        return 0
    return len(call.result) - int(left.index.isin(right.index).sum())


def _is_repeated(value: Any, origin: Origin) -> bool:
    import pandas as pd

    return isinstance(value, pd.Series) and label_of(value) in origin.repeated


def _stored(call: Call, origin_of: Any) -> Operation | None:
    """Observe an assignment of columns; what is stored may be repeated values."""
    import pandas as pd

    labels, value = call.arguments.get(0), call.result
    stored = frozenset(str(label) for label in (labels if isinstance(labels, list) else [labels]))
    call.origin = replace(call.origin, computed=call.origin.computed | stored)
    whole = not isinstance(labels, list) and not call.get("is_part")
    columns = dict.fromkeys(stored, value if whole else None)
    call.origin = comparisons.with_columns(call.origin, columns, origin_of)
    if _is_repeated(value, origin := origin_of(value)):
        repeats = origin.repeated[label_of(value)]
        call.origin = replace(call.origin, repeated={**call.origin.repeated, **dict.fromkeys(stored, repeats)})
    if isinstance(value, pd.Series) and label_of(value) in (origin := origin_of(value)).ratios:
        call.origin = replace(call.origin, ratios=call.origin.ratios | stored)
    return pandas_values.stored(call)


def _of_column(origin: Origin, frame: Any) -> Origin:
    """Return the origin of a column: its frame, which a chain such as ``df.sort_values("day").price`` soon drops.

    A small one is kept as long as its column. Before pandas 3 that could cause a warning about chained assignment.
    """
    import pandas as pd

    is_kept = frame.size <= MAX_KEPT_CELLS and int(pd.__version__.partition(".")[0]) > 2
    return replace(origin, frame=(lambda: frame) if is_kept else weakref.ref(frame))


def _computed(call: Call, _: Any) -> Operation | None:
    """Keep the origin, and that the values of the column are others now."""
    import pandas as pd

    if isinstance(call.result, pd.Series):
        call.origin = replace(call.origin, computed=call.origin.computed | {label_of(call.result)})
    return None


HANDLERS: dict[str, Observe] = {
    **dict.fromkeys(("mul", "div", "truediv", "add", "sub", "multiply", "divide", "pow"), _computed),
    **pandas_rows.HANDLERS,
    **pandas_values.HANDLERS,
    **pandas_joins.HANDLERS,
    **pandas_aggregates.HANDLERS,
}
