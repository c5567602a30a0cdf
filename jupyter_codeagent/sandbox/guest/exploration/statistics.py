"""Ranks, distributions and p-values, from numpy and the standard library alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

TINY = 1e-300
MAX_BLOCKS = 64
MEAN_BIAS, RESIDUAL_BIAS = 6, 10
"""By how many rows' share the memory of a random walk seems shorter, once its mean or a fit is taken off."""


def average_ranks(values: Any) -> Any:
    """Return ranks from 1 on, ties with their mean; missing values stay missing."""
    ranks = np.full(len(values), np.nan)
    present = np.flatnonzero(~np.isnan(values))
    if not len(present):
        return ranks
    order = present[np.argsort(values[present], kind="stable")]
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(ordered)])))
    ranks[order] = np.repeat(starts + (sizes + 1) / 2, sizes)
    return ranks


def standardize(values: Any) -> Any:
    """Return the values with mean 0 and variance 1; all zeros if they do not vary."""
    centred = values - values.mean()
    spread = math.sqrt(float(centred @ centred) / max(len(values), 1))
    return centred / spread if spread > 0 else np.zeros(len(values))


def deviations(values: Any, codes: Any, levels: int) -> Any:
    """Return how far each value is from the mean of its level."""
    counts = np.maximum(np.bincount(codes, minlength=levels), 1)
    return values - (np.bincount(codes, weights=values, minlength=levels) / counts)[codes]


def normal_p(z: float) -> float:
    """Return the two-sided p-value of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2))


def chi_square_p(statistic: float, freedom: float) -> float:
    """Return the upper tail of the chi-square distribution: the regularised incomplete gamma function."""
    if statistic <= 0 or freedom <= 0:
        return 1.0
    a, x = freedom / 2, statistic / 2
    front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term = total = 1 / a
        k = a
        for _ in range(5000):
            k += 1
            term *= x / k
            total += term
            if term < total * 1e-15:
                break
        return max(0.0, 1 - total * math.exp(front))
    b = x + 1 - a
    c, d = 1 / TINY, 1 / b
    fraction = d
    for i in range(1, 5000):
        step = -i * (i - a)
        b += 2
        d = 1 / _away_from_zero(step * d + b)
        c = _away_from_zero(b + step / c)
        fraction *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return min(1.0, math.exp(max(front, -745)) * fraction)


def f_p(statistic: float, above: float, below: float) -> float:
    """Return the upper tail of the F distribution."""
    if statistic <= 0 or above <= 0 or below <= 0:
        return 1.0
    return incomplete_beta(below / 2, above / 2, below / (below + above * statistic))


def t_p(statistic: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's distribution."""
    return f_p(statistic * statistic, 1, freedom)


def rank_correlation(x: Any, y: Any) -> float:
    """Return Spearman's r of two series without missing values; 0 for fewer than three rows."""
    if len(x) < 3:
        return 0.0
    return float(standardize(average_ranks(x)) @ standardize(average_ranks(y))) / len(x)


def standard_ranks(numbers: Any) -> Any:
    """Return the average ranks of numbers, with mean 0 and variance 1; missing as NaN."""
    ranks = np.full(numbers.shape, np.nan)
    present = ~np.isnan(numbers)
    ranks[present] = standardize(average_ranks(numbers[present]))
    return ranks


def correlations(standard: Any, present: Any) -> Any:
    """Return the correlation of each pair of columns of standard values; missing as 0, and not `present`."""
    both = np.sqrt(np.maximum((standard**2).T @ present, 1e-9))
    return (standard.T @ standard) / (both * both.T)


def correlation_p(r: float, rows: float) -> float:
    """Return the two-sided p-value of a correlation from so many independent rows."""
    if rows < 4:
        return 1.0
    share = min(r * r, 1 - 1e-15)
    return f_p(share * (rows - 2) / (1 - share), 1, rows - 2)


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return min(1.0, math.exp(max(front, -745)) * _beta_fraction(a, b, x) / a)
    return max(0.0, 1 - math.exp(max(front, -745)) * _beta_fraction(b, a, 1 - x) / b)


def _beta_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 5000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away_from_zero(1 + step * d)
            c = _away_from_zero(1 + step / c)
            fraction *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return fraction


def _away_from_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY


def lag_correlation(values: Any) -> float:
    """Return the correlation of each value with the next; the values have mean 0."""
    total = float(values @ values)
    return float(values[1:] @ values[:-1]) / total if total > 0 else 0.0


def memory(values: Any, bias: float) -> float:
    """Return the correlation with the next value, at least 0, with what estimates are too low by taken off."""
    return min(1.0, max(0.0, lag_correlation(values)) * (1 + bias / len(values)))


def may_wander(residual: Any) -> bool:
    """Check whether the residuals of a fit may be a random walk: the test of Dickey and Fuller."""
    rows = len(residual)
    return bool(rows * (1 - lag_correlation(residual)) < min(50.0, 0.65 * rows))


def inflation(x: Any, residual: Any) -> float:
    """Return how many times fewer independent rows there are than rows, for the product of two ordered series.

    Neighbours that resemble each other tell less than strangers: two random walks always correlate. One factor is
    that of an autoregression, the other compares sums over blocks of rows with what independent rows would give.
    """
    common = min(memory(x, MEAN_BIAS) * memory(residual, RESIDUAL_BIAS), 1 - 1e-9)
    return max((1 + common) / (1 - common), block_inflation(x * residual))


def block_inflation(products: Any) -> float:
    """Return the variance of sums over blocks, relative to independent rows; 1 if it may be chance."""
    blocks = min(MAX_BLOCKS, len(products) // 8)
    total = float(products @ products)
    if blocks < 16 or total <= 0:
        return 1.0
    edges = np.linspace(0, len(products), blocks, endpoint=False).astype(int)
    sums = np.add.reduceat(products, edges)
    factor = float(sums @ sums) / total
    return factor if factor > 1 + 2 * math.sqrt(2 / blocks) else 1.0


def effect_of_distance(distance: float) -> float:
    """Return the correlation that a distance of two means in standard deviations amounts to."""
    return abs(distance) / math.sqrt(distance * distance + 4)
