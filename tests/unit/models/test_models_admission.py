"""`models.admission`, `models.keys`, `models.endpoint`: who needs a yes, whose keys go where, what is shown."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from model_server import ModelServer, Reply, serving
from policies import ruled
from traitlets.config import Config

from jupyter_codeagent.models import discovery, keys, owners, servers
from jupyter_codeagent.models.admission import address_to_confirm, admit, admit_registered
from jupyter_codeagent.models.discovery import list_models, predict_model, resolve_model
from jupyter_codeagent.models.endpoint import ModelEndpoint, origin, parse_address
from jupyter_codeagent.models.keys import key_for
from jupyter_codeagent.models.listing import fetch_model_list
from jupyter_codeagent.models.server_status import model_server_statuses
from jupyter_codeagent.settings import config as configuration
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.enforcement import within
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import (
    ForbiddenServerError,
    ModelRefusedError,
    NoModelError,
    UnconfirmedServerError,
    UsageError,
)

API = "https://api.example.org/v1"
KEY = "sk-the-users-own-secret"


def elsewhere(server: ModelServer) -> str:
    """The same server by an address that is taken for that of another machine."""
    return server.url.replace("127.0.0.1", "127.1")


# --- who needs a yes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        ModelSettings(configured=(API,)),
        ModelSettings(configured=("qwen", "http://127.0.0.1:1", "HTTPS://API.example.org:443/other")),
        ModelSettings(allowed=("https://api.example.org",)),
    ],
)
def test_a_server_elsewhere_that_was_configured_or_got_a_yes_is_admitted(settings: ModelSettings) -> None:
    assert admit(API, settings) is None


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.org/v1",
        "https://api.example.org:8443/v1",
        "https://api.example.org.evil.org/v1",
        "https://example.org/v1",
        "https://\u0430pi.example.org/v1",
        "http://localhost.example.org:8000/v1",
        "http://127.1:8000/v1",
        "http://0x7f000001:8000/v1",
        "http://[::ffff:192.0.2.1]:8000/v1",
    ],
)
def test_every_other_one_needs_a_yes_that_names_it(url: str) -> None:
    with pytest.raises(UnconfirmedServerError, match=r"nothing was sent.*CODEAGENT_ALLOW_SERVERS=http") as raised:
        admit(url, ModelSettings(configured=(API,), allowed=("https://example.com",)))
    assert raised.value.address == origin(url)
    assert raised.value.address.isascii()
    assert admit(url, ModelSettings(allowed=(raised.value.grant,))) is None


def test_a_server_elsewhere_is_not_even_asked_for_its_models_before_the_yes(model_server: ModelServer) -> None:
    url = elsewhere(model_server)
    settings = ModelSettings(base_url=url, discover=False)
    environ = {"CODEAGENT_BASE_URL": url, "CODEAGENT_API_KEY": KEY}

    with pytest.raises(UnconfirmedServerError):
        asyncio.run(resolve_model(settings, environ))
    [line, _] = asyncio.run(list_models(settings, environ))
    [served] = asyncio.run(model_server_statuses((url,), settings, environ))

    assert "was not configured" in line.problem
    assert (served.remote, "was not configured" in served.problem) == (True, True)
    assert model_server.headers == []
    allowed = ModelSettings(base_url=url, allowed=(url,))
    assert asyncio.run(resolve_model(allowed, environ)).remote
    assert model_server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_model_of_another_package_needs_a_yes_unless_it_was_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry:
        value = "somewhere:make"

    monkeypatch.setattr(discovery, "_registered", lambda name: Entry() if name == "mine" else None)
    with pytest.raises(UnconfirmedServerError, match=r"'mine'.*somewhere:make") as raised:
        asyncio.run(resolve_model(ModelSettings(model="mine"), {}))
    for settings in (
        ModelSettings(model="mine", allowed=(raised.value.grant,)),
        ModelSettings(model="mine", configured=(API, "mine")),
    ):
        assert asyncio.run(resolve_model(settings, {})).kind == "registered"
    foreseen = predict_model(ModelSettings(model="mine"), {})
    assert address_to_confirm(foreseen, ModelSettings(model="mine")) == "mine (somewhere:make)"


def test_a_redirect_to_elsewhere_is_followed_with_nothing(model_server: ModelServer) -> None:
    with serving() as other:
        model_server.get = Reply(status=302, location=f"{other.url}/models")
        assert fetch_model_list(model_server.url, KEY, timeout_s=10) is None
        assert other.headers == []


# --- without asking anybody -----------------------------------------------------------------------


def foreseen(settings: ModelSettings, environ: Mapping[str, str] | None = None) -> ModelEndpoint:
    return predict_model(settings, environ or {})


def test_the_model_of_a_dry_run_is_told_without_asking_its_server(model_server: ModelServer) -> None:
    environ = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_API_KEY": KEY}
    named = foreseen(ModelSettings(model="big"), environ)
    unnamed = foreseen(ModelSettings(), environ)
    assert (named.model, named.base_url, named.remote) == ("big", model_server.url, False)
    assert unnamed.model == "the first model it lists"
    assert model_server.headers == []


def test_a_server_of_the_users_that_would_be_found_is_told_without_asking_it(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = parse_address(model_server.url).port
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", {9: "Ollama", port: "vLLM"})
    assert foreseen(ModelSettings()).base_url == model_server.url
    assert foreseen(ModelSettings(model="embedded")).kind == "embedded"
    assert foreseen(ModelSettings(discover=False)).kind == "embedded"
    assert model_server.headers == []


def test_what_a_dry_run_would_have_to_ask_for_is_told() -> None:
    assert address_to_confirm(foreseen(ModelSettings(base_url=API)), ModelSettings()) == "https://api.example.org"
    assert address_to_confirm(foreseen(ModelSettings(base_url=API)), ModelSettings(configured=(API,))) == ""
    assert address_to_confirm(foreseen(ModelSettings(model="embedded")), ModelSettings()) == ""


def test_without_any_model_a_dry_run_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", {})
    monkeypatch.setattr(discovery, "embedded_installed", lambda: False)
    with pytest.raises(NoModelError, match="OPENAI_API_KEY alone is not used"):
        foreseen(ModelSettings(), {"OPENAI_API_KEY": KEY})


# --- keys -----------------------------------------------------------------------------------------


def test_an_address_that_a_cell_has_changed_does_not_get_the_key_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started = {"CODEAGENT_BASE_URL": API, "CODEAGENT_API_KEY": KEY, "OPENAI_API_KEY": "openai"}
    monkeypatch.setattr(keys, "initial_environ", lambda: started)
    changed = {
        **started,
        "CODEAGENT_BASE_URL": "https://evil.example/v1",
        "OPENAI_BASE_URL": "https://evil.example",
    }

    assert key_for("https://evil.example/v1", ModelSettings(), changed) == ""
    assert key_for(API, ModelSettings(), changed) == KEY
    assert key_for("https://api.openai.com/v1", ModelSettings(), changed) == "openai"
    both = {**changed, "CODEAGENT_API_KEY": "of-the-other"}
    assert key_for("https://evil.example/v1", ModelSettings(), both) == "of-the-other"


def test_a_server_that_wants_a_key_and_got_none_is_told_with_where_keys_go(model_server: ModelServer) -> None:
    model_server.get = Reply(status=401)
    with pytest.raises(
        ModelRefusedError, match=r"requires a key \(401\), and none was sent: CODEAGENT_API_KEY is sent only to"
    ):
        fetch_model_list(model_server.url, "", timeout_s=10)
    with pytest.raises(ModelRefusedError, match=r"refused the key \(401\): check CODEAGENT_API_KEY"):
        fetch_model_list(model_server.url, KEY, timeout_s=10)


# --- what was configured outside of the notebook --------------------------------------------------


def configured(agent: CodeAgent) -> tuple[str, ...]:
    return agent.settings().model.configured


def test_file_environment_and_jupyterlabs_settings_are_configured_and_the_session_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environ = {
        "OPENAI_BASE_URL": "https://c.example",
        "CODEAGENT_BASE_URL": " https://b.example ",
        "CODEAGENT_MODEL": "m",
    }
    monkeypatch.setattr(configuration, "initial_environ", lambda: environ)
    agent = CodeAgent(config=Config({"CodeAgent": {"base_url": "https://a.example", "model": "of-file"}}))
    agent.adopt_preferences({"base_url": "https://d.example", "model": "preferred"})
    monkeypatch.setenv("CODEAGENT_BASE_URL", "https://of-a-cell.example")
    agent.base_url = "https://session.example"
    agent.update_config(Config({"CodeAgent": {"base_url": "https://percent-config.example"}}))
    agent.set_in_session(base_url="https://chosen.example")

    found = configured(agent)
    assert [name for name in found if "://" in name] == [f"https://{letter}.example" for letter in "abcd"]
    assert {"of-file", "m", "preferred"} <= set(found)
    assert len(found) == 7


def test_what_the_administrator_names_needs_no_yes_and_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "initial_environ", lambda: {"CODEAGENT_BASE_URL": "https://b.example"})
    capped = within(ruled({"base_url": API}), CodeAgent().settings()).model
    assert capped.configured == (API, "https://b.example")
    assert admit(API, capped) is None
    assert key_for(API, capped, {"CODEAGENT_API_KEY": KEY}) == KEY


def test_where_the_administrator_names_the_servers_no_yes_and_no_configuration_admits_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = "https://other.example"
    monkeypatch.setattr(configuration, "initial_environ", lambda: {"CODEAGENT_ALLOW_SERVERS": other})
    settings = within(ruled({"base_url": [API, "embedded"]}), CodeAgent(base_url=f"{other}/v1").settings()).model
    for also in (settings, replace(settings, allowed=(other,), configured=(other,))):
        with pytest.raises(
            ForbiddenServerError, match=r"other\.example is not allowed .* \(rule base_url = "
        ) as told:
            admit(f"{other}/v1", also)
        assert "codeagent_policy.json" in str(told.value)
        with pytest.raises(ForbiddenServerError, match=r"'theirs' of another package \(its:Model\) is not allowed"):
            admit_registered("theirs", "its:Model", replace(also, configured=("theirs",)))
    assert admit(API, settings) is None


@pytest.mark.parametrize(("uid", "trusted"), [(0, True), (999, True), (54321, False)])
def test_another_user_who_listens_in_place_of_the_administrators_server_gets_nothing(
    monkeypatch: pytest.MonkeyPatch, uid: int, trusted: bool
) -> None:
    url = "http://127.0.0.1:9000/v1"
    monkeypatch.setattr(owners, "find_owners", lambda *_: frozenset({uid}))
    capped = within(ruled({"base_url": url}), CodeAgent().settings()).model
    if trusted:
        assert admit(url, capped) == frozenset({uid})
    else:
        with pytest.raises(UnconfirmedServerError, match="nothing was sent to it"):
            admit(url, capped)


def test_servers_that_may_be_used_unasked_are_read_from_the_environment_of_the_start_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CODEAGENT_ALLOW_SERVERS", "https://of-a-cell.example")
    assert CodeAgent().settings().model.allowed == ()
    started = {"CODEAGENT_ALLOW_SERVERS": " https://a.example  http://127.0.0.1:1 "}
    monkeypatch.setattr(configuration, "initial_environ", lambda: started)
    assert CodeAgent().settings().model.allowed == ("https://a.example", "http://127.0.0.1:1")


def test_the_environment_of_the_start_is_not_what_code_has_made_of_it() -> None:
    program = (
        "import os; os.environ['CODEAGENT_BASE_URL'] = 'https://late'; os.environ['CODEAGENT_MODEL'] = 'late'\n"
        "from jupyter_codeagent.settings.config import initial_environ as started\n"
        "print(started().get('CODEAGENT_BASE_URL'), started().get('CODEAGENT_MODEL'))"
    )
    environ = {**os.environ, "CODEAGENT_BASE_URL": "https://early"}
    environ.pop("CODEAGENT_MODEL", None)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=environ,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.split() == ["https://early", "None"]


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown", "connected"),
    [
        ("http://127.0.0.1:8000/v1/", "127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("https://API.Example.org:443/v1", "api.example.org", "https://api.example.org/v1"),
        ("http://[::1]:80", "[::1]", "http://[::1]"),
        ("http://\u0430pple.com/v1", "xn--pple-43d.com", "http://xn--pple-43d.com/v1"),
        ("http://127\u30020\u30020\u30021:1/v1", "127.0.0.1:1", "http://127.0.0.1:1/v1"),
        ("http://h/a b", "", ""),
        ("http://evil.example\\@127.0.0.1/v1", "", ""),
        ("http://127.0.0.1@evil.example/v1", "", ""),
        ("http://evil.example#@127.0.0.1/v1", "", ""),
        ("http://evil.example?@127.0.0.1/v1", "", ""),
        ("http://h\x1b]52;c;x\x07/v1", "", ""),
        ("http://h\u202e/v1", "", ""),
        ("http://h\n.example/v1", "", ""),
        ("http://[::1%25lo]:1/v1", "", ""),
        (f"http://{'h' * 3000}/v1", "", ""),
        ("http:///v1", "", ""),
    ],
)
def test_what_is_shown_of_an_address_is_what_is_connected_to(url: str, shown: str, connected: str) -> None:
    if not shown:
        with pytest.raises(UsageError) as raised:
            parse_address(url)
        assert str(raised.value).isprintable()
        assert len(str(raised.value)) < 400
        return
    address = parse_address(url)
    assert (address.label, address.url) == (shown, connected)


@pytest.mark.parametrize("name", ["a\x1b]52;c;x\x07b", "a\u202eb", "a\nb", "m" * 201])
def test_no_model_has_a_name_that_cannot_be_shown(name: str) -> None:
    for settings, environ in ((ModelSettings(model=name), {}), (ModelSettings(), {"CODEAGENT_MODEL": name})):
        with pytest.raises(UsageError, match="cannot be the name of a model") as raised:
            asyncio.run(resolve_model(settings, environ))
        assert str(raised.value).isprintable()
