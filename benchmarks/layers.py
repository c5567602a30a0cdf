"""What each layer of the sandbox costs, and what warming gains: ratios to a plain kernel in the same run."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pandas as pd
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager

from benchmarks.sandbox import plain_start_s
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.warm_pool import WarmPool
from jupyter_codeagent.sandbox.workspace import modules_to_preload
from jupyter_codeagent.types.sandbox import SandboxPolicy

ROUNDS = 5
RELAY = (sys.executable, "-m", "jupyter_codeagent.sandbox.remote.relay")
POLICIES = {
    "no layer": SandboxPolicy(levels=("none",)),
    "landlock and seccomp": SandboxPolicy(levels=("landlock",)),
    "and namespaces": SandboxPolicy(levels=("namespaces",)),
    "and bubblewrap": SandboxPolicy(levels=("bubblewrap",)),
    "and a relay": SandboxPolicy(levels=("command",), command=RELAY),
}
FIRST_OPERATION = "frame.groupby('k').v.mean().sort_values().head()"


async def _cold_s(policy: SandboxPolicy) -> float:
    """Start to the first reply, self-test included."""
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        sandbox = await SandboxKernel.start(policy=policy, data_dir=Path(directory))
        seconds = time.perf_counter() - started
        await sandbox.stop()
    return seconds


def _frame() -> pd.DataFrame:
    return pd.DataFrame({"k": [number % 100 for number in range(1_000_000)], "v": 0.5})


async def _warm() -> dict[str, float]:
    """A spare that is ready: taking it, and the first operation on a frame of a million rows in it."""
    with tempfile.TemporaryDirectory() as directory:
        pool = WarmPool(SandboxPolicy(), Path(directory), preload=modules_to_preload())
        pool.warm()
        await asyncio.sleep(4)
        manifest = Spool(Path(directory), max_bytes=1 << 30).export({"frame": _frame()}, ["frame"], required=True)
        taken = await _timed(pool.take)
        sandbox = taken[1]
        loaded = await _timed(lambda: sandbox.load(manifest.copied, ("import pandas as pd",)))
        first = await _timed(lambda: sandbox.execute(FIRST_OPERATION, timeout_s=60))
        second = await _timed(lambda: sandbox.execute(FIRST_OPERATION, timeout_s=60))
        await sandbox.stop()
        await pool.close()
    return {"take_ms": taken[0], "load_ms": loaded[0], "first_ms": first[0], "second_ms": second[0]}


async def _live_kernel() -> dict[str, float]:
    """The same operations in a plain kernel where the frame has just been made: what the user compares with."""
    manager = AsyncKernelManager()
    await manager.start_kernel()
    client: AsyncKernelClient = manager.client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    await _run(
        client, "import pandas as pd; frame = pd.DataFrame({'k': [n % 100 for n in range(10**6)], 'v': 0.5})"
    )
    first = await _timed(lambda: _run(client, FIRST_OPERATION))
    second = await _timed(lambda: _run(client, FIRST_OPERATION))
    client.stop_channels()
    await manager.shutdown_kernel(now=True)
    return {"first_ms": first[0], "second_ms": second[0]}


async def _run(client: AsyncKernelClient, code: str) -> None:
    reply = await client.execute_interactive(code, timeout=60, output_hook=lambda _: None)
    assert reply["content"]["status"] == "ok", reply


async def _timed(work: Callable[[], Awaitable[Any]]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = await work()
    return (time.perf_counter() - started) * 1000, result


async def _measure() -> dict[str, Any]:
    plain: list[float] = []
    cold: dict[str, list[float]] = {name: [] for name in POLICIES}
    warm, live = [], []
    for _ in range(ROUNDS):  # in turn, so that a slow moment of the machine hits all
        plain.append(await plain_start_s())
        for name, policy in POLICIES.items():
            cold[name].append(await _cold_s(policy))
        warm.append(await _warm())
        live.append(await _live_kernel())
    plain_s = statistics.median(plain)
    medians = {name: statistics.median(seconds) for name, seconds in cold.items()}
    return {
        "plain_start_s": plain_s,
        "cold_start_ratio": {name: seconds / plain_s for name, seconds in medians.items()},
        "warm": {key: statistics.median(one[key] for one in warm) for key in warm[0]},
        "live_kernel": {key: statistics.median(one[key] for one in live) for key in live[0]},
    }


def run() -> dict[str, Any]:
    return asyncio.run(_measure())
