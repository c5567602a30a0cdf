"""The kernel's side of the link to MCP clients and chats: each has a comm, its calls run on the background loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from jupyter_codeagent.agent.output_text import harmless
from jupyter_codeagent.frontend import comm
from jupyter_codeagent.frontend.client_messages import (
    CLIENT_PROTOCOL,
    CLIENT_TARGET,
    SILENCE_S,
    AnswerMessage,
    ClientKind,
    FromKernel,
    RefusedMessage,
    ToldMessage,
)
from jupyter_codeagent.frontend.comm import AgentComm, KernelMessage, data_of
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.variables.text import safe

MAX_GIVEN_CHARS = 400
MAX_CLIENT_NAME_CHARS = 40
UNNAMED = "MCP client"
KEPT_ANSWERS = 20

Tell = Callable[[str], None]
"""Tells the client what is going on, in words for a person."""
Answer = Callable[[str, str, Mapping[str, Any], Tell], Awaitable[str]]
"""Client, tool, arguments -> text; raises CodeAgentError."""


def client_name(given: object) -> str:
    """Return the name of a client as people see it: short, one line, without marks that could deceive them."""
    named = harmless(given[:MAX_GIVEN_CHARS]) if isinstance(given, str) else ""
    return " ".join(safe(named, MAX_CLIENT_NAME_CHARS).split()) or UNNAMED


class ClientLink:
    """All clients of one kernel. Messages arrive on subshell threads, and are handled on the background loop."""

    def __init__(
        self,
        kernel: Any,
        loop: asyncio.AbstractEventLoop,
        *,
        answers: Mapping[ClientKind, Answer],
        left: Callable[[str], None],
    ) -> None:
        """Accept clients of these kinds from now on; `left` is called with the name of a client that has gone."""
        self._kernel = kernel
        self._loop = loop
        self._answers = answers
        self._left = left
        self._clients: dict[str, Client] = {}
        """By the id of the comm."""
        comm.register(self._opened, CLIENT_TARGET)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clients that are there."""
        return tuple(dict.fromkeys(client.name for client in list(self._clients.values())))

    def close(self, *, tell_clients: bool) -> None:
        """Stop what runs for clients. Any thread; a kernel that ends need not tell them."""
        comm.unregister(self._opened, CLIENT_TARGET)
        for client in list(self._clients.values()):
            self._loop.call_soon_threadsafe(client.stop)
            if tell_clients:
                client.comm.close()
            else:
                comm.forget(client.comm)
        self._clients.clear()

    def _opened(self, opened: Any, message: KernelMessage) -> None:
        """Take the comm over at once, on a subshell's thread; do the rest on the loop."""
        hello = data_of(message)
        client = Client(
            comm.take_over(self._kernel, opened, message, CLIENT_TARGET),
            client_name(hello.get("client")),
            next((answer for kind, answer in self._answers.items() if kind == hello.get("kind")), _refuse),
        )

        def got(message: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(client.handle, data_of(message))

        def gone(_: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(self._gone, client)

        client.comm.on_msg(got)
        client.comm.on_close(gone)
        self._loop.call_soon_threadsafe(self._welcome, client, hello.get("protocol"))

    def _welcome(self, client: Client, protocol: object) -> None:
        self._clients[client.comm.comm_id] = client
        if protocol == CLIENT_PROTOCOL:
            client.send({"type": "welcome"})
        else:
            told = f"The MCP server speaks protocol {protocol!r:.20}, the kernel {CLIENT_PROTOCOL}"
            text = f"{told}: install the same version of jupyter-codeagent for both."
            client.send(RefusedMessage(type="refused", text=text))

    def _gone(self, client: Client) -> None:
        self._clients.pop(client.comm.comm_id, None)
        client.stop()
        if all(other.name != client.name for other in self._clients.values()):
            self._left(client.name)


class Client:
    """The calls of one client."""

    def __init__(self, client_comm: AgentComm, name: str, answer: Answer) -> None:
        self.comm = client_comm
        self.name = name
        self._answer = answer
        self._calls: dict[str, asyncio.Task[None]] = {}
        self._limits: dict[str, asyncio.Timeout] = {}
        self._answers: dict[str, AnswerMessage] = {}

    def handle(self, data: Mapping[str, Any]) -> None:
        """Handle one message of the client's MCP server."""
        match data:
            case {"type": "call", "id": str(call_id), "tool": str(tool), "arguments": dict(arguments)}:
                if call_id in self._answers:
                    self.send(self._answers[call_id])
                elif call_id in self._calls:
                    if call_id in self._limits and not self._limits[call_id].expired():
                        self._limits[call_id].reschedule(asyncio.get_running_loop().time() + SILENCE_S)
                    self.send({"type": "under_way", "id": call_id})
                else:
                    call = self._call(call_id, tool, arguments)
                    self._calls[call_id] = asyncio.get_running_loop().create_task(call)
            case {"type": "cancel", "id": str(call_id)} if call_id in self._calls:
                self._calls[call_id].cancel()

    def stop(self) -> None:
        """Stop all calls."""
        for call in self._calls.values():
            call.cancel()

    def send(self, message: FromKernel) -> None:
        self.comm.send(dict(message))

    async def _call(self, call_id: str, tool: str, arguments: Mapping[str, Any]) -> None:
        def tell(text: str) -> None:
            self.send(ToldMessage(type="told", id=call_id, text=text))

        try:
            async with asyncio.timeout(SILENCE_S) as self._limits[call_id]:
                ok, text = True, await self._answer(self.name, tool, arguments, tell)
        except CodeAgentError as problem:
            ok, text = False, str(problem)
        except Exception as fault:  # noqa: BLE001 - the client waits for an answer, whatever happened
            ok, text = (
                False,
                f"Internal error in jupyter-codeagent ({type(fault).__name__}): the user's kernel is unchanged.",
            )
        finally:
            del self._calls[call_id]
            self._limits.pop(call_id, None)
        self._answers[call_id] = AnswerMessage(type="answer", id=call_id, ok=ok, text=text)
        for old in list(self._answers)[:-KEPT_ANSWERS]:
            del self._answers[old]
        self.send(self._answers[call_id])


async def _refuse(client: str, tool: str, arguments: Mapping[str, Any], tell: Tell) -> str:
    raise UsageError("This kernel's version of jupyter-codeagent does not know such clients: update it.")
