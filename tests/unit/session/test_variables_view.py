"""When pages are told of variables: what changed, once, and not while cells keep coming."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.models.tokens import TokenCount
from jupyter_codeagent.session import variables_view as view_module
from jupyter_codeagent.session.prompt_context import PromptContext
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.house_rules import HouseRules, HouseRulesFile
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.privacy.sharing.state import SharingState
from jupyter_codeagent.variables.render import RenderedVariable, RenderedVariables
from jupyter_codeagent.variables.user_namespace import UserNamespace


@dataclass
class LinkDouble:
    """Keeps what pages would get."""

    is_open: bool = True
    sent: list[Any] = field(default_factory=list)
    told: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, message: Any) -> None:
        self.told.set()
        self.sent.append(message)


@dataclass
class Shell:
    user_ns: dict[str, Any]
    user_ns_hidden: dict[str, Any] = field(default_factory=dict)

    def ev(self, expr: str) -> Any:
        raise NotImplementedError

    def run_cell(self, raw_cell: str, store_history: bool = False) -> Any:
        raise NotImplementedError


class Scene:
    """One variable `n`, and pages that listen."""

    def __init__(self, settings: Callable[[], Any] | None = None) -> None:
        self.link = LinkDouble()
        self.names: dict[str, Any] = {"n": 1}
        self.sharing = SharingState()
        self.looks = 0
        self.house_rules = HouseRules()
        self.variables_view = VariablesView(
            live=UserNamespace(Shell(self.names)),
            sharing=self.sharing,
            settings=settings or CodeAgent().settings,
            describe=self.describe,
            house_rules=lambda _settings: self.house_rules,
            forgotten=lambda: [],
            link=lambda: cast("PanelLink", self.link),
        )

    def describe(self, _settings: Settings) -> tuple[PromptContext, tuple[VariableSummary, ...]]:
        self.looks += 1
        text = f"n: {self.names['n']}"
        context = RenderedVariables(
            tagged=TaggedText(text), variables=(RenderedVariable(name="n", text=text, tokens=3),)
        )
        summary = VariableSummary(name="n", type_name="int", headline=text)
        count = TokenCount(tokens=3, counted=False)
        return PromptContext(context=context, count=count, budget_tokens=600), (summary,)


def test_a_cell_that_changes_nothing_sends_nothing() -> None:
    scene = Scene()
    scene.variables_view.cell_ran()
    scene.variables_view.cell_ran()
    assert [message["context"]["text"] for message in scene.link.sent] == ["n: 1"]
    scene.names["n"] = 2
    scene.variables_view.cell_ran()
    assert scene.link.sent[-1]["context"]["text"] == "n: 2"


def test_house_rules_that_were_changed_are_sent_with_the_next_cell() -> None:
    scene = Scene()
    scene.variables_view.cell_ran()
    assert scene.link.sent[-1]["context"]["house_rules"] == []
    scene.house_rules = HouseRules(
        files=(HouseRulesFile(path="CODEAGENT.md", name="", text="Use bars.", tokens=3),)
    )
    scene.variables_view.cell_ran()
    assert scene.link.sent[-1]["context"]["house_rules"] == [
        {"path": "CODEAGENT.md", "told": "Use bars.", "tokens": 3, "left_out": ""}
    ]


def test_without_a_page_nothing_is_looked_at() -> None:
    scene = Scene()
    scene.link.is_open = False
    scene.variables_view.cell_ran()
    assert scene.looks == 0


def test_a_switch_is_told_at_once_and_what_is_told_without_it_when_the_main_thread_is_free() -> None:
    async def main() -> Scene:
        scene = Scene()
        scene.variables_view.cell_ran()
        scene.sharing.set_variable("n", "hidden")
        await asyncio.to_thread(scene.variables_view.switched, "switch-1")
        assert scene.link.sent[-1]["context"]["variables"][0]["shared"] == "hidden"
        assert scene.link.sent[-1]["heard"] == "switch-1"
        await asyncio.sleep(0)
        return scene

    assert asyncio.run(main()).looks == 2


def test_where_a_look_is_slow_many_cells_in_a_row_are_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "SLOW_LOOK_S", 0.0)
    monkeypatch.setattr(view_module, "MAX_LOOK_WAIT_S", 0.01)

    async def main() -> int:
        scene = Scene()
        for _ in range(50):
            scene.variables_view.cell_ran()
        assert scene.looks == 0
        async with asyncio.timeout(10):
            await scene.link.told.wait()
        return scene.looks

    assert asyncio.run(main()) == 1


def test_settings_that_cannot_be_used_show_nothing_and_break_no_cell() -> None:
    def settings() -> Any:
        raise UsageError("no")

    scene = Scene(settings)
    scene.variables_view.cell_ran()
    assert scene.link.sent == []
