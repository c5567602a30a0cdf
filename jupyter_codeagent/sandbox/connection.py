"""The sockets of one sandbox, and the pumps that read them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

import zmq
import zmq.asyncio
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.wire import MalformedMessageError

RECEIVE_QUEUE = 64
"""Messages that zmq holds for us; the rest waits, or is dropped, on the sandbox's side."""
NO_RECONNECT_MS = 24 * 3600 * 1000
"""A closed channel stays closed until we say so. With -1, which says the same, ending the context of a sandbox that
died takes 1 s (measured, libzmq 4.3.5), and blocks the event loop."""
FIRST_ATTEMPT_S = 0.5
"""Doubled from one to the next."""
M = TypeVar("M")


def hostile_context(message_bytes: int) -> zmq.asyncio.Context:
    """A context for peers we do not trust: larger messages are refused before they are buffered."""
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.MAXMSGSIZE, message_bytes)
    context.setsockopt(zmq.RCVHWM, RECEIVE_QUEUE)
    context.setsockopt(zmq.LINGER, 0)
    context.setsockopt(zmq.RECONNECT_IVL, NO_RECONNECT_MS)
    return context


class Connection(Generic[M]):
    """Shell and iopub of a kernel whose sockets exist already; lives in one event loop.

    `read` makes of the frames of a message what the handlers get, or raises `MalformedMessageError`.
    """

    def __init__(
        self,
        manager: AsyncKernelManager,
        *,
        read: Callable[[list[bytes]], M],
        on_shell: Callable[[M], None],
        on_iopub: Callable[[M], None],
        on_malformed: Callable[[], None],
    ) -> None:
        self._manager = manager
        self._read = read
        self._handlers = {"shell": on_shell, "iopub": on_iopub}
        self._on_malformed = on_malformed
        self._sockets: dict[str, zmq.asyncio.Socket] = {}
        self._pumps: dict[str, asyncio.Task[None]] = {}

    async def open(self, timeout_s: float) -> None:
        """Connect both, and wait until iopub is subscribed, so that no output is missed.

        Raises
        ------
        TimeoutError
            If the kernel does not greet us.
        """
        self._sockets["shell"] = cast("zmq.asyncio.Socket", self._manager.connect_shell())
        self._start_pump("shell")
        await self.open_iopub(timeout_s)

    async def open_iopub(self, timeout_s: float) -> None:
        """(Again:) a message over the limit closes the channel for good, and a new one can take its place.

        In attempts: seen once in about a thousand starts, a connection was never greeted. Probably ipykernel's
        reader misses a subscription (an edge-triggered event) when it sends at that moment; a new one wakes it.
        """
        until = time.monotonic() + timeout_s
        attempt_s = FIRST_ATTEMPT_S
        while (left_s := until - time.monotonic()) > 0:
            if await self._greeted(min(attempt_s, left_s)):
                self._start_pump("iopub")
                return
            attempt_s *= 2
        raise TimeoutError(f"the kernel did not open its output channel within {timeout_s:g} s")

    async def _greeted(self, timeout_s: float) -> bool:
        self._close("iopub")
        self._sockets["iopub"] = cast("zmq.asyncio.Socket", self._manager.connect_iopub())
        try:
            async with asyncio.timeout(timeout_s):
                await self._sockets["iopub"].recv_multipart()  # iopub_welcome, ipykernel >= 7
        except TimeoutError:
            return False
        return True

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        """Send a request on shell; returns its id."""
        message = self._manager.session.send(self._sockets["shell"], msg_type, content)
        return str(message["header"]["msg_id"])

    async def forward(self, frames: Sequence[bytes]) -> None:
        """Send a message on shell as it is."""
        await self._sockets["shell"].send_multipart(frames)

    def close(self) -> None:
        for channel in tuple(self._sockets):
            self._close(channel)

    def _close(self, channel: str) -> None:
        if pump := self._pumps.pop(channel, None):
            pump.cancel()
        if channel_socket := self._sockets.pop(channel, None):
            channel_socket.close(linger=0)

    def _start_pump(self, channel: str) -> None:
        self._pumps[channel] = asyncio.create_task(self._pump(channel), name=f"sandbox {channel}")

    async def _pump(self, channel: str) -> None:
        channel_socket, handle = self._sockets[channel], self._handlers[channel]
        while True:
            frames = await channel_socket.recv_multipart()
            try:
                handle(self._read(frames))
            except MalformedMessageError:
                self._on_malformed()
            await asyncio.sleep(0)  # recv does not yield while messages are there: a flood would starve the loop
