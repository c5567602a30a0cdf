"""Calls out of the sandbox: one after the other, several at a time, and a frame of a gigabyte as a result."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.call_host import Host, Limits
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy
from jupyter_codeagent.types.variables import ToolStub

LEVELS: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")
CALLS = 1000
FRAME_BYTES = 1_000_000_000
STUBS = (ToolStub(name="echo", signature="(x)"), ToolStub(name="frame", signature="()"))
PROGRAM = f"""
import time
def seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
echo(0)
print(seconds(lambda: [echo(n) for n in range({CALLS})]), seconds(lambda: tools.map(echo, range({CALLS}))))
"""
BIG = """
import time
started = time.perf_counter()
got = frame()
came_s = time.perf_counter() - started
total = int(got.n.sum())
print(came_s, time.perf_counter() - started, got.memory_usage().sum())
"""


def run() -> dict[str, Any]:
    """By level: milliseconds of a call, calls in a second by `tools.map`, GB/s of a large result.

    Then the same with all that stands behind the channel: the broker, and the main thread of a kernel that waits.
    """
    found: dict[str, Any] = {}
    for level in LEVELS:
        try:
            found[level] = asyncio.run(_measure(level))
        except SandboxUnavailableError as problem:
            found[level] = {"skipped": str(problem)}
    background = BackgroundLoop()
    try:
        found["whole"] = background.run(_through_the_broker(background))
    finally:
        background.close()
    found["goals"] = {f"{level}.call_ms": "< 1" for level in LEVELS}
    found["goals"] |= {"whole.call_ms": "< 1", "whole.mapped_calls_s": ">= 1000"}
    found["goals"] |= {f"{level}.mapped_calls_s": ">= 1000" for level in LEVELS}
    return found


async def _measure(level: SandboxLevel) -> dict[str, float]:
    big = pd.DataFrame({"n": np.arange(FRAME_BYTES // 8)})
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        spool = Spool(Path(directory), max_bytes=2 * FRAME_BYTES)

        async def answer(request: CallRequest) -> CallAnswer:
            if request.name == "frame":
                return CallAnswer(copy=spool.write("frame()", big, 2 * FRAME_BYTES))
            arguments, _ = unpack(request.arguments, max_bytes=1 << 20)
            return CallAnswer(value=arguments["x"])

        policy = SandboxPolicy(levels=(level,), memory_bytes=4 << 30)
        kernel = await SandboxKernel.start(policy=policy, data_dir=Path(directory), preload=["pandas"])
        try:
            await kernel.offer(STUBS)
            one_by_one_s, mapped_s = await _printed(kernel, PROGRAM, answer)
            came_s, summed_s, size_bytes = await _printed(kernel, BIG, answer)
        finally:
            await kernel.stop()
    return {
        "call_ms": one_by_one_s / CALLS * 1000,
        "mapped_calls_s": CALLS / mapped_s,
        "frame_gb_s": size_bytes / came_s / 1e9,
        "frame_read_gb_s": size_bytes / summed_s / 1e9,
    }


async def _through_the_broker(background: BackgroundLoop) -> dict[str, float]:
    def echo(x: int) -> int:
        return x

    async def never(proposal: Proposal) -> Decision:
        raise RuntimeError(f"nobody is asked about {proposal.code}")

    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        spool = Spool(Path(directory), max_bytes=1 << 20)
        limits = Limits(argument_bytes=1 << 20, result_bytes=1 << 20, calls=4 * CALLS, calls_per_cell=4 * CALLS)
        tool = tool_of(echo, policy="auto")
        broker = ToolCallBroker(
            {"echo": tool},
            run_id="benchmark",
            decide=never,
            host=Host(on_main_thread=background.on_main_thread, on_users_loop=background.run_beside, spool=spool),
            limits=limits,
        )
        kernel = await SandboxKernel.start(policy=SandboxPolicy(), data_dir=Path(directory))
        try:
            await kernel.offer([tool.stub])
            one_by_one_s, mapped_s = await _printed(kernel, PROGRAM, broker.answer)
        finally:
            await kernel.stop()
    return {"call_ms": one_by_one_s / CALLS * 1000, "mapped_calls_s": CALLS / mapped_s}


async def _printed(kernel: SandboxKernel, program: str, answer: Any) -> list[float]:
    result = await kernel.execute(program, timeout_s=120, on_call=answer)
    if result.status != "ok":
        raise RuntimeError(f"the program of the benchmark failed: {result.error or result.reason}")
    return [
        float(word)
        for output in result.outputs
        if output["output_type"] == "stream"
        for word in output["text"].split()
    ]
