"""What the model is told of the live variables: described, put in the order of use, fitted into the budget."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jupyter_codeagent.errors import ModelError
from jupyter_codeagent.hiding import Hiding
from jupyter_codeagent.live import LiveKernel
from jupyter_codeagent.models.choice import ModelChoice
from jupyter_codeagent.models.discovery import chosen_server
from jupyter_codeagent.models.endpoint import ModelEndpoint, is_loopback
from jupyter_codeagent.models.tokens import TokenCounter, find_tokenizer
from jupyter_codeagent.preparation import ToldContext, fit_context
from jupyter_codeagent.settings import Settings
from jupyter_codeagent.values import VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import order
from jupyter_codeagent.variables.recent import recent_names
from jupyter_codeagent.variables.relations import find_relations, joins_line


class LiveContext:
    """Main thread only: it looks at the user's objects."""

    def __init__(
        self,
        *,
        live: LiveKernel,
        hiding: Hiding,
        models: ModelChoice,
        find_model: Callable[[Settings], ModelEndpoint],
    ) -> None:
        self._live = live
        self._hiding = hiding
        self._models = models
        self._find_model = find_model
        self.counter = TokenCounter()

    def recent(self) -> tuple[str, ...]:
        """Names that the last cells used, the latest first."""
        return tuple(recent_names(self._live.recent_cells()))

    def tell(
        self,
        summaries: Sequence[VariableSummary],
        variables: Mapping[str, Any],
        prompt: str,
        settings: Settings,
        endpoint: ModelEndpoint | None,
    ) -> ToldContext:
        """The variable lines, with the joins between tables, counted by the model's tokenizer if possible."""
        recent = self.recent()
        told = {summary.name: summary for summary in order(summaries, prompt, recent)}
        tables = {name: variables[name] for name, one in told.items() if one.columns and name in variables}
        relations = find_relations(tables, look_at_values=settings.privacy != "schema")
        return fit_context(
            summaries,
            settings,
            prompt,
            counter=self.counter,
            tokenizer=find_tokenizer(endpoint) if endpoint is not None else None,
            recent=recent,
            joins=joins_line([relation for relation in relations if relation.is_among(told)]),
        )

    def of_prompt(self, prompt: str, settings: Settings) -> ToldContext:
        """For `%agent context`. Asks no other machine anything."""
        told, _ = self._described(prompt, settings, self._local_model(settings))
        return told

    def for_pages(self, settings: Settings) -> tuple[ToldContext, tuple[VariableSummary, ...]]:
        """For the panel. No model is looked for: this is done after each cell."""
        return self._described("", settings, self._models.known(settings.model))

    def _described(
        self, prompt: str, settings: Settings, endpoint: ModelEndpoint | None
    ) -> tuple[ToldContext, tuple[VariableSummary, ...]]:
        variables = self._hiding.visible().values
        summaries = describe(variables, privacy=settings.privacy, mentioned=prompt)
        return self.tell(summaries, variables, prompt, settings, endpoint), summaries

    def _local_model(self, settings: Settings) -> ModelEndpoint | None:
        """The model if it is on this machine; one elsewhere is not asked whether it is there."""
        server = chosen_server(settings.model, os.environ)
        if server is not None and not is_loopback(server.base_url):
            return None
        try:
            return self._find_model(settings)
        except ModelError:
            return None  # there is none at present: tokens are estimated
