"""Masking of personal values in what the model gets beside the variable lines: turns, errors, texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.variables.privacy.masking import mask_values, masked, values_to_mask
from jupyter_codeagent.variables.user_namespace import UserNamespace


class PromptMasking:
    """Looks the values up in the live frames, which is done on the main thread only."""

    def __init__(self, live: UserNamespace, background: BackgroundLoop) -> None:
        self._live = live
        self._background = background

    async def values_in(self, text: str) -> tuple[str, ...]:
        """Return the values of personal columns that occur in a text. On the background loop."""
        return await self._background.on_main_thread(lambda: self._values_in(text))

    def turns(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """Mask earlier code and results, but not what the model itself wrote or the prompt had. Main thread."""
        values = self._values_in("\n".join(line for turn in turns for line in (turn.code, turn.answer, *turn.made)))
        return tuple(
            replace(
                turn,
                code=mask_values(turn.code, [v for v in values if v not in turn.written and v not in turn.prompt]),
                answer=masked(turn.answer, values),
                made=tuple(masked(line, values) for line in turn.made),
            )
            for turn in turns
        )

    def text(self, text: str) -> str:
        """Mask a text. Main thread."""
        return masked(text, self._values_in(text))

    def error(self, error: str, settings: Settings) -> str:
        """Mask ``KeyError: 'x'`` of a cell of the user; under `schema` leave its kind only. Main thread."""
        return error.partition(":")[0] if settings.privacy == "schema" else self.text(error)

    def _values_in(self, text: str) -> tuple[str, ...]:
        return values_to_mask(text, self._live.everything())
