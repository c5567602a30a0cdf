"""How the relay is reached: by its standard streams, or as a kernel that a gateway has started."""

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

HELLO_BYTES = 1024
MAX_NEAR_BYTES = 64 << 20
"""The near side is trusted; the bound is for accidents. A chunk of a file is 8 MiB."""
SILENCE_S = 300.0
"""Nothing came from a gateway for so long: `gateway.GatewayLink` sends a sign of life 10 times as often."""
PARENT_INTERVAL_S = 1.0
SOCKETS = {
    b"shell": zmq.ROUTER,
    b"control": zmq.ROUTER,
    b"stdin": zmq.ROUTER,
    b"iopub": zmq.PUB,
    b"hb": zmq.ROUTER,
}
ANSWERING = (b"shell", b"control")


class Front(Protocol):
    """The far side's door to the near one. Messages are lists of frames as on a kernel's own sockets."""

    key: bytes
    """Of the messages' signatures."""

    async def receive(self) -> list[bytes] | None:
        """The next message on shell; None when the near side is gone."""
        ...

    async def send_shell(self, frames: Sequence[bytes]) -> None: ...

    async def send_iopub(self, frames: Sequence[bytes]) -> None: ...

    def close(self) -> None: ...


class StdioFront:
    """The first message is the key."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: bytes) -> None:
        self._reader = reader
        self._writer = writer
        self.key = key

    @classmethod
    async def open(cls) -> StdioFront:
        """Raises `framing.BrokenStreamError` if what comes first is no greeting."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        hello = await framing.read(reader, max_bytes=HELLO_BYTES)
        if hello is None:
            raise framing.BrokenStreamError("nobody is there: this program is started by jupyter-codeagent")
        return cls(reader, writer, hello[1][0])

    async def receive(self) -> list[bytes] | None:
        message = await framing.read(self._reader, max_bytes=MAX_NEAR_BYTES)
        return message[1] if message is not None else None

    async def send_shell(self, frames: Sequence[bytes]) -> None:
        await self._send(framing.SHELL, frames)

    async def send_iopub(self, frames: Sequence[bytes]) -> None:
        await self._send(framing.IOPUB, frames)

    async def _send(self, channel: int, frames: Sequence[bytes]) -> None:
        self._writer.writelines(framing.packed(channel, frames))
        await self._writer.drain()

    def close(self) -> None:
        self._writer.close()


class KernelFront:
    """The sockets of a kernel, as its connection file asks for them. Interrupts come as messages on control.

    Each message has, before its identities, the name of the channel it came by; replies carry it back. The
    identities do not tell: a Jupyter server has the same one on all channels.
    """

    def __init__(self, connection_file: Path, *, silence_s: float = SILENCE_S) -> None:
        wanted: dict[str, Any] = json.loads(connection_file.read_text(encoding="utf-8"))
        self.key = str(wanted["key"]).encode()
        self._silence_s = silence_s
        self._was_spoken_to = False
        self._context = zmq.asyncio.Context()
        self._context.linger = 500
        self._sockets = {channel: self._bound(wanted, channel, kind) for channel, kind in SOCKETS.items()}
        self._received: asyncio.Queue[list[bytes] | None] = asyncio.Queue(maxsize=64)
        self._tasks = [asyncio.create_task(self._pump(channel)) for channel in ANSWERING]
        self._tasks += [asyncio.create_task(self._echo()), asyncio.create_task(self._watch_parent())]

    def _bound(self, wanted: dict[str, Any], channel: bytes, kind: int) -> zmq.asyncio.Socket:
        found = self._context.socket(kind)
        between = "-" if wanted["transport"] == "ipc" else ":"
        found.bind(f"{wanted['transport']}://{wanted['ip']}{between}{wanted[f'{channel.decode()}_port']}")
        return found

    async def receive(self) -> list[bytes] | None:
        """None also after a long silence: a gateway keeps a kernel whose client has vanished.

        Not before the first message: it starts another relay for each one that ends, and that one is to idle until
        it is culled.
        """
        try:
            async with asyncio.timeout(self._silence_s if self._was_spoken_to else None):
                message = await self._received.get()
        except TimeoutError:
            return None
        self._was_spoken_to = True
        return message

    async def send_shell(self, frames: Sequence[bytes]) -> None:
        """Back by the channel, and to the peer, that the request came from."""
        channel, *rest = frames
        if channel in ANSWERING:  # else it was forged in the sandbox
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
        """A gateway that was killed cannot end its kernels; `jupyter_client` tells them who has started them."""
        parent = os.environ.get("JPY_PARENT_PID")
        if parent != str(os.getppid()):
            return  # started by way of something that does not stay
        while parent == str(os.getppid()):  # noqa: ASYNC110  (nobody tells of the end of a parent)
            await asyncio.sleep(PARENT_INTERVAL_S)
        await self._received.put(None)

    async def _echo(self) -> None:
        while True:
            await self._sockets[b"hb"].send_multipart(await self._sockets[b"hb"].recv_multipart())
