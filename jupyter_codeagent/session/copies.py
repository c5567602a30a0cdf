"""The copies of variables that a run gets, and how the prompt describes them. Main thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.session.context import LiveContext
from jupyter_codeagent.session.file_grants import require
from jupyter_codeagent.session.live_names import live_names
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.session.tool_admin import ToolAdmin
from jupyter_codeagent.session.variable_selection import VariableSelection, select_variables
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import offered
from jupyter_codeagent.tools.live_databases import LiveDatabase
from jupyter_codeagent.tools.prompt_lines import with_tools, without_tools
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.tools.tool_policy import within_policy
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import CodeAgentError, DeniedError, UsageError, VariableError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.variables import LiveNames, LocalFile, Manifest, VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.privacy.masking import masked_summaries
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.relations import Relation
from jupyter_codeagent.variables.user_namespace import LiveVariables, UserNamespace

NO_DATABASES_WITH_CANDIDATES = (
    "--vars {name}: a database cannot be queried with --candidates: leave --candidates out."
)
NO_TOOLS_WITH_CANDIDATES = "Tools are disabled with `--candidates`, because each program would call them"


@dataclass(frozen=True, kw_only=True)
class Copies:
    """What the sandbox gets in a run, and how the prompt describes it."""

    manifest: Manifest
    summaries: tuple[VariableSummary, ...]
    notes: tuple[str, ...]
    relations: tuple[Relation, ...] = ()
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Functions that its code may call, by name."""
    live: LiveNames = field(default_factory=LiveNames)


@dataclass(frozen=True, kw_only=True)
class VariableCopies:
    """Copies the variables of one session."""

    consent: Consent
    grants: Grants
    sharing: NotebookSharing
    live: UserNamespace
    live_context: LiveContext
    tools: ToolAdmin
    workspace: SandboxWorkspace
    run_log: RunLog

    def for_question(self, prompt: str, options: RunOptions, origin: CellOrigin, settings: Settings) -> Copies:
        """Copy what the question is about, and find the functions that may be called for it.

        Raises
        ------
        CodeAgentError
            Something cannot be copied or asked; one line for the user.
        """
        visible = self._visible(options)
        asks_servers = settings.tools != "deny" and not options.dry_run
        server_notes = self.tools.refresh_servers() if asks_servers else ()
        variables = without_tools(visible.values, self.tools.all())
        described = partial(describe, privacy=settings.privacy, mentioned=prompt)
        summaries = described(variables)
        relations = self.live_context.relations(summaries, variables, prompt, settings)
        selection = self._select(variables, summaries, relations, prompt, options, settings, origin)
        databases = self._databases(selection, variables, visible, options, settings)
        called = {**offered(self.tools.all(), prompt), **{name: one.tool for name, one in databases.items()}}
        tools, tool_notes = within_policy(called, settings)
        for name, labels in selection.databases.items():
            self.tools.databases.note_asked(tools[name].stub, labels)
        manifest = self._export(selection, visible, settings)
        live = live_names(
            summaries,
            copied=[copied.name for copied in manifest.copied],
            own=self.run_log.made_by_cell(origin.cell_id) | set(options.returns),
            taken=self.live.everything(),
        )
        summaries = tuple(
            databases[one.name].described(one) if one.name in databases else one
            for one in selection.described(summaries, manifest, described)
        )
        manifest = selection.complete(manifest)
        notes = (*selection.run_notes, *server_notes, *tool_notes)
        if tools and options.candidates == 1:
            manifest = with_tools(manifest, tools)
        elif tools:
            notes = (*notes, NO_TOOLS_WITH_CANDIDATES)
        return Copies(
            manifest=self.run_log.with_unchanged(manifest),
            summaries=self._without_private(summaries, variables, visible),
            notes=notes,
            relations=relations,
            tools=tools,
            live=live,
        )

    def for_code(self, options: RunOptions, origin: CellOrigin, settings: Settings, prompt: str = "") -> Copies:
        """Copy the variables that the options name, for code that exists already.

        No model is asked: nobody is told of other variables or of values, and no function of the user's is called.

        Raises
        ------
        CodeAgentError
            Something cannot be copied; one line for the user.
        """
        visible = self._visible(options)
        variables = without_tools(visible.values, self.tools.all())
        described = partial(describe, privacy="schema", mentioned=prompt)
        summaries = described({name: variables[name] for name in options.variables or () if name in variables})
        selection = self._select(variables, summaries, (), prompt, options, settings, origin)
        for name in selection.databases:
            raise VariableError(f"{name!r} is a database, which is queried only in the kernel")
        manifest = self._export(selection, visible, settings)
        summaries = selection.described(summaries, manifest, described)
        return Copies(
            manifest=self.run_log.with_unchanged(selection.complete(manifest)),
            summaries=self._without_private(summaries, variables, visible),
            notes=selection.run_notes,
        )

    def for_code_each(
        self, names: Sequence[str], asked: RunOptions, origin: CellOrigin, settings: Settings
    ) -> tuple[Manifest, dict[str, str]]:
        """Copy those of these variables that can be copied, and return why for the others."""

        def copy(chosen: Sequence[str]) -> Manifest:
            return self.for_code(replace(asked, variables=tuple(chosen)), origin, settings).manifest

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

    def _visible(self, options: RunOptions) -> LiveVariables:
        visible = self.sharing.visible()
        self.sharing.check(options, visible.withheld)
        return visible

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
            clues=replace(
                self.live_context.clues(relations, frozenset(copy.name for copy in before.copied)),
                databases=self.tools.databases.still_there(asked, variables),
            ),
        )

    def _data_before(self, options: RunOptions, origin: CellOrigin) -> Manifest:
        if options.new:
            return Manifest()
        return self.run_log.data_before(origin.cell_id, options.refines, options.follows)

    def _databases(
        self,
        selection: VariableSelection,
        variables: Mapping[str, Any],
        visible: LiveVariables,
        options: RunOptions,
        settings: Settings,
    ) -> Mapping[str, LiveDatabase]:
        """Find the tables of the databases that were selected; each is a function of the same name, not a copy."""
        for name in selection.databases:
            check_switched_on(settings, "tools", f"Asking {name}")
            if why := visible.reason_not_to_query(name):
                raise VariableError(f"{name!r} cannot be queried: {why}.")
        databases = self.tools.databases.find_all(
            {name: (variables[name], labels) for name, labels in selection.databases.items()}, settings.privacy
        )
        if databases and options.candidates > 1:
            raise UsageError(NO_DATABASES_WITH_CANDIDATES.format(name=next(iter(databases))))
        return databases

    def _export(self, selection: VariableSelection, visible: LiveVariables, settings: Settings) -> Manifest:
        return self.workspace.export(
            selection.values,
            selection.names,
            required=selection.required,
            max_bytes=settings.max_transfer_bytes,
            hidden=visible.hidden,
        )

    def _without_private(
        self, summaries: Sequence[VariableSummary], variables: Mapping[str, Any], visible: LiveVariables
    ) -> tuple[VariableSummary, ...]:
        """Return the descriptions without hidden names, and with personal values masked."""
        shown = visible.hidden.without_names(tuple(summaries), variables)
        return masked_summaries(shown, self.live.everything())
