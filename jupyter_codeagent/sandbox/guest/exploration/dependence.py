"""How much a category depends on a category, or a number on a category, in rows that may be a sequence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .statistics import MAX_BLOCKS, RESIDUAL_BIAS, chi_square_p, f_p, may_wander, memory, normal_p

MIN_LEVEL_ROWS = 10
MIN_EXPECTED = 2.0


@dataclass(frozen=True)
class Crossing:
    """How two categories depend on each other."""

    effect: float
    """Cramér's V, less what chance gives."""
    p_value: float
    counts: Any
    residuals: Any
    """Of each cell: how far it is from independence, in standard deviations."""
    rows_of: Any
    """Levels of the rows of `counts`; rare ones are left out."""
    columns_of: Any


def cross(a: Any, b: Any, levels_a: int, levels_b: int, in_order: Callable[[Any], Any]) -> Crossing | None:
    """Compare two categories on the rows that have both; None where too little is left."""
    counts = np.bincount((a * levels_b + b)[(a >= 0) & (b >= 0)], minlength=levels_a * levels_b)
    counts = counts.reshape(levels_a, levels_b).astype(float)
    kept_a, kept_b = _frequent(counts)
    if len(kept_a) < 2 or len(kept_b) < 2:
        return None
    counts = counts[np.ix_(kept_a, kept_b)]
    rows = counts.sum()
    share_a, share_b = counts.sum(axis=1) / rows, counts.sum(axis=0) / rows
    expected = rows * np.outer(share_a, share_b)
    residuals = (counts - expected) / np.sqrt(expected * np.outer(1 - share_a, 1 - share_b))
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    freedom = (len(kept_a) - 1) * (len(kept_b) - 1)
    scale = rows * (min(len(kept_a), len(kept_b)) - 1)
    effect = math.sqrt(max(0.0, chi_square - freedom) / scale)
    if chi_square_p(chi_square, freedom) > 0.01:
        return Crossing(effect, 1.0, counts, residuals, kept_a, kept_b)
    chosen = in_order(np.isin(a, kept_a) & np.isin(b, kept_b))
    factor = _repetition(a[chosen], b[chosen])
    p_value = chi_square_p(chi_square / factor, freedom)
    return Crossing(effect, p_value, counts, residuals, kept_a, kept_b)


def _frequent(counts: Any) -> tuple[Any, Any]:
    """Return the levels of both sides that have enough rows for chi-square to hold."""
    kept_a = np.flatnonzero(counts.sum(axis=1) >= MIN_LEVEL_ROWS)
    kept_b = np.flatnonzero(counts.sum(axis=0) >= MIN_LEVEL_ROWS)
    while len(kept_a) > 1 and len(kept_b) > 1:
        part = counts[np.ix_(kept_a, kept_b)]
        sizes_a, sizes_b = part.sum(axis=1), part.sum(axis=0)
        if sizes_a.min() * sizes_b.min() >= MIN_EXPECTED * part.sum():
            break
        if (sizes_a.min() <= sizes_b.min() and len(kept_a) > 2) or len(kept_b) <= 2:
            kept_a = np.delete(kept_a, int(sizes_a.argmin()))
        else:
            kept_b = np.delete(kept_b, int(sizes_b.argmin()))
    return kept_a, kept_b


def _repetition(a: Any, b: Any) -> float:
    """Return by how much rows that repeat the row before inflate chi-square."""
    common = min(_persistence(a, None) * _persistence(b, a), _persistence(b, None) * _persistence(a, b))
    common = min(common, 1 - 1e-9)
    return max((1 + common) / (1 - common), _block_repetition(a, b))


def _persistence(codes: Any, within: Any) -> float:
    """Return how much more often than by chance a row has the level of the row before (of the same other level)."""
    same = codes[1:] == codes[:-1]
    if within is None:
        sizes = np.bincount(codes) / len(codes)
        chance, share = float(sizes @ sizes), float(same.mean())
    else:
        width = int(codes.max()) + 1
        cells = np.bincount(within * width + codes).astype(float)
        cells = np.pad(cells, (0, -len(cells) % width)).reshape(-1, width)
        sizes = np.maximum(cells.sum(axis=1), 1)
        alike = within[1:] == within[:-1]
        if alike.sum() < 20:
            return 0.0
        weights = np.bincount(within[1:][alike], minlength=len(sizes)) / alike.sum()
        chance, share = float(((cells / sizes[:, None]) ** 2).sum(axis=1) @ weights), float(same[alike].mean())
    return max(0.0, (share - chance) / (1 - chance)) if chance < 1 else 0.0


