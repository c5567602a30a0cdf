"""The link of one client to the session in a kernel: a comm, its calls, and no waiting without end."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from jupyter_codeagent.entrypoints.kernel_clients.channels import Channels, Heard
from jupyter_codeagent.frontend.client_messages import CLIENT_PROTOCOL, CLIENT_TARGET, SEND_AGAIN_S, ClientKind
from jupyter_codeagent.types.errors import CodeAgentError

GREET_S = 10.0
"""How long the kernel may take to answer a hello."""
SILENCE_S = 20.0
"""A kernel that has said nothing for this time while a call is under way is gone."""
LEAVE_S = 2.0
MAX_TEXT_CHARS = 200_000
GONE = "The kernel does not answer: it is gone, or busy with a cell. Have the user look at it, then call again."
RESTARTED = (
    "The kernel was restarted or ended. Have the user run `%load_ext jupyter_codeagent` in it, then call again."
)
NOT_LOADED = (
    "jupyter-codeagent is not loaded in the kernel. Have the user run `%load_ext jupyter_codeagent` in a cell."
)


class KernelLink:
    """Calls the kernel for one client. Belongs to one event loop."""

    def __init__(self, channels: Channels, told: Callable[[str], None] = lambda _: None) -> None:
        """`told` gets what is going on in a call, in words for a person."""
        self._channels = channels
        self._told = told
        self._comm_id = uuid.uuid4().hex
        self._subshell: str | None = None
        self._replies: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._calls: dict[str, asyncio.Future[tuple[bool, str]]] = {}
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._heard_at = time.monotonic()
        self._iopub_is_heard = asyncio.Event()
        self._goodbye = ""
        """Id of the last message."""
        self._goodbye_is_heard = asyncio.Event()
        self._ended = ""
        self._cancelling: asyncio.Task[str] | None = None
        self._reader = asyncio.create_task(self._read())

    @property
    def is_open(self) -> bool:
        return not self._ended

    @property
    def is_calling(self) -> bool:
        return bool(self._calls)

    async def open(self, client: str, kind: ClientKind = "mcp") -> None:
        """Say hello for this client.

        Raises
        ------
        CodeAgentError
            The kernel does not answer, or the extension is not loaded.
        """
        try:
            async with asyncio.timeout(GREET_S):
                info = await self._ask("kernel_info_request")
                if "kernel subshells" in info.get("supported_features", ()):
                    self._subshell = (await self._ask("create_subshell_request")).get("subshell_id")
                while not self._iopub_is_heard.is_set():  # what is said before the subscription holds is lost
                    await self._ask("kernel_info_request")
                    await asyncio.sleep(0.01)
                hello = {"type": "hello", "protocol": CLIENT_PROTOCOL, "kind": kind, "client": client}
                await self._post("comm_open", target_name=CLIENT_TARGET, data=hello)
                await asyncio.shield(self._greeted)
        except TimeoutError:
            self._end(GONE)
            raise CodeAgentError(GONE) from None

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> tuple[bool, str]:
        """Have the kernel answer a call; return whether it went well, and the text. Cancelled, it is stopped there.

        Raises
        ------
        CodeAgentError
            The kernel is gone.
        """
        call_id = uuid.uuid4().hex
        message = {"type": "call", "id": call_id, "tool": tool, "arguments": dict(arguments)}
        answer: asyncio.Future[tuple[bool, str]] = asyncio.get_running_loop().create_future()
        self._calls[call_id] = answer
        self._heard_at = time.monotonic()
        try:
            while not answer.done():
                if self._ended or time.monotonic() - self._heard_at > SILENCE_S:
                    self._end(self._ended or GONE)
                    raise CodeAgentError(self._ended)
                await self._post("comm_msg", data=message)
                await asyncio.wait([answer], timeout=SEND_AGAIN_S)
            return answer.result()
        finally:
            del self._calls[call_id]
            if not answer.done() and self.is_open:  # not awaited: the task that calls is being cancelled
                self._cancelling = asyncio.create_task(
                    self._post("comm_msg", data={"type": "cancel", "id": call_id})
                )

    async def close(self) -> None:
        """Leave: what runs for the client is stopped."""
        if self.is_open:
            with suppress(TimeoutError):  # a closed socket drops what it has not sent
                async with asyncio.timeout(LEAVE_S):
                    self._goodbye = await self._post("comm_close", data={})
                    await self._goodbye_is_heard.wait()
                    if self._subshell is not None:
                        await self._ask("delete_subshell_request", subshell_id=self._subshell)
        self._end(RESTARTED)
        self._reader.cancel()
        await asyncio.wait([self._reader])
        await self._channels.close()

    async def _ask(self, msg_type: str, **content: Any) -> Mapping[str, Any]:
        """Ask on the control channel, which answers also while a cell runs."""
        reply: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._replies[await self._channels.send("control", msg_type, content)] = reply
        return await reply

    async def _post(self, msg_type: str, **content: Any) -> str:
        return await self._channels.send("shell", msg_type, {"comm_id": self._comm_id, **content}, self._subshell)

    async def _read(self) -> None:
        try:
            async with aclosing(self._channels.heard()) as messages:
                async for heard in messages:
                    self._hear(heard)
        finally:
            self._end(GONE)

    def _hear(self, heard: Heard) -> None:
        if heard.channel == "control":
            reply = self._replies.pop(heard.parent_id, None)
            if reply is not None and not reply.done():
                reply.set_result(heard.content)
            return
        self._iopub_is_heard.set()
        if heard.parent_id and heard.parent_id == self._goodbye:
            self._goodbye_is_heard.set()
        match heard.msg_type, heard.content:
            case "comm_msg", {"comm_id": self._comm_id, "data": dict(data)}:
                self._heard_at = time.monotonic()
                self._handle(data)
            case "comm_close", {"comm_id": self._comm_id}:
                self._end(NOT_LOADED)
            case ("shutdown_reply", _) | ("status", {"execution_state": "starting" | "restarting" | "dead"}):
                self._end(RESTARTED)

    def _handle(self, data: Mapping[str, Any]) -> None:
        match data:
            case {"type": "welcome"} if not self._greeted.done():
                self._greeted.set_result(None)
            case {"type": "refused", "text": str(text)}:
                self._end(text)
            case {"type": "told", "id": str(call_id), "text": str(text)} if call_id in self._calls:
                self._told(text)
            case {"type": "answer", "id": str(call_id), "ok": bool(ok), "text": str(text)} if (
                call_id in self._calls
            ):
                if not self._calls[call_id].done():
                    self._calls[call_id].set_result((ok, text[:MAX_TEXT_CHARS]))

    def _end(self, why: str) -> None:
        """End the link; whoever waits learns why."""
        if self._ended:
            return
        self._ended = why
        if not self._greeted.done():
            self._greeted.set_exception(CodeAgentError(why))
            self._greeted.exception()  # perhaps nobody waits for it any more
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(CodeAgentError(why))
