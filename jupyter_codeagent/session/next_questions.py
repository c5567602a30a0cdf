"""Questions below a result that the data can answer: found, tried in a spare sandbox, and answered without a model.

All of it happens behind the user's back, when a run is over: it stops as soon as anything else begins, and whatever
fails only means that nothing is offered.
"""

from __future__ import annotations

import ast
import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.renaming import NotRenamableError, find_mentions, rename
from jupyter_codeagent.explore.figures import are_new
from jupyter_codeagent.explore.programs.draft import free_name
from jupyter_codeagent.explore.question_templates import NextQuestion, Shown, next_questions, shown_by
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.explore.shown_columns import shown_by_code, tables_of
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.policies import needs_person
from jupyter_codeagent.frontend.background_loop import STOP_GRACE_S, BackgroundLoop, BackgroundTask
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.chart_library import with_installed_charts
from jupyter_codeagent.session.given_code import FROM_TEMPLATE, GivenProgram, run_given_code
from jupyter_codeagent.session.index_levels import shown_levels
from jupyter_codeagent.session.reproduction import RerunWatcher
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import CodeAgentError, HistoryError
from jupyter_codeagent.types.exploration import Exploration, ExplorationRequest, Finding
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.types.syntax_trees import module_tree
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.privacy.masking import masked_summaries, personal_columns
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.user_namespace import UserNamespace

log = logging.getLogger(__name__)

SEARCH_LIMIT_S = 30.0
"""For the questions of one result, or of a dozen findings. On a busy machine a sandbox takes ten to start."""
LOOK_S = 3.0
"""For the look at the tables of a result, within `SEARCH_LIMIT_S`."""
LOOKED_ROWS = 50_000
"""Rows of a table that are looked at: enough for what its columns are; the programs run on all."""
MOST_TABLES = 3
MOST_OFFERED = 3
KEPT_PROGRAMS = 500
"""Programs of the last questions that are kept; an older question is asked of the model."""
WHY = "It is tried before its question is offered below a result."
_EMPTY = ("Empty DataFrame", "shape: (0, ", "Series([]")


@dataclass(frozen=True, kw_only=True)
class _Live:
    """What the user's kernel has of some tables."""

    columns: Mapping[str, tuple[str, ...]]
    """Those that are not hidden."""
    personal: Mapping[str, tuple[str, ...]]
    taken: frozenset[str]
    """All names."""


