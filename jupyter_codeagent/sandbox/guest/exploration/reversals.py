"""Differences that turn round, or change a lot, once the rows are split by another column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .dependence import split_inflation
from .search import MIN_EFFECT, Search
from .statistics import (
    average_ranks,
    chi_square_p,
    correlation_p,
    correlations,
    deviations,
    effect_of_distance,
    inflation,
    normal_p,
    standardize,
)
from .table import Table

MAX_GROUP_LEVELS = 8
MAX_STRATA = 30
MIN_CELL = 8
MIN_DISTANCE = 0.1
"""Of means, in standard deviations."""
MAX_CONFIRMED = 60
MIN_STRATUM = 30
"""Rows of a stratum whose correlation is compared with those of others."""
MIN_DIFFERENT = 3
"""Values of each number in a stratum: a number that hardly varies there goes with nothing."""
RANK_VARIANCE = 1.06


@dataclass(frozen=True)
class Cells:
    """Sums over each group within each stratum."""

    counts: Any
    sums: Any
    squares: Any


@dataclass(frozen=True)
class Contrast:
    """Two levels of a group: their difference over all rows, and within strata."""

    a: int
    b: int
    overall: float
    within: float
    overall_p: float
    within_p: float
    differences: Any
    """By stratum; NaN where a level is too rare."""
    weights: Any
    change: float
    """Effect of the strata on the difference."""
    change_p: float


def find_reversals(table: Table, search: Search) -> None:
    """Find differences between groups that turn round or change within strata, and correlations that turn round."""
    groups = [name for name in table.groups if len(table.levels(name)[1]) <= MAX_STRATA]
    promising = []
    for group in groups:
        if len(table.levels(group)[1]) > MAX_GROUP_LEVELS:
            continue
        for stratum in groups:
            if search.is_over():
                return
            if stratum != group and not _is_recoded(table, group, stratum):
                promising += _screen(table, group, stratum, search)
    promising.sort(reverse=True)
    for _, value, group, stratum, kind in promising[:MAX_CONFIRMED]:
        if search.is_over():
            return
        _confirm(table, value, group, stratum, kind, search)
    for stratum in groups:
        if search.is_over():
            return
        _find_reversed_correlations(table, stratum, search)


def _is_recoded(table: Table, group: str, stratum: str) -> bool:
    (a, levels_a), (b, levels_b) = table.levels(group), table.levels(stratum)
    counts = np.bincount((a * len(levels_b) + b)[(a >= 0) & (b >= 0)], minlength=len(levels_a) * len(levels_b))
    counts = counts.reshape(len(levels_a), len(levels_b))
    return bool(min(counts.max(axis=0).sum(), counts.max(axis=1).sum()) > 0.97 * counts.sum())


def _screen(table: Table, group: str, stratum: str, search: Search) -> list[tuple[float, str, str, str, str]]:
    names, ranks, present = table.screened
    (codes, levels), (strata, stratum_levels) = table.levels(group), table.levels(stratum)
    codes, strata = table.picked(codes), table.picked(strata)
    shape = (len(levels), len(stratum_levels))
    rows = np.flatnonzero((codes >= 0) & (strata >= 0))
    cell = codes[rows] * shape[1] + strata[rows]
    rows, cell = rows[np.argsort(cell, kind="stable")], np.sort(cell)
    if not len(rows):
        return []
    starts = np.flatnonzero(np.concatenate(([True], cell[1:] != cell[:-1])))
    sums, counts, squares = (np.zeros((shape[0] * shape[1], len(names))) for _ in range(3))
    for whole, values in ((sums, ranks), (counts, present), (squares, ranks**2)):
        whole[cell[starts]] = np.add.reduceat(values[rows], starts, axis=0)
    found = []
    for place, name in enumerate(names):
        if name in (group, stratum):
            continue
        search.tried += 2
        cells = Cells(*(whole[:, place].reshape(shape) for whole in (counts, sums, squares)))
        contrasts = compare_levels(cells)
        reversal = max((min(abs(c.overall), abs(c.within)) for c in contrasts if _is_reversed(c)), default=0.0)
        if reversal >= 0.7 * MIN_DISTANCE:
            found.append((reversal + 1, name, group, stratum, "reversal"))
        change = max((c.change for c in contrasts if c.change_p < 0.01), default=0.0)
        if change >= 0.8 * MIN_EFFECT:
            found.append((change, name, group, stratum, "interaction"))
    return found


def compare_levels(cells: Cells) -> list[Contrast]:
    """Compare all pairs of levels, over all and within strata."""
    counts, rows = cells.counts, cells.counts.sum()
    if rows < 40:
        return []
    means = cells.sums / np.maximum(counts, 1)
    inside = float((cells.squares - counts * means**2).sum() / max(rows - (counts > 0).sum(), 1))
    variance = float(cells.squares.sum() / rows - (cells.sums.sum() / rows) ** 2)
    if inside <= 1e-12 or variance <= 1e-12:
        return []
    found = []
    sizes, totals = counts.sum(axis=1), cells.sums.sum(axis=1)
    for a, b in combinations(range(len(counts)), 2):
        usable = (counts[a] >= MIN_CELL) & (counts[b] >= MIN_CELL)
        if usable.sum() < 2:
            continue
        weights = np.where(usable, counts[a] * counts[b] / np.maximum(counts[a] + counts[b], 1), 0.0)
        if weights.sum() < 0.03 * min(sizes[a], sizes[b]):
            continue
        found.append(_contrast(a, b, (sizes, totals), (means, weights), (inside, variance)))
    return found


def _contrast(
    a: int, b: int, whole: tuple[Any, Any], parts: tuple[Any, Any], variances: tuple[float, float]
) -> Contrast:
    (sizes, totals), (means, weights), (inside, variance) = whole, parts, variances
    differences = np.where(weights > 0, means[a] - means[b], np.nan)
    total = float(weights.sum())
    within = float(np.nansum(weights * differences)) / total
    overall = float(totals[a] / sizes[a] - totals[b] / sizes[b])
    pairs = float(sizes[a] * sizes[b] / (sizes[a] + sizes[b]))
    heterogeneity = float(np.nansum(weights * (differences - within) ** 2)) / inside
    freedom = int((weights > 0).sum()) - 1
    rows = float(sizes[a] + sizes[b])
    return Contrast(
        a,
        b,
        overall / math.sqrt(variance),
        within / math.sqrt(variance),
        normal_p(overall * math.sqrt(pairs / variance)),
        normal_p(within * math.sqrt(total / inside)),
        differences,
        weights,
        math.sqrt(max(0.0, heterogeneity - freedom) / rows),
        chi_square_p(heterogeneity, freedom),
    )


def _is_reversed(contrast: Contrast) -> bool:
    return contrast.overall * contrast.within < 0


def _confirm(table: Table, value: str, group: str, stratum: str, kind: str, search: Search) -> None:
    ranks, numbers = table.ranks(value), table.numbers(value)
    (codes, levels), (strata, stratum_levels) = table.levels(group), table.levels(stratum)
    chosen = table.in_order((codes >= 0) & (strata >= 0) & ~np.isnan(ranks))
    cell = codes[chosen] * len(stratum_levels) + strata[chosen]
    shape = (len(levels), len(stratum_levels))
    by_rank, by_value = (_sum_cells(values[chosen], cell, shape) for values in (ranks, numbers))
    residual = ranks[chosen] - (by_rank.sums / np.maximum(by_rank.counts, 1)).ravel()[cell]
    filled, places = np.unique(cell, return_inverse=True)
    factor = split_inflation(places, residual, by_rank.counts.ravel()[filled])
    in_ranks, in_values = compare_levels(by_rank), compare_levels(by_value)
    pairs = len(in_ranks)
    if kind == "reversal":
        _add_reversal((value, group, stratum), (in_ranks, in_values), levels, by_value, factor, search, pairs)
    else:
        _add_interaction(
            (value, group, stratum), (in_ranks, in_values), (levels, stratum_levels), by_value, factor, search
        )


def _sum_cells(values: Any, cell: Any, shape: tuple[int, int]) -> Cells:
    size = shape[0] * shape[1]
    return Cells(
        np.bincount(cell, minlength=size).reshape(shape).astype(float),
        np.bincount(cell, weights=values, minlength=size).reshape(shape),
        np.bincount(cell, weights=values * values, minlength=size).reshape(shape),
    )


def _raw(cells: Cells, contrast: Contrast) -> tuple[float, float]:
    """Return the differences over all and within strata in the units of the number."""
    rows = cells.counts.sum()
    spread = math.sqrt(float(cells.squares.sum() / rows - (cells.sums.sum() / rows) ** 2))
    return contrast.overall * spread, contrast.within * spread


def _deflated(p_z: float, factor: float) -> float:
    """Return the p-value of a normal statistic of which the square is divided by a factor."""
    if factor <= 1 or p_z <= 0:
        return p_z
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if normal_p(middle) > p_z else (low, middle)
    return normal_p(low / math.sqrt(factor))


def _add_reversal(
    columns: tuple[str, str, str],
    contrasts: tuple[list[Contrast], list[Contrast]],
    levels: list[str],
    cells: Cells,
    factor: float,
    search: Search,
    pairs: int,
) -> None:
    best: tuple[float, float, Contrast] | None = None
    by_pair = {(c.a, c.b): c for c in contrasts[1]}
    for one in contrasts[0]:
        raw = by_pair.get((one.a, one.b))
        if raw is None or not _is_reversed(one) or not _is_reversed(raw) or raw.overall * one.overall < 0:
            continue
        if min(abs(one.overall), abs(one.within)) < MIN_DISTANCE:
            continue
        p = min(1.0, pairs * _deflated(max(one.overall_p, one.within_p), factor))
        agreeing = one.differences * one.within > 0
        if one.weights[agreeing].sum() < 0.7 * one.weights.sum():
            continue
        effect = effect_of_distance(abs(one.overall) + abs(one.within))
        if p < 0.01 and (best is None or effect > best[0]):
            best = effect, p, raw
    if best is None:
        return
    effect, p, raw = best
    overall, within = _raw(cells, raw)
    search.add(
        "reversal",
        columns,
        effect,
        p,
        n=int(cells.counts[[raw.a, raw.b]].sum()),
        a=levels[raw.a],
        b=levels[raw.b],
        overall=overall,
        within=within,
        strata=int((raw.weights > 0).sum()),
        agreeing=int((raw.differences * raw.within > 0).sum()),
    )


def _add_interaction(
    columns: tuple[str, str, str],
    contrasts: tuple[list[Contrast], list[Contrast]],
    levels: tuple[list[str], list[str]],
    cells: Cells,
    factor: float,
    search: Search,
) -> None:
    raw_by_pair = {(c.a, c.b): c for c in contrasts[1]}
    clear = []
    for one in contrasts[0]:
        raw = raw_by_pair.get((one.a, one.b))
        if raw is None or one.change < 1.2 * MIN_EFFECT:
            continue
        freedom = int((one.weights > 0).sum()) - 1
        rows = float(cells.counts[[one.a, one.b]].sum())
        p = len(contrasts[0]) * chi_square_p((one.change**2 * rows + freedom) / factor, freedom)
        high, low = int(np.nanargmax(one.differences)), int(np.nanargmin(one.differences))
        differs = raw.differences[high] > raw.differences[low]
        larger = max(abs(one.differences[high]), abs(one.differences[low]))
        strong = one.differences[high] - one.differences[low] >= max(0.35, 0.5 * larger)
        if p < 0.01 and differs and strong:
            clear.append((one.change, p, raw, high, low))
    if not clear:
        return
    effect, p, raw, high, low = max(clear, key=lambda entry: entry[0])
    search.add(
        "interaction",
        columns,
        effect,
        min(1.0, p),
        n=int(cells.counts[[raw.a, raw.b]].sum()),
        a=levels[0][raw.a],
        b=levels[0][raw.b],
        level_high=levels[1][high],
        difference_high=raw.differences[high],
        level_low=levels[1][low],
        difference_low=raw.differences[low],
    )


def _find_reversed_correlations(table: Table, stratum: str, search: Search) -> None:
    names, ranks, present = table.screened
    numbers = len(table.values)
    codes, levels = table.levels(stratum)
    codes = table.picked(codes)
    inside = codes >= 0
    if numbers < 2 or inside.sum() < 40:
        return
    z = ranks[inside][:, :numbers]
    there = present[inside][:, :numbers]
    group = codes[inside]
    member = (group[:, None] == np.arange(len(levels))).astype(np.float32)
    means = (member.T @ z) / np.maximum(member.T @ there, 1)
    within = (z - means[group]) * there
    overall = correlations(z, there)
    inner = correlations(within, there)
    by_level = _by_level(within, there, group, len(levels))
    for i, j in combinations(range(numbers), 2):
        if stratum in (names[i], names[j]):
            continue
        search.tried += 2
        if _differ([(r[i, j], n[i, j]) for r, n in by_level]).p < 0.01:
            _confirm_difference(table, names[j], names[i], stratum, search)
        if overall[i, j] * inner[i, j] < 0 and min(abs(overall[i, j]), abs(inner[i, j])) >= 0.8 * MIN_EFFECT:
            _confirm_correlation(table, names[j], names[i], stratum, search)


@dataclass(frozen=True)
class Spread:
    """How much correlations differ between strata."""

    high: int
    low: int
    effect: float
    """Standard deviation of the correlations; 0 if fewer than two strata are large enough."""
    p: float


def _by_level(within: Any, there: Any, group: Any, levels: int) -> list[tuple[Any, Any]]:
    """Return the correlations of all numbers, and the rows behind each, by level."""
    found = []
    for level in range(levels):
        rows = group == level
        found.append((correlations(within[rows], there[rows]), there[rows].T @ there[rows]))
    return found


def _differ(of_strata: list[tuple[float, float]]) -> Spread:
    """Compare the rank correlations (r, rows) of strata by Fisher's transformation."""
    usable = [place for place, (_, rows) in enumerate(of_strata) if rows >= MIN_STRATUM]
    if len(usable) < 2:
        return Spread(0, 0, 0.0, 1.0)
    r = np.array([of_strata[place][0] for place in usable])
    # Rank correlations vary a little more than those of numbers (Fieller, Hartley and Pearson 1957).
    weights = np.array([(of_strata[place][1] - 3) / RANK_VARIANCE for place in usable])
    z = np.arctanh(np.clip(r, -0.999, 0.999))
    mean = float(weights @ z / weights.sum())
    heterogeneity = float(weights @ (z - mean) ** 2)
    high, low = int(np.argmax(r)), int(np.argmin(r))
    freedom = len(usable) - 1
    effect = math.sqrt(max(0.0, heterogeneity - freedom) / float(weights.sum()))
    return Spread(usable[high], usable[low], min(effect, 1.0), chi_square_p(heterogeneity, freedom))


