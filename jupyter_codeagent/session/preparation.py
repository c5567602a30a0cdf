"""All that is done before anything is sent: settings, model, selection, copies, context. Main thread."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import ModuleType
from typing import Any

from jupyter_codeagent.agent.loop import conversation
from jupyter_codeagent.agent.prompt.changes import format_differences, format_made
from jupyter_codeagent.agent.prompt.context_window import ContextWindow, fit_messages
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.chart_library import (
    require_chart_library,
    unless_default,
    with_installed_charts,
)
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.file_grants import require
from jupyter_codeagent.session.given_code import GivenProgram
from jupyter_codeagent.session.house_rules import read_house_rules
from jupyter_codeagent.session.index_levels import shown_levels
from jupyter_codeagent.session.live_names import live_names
from jupyter_codeagent.session.model_finder import ModelFinder
from jupyter_codeagent.session.prompt_context import (
    PromptContext,
    fit_context,
    question_digest,
    text_columns,
)
from jupyter_codeagent.session.prompt_masking import PromptMasking
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.run_request import build_request, check_options, context_window_of, new_run
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.session.starting_state import StartingState
from jupyter_codeagent.session.tool_admin import ToolAdmin
from jupyter_codeagent.session.variable_selection import VariableSelection, select_variables
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import offered
from jupyter_codeagent.tools.prompt_lines import functions_text, with_tools, without_tools
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.tools.tool_policy import within_policy
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, UsageError, VariableError
from jupyter_codeagent.types.house_rules import HouseRules
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.options import ExploreOptions, RunOptions
from jupyter_codeagent.types.run import NO_MODEL, AgentRequest, AgentRun
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.types.variables import LiveNames, LocalFile, Manifest, TextColumn, VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.privacy.masking import masked_summaries, personal_columns
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.relations import Relation
from jupyter_codeagent.variables.relevance import SelectionClues
from jupyter_codeagent.variables.user_namespace import UserNamespace

HIDDEN = "it is hidden"
NO_DATABASES_WITH_CANDIDATES = (
    "--vars {name}: a database cannot be queried with --candidates: leave --candidates out."
)
NO_TOOLS_WITH_CANDIDATES = "Tools are disabled with `--candidates`, because each program would call them"


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """A run that is ready to be sent."""

    run: AgentRun
    settings: Settings
    endpoint: ModelEndpoint
    turns: tuple[Turn, ...]
    """The conversation before it."""
    messages: tuple[Message, ...]
    context: PromptContext
    house_rules: HouseRules = field(default_factory=HouseRules)
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Functions that its code may call, by name."""
    text_columns: Mapping[str, Mapping[str, TextColumn]] = field(default_factory=dict)
    """Columns of text that means dates or numbers, see `text_columns`."""
    joins: tuple[Relation, ...] = ()
    """The columns on which its tables join."""
    live: LiveNames = field(default_factory=LiveNames)
    window: ContextWindow | None = None
    """The context window of the model."""
    given: str = ""
    """Program that answers the question without a model, see `NextQuestions`."""
    inserts: bool = True
    """Whether cells are inserted; not with ``--json``, which displays the record and nothing else."""


@dataclass(frozen=True, kw_only=True)
class PreparedExploration:
    """An exploration that is ready to run. It needs no model."""

    request: AgentRequest
    """Request of each of its runs, but for the prompt."""
    settings: Settings
    manifest: Manifest
    columns: Mapping[str, tuple[str, ...]]
    """Table -> its columns that are not hidden."""
    personal: Mapping[str, tuple[str, ...]]
    """Table -> those of its columns that look personal: nothing of them is looked at or displayed."""
    taken: frozenset[str]
    """Names of the live kernel, which the programs must not bind."""
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PreparedRerun:
    """Copies for running code of the notebook again. It needs no model."""

    request: AgentRequest
    settings: Settings
    manifest: Manifest
    missing: Mapping[str, str]
    """Variable -> why it could not be copied."""


