"""The sockets of one sandbox, and the tasks that read them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, Literal, TypeVar

from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError
from jupyter_codeagent.sandbox.local.channels.zmtp import ChannelBrokenError, MessageTooLargeError, Peer, SocketType

FIRST_ATTEMPT_S = 0.5
"""Doubled after each attempt."""
Channel = Literal["shell", "iopub"]
KINDS: dict[Channel, SocketType] = {"shell": "DEALER", "iopub": "SUB"}
M = TypeVar("M")


class Connection(Generic[M]):
    """The shell and iopub channels of a kernel whose sockets exist already; lives in one event loop.

    `read` converts the frames of a message for the handlers, or raises `MalformedMessageError`. Messages over
    `max_bytes` are discarded as they come, and reported to `on_oversized`.
    """

    def __init__(
        self,
        manager: AsyncKernelManager,
        *,
        max_bytes: int,
        read: Callable[[list[bytes]], M],
        on_shell: Callable[[M], None],
        on_iopub: Callable[[M], None],
        on_malformed: Callable[[], None],
        on_oversized: Callable[[Channel], None],
    ) -> None:
        self._manager = manager
        self._max_bytes = max_bytes
        self._read = read
        self._handlers: dict[Channel, Callable[[M], None]] = {"shell": on_shell, "iopub": on_iopub}
        self._on_malformed = on_malformed
        self._on_oversized = on_oversized
        self._peers: dict[Channel, Peer] = {}
        self._answers: Peer | None = None
        self._connecting = asyncio.Lock()
        self._pumps: dict[Channel, asyncio.Task[None]] = {}

    async def open(self, timeout_s: float) -> None:
        """Connect both channels, and wait until iopub is subscribed, so that no output is missed.

        Raises
        ------
        TimeoutError
            If the kernel does not answer.
        """
        try:
            async with asyncio.timeout(timeout_s):
                self._peers["shell"] = await self._connect_channel("shell")
        except ChannelBrokenError as problem:
            raise TimeoutError(f"the kernel's shell channel: {problem}") from problem
        self._start_pump("shell")
        await self.open_iopub(timeout_s)

    async def open_iopub(self, timeout_s: float) -> None:
        """Open iopub, also again after code in the sandbox has closed it.

        This needs several attempts: in about one of a thousand starts, a connection was never greeted. Probably
        ipykernel's reader misses a subscription (an edge-triggered event) while it sends; a new one wakes it.
        """
        until = time.monotonic() + timeout_s
        attempt_s = FIRST_ATTEMPT_S
        while (left_s := until - time.monotonic()) > 0:
            if await self._try_open_iopub(min(attempt_s, left_s)):
                self._start_pump("iopub")
                return
            attempt_s *= 2
        raise TimeoutError(f"the kernel did not open its output channel within {timeout_s:g} s")

    async def _try_open_iopub(self, timeout_s: float) -> bool:
        self._close("iopub")
        try:
            async with asyncio.timeout(timeout_s):
                self._peers["iopub"] = await self._connect_channel("iopub")
                await self._peers["iopub"].receive()  # iopub_welcome, ipykernel >= 7
        except (TimeoutError, ChannelBrokenError, MessageTooLargeError):
            await asyncio.sleep(min(timeout_s, 0.05))  # not a tight loop where connections are refused at once
            return False
        return True

    async def _connect_channel(self, channel: Channel) -> Peer:
        """Connect a channel over its Unix socket."""
        return await self._connect_peer(channel, KINDS[channel])

    async def _connect_peer(self, channel: str, kind: SocketType) -> Peer:
        number = getattr(self._manager, f"{channel}_port")
        return await Peer.connect(f"{self._manager.ip}-{number}", kind, max_bytes=self._max_bytes)

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        """Send a request on shell, and return its id."""
        message = self._manager.session.msg(msg_type, content=content)
        self.forward(self._manager.session.serialize(message))
        return str(message["header"]["msg_id"])

    async def answer(self, msg_type: str, content: dict[str, Any]) -> None:
        """Send on stdin, on which nothing comes back. The channel is connected at the first answer.

        Raises
        ------
        ChannelBrokenError
        """
        async with (
            self._connecting
        ):  # several answers may be the first: what goes out on a second peer could be lost
            if self._answers is None or self._answers.is_closing:
                self._answers = await self._connect_peer("stdin", "DEALER")
        session = self._manager.session
        self._answers.send(session.serialize(session.msg(msg_type, content=content)))

    def forward(self, frames: Sequence[bytes | memoryview]) -> None:
        """Send a message on shell unchanged."""
        self._peers["shell"].send(frames)

    def close(self) -> None:
        """Close all channels."""
        for channel in tuple(self._peers):
            self._close(channel)
        if self._answers is not None:
            self._answers.close()

    def _close(self, channel: Channel) -> None:
        if pump := self._pumps.pop(channel, None):
            pump.cancel()
        if peer := self._peers.pop(channel, None):
            peer.close()

    def _start_pump(self, channel: Channel) -> None:
        self._pumps[channel] = asyncio.create_task(self._pump(channel), name=f"sandbox {channel}")

    async def _pump(self, channel: Channel) -> None:
        """Read messages until the channel breaks. The death of the sandbox is noticed by its process."""
        peer, handle = self._peers[channel], self._handlers[channel]
        while True:
            try:
                handle(self._read(await peer.receive()))
            except MalformedMessageError:
                self._on_malformed()
            except MessageTooLargeError:
                self._on_oversized(channel)
            except ChannelBrokenError:
                return
            await asyncio.sleep(0)  # buffered messages are read without a pause: a flood would starve the loop