def _confirm_correlation(table: Table, y: str, x: str, stratum: str, search: Search) -> None:
    a, b = table.ranks(x), table.ranks(y)
    codes, levels = table.levels(stratum)
    chosen = table.in_order((codes >= 0) & ~np.isnan(a) & ~np.isnan(b))
    a, b, codes = standardize(a[chosen]), standardize(b[chosen]), codes[chosen]
    counts = np.maximum(np.bincount(codes, minlength=len(levels)), 1)
    a_within, b_within = (deviations(one, codes, len(levels)) for one in (a, b))
    overall = float(a @ b) / len(a)
    a_inside, b_inside = standardize(a_within), standardize(b_within)
    within = float(a_inside @ b_inside) / len(a)
    products = np.bincount(codes, weights=a_within * b_within, minlength=len(levels))
    agreeing = products * within > 0
    if overall * within >= 0 or min(abs(overall), abs(within)) < MIN_EFFECT:
        return
    if counts[agreeing].sum() < 0.7 * counts.sum():
        return
    factor = inflation(a_inside, b_inside - within * a_inside)
    p = max(correlation_p(r, len(a) / factor) for r in (overall, within))
    if p < 0.01:
        search.add(
            "reversal",
            (y, x, stratum),
            (abs(overall) + abs(within)) / 2,
            p,
            n=len(a),
            a="",
            b="",
            overall=overall,
            within=within,
            strata=int((counts >= MIN_CELL).sum()),
            agreeing=int((agreeing & (counts >= MIN_CELL)).sum()),
        )


