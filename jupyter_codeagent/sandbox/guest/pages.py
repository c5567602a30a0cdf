"""Detection of pages of a private mapping that were written to. All others still belong to the file.

`/proc/self/pagemap` has eight bytes for each page (proc(5)); its frame numbers are hidden, its flags are not.
"""

from __future__ import annotations

import ctypes
import sys
import zlib
from collections.abc import Iterator

PAGE_BYTES = 4096
ENTRY_BYTES = 8
PRESENT, SWAPPED, OF_A_FILE = 1 << 63, 1 << 62, 1 << 61
SMALL_BYTES = 64 << 10
BUDGET_BYTES = 16 << 20
"""Limit for the data that one report may read, over all copies: about 10 ms."""

Extent = tuple[int, int]
"""(address, length) in bytes."""
State = tuple[int, int]
"""Equal for equal contents: (pages that are no longer the file's, checksum)."""


class Memory:
    """Reader of this process's memory for one report, so that nothing is read twice."""

    def __init__(self) -> None:
        self._left = BUDGET_BYTES
        self._known: dict[Extent, State] = {}

    def state(self, extent: Extent) -> State:
        """Return the state of memory: by its contents if small, else by written pages and, within budget, theirs.

        Without a pagemap (not Linux) all pages count as written to, so that only as much as the budget allows is
        read.
        """
        address, length = extent
        if length <= SMALL_BYTES:
            return 0, self._checksum(address, length, 0)
        first, end = address // PAGE_BYTES, -(-(address + length) // PAGE_BYTES)
        key = (first, end)
        if key not in self._known:
            self._known[key] = self._written(first, end, extent)
        return self._known[key]

    def checksum(self, extent: Extent) -> int:
        """Return a checksum of the contents, as far as the budget reaches."""
        return self._checksum(*extent, 0)

    def _written(self, first: int, end: int, extent: Extent) -> State:
        count, checksum = 0, 0
        for start, stop in written_runs(first, end):
            count += stop - start
            low = max(start * PAGE_BYTES, extent[0])
            high = min(stop * PAGE_BYTES, extent[0] + extent[1], low + self._left)
            checksum = self._checksum(low, high - low, checksum)
        return count, checksum

    def _checksum(self, address: int, length: int, before: int) -> int:
        length = max(0, min(length, self._left))
        self._left -= length
        return zlib.crc32((ctypes.c_char * length).from_address(address), before) if length else before


def written_runs(first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield runs, as (first, end), of the pages from `first` to before `end` that were written to."""
    import numpy as np

    entries = _entries(first, end)
    if entries is None:
        yield first, end
        return
    flags = np.frombuffer(entries, "u8")
    own = ((flags & np.uint64(PRESENT | SWAPPED)) != 0) & ((flags & np.uint64(OF_A_FILE)) == 0)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], own, [False])).astype("i1")))
    for start, stop in edges.reshape(-1, 2).tolist():
        yield first + start, first + stop


def _entries(first: int, end: int) -> bytes | None:
    """Return entries of the pagemap; None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as file:
            file.seek(first * ENTRY_BYTES)
            entries = file.read((end - first) * ENTRY_BYTES)
    except OSError:  # a container without it
        return None
    return entries if len(entries) == (end - first) * ENTRY_BYTES else None
