"""The model of a session, found once per settings and opened once."""

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
    """Finds and opens models, on the background loop."""

    def __init__(self) -> None:
        self._found: dict[ModelSettings, ModelEndpoint] = {}
        self._open: tuple[ModelEndpoint, ModelSettings, Model] | None = None

    def name(self, settings: ModelSettings) -> str:
        """Return the name of the model for these settings; empty until one was found."""
        found = self._found.get(settings)
        if found is None and self._open is not None and self._open[1] == settings:
            found = self._open[0]
        return found.model if found is not None else ""

    def known(self, settings: ModelSettings) -> ModelEndpoint | None:
        """Return the model found earlier. Makes no request; may be called from any thread."""
        return self._found.get(settings)

    async def find(self, settings: ModelSettings) -> ModelEndpoint:
        """Return the model for these settings, found once per settings: probing the ports takes time.

        The owner of a local server is checked each time, because another server may have taken over its port.
        """
        known = self._found.get(settings)
        if known is None or await asyncio.to_thread(owner_changed, known):
            known = self._found[settings] = await resolve_model(settings, os.environ)
        return known

    def foresee(self, settings: ModelSettings) -> ModelEndpoint:
        """Return the model that would be used, as far as it is known without a request. From any thread."""
        return self._found.get(settings) or predict_model(settings, os.environ)

    async def open(
        self, endpoint: ModelEndpoint, settings: ModelSettings, *, on_loading: Callable[[], None]
    ) -> Model:
        """Return the model of the endpoint, ready for requests.

        `on_loading` is called before the embedded model is loaded: at the first run, and after its idle shutdown.
        """
        if endpoint.kind == "embedded" and await asyncio.to_thread(running_embedded, endpoint.model) is None:
            on_loading()
            self._open = None
        if self._open is None or self._open[:2] != (endpoint, settings):
            self._open = (endpoint, settings, await open_model(endpoint, settings))
        return self._open[2]

    def forget(self) -> None:
        """Forget what was found, so that the next run looks for servers again."""
        self._found.clear()
