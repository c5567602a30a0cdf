"""Figures that hang on a single row: a value far beyond all others, as of a slipped comma, makes up most of one."""

from __future__ import annotations

from typing import Any

from .call import Operation

ROW_NS = 60
"""Nanoseconds for each row and column; measured."""
MIN_SHARE = 0.5
MIN_ROWS = 3
FAR = 10.0
"""How many times as large as 99 % of the values it is, and as the next one of its group."""
MOST_COLUMNS = 3


def add_single_row(one: Operation, label: str, values: Any, groups: Any, keys: str, *, is_mean: bool) -> None:
    """Add the column whose greatest figure is made by one row.

    `values` and `groups` are numpy arrays: numbers, and the number of the group of each row, -1 for none.
    """
    import numpy as np

    present = np.isfinite(values) & (groups >= 0)
    values, groups = values[present], groups[present]
    if len(values) < MIN_ROWS or (values < 0).any():
        return
    largest = float(values.max())
    if largest < FAR * np.quantile(np.delete(values, values.argmax()), 0.99):
        return
    sizes = np.maximum(np.bincount(groups), 1) if is_mean else 1
    figures = np.bincount(groups, weights=values) / sizes
    of_group = np.sort(values[groups == figures.argmax()])
    if len(of_group) < MIN_ROWS or of_group[-1] < FAR * of_group[-2]:
        return
    share = of_group[-1] / of_group.sum()
    if share >= MIN_SHARE:
        one.add("single_row", round(100 * share), 100, f"{label} of its {keys}" if keys else label)
