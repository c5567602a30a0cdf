"""Choose the rows of a table that are read: a bounded number, spread from the first to the last."""

from __future__ import annotations

from functools import lru_cache

SAMPLE_ROWS = 2000
MIN_SAMPLE_ROWS = 500
SAMPLE_CELLS = 50_000
BLOCK_ROWS = 50
EXAMPLE_ROWS = 3
"""Rows that the prompt has under the privacy mode `samples`."""
_GOLDEN = 2654435769
"""2**32 divided by the golden ratio: its multiples are spread evenly, without a period."""


def sample_rows(columns: int) -> int:
    """Return how many rows of a table with so many columns are read: fewer of a wide one."""
    return max(MIN_SAMPLE_ROWS, min(SAMPLE_ROWS, SAMPLE_CELLS // max(columns, 1)))


@lru_cache(maxsize=32)
def positions(rows: int, most: int = SAMPLE_ROWS) -> tuple[int, ...]:
    """Return at most `most` row numbers in ascending order, the first and the last row among them.

    Each of `most` equal stretches has one, so that sorted data is sampled from end to end. Its offset varies, so
    that a period in the data (hours, months, every second row) is not always met in the same phase.
    """
    if rows <= most:
        return tuple(range(rows))
    edges = [at * rows // most for at in range(most + 1)]
    inner = [
        start + ((at * _GOLDEN & 0xFFFFFFFF) * (edges[at + 1] - start) >> 32)
        for at, start in enumerate(edges[1:-2], start=1)
    ]
    return (0, *inner, rows - 1)


def blocks(rows: int, most: int = SAMPLE_ROWS) -> list[tuple[int, int]]:
    """Return (start, length) of runs of rows, `most` rows in all: for Arrow, which slices without a copy."""
    if rows <= most:
        return [(0, rows)]
    return [(start, BLOCK_ROWS) for start in positions(rows - BLOCK_ROWS + 1, most // BLOCK_ROWS)]
