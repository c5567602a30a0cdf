"""Calls of pandas whose result depends on the order of the rows: differences, running totals, first and last rows.

A table that has times, and is neither in their order nor sorted by the program, has its rows in an order by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .call import Call, Fact, unordered
from .pandas_columns import OBJECT_NS, PLAIN_NS, is_grouping, is_text, label_of

RUNNING = frozenset(
    [
        *("diff", "shift", "pct_change", "ffill", "bfill", "rolling", "expanding"),
        *("cumsum", "cumprod", "cummax", "cummin", "cumcount"),
    ]
)
"""Methods that go from row to row."""
ENDS = frozenset({"first", "last", "head", "tail", "nth"})
"""Methods that keep a row by its place, of each group."""
MANY = frozenset({"agg", "aggregate", "transform"})
"""Methods that are told what to do: ``agg(state=("state", "last"))``."""
GROUP_NS = 200
"""Nanoseconds that one row takes where rows are compared within their groups; measured."""
MAX_TIMES = 3
"""Columns of times that are looked at."""
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def order_facts(call: Call) -> list[Fact]:
    """Return that rows are not in the order of their times, or that a method runs on from one thing to the next."""
    if call.site.name not in RUNNING | ENDS | MANY:
        return []
    frame, groups = _table(call)
    if frame is None or len(frame) < 2 or not frame.columns.is_unique:
        return []
    facts = list(_borders(call, frame)) if groups is None else []
    if call.origin.sorted_by:  # an order that the program has chosen
        return facts
    backward: dict[str, int] = {}
    for label, times in _times(call, frame):
        if not (steps := _steps_back(times, groups)):
            return facts
        backward[label] = steps
    return [*facts, *unordered(backward, len(frame))]


def _table(call: Call) -> tuple[Any, Any]:
    """Return the table whose rows a method goes through, and the number of each row's group; None without one."""
    import pandas as pd

    receiver, name = call.receiver, call.site.name
    source = call.origin.frame() if call.origin.frame is not None else None
    if is_grouping(receiver):
        frame = source if source is not None else receiver.obj
        if len(frame) != len(receiver.obj) or not call.budget.allows(len(frame), GROUP_NS):
            return None, None
        numbers = receiver.ngroup().to_numpy()
        if name not in RUNNING and not _takes_ends(call, receiver.obj, numbers):
            return None, None
        return frame, numbers
    if name in ENDS | MANY or not isinstance(receiver, pd.DataFrame | pd.Series):
        return None, None
    if isinstance(receiver, pd.DataFrame):
        return receiver, None
    return source if source is not None and len(source) == len(receiver) else receiver.to_frame("values"), None


def _takes_ends(call: Call, obj: Any, groups: Any) -> bool:
    """Check whether values are taken by their place in the group, and are not the same in all of its rows."""
    import pandas as pd

    told = [call.site.name, *call.arguments.values()]
    if isinstance(obj, pd.Series):
        return any(map(_is_end, told)) and bool(obj.groupby(groups).nunique().max() > 1)
    labels = list(getattr(call.result, "columns", ())) if any(map(_is_end, told[:2])) else []
    for value in told[1:]:
        if isinstance(value, dict):
            labels += [label for label, how in value.items() if _is_end(how)]
        elif isinstance(value, tuple) and len(value) == 2 and _is_end(value[1]):
            labels.append(value[0])
    labels = [label for label in dict.fromkeys(labels) if label in obj.columns]
    return bool(labels) and bool(obj[labels].groupby(groups).nunique().to_numpy().max() > 1)


def _is_end(value: Any) -> bool:
    return isinstance(value, str) and value in ENDS


def _times(call: Call, frame: Any) -> Iterator[tuple[str, Any]]:
    """Yield by label what says when: the index, columns of dates, and of text with the year first; as numbers."""
    import pandas as pd

    if isinstance(frame.index, pd.DatetimeIndex | pd.PeriodIndex):
        yield str(frame.index.name or "the index"), frame.index.asi8
    found = 0
    for label in frame.columns:
        column = frame[label]
        is_date = pd.api.types.is_datetime64_any_dtype(column.dtype)
        if found == MAX_TIMES or not call.budget.allows(len(frame), PLAIN_NS if is_date else OBJECT_NS):
            return
        if column.isna().any():
            continue
        if is_date:
            yield str(label), column.astype("int64").to_numpy()
            found += 1
        elif is_text(column) and all(_ISO_DAY.match(str(value)) for value in column.iloc[:20]):
            yield str(label), pd.factorize(column, sort=True)[0]
            found += 1


def _steps_back(times: Any, groups: Any) -> int:
    """Return how often the time goes back from one row to the next, of each group; 0 where it always does."""
    import numpy as np

    if groups is None:
        steps = np.diff(times)
    else:
        order = np.argsort(groups, kind="stable")
        steps = np.diff(times[order])[np.diff(groups[order]) == 0]
    back, forth = int((steps < 0).sum()), int((steps > 0).sum())
    return back if forth else 0


def _borders(call: Call, frame: Any) -> Iterator[Fact]:
    """Yield that rows sorted by a thing, and then by something else, are gone through as if it were one thing."""
    import pandas as pd

    labels = call.origin.sorted_by
    if len(labels) < 2 or labels[0] not in frame.columns:
        return
    if isinstance(call.receiver, pd.Series) and label_of(call.receiver) in labels:
        return  # ``df["shop"] != df["shop"].shift()`` looks for the borders
    column = frame[labels[0]]
    if column.dtype.kind not in "fMm" and call.budget.allows(len(column), OBJECT_NS):
        values = column.to_numpy()
        borders = int((values[1:] != values[:-1]).sum())
        if 0 < borders < len(column) - 1:
            yield "over_borders", borders, len(column) - 1, labels[0]
