"""`jupyter_codeagent.models.openai_model` against a real HTTP server: streaming, stopping, every fault one line."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from model_server import ModelServer, Reply

from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.models.parsing import parse_chunk
from jupyter_codeagent.models.reply import Reply as Growing
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types import errors
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message

KEY = "secret-key-of-the-user"
SETTINGS = ModelSettings(read_timeout_s=30, connect_timeout_s=10)
QUESTION = CompletionRequest(messages=(Message(role="user", content="why?"),), stop=("\nOutput:",), max_tokens=50)


def ask(
    server: ModelServer,
    request: CompletionRequest = QUESTION,
    *,
    settings: ModelSettings = SETTINGS,
    supports_prefill: bool = False,
    on_text: Callable[[str], None] = lambda _: None,
    is_complete: Callable[[str], bool] = lambda _: False,
) -> Completion:
    async def complete() -> Completion:
        model = OpenAIModel(
            name="scripted", base_url=server.url, api_key=KEY, settings=settings, supports_prefill=supports_prefill
        )
        try:
            return await model.complete(request, on_text=on_text, is_complete=is_complete)
        finally:
            await model.close()

    return asyncio.run(complete())


def test_a_reply_is_streamed_and_told_whole_each_time(model_server: ModelServer) -> None:
    model_server.script("one two three four")
    told: list[str] = []
    completion = ask(model_server, on_text=told.append)
    assert completion.text == told[-1] == "one two three four"
    assert completion.finish_reason == "stop"
    assert len(told) > 2
    assert all(later.startswith(earlier) for earlier, later in pairwise(told))


def test_tokens_are_those_that_the_server_counted(model_server: ModelServer) -> None:
    model_server.script("one two three four")
    usage = ask(model_server).usage
    assert (usage.completion_tokens, usage.calls) == (4, 1)
    assert usage.prompt_tokens > 0


def test_what_is_asked_reaches_the_server(model_server: ModelServer) -> None:
    model_server.script("ok")
    ask(model_server, replace(QUESTION, temperature=0.5, seed=7))
    [sent] = model_server.requests
    assert sent["messages"] == [{"role": "user", "content": "why?"}]
    assert (sent["stop"], sent["max_tokens"]) == (["\nOutput:"], 50)
    assert (sent["temperature"], sent["seed"]) == (0.5, 7)


def test_the_stream_is_closed_when_the_reply_is_complete(model_server: ModelServer) -> None:
    model_server.script(Reply(text="done " + "chatter " * 1000, piece_s=0.02))
    started = time.monotonic()
    completion = ask(model_server, is_complete=lambda text: "done" in text)
    assert completion.text.strip() == "done"
    assert completion.finish_reason == "closed"
    assert time.monotonic() - started < 5


def test_a_prefill_is_sent_as_the_assistants_beginning_and_stands_in_front_once(model_server: ModelServer) -> None:
    model_server.script("print(1)\n")
    completion = ask(model_server, replace(QUESTION, prefill="```python\n"), supports_prefill=True)
    assert completion.text == "```python\nprint(1)\n"
    assert model_server.requests[0]["messages"][-1] == {"role": "assistant", "content": "```python\n"}


@pytest.mark.parametrize("received", ["```python\nprint(1)", "print(1)"])
def test_servers_that_repeat_the_prefill_and_those_that_do_not_give_the_same_text(received: str) -> None:
    assert Growing(prefill="```python\n", max_tokens=50, received=received).text == "```python\nprint(1)"


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (Reply(status=401), errors.ModelRefusedError, "CODEAGENT_API_KEY"),
        (Reply(status=403), errors.ModelRefusedError, "403"),
        (Reply(status=404), errors.ModelNotFoundError, "no model 'scripted'"),
        (Reply(status=429), errors.ModelOverloadedError, "rate limit"),
        (Reply(status=500), errors.ModelOverloadedError, "500"),
        (Reply(status=503), errors.ModelOverloadedError, "503"),
        (Reply(status=400, message="context_length_exceeded: 9000 > 8192"), errors.ContextTooLongError, "--new"),
        (Reply(status=400, message="bad stop"), errors.BadReplyError, "bad stop"),
        (Reply(text="one two three", drop_after=2), errors.ModelUnreachableError, "cut off"),
        (Reply(html=True), errors.BadReplyError, "HTML"),
        (Reply(text=""), errors.BadReplyError, "empty"),
        (Reply(status=401, message=f"bad key {KEY}"), errors.ModelRefusedError, "bad key ***"),
    ],
)
def test_each_fault_is_one_line_that_names_the_server(
    model_server: ModelServer, reply: Reply, kind: type[errors.ModelError], told: str
) -> None:
    model_server.script(reply)
    with pytest.raises(kind) as caught:
        ask(model_server)
    line = str(caught.value)
    assert told in line
    assert "\n" not in line
    assert KEY not in line
    assert model_server.url.split("/")[2] in line
    assert len(model_server.requests) == 1  # never a silent retry


def test_a_stream_kept_open_by_comments_alone_is_given_up_after_the_limit(model_server: ModelServer) -> None:
    model_server.script(Reply(hang=True))
    started = time.monotonic()
    with pytest.raises(errors.ModelTimeoutError, match=r"sent no text for 0\.5 s, the limit"):
        ask(model_server, settings=replace(SETTINGS, read_timeout_s=0.5))
    assert time.monotonic() - started < 5


def test_a_server_that_is_down_is_named_with_what_to_do() -> None:
    with pytest.raises(errors.ModelUnreachableError, match=r"127\.0\.0\.1:9 .*start it, or give another"):
        ask(ModelServer(url="http://127.0.0.1:9/v1"))


def test_a_server_on_this_machine_is_not_asked_through_the_proxy(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    model_server.script("ok")
    assert ask(model_server).text == "ok"


@pytest.mark.parametrize(
    "deltas",
    [
        [
            {"tool_calls": [{"index": 0, "function": {"name": "python", "arguments": ""}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '{"code": '}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": '"x"}'}}]},
        ],
        [{"tool_calls": [{"function": {"name": "python", "arguments": {"code": "x"}}}]}],
        [{"function_call": {"name": "python", "arguments": '{"code": "x"}'}}],
    ],
    ids=["in pieces", "an object", "older form"],
)
def test_the_arguments_of_a_tool_call_are_text_behind_a_mark(deltas: list[dict[str, object]]) -> None:
    reply = Growing(prefill="", max_tokens=100)
    for delta in ({"content": "I run it."}, *deltas):
        for piece in parse_chunk(json.dumps({"choices": [{"delta": delta}]}), "here", "").choices:
            reply.add(piece)
    assert reply.text == 'I run it.\n<tool_call>\n{"code": "x"}'
