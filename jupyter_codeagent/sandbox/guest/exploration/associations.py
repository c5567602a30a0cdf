"""Numbers that go with numbers, categories that go with categories, columns that repeat others."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np

from .dependence import Crossing, cross
from .mixtures import Curve, fit_lines, is_mixture
from .roles import MAX_NUMBER_LEVELS, are_coordinates
from .search import MIN_EFFECT, Search
from .statistics import correlation_p, correlations, f_p, inflation, may_wander, rank_correlation, standardize
from .table import Table

MAX_CONFIRMED = 150
BINS = 10
SAME = 0.9999
ALPHABETICAL = 0.8
"""Correlation with the order of the alphabet from which on integers number names, a few of them changed since."""
OWN_NUMBER = 0.95
"""Different numbers for each name from which on they number the names: two Koreas may share one."""
SMALL_FACTOR = 0.01
"""A factor below it is told the other way round: 1,000 times is read more easily than 0.001 times."""
CURVE_MORE = 0.02
"""By how much the share explained by bins has to exceed that of a line."""
MIN_GROUPED = 0.9
"""Share of the rows that have a group, if a curve may come from the groups."""


def find_same(table: Table, search: Search) -> None:
    """Find columns that repeat another one, perhaps in another unit; hide the later one from what follows."""
    names, ranks, present = table.screened
    numbers = len(table.values)
    close = np.abs(correlations(ranks[:, :numbers], present[:, :numbers])) > 0.995
    for i, j in zip(*np.nonzero(np.triu(close, 1)), strict=True):
        first, second = names[i], names[j]
        if not {first, second} & table.hidden and not search.is_over():
            _compare_numbers(table, first, second, search)
    texts = [column.name for column in table.used if column.kind in ("text", "date", "flag")]
    texts += [name for name in table.flags if name not in texts]
    for first, second in combinations(texts, 2):
        kinds = table.columns[first].kind, table.columns[second].kind
        if kinds[0] == kinds[1] and not {first, second} & table.hidden and not search.is_over():
            _compare_codes(table, first, second, search)
    _hide_numberings(table)
    forget = [name for name in ("values", "flags", "groups", "screened") if name in table.__dict__]
    for name in forget:
        del table.__dict__[name]


def _compare_numbers(table: Table, first: str, second: str, search: Search) -> None:
    x, y = table.numbers(first), table.numbers(second)
    both = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[both], y[both]
    if len(x) < 20:
        return
    equal = x == y
    modes = _mode_share(x), _mode_share(y)
    share = float(equal.mean())
    chance = modes[0] * modes[1]
    if share >= 0.95 and (share - chance) / max(1 - chance, 1e-9) >= 0.95:
        _add_same(table, first, second, search, len(x), share, 1.0)
        return
    a, b = table.ranks(first)[both], table.ranks(second)[both]
    r = float(standardize(a) @ standardize(b)) / len(a)
    r_values = float(standardize(x) @ standardize(y)) / len(x)
    if abs(r) < SAME or abs(r_values) < SAME:
        return
    factor = float(x @ y) / float(x @ x)
    spread = float(np.abs(y).max())
    fits = float(np.abs(y - factor * x).max()) <= 1e-6 * spread or _rounds(x, y, factor)
    is_multiple = fits and abs(factor - 1) > 0.001  # closer to 1, they are the same but for rounding
    _add_same(table, first, second, search, len(x), abs(r_values), factor if is_multiple else None)


def _rounds(x: Any, y: Any, factor: float) -> bool:
    """Check that the second is the first times a factor, but for rounding."""
    return float(np.abs(y - factor * x).std()) <= 0.002 * float(y.std())


def _mode_share(values: Any) -> float:
    return float(np.unique(values, return_counts=True)[1].max() / len(values))


def _compare_codes(table: Table, first: str, second: str, search: Search) -> None:
    if table.columns[first].kind == "text":
        (a, levels_a), (b, levels_b) = table.levels(first), table.levels(second)
        places = {level: place for place, level in enumerate(levels_a)}
        b = np.array([places.get(level, -2) for level in levels_b] + [-1])[b]
        both = (a >= 0) & (b != -1)
    else:
        a, b = table.numbers(first), table.numbers(second)
        both = ~np.isnan(a) & ~np.isnan(b)
    a, b = a[both], b[both]
    if len(a) < 20:
        return
    share = float((a == b).mean())
    if share < 0.95:
        return
    chance = _mode_share(a) * _mode_share(b)
    if chance < 0.99 and (share - chance) / (1 - chance) >= 0.95:
        _add_same(table, first, second, search, len(a), share, None)


def _hide_numberings(table: Table) -> None:
    """Hide integers that number the names of a text column, as `iso_num` numbers countries: no size is meant."""
    for column in table.used:
        if column.role != "number" or not column.whole or column.part or column.distinct <= MAX_NUMBER_LEVELS:
            continue
        texts = [one for one in table.used if one.kind == "text"]
        as_many = [one.name for one in texts if OWN_NUMBER * one.distinct <= column.distinct <= one.distinct]
        if any(_numbers_names(table, column.name, name) for name in as_many):
            table.hide(column.name)


def _numbers_names(table: Table, number: str, name: str) -> bool:
    """Check that each name has one number in all its rows, consecutive or in the order of the alphabet."""
    numbers, (codes, levels) = table.numbers(number), table.levels(name)
    both = ~np.isnan(numbers) & (codes >= 0)
    numbers, codes = numbers[both], codes[both]
    of_names = np.full(len(levels), np.nan)
    of_names[codes] = numbers
    if len(numbers) < 2 * len(levels) or np.isnan(of_names).any() or (of_names[codes] != numbers).any():
        return False
    if np.ptp(of_names) == len(np.unique(of_names)) - 1:
        return True
    places = np.argsort(np.argsort([level.casefold() for level in levels]))
    return abs(rank_correlation(places, of_names)) >= ALPHABETICAL


def _add_same(
    table: Table, first: str, second: str, search: Search, rows: int, share: float, factor: float | None
) -> None:
    names = (first, second)
    if factor is not None and abs(factor) < SMALL_FACTOR:
        names, factor = (second, first), 1 / factor
    search.add("same", names, share, 0.0, n=rows, share=share, factor=factor)
    table.hide(second)


def find_correlations(table: Table, search: Search) -> None:
    """Find numbers that rise and fall together, or that depend on each other by a curve."""
    names, ranks, present = table.screened
    numbers = len(table.values)
    if numbers < 2:
        return
    ranks, present = ranks[:, :numbers], present[:, :numbers]
    search.tried += numbers * (numbers - 1) // 2 * 3  # a line, and a curve in both directions
    lines = correlations(ranks, present) ** 2
    curves = _binned(ranks, present)  # of the column by bins of the row
    rows = max(len(ranks), 1)
    promise = np.maximum(lines, np.maximum(curves, curves.T) - 9 / rows)
    limit = max(0.05**2, 4 / rows)
    pairs = [(promise[i, j], i, j) for i, j in combinations(range(numbers), 2) if promise[i, j] > limit]
    pairs.sort(reverse=True)
    for _, i, j in pairs[:MAX_CONFIRMED]:
        if search.is_over():
            return
        if not are_coordinates(names[i], names[j]):
            _confirm(table, names[i], names[j], search)


def _binned(ranks: Any, present: Any) -> Any:
    """Return the share of each column's variance that bins of each row's column explain."""
    explained = np.zeros((ranks.shape[1], ranks.shape[1]))
    for place in range(ranks.shape[1]):
        bins = _bins(np.where(present[:, place] > 0, ranks[:, place], np.nan))
        member = (bins[:, None] == np.arange(BINS)).astype(np.float32)
        sums, counts = member.T @ ranks, member.T @ present
        seen = (bins >= 0).astype(np.float32)
        total = np.maximum(seen @ ranks**2, 1e-9)
        middle = (seen @ ranks) ** 2 / np.maximum(seen @ present, 1)
        explained[place] = ((sums**2 / np.maximum(counts, 1)).sum(axis=0) - middle) / total
    np.fill_diagonal(explained, 0)
    return explained


def _bins(ranks: Any) -> Any:
    """Return bins of equally many rows by standard ranks; missing as -1."""
    present = ~np.isnan(ranks)
    bins = np.full(len(ranks), -1, np.int32)
    spread = math.sqrt(12)
    bins[present] = np.clip((ranks[present] / spread + 0.5) * BINS, 0, BINS - 1).astype(np.int32)
    return bins


def _confirm(table: Table, first: str, second: str, search: Search) -> None:
    a, b = table.ranks(first), table.ranks(second)
    both = ~np.isnan(a) & ~np.isnan(b)
    if both.sum() < 20:
        return
    chosen = table.in_order(both)
    a, b = standardize(a[chosen]), standardize(b[chosen])
    rows = len(a)
    r = float(a @ b) / rows
    if rows < len(both):  # ranks of whole columns are not those of the rows that have both
        r = rank_correlation(*(table.numbers(name)[chosen] for name in (first, second)))
    if abs(r) >= SAME:
        return  # a function of the other
    factor = max(inflation(a, b - r * a), inflation(b, a - r * b))
    few = min(table.columns[first].distinct, table.columns[second].distinct) <= 12
    curve = None if few else _best_curve(a, b)
    if curve is not None and curve[0] > r * r + max(CURVE_MORE, 0.25 * curve[0]):
        share, freedom, swapped = curve
        x, y = (second, first) if swapped else (first, second)
        p = f_p(share / freedom * (rows / factor - freedom - 1) / (1 - share), freedom, rows / factor - freedom - 1)
        if share >= MIN_EFFECT**2 and p < 0.01:
            x_ranks, y_ranks = (b, a) if swapped else (a, b)
            within = _r_within_groups(
                table, y, Curve(x_ranks, y_ranks, _bins(x_ranks), share - r * r), chosen, search
            )
            if within is None:
                peak = _peak(table.numbers(x)[chosen], y_ranks)
                effect = math.sqrt(share)
                search.add("correlation", (x, y), effect, p, n=rows, r=r, form="curve", peak=peak)
                return
            if within * r < 0 and abs(within) >= MIN_EFFECT:
                return  # nor is it a line: it turns round within the groups
    p = correlation_p(r, rows / factor)
    if factor > 10:  # series that wander: what their steps have in common counts as well
        wander = may_wander(a) and may_wander(b - r * a)
        p = min(1.0, 2 * min(1.0 if wander else p, _p_of_steps(a, b, r)))
    if abs(r) >= MIN_EFFECT and p < 0.01:
        search.add("correlation", (first, second), abs(r), p, n=rows, r=r, form="line", peak=None)


def _r_within_groups(table: Table, y: str, curve: Curve, rows: Any, search: Search) -> float | None:
    """Return the correlation within the groups that y differs between, if they make the curve; None if none do."""
    for one in search.findings:
        if one.kind != "group_difference" or one.columns[0] != y:
            continue
        codes, levels = table.levels(one.columns[1])
        codes = codes[rows]
        there = codes >= 0
        if there.mean() < MIN_GROUPED:
            continue
        part = Curve(curve.x[there], curve.y[there], curve.bins[there], curve.gain)
        if is_mixture(part, codes[there], len(levels)):
            return fit_lines(part.x, part.y, codes[there], len(levels)).r
    return None


def _p_of_steps(a: Any, b: Any, r: float) -> float:
    """Return the p-value of the correlation between the steps of two series, if it has the sign of `r`."""
    a, b = np.diff(a), np.diff(b)
    moves = (a != 0) | (b != 0)  # rows that belong to one moment do not count again
    if moves.sum() < 8:
        return 1.0
    a, b = standardize(a[moves]), standardize(b[moves])
    steps = float(a @ b) / len(a)
    return correlation_p(steps, len(a) / inflation(a, b - steps * a)) if steps * r > 0 else 1.0


def _best_curve(a: Any, b: Any) -> tuple[float, int, bool] | None:
    """Return the share of variance that bins explain, less chance, its freedom, and whether b is binned."""
    best: tuple[float, int, bool] | None = None
    for swapped, (x, y) in enumerate(((a, b), (b, a))):
        bins = _bins(x)
        counts = np.bincount(bins, minlength=BINS).astype(float)
        sums = np.bincount(bins, weights=y, minlength=BINS)
        freedom = int((counts > 0).sum()) - 1
        if freedom < 3 or len(y) <= 3 * BINS:
            continue
        share = float((sums**2 / np.maximum(counts, 1)).sum() / len(y))
        share = (share - freedom / len(y)) / (1 - freedom / len(y))
        if best is None or share > best[0]:
            best = share, freedom, bool(swapped)
    return best


def _peak(x: Any, y: Any) -> float | None:
    """Return where y turns: the middle of the bin with its extreme mean, on the side to which it bends.

    None where y does not rise on one side of it and fall on the other.
    """
    bins = _bins(standardize(np.argsort(np.argsort(x, kind="stable"), kind="stable").astype(float)))
    means = np.bincount(bins, weights=y, minlength=BINS) / np.maximum(np.bincount(bins, minlength=BINS), 1)
    bend = np.polyfit(np.arange(BINS), means, 2)[0]
    place = int(np.argmin(means) if bend > 0 else np.argmax(means))
    if place in (0, BINS - 1):
        return None
    at = float(np.median(x[bins == place]))
    before, after = (rank_correlation(x[side], y[side]) for side in (x <= at, x > at))
    return at if before * after < 0 and min(abs(before), abs(after)) >= MIN_EFFECT else None


def find_associations(table: Table, search: Search) -> None:
    """Find categories that go together; hide those that only spell another one differently."""
    groups = [name for name in table.groups if table.columns[name].role != "number" or table.columns[name].part]
    for a, b in combinations(groups, 2):
        if search.is_over():
            return
        if table.hidden & {a, b} or (table.columns[a].part and table.columns[b].part):
            continue
        search.tried += 1
        (codes_a, levels_a), (codes_b, levels_b) = table.levels(a), table.levels(b)
        crossing = cross(codes_a, codes_b, len(levels_a), len(levels_b), table.in_order)
        if crossing is not None:
            _add_association(table, (a, b), crossing, ((codes_a, levels_a), (codes_b, levels_b)), search)


def _add_association(
    table: Table,
    names: tuple[str, str],
    crossing: Crossing,
    sides: tuple[tuple[Any, list[str]], tuple[Any, list[str]]],
    search: Search,
) -> None:
    (codes_a, levels_a), (codes_b, levels_b) = sides
    counts = crossing.counts
    rows = counts.sum()
    fixed = counts.max(axis=1).sum() / rows, counts.max(axis=0).sum() / rows
    if min(fixed) > 0.99 and crossing.effect > 0.98:
        table.hide(names[1])
    common = max(counts.sum(axis=0).max(), counts.sum(axis=1).max()) / rows
    if max(fixed) > 0.995 and common < 0.99:
        return  # each level of one has one level of the other: a function
    if crossing.effect < MIN_EFFECT or crossing.p_value > 0.01:
        return
    i, j = divmod(int(np.argmax(crossing.residuals)), counts.shape[1])
    if min(counts.shape) == 2:  # of the two ends that are equally far, the one that people name
        j = _positive(levels_b, crossing.columns_of, j)
        i = int(np.argmax(crossing.residuals[:, j]))
    a, b = crossing.rows_of[i], crossing.columns_of[j]
    both = (codes_a >= 0) & (codes_b >= 0)  # rare levels are not compared, but are rows all the same
    has_b = codes_b[both] == b
    search.add(
        "association",
        names,
        crossing.effect,
        crossing.p_value,
        n=int(both.sum()),
        a_level=levels_a[a],
        b_level=levels_b[b],
        share_in=has_b[codes_a[both] == a].mean(),
        share_all=has_b.mean(),
        levels_a=counts.shape[0],
        levels_b=counts.shape[1],
    )


def _positive(levels: list[str], kept: Any, place: int) -> int:
    """Return the place of "True", "1" or "yes" among two levels; else the given one."""
    names = [levels[index].lower() for index in kept]
    if len(names) != 2:
        return place
    return next((at for at, name in enumerate(names) if name in ("true", "1", "yes", "y")), place)
