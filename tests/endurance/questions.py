"""Questions whose right answer is known, a model that takes its time over them, and what the user saw of a run."""

from __future__ import annotations

import queue
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from endurance.traces import eventually, inner_processes, open_files
from jupyter_client.blocking.client import BlockingKernelClient
from kernel_client import Kernel, Ran, running_kernel
from model_server import ModelServer, Reply, code

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.types.run import AgentRun

SLOW_SUM = code("import time\ntime.sleep(0.3)\ndf.groupby('city')['n'].sum()")
RIGHT = "Oslo    5"
ENDED = ("ok", "failed", "stopped", "rejected", "interrupted")
ERRORS = ("RunFailedError", "SandboxDiedError", "ModelUnreachableError", "HistoryError", "VariableError")
"""With which a run may end whose sandbox or model was killed: errors of this package, with one line."""


def slow_model(server: ModelServer) -> None:
    """The same code for each question, in a third of a second."""
    server.choose = lambda _: Reply(text=SLOW_SUM, piece_s=0.015)


def moments(rounds: int, chance: Random) -> list[float]:
    """As fractions of a run's duration, from before its beginning is noticed to after its end: one of each part."""
    found = [1.15 * (part + chance.random()) / rounds for part in range(rounds)]
    chance.shuffle(found)
    return found


@contextmanager
def kernel_in(directory: Path, environment: dict[str, str], *settings: str) -> Iterator[Kernel]:
    """A kernel with the extension, from its first run with both sandboxes; `settings` as ``%config`` takes them."""
    # Not forked: its processes are recognised by the environment they were started in.
    with running_kernel(directory, environment, forked=False) as kernel:
        ran = kernel.run(
            "from jupyter_codeagent.sandbox import warm_pool\nwarm_pool.WARM_DELAY_S = 0\ndel warm_pool"
        )
        assert ran.error == ""
        for setting in settings:
            ran = kernel.run(f"get_ipython().run_line_magic('config', {f'CodeAgent.{setting}'!r})")
            assert ran.error == ""
        yield kernel


def pid_of(kernel: Kernel) -> int:
    pid = getattr(kernel.manager.provisioner, "pid", None)
    assert isinstance(pid, int)
    return pid


def assert_answers(kernel: Kernel, question: str, options: str = "") -> float:
    """A question gets its right result; seconds that it took."""
    started = time.monotonic()
    ran = kernel.ask(question, options)
    assert ran.error == ""
    assert RIGHT in ran.text
    return time.monotonic() - started


def assert_sane(ran: Ran) -> None:
    """The right result or one clear line, nothing between."""
    if ran.error:
        assert ran.error.startswith(ERRORS), ran.error
        assert "\n" not in ran.error
        assert "Internal error in jupyter-codeagent" not in ran.error
    else:
        assert RIGHT in ran.text


def seen(client: BlockingKernelClient, quiet_s: float = 0.3) -> str:
    """The text of everything shown that has come, and comes within `quiet_s`, of a kernel that may be dead."""
    texts: list[str] = []
    while True:
        try:
            content = client.get_iopub_msg(timeout=quiet_s)["content"]
        except queue.Empty:
            return "\n".join(texts)
        texts.append(content.get("text", "") or content.get("data", {}).get("text/plain", ""))


def settled_files(kernel: Kernel) -> int:
    """Open files of a kernel with both its sandboxes, once their start is over."""
    assert eventually(lambda: len(inner_processes(pid_of(kernel))) == 2)
    last = -1
    while last != (last := open_files(pid_of(kernel))):
        time.sleep(0.5)
    return last


def ended(kernel: Kernel, message_id: str) -> Ran:
    """The end of a cell under way."""
    ran = Ran()
    while True:
        message = kernel.client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != message_id:
            continue
        content = message["content"]
        if message["msg_type"] == "error":
            ran.error = f"{content['ename']}: {content['evalue']}"
        elif message["msg_type"] == "status" and content["execution_state"] == "idle":
            kernel.client.get_shell_msg(timeout=60)
            return ran
        ran.text += content.get("text", "") or content.get("data", {}).get("text/plain", "") + "\n"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the user of a run was told before it was cut off."""

    steps: int
    result: bool
    receipt: bool


def shown_in(text: str) -> Shown:
    steps = [int(number) for number in re.findall(r"^step (\d+) ·", text, re.MULTILINE)]
    return Shown(steps=max(steps, default=0), result=RIGHT in text, receipt="✓ " in text)


def assert_recorded(runs: Iterable[AgentRun], question: str, shown: Shown) -> None:
    """What was shown of the question's run is in the history."""
    run = next((run for run in runs if run.request.prompt == question), None)
    if run is None:
        assert shown == Shown(steps=0, result=False, receipt=False)
        return
    assert run.status in ENDED
    assert len(run.steps) >= shown.steps
    if shown.result:
        assert any(step.result is not None and RIGHT in str(step.result.outputs) for step in run.steps)
    if shown.receipt:
        assert run.status == "ok"


def read_history(data: Path) -> list[AgentRun]:
    """Every run in a Jupyter data directory, newest first, from a file that SQLite finds in order."""
    path = data / "codeagent" / "history.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with closing(HistoryStore(path)) as history:
        return [history.load(run_id) for run_id in history.ids()]
