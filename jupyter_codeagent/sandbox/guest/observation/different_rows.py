"""How many different rows some columns of a whole table have, counted without looking at each value in Python.

A missing value is one value like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

ROWS_NS = 120
"""Nanoseconds for each cell of a table whose rows are compared; measured."""


class Rows(Protocol):
    """All rows of a table; labels are those of its columns as text."""

    count: int

    def different(self, labels: Sequence[str]) -> int:
        """Return how many rows are left if those that are equal in these columns count once."""

    def missing(self, label: str) -> int:
        """Return how many values of a column are missing."""

    def equal_share(self, label: str) -> float:
        """Return the share of all pairs of rows that are equal in a column."""


class PandasRows:
    """The rows of a pandas frame whose labels are unique."""

    def __init__(self, frame: Any) -> None:
        self.count = len(frame)
        self._columns = {str(label): frame[label] for label in frame.columns}
        self._codes: dict[str, Any] = {}

    def different(self, labels: Sequence[str]) -> int:
        import pandas as pd

        by_size = sorted(map(self._codes_of, labels), key=lambda pair: -pair[1])
        combined, size = by_size[0]
        for codes, more in by_size[1:]:
            if size == self.count:
                break  # this column tells all rows apart
            combined, values = pd.factorize(combined * more + codes)
            size = len(values)
        return size

    def missing(self, label: str) -> int:
        return int(self._columns[label].isna().sum())

    def equal_share(self, label: str) -> float:
        import numpy as np

        codes, _ = self._codes_of(label)
        return float(((np.bincount(codes) / self.count) ** 2).sum())

    def _codes_of(self, label: str) -> tuple[Any, int]:
        """Return a number for each value of a column, and how many different ones there are."""
        import numpy as np
        import pandas as pd

        if label not in self._codes:
            codes, values = pd.factorize(self._columns[label], use_na_sentinel=False)
            self._codes[label] = codes.astype(np.int64), len(values)
        return self._codes[label]  # type: ignore[no-any-return]


class PolarsRows:
    """The rows of a polars frame."""

    def __init__(self, frame: Any) -> None:
        self.count = len(frame)
        self._frame = frame

    @staticmethod
    def can_compare(frame: Any) -> bool:
        """Check that no column holds lists, records or Python objects."""
        return not any(dtype.is_nested() or str(dtype) == "Object" for dtype in frame.dtypes)

    def different(self, labels: Sequence[str]) -> int:
        return int(self._frame.n_unique(subset=list(labels)))

    def missing(self, label: str) -> int:
        return int(self._frame[label].null_count())

    def equal_share(self, label: str) -> float:
        counts = self._frame[label].value_counts()["count"]
        return float(((counts / self.count) ** 2).sum())
