"""A relay that a Jupyter server or kernel gateway starts as a kernel, reached by the kernel's websocket."""

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
from jupyter_codeagent.sandbox.remote.websocket_messages import Form, form
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sizes import format_bytes

OPEN_TIMEOUT_S = 120.0
"""A gateway in a cluster may have to find room first."""
HELLO_INTERVAL_S = 1.0
HEADERS_BYTES = 256 << 10
"""Of a message, beside content and buffers."""
END_TIMEOUT_S = 20.0
"""A Jupyter server gives a kernel 5 s to end by itself."""
STATUS_BYTES = 4096
ENDED_STATES = frozenset({"restarting", "autorestarting", "dead"})
"""What a server says of a kernel whose process has ended. A restarted relay is another one, without our sandbox."""
ALIVE_INTERVAL_S = 30.0
"""The relay ends by itself when it hears nothing for `fronts.SILENCE_S`."""
UNANSWERED = 4
"""So many of these signs of life may be without an answer; a relay that is starting a sandbox answers late."""
log = logging.getLogger(__name__)


@dataclass
class _Hello:
    """What has been heard of the kernel since the websocket is open."""

    ids: set[str] = field(default_factory=set)
    implementation: str | None = None
    on_iopub: bool = False
    settled: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, channel: str, received: Received) -> None:
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
        """`max_bytes` bounds one message; `token` may be empty where the gateway wants none."""
        self._url = url
        self._token = token
        self._kernel_name = kernel_name
        self._max_bytes = max_bytes + HEADERS_BYTES
        self._open_timeout_s = open_timeout_s
        # The signatures are not sent: the kernel's key is known to the gateway only, which signs for us.
        self._session = Session(key=secrets.token_bytes(32), session=uuid.uuid4().hex, username="codeagent")
        self._api: GatewayApi | None = None
        self._starting: asyncio.Task[str] | None = None
        self._websocket: WebSocketClientConnection | None = None
        self._form: Form = form(None)
        self._hello = _Hello()
        self._signs_of_life: set[str] = set()
        """Those that are not answered yet."""
        self._reading: asyncio.Task[None] | None = None
        self._living: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._end_of_kernel = ""
        """Why the kernel is gone, where the gateway or its silence tells; the websocket is still open then."""

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
        # A start goes on at the gateway although we do not wait any longer; `close` ends what comes of it.
        self._starting = asyncio.create_task(
            self._api.start_kernel(self._kernel_name, timeout_s=_left_s(until)), name="gateway start"
        )
        kernel_id = await asyncio.shield(self._starting)
        self._websocket = await self._api.open_websocket(
            kernel_id, self._session.session, max_bytes=self._max_bytes, timeout_s=_left_s(until)
        )
        self._form = form(self._websocket.selected_subprotocol)
        self._reading = asyncio.create_task(
            self._read(self._websocket, on_message, on_malformed, on_closed), name="gateway messages"
        )
        await self._greet(until)
        self._living = asyncio.create_task(self._show_life(), name="gateway signs of life")

    async def _greet(self, until: float) -> None:
        """Until the relay has been heard on both channels: what is published before iopub is subscribed is lost."""
        while not self._hello.settled.is_set():
            if time.monotonic() >= until:
                raise SandboxUnavailableError(
                    f"{self._called} did not answer within {self._open_timeout_s:g} s: does it start there?"
                )
            self._hello.ids.add(self.send("kernel_info_request", {}))
            with contextlib.suppress(TimeoutError):  # asked again
                async with asyncio.timeout(min(HELLO_INTERVAL_S, _left_s(until))):
                    await self._hello.settled.wait()
        if self._hello.implementation is None:
            raise SandboxUnavailableError(
                f"{self._called} ended at once: {self._end_of_kernel}. See the log of the gateway."
            )
        if self._hello.implementation != calls.IMPLEMENTATION:
            raise SandboxUnavailableError(
                f"{self._called} is no sandbox relay but {self._hello.implementation!r}. {INSTALL_HINT}."
            )

    def send(self, msg_type: str, content: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> str:
        if self._websocket is None:
            raise RuntimeError("the link is not open")
        message = self._session.msg(msg_type, content=content)
        _delimiter, _signature, *parts = self._session.serialize(message)
        data = self._form.packed("shell", parts, buffers)
        # Not once it is closed: whoever waits for an answer is told by `on_closed`.
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
            while not self._end_of_kernel and (data := await websocket.read_message()) is not None:
                try:
                    channel, received = self._form.read(data)
                    self._take(channel, received, on_message)
                except MalformedMessageError:
                    on_malformed()
                await asyncio.sleep(0)  # a flood would starve the loop
        finally:
            self._end_of_kernel = self._end_of_kernel or self._farewell(websocket)
            self._hello.settled.set()
            self.kill()
            on_closed(self._end_of_kernel)
        while data is not None:  # up to the end, or the closing handshake is not read
            data = await websocket.read_message()

    def _take(self, channel: str, received: Received, on_message: Callable[[Channel, Received], None]) -> None:
        if received.parent_id in self._hello.ids:
            self._hello.hear(channel, received)
        elif channel == "iopub" and _kernel_ended(received):
            self._end_of_kernel = "its process at the gateway ended"
        elif received.msg_type == calls.REPLY and received.parent_id in self._signs_of_life:
            self._signs_of_life.clear()
        elif channel in ("shell", "iopub"):
            on_message(cast("Channel", channel), received)
        else:
            raise MalformedMessageError(f"on channel {channel}")

    async def _show_life(self) -> None:
        """Also that of the relay: a kernel that a gateway ends for others' reasons is not told by every gateway."""
        while len(self._signs_of_life) < UNANSWERED:
            await asyncio.sleep(ALIVE_INTERVAL_S)
            self._signs_of_life.add(self.send(calls.REQUEST, {"call": "alive"}))
        self._end_of_kernel = f"the relay at the gateway has not answered for {UNANSWERED * ALIVE_INTERVAL_S:g} s"
        self.kill()

    def _farewell(self, websocket: WebSocketClientConnection) -> str:
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
        if self._living is not None:
            self._living.cancel()
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
            return  # it was not started, as `open` has said
        except TimeoutError:
            log.warning("%s may have been started although it was not waited for: see the gateway.", self._called)
            return
        try:
            await api.end_kernel(kernel_id, timeout_s=END_TIMEOUT_S)
        except SandboxUnavailableError as problem:
            log.warning(
                "%s is not known to have ended, and will end when it hears nothing more. %s", self._called, problem
            )

    async def close(self) -> None:
        self.kill()
        for task in (self._ending, self._reading, self._living):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)
        if self._api is not None:
            self._api.close()

    @property
    def _called(self) -> str:
        return f"The kernel {self._kernel_name!r} of the gateway {self._url}"


def _left_s(until: float) -> float:
    """At least a little: 0 is no limit for tornado."""
    return max(0.1, until - time.monotonic())


def _retrieve(sending: asyncio.Future[None]) -> None:
    """A message that could not be sent any more; the end of the connection is told by `on_closed`."""
    if not sending.cancelled():
        sending.exception()


def _kernel_ended(received: Received) -> bool:
    """Whether the server tells that the kernel's process has ended: a status that belongs to no request."""
    if received.msg_type != "status" or received.parent_id:
        return False
    state = received.parsed(STATUS_BYTES).get("execution_state")
    return isinstance(state, str) and state in ENDED_STATES
