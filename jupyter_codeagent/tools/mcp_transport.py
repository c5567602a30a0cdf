"""Transports to an MCP server: a program's standard streams or HTTP, within limits.

The SDK's own transports read a message of any size: a server, or whoever it asks, could fill the kernel's memory or
block its background loop.

"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import Response

MAX_MESSAGE_BYTES = 16 << 20
MAX_CONTAINERS = 500_000
"""Most lists and objects of one message: `[]` takes two bytes and costs sixty, several times over."""
MAX_EVENT_BYTES = 4 << 20
"""Largest message in a stream of events, whose lists are not counted."""
HTTP_TIMEOUT_S = 30.0
HTTP_READ_TIMEOUT_S = 300.0
END_S = 2.0
"""Seconds for a program to end after its input was closed, and again after it was asked to."""
POLL_S = 0.02

logging.getLogger("mcp").addHandler(logging.NullHandler())  # else its messages appear in red in the cell


class TooLargeError(ValueError):
    """The server sent too much; the message is for the user."""

    def __init__(self) -> None:
        super().__init__(
            f"it sent a message of more than {MAX_MESSAGE_BYTES >> 20} MiB, of more than {MAX_CONTAINERS:,} lists "
            "and objects, or a packed one"
        )


class Meter:
    """Counts what has arrived of one message."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = self._containers = 0

    def take(self, part: bytes) -> None:
        """Count a part of a message; raise TooLargeError past the limit."""
        self._bytes += len(part)
        self._containers += part.count(b"[") + part.count(b"{")
        if self._bytes > self._max_bytes or self._containers > MAX_CONTAINERS:
            raise TooLargeError


def transport_to(target: Sequence[str], ended: Callable[[str], None]) -> AbstractAsyncContextManager[Any]:
    """Return the transport to a program or a URL; `ended` is called with the reason if we end it."""
    first, *arguments = target
    if first.startswith(("http://", "https://")) and not arguments:
        return _http(first, ended)
    if first in ("python", "python3"):  # the kernel's own, whatever PATH says: its packages are meant
        first = sys.executable
    return _program([first, *arguments], ended)


@asynccontextmanager
async def _http(url: str, ended: Callable[[str], None]) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    client = httpx2.AsyncClient(
        timeout=httpx2.Timeout(HTTP_TIMEOUT_S, read=HTTP_READ_TIMEOUT_S),
        headers={"accept-encoding": "identity"},  # compressed content can have any size once it is decompressed
        event_hooks={"response": [_bounded(ended)]},
    )
    async with (
        client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_EVENT_BYTES) as streams,
    ):
        yield streams


def _bounded(ended: Callable[[str], None]) -> Callable[[Response], Awaitable[None]]:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: Any, meter: Meter) -> None:
            self._stream = stream
            self._meter = meter

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for part in self._stream:
                try:
                    self._meter.take(part)
                except TooLargeError as problem:
                    ended(str(problem))
                    raise httpx2.StreamError(str(problem)) from problem
                yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def bound(response: Response) -> None:
        # The SDK limits each event of a stream. Compressed content can have any size once it is decompressed.
        is_packed = response.headers.get("content-encoding", "identity") != "identity"
        if is_packed or not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = Bounded(response.stream, Meter(max_bytes=0 if is_packed else MAX_MESSAGE_BYTES))

    return bound


@asynccontextmanager
async def _program(command: Sequence[str], ended: Callable[[str], None]) -> AsyncIterator[Any]:
    """Start the server's program with only those variables of our environment that the SDK passes on."""
    import anyio
    from mcp.client.stdio import get_default_environment

    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=PIPE,
        stdout=PIPE,
        env=get_default_environment(),
        limit=MAX_MESSAGE_BYTES,
        start_new_session=True,  # Ctrl+C is for the cell alone
    )
    received, reading = anyio.create_memory_object_stream[Any](0)
    writing, to_send = anyio.create_memory_object_stream[Any](0)
    tasks = [
        asyncio.create_task(_read(process, received, ended)),
        asyncio.create_task(_write(process, to_send, received)),
    ]
    try:
        yield reading, writing
    finally:
        await _end(process)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in (received, reading, writing, to_send):
            stream.close()


async def _read(process: Process, received: Any, ended: Callable[[str], None]) -> None:
    """Read messages, one a line; other lines are prints of a program that takes its output for a log."""
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    assert process.stdout is not None
    with received:
        while True:
            try:
                line = await process.stdout.readline()
                Meter().take(line)
            except ValueError as problem:  # raised by asyncio, which has read no more than the limit, or by us
                too_large = problem if isinstance(problem, TooLargeError) else TooLargeError()
                ended(str(too_large))
                return
            if not line:
                return
            try:
                message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
            except ValueError:
                continue
            await received.send(message)


async def _write(process: Process, to_send: Any, received: Any) -> None:
    assert process.stdin is not None
    try:
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()
    except OSError:  # it reads no more: what waits for an answer learns of the end
        received.close()


async def _end(process: Process) -> None:
    """Close the program's input, then ask it and its children to end, then kill them."""
    assert process.stdin is not None
    process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        if await _has_ended(process):
            break
    # asyncio keeps it open while anybody has the other end of a pipe, and offers no other way to close it.
    process._transport.close()  # type: ignore[attr-defined]


async def _has_ended(process: Process) -> bool:
    """Check whether the program ends within `END_S`; `Process.wait` would also wait for the end of its output."""
    with suppress(TimeoutError):
        async with asyncio.timeout(END_S):
            while process.returncode is None:  # noqa: ASYNC110  (asyncio offers no other way)
                await asyncio.sleep(POLL_S)
    return process.returncode is not None
