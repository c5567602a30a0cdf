"""Numbers that differ between groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dependence import Split, split
from .search import MIN_EFFECT, Search
from .statistics import chi_square_p
from .table import Table

MAX_CONFIRMED = 120
SCREEN_EFFECT = 0.06
SCREEN_P = 0.02


def find_group_differences(table: Table, search: Search) -> None:
    """Find groups in which a number is higher or lower."""
    promising = []
    for group in table.groups:
        for value, effect in _screen_group(table, group, search):
            promising.append((effect, value, group))
    promising.sort(reverse=True)
    for _, value, group in promising[:MAX_CONFIRMED]:
        if search.is_over():
            return
        _confirm(table, value, group, search)


def _screen_group(table: Table, group: str, search: Search) -> list[tuple[str, float]]:
    names, ranks, present = table.screened
    numbers = len(table.values)
    codes, levels = table.levels(group)
    codes = table.picked(codes)
    places = [place for place in range(numbers) if names[place] != group]
    search.tried += len(places)
    if len(levels) < 2 or not places:
        return []
    member = (codes[:, None] == np.arange(len(levels))).astype(np.float32)
    sums, counts = member.T @ ranks[:, places], member.T @ present[:, places]
    total = (ranks[:, places] ** 2).sum(axis=0)
    between = (sums**2 / np.maximum(counts, 1)).sum(axis=0)
    rows = np.maximum(counts.sum(axis=0), 1)
    eta = between / np.maximum(total, 1e-9)
    found = []
    largest = (np.abs(sums) / np.sqrt(np.maximum(counts, 1))).max(axis=0)
    for place, share, count, alone in zip(places, eta, rows, largest, strict=True):
        freedom = len(levels) - 1
        effect = float(np.sqrt(max(0.0, share - freedom / count)))
        if alone > 3 or (effect >= SCREEN_EFFECT and chi_square_p(float(share * count), freedom) < SCREEN_P):
            found.append((names[place], effect))
    return found


def _confirm(table: Table, value: str, group: str, search: Search) -> None:
    codes, levels = table.levels(group)
    result = split(table.ranks(value), codes, len(levels), table.in_order)
    if result is None or result.effect < MIN_EFFECT or result.p_value > 0.01:
        return
    numbers = table.numbers(value)
    if _is_line(table, value, group, result) or _is_function(numbers, codes, result):
        return
    present = (codes >= 0) & ~np.isnan(numbers)
    sums = np.bincount(codes[present], weights=numbers[present], minlength=len(levels))[result.kept]
    means = sums / result.sizes
    pair = _extremes(means, result.means)
    if pair is None:
        return
    high, low = pair
    search.add(
        "group_difference",
        (value, group),
        result.effect,
        result.p_value,
        n=int(result.sizes.sum()),
        highest=levels[result.kept[high]],
        lowest=levels[result.kept[low]],
        highest_mean=means[high],
        lowest_mean=means[low],
        highest_n=int(result.sizes[high]),
        lowest_n=int(result.sizes[low]),
        levels=len(result.kept),
    )


def _extremes(means: Any, ranks: Any) -> tuple[int, int] | None:
    """Return the levels with the highest and the lowest mean, if ranks agree; else those by ranks, if means do."""
    for first, second in ((means, ranks), (ranks, means)):
        high, low = int(np.argmax(first)), int(np.argmin(first))
        if first[high] > first[low] and second[high] > second[low]:
            return high, low
    return None  # a few extreme values make the means, not the groups


def _is_line(table: Table, value: str, group: str, result: Split) -> bool:
    """Check that levels which are numbers say hardly more than a correlation does."""
    if table.columns[group].role != "number" or table.columns[group].part:
        return False
    x, y = table.ranks(group), table.ranks(value)
    both = ~np.isnan(x) & ~np.isnan(y)
    r = float(np.corrcoef(x[both], y[both])[0, 1])
    return r * r >= 0.7 * result.effect**2


def _is_function(numbers: Any, codes: Any, result: Split) -> bool:
    """Check that the levels are ranges of the number, or have one value each."""
    lows, highs = [], []
    for level in result.kept:
        inside = numbers[codes == level]
        inside = inside[~np.isnan(inside)]
        lows.append(float(inside.min()))
        highs.append(float(inside.max()))
    order = np.argsort(lows)
    lows_in_order, highs_in_order = np.array(lows)[order], np.array(highs)[order]
    gaps = lows_in_order[1:] - highs_in_order[:-1]
    width = float((highs_in_order - lows_in_order).mean())
    apart = bool((gaps >= 0).all()) and (width == 0 or float(gaps.max()) <= (0.1 if len(lows) < 5 else 1) * width)
    return apart and (len(lows) > 2 or result.sizes.min() >= 0.02 * result.sizes.sum())
