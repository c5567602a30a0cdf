"""What changes over time: trends, level shifts, and patterns that repeat by hour, weekday or month.

All tests are made on means of periods, and allow for periods that resemble the one before: a random walk has no
trend, however far it goes, unless its steps go one way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .periods import (
    MIN_PERIODS,
    MONDAY,
    Series,
    average,
    choose_period,
    count,
    months_of,
    period_of,
    start_of,
    steps_of_years,
)
from .search import MIN_EFFECT, Search
from .statistics import correlation_p, effect_of_distance, f_p, lag_correlation, may_wander, standardize, t_p
from .table import Table

MIN_ROWS = 40
MAX_DATES = 3
YEAR = 365.25
REGULAR = 0.99
"""Share of the rows that come at the same distance: changes of the clock are few."""
MIN_SIDE = 5
"""Periods before and after a shift."""
MIN_STEPS = 20
"""Steps from period to period from which on it can be told whether they resemble each other."""
MIN_SEASON = 3.0
"""F of the months from which on they are taken off before trends are looked for."""


@dataclass(frozen=True)
class Fit:
    """How well a trend or a level shift describes a series."""

    left: float
    """Share of the variance that is left."""
    p_value: float
    residual: Any
    """Relative to the standard deviation of the series."""
    r: float = 0.0
    cut: int = 0


def find_time_patterns(table: Table, search: Search) -> None:
    """Find trends, shifts and seasons of each number along the main date, and of the rows along each date."""
    for time in table.times[:MAX_DATES]:
        if search.is_over():
            return
        days = table.days(time)
        days = days[~np.isnan(days)]
        if len(days) >= MIN_ROWS:
            _look_at_counts(time, days, search)
    if not table.time:
        return
    for value in table.values + table.flags:
        if search.is_over():
            return
        days, ranks = table.days(table.time), table.ranks(value)
        both = ~np.isnan(days) & ~np.isnan(ranks)
        if both.sum() >= MIN_ROWS:
            columns = (value, table.time)
            _look_at_value(columns, days[both], ranks[both], table.numbers(value)[both], search)


def _look_at_counts(time: str, days: Any, search: Search) -> None:
    columns = ("", time)
    if _is_regular(days):
        return  # how many fall on a day says something about the clock, nothing about the world
    period = choose_period(days)
    if period:
        series = count(days, period)
        filled = series.values[series.values > 0]
        if len(series.places) >= MIN_PERIODS and len(filled) and filled.min() < filled.max():
            _add_change(columns, series, len(days), search)
    usual = np.unique(np.floor(days), return_counts=True)[1]
    if usual.min() < usual.max():
        for cycle in _cycles(days):
            _add_season(columns, cycle, days, None, None, search)


def _is_regular(days: Any) -> bool:
    """Check that nearly all rows follow the one before after the same time, as measurements do."""
    steps = np.diff(np.sort(days))
    return bool((np.abs(steps - np.median(steps)) <= 1e-6).mean() >= REGULAR)


def _look_at_value(columns: tuple[str, str], days: Any, ranks: Any, values: Any, search: Search) -> None:
    period = choose_period(days) or steps_of_years(days)
    if period:
        series = average(days, ranks, values, period)
        if len(series.places) >= MIN_PERIODS:
            _add_change(columns, series, len(days), search)
    for cycle in _cycles(days):
        _add_season(columns, cycle, days, ranks, values, search)


def _add_change(columns: tuple[str, str], series: Series, rows: int, search: Search) -> None:
    """Add a trend or a level shift, whichever describes the series better."""
    if float(series.ranks.std()) <= 0:
        return
    search.tried += 2
    trend, means = fit_with_months(series, fit_trend)
    shift, shifted = fit_with_months(series, _fit_break)
    quarter = max(1, len(means) // 4)
    if len(means) * math.log(trend.left / shift.left) <= math.log(
        len(means)
    ):  # the place of a shift is chosen as well
        gone = float(means[-quarter:].mean() - means[:quarter].mean())
        effect = effect_of_distance(gone / series.spread) if series.spread else abs(trend.r)
        first, last = float(series.values[:quarter].mean()), float(series.values[-quarter:].mean())
        if effect >= MIN_EFFECT and trend.p_value < 0.01 and (last - first) * trend.r > 0:
            facts = {"period": series.period, "periods": len(means), "first": first, "last": last, "r": trend.r}
            search.add("trend", columns, effect, trend.p_value, n=rows, **facts)
        return
    cut = shift.cut
    gone = float(shifted[cut:].mean() - shifted[:cut].mean())
    before, after = float(series.values[:cut].mean()), float(series.values[cut:].mean())
    effect = effect_of_distance(gone / series.spread) if series.spread else math.sqrt(1 - shift.left)
    if effect >= MIN_EFFECT and shift.p_value < 0.01 and (after - before) * gone > 0:
        at = start_of(int(series.places[cut]), series.period)
        facts = {"at": at, "before": before, "after": after, "period": series.period}
        search.add("break", columns, effect, shift.p_value, n=rows, **facts)


def fit_with_months(series: Series, fit: Callable[[Any, Any], Fit]) -> tuple[Fit, Any]:
    """Return the fit and the means of periods, without what repeats each year if there is such a thing."""
    means = series.ranks
    first = fit(series.places, means)
    months = months_of(series.places, series.period)
    per_year = {"D": YEAR, "W": YEAR / 7, "M": 12, "Q": 4, "Y": 1}[series.period]
    if series.period == "Y" or series.places[-1] - series.places[0] < 2 * per_year - 1:
        return first, means
    sizes = np.maximum(np.bincount(months, minlength=12), 1)
    pattern = (np.bincount(months, weights=first.residual, minlength=12) / sizes)[months]
    kinds = len(np.unique(months)) - 1
    explained = float(pattern @ pattern) / max(float(first.residual @ first.residual), 1e-12)
    ratio = explained / kinds * (len(means) - kinds - 2) / max(1 - explained, 1e-12)
    if ratio < MIN_SEASON:
        return first, means
    means = means - pattern * float(means.std())
    return fit(series.places, means), means


def fit_trend(places: Any, means: Any) -> Fit:
    x, y = standardize(places.astype(float)), standardize(means)
    r = float(x @ y) / len(x)
    residual = y - r * x
    p = correlation_p(r, independent_periods(residual))
    if may_wander(residual):
        steps = np.diff(y)
        p = min(max(p, _steps_p(steps, len(steps))), drift_p(steps))
    return Fit(max(1 - r * r, 1e-12), p, residual, r)


def drift_p(steps: Any) -> float:
    """Return the p-value of steps that go one way, which those of a random walk do not, however far it goes.

    Of many steps it allows for those that resemble the one before, as in moving averages; a course may bend.
    """
    rows = float(len(steps))
    if rows >= MIN_STEPS:
        x = standardize(np.arange(rows))
        rows /= _factor(steps - steps.mean() - float(x @ steps) / rows * x)
    return _steps_p(steps, rows)


def _steps_p(steps: Any, rows: float) -> float:
    if rows < 3:
        return 1.0
    return t_p(float(steps.mean() / max(steps.std(), 1e-12)) * math.sqrt(rows), rows - 1)


def _fit_break(places: Any, means: Any) -> Fit:
    y = standardize(means)
    rows = len(places)
    edge = max(MIN_SIDE, rows // 10)
    if rows < 2 * edge:
        return Fit(1.0, 1.0, y)
    cuts = np.arange(edge, rows - edge + 1)
    sums = np.cumsum(y)[cuts - 1]
    share = sums**2 / (cuts * (1 - cuts / rows)) / rows
    best = int(np.argmax(share))
    cut, explained = int(cuts[best]), min(float(share[best]), 1 - 1e-12)
    residual = np.concatenate((y[:cut] - y[:cut].mean(), y[cut:] - y[cut:].mean()))
    independent = independent_periods(residual)
    p = 1.0 if may_wander(residual) else correlation_p(math.sqrt(explained), independent) * len(cuts)
    return Fit(1 - explained, min(1.0, p), residual, cut=cut)


def independent_periods(residual: Any) -> float:
    """Return how many independent periods the residuals of a fit amount to, near and further apart."""
    periods = len(residual)
    factor = _factor(residual)
    for width in (periods // 24, periods // 12):
        if width < 2:
            continue
        blocks = periods // width
        means = residual[: blocks * width].reshape(blocks, width).mean(axis=1)
        spread = float(means.var()) * width / max(float(residual.var()), 1e-12)
        coarse = spread * _factor(means - means.mean())
        if coarse > 2:
            factor = max(factor, coarse)
    return periods / factor


def _factor(residual: Any) -> float:
    """Return by how much the correlation with the next period inflates variances."""
    if len(residual) < 6 or not residual.any():
        return 1.0
    return inflation_by_memory(lag_correlation(residual), len(residual))


def inflation_by_memory(near: float, periods: int) -> float:
    """Return by how much a correlation with the next period inflates variances; its bias is taken off."""
    near = min(max((near * periods + 1) / (periods - 4), 0.0), 1 - 1e-6)
    return (1 + near) / (1 - near)


@dataclass(frozen=True)
class Cycle:
    """A pattern that may repeat: positions within blocks of time."""

    name: str
    positions: int
    position: Any
    block: Any
    widths: tuple[int, ...]
    first: int = 0
    """What people call the first position."""
    """Numbers of cycles that may be taken together as one block."""


def _cycles(days: Any) -> list[Cycle]:
    whole = np.floor(days)
    span = float(days.max() - days.min())
    found = []
    hours = np.floor((days - whole) * 24 + 1e-6).astype(np.int64) % 24
    if span >= 3 and len(np.unique(hours)) >= 4:
        found.append(Cycle("hour", 24, hours, whole.astype(np.int64), (1, 2, 3, 7, 14, 28, 91)))
    whole_years = len(np.unique(period_of(days, "Y"))) == len(np.unique(days))
    if span >= 28 and not whole_years:
        weekday = (whole.astype(np.int64) + MONDAY) % 7
        found.append(Cycle("weekday", 7, weekday, period_of(days, "W"), (1, 2, 4, 8, 13, 26, 52)))
    if span >= 1.9 * YEAR and not whole_years:
        months = period_of(days, "M")
        first = int(months.min())
        found.append(Cycle("month", 12, (months - first) % 12, (months - first) // 12, (1, 2), first % 12))
    return found


def _add_season(columns: tuple[str, str], cycle: Cycle, days: Any, ranks: Any, values: Any, search: Search) -> None:
    search.tried += 1
    cells = _cells(cycle, ranks)
    if cells is None:
        return
    positions, table, kept = cells
    blocks, width = table.shape
    centred = _without_trend(table)
    pattern = centred.mean(axis=0)
    residual = centred - pattern
    freedom = (width - 1) * (blocks - 1)
    noise = float((residual**2).sum()) / freedom
    signal = blocks * float(pattern @ pattern)
    if signal <= 0:
        return
    share = _sphericity(residual)
    ratio = signal / (width - 1) / noise if noise > 0 else 1e9
    p = f_p(ratio, (width - 1) * share, freedom * share)
    extra = max(0.0, signal - (width - 1) * noise)
    whole = float(ranks.var()) * blocks * width if ranks is not None else signal + noise * freedom
    effect = math.sqrt(extra / whole)
    if effect < MIN_EFFECT or p >= 0.01:
        return
    shown = table if values is None else _cells_of(cycle, values, positions, kept)
    means = _without_trend(shown).mean(axis=0) + shown.mean()
    pairs = ((means, pattern), (pattern, means))
    for first, second in pairs:
        high, low = int(np.argmax(first)), int(np.argmin(first))
        if second[high] > second[low]:
            names = (positions + cycle.first) % cycle.positions + (cycle.name == "month")
            told = means if values is None else _plain_means(cycle, values)[positions]
            if told[high] <= told[low]:
                continue  # only without the trend
            search.add(
                "season",
                columns,
                effect,
                p,
                n=len(days),
                cycle=cycle.name,
                highest=int(names[high]),
                lowest=int(names[low]),
                highest_mean=float(told[high]),
                lowest_mean=float(told[low]),
            )
            return


def _plain_means(cycle: Cycle, values: Any) -> Any:
    """Return the mean of all rows at each position of the cycle: what anybody finds who groups by it."""
    counts = np.bincount(cycle.position, minlength=cycle.positions)
    return np.bincount(cycle.position, weights=values, minlength=cycle.positions) / np.maximum(counts, 1)


def _without_trend(table: Any) -> Any:
    """Return the cells less the mean of their block and the slope from block to block."""
    blocks, width = table.shape
    means = table.mean(axis=1)
    slope = float(np.polyfit(np.arange(blocks), means, 1)[0]) / width
    return table - means[:, None] - slope * (np.arange(width) - (width - 1) / 2)


def _cells(cycle: Cycle, ranks: Any) -> tuple[Any, Any, tuple[Any, int]] | None:
    """Return positions, means by block and position, and which blocks, of the shortest blocks that are complete."""
    sizes = np.bincount(cycle.position, minlength=cycle.positions)
    positions = np.flatnonzero(sizes >= 0.1 * sizes.mean())
    if len(positions) < 3:
        return None
    for width in cycle.widths:
        block = (cycle.block - cycle.block.min()) // width
        counts = _count_cells(cycle, block)[:, positions]
        kept = np.flatnonzero((counts > 0).all(axis=1))
        if ranks is None and len(counts) > 2:  # days without rows count as well, the ends are not complete
            kept = np.arange(1, len(counts) - 1) if cycle.name != "month" else np.arange(len(counts) - 1)
        enough = 2 if cycle.name == "month" else 4
        if len(kept) >= max(enough, 0.6 * len(counts)):
            chosen = (kept, width)
            if ranks is None:
                return positions, counts[kept].astype(float), chosen
            return positions, _cells_of(cycle, ranks, positions, chosen), chosen
    return None


def _count_cells(cycle: Cycle, block: Any) -> Any:
    cell = block * cycle.positions + cycle.position
    size = (int(block.max()) + 1) * cycle.positions
    return np.bincount(cell, minlength=size).reshape(-1, cycle.positions)


def _cells_of(cycle: Cycle, values: Any, positions: Any, chosen: tuple[Any, int]) -> Any:
    kept, width = chosen
    block = (cycle.block - cycle.block.min()) // width
    counts = _count_cells(cycle, block)
    cell = block * cycle.positions + cycle.position
    sums = np.bincount(cell, weights=values, minlength=counts.size).reshape(counts.shape)
    return (sums / np.maximum(counts, 1))[np.ix_(kept, positions)]


def _sphericity(residual: Any) -> float:
    """Return by how much the freedom shrinks as neighbouring positions are alike (Greenhouse and Geisser)."""
    blocks, width = residual.shape
    if blocks > 2 * width:
        covariance = residual.T @ residual
        share = float(np.trace(covariance)) ** 2 / max((width - 1) * float((covariance**2).sum()), 1e-300)
        share = (blocks * (width - 1) * share - 2) / ((width - 1) * (blocks - 1 - (width - 1) * share))
        return float(min(1.0, max(share, 1 / (width - 1))))
    total = float((residual**2).sum())
    near = float((residual[:, 1:] * residual[:, :-1]).sum()) / total if total > 0 else 0.0
    near = min(max((near * width + 1) / (width - 4), 0.0), 0.99) if width > 4 else 0.5
    distance = np.abs(np.subtract.outer(np.arange(width), np.arange(width)))
    covariance = near**distance
    centre = np.eye(width) - 1 / width
    covariance = centre @ covariance @ centre
    return float(np.trace(covariance) ** 2 / ((width - 1) * (covariance**2).sum()))
