"""Calls of MCP clients in the kernel: answered once, however often they are sent, and stopped when nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import pytest

from jupyter_codeagent.frontend import client_link
from jupyter_codeagent.frontend.client_link import Client, client_name
from jupyter_codeagent.types.errors import UsageError


class Comm:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)


class Answers:
    """The session: `wait` takes long, `refuse` is refused, `fault` is a fault of ours."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.stopped: list[str] = []

    async def __call__(self, client: str, tool: str, arguments: Mapping[str, Any], tell: client_link.Tell) -> str:
        self.made.append(tool)
        match tool:
            case "wait":
                try:
                    await asyncio.sleep(10)
                finally:
                    self.stopped.append(tool)
            case "tell":
                tell("the model is writing")
            case "refuse":
                raise UsageError("Do it otherwise.")
            case "fault":
                raise KeyError("a value of the user's")
        return f"{client}: {tool}"


def call(call_id: str, tool: str) -> dict[str, Any]:
    return {"type": "call", "id": call_id, "tool": tool, "arguments": {}}


def handled(*messages: dict[str, Any], pause_s: float = 0.01) -> tuple[list[dict[str, Any]], Answers]:
    async def run() -> tuple[list[dict[str, Any]], Answers]:
        comm, answers = Comm(), Answers()
        client = Client(cast("Any", comm), "editor", answers)
        for message in messages:
            client.handle(message)
            await asyncio.sleep(pause_s)
        client.stop()
        await asyncio.sleep(0.01)
        return comm.sent, answers

    return asyncio.run(run())


def test_a_call_that_is_sent_again_is_made_once_and_answered_again() -> None:
    sent, answers = handled(call("1", "list"), call("1", "list"), call("2", "wait"), call("2", "wait"))
    told = {"type": "answer", "id": "1", "ok": True, "text": "editor: list"}
    assert sent == [told, told, {"type": "under_way", "id": "2"}]
    assert answers.made == ["list", "wait"]
    assert answers.stopped == ["wait"], "with the client that goes"


def test_an_error_is_one_line_and_a_fault_tells_nothing_of_the_data() -> None:
    sent, _ = handled(call("1", "refuse"), call("2", "fault"))
    assert [(message["ok"], message["text"]) for message in sent] == [
        (False, "Do it otherwise."),
        (False, "Internal error in jupyter-codeagent (KeyError): the user's kernel is unchanged."),
    ]


def test_a_cancelled_call_and_one_whose_client_is_silent_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    _, cancelled = handled(call("1", "wait"), {"type": "cancel", "id": "1"}, {"type": "cancel", "id": "other"})
    assert cancelled.stopped == ["wait"]
    monkeypatch.setattr(client_link, "SILENCE_S", 0.1)
    sent, silent = handled(call("1", "wait"), call("1", "wait"), call("2", "list"), pause_s=0.07)
    assert silent.stopped == ["wait"]
    assert sent[0] == {"type": "under_way", "id": "1"}, "sent again in time, it went on"


def test_what_is_going_on_is_told_before_the_answer() -> None:
    sent, _ = handled(call("1", "tell"))
    assert sent[0] == {"type": "told", "id": "1", "text": "the model is writing"}
    assert [message["type"] for message in sent] == ["told", "answer"]


def test_messages_that_are_none_are_ignored() -> None:
    sent, answers = handled({}, {"type": "call", "id": 1}, call("1", "list") | {"arguments": []})
    assert (sent, answers.made) == ([], [])


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("my editor", "my editor"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\u202eb\n<script>`", "a b script"),
        ("x" * 1000, "x" * 39 + "…"),
        ("", "MCP client"),
        (None, "MCP client"),
    ],
)
def test_the_name_of_a_client_is_short_and_deceives_nobody(given: object, name: str) -> None:
    assert client_name(given) == name
