"""One session per notebook kernel: from a prompt to cells, top to bottom.

User objects are read on the main thread; everything that waits runs on the background loop.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jupyter_codeagent.agent.candidates import run_candidates
from jupyter_codeagent.agent.loop import LoopDependencies, conversation, ended, run_agent
from jupyter_codeagent.agent.prompt.changes import told_differences, told_made, with_effects
from jupyter_codeagent.agent.prompt.context_window import fit
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.agent.rules.imports import ALIASES
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.background_loop import BackgroundLoop, BackgroundTask
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.display import CellDisplay
from jupyter_codeagent.frontend.insertion import CellInserter
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import PROTOCOL, GrantsMessage, StateMessage, grant_views
from jupyter_codeagent.frontend.receipt import ended_by_user
from jupyter_codeagent.frontend.settings_view import SettingsHandler
from jupyter_codeagent.frontend.state import sandbox_view
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.bring_back import ResultDecisions
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.file_grants import granted_files, require
from jupyter_codeagent.session.hiding import Hiding
from jupyter_codeagent.session.page_handler import PageHandler
from jupyter_codeagent.session.prepare import (
    PreparedRun,
    build_request,
    check_options,
    context_window_of,
    incomplete_columns,
    new_run,
    question_digest,
    with_options,
)
from jupyter_codeagent.session.recorder import RunRecorder, with_calls, with_reply
from jupyter_codeagent.session.replay import is_same_question, replay
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.variable_selection import VariableSelection, select_variables
from jupyter_codeagent.session.variables_view import VariablesView
from jupyter_codeagent.settings.config import APPROVE_ORDER, CodeAgent, apply_caps, read_caps
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import NAME as ASK_MODEL
from jupyter_codeagent.tools.ask_model import SubQuestions, offered
from jupyter_codeagent.tools.broker import Host, Limits, ToolCallBroker, ToolRunner
from jupyter_codeagent.tools.mcp import is_of_server
from jupyter_codeagent.tools.prompt_lines import (
    calls_note,
    functions_text,
    recorded_calls,
    replay_notes,
    with_tools,
    without_tools,
)
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.servers import McpServers, merged
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.tools.undo import DoneCall, Undone, undo_calls, with_undone
from jupyter_codeagent.types.approvals import ApprovalPolicy, Decision, Grant, Proposal
from jupyter_codeagent.types.errors import (
    CodeAgentError,
    DeniedError,
    InsertError,
    ModelError,
    RunFailedError,
    StoppedError,
    UnconfirmedServerError,
    UsageError,
)
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import KEPT_STATES, AgentRun, Step
from jupyter_codeagent.types.run_json import run_view
from jupyter_codeagent.types.sandbox import ExecutionResult, SandboxStatus, ToolCall
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.types.variables import LocalFile, Manifest, ToolPolicy, VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.privacy.masking import mask_values, masked, masked_summaries, withheld_values
from jupyter_codeagent.variables.relations import Relation
from jupyter_codeagent.variables.select import SelectionClues
from jupyter_codeagent.variables.user_namespace import Shell, UserNamespace

KEPT_STOPS = 100
"""Requests that were stopped before they began, and are remembered for when they do."""
KEPT_CALLS_RUNS = 20
"""Runs whose calls can be taken back."""


class AgentSession:
    """The agent of one kernel. The magics and the panel act through it."""

    def __init__(self, shell: Shell, config: CodeAgent) -> None:
        self.config = config
        self.live = UserNamespace(shell)
        self.background = BackgroundLoop()
        self.models = ModelResolver()
        self.grants = Grants(self._tell_grants)
        self.link: PanelLink | None = None
        settings = self._settings_at_start()
        self.book = RunLog(
            HistoryStore(Path(settings.history_path) if settings.history_path else None),
            session_id=uuid.uuid4().hex[:12],
        )
        self.hiding = Hiding(self.live, self.book)
        self.live_context = LiveContext(
            live=self.live,
            hiding=self.hiding,
            models=self.models,
            find_model=self.find_model,
            earlier=lambda: self.book.copied_before(None),
        )
        self.sidecar = SandboxWorkspace(max_bytes=settings.max_transfer_bytes)
        self.tools = REGISTRY
        self.servers = McpServers(self.background.run)
        self.subquestions = SubQuestions(
            settings=self.settings, models=self.models, withheld=self._withheld, run=self.background.run
        )
        self._unsure_calls: set[str] = set()
        """See `ToolCallBroker`."""
        self._users_loop = BackgroundLoop()
        """For coroutines among the functions that code calls; started with the first."""
        self._desk: ToolCallBroker | None = None
        self._asked: dict[str, RunOptions] = {}
        """By run: under which options it was asked, for another version of its result."""
        self._done_calls: dict[str, list[DoneCall]] = {}
        """By run, oldest first: what `undo_calls` can take back."""
        self._stopped_early: deque[str] = deque(maxlen=KEPT_STOPS)
        """Requests that were stopped before they began, and ids of runs that had ended."""
        self._task: BackgroundTask[AgentRun] | None = None
        self._running_id = ""
        self._recorder: RunRecorder | None = None
        self.shown = VariablesView(
            live=self.live,
            choices=self.hiding.choices,
            settings=self.settings,
            describe=self.live_context.for_pages,
            link=lambda: self.link,
        )
        self.session_settings = SettingsHandler(
            config=config,
            models=self.models,
            grants=self.grants,
            settings=self.settings,
            link=lambda: self.link,
            changed=self.shown.look_soon,
            submit=self.background.submit,
        )
        effects = LiveEffects(self.live, self.background)
        page_messages = PageHandler(
            settings=self.session_settings,
            hiding=self.hiding,
            shown=self.shown,
            effects=effects,
            results=lambda: self.results,
            grants=self.grants,
            link=lambda: self.link,
            running=self._recorder_of,
            stop=self.stop,
            stop_early=self._stopped_early.append,
            submit=self.background.submit,
        )
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            self.link = PanelLink(kernel, self.background.loop, state=self.state, on_event=page_messages.heard)
            self.background.hear_while_waiting(self.link.hear_main_shell)
            self.link.announce()
        main_loop = getattr(kernel, "io_loop", None)
        if main_loop is not None:
            self.background.serve_when_idle(main_loop.add_callback)
        self._front_ends = FrontEndAdapters(self.background, self.link, self.grants, kernel=kernel, effects=effects)
        self.results = ResultDecisions(
            live=self.live,
            background=self.background,
            book=self.book,
            sidecar=self.sidecar,
            front_ends=self._front_ends,
            link=self.link,
            settings=self.settings,
            shared=self.hiding.shared,
        )

    # --- one run --------------------------------------------------------------------------------------

    def run(self, prompt: str, options: RunOptions, place: CellOrigin, display: CellDisplay) -> AgentRun:
        """From a prompt to cells. Blocks; an interrupt stops the model and the sandbox within a second.

        Raises
        ------
        CodeAgentError
            One line for the user; the record is in the history, nothing is half inserted.
        """
        if place.request is not None and place.request in self._stopped_early:
            raise StoppedError("Stopped by you; nothing was sent.")
        if options.new:
            self._start_anew()
        if self.sidecar.current is not None:
            # A question asked again starts from the copies as they were; what it does to them, it does once more.
            self.sidecar.current.reload(self.book.changed_by_cell(place.cell_id))
        try:
            prepared = self.prepare(prompt, options, place)
        except CodeAgentError as error:
            self._record_unprepared(prompt, options, place, error)
            raise
        self._asked[prepared.run.id] = options
        run = self._drive(prepared, place, display, rerun=options.rerun)
        display.finish(run)
        raise_if_failed(run)
        if options.returns:
            self.results.bring_back(options.returns, place)
        return run

    def refining(self, run_id: str, refinement: str) -> tuple[AgentRun, RunOptions]:
        """A run of this kernel, and the options under which another version of its result is asked for.

        Raises
        ------
        UsageError, HistoryError
            There is no such run, it is one of another kernel, or it has no result.
        """
        known = self.book.find(run_id)
        if known.id not in self._asked:
            raise UsageError(f"Run {known.id} was not made in this session; ask its question again with %%agent.")
        if not known.code:
            raise UsageError(f"Run {known.id} has no result that could be refined; it is {known.status}.")
        asked = replace(self._asked[known.id], new=False, rerun=True)
        return known, replace(asked, refines=known.id, refinement=refinement)

    def prepare(self, prompt: str, options: RunOptions, place: CellOrigin) -> PreparedRun:
        """Describe, select_variables and copy variables; find the model. On the main thread; sends nothing."""
        # With it come the user's settings, and the notebook's lists of what is hidden.
        self._front_ends.wait_for_page(place)
        settings = self.settings(options)
        check_options(options, settings)
        if options.dry_run:
            endpoint = self.models.foresee(settings.model)
        else:
            endpoint = self.find_model(settings, place)
            settings = self._with_grants(settings)
        self.hiding.adopt_file(place.notebook)
        if self.hiding.must_reset:
            self._reset_sandbox()
        if self.sidecar.current is not None:
            self.sidecar.current.undo_attempt()  # what a failed run did to the copies is told to nobody
        live = self.hiding.visible()
        self.hiding.check(options, live.withheld)
        refreshes = self.servers.servers and not options.dry_run
        unheard = self.background.run(self.servers.refresh()) if refreshes else ()
        tools = offered(self.all_tools(), prompt)
        variables = without_tools(live.values, self.all_tools())

        def described(values: Mapping[str, Any]) -> tuple[VariableSummary, ...]:
            return describe(values, privacy=settings.privacy, mentioned=prompt)

        summaries = described(variables)
        relations = self.live_context.relations(summaries, variables, prompt, settings)
        choice = self._choose(variables, summaries, relations, prompt, options, settings, place)
        settings = self._with_grants(settings)
        manifest = self.sidecar.export(
            choice.values,
            choice.names,
            required=choice.required,
            max_bytes=settings.max_transfer_bytes,
            hidden=live.hidden,
        )
        summaries = live.hidden.without_names(choice.described(summaries, manifest, described), variables)
        summaries = masked_summaries(summaries, self.live.everything())
        request = build_request(prompt, options, place, settings, endpoint)
        manifest, notes = choice.complete(manifest), (*choice.run_notes, *unheard)
        if tools:
            if request.candidates == 1:
                manifest = with_tools(manifest, tools)
            else:
                notes = (*notes, "your functions were not offered: each of several programs would have called them")
        manifest = self.book.with_unchanged(manifest)
        # The last of all that can fail: it may ask the model's tokenizer, and who is asked stands in the record.
        told = self.live_context.tell(summaries, relations, prompt, settings, endpoint, sends=not options.dry_run)
        run = replace(
            new_run(request, manifest, told.context.tagged, counted_kinds=told.counted_kinds), notes=notes
        )
        is_anew = options.new and options.dry_run  # a run with `--new` has been reset before it comes here
        turns = () if is_anew else self._masked(self.book.turns_before(run, self._defined()))
        run = self._with_differences(run, turns, None if is_anew else self.sidecar.current)
        more = run.context.removeprefix(told.context.text)
        run = replace(run, described_sha256=question_digest(summaries, settings, prompt, more))
        turns = (*turns, *self._masked(self.book.refined_turn(run)))
        room = context_window_of(endpoint, settings)
        return PreparedRun(
            run=run,
            tools=tools,
            told=told,
            settings=settings,
            endpoint=endpoint,
            turns=turns,
            messages=fit(conversation(run, turns), prompt, room, settings.model.max_tokens).messages,
            incomplete=incomplete_columns(summaries),
            room=room,
            inserts=not options.json,
        )

    def _defined(self) -> frozenset[str]:
        """What the sandbox has now."""
        seat = self.sidecar.current
        return frozenset(entry.name for entry in seat.variables) if seat is not None else frozenset()

    def _with_differences(self, run: AgentRun, turns: tuple[Turn, ...], seat: PersistentSandbox | None) -> AgentRun:
        """Its context also tells what the sandbox has that the live kernel has not, or has otherwise."""
        changes = seat.changes_of(run.manifest) if seat is not None else ()
        seen = "\n".join((run.context, *(turn.code for turn in turns)))
        made = told_made((line for turn in turns for line in turn.made), run.context)
        differences = told_differences(changes, seen, names_only=run.request.privacy == "schema")
        told = (
            TaggedText(run.context, run.context_spans),
            tagged(made, "names"),
            tagged(masked(differences, withheld_values(differences, self.live.everything())), "names"),
            tagged(functions_text(run.manifest.tools), "functions"),
        )
        context = join("\n", filter(None, told))
        return replace(run, context=context.text, context_spans=context.spans)

    def _record_unprepared(
        self, prompt: str, options: RunOptions, place: CellOrigin, error: CodeAgentError
    ) -> None:
        """A question that could not be sent is in the history as well."""
        request = build_request(prompt, options, place, self.settings(options), None)
        run = new_run(request, Manifest(), TaggedText())
        RunRecorder(run, self.book, self.link).changed(ended(run, "failed", str(error)))

    def _drive(self, prepared: PreparedRun, place: CellOrigin, display: CellDisplay, *, rerun: bool) -> AgentRun:
        """Wait for the run on the main thread, showing it; whatever happens, the record tells how it ended."""
        recorder = RunRecorder(prepared.run, self.book, self.link)
        recorder.changed(prepared.run)

        def tick() -> None:
            latest = recorder.latest
            display.progress(latest.run, latest.phase, latest.text)

        try:
            known = None if rerun else self._same_as_before(prepared.run)
            self._task = self.background.submit(self._run(prepared, recorder, place, known))
            self._recorder, self._running_id = recorder, prepared.run.id
            run = self.background.wait(self._task, tick)
        except (KeyboardInterrupt, asyncio.CancelledError):
            stopped = self._so_far(recorder)
            run = ended(stopped, "stopped", "Stopped by you; no cells were inserted.")
        except CodeAgentError as error:
            if isinstance(error, ModelError):
                self.models.forget()  # its server may have gone: look again at the next run
            run = ended(self._so_far(recorder), "failed", str(error))
        except BaseException as error:
            so_far = self._so_far(recorder)
            recorder.changed(ended(so_far, "failed", f"A fault of jupyter-codeagent: {error!r}"))
            raise
        finally:
            self._task, self._running_id, self._recorder = None, "", None
            self.subquestions.end()
            desk, self._desk = self._desk, None
            if desk is not None:
                desk.close()
                self._keep_calls(prepared.run.id, desk)
        if desk is not None and desk.of_run:
            # Of a replay that failed, so that the model went on.
            recorded = replay_notes(desk)[:1] if desk.replayed and not run.replayed_from else ()
            notes = [note for note in (*recorded, calls_note(desk.of_run), self.subquestions.note()) if note]
            run = replace(run, notes=(*run.notes, *notes))
        recorder.changed(run)
        return recorder.latest.run

    async def _run(
        self, prepared: PreparedRun, recorder: RunRecorder, place: CellOrigin, known: AgentRun | None
    ) -> AgentRun:
        """The part that waits: sandbox, model, decisions, cells."""
        before = self.sidecar.current
        in_force = self.sandbox_status
        had_variables = before is not None and bool(before.names)
        seat = await self.sidecar.sandbox(prepared.settings.sandbox)
        lost_before = seat.lost
        restarted = had_variables and seat is not before
        status = await seat.prepare(prepared.run.manifest)
        if self.link is not None and status != in_force:
            self.link.send_state()  # the page tells which sandbox is in force from now on
        variables, changes = seat.variables, seat.changes_of(prepared.run.manifest)
        run = replace(prepared.run, sandbox=status.label)
        # The copies are hashed while the model is asked; the digest tells a later Run All that nothing changed.
        digest = asyncio.get_running_loop().run_in_executor(None, self.sidecar.digest, run.manifest)
        run = await self._find_result(run, prepared, seat, recorder, place, known)
        run = with_effects(replace(run, data_sha256=await digest), variables, changes)
        if run.status == "ok":
            seat.keep_changes()
        if restarted:
            run = replace(
                run, notes=(*run.notes, "the sandbox was started anew: variables that earlier runs made are gone")
            )
        if seat.lost > lost_before:
            run = replace(
                run, notes=(*run.notes, "the sandbox had ended: variables that earlier runs made are gone")
            )
        if run.status != "ok":
            return run
        if not prepared.inserts:
            return replace(run, placed="nowhere")
        kept = known if known is not None and run.replayed_from and known.cell_state in KEPT_STATES else None
        inserter = self._front_ends.inserter(place)
        if kept is not None and not inserter.knows_cells and place.has_cells_below:
            return _stands_for(run, kept)
        as_kept = kept is not None and kept.cell_state == "accepted"  # else they are without the user's changes
        accepted = as_kept or run.request.approve == "auto"
        run = replace(run, cell_state="accepted" if accepted else "pending", placed="inserting")
        # Before its cells are anywhere: whoever finds them after a crash finds what they are.
        recorder.changed(run)
        recorder.progress(run, "inserting")
        return await self._insert(replace(run, placed=inserter.placed), inserter, kept, place)

    async def _find_result(
        self,
        run: AgentRun,
        prepared: PreparedRun,
        seat: PersistentSandbox,
        recorder: RunRecorder,
        place: CellOrigin,
        known: AgentRun | None,
    ) -> AgentRun:
        """From the record where nothing changed, else from the model: one program, or the one most agree on."""
        settings = prepared.settings
        self.subquestions.begin(settings, recorder.sent)
        gate = self._front_ends.gate(place, timeout_s=settings.approval_timeout_s)
        sees_all_code = read_caps().get("approve") == "ask"  # a person has to, says the administrator

        def decide(proposal: Proposal) -> Awaitable[Decision]:
            if sees_all_code and proposal.kind == "run":
                proposal = replace(proposal, lasting=())
            return gate.decide(proposal, run.request.approve)

        runner: CodeRunner = seat
        if run.manifest.tools:
            self._desk = self._desk_for(run, prepared, decide, recorded_calls(known))
            self._desk.told, self._desk.begins = recorder.called, recorder.begins
            runner = ToolRunner(seat, self._desk)
        if known is not None:
            replayed = await replay(run, known, decide=decide, runner=runner, watcher=recorder)
            if replayed is not None:
                notes = replay_notes(self._desk) if self._desk is not None else ()
                source = known.replayed_from if known.placed == "kept" else known.id
                return replace(replayed, replayed_from=source, notes=(*replayed.notes, *notes))
        model = await self.models.open(
            prepared.endpoint, settings.model, on_loading=lambda: recorder.progress(run, "loading")
        )
        tools = LoopDependencies(
            model=recorder.sent.of(model, prepared.endpoint),
            runner=runner,
            decide=decide,
            watcher=recorder,
            defined=lambda: (*seat.names, *(stub.name for stub in run.manifest.tools)),
            undo_attempt=seat.undo_attempt,
            max_tokens=settings.model.max_tokens,
            temperature=settings.model.temperature,
            answer=settings.answer,
            withheld=self._withheld,
            hidden_columns=self.hiding.hidden_columns,
            incomplete=prepared.incomplete,
            room=prepared.room,
            replaces=self._replaced_program(run),
        )
        if run.request.candidates == 1:
            return await run_agent(run, prepared.turns, tools)
        return await run_candidates(run, prepared.turns, tools, lambda: self._extra_seat(settings))

    def _replaced_program(self, run: AgentRun) -> tuple[Step, ...]:
        if not run.request.refines:
            return ()
        known = self.book.find(run.request.refines)
        return (Step(index=0, messages=(), code=known.code, result=ExecutionResult(status="ok")),)

    def add_server(self, name: str, target: Sequence[str], policy: ToolPolicy) -> None:
        """Start an MCP server. Its functions are the user's too: cells that were accepted call them. Main thread.

        Raises
        ------
        CodeAgentError
        """
        before = self.servers.functions(name)
        self.background.run(self.servers.add(name, target, policy))
        self.live.unbind(before.values())
        mine = {id(function) for function in self.servers.functions(name).values()}
        named = {tool_name: tool.function for tool_name, tool in self.all_tools().items()}
        self.live.bind_free({name: function for name, function in named.items() if id(function) in mine})

    def add_subquestions(self, policy: ToolPolicy) -> None:
        """Let code ask the model; the function is the user's too, if its name stands for nothing. Main thread."""
        tool = self.subquestions.tool(policy)
        self.tools.add(tool)
        self.live.bind_free({tool.name: tool.function})

    def add_tool(self, name: str, function: object, policy: ToolPolicy) -> None:
        """One that is declared, by whatever name, keeps its undo, its time limit and what it refuses.

        Raises
        ------
        UsageError
        """
        tool = tool_of(function, name=name, policy=policy)
        declared = next((one for one in self.tools.tools().values() if one.function is function), None)
        if declared is not None:
            if policy == "auto" and declared.check_auto is not None:
                declared.check_auto()
            tool = replace(declared, stub=tool.stub)
        self.tools.add(tool)

    def remove_tool(self, name: str) -> None:
        """Raises UsageError."""
        tool = self.tools.tools().get(name)
        self.tools.remove(name)
        self.grants.take_back("call", name)
        if tool is not None and name == ASK_MODEL:
            self.live.unbind([tool.function])

    def remove_server(self, name: str) -> None:
        """Raises UsageError."""
        functions = self.servers.functions(name)
        gone = {id(function) for function in functions.values()}
        names = [tool_name for tool_name, tool in self.all_tools().items() if id(tool.function) in gone]
        self.background.run(self.servers.remove(name))
        for tool_name in names:
            self.grants.take_back("call", tool_name)
        self.live.unbind(functions.values())

    def all_tools(self) -> dict[str, Tool]:
        """The functions of this kernel and of its MCP servers, by name; of servers only under names that stand for
        nothing else in the notebook, nor by convention."""
        users = (name for name, value in self.live.everything().items() if not is_of_server(value))
        return merged(self.tools.tools(), self.servers.servers, taken={*users, *ALIASES})

    def _desk_for(
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
                on_users_loop=self._users_loop.run_beside,
                spool=self.sidecar.spool,
            ),
            limits=Limits(
                argument_bytes=settings.max_return_bytes,
                result_bytes=settings.max_transfer_bytes,
                calls=settings.max_calls,
                calls_per_cell=settings.max_calls_per_cell,
            ),
            unsure=self._unsure_calls,
            recorded=recorded,
        )

    def undo_calls(self, run_id: str) -> Undone:
        """Take back what the calls of a run did, of the last one that made any if no id is given. Main thread.

        Raises
        ------
        UsageError
            No run of this kernel with such an id has made calls that are still there to be taken back.
        """
        known = [run for run in self._done_calls if run.startswith(run_id)]
        if not known:
            raise UsageError(
                f"No calls of {f'run {run_id}' if run_id else 'any run'} are left to be taken back in this kernel."
            )
        chosen = known[-1]
        undone: list[ToolCall] = []
        try:
            return undo_calls(self._done_calls[chosen], undone)
        finally:
            if not any(one.tool.undo is not None for one in self._done_calls[chosen]):
                del self._done_calls[chosen]
            for run in self.book.of_same_cell(chosen):
                marked = with_undone(run, undone)
                if marked != run:
                    self.book.write(marked)
                    if self.link is not None:
                        self.link.send({"type": "run", "run": run_view(marked)})

    def _so_far(self, recorder: RunRecorder) -> AgentRun:
        """With what had come of the reply, and what had been called, where the run ended in the midst of it."""
        latest = recorder.latest
        if latest.phase == "model":
            return with_reply(latest.run, latest.text, recorder.sent.last_usage)
        if self._desk is None or latest.phase != "sandbox":
            return latest.run
        return with_calls(latest.run, self._desk.calls)

    def _keep_calls(self, run_id: str, desk: ToolCallBroker) -> None:
        """For `undo_calls`. Their results are the user's objects, so only those of a few runs are kept."""
        if desk.done:
            self._done_calls[run_id] = desk.done
            for old in list(self._done_calls)[:-KEPT_CALLS_RUNS]:
                del self._done_calls[old]

    @asynccontextmanager
    async def _extra_seat(self, settings: Settings) -> AsyncIterator[PersistentSandbox]:
        seat = await self.sidecar.extra_sandbox(settings.sandbox)
        try:
            yield seat
        finally:
            await seat.reset()

    async def _withheld(self, text: str) -> tuple[str, ...]:
        """Values of personal columns in a text for the model; frames are read on the main thread only."""
        return await self.background.on_main_thread(lambda: withheld_values(text, self.live.everything()))

    def _masked(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Earlier code and results as the model may be told of them; what it wrote itself it knows."""
        text = "\n".join(line for turn in turns for line in (turn.code, turn.answer, *turn.made))
        values = withheld_values(text, self.live.everything())
        return tuple(
            replace(
                turn,
                code=mask_values(turn.code, [v for v in values if v not in turn.written and v not in turn.prompt]),
                answer=masked(turn.answer, values),
                made=tuple(masked(line, values) for line in turn.made),
            )
            for turn in turns
        )

    def masked_error(self, error: str) -> str:
        """``KeyError: 'x'`` of a cell of the user's, as the model may be told of it. Main thread."""
        if self.settings().privacy == "schema":
            return error.partition(":")[0]
        return masked(error, withheld_values(error, self.live.everything()))

    def _same_as_before(self, run: AgentRun) -> AgentRun | None:
        """The last run of the same cell, if prompt, model and data are what they were; it is replayed then."""
        known = self.book.last_result_of_cell(run)
        if known is None or not is_same_question(known, run):
            return None
        return known if known.data_sha256 == self.sidecar.digest(run.manifest) else None

    async def _insert(
        self, run: AgentRun, inserter: CellInserter, kept: AgentRun | None, place: CellOrigin
    ) -> AgentRun:
        """`kept` has the same code, and the user kept its cells; they may have gone from the notebook since."""
        cells = [dict(cell) for cell in cells_from_run(run, state=run.cell_state)]
        refined = [run.request.refines] if run.request.refines else []
        earlier = list(dict.fromkeys((*refined, *self.book.earlier_runs_of_cell(run))))
        waiting = [run_id for run_id in refined if self.book.find(run_id).cell_state == "pending"]
        replaced = list(dict.fromkeys((*waiting, *self.book.replaced_by(run))))
        unless = self.book.shown_by(kept) if kept is not None else ()
        try:
            is_there = await inserter.insert(
                run.id, cells, anchor=run.request.cell_id, replace=earlier, unless=unless
            )
        except InsertError as error:
            if error.refused:
                await self._front_ends.in_place().insert(run.id, cells, anchor=None, replace=())
            return replace(run, placed="undelivered", notes=(*run.notes, str(error)))
        self.results.replaced(replaced, place.session or "", decided_by="refined" if refined else "rerun")
        return run if is_there or kept is None else _stands_for(run, kept)

    # --- parts of a run -------------------------------------------------------------------------------

    def settings(self, options: RunOptions | None = None) -> Settings:
        """Configuration, then options, then the administrator's caps."""
        settings = self.config.settings()
        if options is not None:
            settings = with_options(settings, options)
        return self._with_grants(apply_caps(settings, read_caps()))

    def _settings_at_start(self) -> Settings:
        try:
            return self.settings()
        except UsageError:
            return Settings()  # loading goes on: every run stops with the reason, and the panel tells it

    def find_model(self, settings: Settings, place: CellOrigin | None = None) -> ModelEndpoint:
        """Where the model is; with a place to ask at, a server that needs a yes is asked for. Main thread.

        Raises
        ------
        ModelError, DeniedError
        """
        try:
            return self.background.run(self.models.find(settings.model))
        except UnconfirmedServerError as error:
            if place is None:
                raise
            lasting = (Grant(kind="server", subject=error.grant),)
            self.results.ask("server", error.address, error.question, lasting, place)
            return self.find_model(self._with_grants(settings))

    def _choose(
        self,
        variables: Mapping[str, Any],
        summaries: Sequence[VariableSummary],
        relations: Sequence[Relation],
        prompt: str,
        options: RunOptions,
        settings: Settings,
        place: CellOrigin,
    ) -> VariableSelection:
        """What the sandbox gets of them; asks before it may read a file of the user's."""

        def ask(paths: str, question: str, lasting: Sequence[Grant]) -> None:
            self.results.ask("mount", paths, question, lasting, place)

        def ask_for_files(name: str, files: Sequence[LocalFile]) -> None:
            if not options.dry_run:  # which sends and runs nothing, and so widens nothing
                require(name, files, settings.sandbox, self.grants, ask)

        always = [name for name, how in self.hiding.shared.items() if how == "shared" and name in variables]
        return select_variables(
            variables,
            summaries,
            prompt,
            options,
            always=always,
            max_bytes=settings.max_transfer_bytes,
            ask=ask_for_files,
            clues=SelectionClues(
                recent=self.live_context.recent(),
                relations=relations,
                earlier=() if options.new else self.book.copied_before(place.cell_id, options.refines),
            ),
        )

    def _with_grants(self, settings: Settings) -> Settings:
        """The sandbox may read the files, and the servers may be asked, that somebody said yes to."""
        servers = (grant.subject for grant in self.grants.all if grant.kind == "server")
        allowed = tuple(dict.fromkeys((*settings.model.allowed, *servers)))
        return replace(
            settings,
            model=replace(settings.model, allowed=allowed),
            sandbox=replace(settings.sandbox, read_files=granted_files(self.grants)),
        )

    # --- the session's state ------------------------------------------------------------------------------

    @property
    def sandbox_status(self) -> SandboxStatus | None:
        """Of the sandbox in use or used last."""
        seat = self.sidecar.current
        return seat.status if seat is not None else None

    def has_panel(self) -> bool:
        """Whether a page shows what runs; also from the main thread."""
        return self.link is not None and self.link.is_open

    def show_variables(self) -> None:
        """Tell the pages what the kernel has now; after each cell, on the main thread."""
        self.shown.cell_ran()

    def state(self) -> StateMessage:
        """For a page that says hello. On the background loop."""
        model, approve = "", cast("ApprovalPolicy", APPROVE_ORDER[0])
        try:
            settings = self.settings()
            model, approve = self.models.name(settings.model) or settings.model.model, settings.approve
        except UsageError:
            pass  # the page links all the same: the settings tell why no run is possible
        return StateMessage(
            type="state",
            protocol=PROTOCOL,
            model=model,
            approve=approve,
            settings=self.session_settings.view(),
            sandbox=sandbox_view(self.sandbox_status),
            context=self.shown.view,
            runs=[run_view(run) for run in self.book.recent],
            proposals=self.link.proposals if self.link is not None else [],
            grants=grant_views(self.grants.all),
            progress=self._recorder.whole_progress() if self._recorder is not None else None,
        )

    def _tell_grants(self) -> None:
        if self.link is not None:
            self.link.send(GrantsMessage(type="grants", grants=grant_views(self.grants.all)))

    def _recorder_of(self, run_id: str) -> RunRecorder | None:
        """If it is the run under way."""
        return self._recorder if run_id == self._running_id else None

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
        task, desk = self._task, self._desk
        if task is not None:
            task.cancel()
        if desk is not None:
            desk.interrupt()
        return task is not None

    def reset(self) -> None:
        """Forget the conversation and the sandbox's variables, and take back every yes that lasts."""
        self.grants.clear()
        self._start_anew()

    def _start_anew(self) -> None:
        self.book.forget_conversation()
        self._reset_sandbox()

    def _reset_sandbox(self) -> None:
        hidden, self.hiding.must_reset = self.hiding.must_reset, False  # now: more may be hidden meanwhile
        try:
            if self.sidecar.current is not None:
                self.background.run(self.sidecar.current.reset())
            if hidden:
                self.sidecar.forget_copies()
                self.grants.clear("mount")  # what was hidden may be read from a file
        except BaseException:
            self.hiding.must_reset = True
            raise

    def close(self, *, tell_pages: bool = True) -> None:
        """Stop everything this session started; pages are told unless the kernel itself ends."""
        self.stop()
        if self.link is not None:
            self.link.close(tell_pages=tell_pages)
        self.background.run(self.servers.close())
        self.background.run(self.sidecar.close())
        self.book.history.close()
        self._users_loop.close()
        self.background.close()


def _stands_for(run: AgentRun, kept: AgentRun) -> AgentRun:
    """A run that brought what the cells of an earlier one have already."""
    notes = (*run.notes, "its cells are in the notebook already")
    return replace(run, cell_state=kept.cell_state, placed="kept", notes=notes)


def raise_if_failed(run: AgentRun) -> None:
    """A run that did not end well is an error of its cell, so that Run All stops there."""
    if run.status == "ok":
        return
    kinds = {"stopped": StoppedError, "rejected": DeniedError}
    error = kinds.get(run.status, RunFailedError)(run.error)
    if ended_by_user(run):
        error.neutral_text = ""  # the receipt says it
    raise error
