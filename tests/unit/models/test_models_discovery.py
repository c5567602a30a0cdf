"""`jupyter_codeagent.models.discovery`: the order of the README, keys that go only where they were meant to."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from model_server import ModelServer
from scripted_model import ScriptedModel

from jupyter_codeagent.models import discovery, servers
from jupyter_codeagent.models.discovery import list_models, open_model, resolve_model
from jupyter_codeagent.models.endpoint import ModelEndpoint, is_loopback
from jupyter_codeagent.models.parsing import parse_models
from jupyter_codeagent.models.servers import configured_server
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types import errors


@pytest.fixture(autouse=True)
def _patient_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server has a third of a second to show itself: too little beside other tests."""
    monkeypatch.setattr(servers, "PROBE_TIMEOUT_S", 2.0)
    monkeypatch.setattr(servers, "PROBES_TIMEOUT_S", 3.0)


@contextmanager
def served(answer: Any, status: int = 200) -> Iterator[tuple[str, list[str | None]]]:
    """A server with this answer to every GET; its base URL and the authorizations it was sent."""
    sent: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Authorization"))
            body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def models(*names: str, owned_by: str = "library") -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, "owned_by": owned_by} for name in names]}


def resolve(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> ModelEndpoint:
    return asyncio.run(resolve_model(settings, environ or {}))


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    """The ports that are looked at; empty until a test fills it."""
    known: dict[int, str] = {}
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", known)
    return known


def port_of(url: str) -> int:
    return int(url.split(":")[2].split("/", maxsplit=1)[0])


def test_the_option_wins_over_the_environment() -> None:
    with served(models("a")) as (mine, _), served(models("b")) as (other, asked):
        assert resolve(ModelSettings(base_url=mine), {"CODEAGENT_BASE_URL": other}).model == "a"
        assert asked == []


def test_the_first_model_that_chats_is_taken_where_none_is_named() -> None:
    with served(models("nomic-embed-text", "qwen3")) as (url, _):
        assert resolve(ModelSettings(base_url=url)).model == "qwen3"


def test_a_named_model_that_the_server_has_not_is_an_error_with_those_it_has() -> None:
    with served(models("qwen3", "llama4")) as (url, _):
        assert resolve(ModelSettings(base_url=url, model="llama4")).model == "llama4"
        with pytest.raises(errors.ModelNotFoundError, match=r"no model 'qwen2'\. There are: qwen3, llama4"):
            resolve(ModelSettings(base_url=url, model="qwen2"))


def test_a_server_that_does_not_list_its_models_is_believed_if_one_is_named() -> None:
    with served("not here", 404) as (url, _):
        assert resolve(ModelSettings(base_url=url, model="mine")).model == "mine"
        with pytest.raises(errors.NoModelError, match="name one with --model"):
            resolve(ModelSettings(base_url=url))


def test_the_model_of_the_environment_is_used() -> None:
    with served(models("a", "b")) as (url, _):
        assert resolve(ModelSettings(), {"CODEAGENT_BASE_URL": url, "CODEAGENT_MODEL": "b"}).model == "b"


@pytest.mark.parametrize(
    ("settings", "environ", "key"),
    [
        (ModelSettings(), {"CODEAGENT_BASE_URL": "http://a/v1", "CODEAGENT_API_KEY": "env"}, "env"),
        (ModelSettings(base_url="http://a/v1"), {"CODEAGENT_API_KEY": "env"}, ""),
        (ModelSettings(base_url="http://a/v1", configured=("http://a",)), {"CODEAGENT_API_KEY": "env"}, "env"),
        (ModelSettings(base_url="http://b", configured=("http://a", "http://b")), {"CODEAGENT_API_KEY": "env"}, ""),
        (ModelSettings(base_url="http://a", configured=("qwen", "http://a")), {"CODEAGENT_API_KEY": "env"}, "env"),
        (ModelSettings(), {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_API_KEY": "openai"}, "openai"),
        (ModelSettings(base_url="https://api.openai.com/v1"), {"OPENAI_API_KEY": "openai"}, "openai"),
        (
            ModelSettings(base_url="https://api.openai.com/v1"),
            {"OPENAI_BASE_URL": "http://a/v1", "OPENAI_API_KEY": "openai"},
            "",
        ),
        (
            ModelSettings(base_url="http://evil/v1"),
            {"OPENAI_BASE_URL": "http://a/v1", "CODEAGENT_API_KEY": "env"},
            "",
        ),
        (ModelSettings(base_url="http://a/v1"), {"OPENAI_API_KEY": "openai"}, ""),
        (ModelSettings(), {"CODEAGENT_BASE_URL": "http://a/v1", "OPENAI_API_KEY": "openai"}, ""),
        (
            ModelSettings(base_url="http://evil/v1"),
            {"CODEAGENT_BASE_URL": "http://a/v1", "CODEAGENT_API_KEY": "env"},
            "",
        ),
    ],
)
def test_a_key_goes_only_to_the_server_it_was_meant_for(
    settings: ModelSettings, environ: dict[str, str], key: str
) -> None:
    server = configured_server(settings, environ)
    assert server is not None
    assert server.api_key == key


def test_there_is_no_remote_default_even_with_a_key_in_the_environment(
    ports: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)
    with pytest.raises(errors.NoModelError, match=r"jupyter-codeagent\[local\].*--base-url"):
        resolve(ModelSettings(), {"OPENAI_API_KEY": "sk-…"})


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ({"max_model_len": 32768}, 32768),
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 32768}}, 4096),
        ({"meta": {"n_ctx_train": 32768}}, 0),
        ({"meta": None}, 0),
        ({"max_model_len": "many"}, 0),
        ({"max_model_len": -1}, 0),
        ({}, 0),
    ],
)
def test_the_context_is_what_the_server_tells(ports: dict[int, str], entry: dict[str, Any], tokens: int) -> None:
    with served({"data": [{"id": "qwen3", **entry}]}) as (url, _):
        ports[port_of(url)] = "vLLM"
        assert resolve(ModelSettings()).context_tokens == tokens


