"""Several replies to one request: one call where the server reads `n`, else as few at once as it can bear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

import pytest
from model_server import ModelServer, Reply
from scripted_model import ScriptedModel

from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.models.sampling import sample_separately
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message, Usage

REQUEST = CompletionRequest(
    messages=(Message(role="user", content="why?"),), temperature=0.7, seed=5, max_tokens=50
)
WORDS = ("one", "two three", "four five six")


def never(_: str) -> bool:
    return False


def sample(
    server: ModelServer,
    count: int = 3,
    *,
    times: int = 1,
    on_text: Callable[[str], None] = lambda _: None,
    is_complete: Callable[[str], bool] = never,
) -> tuple[Completion, ...]:
    """What the last of so many calls came to."""

    async def all_times() -> tuple[Completion, ...]:
        model = OpenAIModel(
            name="scripted",
            base_url=server.url,
            api_key="",
            settings=ModelSettings(read_timeout_s=30, connect_timeout_s=10),
            supports_prefill=False,
        )
        try:
            for _ in range(times):
                replies = await model.sample(REQUEST, count, on_text=on_text, is_complete=is_complete)
            return replies
        finally:
            await model.close()

    return asyncio.run(all_times())


def total(replies: tuple[Completion, ...]) -> Usage:
    return sum((reply.usage for reply in replies), Usage())


@pytest.mark.parametrize("server", ["llama.cpp", "vLLM"])
def test_one_request_gives_all_replies_and_its_prompt_is_counted_once(
    model_server: ModelServer, server: Literal["llama.cpp", "vLLM"]
) -> None:
    model_server.script(*WORDS)
    model_server.several = server
    told: list[str] = []
    replies = sample(model_server, on_text=told.append)
    assert [reply.text for reply in replies] == list(WORDS)
    assert [request["n"] for request in model_server.requests] == [3]
    assert model_server.requests[0]["seed"] == 5
    assert (total(replies).calls, total(replies).completion_tokens) == (1, 6)
    assert 0 < total(replies).prompt_tokens <= 100
    assert replies[0].usage.prompt_tokens == total(replies).prompt_tokens
    assert told[0].startswith("one")


def test_where_the_server_counts_each_reply_each_has_its_count(model_server: ModelServer) -> None:
    model_server.script(*WORDS)
    model_server.several = "llama.cpp"
    replies = sample(model_server)
    assert [reply.usage.completion_tokens for reply in replies] == [1, 2, 3]
    assert replies[0].usage.cached_tokens == 90


def test_each_reply_ends_for_itself_and_the_stream_when_all_have(model_server: ModelServer) -> None:
    model_server.script("a STOP b c d", "a a a a a a STOP b c d e f g h i j k l m n o p")
    model_server.several = "llama.cpp"
    replies = sample(model_server, 2, is_complete=lambda text: "STOP" in text)
    assert [reply.text.split() for reply in replies] == [["a", "STOP"], [*"aaaaaa", "STOP"]]
    assert replies[1].finish_reason == "closed"


@pytest.mark.parametrize(
    "refusal",
    [
        "Field 'n': Value must be between 1 <= value <= 1, but got 3",
        "n_cmpl cannot be greater than the number of slots, please increase -np",
        "Only one completion choice is allowed",
        "n must be 1",
    ],
)
def test_a_server_that_refuses_n_is_asked_for_each_and_not_with_n_again(
    model_server: ModelServer, refusal: str
) -> None:
    model_server.choose = lambda body: Reply(text=f"seed {body['seed']}")
    model_server.refuses = {"n": refusal}
    replies = sample(model_server, times=2)
    assert {reply.text for reply in replies} == {"seed 5", "seed 6", "seed 7"}
    assert ["n" in request for request in model_server.requests] == [True] + [False] * 6
    assert total(replies).calls == 3


def test_a_server_that_overlooks_n_is_asked_for_the_others(model_server: ModelServer) -> None:
    model_server.choose = lambda body: Reply(text=f"seed {body['seed']}")
    replies = sample(model_server, times=2)
    assert [reply.text for reply in replies] == ["seed 5", "seed 6", "seed 7"]
    assert ["n" in request for request in model_server.requests] == [True] + [False] * 5


def test_other_refusals_are_errors(model_server: ModelServer) -> None:
    model_server.script(Reply(status=400, message="the prompt is too long"))
    with pytest.raises(ModelError):
        sample(model_server)
    assert len(model_server.requests) == 1


def test_no_more_than_the_limit_are_asked_at_once_and_none_after_one_failed() -> None:
    now, most, begun = 0, 0, 0

    async def complete(
        request: CompletionRequest, *, on_text: Callable[[str], None], is_complete: Callable[[str], bool]
    ) -> Completion:
        nonlocal now, most, begun
        begun, now = begun + 1, now + 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        if request.seed == 9:
            raise ModelError("no more")
        return Completion(text=str(request.seed), finish_reason="stop", usage=Usage(), model="m", duration_s=0)

    async def ask(count: int) -> tuple[Completion, ...]:
        return await sample_separately(
            complete, REQUEST, range(count), on_text=lambda _: None, is_complete=never, max_parallel=2
        )

    assert [reply.text for reply in asyncio.run(ask(4))] == ["5", "6", "7", "8"]
    assert most == 2
    begun = 0
    with pytest.raises(ModelError, match="no more"):
        asyncio.run(ask(20))
    assert begun < 20


def test_the_scripted_model_gives_its_next_replies() -> None:
    model = ScriptedModel(WORDS)
    replies = asyncio.run(model.sample(REQUEST, 3, on_text=lambda _: None, is_complete=never))
    assert [reply.text for reply in replies] == list(WORDS)
    assert [request.seed for request in model.requests] == [5, 6, 7]
    assert total(replies) == Usage(prompt_tokens=1, completion_tokens=6, calls=1)
