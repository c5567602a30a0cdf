"""The watchdog of a sandbox, on a process that only waits in the place of one."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_codeagent.sandbox.local.watch.watchdog import Watchdog
from jupyter_codeagent.types.sandbox import SandboxPolicy


@pytest.fixture
def process() -> Iterator[int]:
    """Its files are its own: this process has those of all tests before."""
    waiting = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", waiting], stdin=PIPE, stdout=PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started.pid
        started.kill()


def watchdog(told: list[str], process: int, scratch: Path, **limits: int) -> Watchdog:
    provisioner: Any = SimpleNamespace(level="landlock", outer_pid=process, inner_pid=None)
    return Watchdog(
        cast("Any", provisioner),
        SandboxPolicy(
            levels=("landlock",),
            **cast("Any", limits),
        ),
        scratch=scratch,
        is_busy=lambda: False,
        on_limit_exceeded=told.append,
        on_cpu_limit=told.append,
    )


@pytest.mark.anyio
async def test_memory_over_the_limit_is_told_once_when_a_short_execution_ends_between_two_measurements(
    process: int, tmp_path: Path
) -> None:
    told: list[str] = []
    watched = watchdog(told, process, tmp_path, memory_bytes=1 << 20)
    watched.measure()
    watched.measure()
    async with asyncio.timeout(5):
        await watched.run()
    (line,) = told
    assert line.endswith("of memory, the limit is 1 MiB")


@pytest.mark.anyio
async def test_within_its_limits_a_sandbox_is_watched_on(process: int, tmp_path: Path) -> None:
    told: list[str] = []
    watched = watchdog(told, process, tmp_path)
    watched.wake(math.inf)
    running = asyncio.create_task(watched.run())
    await asyncio.sleep(0)
    assert not running.done()
    running.cancel()
    assert told == []
    assert watched.peak_bytes > 1 << 20
