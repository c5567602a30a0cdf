"""Memory of an idle user: kernel, sandbox and spare, the model, one of their own or one that all users share.

Proportional set sizes: what processes share counts once, split among them. Two kernels, as two users have them, so
that what the second adds is seen; libraries are shared by all users of an environment.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient

from benchmarks.kernel import MARK, measure, running_kernel
from benchmarks.overhead import recording
from jupyter_codeagent.models.embedded.launcher import start_embedded, stop_embedded
from jupyter_codeagent.settings.settings import ModelSettings

USERS = 2
IDLE_S = 8
"""After it the spare sandbox is there."""
MIB = 1 << 20
LIBRARIES = f"""
import json, os
import pandas as pd
big = pd.DataFrame({{"city": ["Oslo", "Rome"] * 50, "n": range(100)}})
print({MARK!r} + json.dumps(os.getpid()))
"""
EXTENSION = f"""
get_ipython().run_line_magic("load_ext", "jupyter_codeagent")
get_ipython().run_cell_magic("agent", "--base-url URL --model bench", "How many rows has big?")
print({MARK!r} + json.dumps(os.getpid()))
"""


def run() -> dict[str, Any]:
    """MiB of one user, the mean of two, each of whom has asked a question about a small frame."""
    with ExitStack() as stack:
        url = stack.enter_context(recording())
        clients = [stack.enter_context(running_kernel()) for _ in range(USERS)]
        pids = [_measured(client, LIBRARIES) for client in clients]
        plain = _mean(pids)
        for client in clients:
            _measured(client, EXTENSION.replace("URL", url))
        time.sleep(IDLE_S)
        kernels = _mean(pids)
        sandboxes = sum(map(pss, (pid for one in pids for pid in below(one)))) / USERS / MIB
    model = _model_mib()
    user = kernels + sandboxes
    return {
        "kernel_with_pandas_mib": plain,
        "kernel_mib": kernels,
        "sandbox_and_spare_mib": sandboxes,
        "model_mib": model,
        "own_model_mib": user + model,
        **{f"shared_model_{count}_users_mib": user + model / count for count in (10, 30)},
        "load_average": os.getloadavg()[0],
    }


def _measured(client: BlockingKernelClient, code: str) -> int:
    return int(measure(client, code))


def _mean(pids: list[int]) -> float:
    return sum(map(pss, pids)) / len(pids) / MIB


def _model_mib() -> float:
    server = asyncio.run(start_embedded(ModelSettings()))
    try:
        return pss(server.pid) / MIB
    finally:
        stop_embedded()


def pss(pid: int) -> int:
    """Proportional set size in bytes; root can read that of every process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def below(pid: int) -> Iterator[int]:
    """Yield all descendants of a process."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text(encoding="ascii").split()):
            yield child
            yield from below(child)
