"""The administrator's policy: one file, checked whole; each rule bounds one setting and nothing becomes laxer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from policies import FILE, ruled, write_policy

from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.session.run_request import asked_by, with_options
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.enforcement import check_switched_on, within
from jupyter_codeagent.settings.policy import DIRECTORIES, read_policy
from jupyter_codeagent.settings.rules import RULES
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import DeniedError, UsageError

A, B = "http://127.0.0.1:9/v1", "https://llm.example.org/v1"


def under(rules: dict[str, Any], **chosen: Any) -> Settings:
    """What is in force where the user has chosen these settings."""
    config = CodeAgent(**chosen)
    return within(ruled(rules), config.settings(), config.chosen())


# --- the file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{", "[]", "", "\ufeff{}", '{"privacy": "stats", "privacy": "samples"}'])
def test_a_file_that_cannot_be_understood_stops_everything_and_is_named(tmp_path: Path, text: str) -> None:
    path = write_policy(tmp_path, text)
    with pytest.raises(UsageError, match=r"administrator's policy .* so nothing runs") as caught:
        read_policy([str(tmp_path)])
    assert str(path) in str(caught.value)


def test_a_key_that_is_unknown_stops_everything_and_is_named(tmp_path: Path) -> None:
    write_policy(tmp_path, {"aprove": "ask"})
    with pytest.raises(UsageError, match="unknown key 'aprove'"):
        read_policy([str(tmp_path)])


WRONG: dict[str, list[Any]] = {
    "base_url": ["", [], [1], None, 7],
    "model": [None, "", ["m", ""]],
    "privacy": ["none", ["schema"]],
    "approve": [None, "never"],
    "apply": [False, "auto"],
    "tools": ["none"],
    "explore": ["no", 0, None],
    "subprocess": [0, None],
    "levels": ["bubblewrap", ["bublewrap"], []],
    "charts": ["bokeh"],
    "sandbox_engine": ["lxc"],
    "max_steps": ["two", 0, True, 1.5],
    "timeout_s": ["10s", float("nan"), float("inf"), 0],
    "memory_mb": [-1],
    "contact": [7, "two\nlines"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in WRONG.items() for value in values])
def test_a_value_that_is_none_of_its_kind_stops_everything_and_is_named(
    tmp_path: Path, key: str, value: Any
) -> None:
    path = write_policy(tmp_path, {key: value})
    with pytest.raises(UsageError) as caught:
        read_policy([str(tmp_path)])
    assert str(path) in str(caught.value)
    assert f"{key} = {json.dumps(value)}" in str(caught.value)
    assert "it must be" in str(caught.value)


def test_a_file_that_is_a_dangling_link_a_directory_or_out_of_sight_stops_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "codeagent_policy.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "directory" / "codeagent_policy.json").mkdir(parents=True)
    for name in ("link", "directory"):
        with pytest.raises(UsageError, match=r"administrator's policy .* cannot be read"):
            read_policy([str(tmp_path / name)])

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "lstat", refuse)  # a directory that may not be searched; tests may run as root
    with pytest.raises(UsageError, match="Permission denied"):
        read_policy([str(tmp_path)])


def test_a_file_is_read_and_none_is_no_policy(tmp_path: Path) -> None:
    assert read_policy([str(tmp_path), str(tmp_path / "not there")]).rules == {}
    path = write_policy(tmp_path, {"approve": "ask", "contact": " ada@example.org "})
    policy = read_policy([str(tmp_path)])
    assert (policy.rules, policy.files, policy.contact) == (
        {"approve": "ask"},
        {"approve": str(path)},
        "ada@example.org",
    )


def test_no_variable_of_the_environment_leads_to_another_file() -> None:
    # Jupyter's own list of system directories follows JUPYTER_PLATFORM_DIRS and XDG_CONFIG_DIRS.
    assert DIRECTORIES == ("/etc/jupyter", "/usr/local/etc/jupyter")


def test_of_two_files_both_hold_and_each_rule_names_its_own(tmp_path: Path) -> None:
    one = write_policy(
        tmp_path / "one", {"max_steps": 3, "privacy": "samples", "base_url": [A, B], "clients": True}
    )
    two = write_policy(tmp_path / "two", {"max_steps": 9, "privacy": "schema", "base_url": [B], "explore": False})
    policy = read_policy([str(one.parent), str(two.parent)])
    assert policy.rules == {
        "max_steps": 3,
        "privacy": "schema",
        "base_url": [B],
        "clients": True,
        "explore": False,
    }
    assert {key: Path(file).parent.name for key, file in policy.files.items()} == {
        "max_steps": "one",
        "privacy": "two",
        "base_url": "two",
        "clients": "one",
        "explore": "two",
    }
    write_policy(tmp_path / "two", {"base_url": "http://127.0.0.1:7/v1"})
    with pytest.raises(UsageError, match="allow no base_url in common"):
        read_policy([str(one.parent), str(two.parent)])


@pytest.mark.parametrize(("base_url", "model"), [("embedded", "big"), (A, ["embedded", "embedded:small"])])
def test_a_file_that_allows_no_model_on_its_servers_stops_everything(
    tmp_path: Path, base_url: str, model: Any
) -> None:
    write_policy(tmp_path, {"base_url": base_url, "model": model})
    with pytest.raises(UsageError, match="allows no model"):
        read_policy([str(tmp_path)])


def test_the_guide_has_every_rule_with_its_values_and_its_example_is_a_policy(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "administrators.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| (.*?) \| .+ \|$", guide, re.MULTILINE)
    assert table == [(key, rule.bound.wanted) for key, rule in RULES.items()]
    [example, *recipes] = re.findall(r"```json\n(.*?)```|^\| .* \| `(\{.*\})` \|$", guide, re.DOTALL | re.MULTILINE)
    for text in (example[0], *(recipe[1] for recipe in recipes)):
        write_policy(tmp_path, text)
        assert read_policy([str(tmp_path)]).rules
    told = under({"privacy": "stats"}, privacy="samples").cuts[0].replace("them", "data-platform@example.org")
    assert told in guide


# --- what a rule does -----------------------------------------------------------------------------------


def test_options_win_over_configuration_and_the_policy_wins_over_options() -> None:
    configured = CodeAgent(approve="ask", max_steps=6, timeout_s=50).settings()
    options = parse_options("--approve auto --privacy samples --max-steps 9 --timeout 900")
    chosen = with_options(configured, options)
    assert (chosen.approve, chosen.privacy, chosen.max_steps, chosen.sandbox.wall_s) == ("auto", "samples", 9, 900)
    rules = {"approve": "review", "privacy": "schema", "max_steps": 2, "timeout_s": 10}
    kept = within(ruled(rules), chosen, asked_by(options))
    assert (kept.approve, kept.privacy, kept.max_steps, kept.sandbox.wall_s) == ("review", "schema", 2, 10)
    assert len(kept.cuts) == 4


def test_a_rule_never_makes_anything_laxer() -> None:
    strict = CodeAgent(approve="ask", privacy="schema", max_steps=1, memory_mb=300).settings()
    rules = {"approve": "auto", "privacy": "samples", "max_steps": 9, "memory_mb": 9000, "subprocess": True}
    kept = within(ruled(rules), strict, RULES)
    assert [RULES[key].value(kept) for key in RULES] == [RULES[key].value(strict) for key in RULES]
    assert kept.cuts == ()


def test_what_was_chosen_and_is_not_allowed_is_one_line_and_a_default_is_none() -> None:
    assert under({"privacy": "schema"}, privacy="samples").cuts == (
        f'privacy = samples is not allowed by your administrator (rule privacy = "schema" in {FILE}),'
        " so schema is used. Ask them if you need it.",
    )
    assert (under({"privacy": "schema"}).privacy, under({"privacy": "schema"}).cuts) == ("schema", ())
    [line] = under({"memory_mb": 512}, memory_mb=4096).cuts
    assert line.startswith("memory_mb = 4096 is not allowed")
    assert "so 512 is used" in line


@pytest.mark.parametrize("asked", [float("inf"), float("nan"), 1e300])
def test_no_number_is_too_large_or_too_strange_to_be_bounded(asked: float) -> None:
    assert under({"timeout_s": 5}, timeout_s=asked).sandbox.wall_s == 5


def test_a_sandbox_level_that_is_not_allowed_is_not_used() -> None:
    assert under({"levels": ["bubblewrap"]}).sandbox.levels == ("bubblewrap",)
    with pytest.raises(UsageError, match=r'sandbox = landlock is not allowed .*rule levels = \["bubblewrap"\]'):
        under({"levels": ["bubblewrap"]}, sandbox="landlock")


def test_one_server_that_is_allowed_ends_the_search_for_others() -> None:
    model = under({"base_url": A, "model": "m"}).model
    assert (model.base_url, model.model, model.discover, model.servers) == (A, "m", False, (A,))


@pytest.mark.parametrize(
    ("rules", "chosen", "base_url", "model"),
    [
        ({"base_url": [A, B]}, {}, A, ""),
        ({"base_url": [A, B]}, {"base_url": f"{B}/"}, f"{B}/", ""),
        ({"base_url": [A, B]}, {"base_url": "http://mine/v1", "model": "m"}, A, "m"),
        ({"base_url": [A, B]}, {"model": "embedded:small"}, A, ""),
        ({"base_url": "embedded"}, {}, "", "embedded"),
        ({"base_url": "embedded"}, {"base_url": "http://mine/v1", "model": "m"}, "", "embedded"),
        ({"base_url": "embedded", "model": "embedded:s"}, {"model": "embedded:t"}, "", "embedded:s"),
        ({"base_url": [A, "embedded"]}, {"model": "embedded:s"}, "", "embedded:s"),
        ({"base_url": ["embedded", A]}, {"model": "m"}, A, "m"),
        ({"base_url": ["embedded", A]}, {}, "", "embedded"),
        ({"base_url": [A, "embedded"], "model": ["m", "embedded:s"]}, {"model": "embedded:s"}, "", "embedded:s"),
        ({"model": ["m", "n"]}, {"model": "n", "base_url": "http://mine/v1"}, "http://mine/v1", "n"),
        ({"model": ["m", "n"]}, {"model": "o"}, "", "m"),
        ({"model": ["m", "n"]}, {}, "", "m"),
    ],
)
def test_of_servers_and_models_that_are_allowed_the_user_chooses_and_the_first_is_used_otherwise(
    rules: dict[str, Any], chosen: dict[str, Any], base_url: str, model: str
) -> None:
    found = under(rules, **chosen)
    assert (found.model.base_url, found.model.model) == (base_url, model)
    lost = {name for name in chosen if getattr(found.model, name) != chosen[name]}
    assert {line.split(" ")[0] for line in found.cuts} == lost


def test_a_file_of_the_users_own_is_no_model_that_is_allowed_whatever_its_name() -> None:
    rules = {"base_url": "embedded", "model": "embedded:small"}
    found = under(rules, weights="/home/me/small.gguf", model="embedded:small")
    assert (found.model.model, found.model.weights) == ("embedded:small", "")
    assert found.cuts[0].startswith(
        "weights = /home/me/small.gguf is not allowed by your administrator (rule model"
    )
    allowed = under({**rules, "weights": ["", "/home/me/small.gguf"]}, weights="/home/me/small.gguf")
    assert (allowed.model.weights, allowed.cuts) == ("/home/me/small.gguf", ())


def test_a_setting_that_is_a_command_is_ruled_as_one_text() -> None:
    rule = "ssh box python -m jupyter_codeagent.sandbox.remote.relay"
    assert under({"sandbox_command": rule}, sandbox_command=["ssh", "mine"]).sandbox.command == tuple(rule.split())
    kept = under({"sandbox_command": rule}, sandbox_command=rule.split())
    assert (kept.sandbox.command, kept.cuts) == (tuple(rule.split()), ())
    assert under({"sandbox_command": ""}, sandbox_command=["ssh", "mine"]).sandbox.command == ()


def test_what_is_switched_off_says_by_whom() -> None:
    with pytest.raises(DeniedError, match=r"%agent explore df is not allowed by your administrator \(rule explore"):
        check_switched_on(under({"explore": False}), "explore", "%agent explore df")
    with pytest.raises(DeniedError, match=r"switched off in this kernel: `%config CodeAgent.explore = True`"):
        check_switched_on(under({}, explore=False), "explore", "%agent explore df")
    check_switched_on(under({"explore": True}), "explore", "%agent explore df")


def test_mcp_clients_are_let_in_by_the_user_alone_and_the_administrator_can_forbid_it() -> None:
    assert not CodeAgent().settings().clients
    assert not under({"clients": True}).clients
    assert under({}, clients=True).clients
    assert not under({"clients": False}, clients=True).clients
