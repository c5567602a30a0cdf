"""One sandbox of each level for the tests that leave it as it was; a fresh one for those that kill it."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import pytest
from gateway_server import running_gateway
from sandbox_box import Box

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.remote import container
from jupyter_codeagent.sandbox.remote.connectors import GATEWAY_TOKEN
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

ISOLATING = cast(
    "tuple[SandboxLevel, ...]",
    tuple(os.environ.get("CODEAGENT_LEVELS", "bubblewrap,namespaces,landlock").split(",")),
)
"""Of the tests that are about every level. Those elsewhere (``command,container,gateway``) have one of these behind
a relay: a few tests of their own are enough each day, and all of these were run there."""
HERE = Path(__file__).parent
RELAY = (sys.executable, "-m", "jupyter_codeagent.sandbox.remote.relay")


@pytest.fixture(scope="session")
def policy_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., SandboxPolicy]]:
    """The policy of a level, with what it needs: a relay, a stand-in for Docker, a gateway."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        places: dict[str, Any] = {}
        if "container" in ISOLATING:
            place = tmp_path_factory.mktemp("engine")
            view = {str(Path(sys.executable).parents[1]), sys.base_prefix, str(HERE.parents[1])}
            patch.setattr(container, "TRUSTED_PATH", str(HERE / "fake_engine"))
            patch.setenv("DOCKER_FAKE_PLACE", str(place))
            patch.setenv("DOCKER_FAKE_PYTHON", sys.executable)
            patch.setenv("DOCKER_FAKE_VIEW", ":".join(sorted(view)))
        if "gateway" in ISOLATING:
            gateway = stack.enter_context(running_gateway(tmp_path_factory.mktemp("gateway")))
            patch.setenv(GATEWAY_TOKEN, gateway.token)
            places["gateway"] = gateway.url
        own: dict[str, dict[str, Any]] = {
            "command": {"command": RELAY},
            "container": {"image": "codeagent-sandbox"},
            "gateway": {"gateway": places.get("gateway", "")},
        }
        yield lambda level, **more: SandboxPolicy(levels=(level,), **own.get(level, {}), **more)


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
def make_box(
    loop_thread: Callable[[Coroutine[Any, Any, Any]], Any],
    policy_of: Callable[..., SandboxPolicy],
    tmp_path: Path,
) -> Iterator[MakeBox]:
    made: list[Box] = []

    def make(level: SandboxLevel, preload: Sequence[str] = (), **policy: Any) -> Box:
        wanted = policy_of(level if level in (*ISOLATING, "none") else ISOLATING[0], **policy)
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
    policy_of: Callable[..., SandboxPolicy],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Box]:
    """The shared sandbox of a level."""
    data_dir = tmp_path_factory.mktemp("data")
    policy = policy_of(request.param)
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
