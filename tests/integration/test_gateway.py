"""Sandboxes behind real gateways: Jupyter Kernel Gateway, and a Jupyter server without the newer websocket form.

The relay is installed as a kernelspec in a directory of the test, and started by the gateway.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from gateway_server import KERNEL_GATEWAY, SERVER_WITHOUT_V1, Gateway, living, running_gateway

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.remote.connectors import GATEWAY_TOKEN
from jupyter_codeagent.types.errors import SandboxDiedError, SandboxUnavailableError
from jupyter_codeagent.types.sandbox import ExecutionResult, SandboxPolicy

WAIT_S = 60.0
pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("gateway")]


@pytest.fixture(
    scope="module", params=[KERNEL_GATEWAY, SERVER_WITHOUT_V1], ids=["kernel gateway", "server without v1"]
)
def each_gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with running_gateway(tmp_path_factory.mktemp("gateway"), request.param) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """For what concerns the relay, whoever starts it."""
    with running_gateway(tmp_path_factory.mktemp("gateway")) as gateway:
        yield gateway


@asynccontextmanager
async def sandbox(gateway: Gateway, data_dir: Path, token: str = "", **policy: Any) -> AsyncIterator[SandboxKernel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(GATEWAY_TOKEN, token or gateway.token)
        wanted = SandboxPolicy(levels=("gateway",), gateway=gateway.url, **policy)
        kernel = await SandboxKernel.start(policy=wanted, data_dir=data_dir)
    try:
        yield kernel
    finally:
        await kernel.stop()


def printed(result: ExecutionResult) -> str:
    return "".join(output["text"] for output in result.outputs if output["output_type"] == "stream").strip()


async def text(kernel: SandboxKernel, code: str) -> str:
    return printed(await kernel.execute(code, timeout_s=60))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110  (other processes set no events)
            await asyncio.sleep(0.05)


# --- every gateway -----------------------------------------------------------------------------------


@pytest.mark.long("another case of what a test beside it proves")
def test_code_runs_there_with_state_outputs_and_errors(each_gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        async with sandbox(each_gateway, tmp_path) as kernel:
            assert kernel.status.level == "gateway"
            assert {"TCP", "read files outside", "environment"} <= set(kernel.status.closed)
            result = await kernel.execute("x = 41\nprint('ä€😀', flush=True)\nx + 1", timeout_s=60)
            assert result.status == "ok"
            assert printed(result) == "ä€😀"
            assert result.outputs[-1]["output_type"] == "execute_result"
            assert await text(kernel, "print(x)") == "41"
            failed = await kernel.execute("\n\n1 / 0", timeout_s=60)
            assert failed.status == "error"
            assert failed.error is not None
            assert (failed.error.ename, failed.error.line) == ("ZeroDivisionError", 3)

    asyncio.run(work())


@pytest.mark.long("another situation of what a test beside it proves")
def test_copies_arrive_there_and_results_come_back(each_gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        frame = pd.DataFrame({"a": range(800_000), "b": [0.5, None] * 400_000})  # more than one message
        manifest = Spool(tmp_path, max_bytes=1 << 30).export({"frame": frame}, ["frame"], required=True)
        async with sandbox(each_gateway, tmp_path) as kernel:
            await kernel.load(manifest.copied)
            assert await text(kernel, "print(frame.a.sum(), frame.b.isna().sum())") == "319999600000 400000"
            await kernel.execute("frame.loc[0, 'a'] = -1", timeout_s=60)
            assert await text(kernel, "print(frame.a[0])") == "-1"
            packed = await kernel.fetch("frame", max_bytes=1 << 28)
            assert packed.kind == "arrow"
            assert len(packed.data) > 6_400_000

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_code_over_the_time_limit_there_is_interrupted_and_keeps_its_state(
    each_gateway: Gateway, tmp_path: Path
) -> None:
    async def work() -> None:
        async with sandbox(each_gateway, tmp_path, grace_s=30.0) as kernel:
            await kernel.execute("before = 1", timeout_s=60)
            result = await kernel.execute("during = 2\nwhile True: pass", timeout_s=1)
            assert result.status == "timeout"
            assert await text(kernel, "print(before, during)") == "1 2"

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_a_message_over_the_limit_is_refused_there_and_the_sandbox_lives(
    each_gateway: Gateway, tmp_path: Path
) -> None:
    code = "from IPython.display import display\ndisplay({'text/plain': 'x' * (2 << 20)}, raw=True)"

    async def work() -> None:
        async with sandbox(each_gateway, tmp_path, message_bytes=1 << 20) as kernel:
            assert (await kernel.execute(code, timeout_s=60)).status != "killed"
            assert await text(kernel, "print('alive')") == "alive"

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_a_flood_of_output_there_is_stopped_and_the_sandbox_lives(each_gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        async with sandbox(each_gateway, tmp_path, grace_s=30.0) as kernel:
            flooded = await kernel.execute("while True: print('x' * 1000)", timeout_s=10)
            # A Jupyter server drops output that comes too fast, and says so; then only the time limit is left.
            assert flooded.status in ("interrupted", "timeout")
            assert await text(kernel, "print('alive')") == "alive"

    asyncio.run(work())


def test_a_stopped_sandbox_leaves_no_kernel_and_no_process_there(each_gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> set[int]:
        async with sandbox(each_gateway, tmp_path) as kernel:
            assert await text(kernel, "print(1)") == "1"
            assert len(each_gateway.kernels) == 1
            return each_gateway.processes()

    processes = asyncio.run(work())
    assert len(processes) > 1, "the relay and its sandbox were there"
    assert each_gateway.kernels == []
    asyncio.run(until(lambda: not living(processes)))


def test_a_wrong_token_is_told_and_not_shown(each_gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        async with sandbox(each_gateway, tmp_path, token="a-wrong-token"):
            pass

    with pytest.raises(SandboxUnavailableError, match="refuses the token") as refused:
        asyncio.run(work())
    assert "a-wrong-token" not in str(refused.value)
    assert each_gateway.kernels == []


@pytest.mark.long("another case of what a test beside it proves")
def test_a_kernelspec_that_is_not_there_is_named_with_how_to_install_it(
    each_gateway: Gateway, tmp_path: Path
) -> None:
    async def work() -> None:
        async with sandbox(each_gateway, tmp_path, gateway_kernel="no-such-kernel"):
            pass

    with pytest.raises(SandboxUnavailableError, match="no-such-kernel") as refused:
        asyncio.run(work())
    assert "jupyter_codeagent.sandbox.remote.kernelspec" in str(refused.value)
    assert "codeagent-sandbox-relay" in str(refused.value), "it says which are there"


@pytest.mark.long("another case of what a test beside it proves")
def test_a_kernel_that_is_no_relay_is_not_taken_for_one_and_ended(gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        async with sandbox(gateway, tmp_path, gateway_kernel="python3"):
            pass

    with pytest.raises(SandboxUnavailableError, match="no sandbox relay but 'ipython'"):
        asyncio.run(work())
    assert gateway.kernels == []


# --- ends --------------------------------------------------------------------------------------------


@pytest.mark.long("another case of what a test beside it proves")
def test_a_relay_that_was_killed_is_told_and_the_one_the_gateway_starts_instead_is_ended(
    gateway: Gateway, tmp_path: Path
) -> None:
    processes: set[int] = set()

    async def work() -> None:
        async with sandbox(gateway, tmp_path) as kernel:
            (relay,) = gateway.relays()
            processes.update(gateway.processes())
            running = asyncio.create_task(kernel.execute("while True: pass", timeout_s=WAIT_S))
            await asyncio.sleep(0.2)
            os.kill(relay, signal.SIGKILL)
            result = await running
            assert result.status == "killed"
            assert "its process at the gateway ended" in result.reason
            with pytest.raises(SandboxDiedError, match="at the gateway"):
                await kernel.fetch("x", max_bytes=10)

    asyncio.run(work())
    assert gateway.kernels == []
    asyncio.run(until(lambda: not living(processes) and not gateway.relays()))


@pytest.mark.long("another case of what a test beside it proves")
def test_a_kernel_that_somebody_ends_at_the_gateway_is_told(gateway: Gateway, tmp_path: Path) -> None:
    async def work() -> None:
        async with sandbox(gateway, tmp_path) as kernel:
            (kernel_id,) = gateway.kernels
            await asyncio.to_thread(gateway.request, f"/api/kernels/{kernel_id}", "DELETE")
            await until(lambda: not kernel.alive)
            assert "the gateway has ended it" in (await kernel.execute("1", timeout_s=60)).reason

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_code_that_ignores_the_interrupt_there_is_killed(gateway: Gateway, tmp_path: Path) -> None:
    code = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"

    async def work() -> None:
        async with sandbox(gateway, tmp_path, grace_s=0.5) as kernel:
            processes = gateway.processes()
            result = await kernel.execute(code, timeout_s=0.5)
            assert result.status == "killed"
            assert "did not stop" in result.reason
            await until(lambda: not living(processes))

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_an_interrupt_by_the_gateway_reaches_the_code_and_does_not_disturb_replies(
    gateway: Gateway, tmp_path: Path
) -> None:
    async def work() -> None:
        async with sandbox(gateway, tmp_path) as kernel:
            (kernel_id,) = gateway.kernels
            running = asyncio.create_task(kernel.execute("while True: pass", timeout_s=WAIT_S))
            await asyncio.sleep(0.5)
            await asyncio.to_thread(gateway.request, f"/api/kernels/{kernel_id}/interrupt", "POST")
            result = await running
            assert result.status == "error"
            assert result.error is not None
            assert result.error.ename == "KeyboardInterrupt"
            assert await text(kernel, "print('alive')") == "alive"

    asyncio.run(work())


@pytest.mark.long("another case of what a test beside it proves")
def test_a_gateway_that_is_killed_ends_the_run_and_leaves_no_process(tmp_path: Path) -> None:
    processes: set[int] = set()
    with running_gateway(tmp_path / "gateway") as gateway:

        async def work() -> None:
            async with sandbox(gateway, tmp_path) as kernel:
                running = asyncio.create_task(kernel.execute("while True: pass", timeout_s=WAIT_S))
                await asyncio.sleep(0.2)
                processes.update(gateway.processes())
                assert processes
                gateway.process.kill()
                result = await running
                assert result.status == "killed"
                assert "connection to the gateway was cut" in result.reason

        asyncio.run(work())
        asyncio.run(until(lambda: not living(processes)))
        with pytest.raises(SandboxUnavailableError, match="is the gateway running"):
            asyncio.run(work())
