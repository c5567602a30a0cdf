"""The filter for the sandbox's messages. Pure: messages in, cleaned outputs and a conclusion out.

Everything from the sandbox is hostile. Only messages of the current request are taken, and of these only outputs,
which pass `outputs.clean_output`. Comms, widgets, input requests, display updates and reply payloads (which would
write into the user's notebook) are dropped and noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, cast

from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received
from jupyter_codeagent.sandbox.tool_calls import CALL_TYPE
from jupyter_codeagent.types.sandbox import Output, PackedValue, SandboxPolicy
from jupyter_codeagent.types.sizes import format_bytes

Clean = Callable[[str, dict[str, Any]], tuple[Output | None, tuple[str, ...]]]
OUTPUT_TYPES = frozenset({"stream", "display_data", "execute_result", "error"})
QUIET_TYPES = frozenset({"execute_input", "iopub_welcome"})
VALUE_TYPE = "codeagent_value"
VALUE_KINDS = frozenset({"arrow", "npy", "json", "png", "parts", "error"})
MAX_REPLY_TEXT = 2000
MAX_NAME_CHARS = 100
MAX_OTHERS = 5000
"""Limit for messages of one request that are not outputs: status messages, and those that are dropped."""
MAX_OTHER_BYTES = 256 << 20
MAX_STATE_BYTES, MAX_REPLY_BYTES, MAX_META_BYTES = 64 << 10, 1 << 20, 8 << 20
"""Limits for the content of a status, of a reply, and of a value's description: parsed before any decision."""
StreamName = Literal["stdout", "stderr"]


class RequestGuard:
    """Status and reply of one request; all outputs are dropped."""

    def __init__(self) -> None:
        self.begun = False
        """Whether the kernel has said that it takes up the request: it heeds interrupts from then on."""
        self.idle = False
        self.reply: str | None = None
        """``ok``, ``error`` or ``aborted`` once the reply came."""
        self.error_name = ""
        self.error_value = ""
        self.overflow = ""
        """Set when a budget is used up: the message for the user."""
        self._dropped: Counter[str] = Counter()
        self._notes: list[str] = []
        self._others = 0
        self._other_bytes = 0

    def handle_iopub(self, received: Received) -> None:
        """Take a message of this request from the iopub channel."""
        try:
            if received.msg_type == "status":
                self.count(received.size_bytes)
                self.begun = True
                self.idle = self.idle or received.parsed(MAX_STATE_BYTES).get("execution_state") == "idle"
            elif received.msg_type not in QUIET_TYPES:
                self.handle_output(received)
            else:
                self.count(received.size_bytes)
        except MalformedMessageError:
            self.drop("malformed")

    def handle_output(self, received: Received) -> None:
        """Drop an output message."""
        self.count(received.size_bytes)
        self.drop(f"of type {received.msg_type}")

    def count(self, size_bytes: int) -> None:
        """Count a message that is not an output: it costs time as well."""
        self._others += 1
        self._other_bytes += size_bytes
        if self._others > MAX_OTHERS or self._other_bytes > MAX_OTHER_BYTES:
            self.overflow = self.overflow or "stopped: it flooded its channels with messages that are not outputs"

    def handle_shell(self, received: Received) -> None:
        """Take a message of this request from the shell channel."""
        self.count(received.size_bytes)
        if received.msg_type != "execute_reply":
            self.drop(f"of type {received.msg_type}")
            return
        try:
            content = received.parsed(MAX_REPLY_BYTES)
        except MalformedMessageError:
            self.drop("malformed")
            content = {"status": "error", "ename": "BadReply", "evalue": "the kernel's reply could not be read"}
        status = content.get("status")
        self.reply = status if status in ("ok", "error", "aborted") else "error"
        self.error_name = one_line(content.get("ename"), MAX_NAME_CHARS)
        self.error_value = printable(content.get("evalue"), MAX_REPLY_TEXT)
        if content.get("payload"):
            self.drop("of type payload")

    def mute(self) -> None:
        """Stop calling callbacks: the request was abandoned."""

    def drop(self, what: str) -> None:
        """Note a dropped message; only so many kinds are counted."""
        if len(self._dropped) < 20 or what in self._dropped:
            self._dropped[what] += 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines for the user: which messages were dropped, and what was changed in outputs."""
        dropped = [f"{count} message{'s' * (count > 1)} {what} dropped" for what, count in self._dropped.items()]
        return (*dict.fromkeys(self._notes), *dropped)


class OutputGuard(RequestGuard):
    """Collector of the outputs of one execution, within the policy's budget."""

    def __init__(
        self,
        policy: SandboxPolicy,
        clean: Clean,
        on_call: Callable[[Received], None] | None = None,
    ) -> None:
        """Without `on_call`, which takes calls of the user's functions, such calls are dropped."""
        super().__init__()
        self._on_call = on_call
        self._policy = policy
        self._clean = clean
        self._outputs: list[Output] = []
        self._stream: tuple[StreamName, list[str]] | None = None
        self._clear_pending = False
        self._bytes = 0
        self._messages = 0

    def handle_output(self, received: Received) -> None:
        """Take an output within the budget, a call of a function, or a request to clear the output."""
        if received.msg_type == "clear_output":
            self.count(received.size_bytes)
            self._clear(wait=bool(received.parsed(MAX_STATE_BYTES).get("wait")))
        elif received.msg_type == CALL_TYPE and self._on_call is not None:
            self.count(received.size_bytes)
            self._on_call(received)
        elif received.msg_type not in OUTPUT_TYPES:
            super().handle_output(received)
        elif self._within_budget(received):
            self._take(received.msg_type, received.parsed())

    def _within_budget(self, received: Received) -> bool:
        self._messages += 1
        self._bytes += received.size_bytes
        if self._bytes > self._policy.output_bytes:
            limit = format_bytes(self._policy.output_bytes)
            self.overflow = self.overflow or f"stopped: its output exceeded the limit of {limit}"
        elif self._messages > self._policy.output_messages:
            limit = str(self._policy.output_messages)
            self.overflow = self.overflow or f"stopped: it sent more than {limit} outputs"
        # The error that an interrupt causes comes last and is worth its few bytes.
        return not self.overflow or (received.msg_type == "error" and received.size_bytes < 1 << 16)

    def _take(self, msg_type: str, content: dict[str, Any]) -> None:
        if self._clear_pending:
            self._clear(wait=False)
        if msg_type == "stream":
            self._take_stream(content)
            return
        self._close_stream()
        if (cleaned := self._cleaned(msg_type, content)) is not None:
            self._outputs.append(cleaned)

    def _take_stream(self, content: dict[str, Any]) -> None:
        """Keep raw chunks, to clean them as one text at the end: two of them may share an escape sequence."""
        name, text = content.get("name"), content.get("text")
        if name not in ("stdout", "stderr") or not isinstance(text, str):
            raise MalformedMessageError("stream without name or text")
        if self._stream is None or self._stream[0] != name:
            self._close_stream()
            self._stream = (cast("StreamName", name), [])
        self._stream[1].append(text)

    def _close_stream(self) -> None:
        if self._stream is not None:
            name, chunks = self._stream
            self._stream = None
            if (cleaned := self._cleaned("stream", {"name": name, "text": "".join(chunks)})) is not None:
                self._outputs.append(cleaned)

    def _clear(self, *, wait: bool) -> None:
        self._clear_pending = wait
        if not wait:
            self._stream = None
            self._outputs.clear()

    def _cleaned(self, msg_type: str, content: dict[str, Any]) -> Output | None:
        cleaned, notes = self._clean(msg_type, content)
        if len(self._notes) < 50:
            self._notes.extend(notes)
        return cleaned

    def mute(self) -> None:
        self._on_call = None

    def finish(self) -> tuple[Output, ...]:
        """Return all outputs, streams merged. Called once, at the end."""
        self._close_stream()
        return tuple(self._outputs)


