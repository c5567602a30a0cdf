"""Which rows of a table are looked at: a bounded number of them, from end to end."""

from __future__ import annotations

from functools import lru_cache

SAMPLE_ROWS = 2000
MIN_SAMPLE_ROWS = 500
SAMPLE_CELLS = 50_000
BLOCK_ROWS = 50
SHOWN_ROWS = 3
"""Sample rows under the privacy mode `samples`."""
_GOLDEN = 2654435769
"""2**32 divided by the golden ratio: its multiples are spread evenly, and in no rhythm."""


def sample_rows(columns: int) -> int:
    """How many rows of a table of so many columns are looked at: fewer of a wide one."""
    return max(MIN_SAMPLE_ROWS, min(SAMPLE_ROWS, SAMPLE_CELLS // max(columns, 1)))


@lru_cache(maxsize=32)
def positions(rows: int, most: int = SAMPLE_ROWS) -> tuple[int, ...]:
    """At most so many row numbers in order, first and last among them.

    One of each of `most` equal stretches, so that sorted data is seen from end to end; each at another place of its
    stretch, so that a rhythm in the data (hours, months, every second row) is not met at the same beat each time.
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
    """(start, length) of runs of neighbours, `most` rows together: for Arrow, where a run costs no copy."""
    if rows <= most:
        return [(0, rows)]
    return [(start, BLOCK_ROWS) for start in positions(rows - BLOCK_ROWS + 1, most // BLOCK_ROWS)]