def _confirm_difference(table: Table, y: str, x: str, stratum: str, search: Search) -> None:
    """Report two numbers that go together in some strata only, or the other way round, by all rows."""
    a, b = table.numbers(x), table.numbers(y)
    codes, levels = table.levels(stratum)
    present = (codes >= 0) & ~np.isnan(a) & ~np.isnan(b)
    rows = [table.in_order(present & (codes == level)) for level in range(len(levels))]
    correlations = [_rank_correlation(a[some], b[some]) for some in rows]
    spread = _differ(correlations)
    if spread.p >= 0.01 or spread.effect < MIN_EFFECT:
        return
    slopes = [_slope(a[rows[level]], b[rows[level]], correlations[level][1]) for level in (spread.high, spread.low)]
    if not _is_steeper(*slopes):
        return
    search.add(
        "interaction",
        (y, x, stratum),
        spread.effect,
        spread.p,
        n=int(present.sum()),
        a="",
        b="",
        level_high=levels[spread.high],
        difference_high=correlations[spread.high][0],
        level_low=levels[spread.low],
        difference_low=correlations[spread.low][0],
    )


def _rank_correlation(a: Any, b: Any) -> tuple[float, float]:
    """Return Spearman's r and the rows that it stands for, where neighbours are alike; 0 for too few of either."""
    if len(a) < MIN_STRATUM or min(len(np.unique(a)), len(np.unique(b))) < MIN_DIFFERENT:
        return 0.0, 0.0
    x, y = (standardize(average_ranks(numbers)) for numbers in (a, b))
    r = float(x @ y) / len(a)
    return r, len(a) / inflation(x, y - r * x)


def _slope(x: Any, y: Any, rows: float) -> tuple[float, float]:
    """Return the slope of a line through the points, and its variance as of so many independent rows."""
    x, y = x - x.mean(), y - y.mean()
    squares = float(x @ x)
    slope = float(x @ y) / squares
    residual = y - slope * x
    return slope, float(residual @ residual) / max(len(x) - 2, 1) / squares * len(x) / rows


def _is_steeper(high: tuple[float, float], low: tuple[float, float]) -> bool:
    """Check that the line of the stratum with the higher correlation rises more, and not by chance.

    Where a number varies little, a correlation is low although the line is the same.
    """
    return normal_p((high[0] - low[0]) / math.sqrt(max(high[1] + low[1], 1e-300))) < 0.01 and high[0] > low[0]
