"""All that is done before anything is sent: settings, model, selection, copies, context. Main thread."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

from jupyter_codeagent.agent.loop import conversation
from jupyter_codeagent.agent.prompt.changes import format_differences, format_made
from jupyter_codeagent.agent.prompt.context_window import ContextWindow, fit_messages
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.frontend.adapters import FrontEndAdapters
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
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.copies import VariableCopies
from jupyter_codeagent.session.given_code import GivenProgram
from jupyter_codeagent.session.house_rules import read_house_rules
from jupyter_codeagent.session.index_levels import shown_levels
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
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.prompt_lines import functions_text
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.house_rules import HouseRules
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.options import ExploreOptions, RunOptions
from jupyter_codeagent.types.run import NO_MODEL, AgentRequest, AgentRun
from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.types.variables import LiveNames, Manifest, TextColumn
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.privacy.masking import personal_columns
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.relations import Relation
from jupyter_codeagent.variables.user_namespace import UserNamespace

HIDDEN = "it is hidden"


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
class RunPreparation:
    """Prepares the runs of one session; `%%agent --dry-run` ends here."""

    front_ends: FrontEndAdapters
    settings: SettingsInForce
    models: ModelResolver
    model_finder: ModelFinder
    copies: VariableCopies
    starting_state: StartingState
    sharing: NotebookSharing
    live: UserNamespace
    live_context: LiveContext
    masking: PromptMasking
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
        copies = self.copies.for_question(prompt, options, origin, settings)
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
        copies = self.copies.for_code(options, origin, settings, prompt=explored.goal)
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
        manifest, refused = self.copies.for_code_each(wanted, asked, origin, settings)
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

    def _settings_and_model(self, options: RunOptions, origin: CellOrigin) -> tuple[Settings, ModelEndpoint]:
        settings = self.settings(options)
        check_options(options, settings)
        if options.dry_run:
            return settings, self.models.foresee(settings.model)
        endpoint = self.model_finder.find(settings, origin)
        return self.settings.with_grants(settings), endpoint

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
