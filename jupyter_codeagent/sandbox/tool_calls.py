"""Calls of the user's functions as they come out of the sandbox, and answers as they go in. Pure."""

from __future__ import annotations

import hashlib
import json
import keyword
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received
from jupyter_codeagent.types.sandbox import PackedValue
from jupyter_codeagent.types.variables import CopiedVariable

CALL_TYPE = "codeagent_call"
ANSWER_TYPE = "codeagent_answer"
MAX_META_BYTES = 8 << 20
MAX_NAME_CHARS = 100
MAX_LINE = 1_000_000
MAX_TOGETHER = 10_000
"""Larger counts are taken for forged."""
ARGUMENT_KINDS = frozenset({"json", "parts"})


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """A call that code in the sandbox makes; all of it may be forged."""

    number: int
    """Number of the call, counted by the sandbox; sent back with the answer."""
    name: str
    line: int | None
    arguments: PackedValue
    """A dict by the names of the parameters."""
    together: int = 1
    """How many calls of this function `tools.map` still makes in one go, this one included."""

    @cached_property
    def key(self) -> str:
        """Hash that is equal for equal calls, as the sandbox wrote them."""
        head = json.dumps([self.name, self.arguments.kind, self.arguments.meta_json])
        return hashlib.sha256(head.encode() + b"\0" + self.arguments.data).hexdigest()


@dataclass(frozen=True, kw_only=True)
class CallAnswer:
    """A plain value, a copy of one, or an error."""

    value: Any = None
    """None, bool, int, float, str, and lists and dicts (by text) of these."""
    copy: CopiedVariable | None = None
    ename: str = ""
    """Name of a built-in exception; empty if the answer is not an error."""
    evalue: str = ""


OnCall = Callable[[CallRequest], Awaitable[CallAnswer]]
"""Answers calls. What it raises is a bug of the package and ends the execution."""


def read_call(received: Received) -> CallRequest:
    """Read and check a call message.

    Raises
    ------
    MalformedMessageError
    """
    content = received.parsed(MAX_META_BYTES)
    number, name, line, kind, meta = (content.get(key) for key in ("number", "name", "line", "kind", "meta"))
    if type(number) is not int or number < 1 or kind not in ARGUMENT_KINDS or not isinstance(meta, str):
        raise MalformedMessageError("a call without number or arguments")
    if (
        not isinstance(name, str)
        or len(name) > MAX_NAME_CHARS
        or not name.isidentifier()
        or keyword.iskeyword(name)
    ):
        raise MalformedMessageError("a call without a name")
    data = b"".join(bytes(buffer) for buffer in received.buffers)
    together = content.get("together")
    return CallRequest(
        number=number,
        name=name,
        line=line if type(line) is int and 0 < line < MAX_LINE else None,
        arguments=PackedValue(kind=cast("Literal['json', 'parts']", kind), meta_json=meta, data=data),
        together=together if type(together) is int and 0 < together <= MAX_TOGETHER else 1,
    )


def answer_content(number: int, answer: CallAnswer, directory: str) -> dict[str, Any]:
    """Return the content of the message for the sandbox, which sees the files of the copy in `directory`."""
    if answer.ename:
        return {"number": number, "status": "error", "ename": answer.ename, "evalue": answer.evalue}
    if answer.copy is None:
        return {"number": number, "status": "ok", "value": answer.value}
    copy = {"files": answer.copy.files, "buffers": answer.copy.buffers, "head": answer.copy.head}
    return {"number": number, "status": "ok", "copy": copy, "directory": directory}
