"""Which of several places says what a setting is, and what a person may change in the panel."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from policies import ruled
from traitlets.config import Config

from jupyter_codeagent.frontend import settings_view
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.session.wiring import new_session
from jupyter_codeagent.settings import policy as policy_module
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.enforcement import within
from jupyter_codeagent.settings.view import EffectiveSetting, check_change, effective_settings
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions

FILE = Config({"CodeAgent": {"privacy": "stats", "max_steps": 4}})  # the values as delivered, but written down


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEAGENT_MODEL", "CODEAGENT_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def shown(config: CodeAgent, name: str, caps: dict[str, Any] | None = None) -> EffectiveSetting:
    return next(one for one in effective_settings(config, ruled(caps or {})) if one.name == name)


def test_session_wins_over_file_over_the_users_settings_over_what_is_delivered() -> None:
    config = CodeAgent(config=FILE)
    assert (config.settings().max_steps, config.source("max_steps")) == (4, "file")
    config.adopt_preferences({"privacy": "samples", "max_steps": 9, "approve": "ask", "timeout_s": 7})
    settings = config.settings()
    assert (settings.privacy, settings.max_steps, settings.approve, settings.sandbox.wall_s) == (
        "stats",
        4,
        "ask",
        7,
    )
    assert [config.source(name) for name in ("privacy", "approve", "model")] == ["file", "user", "default"]
    config.set_in_session(privacy="stats", approve="review")  # the same as elsewhere: chosen all the same
    assert [config.source(name) for name in ("privacy", "approve")] == ["session", "session"]
    assert config.settings().approve == "review"


def test_percent_config_holds_against_the_users_settings_even_with_the_value_that_it_had() -> None:
    config = CodeAgent()
    config.adopt_preferences({"privacy": "samples"})
    assert config.settings().privacy == "samples"
    config.update_config(Config({"CodeAgent": {"privacy": "stats"}}))
    assert (config.settings().privacy, config.source("privacy")) == ("stats", "session")


def test_the_environment_names_the_server_before_the_users_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    config = CodeAgent()
    config.adopt_preferences({"model": "mine", "base_url": "http://127.0.0.1:1/v1"})
    assert (config.settings().model.model, config.settings().model.base_url) == ("mine", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("CODEAGENT_BASE_URL", "http://127.0.0.1:2/v1")
    assert (config.settings().model.model, config.settings().model.base_url) == ("", "")  # both are read there
    assert config.source("base_url") == "environment"


def test_a_model_of_the_users_settings_is_not_asked_of_a_server_that_was_chosen_elsewhere() -> None:
    config = CodeAgent()
    config.adopt_preferences({"model": "mine", "base_url": "http://127.0.0.1:1/v1"})
    config.set_in_session(base_url="http://127.0.0.1:3/v1")
    assert config.settings().model.model == ""
    config.set_in_session(model="other")
    assert (config.settings().model.model, config.settings().model.base_url) == ("other", "http://127.0.0.1:3/v1")


@pytest.mark.parametrize(
    "values",
    [{"sandbox": "none"}, {"api_key": "x"}, {"privacy": "everything"}, {"max_steps": 0}, {"max_steps": "4"}],
)
def test_preferences_that_are_none_or_do_not_fit_are_refused_by_name_and_the_others_hold(
    values: dict[str, Any],
) -> None:
    config = CodeAgent()
    (refusal,) = config.adopt_preferences({"approve": "ask", **values})
    assert next(iter(values)) in refusal
    assert config.settings().approve == "ask"
    assert config.settings().max_steps == 4


def test_what_protects_the_user_is_the_strictest_where_it_cannot_be_read() -> None:
    config = CodeAgent()
    assert len(config.adopt_preferences({"privacy": "shcema", "approve": 1})) == 2
    assert (config.settings().privacy, config.settings().approve) == ("schema", "ask")


def test_the_administrators_rules_win_over_the_users_settings_and_are_shown_with_their_limit() -> None:
    config = CodeAgent()
    config.adopt_preferences({"privacy": "samples", "max_steps": 9})
    caps = {"privacy": "schema", "max_steps": 6, "model": "small"}
    assert shown(config, "privacy", caps) == EffectiveSetting(
        name="privacy", value="schema", source="administrator", fixed=True, limit="schema"
    )
    steps = shown(config, "max_steps", caps)
    assert (steps.value, steps.source, steps.fixed, steps.limit) == (6, "administrator", False, 6)
    assert (shown(config, "model", caps).value, shown(config, "model", caps).fixed) == ("small", True)
    assert shown(config, "approve", caps).limit is None


@pytest.mark.parametrize(
    ("name", "value", "cap"),
    [("privacy", "samples", "stats"), ("approve", "auto", "ask"), ("max_steps", 7, 6), ("model", "big", "small")],
)
def test_nothing_looser_than_the_administrator_allows_is_set(name: str, value: Any, cap: Any) -> None:
    with pytest.raises(UsageError, match=rf"{name} = {value} is not allowed by your administrator \(rule {name}"):
        check_change(name, value, ruled({name: cap}))
    check_change(name, cap, ruled({name: cap}))
    check_change(name, value, ruled({}))


class LinkDouble:
    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.states = 0

    def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def send_state(self) -> None:
        self.states += 1


def session(monkeypatch: pytest.MonkeyPatch, caps: dict[str, Any]) -> tuple[SettingsHandler, CodeAgent, LinkDouble]:
    monkeypatch.setattr(settings_view, "read_policy", lambda: ruled(caps))
    config, link = CodeAgent(discover=False), LinkDouble()
    made = SettingsHandler(
        config=config,
        models=ModelResolver(),
        grants=Grants(),
        settings=lambda: within(ruled(caps), config.settings()),
        link=lambda: cast("PanelLink", link),
        changed=lambda: None,
        submit=asyncio.run,
    )
    return made, config, link


def test_a_server_elsewhere_is_used_only_after_a_yes_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, config, link = session(monkeypatch, {})
    use = {"type": "use_model", "model": "big", "base_url": "https://models.example.org/v1"}
    for confirmed in ("", "other.example.org"):
        settings.handle_message({**use, "confirmed": confirmed})
        assert "models.example.org is not this machine" in link.sent[-1]["text"]
        assert config.settings().model.base_url == ""
        assert settings._grants.all == ()
    settings.handle_message({**use, "confirmed": "models.example.org"})
    assert settings._grants.all == (Grant(kind="server", subject="https://models.example.org"),), "not asked again"
    assert (config.settings().model.model, config.settings().model.base_url) == ("big", use["base_url"])
    assert settings.view()["server"] == {"model": "big", "label": "models.example.org", "remote": True}


def test_a_model_of_the_catalogue_is_shown_as_one_that_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, config, _ = session(monkeypatch, {})

    config.set_in_session(model="embedded:granite-4.1-8b")

    assert settings.view()["server"] == {"model": "granite-4.1-8b", "label": "embedded", "remote": False}


def test_a_change_that_the_administrator_forbids_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, config, link = session(monkeypatch, {"privacy": "stats", "base_url": "http://127.0.0.1:9/v1"})
    settings.handle_message({"type": "choose", "name": "privacy", "value": "samples"})
    settings.handle_message(
        {"type": "use_model", "model": "m", "base_url": "http://127.0.0.1:8/v1", "confirmed": ""}
    )
    assert [message["type"] for message in link.sent] == ["refused", "refused"]
    assert 'privacy = samples is not allowed by your administrator (rule privacy = "stats"' in link.sent[0]["text"]
    assert "base_url = http://127.0.0.1:8/v1 is not allowed by your administrator" in link.sent[1]["text"]
    assert config.settings().privacy == "stats"
    assert config.source("privacy") == "default"
    settings.handle_message({"type": "choose", "name": "privacy", "value": "schema"})
    assert config.settings().privacy == "schema"
    assert link.states == 3


def test_only_servers_that_a_person_named_are_asked_for_their_models(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def listed(base_url: str, _key: str, *, timeout_s: float) -> None:
        asked.append(base_url)

    monkeypatch.setattr("jupyter_codeagent.models.servers.fetch_model_list", listed)
    settings, config, link = session(monkeypatch, {})
    settings.handle_message({"type": "find_models"})
    assert (asked, link.sent[-1]["servers"]) == ([], [])
    config.adopt_preferences({"base_url": "https://models.example.org/v1/"})
    settings.handle_message({"type": "find_models"})
    assert asked == ["https://models.example.org/v1"]
    assert "does not list its models" in link.sent[-1]["servers"][0]["problem"]
    fixed, other, _ = session(monkeypatch, {"base_url": "http://127.0.0.1:9/v1"})
    other.adopt_preferences({"base_url": "https://models.example.org/v1/"})
    asked.clear()
    fixed.handle_message({"type": "find_models"})
    assert asked == ["http://127.0.0.1:9/v1"]


def test_a_slip_in_the_users_settings_is_told_and_the_panel_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, config, link = session(monkeypatch, {})
    settings.handle_message(
        {"type": "hello", "preferences": {"privacy": "schema", "max_steps": 0, "base_url": "localhost:1"}}
    )
    assert config.settings().privacy == "schema"
    assert ["localhost:1" in link.sent[0]["text"], "max_steps" in link.sent[1]["text"]] == [True, True]


@pytest.mark.parametrize("address", ["localhost:11434/v1", "http://[1/v1"])
def test_a_mistyped_address_is_told_where_it_can_be_mended(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    settings, config, link = session(monkeypatch, {})
    config.base_url = address
    server = settings.view()["server"]
    assert server is not None
    assert address in server["label"]
    settings.use_model("m", address, "")
    assert address in link.sent[-1]["text"]


@pytest.mark.parametrize(("name", "value"), [("base_url", "https://elsewhere.example/v1"), ("model", "registered")])
def test_no_page_chooses_a_server_past_the_yes_that_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    settings, config, link = session(monkeypatch, {})
    settings.handle_message({"type": "choose", "name": name, "value": value})
    assert config.source(name) == "default"
    assert link.sent[-1]["type"] == "refused"


@pytest.mark.parametrize(("name", "value"), [("max_steps", "abc"), ("privacy", "everything")])
def test_a_value_that_does_not_fit_is_refused_also_under_the_administrators_rules(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    settings, _, link = session(monkeypatch, {"max_steps": 6, "privacy": "stats"})
    settings.handle_message({"type": "choose", "name": name, "value": value})
    assert f"The setting {name} cannot be" in link.sent[-1]["text"]


def test_a_key_that_names_no_server_goes_only_to_the_first_that_is_configured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys: dict[str, str] = {}

    def listed(base_url: str, key: str, *, timeout_s: float) -> None:
        keys[base_url] = key

    monkeypatch.setattr("jupyter_codeagent.models.servers.fetch_model_list", listed)
    monkeypatch.setenv("CODEAGENT_API_KEY", "for-one-server")
    monkeypatch.setenv("OPENAI_API_KEY", "of-openai")
    settings, config, link = session(monkeypatch, {})
    config.base_url = "https://one.example/v1"
    config.adopt_preferences({"base_url": "https://preferred.example/v1"})
    settings.handle_message({"type": "find_models"})
    assert keys == {"https://preferred.example/v1": "for-one-server"}
    assert "asks once before it is used" in link.sent[-1]["servers"][0]["problem"]

    started = {"OPENAI_BASE_URL": "https://openai.example/v1", "OPENAI_API_KEY": "of-openai"}
    for module in ("settings.config", "models.keys"):
        monkeypatch.setattr(f"jupyter_codeagent.{module}.initial_environ", lambda: started)
    monkeypatch.setenv("OPENAI_BASE_URL", started["OPENAI_BASE_URL"])
    settings.handle_message({"type": "find_models"})
    assert keys == {"https://openai.example/v1": "of-openai", "https://preferred.example/v1": ""}


@pytest.mark.parametrize("host", ["a..b", "a" * 64, "127.0.0.1:1/v\u00e9", "[1"])
def test_an_address_that_no_host_can_have_is_listed_with_its_problem(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    settings, config, link = session(monkeypatch, {})
    config.base_url = f"http://{host}/v1"
    settings.handle_message({"type": "find_models"})
    assert link.sent[-1]["servers"][0]["problem"]


def test_a_mistyped_address_in_force_is_no_fault_of_the_other_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.models.servers.fetch_model_list", lambda *_, timeout_s: ())
    settings, config, link = session(monkeypatch, {})
    config.base_url = "localhost:1/v1"
    config.adopt_preferences({"base_url": "http://127.0.0.1:2/v1"})
    settings.handle_message({"type": "find_models"})
    problems = {server["base_url"]: server["problem"] for server in link.sent[-1]["servers"]}
    assert problems["localhost:1/v1"]
    assert problems["http://127.0.0.1:2/v1"] == ""


def test_a_policy_that_cannot_be_read_is_told_with_file_and_reason_and_the_page_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = tmp_path / "codeagent_policy.json"
    policy.write_text("{", encoding="utf-8")
    monkeypatch.setattr(policy_module, "DIRECTORIES", (str(tmp_path),))
    shell = SimpleNamespace(user_ns={}, user_ns_hidden={})
    made = new_session(cast("Any", shell), CodeAgent())
    try:
        state = made.state()
        assert (state["settings"]["values"], state["settings"]["server"]) == ([], None)
        assert str(policy) in state["settings"]["problem"]
        assert "Expecting property name" in state["settings"]["problem"]
        assert (state["model"], state["approve"]) == ("", "ask"), "the strictest"
        with pytest.raises(UsageError, match="cannot be read"):
            made.preparation.prepare_run("anything?", RunOptions(), CellOrigin())
        policy.write_text('{"approve": "ask", "max_transfer_mb": 3}', encoding="utf-8")
        assert made.state()["settings"]["problem"] == ""
        assert made.settings().max_transfer_bytes == 3 << 20
    finally:
        made.close()
