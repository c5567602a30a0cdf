"""Calls of one execution: whatever comes of answering one, the execution does not wait for it without end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import polars as pl
import pytest

from jupyter_codeagent.sandbox.local.channels.wire import Received
from jupyter_codeagent.sandbox.tool_call_handler import ToolCallHandler
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest


class Requests:
    """Notes what ends the request."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []

    def hold_clock(self) -> Callable[[], None]:
        return lambda: None

    def fail(self, problem: BaseException) -> None:
        self.failures.append(problem)


class Backend:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    async def answer(self, _type: str, content: dict[str, Any]) -> None:
        self.sent.append(content)


def call() -> Received:
    content = {"number": 1, "name": "f", "line": 1, "kind": "json", "meta": '{"dict": []}'}
    return Received(msg_type="codeagent_call", parent_id="1", content=json.dumps(content).encode())


def answered(on_call: Callable[[CallRequest], Any]) -> tuple[list[BaseException], list[dict[str, Any]]]:
    requests, backend = Requests(), Backend()

    async def take() -> None:
        answering = ToolCallHandler(cast("Any", requests), cast("Any", backend), on_call)
        answering.take(call())
        [task] = answering._tasks
        await asyncio.wait([task])
        await answering.end()

    asyncio.run(take())
    return requests.failures, backend.sent


def test_a_call_is_answered() -> None:
    async def answer(_: CallRequest) -> CallAnswer:
        return CallAnswer(value=3)

    assert answered(answer) == ([], [{"number": 1, "status": "ok", "value": 3}])


@pytest.mark.parametrize("problem", [ValueError("ours"), pl.exceptions.PanicException("of Rust"), GeneratorExit()])
def test_a_fault_while_answering_ends_the_execution_whatever_its_class(problem: BaseException) -> None:
    async def fail(_: CallRequest) -> CallAnswer:
        raise problem

    assert answered(fail) == ([problem], [])
