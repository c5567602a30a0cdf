"""A JupyterHub with two users of the machine; `make hub-check` makes its environment and runs these tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hub.hub_server import ENVIRONMENT, Account, Hub, accounts, running_hub
from model_server import ModelServer, serving

LIMIT_S = 600
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = missing()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(LIMIT_S))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


def missing() -> str:
    """Why there can be no hub here; empty if there can be one."""
    if os.getuid() != 0:
        return "only root can make users and start servers as them"
    if "CODEAGENT_HUB" not in os.environ or not (ENVIRONMENT / "bin" / "jupyterhub").exists():
        return "`make hub-check` installs JupyterHub and runs these tests"
    return ""


@pytest.fixture(scope="session")
def shared_model() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="session")
def both() -> Iterator[tuple[Account, Account]]:
    """Two users of this machine, removed afterwards with all that they run and have."""
    with accounts("codeagent-a", "codeagent-b") as (first, second):
        yield first, second


@pytest.fixture(scope="session")
def hub(
    tmp_path_factory: pytest.TempPathFactory, both: tuple[Account, Account], shared_model: ModelServer
) -> Iterator[Hub]:
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    with running_hub(tmp_path_factory.mktemp("hub"), both, environment) as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_runs_on(both: tuple[Account, Account]) -> Iterator[None]:
    """Embedded models outlive kernels and servers; the next test starts its own."""
    yield
    for account in both:
        for pid, command in account.processes().items():
            if "models.embedded.server" in command:
                os.kill(pid, signal.SIGKILL)
