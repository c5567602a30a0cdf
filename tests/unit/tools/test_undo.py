"""Calls are taken back by the functions that the user gave for it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.tools.undo import DoneCall, undo_calls, undone_text
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.sandbox import ToolCall


def done(name: str, undo: Any, *, policy: Any = "ask", **arguments: Any) -> DoneCall:
    def function(x: int) -> int:
        return x

    call = ToolCall(tool=name, call=f"{name}({arguments['x']})", status="ok", id=f"{name}{arguments['x']}")
    tool = tool_of(function, name=name, undo=undo, policy=policy)
    return DoneCall(call=call, tool=tool, arguments=arguments, result=f"made {arguments['x']}")


def test_the_newest_is_taken_back_first_with_its_result_and_arguments() -> None:
    taken: list[Any] = []
    calls = [done("book", lambda result, x: taken.append((result, x)), x=n) for n in (1, 2)]
    calls += [done("send", None, x=3)]
    found = undo_calls(calls, [])
    assert taken == [("made 2", 2), ("made 1", 1)]
    assert undone_text(found) == "undone: book(2)\nundone: book(1)\nhas no undo: send(3)"
    assert undone_text(undo_calls([], [])) == "There was nothing to undo."


def test_what_cannot_be_taken_back_ends_it_and_is_told() -> None:
    def fail(result: Any, x: int) -> None:
        if x == 2:
            raise ConnectionError("the server is gone")

    found = undo_calls([done("book", fail, x=n) for n in (1, 2, 3)], [])
    assert [call.call for call in found.undone] == ["book(3)"]
    assert found.problem == "book(2) was not undone: ConnectionError: the server is gone"


@pytest.mark.parametrize("undo", [lambda: None, lambda result: None, lambda result, y: None, 3])
def test_an_undo_that_cannot_be_called_so_is_refused_when_it_is_declared(undo: Any) -> None:
    with pytest.raises(UsageError, match=r"undo\(result, x\)"):
        done("book", undo, x=1)


def test_an_undo_that_is_async_is_refused_when_it_is_declared() -> None:
    async def unbook(result: Any, x: int) -> None: ...

    with pytest.raises(UsageError, match="async"):
        done("book", unbook, x=1)


def test_nothing_is_taken_back_twice_where_ctrl_c_ends_it() -> None:
    taken: list[int] = []

    def unbook(result: Any, x: int) -> None:
        if x == 1 and len(taken) == 1:
            raise KeyboardInterrupt
        taken.append(x)

    calls = [done("book", unbook, x=n) for n in (1, 2)]
    undone: list[ToolCall] = []
    with pytest.raises(KeyboardInterrupt):
        undo_calls(calls, undone)
    assert [call.call for call in undone] == ["book(2)"]
    taken.append(0)
    undo_calls(calls, undone)
    assert taken == [2, 0, 1]
