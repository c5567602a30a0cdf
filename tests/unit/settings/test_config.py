"""`jupyter_codeagent.settings.config`: traits become settings, and the administrator's caps win over everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from traitlets import TraitError
from traitlets.config import Config

from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.session.run_request import with_options
from jupyter_codeagent.settings.config import CAPS, CodeAgent, apply_caps, read_caps
from jupyter_codeagent.types.errors import UsageError


def test_the_defaults_are_local_and_sandboxed() -> None:
    settings = CodeAgent().settings()
    assert settings.model.base_url == ""
    assert settings.model.discover
    assert "none" not in settings.sandbox.levels
    assert (settings.privacy, settings.approve, settings.max_steps) == ("stats", "review", 4)


def test_a_level_named_by_the_user_is_the_only_one_tried() -> None:
    assert CodeAgent(sandbox="landlock").settings().sandbox.levels == ("landlock",)


def test_options_win_over_configuration_and_caps_win_over_options() -> None:
    configured = CodeAgent(approve="ask", max_steps=6, timeout_s=50).settings()
    chosen = with_options(configured, parse_options("--approve auto --privacy samples --max-steps 9 --timeout 900"))
    assert (chosen.approve, chosen.privacy, chosen.max_steps, chosen.sandbox.wall_s) == ("auto", "samples", 9, 900)
    capped = apply_caps(chosen, {"approve": "review", "privacy": "schema", "max_steps": 2, "timeout_s": 10})
    assert (capped.approve, capped.privacy, capped.max_steps, capped.sandbox.wall_s) == ("review", "schema", 2, 10)


def test_caps_never_make_anything_laxer() -> None:
    strict = CodeAgent(approve="ask", privacy="schema", max_steps=1, memory_mb=300).settings()
    caps = {"approve": "auto", "privacy": "samples", "max_steps": 9, "memory_mb": 9000, "subprocess": True}
    assert apply_caps(strict, caps) == strict


def test_an_administrator_can_forbid_a_sandbox_level() -> None:
    allowed = apply_caps(CodeAgent().settings(), {"levels": ["bubblewrap"]})
    assert allowed.sandbox.levels == ("bubblewrap",)
    with pytest.raises(UsageError, match="landlock is not among them"):
        apply_caps(CodeAgent(sandbox="landlock").settings(), {"levels": ["bubblewrap"]})


def test_a_fixed_server_ends_the_search_for_others() -> None:
    settings = apply_caps(CodeAgent().settings(), {"base_url": "http://127.0.0.1:9/v1", "model": "m"})
    assert (settings.model.base_url, settings.model.model, settings.model.discover) == (
        "http://127.0.0.1:9/v1",
        "m",
        False,
    )


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"aprove": "ask"})])
def test_a_policy_that_cannot_be_understood_stops_everything(tmp_path: Path, text: str) -> None:
    (tmp_path / "codeagent_policy.json").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"administrator's policy"):
        read_caps([str(tmp_path)])


def test_a_policy_file_is_read_and_none_is_no_policy(tmp_path: Path) -> None:
    assert read_caps([str(tmp_path)]) == {}
    (tmp_path / "codeagent_policy.json").write_text(json.dumps({"approve": "ask"}), encoding="utf-8")
    assert read_caps([str(tmp_path)]) == {"approve": "ask"}


def policy(directory: Path, text: str) -> Path:
    path = directory / "codeagent_policy.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("subprocess", 0),
        ("subprocess", None),
        ("answer", "no"),
        ("house_rules", "no"),
        ("privacy", "none"),
        ("privacy", ["schema"]),
        ("approve", None),
        ("max_steps", "two"),
        ("max_steps", 0),
        ("max_steps", True),
        ("candidates", 1.5),
        ("timeout_s", "10s"),
        ("timeout_s", float("nan")),
        ("timeout_s", float("inf")),
        ("memory_mb", -1),
        ("levels", "bubblewrap"),
        ("levels", ["bublewrap"]),
        ("base_url", ""),
        ("model", None),
    ],
)
def test_a_cap_that_is_no_value_of_its_kind_stops_everything_and_is_named(
    tmp_path: Path, key: str, value: Any
) -> None:
    path = policy(tmp_path, json.dumps({key: value}))
    with pytest.raises(UsageError) as caught:
        read_caps([str(tmp_path)])
    assert str(path) in str(caught.value)
    assert f"{key} = " in str(caught.value)
    with pytest.raises(UsageError, match=key):
        apply_caps(CodeAgent().settings(), {key: value})


def test_a_policy_that_is_a_dangling_link_or_a_directory_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "codeagent_policy.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "directory" / "codeagent_policy.json").mkdir(parents=True)
    for name in ("link", "directory"):
        with pytest.raises(UsageError, match=r"administrator's policy .* cannot be read"):
            read_caps([str(tmp_path / name)])


def test_an_administrator_can_forbid_house_rules() -> None:
    assert apply_caps(CodeAgent().settings(), {}).house_rules
    assert apply_caps(CodeAgent().settings(), {"house_rules": True}).house_rules
    assert not apply_caps(CodeAgent().settings(), {"house_rules": False}).house_rules
    assert not apply_caps(CodeAgent(house_rules=False).settings(), {"house_rules": True}).house_rules


def test_charts_are_matplotlibs_unless_one_setting_names_another_library() -> None:
    assert CodeAgent().settings().charts == "matplotlib"
    assert CodeAgent(charts="altair").settings().charts == "altair"
    assert CodeAgent(config=Config({"CodeAgent": {"charts": "plotly"}})).settings().charts == "plotly"
    with pytest.raises(TraitError, match="bokeh"):
        CodeAgent(charts="bokeh")


def test_an_administrator_can_forbid_processes_and_answers() -> None:
    lax = CodeAgent(subprocess=True, answer=True).settings()
    assert (lax.sandbox.subprocess, lax.answer) == (True, True)
    kept = apply_caps(lax, {"subprocess": True, "answer": True})
    assert (kept.sandbox.subprocess, kept.answer) == (True, True)
    capped = apply_caps(lax, {"subprocess": False, "answer": False})
    assert (capped.sandbox.subprocess, capped.answer) == (False, False)
    strict = apply_caps(CodeAgent().settings(), {"subprocess": True, "answer": True})
    assert (strict.sandbox.subprocess, strict.answer) == (False, False)


def test_candidates_copies_and_context_are_capped_and_never_raised() -> None:
    keys = ("candidates", "max_transfer_mb", "max_return_mb", "context_tokens")

    def figures(cap: int) -> tuple[int, ...]:
        capped = apply_caps(CodeAgent().settings(), dict.fromkeys(keys, cap))
        return capped.max_candidates, capped.max_transfer_bytes, capped.max_return_bytes, capped.context_tokens

    assert figures(3) == (3, 3 << 20, 3 << 20, 3)
    assert figures(9999) == (8, 2048 << 20, 256 << 20, 600)


def test_the_guide_names_everything_that_can_be_capped() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "usage.md").read_text(encoding="utf-8")
    [line] = [line for line in guide.splitlines() if "codeagent_policy.json" in line]
    assert [key for key in CAPS if f"`{key}`" not in line] == []


def test_isolation_can_be_switched_off_in_the_session_and_never_by_a_file() -> None:
    by_file = CodeAgent(config=Config({"CodeAgent": {"sandbox": "none"}}))
    with pytest.raises(UsageError, match="in the session only"):
        by_file.settings()
    in_session = CodeAgent()
    in_session.update_config(Config({"CodeAgent": {"sandbox": "none"}}))  # as %config does
    assert in_session.settings().sandbox.levels == ("none",)


def test_strict_refuses_the_level_without_namespaces() -> None:
    assert "landlock" not in CodeAgent(strict=True).settings().sandbox.levels
    assert CodeAgent(strict=True).settings().sandbox.levels
    with pytest.raises(UsageError, match="strict refuses the sandbox level landlock"):
        CodeAgent(strict=True, sandbox="landlock").settings()


def test_a_container_is_tried_last_and_only_with_an_image() -> None:
    assert "container" not in CodeAgent().settings().sandbox.levels
    assert CodeAgent(sandbox_image="codeagent").settings().sandbox.levels[-1] == "container"


def test_data_is_never_copied_elsewhere_by_default() -> None:
    assert not {"command", "gateway"} & set(CodeAgent(sandbox_gateway="http://g").settings().sandbox.levels)


def test_mcp_clients_are_let_in_by_the_user_alone_and_the_administrator_can_forbid_it() -> None:
    assert not CodeAgent().settings().mcp_clients
    assert not apply_caps(CodeAgent().settings(), {"mcp_clients": True}).mcp_clients
    assert apply_caps(CodeAgent(mcp_clients=True).settings(), {}).mcp_clients
    assert not apply_caps(CodeAgent(mcp_clients=True).settings(), {"mcp_clients": False}).mcp_clients