@dataclass(frozen=True, kw_only=True)
class _Copies:
    """What the sandbox gets in a run, and how the prompt describes it."""

    manifest: Manifest
    summaries: tuple[VariableSummary, ...]
    relations: tuple[Relation, ...]
    tools: Mapping[str, Tool]
    live: LiveNames
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class RunPreparation:
    """Prepares the runs of one session; `%%agent --dry-run` ends here."""

    front_ends: FrontEndAdapters
    settings: SettingsInForce
    models: ModelResolver
    model_finder: ModelFinder
    consent: Consent
    grants: Grants
    starting_state: StartingState
    sharing: NotebookSharing
    live: UserNamespace
    live_context: LiveContext
    masking: PromptMasking
    tools: ToolAdmin
    workspace: SandboxWorkspace
    run_log: RunLog

    def prepare_run(self, prompt: str, options: RunOptions, origin: CellOrigin) -> PreparedRun:
        """Find the model; describe, select and copy variables; build the messages. Sends nothing to the model.

        Raises
        ------
        CodeAgentError
            The question cannot be asked; one line for the user.
        """
        # A page brings the user's settings, and the notebook's lists of hidden variables.
        self.front_ends.wait_for_page(origin)
        if options.follows:
            options = replace(options, follows=self.run_log.followed(options.follows))
        settings, endpoint = self._settings_and_model(options, origin)
        settings, chart_notes = with_installed_charts(settings)
        self.starting_state.remove_hidden(origin.notebook)
        copies = self._copy(prompt, options, origin, settings)
        settings = self.settings.with_grants(settings)
        request = build_request(prompt, options, origin, settings, endpoint)
        rules = read_house_rules(settings, origin.notebook)
        # Last of all that can fail: it may ask the model's tokenizer, which is recorded.
        context = self.live_context.fit(
            copies.summaries, copies.relations, prompt, settings, endpoint, sends=not options.dry_run
        )
        run = new_run(request, copies.manifest, context.context.tagged, counted_kinds=context.counted_kinds)
        notes = (*settings.cuts, *copies.notes, *rules.notes, *chart_notes)
        run = replace(run, house_rules=rules.text, notes=notes)
        run, turns = self._with_conversation(run, options)
        # Not what earlier runs left in the sandbox: Run All would ask again although nothing changed.
        followed = self.run_log.find(options.follows).code if options.follows else ""
        more = f"{functions_text(run.manifest.tools)}{rules.text}{unless_default(settings.charts)}{followed}"
        run = replace(run, described_sha256=question_digest(copies.summaries, settings, prompt, more))
        turns = (*turns, *self.masking.turns(self.run_log.refined_turn(run)))
        window = context_window_of(endpoint, settings)
        return PreparedRun(
            run=run,
            tools=copies.tools,
            context=context,
            house_rules=rules,
            settings=settings,
            endpoint=endpoint,
            turns=turns,
            messages=fit_messages(conversation(run, turns), prompt, window, settings.model.max_tokens).messages,
            text_columns=text_columns(copies.summaries),
            joins=copies.relations,
            live=copies.live,
            window=window,
            inserts=not options.json,
        )

    def prepare_exploration(self, explored: ExploreOptions, origin: CellOrigin) -> PreparedExploration:
        """Copy the tables of an exploration; no model is looked for.

        Raises
        ------
        CodeAgentError
            A table cannot be explored; one line for the user.
        """
        self.front_ends.wait_for_page(origin)
        options = RunOptions(variables=explored.tables, sample=explored.sample, where=explored.where)
        settings = self.settings(options)
        check_switched_on(settings, "explore", f"%agent explore {', '.join(explored.tables)}")
        require_chart_library(settings.charts)
        self.starting_state.remove_hidden(origin.notebook)
        copies = self._copy(explored.goal, options, origin, settings, asks_model=False)
        columns = {one.name: tuple(label_text(column.name) for column in one.columns) for one in copies.summaries}
        visible = self.sharing.visible().values
        for name in explored.tables:
            if not columns.get(name):
                raise UsageError(
                    f"%agent explore {name}: {name!r} is not a table; give a pandas or polars DataFrame."
                )
        live = self.live.everything()
        columns = {name: (*shown_levels(visible.get(name), live[name]), *of) for name, of in columns.items()}
        request = build_request("", options, origin, settings, None)
        return PreparedExploration(
            request=replace(request, model=NO_MODEL, exploration=_exploration_id(origin)),
            settings=settings,
            manifest=copies.manifest,
            columns=columns,
            personal={name: personal_columns(live[name], labels) for name, labels in columns.items()},
            taken=frozenset(live),
            notes=(*settings.cuts, *copies.notes),
        )

    def prepare_rerun(
        self, names: Sequence[str], origin: CellOrigin, asked: RunOptions | None = None
    ) -> PreparedRerun:
        """Copy those of these variables that can be copied, by the options of a run; no model is looked for.

        Raises
        ------
        CodeAgentError
            Nothing can be run; one line for the user.
        """
        self.front_ends.wait_for_page(origin)
        asked = asked or RunOptions()
        settings = self.settings(asked)
        self.starting_state.remove_hidden(origin.notebook)
        visible = self.sharing.visible().values
        wanted = [name for name in names if name in visible and not isinstance(visible[name], ModuleType)]
        missing = {name: HIDDEN for name in names if name in self.live.everything() and name not in visible}
        manifest, refused = self._copy_each(wanted, asked, origin, settings)
        request = build_request("", asked, origin, settings, None)
        return PreparedRerun(
            request=replace(request, model=NO_MODEL),
            settings=settings,
            manifest=manifest,
            missing={**missing, **refused},
        )

    def prepare_given(self, prompt: str, given: GivenProgram, origin: CellOrigin) -> PreparedRun | None:
        """Copy what the program of a question needs; None if that is not there. No model is looked for.

        Raises
        ------
        CodeAgentError
            Nothing can be run; one line for the user.
        """
        prepared = self.prepare_rerun(given.tables, origin)
        if {copied.name for copied in prepared.manifest.copied} < {*given.tables}:
            return None
        run = new_run(replace(prepared.request, prompt=prompt), prepared.manifest, TaggedText())
        return PreparedRun(
            run=replace(run, notes=prepared.settings.cuts),
            settings=prepared.settings,
            endpoint=ModelEndpoint(model=NO_MODEL, label="", kind="registered", remote=False),
            turns=(),
            messages=(),
            context=fit_context((), prepared.settings, prompt, counter=self.live_context.counter),
            given=given.code,
        )

    def _copy_each(
        self, names: Sequence[str], asked: RunOptions, origin: CellOrigin, settings: Settings
    ) -> tuple[Manifest, dict[str, str]]:
        """Copy these variables, and return why for those that cannot be copied."""

        def copy(chosen: Sequence[str]) -> Manifest:
            options = replace(asked, variables=tuple(chosen))
            return self._copy("", options, origin, settings, asks_model=False).manifest

        try:
            return copy(names), {}
        except CodeAgentError:
            refused: dict[str, str] = {}
            for name in names:
                try:
                    copy([name])
                except CodeAgentError as problem:
                    refused[name] = str(problem)
            return copy([name for name in names if name not in refused]), refused

    def _settings_and_model(self, options: RunOptions, origin: CellOrigin) -> tuple[Settings, ModelEndpoint]:
        settings = self.settings(options)
        check_options(options, settings)
        if options.dry_run:
            return settings, self.models.foresee(settings.model)
        endpoint = self.model_finder.find(settings, origin)
        return self.settings.with_grants(settings), endpoint

    def _copy(
        self,
        prompt: str,
        options: RunOptions,
        origin: CellOrigin,
        settings: Settings,
        *,
        asks_model: bool = True,
    ) -> _Copies:
        """Copy the variables that the question is about, and describe the copies.

        Where no model is asked, nobody is told of other variables, of values and of how tables join, no function of
        the user's may be called, and no server of functions is asked for its.
        """
        live = self.sharing.visible()
        self.sharing.check(options, live.withheld)
        asks_servers = asks_model and not options.dry_run and settings.tools != "deny"
        server_notes = self.tools.refresh_servers() if asks_servers else ()
        tools = offered(self.tools.all(), prompt) if asks_model else {}
        variables = without_tools(live.values, self.tools.all())
        described = partial(describe, privacy=settings.privacy if asks_model else "schema", mentioned=prompt)
        named = {name: variables[name] for name in options.variables or () if name in variables}
        summaries = described(variables if asks_model else named)
        relations = self.live_context.relations(summaries, variables, prompt, settings) if asks_model else ()
        selection = self._select(variables, summaries, relations, prompt, options, settings, origin)
        if selection.databases and not asks_model:
            name = next(iter(selection.databases))
            raise VariableError(f"{name!r} is a database, which is queried only in the kernel")
        for name in selection.databases:
            check_switched_on(settings, "tools", f"Asking {name}")
            if why := live.reason_not_to_query(name):
                raise VariableError(f"{name!r} cannot be queried: {why}.")
        databases = self.tools.databases.find_all(
            {name: (variables[name], labels) for name, labels in selection.databases.items()}, settings.privacy
        )
        if databases and options.candidates > 1:
            raise UsageError(NO_DATABASES_WITH_CANDIDATES.format(name=next(iter(databases))))
        called = {**tools, **{name: database.tool for name, database in databases.items()}}
        tools, tool_notes = within_policy(called, settings)
        for name, labels in selection.databases.items():
            self.tools.databases.note_asked(tools[name].stub, labels)
        manifest = self.workspace.export(
            selection.values,
            selection.names,
            required=selection.required,
            max_bytes=settings.max_transfer_bytes,
            hidden=live.hidden,
        )
        names = live_names(
            summaries,
            copied=[copied.name for copied in manifest.copied],
            own=self.run_log.made_by_cell(origin.cell_id) | set(options.returns),
            taken=self.live.everything(),
        )
        summaries = tuple(
            databases[summary.name].described(summary) if summary.name in databases else summary
            for summary in selection.described(summaries, manifest, described)
        )
        summaries = live.hidden.without_names(summaries, variables)
        summaries = masked_summaries(summaries, self.live.everything())
        manifest, notes = selection.complete(manifest), (*selection.run_notes, *server_notes, *tool_notes)
        if tools and options.candidates == 1:
            manifest = with_tools(manifest, tools)
        elif tools:
            notes = (*notes, NO_TOOLS_WITH_CANDIDATES)
        manifest = self.run_log.with_unchanged(manifest)
        return _Copies(
            manifest=manifest, summaries=summaries, relations=relations, tools=tools, live=names, notes=notes
        )

    def _select(
        self,
        variables: Mapping[str, Any],
        summaries: Sequence[VariableSummary],
        relations: Sequence[Relation],
        prompt: str,
        options: RunOptions,
        settings: Settings,
        origin: CellOrigin,
    ) -> VariableSelection:
        """Select what the sandbox gets; ask before it may read a file."""

        def ask(paths: str, question: str, lasting: Sequence[Grant]) -> None:
            if origin.client:
                raise DeniedError(
                    "The sandbox may not read the files of a lazy frame yet: have the user ask a %%agent question"
                    " about it, which lets them decide, then call again."
                )
            self.consent.require("mount", paths, question, lasting, origin)

        def ask_for_files(name: str, files: Sequence[LocalFile]) -> None:
            if not options.dry_run:  # which sends and runs nothing, and so widens nothing
                require(name, files, settings.sandbox, self.grants, ask)

        before = self._data_before(options, origin)
        asked = before.tools if options.variables is None and options.candidates == 1 else ()
        always = [name for name, how in self.sharing.shared.items() if how == "shared" and name in variables]
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
                earlier=frozenset(copy.name for copy in before.copied),
                databases=self.tools.databases.still_there(asked, variables),
            ),
        )

    def _data_before(self, options: RunOptions, origin: CellOrigin) -> Manifest:
        if options.new:
            return Manifest()
        return self.run_log.data_before(origin.cell_id, options.refines, options.follows)

    def _with_conversation(self, run: AgentRun, options: RunOptions) -> tuple[AgentRun, tuple[Turn, ...]]:
        """Return the run with what earlier runs left in the sandbox, and these runs as turns."""
        sandbox = self.workspace.current
        if options.new and options.dry_run:  # a run with `--new` was reset before this
            return self._with_differences(run, (), None), ()
        if options.follows and options.dry_run:  # a run with `--from` has gone back before this
            earlier = self.run_log.conversation(run.request.cell_id, options.follows)
            made = frozenset(entry.name for known in earlier for entry in known.made)
            turns = self.masking.turns(self.run_log.turns_before(run, made))
            return self._with_differences(run, turns, None), turns
        defined = frozenset(entry.name for entry in sandbox.variables) if sandbox is not None else frozenset()
        turns = self.masking.turns(self.run_log.turns_before(run, defined))
        return self._with_differences(run, turns, sandbox), turns

    def _with_differences(
        self, run: AgentRun, turns: tuple[Turn, ...], sandbox: PersistentSandbox | None
    ) -> AgentRun:
        """Add what the sandbox has and the live kernel lacks, or has with another value, to the context."""
        changes = sandbox.changes_of(run.manifest) if sandbox is not None else ()
        seen = "\n".join((run.context, *(turn.code for turn in turns)))
        made = format_made((line for turn in turns for line in turn.made), run.context)
        differences = format_differences(changes, seen, names_only=run.request.privacy == "schema")
        parts = (
            TaggedText(run.context, run.context_spans),
            tagged(made, "names"),
            tagged(self.masking.text(differences), "names"),
            tagged(functions_text(run.manifest.tools), "functions"),
        )
        context = join("\n", filter(None, parts))
        return replace(run, context=context.text, context_spans=context.spans)


def _exploration_id(origin: CellOrigin) -> str:
    """Return an id that the explorations of one execution of a cell share: they replace no cells of each other."""
    made = uuid.uuid4() if origin.request is None else uuid.uuid5(uuid.NAMESPACE_OID, origin.request)
    return made.hex[:12]
