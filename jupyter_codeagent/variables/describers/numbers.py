"""Read the range of a sample of numbers with numpy."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jupyter_codeagent.variables.columns import (
    CHECKED_VALUES,
    MIN_PERSONAL_NUMBER,
    Sample,
    missing_text,
    number_range,
)
from jupyter_codeagent.variables.describers.sample import SAMPLE_ROWS, positions


@lru_cache(maxsize=32)
def row_array(rows: int, most: int = SAMPLE_ROWS) -> Any:
    """Return `positions` as a numpy array."""
    import numpy as np  # already imported: the value that is described comes from it

    return np.asarray(positions(rows, most))


def read_numbers(values: Any, *, sampled: bool) -> Sample:
    """Return the range of a numpy array of integers or floats; NaN counts as missing.

    The sample also has large whole numbers one by one: they may be telephone or card numbers.
    """
    present = values
    if values.dtype.kind in "fc":
        present = values[values == values]  # noqa: PLR0124 - without NaN, and without importing numpy
    missing = missing_text(len(values) - len(present), len(values), sampled=sampled)
    if not len(present):
        return Sample(missing=missing)
    smallest, largest = present.min(), present.max()
    low, high = number_range(smallest, largest)
    return Sample(values=_whole(present, float(largest)), low=low, high=high, missing=missing)


def _whole(present: Any, largest: float) -> list[int]:
    if not MIN_PERSONAL_NUMBER <= largest < float("inf"):
        return []
    some = present[row_array(len(present), CHECKED_VALUES)].tolist()
    return [int(value) for value in some if value == value and abs(value) != float("inf") and value == int(value)]  # noqa: PLR0124
