"""The variable lines of the prompt: variables described, sorted by last use, fitted into the token budget."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from jupyter_codeagent.models.endpoint import ModelEndpoint, is_loopback
from jupyter_codeagent.models.resolver import ModelResolver
from jupyter_codeagent.models.servers import configured_server
from jupyter_codeagent.models.tokens import TokenCounter, find_tokenizer
from jupyter_codeagent.session.prompt_context import PromptContext, fit_context
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import ModelError
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import order
from jupyter_codeagent.variables.privacy.masking import masked_summaries
from jupyter_codeagent.variables.privacy.sharing.notebook_sharing import NotebookSharing
from jupyter_codeagent.variables.recent import names_bound_by, recent_names
from jupyter_codeagent.variables.relations import Relation, find_relations, joins_line
from jupyter_codeagent.variables.relevance import SelectionClues, relevant_variables
from jupyter_codeagent.variables.user_namespace import UserNamespace


class LiveContext:
    """Reads the live variables, so it belongs to the main thread."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        sharing: NotebookSharing,
        models: ModelResolver,
        find_model: Callable[[Settings], ModelEndpoint],
        earlier: Callable[[], Collection[str]],
        templates: Callable[[], Collection[str]],
    ) -> None:
        """`templates` returns the programs of this kernel that no model has written."""
        self._live = live
        self._sharing = sharing
        self._models = models
        self._find_model = find_model
        self._earlier = earlier
        self._templates = templates
        self.counter = TokenCounter()

    def recent(self) -> tuple[str, ...]:
        """Return the names that the last cells used, the latest first."""
        return tuple(recent_names(self._live.recent_cells()))

    def clues(self, relations: Sequence[Relation], earlier: Collection[str]) -> SelectionClues:
        """Return what shows which variables a question is about, beside databases."""
        made = names_bound_by(self._templates(), self._live.cells())
        return SelectionClues(recent=self.recent(), relations=relations, earlier=earlier, made=made)

    def relations(
        self,
        summaries: Sequence[VariableSummary],
        variables: Mapping[str, Any],
        prompt: str,
        settings: Settings,
    ) -> tuple[Relation, ...]:
        """Find the joins between tables."""
        ordered = [summary.name for summary in order(summaries, prompt, self.recent()) if summary.columns]
        tables = {name: variables[name] for name in ordered if name in variables}
        return find_relations(tables, read_values=settings.privacy != "schema")

    def fit(
        self,
        summaries: Sequence[VariableSummary],
        relations: Sequence[Relation],
        prompt: str,
        settings: Settings,
        endpoint: ModelEndpoint | None,
        *,
        sends: bool = True,
    ) -> PromptContext:
        """Return the variable lines with the joins between tables, counted by the model's tokenizer if possible.

        Where nothing may be sent, only the embedded model's tokenizer is asked.
        """
        described = {summary.name: summary for summary in summaries}
        return fit_context(
            summaries,
            settings,
            prompt,
            counter=self.counter,
            tokenizer=find_tokenizer(endpoint, sends=sends) if endpoint is not None else None,
            recent=self.recent(),
            joins=joins_line([relation for relation in relations if relation.is_among(described)]),
        )

    def of_prompt(self, prompt: str, settings: Settings) -> PromptContext:
        """Return what a prompt would send, or all if it is empty, for `%agent context`; ask no remote host."""
        summaries, variables = self._described(prompt, settings)
        relations = self.relations(summaries, variables, prompt, settings)
        names = self._names_for(prompt, summaries, relations, settings)
        sent = masked_summaries(
            [one for one in summaries if not prompt or one.name in names], self._live.everything()
        )
        return self.fit(sent, relations, prompt, settings, self._local_model(settings))

    def for_pages(self, settings: Settings) -> tuple[PromptContext, tuple[VariableSummary, ...]]:
        """Return the lines for the panel, and the summaries. No model is used, as this is done after each cell.

        People are not masked wherever a question would mask them; that takes too long.
        """
        summaries, variables = self._described("", settings)
        relations = self.relations(summaries, variables, "", settings)
        return self.fit(summaries, relations, "", settings, self._models.known(settings.model)), summaries

    def for_client(self, name: str, settings: Settings, notebook: str | None) -> str:
        """Return the lines of one variable, or of all with their joins if the name is empty; no model is asked.

        Raises
        ------
        UsageError
            The notebook's lists of hidden variables cannot be read.
        """
        self._sharing.adopt_file(notebook)  # no page may have sent them, and no question have read them
        summaries, variables = self._described(name, settings)
        if name:
            summaries = tuple(one for one in summaries if one.name == name)
        if not summaries:
            return ""
        relations = () if name else self.relations(summaries, variables, "", settings)
        told = masked_summaries(summaries, self._live.everything())
        return self.fit(told, relations, name, settings, None).context.text

    def _described(self, prompt: str, settings: Settings) -> tuple[tuple[VariableSummary, ...], Mapping[str, Any]]:
        visible = self._sharing.visible()
        summaries = describe(visible.values, privacy=settings.privacy, mentioned=prompt)
        return visible.hidden.without_names(summaries, visible.values), visible.values

    def _names_for(
        self,
        prompt: str,
        summaries: Sequence[VariableSummary],
        relations: Sequence[Relation],
        settings: Settings,
    ) -> frozenset[str]:
        """Return what a run would copy that names no variables."""
        clues = self.clues(relations, self._earlier())
        names = relevant_variables(summaries, prompt, max_bytes=settings.max_transfer_bytes, clues=clues)
        return frozenset(names) | {name for name, how in self._sharing.shared.items() if how == "shared"}

    def _local_model(self, settings: Settings) -> ModelEndpoint | None:
        """Return the model if it is on this machine; a remote one is not contacted for this."""
        server = configured_server(settings.model, os.environ)
        if server is not None and not is_loopback(server.base_url):
            return None
        try:
            return self._find_model(settings)
        except ModelError:
            return None  # no model is available now: tokens are estimated
