"""Where the model is: pages are told once it is known."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.session.model_finder import ModelFinder
from jupyter_codeagent.settings.settings import ModelSettings, Settings

ENDPOINT = ModelEndpoint(model="m", label="here", kind="registered", remote=False)


class Models:
    """Knows the model once it was looked for."""

    def __init__(self) -> None:
        self._known: ModelEndpoint | None = None

    def known(self, _: ModelSettings) -> ModelEndpoint | None:
        return self._known

    async def find(self, _: ModelSettings) -> ModelEndpoint:
        self._known = ENDPOINT
        return ENDPOINT


def test_pages_are_told_when_the_model_is_found_first_and_not_again() -> None:
    told: list[str] = []
    parts: dict[str, Any] = {
        "background": SimpleNamespace(run=asyncio.run),
        "models": Models(),
        "consent": None,
        "with_grants": lambda settings: settings,
        "found": lambda: told.append("found"),
    }
    finder = ModelFinder(**parts)

    assert [finder.find(Settings()), finder.find(Settings())] == [ENDPOINT, ENDPOINT]
    assert told == ["found"]
