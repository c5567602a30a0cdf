"""`jupyter_codeagent.settings.config`: traits become settings."""

from __future__ import annotations

import pytest
from traitlets import TraitError
from traitlets.config import Config

from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.types.errors import UsageError


def test_the_defaults_are_local_and_sandboxed() -> None:
    settings = CodeAgent().settings()
    assert settings.model.base_url == ""
    assert settings.model.discover
    assert "none" not in settings.sandbox.levels
    assert (settings.privacy, settings.approve, settings.max_steps) == ("stats", "review", 4)


def test_a_level_named_by_the_user_is_the_only_one_tried() -> None:
    assert CodeAgent(sandbox="landlock").settings().sandbox.levels == ("landlock",)


def test_charts_are_matplotlibs_unless_one_setting_names_another_library() -> None:
    assert CodeAgent().settings().charts == "matplotlib"
    assert CodeAgent(charts="altair").settings().charts == "altair"
    assert CodeAgent(config=Config({"CodeAgent": {"charts": "plotly"}})).settings().charts == "plotly"
    with pytest.raises(TraitError, match="bokeh"):
        CodeAgent(charts="bokeh")


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
