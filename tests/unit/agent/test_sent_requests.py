"""Every request of a run is noted: what it held, whether it has left, what it cost. Over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from model_server import MODEL, ModelServer, Reply
from scripted_model import ScriptedModel

from jupyter_codeagent.agent.sent_requests import SentRequests
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import HistoryError, ModelError
from jupyter_codeagent.types.messages import CompletionRequest, ModelCall, Usage
from jupyter_codeagent.types.tagged_text import message, tagged

REQUEST = CompletionRequest(messages=(message("system", "Be brief."), message("user", tagged("df: 3x2", "names"))))
PROMPT_TOKENS = sum(estimate_tokens(one.content) for one in REQUEST.messages)
SERVER = ModelEndpoint(model=MODEL, label="here", kind="server", remote=False)


def ask(
    url: str,
    sent: SentRequests,
    request: CompletionRequest = REQUEST,
    *,
    on_text: Callable[[str], None] = lambda _: None,
    several: int = 0,
) -> None:
    async def asked() -> None:
        settings = ModelSettings(connect_timeout_s=30, read_timeout_s=60)
        own = OpenAIModel(name=MODEL, base_url=url, api_key="k", settings=settings, supports_prefill=False)
        model = sent.of(own, SERVER)
        try:
            if several:
                await model.sample(request, several, on_text=on_text, is_complete=lambda _: False)
            else:
                await model.complete(request, on_text=on_text, is_complete=lambda _: False)
        finally:
            await own.close()

    asyncio.run(asked())


def test_an_answered_request_is_counted_as_the_server_has_counted(model_server: ModelServer) -> None:
    model_server.script("It is 7.")
    sent = SentRequests()
    ask(model_server.url, sent)
    [call] = sent.calls
    assert (call.purpose, call.kinds, call.sent) == ("program", ("names",), True)
    assert (call.usage.completion_tokens, call.usage.calls, call.usage.estimated) == (3, 1, False)
    assert sent.usage == sent.last_usage == call.usage


def test_a_server_that_nobody_can_reach_was_sent_nothing() -> None:
    sent = SentRequests()
    with pytest.raises(ModelError, match="No connection"):
        ask("http://127.0.0.1:9/v1", sent)
    assert [call.sent for call in sent.calls] == [False]
    assert sent.usage == Usage()


def test_a_server_that_refuses_was_sent_the_text_and_has_read_nothing_of_it(model_server: ModelServer) -> None:
    model_server.script(Reply(status=401))
    sent = SentRequests()
    with pytest.raises(ModelError):
        ask(model_server.url, sent)
    assert [call.sent for call in sent.calls] == [True]
    assert sent.usage == Usage()


def test_of_a_stream_that_was_cut_off_the_tokens_are_estimated(model_server: ModelServer) -> None:
    model_server.script(Reply(text="one two three four five", drop_after=3))
    sent = SentRequests()
    with pytest.raises(ModelError, match="cut off"):
        ask(model_server.url, sent)
    assert sent.usage == Usage(prompt_tokens=PROMPT_TOKENS, completion_tokens=3, calls=1, estimated=True)


def test_of_a_stream_that_was_stopped_the_tokens_are_estimated(model_server: ModelServer) -> None:
    model_server.script(Reply(text="one two three four five", hold_at=3, hang=True))
    sent = SentRequests()

    def stop(text: str) -> None:
        if "three" in text:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        ask(model_server.url, sent, on_text=stop)
    assert sent.usage == Usage(prompt_tokens=PROMPT_TOKENS, completion_tokens=3, calls=1, estimated=True)


def test_a_server_that_counts_nothing_is_estimated(model_server: ModelServer) -> None:
    model_server.script(Reply(text="It is 7.", counts=False))
    sent = SentRequests()
    ask(model_server.url, sent, replace(REQUEST, purpose="text"))
    assert sent.usage.estimated
    assert sent.usage.prompt_tokens == PROMPT_TOKENS
    assert sent.usage.completion_tokens == estimate_tokens("It is 7.")


def test_several_replies_are_one_entry(model_server: ModelServer) -> None:
    model_server.several = "vLLM"
    model_server.script("one two", "three four")
    sent = SentRequests()
    ask(model_server.url, sent, several=2)
    [call] = sent.calls
    assert (call.sent, call.usage.completion_tokens) == (True, 4)


def test_requests_that_are_alike_are_told_together_and_the_others_in_their_order(
    model_server: ModelServer,
) -> None:
    model_server.script("a")
    counted = ModelCall(purpose="count", kinds=("names",), sent=True)
    told: list[int] = []
    sent = SentRequests((counted,), changed=lambda: told.append(len(sent.calls)))
    text = replace(REQUEST, purpose="text", messages=(message("user", tagged("x", "texts")),))
    for request in (REQUEST, text, text, text, REQUEST):
        ask(model_server.url, sent, request)
    assert [call.purpose for call in sent.calls] == ["count", "program", "text", "program"]
    assert sent.calls[2].usage.calls == 3
    assert told == [2, 3], "once for what is new, not for each of hundreds of texts"


def test_a_record_that_cannot_be_written_is_no_fault_of_the_connection(model_server: ModelServer) -> None:
    def full() -> None:
        raise HistoryError("The disk is full.")

    model_server.script("It is 7.")
    with pytest.raises(HistoryError, match="The disk is full"):
        ask(model_server.url, SentRequests(changed=full))


def test_a_model_that_is_not_ours_counts_as_sent_from_the_beginning() -> None:
    sent = SentRequests()
    model = sent.of(ScriptedModel([]), replace(SERVER, kind="registered"))
    with pytest.raises(ModelError):
        asyncio.run(model.complete(REQUEST, on_text=lambda _: None, is_complete=lambda _: False))
    assert [call.sent for call in sent.calls] == [True]
