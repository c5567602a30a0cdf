"""The embedded model as a `protocol.Model`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jupyter_codeagent.models.embedded.catalogue import model_name, published_weights, uses_own_file
from jupyter_codeagent.models.embedded.launcher import RunningServer, start_embedded
from jupyter_codeagent.models.embedded.sizing import active_bytes
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.messages import Completion, CompletionRequest


class EmbeddedModel:
    """The embedded model, whose server is restarted after an idle shutdown."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._running: tuple[RunningServer, OpenAIModel] | None = None

    @property
    def name(self) -> str:
        return model_name(self._settings)

    @property
    def supports_prefill(self) -> bool:
        return True if self._running is None else self._running[1].supports_prefill

    async def ready(self) -> OpenAIModel:
        """Return the model of the running server, started if needed. Raises ModelError."""
        server = await start_embedded(self._settings)
        if self._running is None or self._running[0] != server:
            await self.close()
            model = OpenAIModel(
                name=server.model,
                base_url=server.base_url,
                socket_path=server.socket_path,
                api_key=server.api_key,
                settings=with_scaled_timeout(self._settings),
                supports_prefill=True,
                supports_grammar=True,
            )
            self._running = (server, model)
        return self._running[1]

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion:
        """See `protocol.Model.complete`."""
        model = await self.ready()
        return await model.complete(request, on_text=on_text, is_complete=is_complete)

    async def sample(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """See `protocol.Model.sample`."""
        model = await self.ready()
        return await model.sample(request, count, on_text=on_text, is_complete=is_complete)

    async def close(self) -> None:
        """Close the connections; the server is shared and keeps running."""
        running, self._running = self._running, None
        if running is not None:
            await running[1].close()


def with_scaled_timeout(settings: ModelSettings) -> ModelSettings:
    """Return settings with a longer read timeout for larger models, which process prompts more slowly."""
    if uses_own_file(settings):
        return settings
    slower = active_bytes(published_weights(model_name(settings))) / active_bytes(published_weights())
    return replace(settings, read_timeout_s=settings.read_timeout_s * max(slower, 1.0))
