"""Which model a session talks to: found once per setting, opened once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from jupyter_codeagent.models.admission import owner_changed
from jupyter_codeagent.models.discovery import open_model, predict_model, resolve_model
from jupyter_codeagent.models.embedded.launcher import running_embedded
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.settings.settings import ModelSettings


class ModelResolver:
    """On the background loop."""

    def __init__(self) -> None:
        self._found: dict[ModelSettings, ModelEndpoint] = {}
        self._open: tuple[ModelEndpoint, ModelSettings, Model] | None = None

    def name(self, settings: ModelSettings) -> str:
        """Of the model for these settings; empty as long as none was found."""
        found = self._found.get(settings)
        if found is None and self._open is not None and self._open[1] == settings:
            found = self._open[0]
        return found.model if found is not None else ""

    def known(self, settings: ModelSettings) -> ModelEndpoint | None:
        """What was found before; asks nobody, from any thread."""
        return self._found.get(settings)

    async def find(self, settings: ModelSettings) -> ModelEndpoint:
        """Resolved once per setting: asking the ports again for every run would cost what it is to save.

        Whose a server on this machine is, is looked up each time: its port may have been taken over.
        """
        known = self._found.get(settings)
        if known is None or await asyncio.to_thread(owner_changed, known):
            known = self._found[settings] = await resolve_model(settings, os.environ)
        return known

    def foresee(self, settings: ModelSettings) -> ModelEndpoint:
        """The model that would be asked, as far as it is known without asking anybody. From any thread."""
        return self._found.get(settings) or predict_model(settings, os.environ)

    async def open(
        self, endpoint: ModelEndpoint, settings: ModelSettings, *, on_loading: Callable[[], None]
    ) -> Model:
        """The model behind the endpoint, ready to be asked.

        `on_loading` is called before the embedded one is loaded: at the first run, and after it has ended itself
        for want of work.
        """
        if endpoint.kind == "embedded" and await asyncio.to_thread(running_embedded, endpoint.model) is None:
            on_loading()
            self._open = None
        if self._open is None or self._open[:2] != (endpoint, settings):
            self._open = (endpoint, settings, await open_model(endpoint, settings))
        return self._open[2]

    def forget(self) -> None:
        """Look for servers again at the next run: one may have been started or ended since."""
        self._found.clear()
