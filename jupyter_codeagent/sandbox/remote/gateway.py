"""A link to a relay that a Jupyter server or kernel gateway starts as a kernel, over the kernel's websocket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_client.session import Session
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received
from jupyter_codeagent.sandbox.remote import calls, kernelspec
from jupyter_codeagent.sandbox.remote.gateway_api import INSTALL_HINT, GatewayApi
from jupyter_codeagent.sandbox.remote.link import Channel
from jupyter_codeagent.sandbox.remote.websocket_messages import MessageFormat, message_format
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sizes import format_bytes

OPEN_TIMEOUT_S = 120.0
"""A gateway in a cluster may have to wait for resources."""
GREETING_INTERVAL_S = 1.0
HEADERS_BYTES = 256 << 10
"""Bytes of a message besides content and buffers."""
END_TIMEOUT_S = 20.0
"""A Jupyter server gives a kernel 5 s to shut down."""
STATUS_BYTES = 4096
ENDED_STATES = frozenset({"restarting", "autorestarting", "dead"})
"""States of a kernel whose process has ended. A restarted relay is a new one, without our sandbox."""
HEARTBEAT_INTERVAL_S = 30.0
"""The relay ends by itself when it receives nothing for `transports.IDLE_TIMEOUT_S`."""
MAX_UNANSWERED = 4
"""How many heartbeats may be unanswered; a relay that is starting a sandbox answers late."""
log = logging.getLogger(__name__)


@dataclass
class _Greeting:
    """What is known of the kernel since the websocket is open."""

    ids: set[str] = field(default_factory=set)
    implementation: str | None = None
    on_iopub: bool = False
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    def handle_message(self, channel: str, received: Received) -> None:
        if channel == "shell" and received.msg_type == "kernel_info_reply":
            self.implementation = one_line(received.parsed(STATUS_BYTES).get("implementation"), 100)
        elif channel == "iopub":
            self.on_iopub = True
        if self.implementation is not None and self.on_iopub:
            self.settled.set()


class GatewayLink:
    """Implements `link.Link`."""

    def __init__(
        self,
        url: str,
        *,
        token: str,
        max_bytes: int,
        kernel_name: str = kernelspec.NAME,
        open_timeout_s: float = OPEN_TIMEOUT_S,
    ) -> None:
        """`max_bytes` limits one message; `token` may be empty where the gateway needs none."""
        self._url = url
        self._token = token
        self._kernel_name = kernel_name
        self._max_bytes = max_bytes + HEADERS_BYTES
        self._open_timeout_s = open_timeout_s
        # Signatures are not sent: only the gateway knows the kernel's key, and signs for us.
        self._session = Session(key=secrets.token_bytes(32), session=uuid.uuid4().hex, username="codeagent")
        self._api: GatewayApi | None = None
        self._starting: asyncio.Task[str] | None = None
        self._websocket: WebSocketClientConnection | None = None
        self._format: MessageFormat = message_format(None)
        self._greeting = _Greeting()
        self._heartbeats: set[str] = set()
        """Ids of heartbeats that are not answered yet."""
        self._reading: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._exit_reason = ""
        """Why the kernel is gone, where the gateway reports it or heartbeats failed while the websocket is open."""

    async def open(
        self,
        *,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        until = time.monotonic() + self._open_timeout_s
        self._api = GatewayApi(self._url, self._token)
        await self._api.require_kernelspec(self._kernel_name)
        # A start continues at the gateway even if we stop waiting; `close` ends the kernel that comes of it.
        self._starting = asyncio.create_task(
            self._api.start_kernel(self._kernel_name, timeout_s=_left_s(until)), name="gateway start"
        )
        kernel_id = await asyncio.shield(self._starting)
        self._websocket = await self._api.open_websocket(
            kernel_id, self._session.session, max_bytes=self._max_bytes, timeout_s=_left_s(until)
        )
        self._format = message_format(self._websocket.selected_subprotocol)
        self._reading = asyncio.create_task(
            self._read(self._websocket, on_message, on_malformed, on_closed), name="gateway messages"
        )
        await self._greet(until)
        self._beating = asyncio.create_task(self._send_heartbeats(), name="gateway heartbeats")

    async def _greet(self, until: float) -> None:
        """Wait for the relay on both channels: messages published before iopub is subscribed are lost."""
        while not self._greeting.settled.is_set():
            if time.monotonic() >= until:
                raise SandboxUnavailableError(
                    f"{self._kernel_label} did not answer within {self._open_timeout_s:g} s: does it start there?"
                )
            self._greeting.ids.add(self.send("kernel_info_request", {}))
            with contextlib.suppress(TimeoutError):  # asked again
                async with asyncio.timeout(min(GREETING_INTERVAL_S, _left_s(until))):
                    await self._greeting.settled.wait()
        if self._greeting.implementation is None:
            raise SandboxUnavailableError(
                f"{self._kernel_label} ended at once: {self._exit_reason}. See the log of the gateway."
            )
        if self._greeting.implementation != calls.IMPLEMENTATION:
            raise SandboxUnavailableError(
                f"{self._kernel_label} is no sandbox relay but {self._greeting.implementation!r}. {INSTALL_HINT}."
            )

    def send(self, msg_type: str, content: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> str:
        if self._websocket is None:
            raise RuntimeError("the link is not open")
        message = self._session.msg(msg_type, content=content)
        _delimiter, _signature, *parts = self._session.serialize(message)
        data = self._format.pack("shell", parts, buffers)
        # Not if it is closed: `on_closed` tells whoever waits for an answer.
        with contextlib.suppress(WebSocketClosedError):
            sending = asyncio.ensure_future(self._websocket.write_message(data, binary=isinstance(data, bytes)))
            sending.add_done_callback(_retrieve)
        return str(message["header"]["msg_id"])

    async def _read(
        self,
        websocket: WebSocketClientConnection,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        data: str | bytes | None = b""
        try:
            while not self._exit_reason and (data := await websocket.read_message()) is not None:
                try:
                    channel, received = self._format.read(data)
                    self._handle_message(channel, received, on_message)
                except MalformedMessageError:
                    on_malformed()
                await asyncio.sleep(0)  # a flood would starve the loop
        finally:
            self._exit_reason = self._exit_reason or self._close_reason(websocket)
            self._greeting.settled.set()
            self.kill()
            on_closed(self._exit_reason)
        while data is not None:  # up to the end, so that the closing handshake is read
            data = await websocket.read_message()

    def _handle_message(
        self, channel: str, received: Received, on_message: Callable[[Channel, Received], None]
    ) -> None:
        if received.parent_id in self._greeting.ids:
            self._greeting.handle_message(channel, received)
        elif channel == "iopub" and _kernel_ended(received):
            self._exit_reason = "its process at the gateway ended"
        elif received.msg_type == calls.REPLY and received.parent_id in self._heartbeats:
            self._heartbeats.clear()
        elif channel in ("shell", "iopub"):
            on_message(cast("Channel", channel), received)
        else:
            raise MalformedMessageError(f"on channel {channel}")

    async def _send_heartbeats(self) -> None:
        """Send heartbeats, and detect an ended relay: not every gateway reports that it has ended a kernel."""
        while len(self._heartbeats) < MAX_UNANSWERED:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            self._heartbeats.add(self.send(calls.REQUEST, {"call": "alive"}))
        self._exit_reason = (
            f"the relay at the gateway has not answered for {MAX_UNANSWERED * HEARTBEAT_INTERVAL_S:g} s"
        )
        self.kill()

    def _close_reason(self, websocket: WebSocketClientConnection) -> str:
        code = websocket.close_code
        if code is None:
            limit = format_bytes(self._max_bytes)
            return f"the connection to the gateway was cut (by the network, or for a message over {limit})"
        reason = one_line(websocket.close_reason, 200)
        return f"the gateway closed the connection (code {code}{f': {reason}' if reason else ''})"

    def kill(self) -> None:
        if self._ending is None and self._api is not None:
            self._ending = asyncio.create_task(self._end(self._api), name="gateway end")

    async def _end(self, api: GatewayApi) -> None:
        if self._beating is not None:
            self._beating.cancel()
        try:
            await self._end_kernel(api)
        finally:
            if self._websocket is not None:
                self._websocket.close()

    async def _end_kernel(self, api: GatewayApi) -> None:
        if self._starting is None:
            return
        try:
            async with asyncio.timeout(END_TIMEOUT_S):
                kernel_id = await asyncio.shield(self._starting)
        except SandboxUnavailableError:
            return  # it was not started, and `open` has raised that
        except TimeoutError:
            log.warning(
                "%s may have been started although it was not waited for: see the gateway.", self._kernel_label
            )
            return
        try:
            await api.end_kernel(kernel_id, timeout_s=END_TIMEOUT_S)
        except SandboxUnavailableError as problem:
            log.warning(
                "%s is not known to have ended, and will end when it hears nothing more. %s",
                self._kernel_label,
                problem,
            )

    async def close(self) -> None:
        self.kill()
        for task in (self._ending, self._reading, self._beating):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)
        if self._api is not None:
            self._api.close()

    @property
    def _kernel_label(self) -> str:
        return f"The kernel {self._kernel_name!r} of the gateway {self._url}"


def _left_s(until: float) -> float:
    """Return the time left, but never 0, which tornado takes for no limit."""
    return max(0.1, until - time.monotonic())


def _retrieve(sending: asyncio.Future[None]) -> None:
    """Mark the exception of a message as retrieved; `on_closed` reports the end of the connection."""
    if not sending.cancelled():
        sending.exception()


def _kernel_ended(received: Received) -> bool:
    """Check for the server's report that the kernel's process has ended: a status that belongs to no request."""
    if received.msg_type != "status" or received.parent_id:
        return False
    state = received.parsed(STATUS_BYTES).get("execution_state")
    return isinstance(state, str) and state in ENDED_STATES
