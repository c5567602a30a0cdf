"""The channels of a sandbox, against real ZeroMQ sockets and against peers that break the protocol."""

from __future__ import annotations

import asyncio
import struct
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import zmq
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.local.channels.connection import Connection
from jupyter_codeagent.sandbox.local.channels.zmtp import (
    GREETING,
    MAX_COMMANDS,
    MAX_PARTS,
    ChannelBrokenError,
    MessageTooLargeError,
    Peer,
)

LIMIT = 1 << 20


@pytest.fixture
def place() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        yield f"{directory}/s"


# --- being greeted ----------------------------------------------------------------------------------


async def opened(place: str, *, greeted_at: int, timeout_s: float) -> tuple[int, float]:
    """Connections that were made and the seconds they took; the peer greets from the nth subscriber on."""
    context = zmq.asyncio.Context()
    server: Any = context.socket(zmq.XPUB)
    server.setsockopt(zmq.XPUB_VERBOSE, 1)  # tells each subscriber, as two may overlap
    server.bind(f"ipc://{place}-1")
    subscribers = 0

    async def serve() -> None:
        nonlocal subscribers
        while True:
            subscribers += await server.recv() == b"\x01"
            if subscribers >= greeted_at:
                await server.send(b"welcome")

    serving = asyncio.create_task(serve())
    connection = Connection(
        cast("AsyncKernelManager", SimpleNamespace(ip=place, iopub_port=1)),
        max_bytes=LIMIT,
        read=b"".join,
        on_shell=_ignore,
        on_iopub=_ignore,
        on_malformed=lambda: None,
        on_oversized=_ignore,
    )
    started = time.monotonic()
    try:
        await connection.open_iopub(timeout_s)
        return subscribers, time.monotonic() - started
    finally:
        connection.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        context.destroy(linger=0)


def _ignore(_received: object) -> None:
    return


def test_one_connection_is_enough_where_the_kernel_greets(place: str) -> None:
    connections, _ = asyncio.run(opened(place, greeted_at=1, timeout_s=10))
    assert connections == 1


def test_a_connection_that_is_never_greeted_is_made_again(place: str) -> None:
    connections, seconds = asyncio.run(opened(place, greeted_at=2, timeout_s=10))
    assert connections == 2
    assert seconds < 5


def test_a_kernel_that_never_greets_is_given_up_with_the_limit_named(place: str) -> None:
    with pytest.raises(TimeoutError, match=r"output channel within 0\.2 s"):
        asyncio.run(opened(place, greeted_at=99, timeout_s=0.2))


# --- against libzmq ---------------------------------------------------------------------------------


def test_messages_of_every_size_pass_both_ways_between_us_and_libzmq(place: str) -> None:
    shapes = ((0,), (1, 255, 256), (0, 70_000, 0), (LIMIT - 5,), (1,) * MAX_PARTS)
    messages = [[b"x" * size for size in sizes] for sizes in shapes]

    async def main() -> tuple[list[list[bytes]], list[list[bytes]]]:
        context = zmq.asyncio.Context()
        router = context.socket(zmq.ROUTER)
        router.bind(f"ipc://{place}")
        peer = await Peer.connect(place, "DEALER", max_bytes=LIMIT)
        there, back = [], []
        for message in messages:
            peer.send(message)
            identity, *received = await router.recv_multipart()
            there.append(received)
            await router.send_multipart([identity, *message])
            back.append(await peer.receive())
        peer.close()
        context.destroy(linger=0)
        return there, back

    assert asyncio.run(main()) == (messages, messages)


def test_a_message_over_the_limit_is_thrown_away_and_the_next_one_is_read(place: str) -> None:
    async def main() -> list[bytes]:
        context = zmq.asyncio.Context()
        publisher = context.socket(zmq.XPUB)
        publisher.bind(f"ipc://{place}")
        peer = await Peer.connect(place, "SUB", max_bytes=LIMIT)
        assert await publisher.recv() == b"\x01"
        for oversized in ([b"x" * (LIMIT + 1)], [b"x" * (LIMIT // 2)] * 3, [b""] * (MAX_PARTS + 1)):
            await publisher.send_multipart(oversized)
            with pytest.raises(MessageTooLargeError):
                await peer.receive()
        await publisher.send_multipart([b"next"])
        received = await peer.receive()
        peer.close()
        context.destroy(linger=0)
        return received

    assert asyncio.run(main()) == [b"next"]


# --- against peers that break the protocol ----------------------------------------------------------

READY = b"\x04\x06\x05READY"
HEAD = GREETING + READY


async def _received_from(place: str, says: Callable[[asyncio.StreamWriter], Awaitable[None]]) -> None:
    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await says(writer)
            await writer.drain()
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_unix_server(serve, place)
    try:
        async with asyncio.timeout(20):
            peer = await Peer.connect(place, "DEALER", max_bytes=LIMIT)
            try:
                while True:
                    await peer.receive()
            finally:
                peer.close()
    finally:
        server.close()


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"HTTP/1.1 200 OK\r\n\r\n" * 5,
        b"\xff" + GREETING[1:10] + b"\x01" + GREETING[11:],  # an older protocol
        GREETING[:12] + b"CURVE".ljust(20, b"\0") + GREETING[32:],
        GREETING + b"\x00\x01x",  # a message before it is ready
        GREETING + b"\x04\x05\x05ERROR",
        HEAD + b"\xf0\x01x",  # flags that do not exist
        HEAD + b"\x06" + struct.pack(">Q", 1 << 40),  # a command of a terabyte
        HEAD + b"\x02" + struct.pack(">Q", (1 << 64) - 1),
        HEAD + b"\x00\x05abc",  # cut off
        HEAD + b"\x04\x01x" * (MAX_COMMANDS + 1),
    ],
)
def test_a_peer_that_breaks_the_protocol_is_a_broken_channel(said: bytes, place: str) -> None:
    async def says(writer: asyncio.StreamWriter) -> None:
        writer.write(said)

    with pytest.raises((ChannelBrokenError, MessageTooLargeError)):
        asyncio.run(_received_from(place, says))


def test_a_message_without_end_is_not_collected(place: str) -> None:
    """libzmq queues all of it: 1.6 GB in 2 s were measured."""
    import tracemalloc

    async def says(writer: asyncio.StreamWriter) -> None:
        frame = b"\x03" + struct.pack(">Q", 1 << 18) + b"x" * (1 << 18)
        writer.write(HEAD)
        while True:
            writer.write(frame)
            await writer.drain()

    tracemalloc.start()
    try:
        with pytest.raises(ChannelBrokenError, match="without end"):
            asyncio.run(_received_from(place, says))
        assert tracemalloc.get_traced_memory()[1] < 8 * LIMIT
    finally:
        tracemalloc.stop()
