"""Every message between a kernel and an MCP server of this package (`jupyter codeagent mcp`), protocol 1.

They go over a comm of their own (target `CLIENT_TARGET`), which the server opens for one client, on a subshell
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


class ClientHelloMessage(TypedDict):
    """Data of `comm_open`."""

    type: Literal["hello"]
    protocol: int
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


class AnswerMessage(TypedDict):
    type: Literal["answer"]
    id: str
    ok: bool
    text: str
    """For the client: the result, or in one line what happened and what to do next."""


FromKernel = WelcomeMessage | RefusedMessage | UnderWayMessage | AnswerMessage
FromServer = ClientHelloMessage | CallMessage | CancelMessage
