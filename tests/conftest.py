"""Fixtures that several kinds of tests share, and in which order and company tests run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from model_server import ModelServer, serving

# The same examples in every run: new ones are looked for on purpose (HYPOTHESIS_PROFILE=explore), not when somebody
# else's change is checked. How long an example takes says nothing where several tests share a processor.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

HERE = Path(__file__).parent
ORDER = ("contract", "unit", "model", "integration", "sandbox", "endurance", "e2e")
"""What fails fast comes first; the embedded model, the longest piece, is begun early; browser tests come last: in a
process in which Playwright runs no `asyncio.run` works."""
TOGETHER = ("contract", "unit", "sandbox")
"""Kinds whose tests are short and share what a file sets up: one process runs a whole file. Of the others each test
goes to whoever is free, unless its file says otherwise (`pytest.mark.xdist_group`)."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For any number of processes; with one it is only the order that counts."""
    for item in items:
        if item.get_closest_marker("model"):
            item.add_marker(pytest.mark.xdist_group("model"))
        elif kind(item) in TOGETHER and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {level_of(item)}"))
    items.sort(key=lambda item: ORDER.index("model" if item.get_closest_marker("model") else kind(item)))


def kind(item: pytest.Item) -> str:
    """The directory below tests/."""
    return item.path.relative_to(HERE).parts[0]


def level_of(item: pytest.Item) -> str:
    """The sandbox level of a test that has one: changing it ends the shared sandbox and starts another."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.params.get("box", "")) if callspec else ""


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model behind a real HTTP server."""
    with serving() as server:
        yield server
