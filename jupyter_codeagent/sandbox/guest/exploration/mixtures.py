"""Curves that are none: groups which lie apart, and in each of which two numbers follow a line or nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .statistics import deviations

MAX_LEFT = 0.25
"""Of what a curve explains beyond a line: what may be left of it within groups."""
MIN_MORE = 0.1
"""Of what lines in bins of x leave unexplained: what lines in groups explain, unless they are ranges of x."""


@dataclass(frozen=True)
class Curve:
    """A standardized number that follows another one."""

    x: Any
    y: Any
    bins: Any
    """Of x; all rows have one."""
    gain: float
    """Of the variance of y, what the bins explain beyond a line."""


@dataclass(frozen=True)
class Lines:
    """A line for each level."""

    r: float
    """Correlation within all levels taken together."""
    rest: Any
    """What the lines do not explain."""
    unexplained: float
    """Its variance."""


def is_mixture(curve: Curve, codes: Any, levels: int) -> bool:
    """Check that a line in each group says more than lines in bins of x do, and leaves nothing of the curve."""
    bins = int(curve.bins.max()) + 1
    if len(codes) <= 6 * max(levels, bins):
        return False
    in_groups, in_bins = (fit_lines(curve.x, curve.y, *by) for by in ((codes, levels), (curve.bins, bins)))
    if in_groups.unexplained > (1 - MIN_MORE) * in_bins.unexplained:
        return False
    counts, sums = np.bincount(curve.bins), np.bincount(curve.bins, weights=in_groups.rest)
    by_chance = in_groups.unexplained * int((counts > 0).sum())
    left = (float((sums**2 / np.maximum(counts, 1)).sum()) - by_chance) / len(codes)
    return left < MAX_LEFT * curve.gain


def fit_lines(x: Any, y: Any, codes: Any, levels: int) -> Lines:
    """Fit a line in each level."""
    x, y = deviations(x, codes, levels), deviations(y, codes, levels)
    products, squares = (np.bincount(codes, weights=x * other, minlength=levels) for other in (y, x))
    rest = y - (products / np.maximum(squares, 1e-9))[codes] * x
    both = math.sqrt(float(x @ x) * float(y @ y))
    freedom = len(codes) - 2 * levels
    return Lines(float(x @ y) / both if both > 0 else 0.0, rest, float(rest @ rest) / freedom)
