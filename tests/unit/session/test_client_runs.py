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
            with pytest.raises(VariableError, match="is withheld: the user has hidden data since"):
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


class FakeSandbox:
    """Counts how often it was ended; takes its time to end."""

    def __init__(self) -> None:
        self.resets = 0

    async def reset(self) -> None:
        self.resets += 1
        await asyncio.sleep(0)


class Sandboxes(ClientRuns):
    """Whose sandboxes are no processes."""

    def __init__(self) -> None:
        self.made: list[FakeSandbox] = []
        names = ("background", "front_ends", "preparation", "sharing", "masking", "run_log", "link")
        parts: dict[str, Any] = dict.fromkeys(names)
        super().__init__(workspace=SimpleNamespace(extra_sandbox=self.make), **parts)  # type: ignore[arg-type]

    async def make(self, _: object) -> FakeSandbox:
        await asyncio.sleep(0)
        self.made.append(FakeSandbox())
        return self.made[-1]

    async def use(
        self, client: str, until: asyncio.Event | None = None, hidden: frozenset[tuple[str, str]] = frozenset()
    ) -> Any:
        async with self._sandbox(client, Settings(), hidden) as held:
            if until is not None:
                await until.wait()
            return held.sandbox


def test_a_client_that_leaves_while_all_are_forgotten_is_no_error() -> None:
    async def left() -> list[int]:
        runs = Sandboxes()
        for client in ("a", "b"):
            await runs.use(client)
        await asyncio.gather(runs.forget(), runs.forget("b"), runs.forget("a"))
        return [one.resets for one in runs.made]

    assert asyncio.run(left()) == [1, 1]


def test_a_call_that_waited_while_its_sandbox_was_ended_gets_a_new_one() -> None:
    async def used() -> tuple[Any, Any, Sandboxes]:
        runs, until = Sandboxes(), asyncio.Event()
        first = asyncio.create_task(runs.use("editor", until))
        await asyncio.sleep(0.01)
        second = asyncio.create_task(runs.use("editor"))
        await asyncio.sleep(0.01)
        await runs.forget("editor")
        until.set()
        return await first, await second, runs

    first, second, runs = asyncio.run(used())
    assert second is not first
    assert runs.made == [first, second]
    assert (first.resets, second.resets) == (2, 0), "the first may have begun anew in the call that it was ended in"


def test_two_first_calls_of_a_client_at_once_share_one_sandbox() -> None:
    async def used() -> list[Any]:
        runs = Sandboxes()
        return list(await asyncio.gather(runs.use("editor"), runs.use("editor")))

    first, second = asyncio.run(used())
    assert first is second


def test_a_first_call_after_something_was_hidden_shares_no_sandbox_with_one_from_before() -> None:
    async def used() -> tuple[Any, Any]:
        runs, until = Sandboxes(), asyncio.Event()
        first = asyncio.create_task(runs.use("editor", until))
        second = asyncio.create_task(runs.use("editor", hidden=frozenset({("salaries", "")})))
        await asyncio.sleep(0.01)
        until.set()
        return await first, await second

    first, second = asyncio.run(used())
    assert second is not first
