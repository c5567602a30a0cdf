"""Rows in which two numbers that go together are in quite another ratio: a slipped comma, another unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .quality import MAX_OUTLIER_SHARE, MIN_ROWS, has_far, short_between
from .search import Search
from .statistics import correlations
from .table import Table

MIN_TOGETHER = 0.6
"""Rank correlation of two numbers from which on their ratio is looked at."""
MORE_REGULAR = 0.5
"""How much smaller the ratio spreads than each number, in distances of the quartiles of logarithms."""
MIN_FACTOR = 5.0
"""How far such a row is from the median at least: less than a slipped comma, more than a premium."""
MIN_POSITIVE = 0.5
"""Share of the rows in which both numbers are above 0."""


def find_ratios(table: Table, search: Search) -> None:
    """Find the numbers of which some are far too large for another number in their row, each with one other."""
    names, ranks, present = table.screened
    numbers = len(table.values)
    together = correlations(ranks[:, :numbers], present[:, :numbers]) >= MIN_TOGETHER
    pairs = [(names[i], names[j]) for i, j in zip(*np.nonzero(np.triu(together, 1)), strict=True)]
    logs = {name: _Logs(table, name) for name in dict.fromkeys(name for pair in pairs for name in pair)}
    told: set[str] = set()
    for first, second in pairs:
        if {first, second} & told or search.is_over():
            continue
        if _find_ratio_of(table, logs[first], logs[second], search):
            told |= {first, second}


class _Logs:
    """The logarithms of a number on the screened rows; NaN where it is not above 0."""

    def __init__(self, table: Table, name: str) -> None:
        self.name = name
        self.some = table.picked(_logarithms(table, name))
        self.spread = _quartile_distance(self.some)


def _logarithms(table: Table, name: str) -> Any:
    values = table.numbers(name)
    return np.log(np.where(values > 0, values, np.nan))


def _find_ratio_of(table: Table, first: _Logs, second: _Logs, search: Search) -> bool:
    some = first.some - second.some
    known = ~np.isnan(some)
    if known.sum() < max(MIN_ROWS, MIN_POSITIVE * len(some)):
        return False
    spread = _quartile_distance(some)
    if not spread <= MORE_REGULAR * min(first.spread, second.spread):
        return False
    ratio = _logarithms(table, first.name) - _logarithms(table, second.name)
    if np.nanmax(np.abs(ratio - np.nanmedian(some))) < math.log(MIN_FACTOR):
        return False
    ratio = np.sort(ratio[~np.isnan(ratio)])
    counts = [_count_far(side, spread) for side in (-ratio[::-1], ratio)]
    if not any(counts):
        return False
    if counts[0] >= counts[1]:
        _add(table, first.name, second.name, counts[0], search)
    else:
        _add(table, second.name, first.name, counts[1], search)
    return True


def _quartile_distance(values: Any) -> float:
    """Return the distance of the quartiles of those that are known; NaN without any."""
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def _count_far(logs: Any, spread: float) -> int:
    """Return how many of the sorted values are far below all others; 0 if they are too many to be errors."""
    if not has_far(logs, len(logs)):
        return 0
    low, median = (float(value) for value in np.quantile(logs, [0.25, 0.5]))
    count = int(np.searchsorted(logs, min(low - 3 * spread, median - math.log(MIN_FACTOR))))
    return count if count <= MAX_OUTLIER_SHARE * len(logs) else 0


def _add(table: Table, large: str, small: str, count: int, search: Search) -> None:
    above, below = table.numbers(large), table.numbers(small)
    positive = (above > 0) & (below > 0)
    ratio = np.sort(above[positive] / below[positive])
    median, far = float(np.median(ratio)), ratio[-count:]
    search.add(
        "ratio",
        (large, small),
        1 - median / float(far[0]),
        0.0,
        n=len(ratio),
        count=count,
        limit=short_between(float(ratio[-count - 1]), float(far[0])),
        highest=float(far[-1]),
        median=median,
    )
