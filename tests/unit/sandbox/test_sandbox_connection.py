"""The channel for outputs, against a real socket on the other side."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from typing import Any, cast

import pytest
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.connection import Connection, hostile_context


class Manager:
    """What `Connection` needs of a kernel manager."""

    def __init__(self, context: zmq.asyncio.Context, address: str) -> None:
        self._context = context
        self._address = address
        self.connections = 0

    def connect_iopub(self) -> zmq.asyncio.Socket:
        self.connections += 1
        found = self._context.socket(zmq.SUB)
        found.setsockopt(zmq.SUBSCRIBE, b"")
        found.connect(self._address)
        return found


@pytest.fixture
def address() -> Iterator[str]:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        yield f"ipc://{directory}/iopub"


async def opened(address: str, *, greeted_at: int, timeout_s: float) -> tuple[int, float]:
    """Connections that were made and the seconds they took; the peer greets from the nth subscriber on."""
    context = hostile_context(1 << 20)
    server: Any = context.socket(zmq.XPUB)
    server.setsockopt(zmq.XPUB_VERBOSE, 1)  # tells each subscriber, as two may overlap
    server.bind(address)

    async def serve() -> None:
        subscribers = 0
        while True:
            subscribers += await server.recv() == b"\x01"
            if subscribers >= greeted_at:
                await server.send(b"welcome")

    serving = asyncio.create_task(serve())
    manager = Manager(context, address)
    connection = Connection(
        cast("AsyncKernelManager", manager),
        read=b"".join,
        on_shell=_ignore,
        on_iopub=_ignore,
        on_malformed=lambda: None,
    )
    started = time.monotonic()
    try:
        await connection.open_iopub(timeout_s)
        return manager.connections, time.monotonic() - started
    finally:
        connection.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        context.destroy(linger=0)


def _ignore(_received: object) -> None:
    return


def test_one_connection_is_enough_where_the_kernel_greets(address: str) -> None:
    connections, _ = asyncio.run(opened(address, greeted_at=1, timeout_s=10))
    assert connections == 1


def test_a_connection_that_is_never_greeted_is_made_again(address: str) -> None:
    connections, seconds = asyncio.run(opened(address, greeted_at=2, timeout_s=10))
    assert connections == 2
    assert seconds < 5


def test_a_kernel_that_never_greets_is_given_up_with_the_limit_named(address: str) -> None:
    with pytest.raises(TimeoutError, match=r"output channel within 0\.2 s"):
        asyncio.run(opened(address, greeted_at=99, timeout_s=0.2))
