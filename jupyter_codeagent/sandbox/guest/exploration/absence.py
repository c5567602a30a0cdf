"""Missing values: how many, in which groups, and in which columns at once."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .dependence import Crossing, cross
from .search import MIN_EFFECT, Search
from .statistics import correlation_p, inflation, standardize
from .table import Table

MIN_SHARE = 0.05
MIN_MISSING = 10
MIN_TOGETHER = 0.7


def find_missing(table: Table, search: Search) -> None:
    """Find columns that lack many values, columns that lack them together, and groups that lack more."""
    lacking = {}
    for column in table.used:
        share = column.missing / table.rows
        if share >= MIN_SHARE and column.kind != "other":
            search.add("missing", (column.name,), share, 0.0, n=table.rows, missing=column.missing, rows=table.rows)
        if column.missing and column.kind != "other" and share < 1:
            absent = table.is_missing(column.name)
            if MIN_MISSING <= absent.sum() <= table.size - MIN_MISSING:
                lacking[column.name] = np.packbits(absent)
    alone = _find_together(table, lacking, search)
    for name in alone:
        if search.is_over():
            return
        _find_groups(table, name, search)


def _find_together(table: Table, lacking: dict[str, Any], search: Search) -> list[str]:
    """Add sets of columns that lack values in the same rows; return one column of each set and all others."""
    sets = {name: [name] for name in lacking}
    worst: dict[str, tuple[float, float]] = {}
    for first, second in combinations(lacking, 2):
        search.tried += 1
        r, p = _agreement(table, lacking[first], lacking[second])
        if r < MIN_TOGETHER or sets[first] is sets[second]:
            continue
        merged = sets[first] + sets[second]
        effects = [(r, p), *(worst[name] for name in (sets[first][0], sets[second][0]) if name in worst)]
        for name in merged:
            sets[name] = merged
            worst[name] = (min(e for e, _ in effects), max(q for _, q in effects))
    unique = list({id(names): names for names in sets.values()}.values())
    for names in unique:
        if len(names) > 1:
            ordered = tuple(name for name in table.columns if name in names)
            both = np.unpackbits(np.bitwise_and.reduce([lacking[name] for name in names]), count=table.size)
            effect, p = worst[names[0]]
            search.add("missing_together", ordered, effect, p, n=table.size, missing=int(both.sum()))
    return [names[0] for names in unique]


def _agreement(table: Table, first: Any, second: Any) -> tuple[float, float]:
    """Return the correlation of two columns' absence, and its p-value."""
    a, b = (standardize(np.unpackbits(bits, count=table.size).astype(float)) for bits in (first, second))
    r = float(a @ b) / table.size
    if r < MIN_TOGETHER:
        return r, 1.0
    order = slice(None) if table.order is None else table.order
    factor = inflation(a[order], (b - r * a)[order])
    return r, correlation_p(r, table.size / factor)


def _find_groups(table: Table, name: str, search: Search) -> None:
    absent = table.is_missing(name).astype(np.int32)
    best: tuple[float, str, Crossing, list[str]] | None = None
    for group in table.groups:
        if group == name:
            continue
        search.tried += 1
        codes, levels = table.levels(group)
        crossing = cross(codes, absent, len(levels), 2, table.in_order)
        if crossing is not None and (best is None or crossing.effect > best[0]):
            best = (crossing.effect, group, crossing, levels)
    if best is None or best[0] < MIN_EFFECT:
        return
    _, group, crossing, levels = best
    codes = table.levels(group)[0]
    place = int(crossing.rows_of[int(np.argmax(crossing.residuals[:, 1]))])
    inside = float(absent[codes == place].mean())
    outside = float(absent[(codes >= 0) & (codes != place)].mean())
    if inside - outside >= 0.05:
        search.add(
            "missing_by_group",
            (name, group),
            crossing.effect,
            crossing.p_value,
            n=int((codes >= 0).sum()),
            level=levels[place],
            rate_in=inside,
            rate_out=outside,
            levels=len(crossing.rows_of),
        )
