"""One session per notebook kernel: from a prompt to cells, top to bottom.

User objects are read on the main thread; everything that waits runs on the background loop.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast, get_args

from jupyter_codeagent.agent import Tools, conversation, ended, run_agent
from jupyter_codeagent.background import Background, BackgroundTask
from jupyter_codeagent.candidates import run_candidates
from jupyter_codeagent.cells import cells_from_run
from jupyter_codeagent.config import CodeAgent, apply_caps, read_caps
from jupyter_codeagent.display import CellDisplay
from jupyter_codeagent.errors import (
    CodeAgentError,
    DeniedError,
    InsertError,
    ModelError,
    RunFailedError,
    StoppedError,
    UsageError,
)
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import Shared, StateMessage
from jupyter_codeagent.frontend.state import state_message
from jupyter_codeagent.frontends import FrontEnds
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.live import LiveKernel, Shell
from jupyter_codeagent.models.choice import ModelChoice
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.options import RunOptions
from jupyter_codeagent.place import Place
from jupyter_codeagent.preparation import (
    PreparedRun,
    build_request,
    check_options,
    new_run,
    render_context,
    with_options,
)
from jupyter_codeagent.recorder import RunRecorder
from jupyter_codeagent.replay import is_same_question, replay
from jupyter_codeagent.results import ResultDecisions
from jupyter_codeagent.runbook import RunBook
from jupyter_codeagent.sandbox.seat import SandboxSeat
from jupyter_codeagent.settings import Settings
from jupyter_codeagent.sidecar import Sidecar
from jupyter_codeagent.values import (
    KEPT_STATES,
    AgentRun,
    CellState,
    Decision,
    Manifest,
    Proposal,
    SandboxStatus,
    VariableSummary,
)
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.render import Context
from jupyter_codeagent.variables.select import default_variables


class AgentSession:
    """The agent of one kernel. The magics and the panel act through it."""

    def __init__(self, shell: Shell, config: CodeAgent) -> None:
        self.config = config
        self.live = LiveKernel(shell)
        self.background = Background()
        settings = self.settings()
        self.book = RunBook(
            HistoryStore(Path(settings.history_path) if settings.history_path else None),
            session_id=uuid.uuid4().hex[:12],
        )
        self.shared: dict[str, Shared] = {}
        self.models = ModelChoice()
        self.sidecar = Sidecar(max_bytes=settings.max_transfer_bytes)
        self._must_reset = False
        """A variable was hidden: the sandbox that has its copy is left behind before anything else runs."""
        self._task: BackgroundTask[AgentRun] | None = None
        self._summaries: tuple[VariableSummary, ...] = ()
        self.link: PanelLink | None = None
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            self.link = PanelLink(kernel, self.background.loop, state=self.state, on_event=self._on_event)
            self.link.announce()
        self._front_ends = FrontEnds(self.background, self.link)
        self.results = ResultDecisions(
            live=self.live,
            background=self.background,
            book=self.book,
            sidecar=self.sidecar,
            front_ends=self._front_ends,
            link=self.link,
            settings=self.settings,
            shared=self.shared,
        )

    # --- one run --------------------------------------------------------------------------------------

    def run(self, prompt: str, options: RunOptions, place: Place, display: CellDisplay) -> AgentRun:
        """From a prompt to cells. Blocks; an interrupt stops the model and the sandbox within a second.

        Raises
        ------
        CodeAgentError
            One line for the user; the record is in the history, nothing is half inserted.
        """
        if options.new:
            self.reset()
        try:
            prepared = self.prepare(prompt, options, place)
        except CodeAgentError as error:
            self._record_unprepared(prompt, options, place, error)
            raise
        self._front_ends.wait_for_page(place)
        run = self._drive(prepared, place, display, rerun=options.rerun)
        display.finish(run)
        raise_if_failed(run)
        for name in options.returns:
            self.results.bring_back(name)
        return run

    def prepare(self, prompt: str, options: RunOptions, place: Place) -> PreparedRun:
        """Describe, choose and copy variables; find the model. On the main thread; sends nothing."""
        settings = self.settings(options)
        check_options(options, settings)
        endpoint = self.find_model(settings)
        if self._must_reset:
            self._reset_sandbox()
        variables = self.live.variables(self.shared)
        self._summaries = describe(variables, privacy=settings.privacy, mentioned=prompt)
        run = new_run(
            build_request(prompt, options, place, settings, endpoint),
            self._export(variables, prompt, options, settings),
            render_context(self._summaries, settings, prompt).text,
        )
        turns = self.book.turns_before(run)
        return PreparedRun(
            run=run,
            settings=settings,
            endpoint=endpoint,
            turns=turns,
            messages=conversation(run, turns),
            inserts=not options.json,
        )

    def _record_unprepared(self, prompt: str, options: RunOptions, place: Place, error: CodeAgentError) -> None:
        """A question that could not be sent is in the history as well."""
        run = new_run(build_request(prompt, options, place, self.settings(options), None), Manifest(), "")
        RunRecorder(run, self.book, self.link).changed(ended(run, "failed", str(error)))

    def _drive(self, prepared: PreparedRun, place: Place, display: CellDisplay, *, rerun: bool) -> AgentRun:
        """Wait for the run on the main thread, showing it; whatever happens, the record tells how it ended."""
        recorder = RunRecorder(prepared.run, self.book, self.link)
        recorder.changed(prepared.run)

        def tick() -> None:
            latest = recorder.latest
            display.progress(latest.run, latest.phase, latest.text)

        try:
            known = None if rerun else self._same_as_before(prepared.run)
            self._task = self.background.submit(self._run(prepared, recorder, place, known))
            run = self.background.wait(self._task, tick)
        except (KeyboardInterrupt, asyncio.CancelledError):
            run = ended(recorder.latest.run, "stopped", "Stopped by you; no cells were inserted.")
        except CodeAgentError as error:
            if isinstance(error, ModelError):
                self.models.forget()  # its server may have gone: look again at the next run
            run = ended(recorder.latest.run, "failed", str(error))
        except BaseException as error:
            recorder.changed(ended(recorder.latest.run, "failed", f"A fault of jupyter-codeagent: {error!r}"))
            raise
        finally:
            self._task = None
        recorder.changed(run)
        return recorder.latest.run

    async def _run(
        self, prepared: PreparedRun, recorder: RunRecorder, place: Place, known: AgentRun | None
    ) -> AgentRun:
        """The part that waits: sandbox, model, decisions, cells."""
        seat = await self.sidecar.seat(prepared.settings.sandbox)
        lost_before = seat.lost
        status = await seat.prepare(prepared.run.manifest)
        run = replace(prepared.run, sandbox=status.label)
        # The copies are hashed while the model is asked; the digest tells a later Run All that nothing changed.
        digest = asyncio.get_running_loop().run_in_executor(None, self.sidecar.digest, run.manifest)
        run = await self._find_result(run, prepared, seat, recorder, place, known)
        run = replace(run, data_sha256=await digest)
        if seat.lost > lost_before:
            run = replace(
                run, notes=(*run.notes, "the sandbox had ended: variables that earlier runs made are gone")
            )
        if run.status != "ok" or not prepared.inserts:
            return run
        if known is not None and run.replayed_from and known.cell_state in KEPT_STATES:
            return replace(
                run, cell_state=known.cell_state, notes=(*run.notes, "its cells are in the notebook already")
            )
        run = replace(run, cell_state="accepted" if run.request.approve == "auto" else "pending")
        # Before its cells are anywhere: whoever finds them after a crash finds what they are.
        recorder.changed(run)
        recorder.progress(run, "inserting")
        return await self._insert(run, place)

    async def _find_result(
        self,
        run: AgentRun,
        prepared: PreparedRun,
        seat: SandboxSeat,
        recorder: RunRecorder,
        place: Place,
        known: AgentRun | None,
    ) -> AgentRun:
        """From the record where nothing changed, else from the model: one program, or the one most agree on."""
        settings = prepared.settings
        gate = self._front_ends.gate(place, timeout_s=settings.approval_timeout_s)

        def decide(proposal: Proposal) -> Awaitable[Decision]:
            return gate.decide(proposal, run.request.approve)

        if known is not None:
            replayed = await replay(run, known, decide=decide, runner=seat, watcher=recorder)
            if replayed is not None:
                return replace(replayed, replayed_from=known.id)
        tools = Tools(
            model=await self.models.open(prepared.endpoint, settings.model),
            runner=seat,
            decide=decide,
            watcher=recorder,
            defined=lambda: seat.names,
            max_tokens=settings.model.max_tokens,
            temperature=settings.model.temperature,
            answer=settings.answer,
        )
        if run.request.candidates == 1:
            return await run_agent(run, prepared.turns, tools)
        run, chosen = await run_candidates(run, prepared.turns, tools, lambda: self._extra_seat(settings))
        if chosen is None:
            return run
        replayed = await replay(run, chosen, decide=decide, runner=seat, watcher=recorder)
        return replayed or ended(
            run, "failed", "The chosen candidate did not run a second time; run the cell again."
        )

    @asynccontextmanager
    async def _extra_seat(self, settings: Settings) -> AsyncIterator[SandboxSeat]:
        seat = await self.sidecar.extra_seat(settings.sandbox)
        try:
            yield seat
        finally:
            await seat.reset()

    def _same_as_before(self, run: AgentRun) -> AgentRun | None:
        """The last run of the same cell, if prompt, model and data are what they were; it is replayed then."""
        known = self.book.last_result_of_cell(run)
        if known is None or not is_same_question(known, run):
            return None
        return known if known.data_sha256 == self.sidecar.digest(run.manifest) else None

    async def _insert(self, run: AgentRun, place: Place) -> AgentRun:
        cells = [dict(cell) for cell in cells_from_run(run, state=run.cell_state)]
        replaced = self.book.earlier_runs_of_cell(run)
        placement = self._front_ends.placement(place)
        try:
            await placement.place(run.id, cells, anchor=run.request.cell_id, replace=replaced)
        except InsertError as error:
            return replace(run, notes=(*run.notes, str(error)))
        self.book.replace_pending(replaced)
        return run

    # --- parts of a run -------------------------------------------------------------------------------

    def settings(self, options: RunOptions | None = None) -> Settings:
        """Configuration, then options, then the administrator's caps."""
        settings = self.config.settings()
        if options is not None:
            settings = with_options(settings, options)
        return apply_caps(settings, read_caps())

    def find_model(self, settings: Settings) -> ModelEndpoint:
        """Where the model is. Raises ModelError."""
        return self.background.run(self.models.find(settings.model))

    def _export(
        self, variables: Mapping[str, Any], prompt: str, options: RunOptions, settings: Settings
    ) -> Manifest:
        names = options.variables
        if names is None:
            names = default_variables(self._summaries, prompt, max_bytes=settings.max_transfer_bytes)
        always = [name for name, how in self.shared.items() if how == "shared" and name in variables]
        wanted = tuple(dict.fromkeys((*names, *always)))
        return self.sidecar.export(variables, wanted, required=options.variables is not None)

    def share(self, name: str, how: Shared) -> None:
        """Always copy a variable, never, or by the prompt. What is hidden leaves sandbox and conversation too."""
        self.shared[name] = how
        if how == "hidden":
            self.book.forget_variable(name)
            self._must_reset = True

    # --- the session's state ------------------------------------------------------------------------------

    @property
    def sandbox_status(self) -> SandboxStatus | None:
        """Of the sandbox in use or used last."""
        seat = self.sidecar.present
        return seat.status if seat is not None else None

    def context(self) -> Context:
        """What the model would see of the live variables."""
        settings = self.settings()
        self._describe(settings)
        return render_context(self._summaries, settings, "")

    def _describe(self, settings: Settings) -> None:
        self._summaries = describe(self.live.variables(self.shared), privacy=settings.privacy, mentioned="")

    def show_variables(self) -> None:
        """Tell the pages what the kernel has now; after each cell, on the main thread."""
        if self.link is not None and self.link.is_open:
            self._describe(self.settings())
            self.link.send_state()

    def state(self) -> StateMessage:
        """For a page that says hello. On the background loop."""
        settings = self.settings()
        return state_message(
            model=self.models.name or settings.model.model,
            approve=settings.approve,
            sandbox=self.sandbox_status,
            variables=self._summaries,
            shared=self.shared,
            runs=self.book.recent,
            proposals=self.link.proposals if self.link is not None else [],
        )

    def _on_event(self, data: Mapping[str, Any]) -> None:
        """A message of a page that is neither an acknowledgement nor a decision. On the background loop."""
        match data:
            case {"type": "stop"}:
                self.stop()
            case {"type": "cell_state", "run_id": str(run_id), "state": str(state)} if state in get_args(CellState):
                self.results.set_cell_state(run_id, cast("CellState", state), decided_by="panel")
            case {"type": "share", "name": str(name), "shared": str(shared)} if shared in get_args(Shared):
                self.share(name, cast("Shared", shared))
                if self.link is not None:
                    self.link.send_state()

    # --- life -------------------------------------------------------------------------------------------

    def warm(self) -> None:
        """Start a spare sandbox in the background; returns at once."""
        try:
            policy = self.settings().sandbox
        except UsageError:
            return  # a configuration that cannot be used stops every run, with the reason; loading goes on
        self.background.submit(self.sidecar.warm(policy))

    def stop(self) -> bool:
        """Stop the run under way; whether there was one. From any thread."""
        task = self._task
        if task is not None:
            task.cancel()
        return task is not None

    def reset(self) -> None:
        """Forget the conversation and the sandbox's variables."""
        self.book.forget_conversation()
        self._reset_sandbox()

    def _reset_sandbox(self) -> None:
        if self.sidecar.present is not None:
            self.background.run(self.sidecar.present.reset())
        self._must_reset = False

    def close(self) -> None:
        """Stop everything this session started."""
        self.stop()
        if self.link is not None:
            self.link.close()
        self.background.run(self.sidecar.close())
        self.book.history.close()
        self.background.close()


def raise_if_failed(run: AgentRun) -> None:
    """A run that did not end well is an error of its cell, so that Run All stops there."""
    if run.status == "stopped":
        raise StoppedError(run.error)
    if run.status == "rejected":
        raise DeniedError(run.error)
    if run.status != "ok":
        raise RunFailedError(run.error)
