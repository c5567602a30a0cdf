"""The channels of a running kernel: by its connection file, or through the websocket of its Jupyter server."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

from jupyter_client.asynchronous.client import AsyncKernelClient

from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import KernelAddress
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError
from jupyter_codeagent.sandbox.remote.gateway_api import GatewayApi
from jupyter_codeagent.sandbox.remote.websocket_messages import MessageFormat, message_format

MAX_MESSAGE_BYTES = 256 << 20
"""Of the websocket: all that the kernel displays comes along it."""
OPEN_S = 20.0


class Heard(NamedTuple):
    """A message of the kernel."""

    channel: str
    msg_type: str
    parent_id: str
    content: Mapping[str, Any]


class Channels(Protocol):
    """Sends to shell and control, and hears all that the kernel says."""

    async def send(self, channel: str, msg_type: str, content: dict[str, Any], subshell: str | None = None) -> str:
        """Send a message; return its id."""
        ...

    def heard(self) -> AsyncGenerator[Heard]:
        """Yield the kernel's messages; end where the connection ends."""
        ...

    async def close(self) -> None: ...


async def open_channels(kernel: KernelAddress) -> Channels:
    """Connect to a kernel; raise CodeAgentError where its server cannot be reached."""
    return SocketChannels(kernel) if kernel.connection_file is not None else await WebsocketChannels.open(kernel)


class SocketChannels:
    """The kernel's own sockets. Messages are signed with the key of the connection file."""

    def __init__(self, kernel: KernelAddress) -> None:
        self._client = AsyncKernelClient()
        self._client.load_connection_file(str(kernel.connection_file))
        self._client.start_channels(stdin=False, hb=False)

    async def send(self, channel: str, msg_type: str, content: dict[str, Any], subshell: str | None = None) -> str:
        message = self._client.session.msg(msg_type, content)
        if subshell is not None:
            message["header"]["subshell_id"] = subshell
        sockets = {"shell": self._client.shell_channel, "control": self._client.control_channel}
        sockets[channel].send(message)
        return str(message["header"]["msg_id"])

    async def heard(self) -> AsyncGenerator[Heard]:
        messages: asyncio.Queue[Heard] = asyncio.Queue()

        async def read(name: str, channel: Any) -> None:
            while True:
                message = await channel.get_msg()
                kind, parent = message["header"]["msg_type"], message["parent_header"].get("msg_id", "")
                messages.put_nowait(Heard(name, kind, parent, message["content"]))

        sockets = {"iopub": self._client.iopub_channel, "control": self._client.control_channel}
        readers = [asyncio.create_task(read(name, channel)) for name, channel in sockets.items()]
        try:
            while True:
                yield await messages.get()
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.wait(readers)

    async def close(self) -> None:
        self._client.stop_channels()


class WebsocketChannels:
    """The websocket of a Jupyter server, which was given the token."""

    def __init__(self, api: GatewayApi, socket: Any, form: MessageFormat, session: str) -> None:
        self._api = api
        self._socket = socket
        self._form = form
        self._session = session

    @classmethod
    async def open(cls, kernel: KernelAddress) -> WebsocketChannels:
        """Open it; raise CodeAgentError where the server does not let us."""
        assert kernel.server is not None
        api, session = GatewayApi(kernel.server.url, kernel.server.token), uuid.uuid4().hex
        try:
            socket = await api.open_websocket(
                kernel.kernel_id, session, max_bytes=MAX_MESSAGE_BYTES, timeout_s=OPEN_S
            )
        except BaseException:
            api.close()
            raise
        return cls(api, socket, message_format(socket.selected_subprotocol), session)

    async def send(self, channel: str, msg_type: str, content: dict[str, Any], subshell: str | None = None) -> str:
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": msg_type,
            "session": self._session,
            "username": "",
            "date": datetime.now(UTC).isoformat(),
            "version": "5.3",
            **({} if subshell is None else {"subshell_id": subshell}),
        }
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        packed = self._form.pack(channel, parts, [])
        await self._socket.write_message(packed, binary=isinstance(packed, bytes))
        return str(header["msg_id"])

    async def heard(self) -> AsyncGenerator[Heard]:
        while (data := await self._socket.read_message()) is not None:
            try:
                channel, message = self._form.read(data)
                content = json.loads(bytes(message.content))
            except (MalformedMessageError, ValueError, RecursionError):
                continue  # no message of ours: what is not heard is asked for again
            yield Heard(channel, message.msg_type, message.parent_id, content)

    async def close(self) -> None:
        self._socket.close()
        self._api.close()
