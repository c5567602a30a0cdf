"""One session per notebook kernel: from a prompt to cells, top to bottom.

User objects are read on the main thread; everything that waits runs on the background loop.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.ending import end_run, internal_error
from jupyter_codeagent.agent.prompt.changes import with_effects
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.client_link import ClientLink
from jupyter_codeagent.frontend.display import CellDisplay
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.receipt import ended_by_user
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.report.build import with_reruns
from jupyter_codeagent.report.output_file import write_report
from jupyter_codeagent.report.report import Report, Rerun
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.branches import Branches
from jupyter_codeagent.session.bring_back import ResultTransfer
from jupyter_codeagent.session.cell_decisions import CellDecisions
from jupyter_codeagent.session.client_runs import ClientRuns
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.done_calls import DoneCalls
from jupyter_codeagent.session.exploration import Explorer
from jupyter_codeagent.session.model_finder import ModelFinder
from jupyter_codeagent.session.next_questions import NextQuestions
from jupyter_codeagent.session.notebook_writer import NotebookWriter
from jupyter_codeagent.session.page_state import PageState
from jupyter_codeagent.session.preparation import PreparedRun, RunPreparation
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.refinement import Refinements
from jupyter_codeagent.session.replay import RecordedAnswer, is_kept_answer, is_same_question
from jupyter_codeagent.session.report_drafts import ReportDraft, ReportDrafts
from jupyter_codeagent.session.reproduction import Reproduction, RerunWatcher, names_to_copy, programs_of
from jupyter_codeagent.session.result_finder import ResultFinder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.run_request import build_request, new_run
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.session.starting_state import StartingState
from jupyter_codeagent.session.tool_admin import ToolAdmin
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.tools.ask_model import ModelQuestions
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.prompt_lines import calls_note, queries_note, replay_notes
from jupyter_codeagent.types.errors import (
    CodeAgentError,
    DeniedError,
    ModelError,
    RunFailedError,
    StoppedError,
    UsageError,
)
from jupyter_codeagent.types.exploration import ExplorationResult
from jupyter_codeagent.types.options import ExploreOptions, ReportOptions, RunOptions
from jupyter_codeagent.types.run import AgentRun, RunStatus
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import Manifest
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.user_namespace import UserNamespace

RESTARTED = "The sandbox restarted; variables from earlier runs were lost"
FINDINGS_STAY = "Stopped by you; the cells of earlier findings stay."
NO_REPORT = "Stopped by you; no report was written."
NEW_SANDBOX = "The sandbox restarted with new settings or file grants; variables from earlier runs were lost"


@dataclass(frozen=True, kw_only=True, eq=False)
class AgentSession:
    """The agent of one kernel, built by `wiring.new_session`. The magics and the panel act through it."""

    config: CodeAgent
    settings: SettingsInForce
    live: UserNamespace
    background: BackgroundLoop
    link: PanelLink | None
    grants: Grants
    run_log: RunLog
    models: ModelResolver
    model_finder: ModelFinder
    workspace: SandboxWorkspace
    sharing: NotebookSharing
    masking: PromptMasking
    live_context: LiveContext
    tools: ToolAdmin
    questions: ModelQuestions
    starting_state: StartingState
    branches: Branches
    preparation: RunPreparation
    current_run: CurrentRun
    result_finder: ResultFinder
    notebook_writer: NotebookWriter
    client_runs: ClientRuns
    client_link: ClientLink | None
    explorer: Explorer
    report_drafts: ReportDrafts
    reproduction: Reproduction
    decisions: CellDecisions
    results: ResultTransfer
    refinements: Refinements
    next_questions: NextQuestions
    done_calls: DoneCalls
    variables_view: VariablesView
    state: PageState

    # --- one run --------------------------------------------------------------------------------------

    def run(self, prompt: str, options: RunOptions, origin: CellOrigin, display: CellDisplay) -> AgentRun:
        """Turn a prompt into cells. Blocks; an interrupt stops the model and the sandbox within a second.

        Raises
        ------
        CodeAgentError
            The message is one line for the user; the record is in the history, nothing is half inserted.
        """
        if self.current_run.was_stopped(origin.request) or self.current_run.take_stop(origin.cell_id):
            raise StoppedError("Stopped by you; nothing was sent.")
        self.next_questions.cancel()
        if options.new:
            self.starting_state.forget_all()
        self.starting_state.restore_copies(origin.cell_id)
        try:
            notes = self.branches.go_back(options, origin, display)
            prepared = self._prepare(prompt, options, origin)
        except CodeAgentError as error:
            self._record_unprepared(prompt, options, origin, error)
            raise
        prepared = replace(prepared, run=replace(prepared.run, notes=(*notes, *prepared.run.notes)))
        self.refinements.remember(prepared.run.id, options)
        recorder = RunRecorder(prepared.run, self.run_log, self.link)
        recorder.changed(prepared.run)
        recorder.changed(self._run_to_the_end(prepared, recorder, origin, display, rerun=options.rerun))
        run = recorder.latest.run
        if prepared.given and run.status == "failed":
            self.next_questions.withdraw(prompt)
            return self.run(prompt, options, origin, display)
        display.finish(run)
        raise_if_failed(run)
        if options.returns:
            self.results.bring_back(options.returns, origin)
        self.next_questions.follow_run(run, prepared.settings, origin)
        return run

    def _prepare(self, prompt: str, options: RunOptions, origin: CellOrigin) -> PreparedRun:
        """Prepare the run of a question; one that was offered has its program already, and needs no model."""
        given = self.next_questions.program_for(prompt, options)
        prepared = self.preparation.prepare_given(prompt, given, origin) if given is not None else None
        return prepared or self.preparation.prepare_run(prompt, options, origin)

    def explore(self, explored: ExploreOptions, origin: CellOrigin, display: CellDisplay) -> ExplorationResult:
        """Look at tables and insert what is found as cells, without a model. Blocks; an interrupt stops it.

        Raises
        ------
        CodeAgentError
            The message is one line for the user. Cells that were inserted before stay, and each run is recorded.
        """
        if self.current_run.was_stopped(origin.request):
            raise StoppedError("Stopped by you; nothing was looked at.")
        self.next_questions.cancel()
        prepared = self.preparation.prepare_exploration(explored, origin)
        recorder = self.explorer.first_recorder(prepared)
        recorder.changed(recorder.latest.run)

        def tick() -> None:
            latest = (self.current_run.recorder or recorder).latest
            display.progress(latest.run, latest.phase, latest.text)

        try:
            task = self.background.submit(self.explorer.explore(explored, prepared, recorder, origin))
            self.current_run.start(task, recorder)
            return self.background.wait(task, tick)
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            self._end_exploration("stopped", FINDINGS_STAY)
            raise StoppedError(FINDINGS_STAY) from stop
        except CodeAgentError as error:
            self._end_exploration("failed", str(error))
            raise
        except BaseException as error:
            self._end_exploration("failed", internal_error(error))
            raise
        finally:
            self.current_run.end()

    def report(self, options: ReportOptions, origin: CellOrigin, display: CellDisplay) -> ReportDraft:
        """Write a report of the saved notebook, its results run again on copies. Blocks; an interrupt stops it.

        Raises
        ------
        CodeAgentError
            The message is one line for the user; nothing was written.
        """
        from jupyter_codeagent.report.page import report_text  # nbconvert: %load_ext does not need it

        try:
            self._check_not_stopped(origin)
            check_switched_on(self.settings(), "reports", "%agent report")
            self.next_questions.cancel()
            draft = self.report_drafts.draft(options, origin)
            if options.rerun:
                reruns = self._rerun(draft.report, origin, display)
                draft = replace(draft, report=with_reruns(draft.report, reruns))
            text = report_text(draft.report, draft.output.suffix)
            self._check_not_stopped(origin)
        except (KeyboardInterrupt, asyncio.CancelledError) as stop:
            raise StoppedError(NO_REPORT) from stop
        write_report(draft.output, text)
        return draft

    def _check_not_stopped(self, origin: CellOrigin) -> None:
        """Check for a Stop of the panel that came while nothing of the report ran in the sandbox."""
        if self.current_run.was_stopped(origin.request):
            raise StoppedError(NO_REPORT)

    def _rerun(self, report: Report, origin: CellOrigin, display: CellDisplay) -> tuple[Rerun, ...]:
        """Run the results of a report again, in their order."""
        programs = programs_of(report.results)
        prepared = self.preparation.prepare_rerun(names_to_copy(programs), origin)
        self._check_not_stopped(origin)
        watcher = RerunWatcher.of(prepared)
        task = self.background.submit(self.reproduction.rerun(programs, prepared, watcher, origin))
        self.current_run.start_rerun(task, origin.request)
        try:
            return self.background.wait(task, lambda: display.progress(*watcher.latest, recorded=False))
        finally:
            self.current_run.end()

    def _end_exploration(self, status: RunStatus, error: str) -> None:
        recorder = self.current_run.recorder
        if recorder is not None and not recorder.latest.run.ended:
            recorder.changed(end_run(recorder.latest.run, status, error))

    def _record_unprepared(
        self, prompt: str, options: RunOptions, origin: CellOrigin, error: CodeAgentError
    ) -> None:
        """Record a question that could not be sent: the history has it as well."""
        request = build_request(prompt, options, origin, self.settings(options), None)
        run = new_run(request, Manifest(), TaggedText())
        RunRecorder(run, self.run_log, self.link).changed(end_run(run, "failed", str(error)))

    def _run_to_the_end(
        self, prepared: PreparedRun, recorder: RunRecorder, origin: CellOrigin, display: CellDisplay, *, rerun: bool
    ) -> AgentRun:
        """Run what was prepared and display its progress; however it ends, return its record or write it."""

        def tick() -> None:
            latest = recorder.latest
            display.progress(latest.run, latest.phase, latest.text)

        try:
            recorded = None if rerun else self._recorded_answer(prepared.run)
            task = self.background.submit(self._result_in_cells(prepared, recorder, origin, recorded))
            self.current_run.start(task, recorder)
            run = self.background.wait(task, tick)
        except (KeyboardInterrupt, asyncio.CancelledError):
            so_far = self.current_run.so_far(recorder)
            run = end_run(so_far, "stopped", "Stopped by you; no cells were inserted.")
        except CodeAgentError as error:
            if isinstance(error, ModelError):
                self.models.forget()  # its server may be gone: the next run searches again
            run = end_run(self.current_run.so_far(recorder), "failed", str(error))
        except BaseException as error:
            so_far = self.current_run.so_far(recorder)
            recorder.changed(end_run(so_far, "failed", internal_error(error)))
            raise
        finally:
            self.questions.end()
            broker = self.current_run.end()
            if broker is not None:
                self.done_calls.keep(prepared.run.id, broker)
        return run if broker is None else _with_call_notes(run, broker, self.questions.note())

    def _recorded_answer(self, run: AgentRun) -> RecordedAnswer | None:
        """Return the last run of the same cell if it may be replayed."""
        known = self.run_log.last_result_of_cell(run)
        if known is None:
            return None
        if is_same_question(known, run) and known.data_sha256 == self.workspace.digest(run.manifest):
            return RecordedAnswer(run=known, must_be_same=False)
        return RecordedAnswer(run=known, must_be_same=True) if is_kept_answer(known, run) else None

    async def _result_in_cells(
        self, prepared: PreparedRun, recorder: RunRecorder, origin: CellOrigin, recorded: RecordedAnswer | None
    ) -> AgentRun:
        """Do all that waits: sandbox, model, decisions, cells. On the background loop."""
        manifest = prepared.run.manifest
        status_before = self.workspace.status
        sandbox, is_new = await self._sandbox_for(prepared)
        lost_before = sandbox.lost
        status = await sandbox.prepare(manifest)
        if self.link is not None and status != status_before:
            self.link.send_state()  # the page displays from now on which sandbox is in force
        variables, changes = sandbox.variables, sandbox.changes_of(manifest)
        run = replace(prepared.run, sandbox=status.label)
        # The copies are hashed while the model is asked; the digest tells a later Run All that nothing changed.
        digest = asyncio.get_running_loop().run_in_executor(None, self.workspace.digest, manifest)
        run = await self.result_finder.find_result(run, prepared, sandbox, recorder, origin, recorded)
        run = with_effects(replace(run, data_sha256=await digest), variables, changes)
        lost = ((NEW_SANDBOX,) if is_new else ()) + ((RESTARTED,) if sandbox.lost > lost_before else ())
        run = replace(run, notes=(*run.notes, *lost))
        if run.status != "ok":
            return run
        run = self.refinements.compared(run)
        sandbox.keep_changes()
        sandbox.state_of = run.id
        if not prepared.inserts:
            return replace(run, placed="nowhere")
        known = None if recorded is None else recorded.run
        return await self.notebook_writer.insert_cells(run, recorder, origin, known)

    async def _sandbox_for(self, prepared: PreparedRun) -> tuple[PersistentSandbox, bool]:
        """Return the sandbox, and whether it replaces one that had variables."""
        before = self.workspace.current
        had_variables = before is not None and bool(before.names)
        sandbox = await self.workspace.sandbox(prepared.settings.sandbox)
        return sandbox, had_variables and sandbox is not before

    # --- lifetime ---------------------------------------------------------------------------------------

    def has_panel(self) -> bool:
        """Check whether a page displays what runs. Any thread."""
        return self.link is not None and self.link.is_open

    def warm(self) -> None:
        """Start a warm sandbox in the background; return at once."""
        try:
            policy = self.settings().sandbox
        except UsageError:
            return  # a configuration that cannot be used stops every run, with the reason; loading continues
        self.background.submit(self.workspace.warm(policy))

    def stop(self) -> bool:
        """Stop the run in progress, and those of MCP clients; return whether there was one. Any thread."""
        self.next_questions.cancel()
        return self.client_runs.stop() | self.current_run.stop()

    def reset(self) -> None:
        """Forget the conversation and the variables of all sandboxes, and revoke every grant."""
        self.grants.clear()
        self.next_questions.cancel()
        self.starting_state.forget_all()
        self.background.run(self.client_runs.forget())

    def close(self, *, tell_pages: bool = True) -> None:
        """Stop everything this session started; tell the pages unless the kernel itself ends."""
        with ExitStack() as steps:  # in reverse; where one fails, the others are done all the same
            steps.callback(self.background.close)
            steps.callback(self.result_finder.users_loop.close)
            steps.callback(self.run_log.history.close)
            steps.callback(lambda: self.background.run(self.workspace.close()))
            steps.callback(self.tools.close)
            steps.callback(lambda: self.background.run(self.client_runs.forget()))
            if self.client_link is not None:
                steps.callback(self.client_link.close, tell_clients=tell_pages)
            if self.link is not None:
                steps.callback(self.link.close, tell_pages=tell_pages)
            steps.callback(self.stop)
            steps.callback(self.next_questions.close)


def _with_call_notes(run: AgentRun, broker: ToolCallBroker, questions_note: str) -> AgentRun:
    """Add notes on the calls of the run's code."""
    if not broker.of_run:
        return run
    # The calls of a replay that failed, so that the model continued.
    recorded = replay_notes(broker)[:1] if broker.replayed and not run.replayed_from else ()
    called = [call for call in broker.of_run if call.tool not in run.manifest.databases or call.status != "ok"]
    asked = queries_note(run.manifest.tools, broker.of_run)
    notes = [note for note in (*recorded, calls_note(called), asked, questions_note) if note]
    return replace(run, notes=(*run.notes, *notes))


def raise_if_failed(run: AgentRun) -> None:
    """Raise the error of a run that did not end well, so that Run All stops at its cell."""
    if run.status == "ok":
        return
    kinds = {"stopped": StoppedError, "rejected": DeniedError}
    error = kinds.get(run.status, RunFailedError)(run.error)
    if ended_by_user(run):
        error.neutral_text = ""  # the receipt has the reason
    raise error