def test_a_server_on_a_known_port_is_found_and_gets_no_key(ports: dict[int, str]) -> None:
    environ = {"OPENAI_API_KEY": "secret", "CODEAGENT_API_KEY": "secret"}
    with served(models("qwen3", owned_by="llamacpp")) as (url, asked):
        ports[port_of(url)] = "llama.cpp"
        found = resolve(ModelSettings(), environ)
        assert (found.model, found.remote, found.supports_prefill, found.supports_grammar) == (
            "qwen3",
            False,
            True,
            True,
        )
        assert (found.api_key, asked) == ("", [None])


def test_a_web_page_on_a_known_port_is_no_model_server(ports: dict[int, str]) -> None:
    with served("<!doctype html><title>My app</title>") as (url, _):
        ports[port_of(url)] = "vLLM"
        assert resolve(ModelSettings()).kind == "embedded"


def test_nothing_is_looked_for_where_discovery_is_off(ports: dict[int, str]) -> None:
    with served(models("qwen3")) as (url, asked):
        ports[port_of(url)] = "vLLM"
        assert resolve(ModelSettings(discover=False)).kind == "embedded"
        assert asked == []


def test_embedded_is_the_last_choice_and_can_be_named(ports: dict[int, str]) -> None:
    with served(models("qwen3")) as (url, _):
        ports[port_of(url)] = "Ollama"
        assert resolve(ModelSettings()).kind == "server"
        assert resolve(ModelSettings(model="embedded")).kind == "embedded"


def test_a_refused_key_says_which_variable_to_check() -> None:
    with served(models(), 401) as (url, _), pytest.raises(errors.ModelRefusedError, match="CODEAGENT_API_KEY"):
        resolve(ModelSettings(base_url=url))


@pytest.mark.parametrize(
    "url", ["ftp://a/v1", "127.0.0.1:8000", "http://:8000/v1", "http://a:eighty/v1", "file:///etc"]
)
def test_what_is_no_http_address_is_refused(url: str) -> None:
    with pytest.raises(errors.UsageError, match="base URL"):
        resolve(ModelSettings(base_url=url))


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://localhost.evil.org/v1", False),
        ("http://192.168.0.2/v1", False),
        ("https://api.example.org/v1", False),
    ],
)
def test_only_loopback_counts_as_this_machine(url: str, local: bool) -> None:
    assert is_loopback(url) == local


def test_a_redirect_does_not_carry_the_key_away() -> None:
    class Redirect(BaseHTTPRequestHandler):
        target = ""

        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", self.target)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with served(models("a")) as (elsewhere, asked):
        Redirect.target = f"{elsewhere}/models"
        server = ThreadingHTTPServer(("127.0.0.1", 0), Redirect)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/v1"
            with pytest.raises(errors.NoModelError):
                resolve(ModelSettings(), {"CODEAGENT_BASE_URL": url, "CODEAGENT_API_KEY": "secret"})
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
        assert asked == []


def test_everything_that_could_be_asked_is_listed_with_what_is_missing(
    ports: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "weights_ready", lambda _: False)
    with served(models("qwen3")) as (url, _):
        ports[port_of(url)] = "Ollama"
        listed = asyncio.run(list_models(ModelSettings(base_url="http://127.0.0.1:9/v1"), {}))
    assert [(model.label.split(":")[0], model.ready) for model in listed] == [
        ("127.0.0.1", False),
        ("127.0.0.1", True),
        ("embedded", False),
    ]
    assert "models fetch" in listed[-1].problem


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"data": 3}', b"<html>", b"\xff"])
def test_what_is_no_list_of_models_is_none(body: bytes) -> None:
    assert parse_models(body) is None


def test_a_registered_model_is_opened_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        value = "somewhere:make"

        def load(self) -> Any:
            return lambda settings: ScriptedModel(["hello"])

    monkeypatch.setattr(discovery, "_registered", lambda name: Entry() if name == "mine" else None)
    endpoint = resolve(ModelSettings(model="mine", configured=("mine",)))
    assert endpoint.kind == "registered"
    assert asyncio.run(open_model(endpoint, ModelSettings())).name == "scripted"


def test_a_registered_model_does_not_lead_past_a_server_that_is_fixed(
    monkeypatch: pytest.MonkeyPatch, model_server: ModelServer
) -> None:
    class Entry:
        value = "somewhere:make"

    monkeypatch.setattr(discovery, "_registered", lambda name: Entry())
    assert resolve(ModelSettings(model="scripted", configured=("scripted",))).kind == "registered"
    fixed = resolve(ModelSettings(model="scripted", base_url=model_server.url, discover=False))
    assert (fixed.kind, fixed.base_url) == ("server", model_server.url)
