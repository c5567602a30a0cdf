"""Calls of pandas: which are observed, and what each does to rows and values."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import pandas_aggregates, pandas_joins, pandas_values
from .call import Call, Operation, Origin
from .comparisons import add_comparison
from .hooks import ARITHMETIC, ATTRIBUTE, STORE, SUBSCRIPT
from .keys import MAX_UNIQUE, near_misses
from .pandas_columns import (
    OBJECT_NS,
    PLAIN_NS,
    add_missing,
    add_numbers_as_text,
    is_grouping,
    is_text,
    label_of,
    show_rows,
    value_counts,
)

Observe = Callable[[Call, Any], "Operation | None"]
_COMPARED = re.compile(r"`?(\w[\w ]*?)`? *(==|!=|<=|>=|<|>) *['\"]([^'\"]*)['\"]")
SAME_ROWS = frozenset(
    [
        "copy",
        "reset_index",
        "set_index",
        "rename",
        "rename_axis",
        "sort_index",
        "round",
        "to_frame",
        "astype",
        "infer_objects",
        "reindex",
        "convert_dtypes",
        "squeeze",
        "set_axis",
        "abs",
        "clip",
        "assign",
        "fillna",
        "eval",
    ]
)
"""Methods whose result has the rows of their receiver."""


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
        _keep_operands(call, origin_of)
        return None
    if not call.site.all_known and name not in SAME_ROWS:
        return None
    if (handler := HANDLERS.get(name)) is not None:
        return handler(call, origin_of)
    _keep_rows(call)
    return None


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
    if len(result) == len(frame) and not _is_mask(key):
        return None
    if _is_mask(key):
        one = call.operation("filter", frame, result)
        _show_left_out(call, one, frame, key)
        return one
    if call.site.detail.count(":") and len(result) < len(frame):
        return _cut(call, frame)
    return None


def _keep_column(call: Call) -> None:
    """Keep the origin of ``df.column``."""
    import pandas as pd

    if isinstance(call.receiver, pd.DataFrame) and isinstance(call.result, pd.Series):
        call.origin = _of_column(call.origin, call.receiver)
    elif not is_grouping(call.receiver):
        call.origin = Origin()


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
    if any(_is_repeated(side, of) for side, of in ((call.receiver, call.origin), (right, other))):
        origin = replace(origin, repeated=origin.repeated | {label})
    call.origin = replace(origin, computed=origin.computed | {label})


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
    labels, value = call.arguments.get(0), call.result
    stored = frozenset(str(label) for label in (labels if isinstance(labels, list) else [labels]))
    call.origin = replace(call.origin, computed=call.origin.computed | stored)
    if _is_repeated(value, origin_of(value)):
        call.origin = replace(call.origin, repeated=call.origin.repeated | stored)
    return pandas_values.stored(call)


def _of_column(origin: Origin, frame: Any) -> Origin:
    import weakref

    return replace(origin, frame=weakref.ref(frame))


def _is_mask(key: Any) -> bool:
    import pandas as pd

    dtype = getattr(key, "dtype", None)
    if dtype is not None and not isinstance(key, pd.DataFrame):
        return bool(pd.api.types.is_bool_dtype(dtype))
    return isinstance(key, list) and bool(key) and all(isinstance(item, bool) for item in key)


def _show_left_out(call: Call, one: Operation, frame: Any, mask: Any) -> None:
    import numpy as np
    import pandas as pd

    if len(mask) == len(frame) and call.budget.allows(len(frame), PLAIN_NS * 5):
        kept = pd.Series(mask).to_numpy(dtype=bool, na_value=False)
        show_rows(one, "rows left out", frame, np.flatnonzero(~kept)[:5])


def _fewer_rows(call: Call, _: Any) -> Operation | None:
    """Observe `query`, `truncate`, `between_time`, `drop`: rows may be left out."""
    frame, result = call.receiver, call.result
    if not hasattr(result, "shape") or not hasattr(frame, "shape"):
        return None
    one = call.operation("filter", frame, result)
    if call.site.name == "drop" and (one.rows is None or one.rows[0] == one.rows[1]):
        return pandas_values.columns_changed(call)
    _show_missing_rows(call, one)
    if call.site.name == "query" and isinstance(expression := call.get("expr", 0), str):
        _add_comparisons(call, one, expression)
    return one


def _add_comparisons(call: Call, one: Operation, expression: str) -> None:
    """Add what the comparisons with texts in a query can hardly mean."""
    for label, operator, wanted in _COMPARED.findall(expression)[:10]:
        if label in call.receiver.columns and call.budget.allows(len(call.receiver), OBJECT_NS):
            add_comparison(one, call.receiver[label], operator, wanted)


def _show_missing_rows(call: Call, one: Operation) -> None:
    """Show the first rows of the receiver that are not in the result; by index, where it is unique."""
    import numpy as np

    frame, result = call.receiver, call.result
    if (
        one.rows is not None
        and one.rows[0] != one.rows[1]
        and call.budget.allows(len(frame), 40)
        and frame.index.is_unique
    ):
        show_rows(one, "rows left out", frame, np.flatnonzero(~frame.index.isin(result.index))[:5])


def _dropna(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame, result = call.receiver, call.result
    if not isinstance(frame, pd.DataFrame | pd.Series):
        return None
    one = call.operation("drop_missing", frame, result)
    if isinstance(frame, pd.Series) and len(result) < len(frame):
        one.add("missing", len(frame) - len(result), len(frame), label_of(frame) or "a value")
    if isinstance(frame, pd.DataFrame) and one.rows is not None and one.rows[0] != one.rows[1]:
        subset = call.get("subset")
        labels = [subset] if isinstance(subset, str) else list(frame.columns) if subset is None else list(subset)
        add_missing(call, one, frame[labels], "missing")
    _show_missing_rows(call, one)
    return one


def _drop_duplicates(call: Call, _: Any) -> Operation | None:
    one = call.operation("deduplicate", call.receiver, call.result)
    call.origin = replace(call.origin, repeated=frozenset())
    _show_missing_rows(call, one)
    return one


def _head(call: Call, _: Any) -> Operation | None:
    receiver = call.receiver
    return _cut(call, receiver.obj if is_grouping(receiver) else receiver)


def _cut(call: Call, frame: Any) -> Operation | None:
    """Observe a part of the rows: ties where the order was asked for, else a part that may be taken for all."""
    import pandas as pd

    result = call.result
    if not isinstance(frame, pd.DataFrame | pd.Series) or not isinstance(result, pd.DataFrame | pd.Series):
        return None
    one = call.operation("cut", frame, result)
    kept, rows = len(result), len(frame)
    if kept >= rows:
        return None
    is_ordered = bool(call.origin.sorted_by)
    if call.site.name in ("head", "tail", SUBSCRIPT) and is_ordered and kept:
        _add_ties(call, one, frame, result, call.origin.sorted_by)
    if not is_ordered:
        call.origin = replace(call.origin, part=f"{call.site.name}({call.site.detail})", part_rows=(kept, rows))
    return one


def _add_ties(call: Call, one: Operation, frame: Any, result: Any, labels: tuple[str, ...]) -> None:
    """Add the rows beyond the cut that are equal to the last row before it."""
    import pandas as pd

    if not call.budget.allows(len(frame), 10 * len(labels)):
        return
    if isinstance(frame, pd.DataFrame) and not set(labels) <= set(frame.columns):
        return
    last = result.iloc[0 if call.site.name == "tail" else -1]
    beyond = _equal_rows(frame, last, labels) - _equal_rows(result, last, labels)
    if beyond > 0:
        one.add("ties", beyond, label=", ".join(label for label in labels if label))


def _equal_rows(frame: Any, last: Any, labels: tuple[str, ...]) -> int:
    import numpy as np
    import pandas as pd

    if isinstance(frame, pd.Series):
        return int((frame == last).sum())
    equal = np.ones(len(frame), dtype=bool)
    for label in labels:
        equal &= (frame[label] == last[label]).to_numpy(dtype=bool, na_value=False)
    return int(equal.sum())


def _explode(call: Call, _: Any) -> Operation | None:
    """Observe `explode`: the other columns are repeated, which a figure for each exploded value does not mind."""
    import pandas as pd

    frame, result, label = call.receiver, call.result, call.get("column", 0)
    one = call.operation("reshape", frame, result)
    if isinstance(frame, pd.DataFrame) and isinstance(label, str) and len(result) > len(frame):
        others = frozenset(str(name) for name in frame.columns if name != label)
        more = len(result) - len(frame)
        call.origin = replace(
            call.origin, repeated=others, repeats=(more, len(frame)), repeated_by=frozenset({label})
        )
    return one


def _nlargest(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame, result = call.receiver, call.result
    if not isinstance(frame, pd.DataFrame | pd.Series) or not isinstance(result, pd.DataFrame | pd.Series):
        return None
    one = call.operation("cut", frame, result)
    columns = call.get("columns", 1)
    labels = (columns,) if isinstance(columns, str) else tuple(columns or ("",))
    if isinstance(frame, pd.Series):
        labels = ("",)
    call.origin = replace(call.origin, sorted_by=labels, part="")
    if 0 < len(result) < len(frame) and call.get("keep") != "all":
        _add_ties(call, one, frame, result, labels)
    return one if len(result) < len(frame) else None


def _sort_values(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    frame = call.receiver
    if not isinstance(frame, pd.DataFrame | pd.Series):
        return None
    by = call.get("by", 0)
    labels = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, list | tuple) else ("",)
    if isinstance(frame, pd.Series):
        labels = ("",)
    call.origin = replace(call.origin, sorted_by=labels)
    one = call.operation("sort", frame, call.result)
    for column in [frame] if isinstance(frame, pd.Series) else [frame[label] for label in labels if label in frame]:
        add_numbers_as_text(one, column)
    return one if one.facts else None


def _isin(call: Call, _: Any) -> Operation | None:
    import pandas as pd

    column, wanted = call.receiver, call.get("values", 0)
    if (
        isinstance(column, pd.Series)
        and isinstance(wanted, list | tuple | set | pd.Series | pd.Index)
        and len(wanted) <= MAX_UNIQUE
        and is_text(column)
        and call.budget.allows(len(column), OBJECT_NS)
    ):
        one = call.operation("comparison")
        is_literal = isinstance(wanted, list | tuple | set)
        near_misses(one, label_of(column), value_counts(column), tuple(wanted), are_literal=is_literal)
        return one if one.facts else None
    return None


def _same_rows(call: Call, _: Any) -> Operation | None:
    """Keep the origin; what else happened is not listed."""
    return None


def _computed(call: Call, _: Any) -> Operation | None:
    """Keep the origin, and that the values of the column are others now."""
    import pandas as pd

    if isinstance(call.result, pd.Series):
        call.origin = replace(call.origin, computed=call.origin.computed | {label_of(call.result)})
    return None


HANDLERS: dict[str, Observe] = {
    **dict.fromkeys(SAME_ROWS, _same_rows),
    **dict.fromkeys(("query", "truncate", "between_time", "drop", "filter"), _fewer_rows),
    **dict.fromkeys(("head", "tail", "sample", "first", "last"), _head),
    **dict.fromkeys(("nlargest", "nsmallest"), _nlargest),
    "dropna": _dropna,
    "drop_duplicates": _drop_duplicates,
    "sort_values": _sort_values,
    "isin": _isin,
    "explode": _explode,
    **dict.fromkeys(("mul", "div", "truediv", "add", "sub", "multiply", "divide", "pow"), _computed),
    **pandas_values.HANDLERS,
    **pandas_joins.HANDLERS,
    **pandas_aggregates.HANDLERS,
}