def _block_repetition(a: Any, b: Any) -> float:
    """Compare sums of residuals over blocks of rows with what independent rows would give."""
    blocks = min(MAX_BLOCKS, len(a) // 8)
    if blocks < 16:
        return 1.0
    width_a, width_b = int(a.max()) + 1, int(b.max()) + 1
    if width_a * width_b > 400:
        return 1.0
    block = np.arange(len(a)) * blocks // len(a)
    cells = np.bincount((block * width_a + a) * width_b + b, minlength=blocks * width_a * width_b)
    cells = cells.reshape(blocks, width_a, width_b).astype(float)
    whole = cells.sum(axis=0)
    share_a = whole.sum(axis=1) / len(a)
    share_b = whole / np.maximum(whole.sum(axis=1, keepdims=True), 1)  # of b within a: the dependence is taken off
    centred = cells - cells.sum(axis=2, keepdims=True) * share_b
    centred = centred - share_a[:, None] * centred.sum(axis=1, keepdims=True)  # and both sides have mean 0
    noise, part = share_b * (1 - share_b), share_a[:, None]
    usual = part * (1 - part) ** 2 * noise + part**2 * ((part * noise).sum(axis=0) - part * noise)
    factor = float((centred**2).mean(axis=0).sum() / max(len(a) / blocks * usual.sum(), 1e-9))
    return factor if factor > 1 + 2 * math.sqrt(2 / blocks) else 1.0


@dataclass(frozen=True)
class Split:
    """How the ranks of a number differ between the levels of a category."""

    effect: float
    """Square root of eta², less what chance gives."""
    p_value: float
    kept: Any
    """Levels with enough rows."""
    sizes: Any
    means: Any
    """Of the ranks, as they were given, by kept level."""


def split(ranks: Any, codes: Any, levels: int, in_order: Callable[[Any], Any]) -> Split | None:
    """Compare standard ranks between levels: all at once, and each level with all others."""
    present = (codes >= 0) & ~np.isnan(ranks)
    sizes = np.bincount(codes[present], minlength=levels)
    kept = np.flatnonzero(sizes >= MIN_LEVEL_ROWS)
    if len(kept) < 2:
        return None
    if len(kept) < levels:
        present &= np.isin(codes, kept)
    chosen = in_order(present)
    places = np.full(levels, -1)
    places[kept] = np.arange(len(kept))
    group, values = places[codes[chosen]], ranks[chosen]
    sizes, rows = sizes[kept].astype(float), float(len(chosen))
    values = values - values.mean()
    total = float(values @ values)
    if total <= 0 or rows <= len(kept) + 2:
        return None
    means = np.bincount(group, weights=values, minlength=len(kept)) / sizes
    between = float(sizes @ means**2)
    freedom = len(kept) - 1
    eta = min(between / total, 1 - 1e-12)
    effect = math.sqrt(max(0.0, (eta - freedom / rows) / (1 - freedom / rows)))
    residual = values - means[group]
    factor = split_inflation(group, residual, sizes)
    z = means * np.sqrt(sizes * rows / np.maximum(rows - sizes, 1)) / math.sqrt(total / (rows - 1))
    alone = normal_p(float(np.abs(z).max()) / math.sqrt(factor)) * len(kept)
    together = f_p(eta / freedom * (rows / factor) / (1 - eta), freedom, max(rows / factor - len(kept), 1.0))
    return Split(effect, min(1.0, 2 * min(alone, together)), kept, sizes, means)


def split_inflation(group: Any, residual: Any, sizes: Any) -> float:
    """Return how many times fewer independent rows there are, for the means of groups of ordered rows."""
    same = group[1:] == group[:-1]
    shares = sizes / sizes.sum()
    chance = float(shares @ shares)
    stays = max(0.0, (float(same.mean()) - chance) / (1 - chance)) if chance < 1 else 0.0
    common = min(memory(residual, RESIDUAL_BIAS) * stays, 1 - 1e-9)
    factor = (1 + common) / (1 - common) * (2 if may_wander(residual) else 1)
    blocks = min(MAX_BLOCKS, len(group) // 8)
    if blocks < 16:
        return factor
    block = np.arange(len(group)) * blocks // len(group)
    width = len(sizes)
    sums = np.bincount(block * width + group, weights=residual, minlength=blocks * width).reshape(blocks, width)
    squares = np.bincount(group, weights=residual * residual, minlength=width)
    by_blocks = float(((sums**2).sum(axis=0) / sizes).sum() / max((squares / sizes).sum(), 1e-12))
    return max(factor, by_blocks) if by_blocks > 1 + 2 * math.sqrt(2 / blocks) else factor
