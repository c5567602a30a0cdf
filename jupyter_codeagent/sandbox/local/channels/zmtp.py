"""One connection to a ZeroMQ socket of the sandbox, read by our own code and not by libzmq (ZMTP 3.0, RFC 23).

libzmq limits the size of a frame and the number of whole messages, but it collects a message of endless frames
until the memory of the *host* is full. Here a message over the limit is not kept, and no byte from the sandbox is
parsed by code that is not memory-safe.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from typing import Literal

SocketType = Literal["DEALER", "SUB"]

MORE, LONG, COMMAND = 1, 2, 4
GREETING_BYTES = 64
GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
MAX_PARTS = 64
MAX_COMMAND_BYTES = 4096
MAX_COMMANDS = 1000
DISCARD_BYTES = 1 << 16
DISCARDED_TIMES = 64
"""How many times the limit is read and discarded; a longer message breaks the channel."""


class ChannelBrokenError(Exception):
    """The peer is gone, or does not speak ZMTP: nothing more can be read."""


class MessageTooLargeError(Exception):
    """A message was over the limit and has been discarded; the next one can be read."""


class Peer:
    """A connection after its handshake; lives in one event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, max_bytes: int) -> None:
        self._reader = reader
        self._writer = writer
        self._max_bytes = max_bytes
        self._commands = 0

    @classmethod
    async def connect(cls, path: str, kind: SocketType, *, max_bytes: int) -> Peer:
        """Connect to the Unix socket `path`; a SUB subscribes to everything. `max_bytes` limits one whole message.

        Raises
        ------
        ChannelBrokenError
        """
        try:
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
        except OSError as problem:
            raise ChannelBrokenError(f"cannot be connected: {problem.strerror}") from problem
        peer = cls(reader, writer, max_bytes)
        try:
            await peer._shake_hands(kind)
        except BaseException:
            peer.close()
            raise
        return peer

    async def _shake_hands(self, kind: SocketType) -> None:
        self._writer.write(GREETING)
        greeting = await self._read_exactly(GREETING_BYTES)
        if greeting[0] != 0xFF or greeting[9] != 0x7F or greeting[10] < 3 or greeting[12:16] != b"NULL":
            raise ChannelBrokenError("its greeting is not one of ZMTP 3 without security")
        ready = b"\x05READY" + _property(b"Socket-Type", kind.encode()) + _property(b"Identity", b"")
        self._writer.write(bytes([COMMAND, len(ready)]) + ready)
        flags, size = await self._read_head()
        if not flags & COMMAND:
            raise ChannelBrokenError("it sent a message before it was ready")
        if not (await self._read_command(size)).startswith(b"\x05READY"):
            raise ChannelBrokenError("it is not ready")
        if kind == "SUB":
            self.send([b"\x01"])

    def send(self, parts: Sequence[bytes | memoryview]) -> None:
        """Send one message; it is buffered, as the peer may be slow."""
        for number, part in enumerate(parts, start=1):
            size = part.nbytes if isinstance(part, memoryview) else len(part)
            more = MORE if number < len(parts) else 0
            head = bytes([more, size]) if size < 256 else struct.pack(">BQ", more | LONG, size)
            self._writer.writelines([head, part])

    async def receive(self) -> list[bytes]:
        """Return the frames of the next message.

        Raises
        ------
        MessageTooLargeError, ChannelBrokenError
        """
        parts: list[bytes] = []
        total = 0
        while True:
            flags, size = await self._read_head()
            if flags & COMMAND:
                await self._read_command(size)
                continue
            total += size
            if total > self._max_bytes or len(parts) == MAX_PARTS:
                parts.clear()
                await self._discard(flags, size)
                raise MessageTooLargeError
            parts.append(await self._read_exactly(size))
            if not flags & MORE:
                return parts

    async def _discard(self, flags: int, size: int) -> None:
        """Discard this frame and the rest of its message."""
        left = self._max_bytes * DISCARDED_TIMES
        while True:
            left -= max(size, 1)
            if left < 0:
                raise ChannelBrokenError("it sent a message without end")
            while size:
                size -= len(await self._read_exactly(min(size, DISCARD_BYTES)))
            if not flags & MORE:
                return
            flags, size = await self._read_head()

    async def _read_head(self) -> tuple[int, int]:
        flags, size = await self._read_exactly(2)
        if flags & ~(MORE | LONG | COMMAND) or (flags & COMMAND and flags & MORE):
            raise ChannelBrokenError(f"it sent a frame with flags {flags:#x}")
        if flags & LONG:
            size = int.from_bytes(bytes([size]) + await self._read_exactly(7))
        return flags, size

    async def _read_command(self, size: int) -> bytes:
        self._commands += 1
        if size > MAX_COMMAND_BYTES or self._commands > MAX_COMMANDS:
            raise ChannelBrokenError("it sent too many commands, or one that is too large")
        return await self._read_exactly(size)

    async def _read_exactly(self, size: int) -> bytes:
        try:
            return await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, OSError) as problem:
            raise ChannelBrokenError("it was closed") from problem

    @property
    def is_closing(self) -> bool:
        """Whether the connection is closed or closing."""
        return self._writer.is_closing()

    def close(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()


def _property(name: bytes, value: bytes) -> bytes:
    return bytes([len(name)]) + name + struct.pack(">I", len(value)) + value
