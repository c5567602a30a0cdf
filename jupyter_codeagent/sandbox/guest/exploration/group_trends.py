"""Changes over time that differ between groups: what one of them does, a mean of all rows may hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .periods import MIN_FILLED, MIN_PERIODS, Series, covered_periods, period_of, steps_of_years
from .search import MIN_EFFECT, Search
from .statistics import correlation_p, deviations, effect_of_distance, standard_ranks
from .table import Table
from .time_patterns import MIN_ROWS, drift_p, fit_trend, fit_with_months, inflation_by_memory

MAX_LEVELS = 30


@dataclass(frozen=True)
class Grid:
    """Means by period and level."""

    period: str
    places: Any
    """Numbers of the periods that have rows, in order of time."""
    levels: Any
    """Numbers of the levels that have rows in most periods."""
    means: Any
    """A row for each place and a column for each level; NaN without rows."""
    rows: int
    spread: float
    """Standard deviation of the rows within their levels."""


def find_group_trends(table: Table, search: Search) -> None:
    """Find numbers that change over the main date in one group other than in the others."""
    if not table.time:
        return
    for group in table.groups:
        column = table.columns[group]
        if column.kind == "number" and column.stored.lower().startswith(("object", "decimal")):
            continue  # no program can tell how Python writes such levels
        codes, levels = table.levels(group)
        dated = np.flatnonzero(~np.isnan(table.days(table.time)) & (codes >= 0))
        if search.is_over():
            return
        if 2 <= len(levels) <= MAX_LEVELS and len(dated) >= MIN_ROWS:
            _look_at_group(table, group, dated, search)


def _look_at_group(table: Table, group: str, dated: Any, search: Search) -> None:
    (codes, levels), days = table.levels(group), table.days(table.time)[dated]
    codes, period = codes[dated], _choose_period(days, codes[dated])
    if not period:
        return
    places = period_of(days, period)
    for value in table.values + table.flags:
        numbers = table.numbers(value)[dated]
        known = ~np.isnan(numbers)
        if value == group or known.sum() < MIN_ROWS or search.is_over():
            continue
        grid = _average(period, places[known], codes[known], numbers[known])
        if len(grid.levels) > 1 and len(grid.places) >= MIN_PERIODS:
            _compare(grid, (value, table.time, group), levels, search)


def _choose_period(days: Any, codes: Any) -> str:
    """Return the finest period in which most rows belong to levels that nearly always have some; else nothing."""
    for period in (*covered_periods(days), steps_of_years(days)):
        if period:
            grid = _average(period, period_of(days, period), codes, days)
            if len(grid.levels) > 1 and np.isin(codes, grid.levels).mean() >= 0.5:
                return period
    return ""


def _average(period: str, places: Any, codes: Any, numbers: Any) -> Grid:
    """Return the means of levels that have rows in most periods, in some of the first and of the last quarter."""
    first, width = int(places.min()), int(codes.max()) + 1
    periods = int(places.max()) - first + 1
    cells = (places - first) * width + codes
    counts = np.bincount(cells, minlength=periods * width).reshape(periods, width)
    sums = np.bincount(cells, numbers, periods * width).reshape(periods, width)
    used = np.flatnonzero(counts.any(axis=1))
    filled, quarter = counts[used] > 0, len(used) // 4
    ends = filled[:quarter].any(axis=0) & filled[len(used) - quarter :].any(axis=0)
    levels = np.flatnonzero(ends & (filled.mean(axis=0) >= MIN_FILLED))
    means = sums / np.where(counts > 0, counts, np.nan)
    spread = float(deviations(numbers, codes, width).std())
    return Grid(period, used + first, levels, means[np.ix_(used, levels)], len(numbers), spread)


def _compare(grid: Grid, columns: tuple[str, str, str], levels: list[str], search: Search) -> None:
    """Compare each level with the others, and add the one that most surely moves away from them."""
    search.tried += 1
    own = grid.means - np.nanmean(grid.means, axis=0)
    scales = (own, standard_ranks(own))  # far values blur means, and ranks make a leap of what moves far
    independent = [len(one) / inflation_by_memory(_common_memory(one), len(one)) for one in scales]
    compared = range(len(grid.levels) if len(grid.levels) > 2 else 1)  # of two, the other one says the same
    p, level = min(
        (_p_of_distance(grid, one, level, rows), level)
        for one, rows in zip(scales, independent, strict=True)
        for level in compared
    )
    quarter = len(grid.places) // 4
    first, last = np.nanmean(grid.means[:quarter], axis=0), np.nanmean(grid.means[-quarter:], axis=0)
    change = last - first
    gone = float(change[level] - np.delete(change, level).mean())
    effect = effect_of_distance(gone / max(grid.spread, 1e-300))
    p = min(1.0, p * len(compared) * len(scales))
    if effect < MIN_EFFECT or p >= 0.01:
        return
    high, low = (level, int(change.argmin())) if gone > 0 else (int(change.argmax()), level)
    search.add(
        "group_trend",
        columns,
        effect,
        p,
        n=grid.rows,
        period=grid.period,
        level_high=levels[grid.levels[high]],
        first_high=first[high],
        last_high=last[high],
        level_low=levels[grid.levels[low]],
        first_low=first[low],
        last_low=last[low],
    )


def _common_memory(means: Any) -> float:
    """Return the correlation with the next period that the levels share once their lines are taken off.

    One short series cannot show that it wanders; several together can.
    """
    products = squares = 0.0
    for own in means.T:
        known = np.flatnonzero(~np.isnan(own))
        residual = own[known] - np.polyval(np.polyfit(known, own[known], 1), known)
        products += float(residual[1:] @ residual[:-1])
        squares += float(residual @ residual)
    return products / squares if squares > 0 else 0.0


def _p_of_distance(grid: Grid, means: Any, level: int, independent: float) -> float:
    """Return the p-value of a trend in the distance between a level and the mean of the others.

    `independent` says to how many independent periods the levels together amount.
    """
    others = np.delete(means, level, axis=1)
    known = ~np.isnan(means[:, level]) & ~np.isnan(others).all(axis=1)
    distance = means[known, level] - np.nanmean(others[known], axis=1)
    if known.sum() < MIN_PERIODS or not distance.std() > 0:
        return 1.0
    series = Series(grid.period, grid.places[known], distance, distance, spread=1.0)
    fit = fit_with_months(series, fit_trend)[0]
    return max(fit.p_value, min(correlation_p(fit.r, independent), drift_p(np.diff(distance))))
