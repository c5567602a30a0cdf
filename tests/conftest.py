"""Fixtures that several kinds of tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings
from model_server import ModelServer, serving

# The same examples in every run: new ones are looked for on purpose (HYPOTHESIS_PROFILE=explore), not when somebody
# else's change is checked.
settings.register_profile("steady", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model behind a real HTTP server."""
    with serving() as server:
        yield server
