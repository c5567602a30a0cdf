"""Keys of several columns: those that tell the rows of a table apart together, where chance would not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .table import SCREEN_ROWS, Table, spread_rows

MIN_SURPRISE = 8.0
"""Minus the logarithm of the probability of so few repeats by chance: e^-8 is 0.01 divided by thirty tries."""
MAX_CODES = 1 << 62


def levels_of(table: Table, name: str, rows: Any) -> tuple[Any, Any]:
    """Return numbers of levels, missing as -1, and the sorted levels; of all rows where `rows` is None."""
    if table.columns[name].kind in ("text", "mixed"):
        codes, levels = table.source.codes(name, rows)
        return codes, np.array(levels, dtype=object)
    numbers = table.source.numbers(name, rows)
    present = ~np.isnan(numbers)
    codes = np.full(len(numbers), -1, np.int32)
    values, codes[present] = np.unique(numbers[present], return_inverse=True)
    return codes, values


def places_among(levels: Any, among: Any) -> Any:
    """Return at which place of sorted values each level is, -1 where it is not.

    `numpy.isin` compares each text with each other one: 150,000 with 100,000 would take minutes.
    """
    if not len(among):
        return np.full(len(levels), -1)
    at = np.minimum(np.searchsorted(among, levels), len(among) - 1)
    return np.where(among[at] == levels, at, -1)


def combined(codes: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Return one number for each combination of the levels of several columns, -1 where one is missing."""
    missing = np.zeros(len(codes[0]), bool)
    together = np.zeros(len(codes[0]), np.int64)
    for one, size in zip(codes, sizes, strict=True):
        missing |= one < 0
        together = together * size + one
    return np.where(missing, np.int64(-1), together)


def are_key(columns: Sequence[Any], max_repeats: float = 0.0) -> bool:
    """Check that rows have combinations of their own, but for a share, and that each column is needed for it.

    A column is needed if the others repeat so often that, were it drawn by chance, combinations would, too: that
    customers who stand twice live in different cities makes no key of customer and city. Rows in which a value is
    missing are left out.
    """
    present = np.logical_and.reduce([codes >= 0 for codes in columns])
    columns = [codes[present] for codes in columns]
    rows, sizes = len(columns[0]), [int(codes.max(initial=0)) + 1 for codes in columns]
    if rows < 2 or math.prod(sizes) > MAX_CODES:
        return False
    counts = np.unique(combined(columns, sizes), return_counts=True)[1]
    if rows - len(counts) > max_repeats * rows:
        return False
    pairs = rows * (rows - 1) / 2
    for place, codes in enumerate(columns):
        others = [at for at in range(len(columns)) if at != place]
        rest = combined([columns[at] for at in others], [sizes[at] for at in others])
        by_chance = _pairs_alike(np.unique(rest, return_counts=True)[1]) * _pairs_alike(np.bincount(codes)) / pairs
        if _surprise(_pairs_alike(counts), by_chance) < MIN_SURPRISE:
            return False
    return True


def seem_key(table: Table, names: Sequence[str], max_repeats: float = 0.0) -> bool:
    """Check on some rows that few repeat a combination: most columns are no key, and that shows soon."""
    read = [levels_of(table, name, spread_rows(table.rows, SCREEN_ROWS)) for name in names]
    together = combined([codes for codes, _ in read], [len(levels) for _, levels in read])
    together = together[together >= 0]
    return len(together) - len(np.unique(together)) <= max_repeats * len(together)


def _pairs_alike(counts: Any) -> float:
    """Return how many pairs of rows have the same level."""
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1)).sum() / 2)


def _surprise(found: float, expected: float) -> float:
    """Return minus the logarithm of the probability of so few or less (Chernoff's bound for a Poisson number)."""
    if found >= expected:
        return 0.0
    return expected - found + (found * math.log(found / expected) if found else 0.0)
