"""From a prepared run to its result: the recorded one if nothing changed, else that of the loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from jupyter_codeagent.agent.candidates import run_candidates
from jupyter_codeagent.agent.dependencies import Decide, LoopDependencies
from jupyter_codeagent.agent.ending import REJECTED, end_run, last_problem, with_result
from jupyter_codeagent.agent.loop import run_agent
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.current_run import CurrentRun
from jupyter_codeagent.session.given_code import FROM_TEMPLATE, run_given_code
from jupyter_codeagent.session.preparation import PreparedRun
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.refinement import Refinements
from jupyter_codeagent.session.replay import RecordedAnswer, replay
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import ModelQuestions
from jupyter_codeagent.tools.broker import ToolCallBroker, ToolRunner
from jupyter_codeagent.tools.call_host import Host, Limits
from jupyter_codeagent.tools.prompt_lines import recorded_calls, replay_notes
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import ToolCall
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing

NO_LONGER = "The program that was written for this question fails on the data as it is now."


@dataclass(frozen=True, kw_only=True)
class ResultFinder:
    """Finds the results of a session. On the background loop."""

    background: BackgroundLoop
    users_loop: BackgroundLoop
    """Loop for coroutines among the functions that code calls; started with the first."""
    front_ends: FrontEndAdapters
    models: ModelResolver
    workspace: SandboxWorkspace
    questions: ModelQuestions
    masking: PromptMasking
    sharing: NotebookSharing
    refinements: Refinements
    current_run: CurrentRun
    unsure_calls: set[str] = field(default_factory=set)
    """See `ToolCallBroker`."""

    async def find_result(
        self,
        run: AgentRun,
        prepared: PreparedRun,
        sandbox: PersistentSandbox,
        recorder: RunRecorder,
        origin: CellOrigin,
        recorded: RecordedAnswer | None,
    ) -> AgentRun:
        """Return the run with its result; the code of `recorded` is tried first.

        Raises
        ------
        ModelError, SandboxError
        """
        self.questions.begin(prepared.settings, recorder.sent)
        decide = self._decide(run, prepared.settings, origin)
        runner: CodeRunner = sandbox
        if run.manifest.tools:
            broker = self._broker(run, prepared, decide, recorded_calls(None if recorded is None else recorded.run))
            broker.on_calls, broker.on_call_start = recorder.called, recorder.call_starts
            self.current_run.broker = broker
            runner = ToolRunner(sandbox, broker)
        if recorded is not None:
            replayed = await self._replayed(run, recorded, decide, runner, recorder)
            if replayed is not None:
                return replayed
            sandbox.undo_attempt()
        if prepared.given:
            return await self._given(run, prepared.given, decide, runner, recorder)
        dependencies = await self._dependencies(run, prepared, sandbox, recorder, decide, runner)
        if run.request.candidates == 1:
            return await run_agent(run, prepared.turns, dependencies)
        return await run_candidates(
            run, prepared.turns, dependencies, lambda: self.workspace.temporary_sandbox(prepared.settings.sandbox)
        )

    def _decide(self, run: AgentRun, settings: Settings, origin: CellOrigin) -> Decide:
        gate = self.front_ends.gate(origin, settings)

        def decide(proposal: Proposal) -> Awaitable[Decision]:
            return gate.decide(proposal, run.request.approve)

        return decide

    def _broker(
        self,
        run: AgentRun,
        prepared: PreparedRun,
        decide: Callable[[Proposal], Awaitable[Decision]],
        recorded: Sequence[ToolCall],
    ) -> ToolCallBroker:
        settings = prepared.settings
        return ToolCallBroker(
            prepared.tools,
            run_id=run.id,
            decide=decide,
            host=Host(
                on_main_thread=self.background.on_main_thread,
                on_users_loop=self.users_loop.run_beside,
                spool=self.workspace.spool,
            ),
            limits=Limits(
                argument_bytes=settings.max_return_bytes,
                result_bytes=settings.max_transfer_bytes,
                calls=settings.max_calls,
                calls_per_cell=settings.max_calls_per_cell,
            ),
            unsure=self.unsure_calls,
            recorded=recorded,
        )

    async def _replayed(
        self, run: AgentRun, recorded: RecordedAnswer, decide: Decide, runner: CodeRunner, recorder: RunRecorder
    ) -> AgentRun | None:
        replayed = await replay(run, recorded, decide=decide, runner=runner, watcher=recorder)
        if replayed is None:
            return None
        broker, known = self.current_run.broker, recorded.run
        notes = replay_notes(broker) if broker is not None else ()
        source = known.replayed_from if known.placed == "kept" else known.id
        return replace(replayed, replayed_from=source, notes=(*replayed.notes, *notes))

    async def _given(
        self, run: AgentRun, code: str, decide: Decide, runner: CodeRunner, recorder: RunRecorder
    ) -> AgentRun:
        """Run the program that was offered for the question; it may fail, as the data may be other data now."""
        step = await run_given_code(
            run,
            code,
            why="It answers the question; no model was asked.",
            note=FROM_TEMPLATE,
            decide=decide,
            runner=runner,
            watcher=recorder,
        )
        run = replace(run, steps=(step,), notes=(*run.notes, FROM_TEMPLATE))
        if step.result is None:
            return end_run(run, "rejected", REJECTED)
        if step.result.status != "ok":
            return end_run(run, "failed", f"{NO_LONGER} {last_problem(step, {})}")
        run = with_result(run, step)
        if run.verdict is not None and run.verdict.level == "doubtful":
            # The verdict is on programs of a model: this one shows parts of the rows on purpose.
            run = replace(run, verdict=None, assumptions=())
        return end_run(run, "ok")

    async def _dependencies(
        self,
        run: AgentRun,
        prepared: PreparedRun,
        sandbox: PersistentSandbox,
        recorder: RunRecorder,
        decide: Decide,
        runner: CodeRunner,
    ) -> LoopDependencies:
        settings = prepared.settings
        model = await self.models.open(
            prepared.endpoint, settings.model, on_loading=lambda: recorder.progress(run, "loading")
        )
        return LoopDependencies(
            model=recorder.sent.of(model, prepared.endpoint),
            runner=runner,
            decide=decide,
            watcher=recorder,
            defined=lambda: (*sandbox.names, *(stub.name for stub in run.manifest.tools)),
            undo_attempt=sandbox.undo_attempt,
            max_tokens=settings.model.max_tokens,
            temperature=settings.model.temperature,
            masked_values=self.masking.values_in,
            hidden_columns=self.sharing.hidden_columns,
            text_columns=prepared.text_columns,
            joins=prepared.joins,
            live=prepared.live,
            turns=prepared.turns,
            window=prepared.window,
            replaces=self.refinements.refined_program(run),
        )
