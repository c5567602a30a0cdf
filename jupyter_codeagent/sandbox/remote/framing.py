"""Jupyter messages on a byte stream: channel, number of parts, their sizes, the parts."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence

SHELL, IOPUB = 0, 1
MAX_PARTS = 64
_HEAD = struct.Struct(">BB")


class BrokenStreamError(ValueError):
    """The other side sent something that is not a message, or too large: nothing after it can be read."""


def pack(channel: int, parts: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return the chunks of a message, to be written one after the other."""
    if len(parts) > MAX_PARTS:
        raise ValueError(f"a message of {len(parts)} parts; at most {MAX_PARTS} can be sent")
    sizes = [part.nbytes if isinstance(part, memoryview) else len(part) for part in parts]
    return [_HEAD.pack(channel, len(parts)) + struct.pack(f">{len(parts)}I", *sizes), *parts]


async def read(stream: asyncio.StreamReader, *, max_bytes: int) -> tuple[int, list[bytes]] | None:
    """Read the next message; None at the end of the stream, also in the middle of a message.

    Raises
    ------
    BrokenStreamError
        If the message is invalid. Sizes are checked before anything is read.
    """
    try:
        channel, count = _HEAD.unpack(await stream.readexactly(_HEAD.size))
        if channel not in (SHELL, IOPUB) or not 0 < count <= MAX_PARTS:
            raise BrokenStreamError(f"something that is not a message: channel {channel}, {count} parts")
        sizes = struct.unpack(f">{count}I", await stream.readexactly(4 * count))
        if sum(sizes) > max_bytes:
            raise BrokenStreamError(f"a message of {sum(sizes):,} bytes; the limit is {max_bytes:,}")
        return channel, [await stream.readexactly(size) for size in sizes]
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
