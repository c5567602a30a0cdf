"""Every message between a kernel and another program that uses its agent, protocol 1.

That is an MCP server of this package (`jupyter codeagent mcp`), or a Jupyter server with Jupyter AI. They go over a
comm of their own (target `CLIENT_TARGET`), which the other side opens for one client, on a subshell
where the kernel has them. A `call` is sent again until its answer comes: the Jupyter server drops messages while a
flood of output exceeds its rate limit, and a kernel that says nothing at all is gone.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

CLIENT_TARGET = "jupyter-codeagent-client"
CLIENT_PROTOCOL = 1
SEND_AGAIN_S = 5.0
SILENCE_S = 30.0
"""A client whose call is not sent again for this time is gone, and the call is stopped."""


ClientKind = Literal["mcp", "chat"]
"""An MCP client calls tools; a chat asks questions of the user's, with the tool `ask`."""


class ClientHelloMessage(TypedDict):
    """Data of `comm_open`."""

    type: Literal["hello"]
    protocol: int
    kind: ClientKind
    client: str
    """Name that the client gave itself."""


class CallMessage(TypedDict):
    type: Literal["call"]
    id: str
    tool: str
    arguments: dict[str, Any]


class CancelMessage(TypedDict):
    """The client wants no answer any more: what runs for it is stopped."""

    type: Literal["cancel"]
    id: str


class WelcomeMessage(TypedDict):
    """Answer to `hello`."""

    type: Literal["welcome"]


class RefusedMessage(TypedDict):
    """Other answer to `hello`: why nothing can be called."""

    type: Literal["refused"]
    text: str


class UnderWayMessage(TypedDict):
    """Answer to a `call` that was sent again and has no result yet."""

    type: Literal["under_way"]
    id: str


class ToldMessage(TypedDict):
    """What is going on in a call that is under way, in words for a person."""

    type: Literal["told"]
    id: str
    text: str


class AnswerMessage(TypedDict):
    type: Literal["answer"]
    id: str
    ok: bool
    text: str
    """For the client: the result, or in one line what happened and what to do next."""


FromKernel = WelcomeMessage | RefusedMessage | UnderWayMessage | ToldMessage | AnswerMessage
FromServer = ClientHelloMessage | CallMessage | CancelMessage


class ChatQuestion(TypedDict):
    """Arguments of `ask`."""

    prompt: str
    notebook: str
    """Path of the notebook, as the server knows it."""
    private: bool
    """Whether only the person is in the chat who may use the kernel; else the question waits to be run."""
    web_client: str
    """The page in which it was written, as Jupyter AI names it; empty if that is not known."""


class ChatAnswer(TypedDict):
    """Text of the `answer` to `ask`, as JSON. All of it is as a model would be told it; none of it is Markdown."""

    above: list[str]
    """Receipt, verdict, and what became of the question."""
    output: str
    """What the program displayed; empty without any, or where it may not be told."""
    below: list[str]
    """What there is to do next."""