class ValueGuard(RequestGuard):
    """Collector of the chunks of one `guest.calls.answer`: in order, of the announced count, within the limit."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes
        self._data = bytearray()
        self._kind = self._meta = ""
        self._next = 0
        self._count = 0

    def handle_output(self, received: Received) -> None:
        """Take a chunk of the value."""
        if received.msg_type != VALUE_TYPE:
            super().handle_output(received)
        elif not self.overflow:
            self._take(received.parsed(MAX_META_BYTES), received)

    def _take(self, content: dict[str, Any], received: Received) -> None:
        index, count, kind, meta = (content.get(name) for name in ("index", "count", "kind", "meta"))
        if type(index) is not int or type(count) is not int or kind not in VALUE_KINDS or not isinstance(meta, str):
            raise MalformedMessageError("chunk without index, count, kind or meta")
        if index != self._next or (index and (count, kind) != (self._count, self._kind)):
            self.overflow = f"chunk {index} came instead of chunk {self._next}"
            return
        if len(self._data) + received.size_bytes > self._max_bytes + (64 << 10):
            self.overflow = f"it is larger than the limit of {format_bytes(self._max_bytes)}"
            return
        if index == 0:
            self._kind, self._meta, self._count = kind, meta, count
        self._next += 1
        for buffer in received.buffers:
            self._data += buffer

    @property
    def complete(self) -> bool:
        """Whether all chunks came."""
        return self._count > 0 and self._next == self._count

    @property
    def problem(self) -> str:
        """One line if there is no usable value."""
        if self.overflow:
            return self.overflow
        if not self.complete:
            return "the sandbox sent an incomplete answer"
        return one_line(self._meta, 500) if self._kind == "error" else ""

    def value(self) -> PackedValue:
        """Return the value as it came; only valid if there is no `problem`."""
        kind = cast("Literal['arrow', 'npy', 'json', 'png', 'parts']", self._kind)
        return PackedValue(kind=kind, meta_json=self._meta, data=bytes(self._data))


def printable(text: object, limit: int) -> str:
    """Return text from the sandbox without control characters, capped."""
    if not isinstance(text, str):
        return ""
    kept = "".join(
        char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text[:limit]
    )
    return kept + "…" if len(text) > limit else kept


def one_line(text: object, limit: int) -> str:
    """Return text from the sandbox as one line without control characters, capped."""
    return " ".join(printable(text, limit).split())
