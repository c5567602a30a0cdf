"""Expressions of polars that go from row to row of an eager frame, and the order of its rows."""

from __future__ import annotations

import re
from typing import Any

from .call import Call, Fact, unordered

_RUNNING = re.compile(r"\.(?:diff|shift|pct_change|cum_\w+|rolling_\w+|forward_fill|backward_fill)\(")
_OVER = re.compile(r"\.over\(\[?((?:'[^']+'(?:, )?)+)\]?\)")
_ORDERS = re.compile(r"\b(?:sort|sort_by|order_by|reverse)\b")
VALUE_NS = 30


def order_facts(call: Call) -> list[Fact]:
    """Return that rows are not in the order of their times, or that they run on from one thing to the next."""
    import polars as pl

    frame, told = call.receiver, call.site.detail
    if not isinstance(frame, pl.DataFrame) or _RUNNING.search(told) is None or _ORDERS.search(told):
        return []
    if len(frame) < 2 or not call.budget.allows(len(frame), VALUE_NS):
        return []
    over = _OVER.search(told)
    keys = [key for key in re.findall(r"'([^']+)'", over[1]) if key in frame.columns] if over is not None else []
    labels = call.origin.sorted_by
    if len(labels) > 1 and ".over(" not in told and labels[0] in frame.columns:
        return _borders(frame, labels[0])
    if labels or (".over(" in told and not keys):
        return []
    times = [label for label, kind in frame.schema.items() if kind in (pl.Date, pl.Datetime)][:3]
    back = {label: _steps_back(frame, label, keys) for label in times if not frame[label].null_count()}
    return unordered(back, len(frame))


def _steps_back(frame: Any, label: str, keys: list[str]) -> int:
    """Return how often the time goes back from one row to the next, of each group; 0 where it always does."""
    import polars as pl

    step = pl.col(label).to_physical().diff()
    steps = frame.select((step.over(keys) if keys else step).alias("step"))["step"].drop_nulls()
    back, forth = int((steps < 0).sum()), int((steps > 0).sum())
    return back if forth else 0


def _borders(frame: Any, label: str) -> list[Fact]:
    column = frame[label]
    if column.dtype.is_float() or column.dtype.is_temporal():
        return []
    borders = int((column != column.shift()).sum() or 0)
    return [("over_borders", borders, len(frame) - 1, label)] if 0 < borders < len(frame) - 1 else []
