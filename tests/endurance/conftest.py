"""How long and with which luck: ``CODEAGENT_ROUNDS``, ``CODEAGENT_SEED``; every test id names its rounds."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

pytest.register_assert_rewrite("endurance.questions", "endurance.traces")

from endurance.traces import Quarters, quarters_below  # noqa: E402

ROUNDS = int(os.environ.get("CODEAGENT_ROUNDS", "1"))
"""One is what fits into the whole suite; a change of sandbox, history or transfer deserves 100."""
SEED = int(os.environ.get("CODEAGENT_SEED") or secrets.randbelow(1 << 32))
LIMIT_S = 180
ROUND_LIMIT_S = 60
"""A round starts a kernel, at the most a server as well, and runs two questions: 5 to 15 s on two slow cores."""
HERE = Path(__file__).parent


def pytest_report_header() -> str:
    return f"endurance: {ROUNDS} rounds (CODEAGENT_ROUNDS), seed {SEED} (CODEAGENT_SEED)"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "rounds" in metafunc.fixturenames:
        metafunc.parametrize("rounds", [ROUNDS], ids=[f"{ROUNDS} rounds"])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.timeout(LIMIT_S + ROUND_LIMIT_S * ROUNDS))


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> Random:
    """Luck of its own for each test; what is printed is shown when it fails."""
    print(f"again with the same luck: CODEAGENT_SEED={SEED} CODEAGENT_ROUNDS={ROUNDS}")
    return Random(f"{SEED} {request.node.name}")


@pytest.fixture
def quarters() -> Iterator[Quarters]:
    """Where everything that the test starts keeps its temporary files, and by which it is recognised."""
    with quarters_below(Path("/tmp")) as found:  # short: paths of sockets have 107 bytes
        yield found
