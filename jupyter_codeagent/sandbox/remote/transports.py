"""The transports of the relay: its standard streams, or the sockets of a kernel that a gateway has started."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import zmq
import zmq.asyncio

from jupyter_codeagent.sandbox.remote import framing

GREETING_BYTES = 1024
MAX_REQUEST_BYTES = 64 << 20
"""The client is trusted; the limit is for accidents. A chunk of a file is 8 MiB."""
IDLE_TIMEOUT_S = 300.0
"""Seconds without a message from a gateway until the relay ends; `GatewayLink` sends 10 heartbeats in this time."""
PARENT_INTERVAL_S = 1.0
SOCKETS = {
    b"shell": zmq.ROUTER,
    b"control": zmq.ROUTER,
    b"stdin": zmq.ROUTER,
    b"iopub": zmq.PUB,
    b"hb": zmq.ROUTER,
}
REQUEST_CHANNELS = (b"shell", b"control")


class Transport(Protocol):
    """The relay's connection to the client. Messages are lists of frames as on a kernel's own sockets."""

    key: bytes
    """Key of the messages' signatures."""

    async def receive(self) -> list[bytes] | None:
        """Return the next message on shell; None when the client is gone."""
        ...

    async def send_shell(self, frames: Sequence[bytes]) -> None:
        """Send a message on shell."""
        ...

    async def send_iopub(self, frames: Sequence[bytes]) -> None:
        """Send a message on iopub."""
        ...

    def close(self) -> None:
        """Close the transport."""
        ...


class StdioTransport:
    """Transport over standard streams; the first message is the key."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        key: bytes,
        *,
        idle_timeout_s: float | None,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._idle_timeout_s = idle_timeout_s
        self.key = key

    @classmethod
    async def open(cls, idle_timeout_s: float | None) -> StdioTransport:
        """Read the key; `idle_timeout_s` limits the wait for each message, None where the stream's end is certain.

        Raises
        ------
        framing.BrokenStreamError
            If the first message is not a greeting.
        """
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        greeting = await framing.read(reader, max_bytes=GREETING_BYTES)
        if greeting is None:
            raise framing.BrokenStreamError("no client: this program is started by jupyter-codeagent")
        return cls(reader, writer, greeting[1][0], idle_timeout_s=idle_timeout_s)

    async def receive(self) -> list[bytes] | None:
        """Return the next message; None also after a long silence, `stdio.StdioLink` sends heartbeats."""
        try:
            async with asyncio.timeout(self._idle_timeout_s):
                message = await framing.read(self._reader, max_bytes=MAX_REQUEST_BYTES)
        except TimeoutError:
            return None
        return message[1] if message is not None else None

    async def send_shell(self, frames: Sequence[bytes]) -> None:
        await self._send(framing.SHELL, frames)

    async def send_iopub(self, frames: Sequence[bytes]) -> None:
        await self._send(framing.IOPUB, frames)

    async def _send(self, channel: int, frames: Sequence[bytes]) -> None:
        self._writer.writelines(framing.pack(channel, frames))
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


class KernelTransport:
    """Transport over the sockets of a kernel, as in its connection file. Interrupts are messages on control.

    The name of the channel is put before the identities of each message, and replies carry it back. The identities
    do not tell the channel: a Jupyter server has the same one on all channels.
    """

    def __init__(self, connection_file: Path, *, idle_timeout_s: float = IDLE_TIMEOUT_S) -> None:
        wanted: dict[str, Any] = json.loads(connection_file.read_text(encoding="utf-8"))
        self.key = str(wanted["key"]).encode()
        self._idle_timeout_s = idle_timeout_s
        self._has_client = False
        self._context = zmq.asyncio.Context()
        self._context.linger = 500
        self._sockets = {channel: self._bind_socket(wanted, channel, kind) for channel, kind in SOCKETS.items()}
        self._received: asyncio.Queue[list[bytes] | None] = asyncio.Queue(maxsize=64)
        self._tasks = [asyncio.create_task(self._pump(channel)) for channel in REQUEST_CHANNELS]
        self._tasks += [asyncio.create_task(self._echo()), asyncio.create_task(self._watch_parent())]

    def _bind_socket(self, wanted: dict[str, Any], channel: bytes, kind: int) -> zmq.asyncio.Socket:
        found = self._context.socket(kind)
        between = "-" if wanted["transport"] == "ipc" else ":"
        found.bind(f"{wanted['transport']}://{wanted['ip']}{between}{wanted[f'{channel.decode()}_port']}")
        return found

    async def receive(self) -> list[bytes] | None:
        """Return the next message; None also after a long silence, as a gateway keeps a kernel without a client.

        There is no limit before the first message: the gateway restarts a relay that ends, and the new one has to
        idle until it is culled.
        """
        try:
            async with asyncio.timeout(self._idle_timeout_s if self._has_client else None):
                message = await self._received.get()
        except TimeoutError:
            return None
        self._has_client = True
        return message

    async def send_shell(self, frames: Sequence[bytes]) -> None:
        """Send a reply on the channel, and to the peer, that the request came from."""
        channel, *rest = frames
        if channel in REQUEST_CHANNELS:  # else it was forged in the sandbox
            await self._sockets[channel].send_multipart(rest)

    async def send_iopub(self, frames: Sequence[bytes]) -> None:
        await self._sockets[b"iopub"].send_multipart(frames)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._context.destroy(linger=500)

    async def _pump(self, channel: bytes) -> None:
        while True:
            await self._received.put([channel, *await self._sockets[channel].recv_multipart()])

    async def _watch_parent(self) -> None:
        """End with the parent, whose pid `jupyter_client` passes: a killed gateway cannot end its kernels."""
        parent = os.environ.get("JPY_PARENT_PID")
        if parent != str(os.getppid()):
            return  # started by an intermediate process that does not stay
        while parent == str(os.getppid()):  # noqa: ASYNC110  (there is no event for the end of a parent)
            await asyncio.sleep(PARENT_INTERVAL_S)
        await self._received.put(None)

    async def _echo(self) -> None:
        while True:
            await self._sockets[b"hb"].send_multipart(await self._sockets[b"hb"].recv_multipart())
