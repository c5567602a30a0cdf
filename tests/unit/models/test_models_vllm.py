"""vLLM as a team's server: its list, its streams and its errors, as version 0.11 and later send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from model_server import ModelServer, Reply

from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.models.parsing import ListedModel
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import (
    BadReplyError,
    ContextTooLongError,
    ModelError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelRefusedError,
)
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message, Usage

PREFILL = "```python\n"
PROMPT_TOKENS, CACHED_TOKENS = 1200, 1136
REQUEST = CompletionRequest(
    messages=(Message(role="user", content="How many?"),), temperature=0.7, seed=5, max_tokens=50, prefill=PREFILL
)
CARD = {
    "id": "qwen-coder",
    "object": "model",
    "created": 1764230000,
    "owned_by": "vllm",
    "root": "Qwen/Qwen3-Coder-30B-A3B-Instruct",
    "parent": None,
    "max_model_len": 32768,
    "permission": [{"id": "modelperm-1", "object": "model_permission", "allow_logprobs": True, "group": None}],
}
ADAPTER = {**CARD, "id": "our-sql", "parent": "qwen-coder", "max_model_len": None}


def stream(body: dict[str, Any], *replies: Iterable[str], key: str = "content", finish: str = "stop") -> str:
    """What vLLM sends for a request: a role for each reply, a token of each in turn, the usage of all."""
    options = body["stream_options"]
    begun = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1764230000, "model": "qwen-coder"}
    events: list[dict[str, Any]] = []
    written = [0] * len(replies)

    def add(index: int, delta: dict[str, Any], **more: Any) -> None:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None, **more}
        usage = {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS + written[index]}
        counted = {"usage": {**usage, "completion_tokens": written[index]}}
        continuous = options.get("continuous_usage_stats")
        events.append({**begun, "choices": [choice], **(counted if continuous else {})})

    for index in range(len(replies)):
        add(index, {"role": "assistant", "content": ""})
    tokens = [list(reply) for reply in replies]
    for at in range(max(map(len, tokens))):
        for index, own in enumerate(tokens):
            if at < len(own):
                written[index] += 1
                last = at == len(own) - 1
                end = {"finish_reason": finish, "stop_reason": None, "token_ids": None} if last else {}
                add(index, {key: own[at]}, logprobs=logprobs(own[at]) if body.get("logprobs") else None, **end)
    total = {"prompt_tokens": PROMPT_TOKENS, "total_tokens": PROMPT_TOKENS + sum(written)}
    details = {"completion_tokens": sum(written), "prompt_tokens_details": {"cached_tokens": CACHED_TOKENS}}
    events.append({**begun, "choices": [], "usage": {**total, **details}})
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"


def without_end(streamed: str) -> str:
    """The events before the one that ends the reply."""
    return streamed.partition('"finish_reason": "stop"')[0].rpartition("data:")[0]


def logprobs(token: str) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": -0.1, "bytes": list(token.encode()), "top_logprobs": []}]}


def ask(
    server: ModelServer,
    count: int = 1,
    *,
    request: CompletionRequest = REQUEST,
    is_complete: Callable[[str], bool] = lambda _: False,
) -> tuple[Completion, ...]:
    async def replies() -> tuple[Completion, ...]:
        model = OpenAIModel(
            name="qwen-coder",
            base_url=server.url,
            api_key="sk-team",
            settings=ModelSettings(read_timeout_s=30, connect_timeout_s=10),
            supports_prefill=True,
        )
        try:
            return await model.sample(request, count, on_text=lambda _: None, is_complete=is_complete)
        finally:
            await model.close()

    return asyncio.run(replies())


def test_the_list_tells_the_context_window_and_that_replies_can_be_begun(model_server: ModelServer) -> None:
    model_server.models = [CARD, ADAPTER]
    assert fetch_model_list(model_server.url, "sk-team", timeout_s=5) == (
        ListedModel(name="qwen-coder", supports_prefill=True, context_tokens=32768),
        ListedModel(name="our-sql", supports_prefill=True),
    )
    assert model_server.headers[-1]["authorization"] == "Bearer sk-team"


def test_a_reply_goes_on_from_its_beginning_and_tells_what_the_prefix_cache_had(model_server: ModelServer) -> None:
    model_server.choose = lambda body: Reply(raw=stream(body, ["len", "(df)", "\n```"]))
    (reply,) = ask(model_server)
    assert reply.text == f"{PREFILL}len(df)\n```"
    assert reply.usage == Usage(
        prompt_tokens=PROMPT_TOKENS, completion_tokens=3, cached_tokens=CACHED_TOKENS, calls=1
    )
    (sent,) = model_server.requests
    assert sent["messages"][-1] == {"role": "assistant", "content": PREFILL}
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)
    assert sent["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert "grammar" not in sent, "the grammars are llama.cpp's"


def test_a_stream_that_is_closed_when_the_code_is_complete_has_been_counted(model_server: ModelServer) -> None:
    model_server.choose = lambda body: Reply(raw=stream(body, ["1", "\n```", *[" and so on"] * 40]))
    (reply,) = ask(model_server, is_complete=lambda text: text.endswith("\n```"))
    assert (reply.text, reply.finish_reason) == (f"{PREFILL}1\n```", "closed")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens >= 2) == (PROMPT_TOKENS, True)


def test_several_replies_come_in_one_request_whose_prompt_counts_once(model_server: ModelServer) -> None:
    model_server.choose = lambda body: Reply(raw=stream(body, ["1"], ["2", "+", "2"], ["3", "3"]))
    replies = ask(model_server, 3)
    assert [reply.text for reply in replies] == [f"{PREFILL}{text}" for text in ("1", "2+2", "33")]
    assert [request["n"] for request in model_server.requests] == [3]
    assert [reply.usage.completion_tokens for reply in replies] == [1, 3, 2]
    assert [reply.usage.prompt_tokens for reply in replies] == [PROMPT_TOKENS, 0, 0]
    assert replies[0].usage.cached_tokens == CACHED_TOKENS


def test_log_probabilities_are_not_asked_for_and_do_no_harm(model_server: ModelServer) -> None:
    model_server.choose = lambda body: Reply(raw=stream({**body, "logprobs": True}, ["1", "\n```"]))
    (reply,) = ask(model_server)
    assert reply.text == f"{PREFILL}1\n```"
    assert not {"logprobs", "top_logprobs", "tools"} & set(model_server.requests[0])


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_what_a_model_thinks_is_no_part_of_its_reply(model_server: ModelServer, key: str) -> None:
    thoughts = CompletionRequest(messages=REQUEST.messages, max_tokens=50)

    def think(body: dict[str, Any]) -> Reply:
        return Reply(raw=without_end(stream(body, ["Let me", " see."], key=key)) + stream(body, ["4"]))

    model_server.choose = think
    assert ask(model_server, request=thoughts)[0].text == "4"
    model_server.choose = lambda body: Reply(raw=stream(body, ["Hm", "m"], key=key, finish="length"))
    with pytest.raises(BadReplyError, match="used up its 50 tokens without an answer"):
        ask(model_server, request=thoughts)


def bad_request(message: str, param: str | None = None) -> Reply:
    return Reply(status=400, error={"message": message, "type": "BadRequestError", "param": param, "code": 400})


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7976 in the"
        " messages, 1024 in the completion). Please reduce the length of the messages or completion.",
        "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's maximum context length is 8192"
        " tokens and your request has 8000 input tokens (1024 > 8192 - 8000).",
        "You passed 9001 input tokens and requested 1024 output tokens. However, the model's context length is only"
        " 8192 tokens, resulting in a maximum input length of 7168 tokens. Please reduce the length of the input"
        " prompt. (parameter=input_tokens, value=9001)",
    ],
)  # fmt: skip
def test_a_question_that_does_not_fit_is_told_as_such_whatever_the_words(
    model_server: ModelServer, message: str
) -> None:
    model_server.script(bad_request(message))
    with pytest.raises(ContextTooLongError, match="--vars"):
        ask(model_server)
    assert len(model_server.requests) == 1


def test_n_at_temperature_0_which_is_refused_is_asked_for_one_by_one(model_server: ModelServer) -> None:
    refused = bad_request("n must be 1 when using greedy sampling, got 3.")
    model_server.choose = lambda body: refused if "n" in body else Reply(raw=stream(body, ["1"]))
    assert len(ask(model_server, 3)) == 3


@pytest.mark.parametrize(
    ("status", "error", "kind", "said"),
    [
        (401, "Unauthorized", ModelRefusedError, "refused the key (401): check CODEAGENT_API_KEY"),
        (
            404,
            {"message": "The model `qwen-coder` does not exist.", "type": "NotFoundError", "code": 404},
            ModelNotFoundError,
            "There are: our-sql",
        ),
        (
            500,
            {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500},
            ModelOverloadedError,
            "EngineCore encountered an issue.",
        ),
    ],
)
def test_other_errors_name_what_to_do(
    model_server: ModelServer, status: int, error: Any, kind: type[ModelError], said: str
) -> None:
    model_server.models = [ADAPTER]
    model_server.script(Reply(status=status, error=error))
    with pytest.raises(kind) as raised:
        ask(model_server)
    assert said in str(raised.value)


def test_an_engine_that_fails_in_the_middle_is_told_in_its_words(model_server: ModelServer) -> None:
    error = {"error": {"message": "EngineCore died", "type": "InternalServerError", "param": None, "code": 500}}
    end = f"data: {json.dumps(error)}\n\ndata: [DONE]\n\n"

    def fail(body: dict[str, Any]) -> Reply:
        return Reply(raw=without_end(stream(body, ["1", "2"])) + end)

    model_server.choose = fail
    with pytest.raises(ModelOverloadedError, match="EngineCore died"):
        ask(model_server)
