"""The sandbox: cold start against a plain ipykernel started the same way, round trip, memory."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy

ROUNDS = 5


async def plain_start_s() -> float:
    """Spawn to first reply of an ipykernel over ipc sockets, without any sandbox."""
    with tempfile.TemporaryDirectory() as directory:
        manager = AsyncKernelManager(transport="ipc", connection_file=f"{directory}/k.json")
        started = time.perf_counter()
        await manager.start_kernel()
        client = manager.client()
        client.start_channels()
        await client.kernel_info(reply=True, timeout=60)  # wait_for_ready() would add a fixed 0.2 s
        seconds = time.perf_counter() - started
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
    return seconds


async def _sandbox(level: SandboxLevel) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        started = time.perf_counter()
        sandbox = await SandboxKernel.start(policy=SandboxPolicy(levels=(level,)), data_dir=Path(directory))
        start_s = time.perf_counter() - started
        try:
            await sandbox.execute("1", timeout_s=30)
            trips = []
            for _ in range(20):
                began = time.perf_counter()
                await sandbox.execute("1 + 1", timeout_s=30)
                trips.append(time.perf_counter() - began)
            resident = sandbox.resident_bytes()
        finally:
            await sandbox.stop()
    return {"start_s": start_s, "round_trip_ms": statistics.median(trips) * 1000, "resident_mb": resident / 2**20}


async def _run() -> dict[str, Any]:
    levels: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")
    plain, sandboxes = [], {level: [] for level in levels}  # type: ignore[var-annotated]
    for _ in range(ROUNDS):  # in turn, so that a slow moment of the machine hits all
        plain.append(await plain_start_s())
        for level in levels:
            sandboxes[level].append(await _sandbox(level))
    plain_s = statistics.median(plain)
    result: dict[str, Any] = {"plain_start_s": plain_s, "limits": {"start_ratio": 1.3, "round_trip_ms": 30}}
    for level, rounds in sandboxes.items():
        medians = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        result[level] = {**medians, "start_ratio": medians["start_s"] / plain_s}
    return result


def run() -> dict[str, Any]:
    """Limits: 1.3 × a plain kernel, 30 ms."""
    return asyncio.run(_run())
