"""The watchdog of a sandbox, on this process in the place of one."""

from __future__ import annotations

import asyncio
import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_codeagent.sandbox.local.watch.watchdog import Watchdog
from jupyter_codeagent.types.sandbox import SandboxPolicy


def watchdog(told: list[str], scratch: Path, **limits: int) -> Watchdog:
    provisioner: Any = SimpleNamespace(level="landlock", outer_pid=os.getpid(), inner_pid=None)
    return Watchdog(
        cast("Any", provisioner),
        SandboxPolicy(
            levels=("landlock",),
            **cast("Any", {"threads": 10_000, "processes": 1000, "disk_bytes": 1 << 50, **limits}),
        ),
        scratch=scratch,
        is_busy=lambda: False,
        on_limit_exceeded=told.append,
        on_cpu_limit=told.append,
    )


@pytest.mark.anyio
async def test_memory_over_the_limit_is_told_once_when_a_short_execution_ends_between_two_measurements(
    tmp_path: Path,
) -> None:
    told: list[str] = []
    watched = watchdog(told, tmp_path, memory_bytes=1 << 20)
    watched.measure()
    watched.measure()
    async with asyncio.timeout(5):
        await watched.run()
    (line,) = told
    assert line.endswith("of memory, the limit is 1 MiB")


@pytest.mark.anyio
async def test_within_its_limits_a_sandbox_is_watched_on(tmp_path: Path) -> None:
    told: list[str] = []
    watched = watchdog(told, tmp_path, memory_bytes=1 << 50)
    watched.wake(math.inf)
    running = asyncio.create_task(watched.run())
    await asyncio.sleep(0)
    assert not running.done()
    running.cancel()
    assert told == []
    assert watched.peak_bytes > 1 << 20
