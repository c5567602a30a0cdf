"""Programs of MCP clients: what is hidden while one waits or runs is not told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session.client_runs import ClientRuns
from jupyter_codeagent.session.preparation import PreparedRerun
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Step
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput
from jupyter_codeagent.types.variables import Manifest


class Runs(ClientRuns):
    """Whose programs print 4711; `meanwhile` is what the user does while one waits."""

    def __init__(self, folder: Path) -> None:
        self.shared: dict[str, str] = {}
        self.prepared = 0
        self.on_prepare: Callable[[], None] = lambda: None
        self.meanwhile: Callable[[], None] = lambda: None
        parts: dict[str, Any] = {
            "background": SimpleNamespace(on_idle_main_thread=self.on_main_thread),
            "front_ends": None,
            "preparation": SimpleNamespace(prepare_rerun=self.prepare),
            "workspace": None,
            "sharing": SimpleNamespace(shared=self.shared, hidden_columns={}),
            "masking": SimpleNamespace(values_in=self.values_in),
            "run_log": RunLog(HistoryStore(folder / "history.sqlite"), session_id="s"),
            "link": None,
        }
        super().__init__(**parts)

    async def on_main_thread(self, call: Callable[[], Any], timeout_s: float) -> Any:
        return call()

    async def values_in(self, text: object) -> tuple[()]:
        return ()

    def prepare(self, names: object, origin: Any) -> PreparedRerun:
        self.prepared += 1
        self.on_prepare()
        request = AgentRequest(prompt="", model="", server="", client=origin.client)
        return PreparedRerun(request=request, settings=Settings(), manifest=Manifest(), missing={})

    async def _ran(self, run: AgentRun, code: str, *_: Any) -> AgentRun:
        self.meanwhile()
        output = StreamOutput(output_type="stream", name="stdout", text="4711")
        result = ExecutionResult(status="ok", outputs=(output,), duration_s=0.1)
        return replace(run, status="ok", steps=(Step(index=1, messages=(), code=code, result=result),))


def test_what_the_user_hides_while_a_clients_program_waits_is_not_told(tmp_path: Path) -> None:
    """The program may print what earlier ones made of it in the client's sandbox."""

    async def told() -> None:
        runs = Runs(tmp_path)
        first = await runs.run("editor", "print(made)", None)
        assert "4711" in await runs.text_of(first, "stats")
        runs.meanwhile = lambda: runs.shared.update(salaries="hidden")
        second = await runs.run("editor", "print(made)", None)
        for run in (first, second):
            with pytest.raises(VariableError, match="is not told: the user has hidden data since"):
                await runs.text_of(run, "stats")
        assert "4711" in await runs.text_of(await runs.run("editor", "print(1)", None), "stats")

    asyncio.run(told())


def test_what_is_hidden_while_a_program_is_prepared_is_in_none_of_its_copies(tmp_path: Path) -> None:
    """As a saved notebook's lists are, which are read then."""
    runs = Runs(tmp_path)
    runs.on_prepare = lambda: runs.shared.update(salaries="hidden")

    async def told() -> str:
        return await runs.text_of(await runs.run("editor", "print(made)", None), "stats")

    assert "4711" in asyncio.run(told())
    assert runs.prepared == 2
