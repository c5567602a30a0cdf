"""What MCP clients may call: five tools, answered with text as a model would be told it. On the background loop.

No tool decides anything, runs anything in the live kernel, or asks a model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jupyter_codeagent.frontend.cell_origin import notebook_of_kernel
from jupyter_codeagent.frontend.client_link import Tell
from jupyter_codeagent.frontend.insertion import PanelInserter
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.session.client_runs import ClientRuns, title_of
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.settings.enforcement import refusal_of
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import DeniedError, InsertError, RunFailedError, UsageError
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.run_json import run_view
from jupyter_codeagent.variables.text import safe

MAX_CODE_CHARS = 50_000
MAX_NAMES = 100
LISTED_RUNS = 20
NOT_LET_IN = (
    "The user has not let MCP clients use this kernel: have them run `%config CodeAgent.clients = True` in a cell."
)
NO_PAGE = (
    "No page of JupyterLab with the side panel shows this notebook, so no cells can be inserted. Have the user open"
    " it, then call again; the run stays in their history."
)
Arguments = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ClientCalls:
    """Answers the calls of all clients of a session."""

    settings: SettingsInForce
    live_context: LiveContext
    runs: ClientRuns
    run_log: RunLog
    link: PanelLink | None
    one_insertion: asyncio.Lock = field(default_factory=asyncio.Lock)
    inserting: set[asyncio.Task[str]] = field(default_factory=set)

    async def answer(self, client: str, tool: str, arguments: Arguments, tell: Tell = lambda _: None) -> str:
        """Return the text for the client.

        Raises
        ------
        CodeAgentError
            One line that says what to do next; of a program that failed also what it displayed.
        """
        settings = self.settings()
        if not settings.clients:
            raise DeniedError(refusal_of(settings.policy, "clients", "Use by MCP clients") or NOT_LET_IN)
        match tool:
            case "list_variables":
                return await self._describe("", settings)
            case "describe":
                return await self._describe(_text(arguments, "name"), settings)
            case "run_on_copies":
                return await self._run(client, _text(arguments, "code"), _names(arguments), settings)
            case "insert_cells":
                return await self._insert_once(client, _text(arguments, "run_id"))
            case "history":
                return await self._history(client, _text(arguments, "run_id", default=""), settings)
        raise UsageError(f"There is no tool {safe(tool)!r}.")

    async def _describe(self, name: str, settings: Settings) -> str:
        notebook = notebook_of_kernel()
        described = await self.runs.when_idle(lambda: self.live_context.for_client(name, settings, notebook))
        if name and not described:
            raise UsageError(
                f"There is no variable {safe(name)!r} that can be described: list_variables names them."
            )
        return described or "There are no variables to describe."

    async def _run(self, client: str, code: str, names: Sequence[str] | None, settings: Settings) -> str:
        if len(code) > MAX_CODE_CHARS:
            raise UsageError(
                f"The program has {len(code):,} characters; the limit is {MAX_CODE_CHARS:,}: shorten it."
            )
        run = await self.runs.run(client, code, names)
        text = await self.runs.text_of(run, settings.privacy)
        if run.status != "ok":
            raise RunFailedError(text)
        return text

    async def _insert_once(self, client: str, run_id: str) -> str:
        """Insert the cells of a run, unless a call that goes on at the same time does, or was cancelled and did."""

        async def insert() -> str:
            async with self.one_insertion:
                return await self._insert(self._find(client, run_id))

        task = asyncio.get_running_loop().create_task(insert())
        self.inserting.add(task)
        task.add_done_callback(self.inserting.discard)
        task.add_done_callback(
            lambda done: done.cancelled() or done.exception()
        )  # perhaps nobody waits for it any more
        await asyncio.wait([task])  # a cancelled call leaves it alone: the page has the cells already
        return task.result()

    async def _insert(self, run: AgentRun) -> str:
        """Insert the cells of a run at the end of the notebook, pending: the user decides about them."""
        if run.status != "ok":
            raise UsageError(f"Run {run.id} has no result to insert ({run.status}): run a program that ends well.")
        if run.placed == "cells":
            raise UsageError(f"The cells of run {run.id} were inserted already ({run.cell_state}).")
        link = self.link
        if link is None or not link.is_open:
            raise InsertError(NO_PAGE)
        run = self._changed(replace(run, cell_state="pending", placed="inserting"))
        cells = [dict(cell) for cell in cells_from_run(run, state="pending")]
        try:
            await PanelInserter(link, None).insert(run.id, cells, anchor=None, replace=())
        except InsertError as problem:
            self._changed(replace(run, placed="undelivered", notes=(*run.notes, str(problem))))
            raise
        self._changed(replace(run, placed="cells"))
        return f"The cells of run {run.id} are at the end of the notebook, pending: the user decides about them."

    async def _history(self, client: str, run_id: str, settings: Settings) -> str:
        if run_id:
            run = self._find(client, run_id)
            return await self.runs.text_of(run, settings.privacy)
        runs = self.run_log.of_client(client)
        lines = [_line(run) for run in runs[:LISTED_RUNS]]
        left = f"… and {len(runs) - LISTED_RUNS} older ones" if len(runs) > LISTED_RUNS else ""
        return "\n".join(filter(None, (*lines, left))) or "You have run nothing in this kernel yet."

    def _find(self, client: str, run_id: str) -> AgentRun:
        """Return a run of this client's; those of the user and of other clients do not exist for it."""
        found = [run for run in self.run_log.of_client(client) if run_id and run.id == run_id]
        if not found:
            raise UsageError(f"You have no run {safe(run_id)!r} in this kernel: history lists yours.")
        return self.run_log.find(found[0].id)

    def _changed(self, run: AgentRun) -> AgentRun:
        self.run_log.write(run)
        if self.link is not None:
            self.link.send({"type": "run", "run": run_view(run)})
        return run


def _line(run: AgentRun) -> str:
    at = time.strftime("%H:%M:%S", time.localtime(run.started_at))
    cells = f", cells {run.cell_state}" if run.placed == "cells" else ""
    return f"{run.id}  {at}  {run.status}{cells}  {run.request.prompt.removeprefix(title_of(run.request.client))}"


def _text(arguments: Arguments, name: str, default: str | None = None) -> str:
    value = arguments.get(name, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise UsageError(f"The argument {name} must be a non-empty string.")
    return value


def _names(arguments: Arguments) -> tuple[str, ...] | None:
    """Return the variables to copy; None where the client leaves that to the program's text."""
    names = arguments.get("variables")
    if names is None:
        return None
    if not isinstance(names, list) or len(names) > MAX_NAMES or not all(isinstance(one, str) for one in names):
        raise UsageError(f"The argument variables must be a list of at most {MAX_NAMES} names.")
    return tuple(dict.fromkeys(names))
