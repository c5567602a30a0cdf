"""One pickled value in one file, laid out so that the sandbox can map it; whether a file still equals a value."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_codeagent.transfer.pickled import Pickled

ALIGNMENT = 64
"""Bytes; what Arrow and vectorised loops like to find."""
WRITE_BYTES = 1 << 30
"""Linux writes at most 2 GiB at once."""
COMPARE_BYTES = 1 << 20
"""Small enough to stay in the processor's cache between the copy and the comparison."""

Extent = tuple[int, int]
"""(offset, length) in bytes."""


def layout(pickled: Pickled) -> tuple[tuple[Extent, ...], Extent]:
    """Where the buffers and the stream come to lie, each aligned."""
    extents, end = [], 0
    for part in (*pickled.buffers, pickled.head):
        start = -(-end // ALIGNMENT) * ALIGNMENT
        extents.append((start, part.nbytes))
        end = start + part.nbytes
    return tuple(extents[:-1]), extents[-1]


def write_value(path: Path, pickled: Pickled) -> None:
    """Write a new file, readable by the user alone; a partial one is removed.

    Raises
    ------
    OSError
        No room, for instance.
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            for (start, _), part in _placed(pickled):
                file.seek(start)
                written = 0
                while written < part.nbytes:
                    written += file.write(part[written : written + WRITE_BYTES])
    except BaseException:
        path.unlink()
        raise


def holds_value(path: Path, buffers: Sequence[Extent], head: Extent, pickled: Pickled) -> bool:
    """Whether the file holds exactly this value, at these places. Stops at the first difference."""
    if (tuple(buffers), head) != layout(pickled):
        return False
    with path.open("rb", buffering=0) as file:
        return all(_same(file, start, part) for (start, _), part in _placed(pickled))


def _placed(pickled: Pickled) -> Iterator[tuple[Extent, memoryview]]:
    """Stream first: it is small and the likeliest to differ."""
    buffers, head = layout(pickled)
    yield head, pickled.head
    yield from zip(buffers, (buffer.cast("B") for buffer in pickled.buffers), strict=True)


def _same(file: io.FileIO, start: int, part: memoryview) -> bool:
    """Reading beats mapping: a page fault costs more than a copy of the page."""
    stored = bytearray(min(COMPARE_BYTES, part.nbytes))
    file.seek(start)
    for at in range(0, part.nbytes, COMPARE_BYTES):
        live = part[at : at + COMPARE_BYTES]
        if live.nbytes < len(stored):
            del stored[live.nbytes :]
        # A bytearray on the left compares by memcmp with anything; a memoryview goes item by item.
        if file.readinto(stored) != live.nbytes or stored != live:
            return False
    return True
