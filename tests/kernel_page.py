"""A page of the side panel without a browser: a comm of its own, on the main shell of a real kernel."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernel_client import Kernel

from jupyter_codeagent.frontend.messages import PROTOCOL, TARGET

Message = dict[str, Any]
Answer = Callable[[Message], Mapping[str, Any] | None]
"""A proposal -> what to say of it beside its id; None for nothing."""


def approve(proposal: Message) -> Mapping[str, Any]:
    return {"action": "approve"}


def approve_for_the_notebook(proposal: Message) -> Mapping[str, Any]:
    return {"action": "approve", "scope": "notebook"}


def reject(proposal: Message) -> Mapping[str, Any]:
    return {"action": "reject"}


@dataclass
class KernelPage:
    kernel: Kernel
    answer: Answer = reject
    heard: list[Message] = field(default_factory=list)
    """What the kernel said to this page."""
    comm_id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def open(self, **hello: Any) -> KernelPage:
        """Say hello, and wait for the state."""
        data = {"type": "hello", "protocol": PROTOCOL, "session": self.comm_id, "notebook": None, **hello}
        self.post("comm_open", target_name=TARGET, data=data)
        self.wait_for("state")
        return self

    def post(self, kind: str, **content: Any) -> None:
        session = self.kernel.client.session
        self.kernel.client.shell_channel.send(session.msg(kind, {"comm_id": self.comm_id, **content}))

    def say(self, **data: Any) -> None:
        self.post("comm_msg", data=data)

    def wait_for(self, kind: str) -> Message:
        """The next message of this kind that the kernel sends."""
        while True:
            data = self._next()
            if data.get("type") == kind:
                return data

    def run(self, source: str, cell_id: str = "") -> str:
        """Execute a cell, as one who can be asked; what it showed, and its error."""
        client = self.kernel.client
        client.session.metadata = {"cellId": cell_id} if cell_id else {}
        asked = client.execute(source, allow_stdin=True)
        shown: list[str] = []
        while not self._is_over(asked, shown):
            pass
        return "".join(shown)

    def asked(self) -> list[Message]:
        """Proposals so far, each once."""
        return [message["proposal"] for message in self.heard if message.get("type") == "proposal"]

    def last(self, kind: str) -> Message:
        """The newest message of this kind so far."""
        return next(message for message in reversed(self.heard) if message.get("type") == kind)

    @property
    def grants(self) -> list[tuple[str, str]]:
        """As the kernel told them last."""
        told = [message["grants"] for message in self.heard if "grants" in message]
        return [(grant["kind"], grant["subject"]) for grant in told[-1]]

    def _is_over(self, asked: str, shown: list[str]) -> bool:
        message = self.kernel.client.get_iopub_msg(timeout=60)
        self._hear(message)
        content = message["content"]
        if message["parent_header"].get("msg_id") != asked:
            return False
        if message["msg_type"] in ("display_data", "execute_result", "update_display_data"):
            shown.append(content["data"].get("text/plain", "") + "\n")
        shown.append(content.get("text", "") + content.get("evalue", ""))
        return bool(content.get("execution_state") == "idle")

    def _next(self) -> Message:
        return self._hear(self.kernel.client.get_iopub_msg(timeout=60))

    def _hear(self, message: Message) -> Message:
        content = message["content"]
        if message["msg_type"] != "comm_msg" or content.get("comm_id") != self.comm_id:
            return {}
        data: Message = content["data"]
        self.heard.append(data)
        match data:
            case {"type": "ping"}:
                self.say(type="pong")
            case {"type": "proposal", "proposal": proposal}:
                answer = self.answer(proposal)
                if answer is not None:
                    self.say(type="decision", proposal_id=proposal["id"], **answer)
            case {"type": "insert" | "mark" as kind, "id": order}:
                said = "inserted" if kind == "insert" else "marked"
                self.say(type=said, id=order, ok=True, cell_ids=[], problem="")
        return data
