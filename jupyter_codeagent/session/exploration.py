"""From tables to findings: the sandbox looks at the copies, the programs of what it found run there, cells follow.

No model is asked. Each finding is a run of its own, with its own cells and its own decision.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.ending import REJECTED, end_run, last_problem, with_result
from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.explore.cells import FindingCell, cells_of
from jupyter_codeagent.explore.goal import goal_note
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.given_code import FROM_TEMPLATE, run_given_code
from jupyter_codeagent.session.next_questions import NextQuestions
from jupyter_codeagent.session.notebook_writer import NotebookWriter
from jupyter_codeagent.session.preparation import PreparedExploration
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.run_request import new_run
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.exploration import Exploration, ExplorationRequest, ExplorationResult
from jupyter_codeagent.types.options import ExploreOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.tagged_text import TaggedText

MAX_ROWS = 500_000
"""Rows of a table that are looked at; the programs of the findings run on all."""
LOOK_SHARE = 0.5
"""Share of the time limit for looking at the data; the rest is for the programs."""
SECONDS_PER_MINUTE = 60
NOTHING_NEW = "everything that was found is already in the notebook"


@dataclass(frozen=True, kw_only=True)
class _Work:
    """What all programs of one exploration share."""

    prepared: PreparedExploration
    sandbox: PersistentSandbox
    label: str
    """`SandboxStatus.label`."""
    origin: CellOrigin


@dataclass(frozen=True, kw_only=True)
class Explorer:
    """Explores tables for a session. On the background loop."""

    front_ends: FrontEndAdapters
    workspace: SandboxWorkspace
    run_log: RunLog
    notebook_writer: NotebookWriter
    current_run: CurrentRun
    next_questions: NextQuestions
    link: PanelLink | None

    def first_recorder(self, prepared: PreparedExploration) -> RunRecorder:
        """Return the recorder of the run that displays the progress until the first program runs."""
        return self._recorder(prepared, f"explore {', '.join(prepared.columns)}")

    async def explore(
        self, explored: ExploreOptions, prepared: PreparedExploration, recorder: RunRecorder, origin: CellOrigin
    ) -> ExplorationResult:
        """Look at the tables, run the program of each finding, and insert the cells of those that ran.

        Raises
        ------
        SandboxError, VariableError
        """
        until = time.monotonic() + explored.minutes * SECONDS_PER_MINUTE
        # A sandbox of its own: the programs leave nothing behind in the one that the questions use.
        async with self.workspace.temporary_sandbox(prepared.settings.sandbox) as sandbox:
            status = await sandbox.prepare(prepared.manifest)
            recorder.progress(recorder.latest.run, "sandbox", f"looking at {', '.join(prepared.columns)}")
            exploration = await self._look(explored, prepared, sandbox)
            cells = cells_of(
                exploration,
                goal=explored.goal,
                taken=prepared.taken,
                personal=prepared.personal,
                charts=prepared.settings.charts,
            )
            kept = self.run_log.kept_prompts_of_cell(origin.cell_id)
            work = _Work(prepared=prepared, sandbox=sandbox, label=status.label, origin=origin)
            result = await self._run_all(work, [cell for cell in cells if cell.prompt not in kept], recorder, until)
            self._look_further(result.runs, cells, exploration, prepared, origin)
            skipped = tuple(f"{one.table}: {one.why}" for one in exploration.skipped)
            goal = filter(None, [goal_note(exploration, explored.goal)])
            return replace(result, notes=(*goal, *prepared.notes, *result.notes, *skipped))

    async def _look(
        self, explored: ExploreOptions, prepared: PreparedExploration, sandbox: PersistentSandbox
    ) -> Exploration:
        most_s = prepared.settings.policy.rules.get("timeout_s", math.inf)
        report = await sandbox.explore(
            ExplorationRequest(
                names=tuple(prepared.columns),
                leave_out=dict(prepared.personal),
                seconds=min(explored.minutes * SECONDS_PER_MINUTE * LOOK_SHARE, most_s),
                max_rows=MAX_ROWS,
            )
        )
        exploration = read_report(report, prepared.columns)
        if not exploration.tables:
            reasons = "; ".join(f"{one.table}: {one.why}" for one in exploration.skipped) or "the report is empty"
            raise VariableError(f"Nothing could be explored: {reasons}.")
        return exploration

    async def _run_all(
        self, work: _Work, cells: Sequence[FindingCell], recorder: RunRecorder, until: float
    ) -> ExplorationResult:
        """Run the programs in their order, and insert the cells of each below those of the one before."""
        shown, failed, notes = list[AgentRun](), list[AgentRun](), list[str]()
        if not cells:
            recorder.changed(end_run(recorder.latest.run, "ok"))
            notes.append(NOTHING_NEW)
        for number, cell in enumerate(cells):
            if number and time.monotonic() > until:
                notes.append(f"{len(cells) - number} findings left out: time ran out (raise --minutes)")
                break
            if number:
                recorder = self._recorder(work.prepared, cell.prompt)
            self.current_run.follow(recorder)
            run = await self._run(work, cell, recorder)
            recorder.changed(run)
            if run.status != "ok":
                failed.append(recorder.latest.run)
                continue
            shown.append(recorder.latest.run)
        return ExplorationResult(runs=tuple(shown), failed=tuple(failed), notes=tuple(notes))

    async def _run(self, work: _Work, cell: FindingCell, recorder: RunRecorder) -> AgentRun:
        run = recorder.latest.run
        request = replace(run.request, prompt=cell.prompt)
        run = replace(run, request=request, sandbox=work.label, notes=work.prepared.notes)
        gate = self.front_ends.gate(work.origin, work.prepared.settings)
        step = await run_given_code(
            run,
            cell.code,
            why="It shows a finding in the data.",
            note=FROM_TEMPLATE,
            decide=lambda proposal: gate.decide(proposal, request.approve),
            runner=work.sandbox,
            watcher=recorder,
        )
        work.sandbox.undo_attempt()  # no program may see what another one did to a copy
        run = replace(run, steps=(step,))
        if step.result is None:
            return end_run(run, "rejected", REJECTED)
        if step.result.status != "ok":
            return end_run(run, "failed", f"The program of a finding failed. {last_problem(step, {})}")
        # The verdict is on programs of a model: it doubts what counts missing values and repetitions on purpose.
        run = replace(with_result(run, step), verdict=None, assumptions=())
        run = end_run(replace(run, answer=cell.words_for(output_text(step.result))), "ok")
        below = self._last_cell(work.prepared.request.exploration)
        return await self.notebook_writer.insert_cells(run, recorder, work.origin, None, below=below)

    def _last_cell(self, exploration: str) -> str | None:
        """Return the id of the lowest cell of an exploration that is in the notebook; None before the first."""
        last = self.run_log.last_of_exploration(exploration)
        return None if last is None else str(cells_from_run(last, state=last.cell_state)[-1]["id"])

    def _look_further(
        self,
        runs: Sequence[AgentRun],
        cells: Sequence[FindingCell],
        exploration: Exploration,
        prepared: PreparedExploration,
        origin: CellOrigin,
    ) -> None:
        """Have questions that go on from the findings looked for, behind what the user does next."""
        by_prompt = {cell.prompt: cell for cell in cells}
        shown = [(run, by_prompt[run.request.prompt]) for run in runs]
        self.next_questions.follow_exploration(
            [(run, cell.table, cell.finding) for run, cell in shown],
            exploration,
            prepared.settings,
            origin,
            taken=prepared.taken,
            personal=prepared.personal,
        )

    def _recorder(self, prepared: PreparedExploration, prompt: str) -> RunRecorder:
        request = replace(prepared.request, prompt=prompt)
        return RunRecorder(new_run(request, prepared.manifest, TaggedText()), self.run_log, self.link)
