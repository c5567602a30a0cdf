"""`jupyter_codeagent.models.scripted`: says what it was told to, the same each time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from scripted_model import ScriptedModel

from jupyter_codeagent.types.errors import BadReplyError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message

REQUEST = CompletionRequest(messages=(Message(role="user", content="how many rows"),))


def ask(
    model: ScriptedModel,
    request: CompletionRequest = REQUEST,
    on_text: Callable[[str], None] = lambda _: None,
    is_complete: Callable[[str], bool] = lambda _: False,
) -> Completion:
    return asyncio.run(model.complete(request, on_text=on_text, is_complete=is_complete))


def test_the_replies_come_in_order_and_the_requests_are_kept() -> None:
    model = ScriptedModel(["first", "second"])

    assert [ask(model).text, ask(model).text] == ["first", "second"]
    assert model.requests == [REQUEST, REQUEST]


def test_a_script_that_is_at_its_end_says_so() -> None:
    model = ScriptedModel(["only"])
    ask(model)

    with pytest.raises(BadReplyError, match="1 replies and was asked for one more"):
        ask(model)


def test_a_reply_comes_in_the_same_pieces_each_time() -> None:
    pieces: list[list[str]] = [[], []]
    for seen in pieces:
        ask(ScriptedModel(["a reply of more than one piece"]), on_text=seen.append)

    assert pieces[0] == pieces[1]
    assert len(pieces[0]) == 3
    assert pieces[0][-1] == "a reply of more than one piece"


def test_a_complete_reply_is_closed_as_that_of_a_server() -> None:
    completion = ask(ScriptedModel(["a reply of more than one piece"]), is_complete=lambda text: "reply" in text)

    assert completion.finish_reason == "closed"
    assert "piece" not in completion.text


def test_a_beginning_stands_in_front_once() -> None:
    request = CompletionRequest(messages=REQUEST.messages, prefill="```python\n")

    assert ask(ScriptedModel(["1 + 1"], supports_prefill=True), request).text == "```python\n1 + 1"


def test_it_can_be_stopped_between_two_pieces() -> None:
    async def stop() -> list[str]:
        seen: list[str] = []
        model = ScriptedModel(["word " * 1000])
        task = asyncio.ensure_future(model.complete(REQUEST, on_text=seen.append, is_complete=lambda _: False))
        while not seen:  # noqa: ASYNC110 - the model is what is to be let run
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert len(asyncio.run(stop())) < 10
