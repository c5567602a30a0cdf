"""The embedded model for real: weights (fetched where they are missing), llama.cpp, the openai client."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai import DEFAULT_CONNECTION_LIMITS, APIConnectionError, AuthenticationError, DefaultHttpxClient, OpenAI

from jupyter_codeagent.models.embedded.catalogue import DEFAULT_MODEL
from jupyter_codeagent.models.embedded.launcher import RunningServer, start_embedded, stop_embedded
from jupyter_codeagent.models.embedded.state import process_started, state_directory
from jupyter_codeagent.models.embedded.weights import ensure_weights, fetch_weights
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelUnreachableError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Message, Usage

pytestmark = [pytest.mark.model, pytest.mark.alone, pytest.mark.timeout(900)]

SETTINGS = ModelSettings(context_tokens=2048)


@pytest.fixture(scope="module", autouse=True)
def weights() -> Path:
    return fetch_weights()


@pytest.fixture
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No server of the user's is found or ended."""
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    yield state_directory()
    stop_embedded()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """For the tests that leave it as it was: to load it takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODEAGENT_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        yield asyncio.run(start_embedded(SETTINGS))
        stop_embedded()


def client_of(server: RunningServer) -> OpenAI:
    httpx: Any = importlib.import_module(type(DEFAULT_CONNECTION_LIMITS).__module__.partition(".")[0])
    http = DefaultHttpxClient(transport=httpx.HTTPTransport(uds=server.socket_path))
    return OpenAI(base_url=server.base_url, api_key=server.api_key, max_retries=0, timeout=300, http_client=http)


def ask(server: RunningServer, messages: Any, max_tokens: int = 24) -> Any:
    with client_of(server) as client:
        return client.chat.completions.create(
            model=server.model, messages=messages, max_tokens=max_tokens, temperature=0
        )


def test_it_answers_and_keeps_a_common_beginning_in_its_cache(server: RunningServer) -> None:
    system = "You write Python. " + " ".join(f"The variable v{number} holds {number * 7}." for number in range(20))
    first = ask(server, [{"role": "system", "content": system}, {"role": "user", "content": "What is 6 * 7?"}])
    second = ask(server, [{"role": "system", "content": system}, {"role": "user", "content": "What is 7 * 8?"}])

    assert server.model == first.model == DEFAULT_MODEL
    assert "42" in first.choices[0].message.content
    assert "56" in second.choices[0].message.content
    assert second.model_extra["timings"]["cache_n"] > 0.9 * first.usage.prompt_tokens
    log = next(state_directory().glob("*.log")).read_text()
    assert "variable" not in log
    assert server.api_key not in log


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_last_message_of_the_assistant_is_continued(server: RunningServer) -> None:
    question = {"role": "user", "content": "Print the sum of the list `prices` in Python."}
    reply = ask(server, [question, {"role": "assistant", "content": "```python\nprint(sum("}])

    # With the beginning that was sent in front: this server gives back the whole message.
    assert reply.choices[0].message.content.replace(" ", "").startswith("```python\nprint(sum(prices)")


@pytest.mark.long("another situation of what a test beside it proves")
def test_several_replies_are_one_request_whose_prompt_is_computed_once(server: RunningServer) -> None:
    question = "Write a line of Python that prints the mean of the list `prices`."
    request = CompletionRequest(
        messages=(Message(role="user", content=question),), prefill="```python\n", stop=("\n```",), max_tokens=40
    )
    model = OpenAIModel(
        name=server.model,
        base_url=server.base_url,
        api_key=server.api_key,
        settings=SETTINGS,
        supports_prefill=True,
        socket_path=server.socket_path,
    )

    async def ask_twice() -> tuple[Completion, tuple[Completion, ...]]:
        shown: dict[str, Any] = {"on_text": lambda _: None, "is_complete": lambda _: False}
        first = await model.complete(request, **shown)
        others = await model.sample(replace(request, temperature=0.7, seed=1), 7, **shown)
        await model.close()
        return first, others

    first, others = asyncio.run(ask_twice())
    usage = sum((reply.usage for reply in others), Usage())

    assert len(others) == 7
    assert len({reply.text for reply in others}) > 1
    assert all("prices" in reply.text and reply.usage.completion_tokens for reply in others)
    assert (usage.calls, usage.prompt_tokens) == (1, first.usage.prompt_tokens)
    assert usage.cached_tokens >= usage.prompt_tokens - 2


def test_only_the_key_opens_it(server: RunningServer) -> None:
    with pytest.raises(AuthenticationError):
        ask(replace(server, api_key="guessed"), [{"role": "user", "content": "Hi"}])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_second_caller_gets_the_same_server_at_once(server: RunningServer) -> None:
    began = time.monotonic()

    assert asyncio.run(start_embedded(SETTINGS)) == server
    assert time.monotonic() - began < 1.0


@pytest.mark.long("another situation of what a test beside it proves")
def test_it_ends_itself_when_idle(own_state: Path) -> None:
    server = asyncio.run(start_embedded(replace(SETTINGS, idle_shutdown_s=2.0)))
    reply = ask(server, [{"role": "user", "content": "Count from 1 to 100, all the numbers."}], max_tokens=120)

    assert reply.usage.completion_tokens > 60
    deadline = time.monotonic() + 30
    while process_started(server.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not process_started(server.pid)
    assert not list(own_state.glob("server-*.json"))


def test_stopping_ends_it_in_the_middle_of_a_reply(own_state: Path) -> None:
    server = asyncio.run(start_embedded(SETTINGS))
    with client_of(server) as client:
        stream = client.chat.completions.create(
            model=server.model, messages=[{"role": "user", "content": "Write a long story."}], stream=True
        )
        next(iter(stream))
        began = time.monotonic()
        assert stop_embedded()
        assert time.monotonic() - began < 2.0
        with pytest.raises(Exception) as raised:  # noqa: PT011  # the client passes its HTTP library's error on
            list(stream)
        assert isinstance(raised.value, APIConnectionError) or "closed" in str(raised.value)


@pytest.mark.long("another situation of what a test beside it proves")
def test_own_weights_that_llama_cpp_cannot_read_are_told_with_its_reason(own_state: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    with open(ensure_weights(SETTINGS), "rb") as file:
        broken.write_bytes(file.read(20_000_000))

    with pytest.raises(ModelUnreachableError, match="ended during loading: "):
        asyncio.run(start_embedded(replace(SETTINGS, weights=str(broken))))
