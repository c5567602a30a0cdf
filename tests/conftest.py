"""Fixtures that several kinds of tests share, and in which order and company tests run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from model_server import ModelServer, serving

# The same examples in every run: new ones are looked for on purpose (HYPOTHESIS_PROFILE=explore), not when somebody
# else's change is checked. How long an example takes says nothing where several tests share a processor.
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("steady"), max_examples=25)  # of `make test`
settings.register_profile("explore", derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

HERE = Path(__file__).parent
ORDER = ("contract", "unit", "model", "integration", "sandbox", "endurance", "hub", "e2e")
"""What fails fast comes first; the embedded model, the longest piece, is begun early; browser tests come last: in a
process in which Playwright runs no `asyncio.run` works."""
TOGETHER = ("contract", "unit", "sandbox")
"""Kinds whose tests are short and share what a file sets up: one process runs a whole file. Of the others each test
goes to whoever is free, unless its file says otherwise (`pytest.mark.xdist_group`)."""
LEVELS = {"box", "calling", "level", "level_with_processes"}
"""Fixtures whose parameter is a sandbox level."""
STRONGEST = "bubblewrap"
REPRESENTATIVES = {"test_escapes_worlds", "test_sandbox_walls"}
"""Files that `make test` runs at every level: the proof that a level holds at all."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For any number of processes; with one it is only the order that counts."""
    for item in items:
        if level_of(item) not in ("", STRONGEST) and item.path.stem not in REPRESENTATIVES:
            item.add_marker(pytest.mark.long("the same attack at a weaker level"))
        if rare := item.get_closest_marker("rare"):
            item.add_marker(pytest.mark.long(*rare.args))
        rows = item.get_closest_marker("long_except")
        if rows is not None and not set(rows.args) & set(row_of(item).split("-")):
            item.add_marker(pytest.mark.long(rows.kwargs["why"]))
        if item.get_closest_marker("model"):
            item.add_marker(pytest.mark.xdist_group("model"))
        elif kind(item) in TOGETHER and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {level_of(item)}"))
    items.sort(key=lambda item: ORDER.index("model" if item.get_closest_marker("model") else kind(item)))


def kind(item: pytest.Item) -> str:
    """The directory below tests/."""
    return _directory(item.path)


@cache
def _directory(path: Path) -> str:
    return path.relative_to(HERE).parts[0]


def level_of(item: pytest.Item) -> str:
    """The sandbox level of a test that has one: changing it ends the shared sandbox and starts another."""
    callspec = getattr(item, "callspec", None) if kind(item) == "sandbox" else None
    return next((str(callspec.params[name]) for name in LEVELS & callspec.params.keys()), "") if callspec else ""


def row_of(item: pytest.Item) -> str:
    """The id of the parameters of a test that has some."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec else ""


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.register(LeftInWorkers())


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Each of several processes collects the same: what one has left out is what all have."""
    told = getattr(items[0].config, "workeroutput", {}) if items else {}
    told["left"] = dict(Counter(kind(item) for item in items if item.get_closest_marker("long")))


class LeftInWorkers:
    """Says at the end how many tests are left to `make test-all`."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()

    def pytest_testnodedown(self, node: Any) -> None:
        self._left |= Counter(getattr(node, "workeroutput", {}).get("left", {}))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left:
            kinds = ", ".join(f"{number} {name}" for name, number in self._left.most_common())
            terminalreporter.write_line(f"Left to `make test-all`: {self._left.total()} tests ({kinds}).")


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    """A scripted model behind a real HTTP server."""
    with serving() as server:
        yield server
