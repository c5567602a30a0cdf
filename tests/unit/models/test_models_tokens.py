"""`models.tokens`: counted by the model's own tokenizer on this machine, else estimated."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, serving

from jupyter_codeagent.models.embedded.catalogue import model_name
from jupyter_codeagent.models.embedded.state import ServerState, process_started, write_state
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.tokens import TokenCounter, Tokenizer, estimate_tokens, find_tokenizer
from jupyter_codeagent.settings.settings import ModelSettings

LINES = "flights: DataFrame 336776x19\n carrier str 16u e.g. 'UA'\n dep_delay float -22..853 2.7% missing"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as running:
        yield running


def endpoint(url: str, *, remote: bool = False) -> ModelEndpoint:
    return ModelEndpoint(model="m", label="x", kind="server", remote=remote, base_url=url, api_key="secret-key")


def tokenizer_of(server: ModelServer) -> Tokenizer:
    found = find_tokenizer(endpoint(server.url))
    assert found is not None
    return found


def like_llama(body: dict[str, Any]) -> dict[str, Any]:
    return {"tokens": [1] * (len(body["content"]) // 2)}


def like_vllm(body: dict[str, Any]) -> dict[str, Any]:
    assert body["model"] == "m"
    assert body["add_special_tokens"] is False
    return {"count": len(body["prompt"]) // 2, "max_model_len": 4096, "tokens": [1]}


@pytest.mark.parametrize("answer", [like_llama, like_vllm])
def test_llama_cpp_and_vllm_count_with_the_models_own_tokenizer(server: ModelServer, answer: Any) -> None:
    server.tokenizer = answer
    count = TokenCounter().count(LINES, tokenizer_of(server))
    assert (count.tokens, count.counted) == (len(LINES) // 2, True)
    assert str(count) == f"{len(LINES) // 2} tokens, counted by the model's tokenizer"
    assert server.headers[-1]["authorization"] == "Bearer secret-key"


def test_a_server_without_a_tokenizer_is_asked_once_and_the_figure_says_that_it_is_estimated(
    server: ModelServer,
) -> None:
    counter, tokenizer = TokenCounter(), tokenizer_of(server)
    counts = [counter.count(LINES, tokenizer) for _ in range(3)]
    assert {count.counted for count in counts} == {False}
    assert str(counts[0]) == f"about {estimate_tokens(LINES)} tokens, estimated"
    assert len(server.headers) == 1


def test_nothing_is_sent_to_another_machine_for_counting() -> None:
    for url in ("https://api.example.com/v1", "http://10.1.2.3:8000/v1", "http://localhost.example.com/v1"):
        assert find_tokenizer(endpoint(url, remote=True)) is None
        assert find_tokenizer(endpoint(url)) is None
    registered = ModelEndpoint(model="m", label="x", kind="registered", remote=False)
    assert find_tokenizer(registered) is None


def test_where_nothing_may_be_sent_only_the_embedded_model_counts(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_tokenizer(endpoint(server.url), sends=False) is None
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path))
    state = ServerState(pid=os.getpid(), started=process_started(os.getpid()), url="http://127.0.0.1:9", model="m")
    write_state(tmp_path / "server-1.json", state)
    embedded = ModelEndpoint(model="m", label="embedded", kind="embedded", remote=False)
    assert find_tokenizer(embedded, sends=False) is not None


def test_loopback_is_not_asked_through_the_users_proxy(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.tokenizer = like_llama
    assert TokenCounter().count(LINES, tokenizer_of(server)).counted


def test_the_embedded_model_is_not_started_for_counting(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path))
    embedded = ModelEndpoint(model="m", label="embedded", kind="embedded", remote=False)
    assert find_tokenizer(embedded) is None
    assert list(tmp_path.iterdir()) == []


def test_the_embedded_model_counts_when_it_runs_already(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path))
    state = ServerState(
        pid=os.getpid(),
        started=process_started(os.getpid()),
        url=server.url.removesuffix("/v1"),
        key="its-own-key",
        model=model_name(ModelSettings()),
    )
    write_state(tmp_path / "server-1.json", state)
    server.tokenizer = like_llama
    embedded = ModelEndpoint(model=state.model, label="embedded", kind="embedded", remote=False)
    assert TokenCounter().count(LINES, find_tokenizer(embedded)).counted
    assert server.headers[-1]["authorization"] == "Bearer its-own-key"
    other = ModelEndpoint(model="other", label="embedded", kind="embedded", remote=False)
    assert find_tokenizer(other) is None


@pytest.mark.parametrize(
    "answer",
    [{}, {"tokens": []}, {"count": True}, {"count": -3}, {"tokens": "many"}, [1, 2], "x", None],
)
def test_an_answer_without_a_count_falls_back_to_the_estimate(server: ModelServer, answer: Any) -> None:
    server.tokenizer = lambda _: answer
    count = TokenCounter().count(LINES, tokenizer_of(server))
    assert (count.tokens, count.counted) == (estimate_tokens(LINES), False)


def test_a_server_that_does_not_answer_is_not_waited_for(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.models.tokens.TIMEOUT_S", 0.1)

    def slow(_: dict[str, Any]) -> dict[str, Any]:
        time.sleep(1.0)
        return {"count": 1}

    server.tokenizer = slow
    assert not TokenCounter().count(LINES, tokenizer_of(server)).counted


def test_an_address_where_nothing_listens_falls_back_to_the_estimate() -> None:
    assert not TokenCounter().count(LINES, Tokenizer(url="http://127.0.0.1:9", model="m")).counted


def test_what_the_tokenizer_says_corrects_the_estimate_of_further_lines(server: ModelServer) -> None:
    server.tokenizer = lambda body: {"count": 3 * estimate_tokens(body["content"])}
    counter, tokenizer = TokenCounter(), tokenizer_of(server)
    assert counter.estimator(tokenizer)("dep_delay float") == estimate_tokens("dep_delay float")
    counter.count("a prompt in words", tokenizer)
    assert counter.factor(tokenizer) == 1.0
    counter.count(LINES, tokenizer, calibrate=True)
    assert counter.estimator(tokenizer)("dep_delay float") == 3 * estimate_tokens("dep_delay float")
    assert counter.estimator(None)("dep_delay float") == estimate_tokens("dep_delay float")
    assert len(server.tokenized) == 2


def test_the_estimate_is_near_what_the_embedded_models_tokenizer_says() -> None:
    """Counted by Qwen2.5's tokenizer: digits stand alone, so variable lines have a token for two letters."""
    weather = " wind_dir float 0..360 1.8% missing\n wind_speed float 0..42.58\n humid float 14.65..100"
    counted = 40
    assert abs(estimate_tokens(weather) - counted) <= 0.1 * counted
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 1
    assert estimate_tokens("航班延误") == 4


def test_a_key_that_no_header_can_hold_is_no_fault_of_counting(server: ModelServer) -> None:
    tokenizer = Tokenizer(url=server.url.removesuffix("/v1"), model="m", api_key="a\nb")
    assert not TokenCounter().count(json.dumps(LINES), tokenizer).counted
