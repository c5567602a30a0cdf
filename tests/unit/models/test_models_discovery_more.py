"""More of `jupyter_codeagent.models.discovery`: deaf and endless ports, keys, what the lines say."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, serving

from jupyter_codeagent.models import discovery, servers
from jupyter_codeagent.models.discovery import list_models, open_model, resolve_model
from jupyter_codeagent.models.embedded.catalogue import published_weights
from jupyter_codeagent.models.embedded.launcher import stop_embedded
from jupyter_codeagent.models.embedded.model import EmbeddedModel, with_scaled_timeout
from jupyter_codeagent.models.endpoint import ModelEndpoint, host_and_port
from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.servers import configured_server
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types import errors


@pytest.fixture(autouse=True)
def _patient_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server has a third of a second to show itself: too little beside other tests."""
    monkeypatch.setattr(servers, "PROBE_TIMEOUT_S", 2.0)
    monkeypatch.setattr(servers, "PROBES_TIMEOUT_S", 3.0)


TESTS = Path(__file__).parents[2]
KEY = "sk-the-users-own-secret"


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> dict[int, str]:
    """The ports that are looked at; empty until a test fills it."""
    known: dict[int, str] = {}
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", known)
    return known


def resolve(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> ModelEndpoint:
    return asyncio.run(resolve_model(settings, environ or {}))


def port_of(server: ModelServer) -> int:
    return int(host_and_port(server.url).rpartition(":")[2])


@contextmanager
def talking(head: bytes, again: bytes) -> Iterator[int]:
    """A port that answers with `head`, then repeats `again` for as long as somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def talk() -> None:
            with suppress(OSError):
                caller, _ = listener.accept()
                with caller:
                    caller.sendall(head)
                    while again:
                        caller.sendall(again)
                        time.sleep(0.02)
                    caller.recv(1 << 16)
                    caller.recv(1)  # returns when the caller closes

        thread = threading.Thread(target=talk)
        thread.start()
        yield listener.getsockname()[1]
    thread.join(10)


# --- what listens on a known port -----------------------------------------------------------------


@pytest.mark.alone
@pytest.mark.parametrize(
    ("head", "again"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", b": still here\n"),
        (b"220 mail.example.org ESMTP\r\n", b""),
    ],
    ids=["deaf", "endless", "no HTTP"],
)
def test_a_port_that_is_no_model_server_costs_less_than_a_moment(
    monkeypatch: pytest.MonkeyPatch, head: bytes, again: bytes
) -> None:
    async def timed() -> tuple[ModelEndpoint, float]:
        started = time.monotonic()
        found = await resolve_model(ModelSettings(), {})
        return found, time.monotonic() - started

    monkeypatch.undo()  # its own limits
    ports: dict[int, str] = {}
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", ports)
    monkeypatch.setattr(discovery, "embedded_installed", lambda: True)
    with talking(head, again) as port:
        ports[port] = "vLLM"
        found, took_s = asyncio.run(timed())

    assert found.kind == "embedded"
    assert took_s < 1.0  # the limit is 0.29 s, the rest is for a busy machine


def test_a_deaf_port_does_not_hide_a_server_on_another(ports: dict[int, str], model_server: ModelServer) -> None:
    with talking(b"", b"") as port:
        ports[port] = "Ollama"
        ports[port_of(model_server)] = "vLLM"

        assert resolve(ModelSettings()).label == host_and_port(model_server.url)


def test_a_named_model_is_looked_for_on_every_server(ports: dict[int, str], model_server: ModelServer) -> None:
    with serving() as other:
        other.models = [{"id": "llama"}, {"id": "qwen"}]
        ports[port_of(model_server)] = "Ollama"
        ports[port_of(other)] = "vLLM"

        assert resolve(ModelSettings(model="qwen")).label == host_and_port(other.url)
        with pytest.raises(
            errors.ModelNotFoundError, match=r"'gwen'.*--base-url.*There are: qwen.*llama"
        ) as raised:
            resolve(ModelSettings(model="gwen"))
    assert "scripted" in str(raised.value)


# --- a server that was named ----------------------------------------------------------------------


def test_a_server_that_is_down_is_unreachable_where_no_model_is_named() -> None:
    with pytest.raises(errors.ModelUnreachableError, match=r"127\.0\.0\.1:9 .*start it"):
        resolve(ModelSettings(base_url="http://127.0.0.1:9/v1"))


def test_a_base_url_without_its_path_is_told_as_such(model_server: ModelServer) -> None:
    with pytest.raises(errors.NoModelError, match="/v1"):
        resolve(ModelSettings(base_url=model_server.url.removesuffix("/v1")))


def test_a_server_that_still_loads_is_told_unless_its_model_is_named(model_server: ModelServer) -> None:
    with talking(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", b"") as port:
        with pytest.raises(errors.ModelOverloadedError, match="503"):
            resolve(ModelSettings(base_url=f"http://127.0.0.1:{port}/v1"))
    with talking(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", b"") as port:
        assert resolve(ModelSettings(base_url=f"http://127.0.0.1:{port}/v1", model="mine")).model == "mine"


def test_the_embedded_model_can_be_named_whatever_server_the_environment_has(model_server: ModelServer) -> None:
    environ = {"CODEAGENT_BASE_URL": model_server.url}

    assert resolve(ModelSettings(model="embedded"), environ).kind == "embedded"
    assert resolve(ModelSettings(), environ).kind == "server"


def test_a_server_that_the_settings_name_is_not_left_for_the_embedded_model(model_server: ModelServer) -> None:
    with pytest.raises(errors.ModelNotFoundError, match="'embedded'"):
        resolve(ModelSettings(model="embedded", base_url=model_server.url))


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ("https://api.example.org/v1", KEY),
        ("https://api.example.org:443/other", KEY),
        ("http://api.example.org/v1", ""),
        ("https://api.example.org:8443/v1", ""),
        ("https://api.example.org.evil.org/v1", ""),
    ],
)
def test_a_key_is_for_one_scheme_host_and_port(given: str, key: str) -> None:
    environ = {"CODEAGENT_BASE_URL": "https://api.example.org/v1", "CODEAGENT_API_KEY": KEY}

    server = configured_server(ModelSettings(base_url=given), environ)

    assert server is not None
    assert server.api_key == key


def test_a_key_is_in_no_repr() -> None:
    environ = {"CODEAGENT_BASE_URL": "https://api.example.org/v1", "CODEAGENT_API_KEY": f"{KEY}\n"}

    server = configured_server(ModelSettings(), environ)

    assert server is not None
    assert server.api_key == KEY, "without the line end that came along"
    assert KEY not in repr(server)
    endpoint = ModelEndpoint(model="m", label="l", kind="server", remote=True, api_key=KEY)
    assert KEY not in repr(endpoint)
    assert hash(endpoint) == hash(endpoint)


@pytest.mark.parametrize("key", [f"{KEY}\r\nX-Other: 1", f"{KEY} {KEY}", f"{KEY}…"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_told(model_server: ModelServer, key: str) -> None:
    with pytest.raises(errors.ModelRefusedError) as raised:
        resolve(ModelSettings(), {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_API_KEY": key})
    with pytest.raises(errors.ModelRefusedError) as listed:
        fetch_model_list(model_server.url, key, timeout_s=1.0)

    assert KEY not in str(raised.value) + str(listed.value)
    assert model_server.headers == []


def test_a_lone_openai_key_is_told_as_not_used(ports: dict[int, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)

    with pytest.raises(errors.NoModelError, match="OPENAI_API_KEY alone is not used: set OPENAI_BASE_URL"):
        resolve(ModelSettings(), {"OPENAI_API_KEY": KEY})
    with pytest.raises(errors.NoModelError) as without:
        resolve(ModelSettings())
    assert "OPENAI_API_KEY" not in str(without.value)


def test_a_password_in_a_bad_address_is_not_told() -> None:
    with pytest.raises(errors.UsageError) as raised:
        resolve(ModelSettings(base_url=f"https://me:{KEY}@host:eighty/v1"))

    assert "host:eighty" in str(raised.value)
    assert KEY not in str(raised.value)


def test_an_ipv6_address_keeps_its_brackets() -> None:
    assert host_and_port("http://[::1]:8080/v1") == "[::1]:8080"


# --- models of the catalogue ----------------------------------------------------------------------


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes it look as if the weights of a model were there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(discovery, "embedded_installed", lambda: True)

    def fetch(model: str) -> None:
        weights = published_weights(model)
        file = tmp_path / "jupyter-codeagent" / "weights" / weights.file
        file.parent.mkdir(parents=True)
        with open(file, "wb") as opened:
            opened.truncate(weights.size_bytes)

    return fetch


def test_a_model_of_the_catalogue_is_used_by_its_name(
    ports: dict[int, str], fetched: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched("granite-4.1-8b")

    named = resolve(ModelSettings(model="granite-4.1-8b"))
    assert (named.model, named.kind, named.label, named.remote) == ("granite-4.1-8b", "embedded", "embedded", False)
    assert resolve(ModelSettings(model="embedded:granite-4.1-8b")) == named
    assert resolve(ModelSettings(), {"CODEAGENT_MODEL": "embedded:granite-4.1-8b"}) == named


def test_a_name_alone_is_looked_for_on_servers_first_and_with_embedded_nowhere_else(
    ports: dict[int, str], fetched: Callable[[str], None], model_server: ModelServer
) -> None:
    fetched("granite-4.1-8b")
    model_server.models = [{"id": "granite-4.1-8b"}]
    ports[port_of(model_server)] = "LM Studio"
    chosen = {"CODEAGENT_BASE_URL": model_server.url}

    assert resolve(ModelSettings(model="granite-4.1-8b")).kind == "server"
    assert resolve(ModelSettings(model="embedded:granite-4.1-8b"), chosen).kind == "embedded"
    with pytest.raises(errors.ModelNotFoundError, match=r"has no model 'embedded:granite-4\.1-8b'"):
        resolve(ModelSettings(model="embedded:granite-4.1-8b", base_url=model_server.url))


@pytest.mark.parametrize("name", ["granite-4.1-8b", "embedded:granite-4.1-8b"])
def test_a_model_whose_weights_are_not_there_says_how_to_get_them(
    ports: dict[int, str], fetched: Callable[[str], None], name: str
) -> None:
    with pytest.raises(errors.WeightsError, match=r"run: jupyter codeagent models fetch granite-4\.1-8b$"):
        resolve(ModelSettings(model=name))


def test_embedded_with_an_unknown_name_names_the_known(fetched: Callable[[str], None]) -> None:
    with pytest.raises(errors.UsageError, match=r"no model 'granite'; it has: .*granite-4.1-8b"):
        resolve(ModelSettings(model="embedded:granite"))


def test_the_model_that_was_found_is_the_one_that_is_opened(
    ports: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[ModelSettings] = []

    async def ready(model: EmbeddedModel) -> None:
        opened.append(model._settings)

    monkeypatch.setattr(EmbeddedModel, "ready", ready)
    endpoint = ModelEndpoint(model="granite-4.1-8b", label="embedded", kind="embedded", remote=False)
    model = asyncio.run(open_model(endpoint, ModelSettings()))

    assert model.name == "granite-4.1-8b"
    assert [settings.model for settings in opened] == ["embedded:granite-4.1-8b"]


def test_a_larger_model_is_given_more_time_for_its_prompt() -> None:
    default, larger = ModelSettings(), ModelSettings(model="embedded:qwen2.5-coder-7b-instruct")

    assert with_scaled_timeout(default) == default
    assert with_scaled_timeout(replace(default, model="embedded:qwen2.5-coder-0.5b-instruct")).read_timeout_s == 120
    assert with_scaled_timeout(larger).read_timeout_s == pytest.approx(503, abs=1)
    own = ModelSettings(weights="/somewhere/mine.gguf")
    assert with_scaled_timeout(own) == own


# --- lists, opening -------------------------------------------------------------------------------


def test_the_list_says_what_the_environment_has_chosen(ports: dict[int, str], model_server: ModelServer) -> None:
    model_server.models = [{"id": "one"}, {"id": "two"}]
    ports[port_of(model_server)] = "vLLM"
    environ = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_MODEL": "two"}
    at = host_and_port(model_server.url)

    chosen = asyncio.run(list_models(ModelSettings(), environ))
    found = asyncio.run(list_models(ModelSettings(), {}))

    labels = [(model.name, model.label) for model in chosen[:-1]]
    assert labels == [("one", f"{at} (CODEAGENT_BASE_URL)"), ("two", f"{at} (CODEAGENT_BASE_URL, CODEAGENT_MODEL)")]
    assert [model.label for model in found[:-1]] == [at, at]


def test_without_the_extra_the_list_says_how_to_install_it(
    ports: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)

    [embedded] = asyncio.run(list_models(ModelSettings(), {}))

    assert not embedded.ready
    assert "jupyter-codeagent[local]" in embedded.problem


def test_a_registered_model_that_fails_to_open_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        value = "somewhere:make"

        def load(self) -> Any:
            raise ImportError("no module\nsomewhere")

    monkeypatch.setattr(discovery, "_registered", lambda name: Entry() if name == "mine" else None)
    endpoint = resolve(ModelSettings(model="mine", configured=("mine",)))

    with pytest.raises(errors.NoModelError, match=r"'mine' \(somewhere:make\).*no module somewhere") as raised:
        asyncio.run(open_model(endpoint, ModelSettings()))
    assert "\n" not in str(raised.value)


def test_an_embedded_model_whose_server_is_gone_starts_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "own.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", f"{TESTS / 'fake_llama'}:{TESTS.parent}")

    async def three_times() -> list[int]:
        model = EmbeddedModel(ModelSettings(weights=str(weights)))
        first, second = await model.ready(), await model.ready()
        await asyncio.to_thread(stop_embedded)
        third = await model.ready()
        await model.close()
        return [id(first), id(second), id(third)]

    try:
        first, second, third = asyncio.run(three_times())
    finally:
        stop_embedded()

    assert first == second
    assert third != first
