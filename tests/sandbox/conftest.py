"""One sandbox of each level for the tests that leave it as it was; a fresh one for those that kill it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sandbox_box import Box

from jupyter_codeagent.errors import SandboxUnavailableError
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.values import SandboxLevel, SandboxPolicy

ISOLATING: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")


@pytest.fixture(scope="session")
def loop_thread() -> Iterator[Callable[[Coroutine[Any, Any, Any]], Any]]:
    """One thread with one loop for the whole session: sandboxes die with the thread that spawned them."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="sandboxes")
    thread.start()
    yield lambda work: asyncio.run_coroutine_threadsafe(work, loop).result(timeout=100)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


MakeBox = Callable[..., Box]


@pytest.fixture
def make_box(loop_thread: Callable[[Coroutine[Any, Any, Any]], Any], tmp_path: Path) -> Iterator[MakeBox]:
    made: list[Box] = []

    def make(level: SandboxLevel, preload: Sequence[str] = (), **policy: Any) -> Box:
        wanted = SandboxPolicy(levels=(level,), **policy)
        try:
            kernel = loop_thread(SandboxKernel.start(policy=wanted, data_dir=tmp_path, preload=preload))
        except SandboxUnavailableError as problem:
            if _machine_lacks(level, problem):
                pytest.skip(str(problem))
            raise
        made.append(Box(kernel, loop_thread, tmp_path))
        return made[-1]

    yield make
    for box in made:
        box.call(box.kernel.stop())


@pytest.fixture(scope="session", params=ISOLATING)
def box(
    request: pytest.FixtureRequest,
    loop_thread: Callable[[Coroutine[Any, Any, Any]], Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Box]:
    """The shared sandbox of a level."""
    data_dir = tmp_path_factory.mktemp("data")
    policy = SandboxPolicy(levels=(request.param,))
    try:
        kernel = loop_thread(SandboxKernel.start(policy=policy, data_dir=data_dir))
    except SandboxUnavailableError as problem:
        if _machine_lacks(request.param, problem):
            pytest.skip(str(problem))
        raise
    yield Box(kernel, loop_thread, data_dir)
    loop_thread(kernel.stop())


@pytest.fixture(params=ISOLATING)
def level(request: pytest.FixtureRequest) -> SandboxLevel:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=[level for level in ISOLATING if level != "landlock"])
def level_with_processes(request: pytest.FixtureRequest) -> SandboxLevel:
    """Those with a process namespace: nothing can outlive them."""
    return request.param  # type: ignore[no-any-return]


def _machine_lacks(level: SandboxLevel, problem: SandboxUnavailableError) -> bool:
    """Only a missing mechanism is a reason to skip; a broken promise never is."""
    text = str(problem)
    lacking = (
        "not installed",
        "too old",
        "creating new namespace",
        "create new namespace",
        "unshare",
        "uid_map",
        "no Landlock",
    )
    return "did not hold" not in text and any(word in text for word in lacking)