class NextQuestions:
    """The questions that a session has offered, and the search for those of the last result."""

    def __init__(
        self,
        *,
        background: BackgroundLoop,
        front_ends: FrontEndAdapters,
        workspace: SandboxWorkspace,
        live: UserNamespace,
        sharing: NotebookSharing,
        run_log: RunLog,
        changed: Callable[[AgentRun], object],
    ) -> None:
        """Begin without questions; `changed` is called with each record to which questions were added."""
        self._background = background
        self._front_ends = front_ends
        self._workspace = workspace
        self._live = live
        self._sharing = sharing
        self._run_log = run_log
        self._changed = changed
        self._task: BackgroundTask[None] | None = None
        self._programs: dict[str, GivenProgram] = {}
        sharing.also_forget(self.forget_hidden)

    # --- asked ------------------------------------------------------------------------------------------

    def program_for(self, prompt: str, options: RunOptions) -> GivenProgram | None:
        """Return the program of a question that was offered; None for all others. Main thread."""
        known = self._programs.get(prompt) if replace(options, rerun=False) == RunOptions() else None
        if known is None:
            return None
        return replace(known, code=with_free_names(known.code, self._live.everything()))

    def withdraw(self, prompt: str) -> None:
        """Forget a question whose program does not run any more: it is asked of the model from now on."""
        self._programs.pop(prompt, None)

    def forget_hidden(self, name: str) -> None:
        """Take back the questions about a variable whose programs need what is hidden now. Any thread."""
        self.cancel()
        hidden = frozenset().union(*self._sharing.hidden_columns.values())
        is_whole = self._sharing.shared.get(name) == "hidden"
        gone = {
            question
            for question, program in list(self._programs.items())
            if name in program.tables and (is_whole or hidden & texts_in(program.code))
        }
        for question in gone:
            self.withdraw(question)
        for run in self._run_log.recent if gone else ():
            left = tuple(question for question in run.next_questions if question not in gone)
            if left != run.next_questions:
                without = replace(run, next_questions=left)
                with suppress(HistoryError):  # they are not offered all the same
                    self._run_log.write(without)
                self._changed(without)

    # --- offered ----------------------------------------------------------------------------------------

    def follow_run(self, run: AgentRun, settings: Settings, origin: CellOrigin) -> None:
        """Look for questions that go on from a run whose cells are there; return at once. Any thread."""
        if run.placed != "nowhere" and _may_offer(run, settings, origin):
            self._start(lambda: self._of_run(run, settings, origin))

    def follow_exploration(
        self,
        shown: Sequence[tuple[AgentRun, str, Finding | None]],
        exploration: Exploration,
        settings: Settings,
        origin: CellOrigin,
        *,
        taken: frozenset[str],
        personal: Mapping[str, tuple[str, ...]],
    ) -> None:
        """Look for questions that go on from each finding; return at once. Any thread.

        `shown` has the run, the table and the finding (None for an overview) of each cell, in their order.
        """
        if shown and _may_offer(shown[0][0], settings, origin):
            live = _Live(columns={}, personal=personal, taken=taken)
            self._start(lambda: self._of_findings(shown, exploration, settings, origin, live))

    def cancel(self) -> None:
        """Stop the search: something else begins. Any thread."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Stop the search, and wait until its sandbox is gone."""
        if self._task is not None:
            self._task.cancel()
            self._task.wait(STOP_GRACE_S)

    def _start(self, search: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.cancel()
        self._task = self._background.submit(_within_limit(search))

    async def _of_run(self, run: AgentRun, settings: Settings, origin: CellOrigin) -> None:
        frames = [copied.name for copied in run.manifest.copied if copied.type_name.endswith("DataFrame")]
        tables = tables_of(run.code, frames)[:MOST_TABLES]
        live = await self._background.on_main_thread(lambda: self._tables(tables))
        if not live.columns:
            return
        async with self._workspace.temporary_sandbox(settings.sandbox) as sandbox:
            copied = tuple(one for one in run.manifest.copied if one.name in live.columns)
            await sandbox.prepare(replace(run.manifest, copied=copied, tools=()))
            report = await sandbox.explore(
                ExplorationRequest(
                    names=tuple(live.columns),
                    leave_out=live.personal,
                    seconds=LOOK_S,
                    max_rows=LOOKED_ROWS,
                )
            )
            exploration = read_report(report, live.columns)
            shown = shown_by_code(run.code, run.operations, exploration)
            if shown is not None:
                tried = _Trial(run, sandbox, self._front_ends, settings, origin)
                self._offer(run, await tried.first_that_work(self._candidates(exploration, shown, live, settings)))

    async def _of_findings(
        self,
        shown: Sequence[tuple[AgentRun, str, Finding | None]],
        exploration: Exploration,
        settings: Settings,
        origin: CellOrigin,
        live: _Live,
    ) -> None:
        findings = [finding for _, _, finding in shown if finding is not None]
        asked: set[str] = set()
        async with self._workspace.temporary_sandbox(settings.sandbox) as sandbox:
            await sandbox.prepare(replace(shown[0][0].manifest, tools=()))
            for run, table, finding in shown:
                about = shown_by(table, finding, findings)
                questions = self._candidates(exploration, about, live, settings)
                tried = _Trial(run, sandbox, self._front_ends, settings, origin)
                working = await tried.first_that_work(one for one in questions if one.text not in asked)
                asked.update(one.text for one in working)
                self._offer(run, working)

    def _candidates(
        self, exploration: Exploration, shown: Shown, live: _Live, settings: Settings
    ) -> tuple[NextQuestion, ...]:
        charts = with_installed_charts(settings)[0].charts
        return next_questions(exploration, shown, taken=live.taken, personal=live.personal, charts=charts)

    def _tables(self, names: Iterable[str]) -> _Live:
        """Read which columns the tables have; hidden ones do not exist. Main thread."""
        visible, everything = self._sharing.visible(), self._live.everything()
        values = {name: visible.values[name] for name in names if name in visible.values}
        summaries = visible.hidden.without_names(describe(values, privacy="schema", mentioned=""), values)
        columns = {
            one.name: (
                *shown_levels(values[one.name], everything[one.name]),
                *(label_text(column.name) for column in one.columns),
            )
            for one in masked_summaries(summaries, everything)
            if one.columns
        }
        return _Live(
            columns=columns,
            personal={name: personal_columns(values[name], labels) for name, labels in columns.items()},
            taken=frozenset(everything),
        )

    def _offer(self, run: AgentRun, questions: Sequence[NextQuestion]) -> None:
        """Keep the programs, then tell of their questions: what is displayed can be answered."""
        if not questions:
            return
        for one in questions:
            self._programs.pop(one.text, None)
            self._programs[one.text] = GivenProgram(code=one.code, tables=(one.table,))
        for old in list(self._programs)[:-KEPT_PROGRAMS]:
            del self._programs[old]
        known = self._run_log.find(run.id)  # its cells may have been decided on meanwhile
        offered = replace(known, next_questions=tuple(one.text for one in questions))
        self._run_log.write(offered)
        self._changed(offered)


class _Trial:
    """Runs the programs of questions below one result, to see which of them show something new."""

    def __init__(
        self,
        run: AgentRun,
        sandbox: PersistentSandbox,
        front_ends: FrontEndAdapters,
        settings: Settings,
        origin: CellOrigin,
    ) -> None:
        self._run = run
        self._sandbox = sandbox
        self._gate = front_ends.gate(origin, settings)
        self._seen = output_text(ExecutionResult(status="ok", outputs=run.outputs))

    async def first_that_work(self, questions: Iterable[NextQuestion]) -> list[NextQuestion]:
        """Return the first few whose program runs to its end and shows figures that the result does not."""
        working: list[NextQuestion] = []
        for question in questions:
            if await self._works(question.code):
                working.append(question)
            if len(working) == MOST_OFFERED:
                break
        return working

    async def _works(self, code: str) -> bool:
        step = await run_given_code(
            replace(self._run, steps=()),
            code,
            why=WHY,
            note=FROM_TEMPLATE,
            decide=lambda proposal: self._gate.decide(proposal, self._run.request.approve),
            runner=self._sandbox,
            watcher=RerunWatcher(self._run),
        )
        self._sandbox.undo_attempt()  # no program may see what another one did to a copy
        return step.result is not None and is_worth_showing(step.result, self._seen)


def is_worth_showing(result: ExecutionResult, seen: str) -> bool:
    """Check that a program ended well, with a table that has rows, and shows figures that are not `seen` yet."""
    text = output_text(result)
    is_empty = any(mark in text for mark in _EMPTY)
    return result.status == "ok" and not is_empty and are_new(text, seen)


def texts_in(code: str) -> frozenset[str]:
    """Return the constants of a program as texts: the names of columns are among them."""
    constants = (node.value for node in ast.walk(module_tree(code)) if isinstance(node, ast.Constant))
    return frozenset(map(str, constants))


def with_free_names(code: str, taken: Collection[str]) -> str:
    """Return the program with other names for what it assigns, where the user has bound these meanwhile."""
    tree = module_tree(code)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for name in sorted(stored & {*taken}):
        new = free_name(name, {*taken, *stored})
        try:
            code = rename(code, tree, name, new, find_mentions(tree, name))
        except NotRenamableError:
            continue  # applying the code names what it would overwrite, as ever
        tree = module_tree(code)
        stored.add(new)
    return code


def _may_offer(run: AgentRun, settings: Settings, origin: CellOrigin) -> bool:
    """Check that somebody may press a button, and that no person would be asked about each program."""
    somebody = not origin.headless and origin.front_end != "program"
    asks = needs_person(run.request.approve, "run") or needs_person(settings.approve, "run")
    return settings.next_questions and somebody and not asks and run.status == "ok"


async def _within_limit(search: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a search; where it fails or takes too long nothing more is offered, and the result stands as it is."""
    try:
        with suppress(CodeAgentError, TimeoutError):
            async with asyncio.timeout(SEARCH_LIMIT_S):
                await search()
    except Exception:
        log.exception("The search for next questions ended with an error, so none is offered.")
