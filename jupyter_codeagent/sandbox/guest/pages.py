"""Which pages of a private mapping were written to. One that was not is still the file's, and nothing need be read.

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
"""What one look may read of the data itself, over all copies: some 10 ms."""

Extent = tuple[int, int]
"""(address, length) in bytes."""
State = tuple[int, int]
"""Equal for equal contents; (pages that are no longer the file's, checksum)."""


class Memory:
    """The memory of this process in one look: lives for one report, so that nothing is read twice."""

    def __init__(self) -> None:
        self._left = BUDGET_BYTES
        self._known: dict[Extent, State] = {}

    def state(self, extent: Extent) -> State:
        """Small memory by its contents, other by the pages written to and, within the budget, their contents.

        Without a pagemap (not Linux) all pages count as written to, so that only the budget's worth is looked at.
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
        """Of the contents, as far as the budget reaches."""
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
    """Pages from `first` to before `end` that are this process's own, as (first, end) of runs."""
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
    """Of the pagemap; None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as file:
            file.seek(first * ENTRY_BYTES)
            entries = file.read((end - first) * ENTRY_BYTES)
    except OSError:  # a container without it
        return None
    return entries if len(entries) == (end - first) * ENTRY_BYTES else None
