"""kill -9 at any moment of a run, of any process in it: what was shown is recorded, nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from endurance.questions import (
    ENDED,
    SLOW_SUM,
    assert_answers,
    assert_recorded,
    assert_sane,
    ended,
    kernel_in,
    moments,
    pid_of,
    read_history,
    seen,
    settled_files,
    shown_in,
    slow_model,
)
from endurance.traces import Quarters, eventually, inner_processes, owned
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager
from kernel_client import SETUP, Kernel
from lab_server import Lab, running_lab
from model_server import ModelServer, code

from jupyter_codeagent.frontend.insertion import CELLS_MIME
from jupyter_codeagent.models.embedded.launcher import SERVER_MODULE, start_embedded, stop_embedded
from jupyter_codeagent.models.embedded.state import all_states, is_alive, state_directory
from jupyter_codeagent.sandbox.local.walls.layout import remove_abandoned
from jupyter_codeagent.settings.settings import ModelSettings

TESTS = Path(__file__).parents[1]
LOAD_S = 0.5
"""Of the stand-in for llama.cpp, about as long as one of its replies."""
FILES_SLACK = 3
"""Connections that the HTTP client keeps open between two readings come and go."""


@pytest.mark.long("takes its time")
def test_a_run_whose_kernel_is_killed_is_in_the_history_and_the_next_kernel_cleans_up(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, rounds: int, chance: Random
) -> None:
    slow_model(model_server)
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    left: set[Path] = set()
    for number, moment in enumerate(moments(rounds, chance)):
        with kernel_in(tmp_path, environment) as kernel:
            duration_s = assert_answers(kernel, f"before {number}")
            assert_swept(left)
            question = f"killed {number}"
            kernel.client.execute(f"%%agent\n{question}")
            time.sleep(moment * duration_s)
            left = owned(pid_of(kernel))
            assert left, "the kernel holds its directories"
            kernel.signal(signal.SIGKILL)
            kernel.manager.shutdown_kernel(now=True)
            shown = shown_in(seen(kernel.client))
        quarters.assert_dead()
        left |= quarters.directories()
        assert_recorded(read_history(tmp_path / "data"), question, shown)
    with kernel_in(tmp_path, environment) as kernel:
        assert_answers(kernel, "at the end")
        assert_swept(left)
    quarters.assert_empty()
    assert len(read_history(tmp_path / "data")) >= rounds + 1


def assert_swept(left: set[Path]) -> None:
    """What an earlier kernel left was removed by the start of the present one."""
    assert not [path for path in left if path.exists()]


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_sandbox_that_is_killed_is_replaced(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, rounds: int, chance: Random
) -> None:
    slow_model(model_server)
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    with kernel_in(tmp_path, environment) as kernel:
        assert_answers(kernel, "warm up")
        files = settled_files(kernel)
        for number, moment in enumerate(moments(rounds, chance)):
            duration_s = assert_answers(kernel, f"before {number}")
            in_use, spare = inner_processes(pid_of(kernel))
            victims = [[in_use], [in_use, spare], [spare]][number % 3]
            message_id = kernel.client.execute(f"%%agent\nkilled {number}", allow_stdin=False)
            time.sleep(moment * duration_s)
            for pid in victims:
                os.kill(pid, signal.SIGKILL)
            assert_sane(ended(kernel, message_id))
            assert_answers(kernel, f"after {number}", "--new")  # takes the spare and has another one started
            assert eventually(lambda: len(inner_processes(pid_of(kernel))) == 2)
            assert len(quarters.directories()) == 2
        assert settled_files(kernel) <= files + FILES_SLACK
        assert len(owned(pid_of(kernel))) == 3, "the copies and two sandboxes"
    quarters.assert_empty()
    runs = read_history(tmp_path / "data")
    assert len(runs) == 1 + 3 * rounds
    assert {run.status for run in runs} <= {"ok", "failed"}


@pytest.mark.long("takes its time")
def test_a_killed_server_takes_all_along_and_a_new_one_reads_the_history_without_a_kernel(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, rounds: int, chance: Random
) -> None:
    slow_model(model_server)
    data = tmp_path / "data"
    environment = {
        "CODEAGENT_BASE_URL": model_server.url,
        "JUPYTER_DATA_DIR": str(data),
        **quarters.environment,
    }
    left: set[Path] = set()
    begun: list[str] = []
    """Questions of killed runs whose first step was shown."""
    for number, moment in enumerate([*moments(rounds, chance), None]):
        with running_lab(tmp_path / f"server {number}", environment) as lab:
            listed = lab.request("/jupyter-codeagent/runs?limit=1000")["runs"]
            assert {run["status"] for run in listed} <= set(ENDED)
            assert set(begun) <= {run["prompt"] for run in listed}
            with kernel_of(lab) as kernel:
                duration_s = assert_answers(kernel, f"before {number}")
                assert_swept(left)
                if moment is None:  # this one lives
                    continue
                kernel.client.execute(f"%%agent\nkilled {number}", allow_stdin=False)
                time.sleep(moment * duration_s)
                left = set().union(*map(owned, quarters.processes()))
                assert left, "the kernel holds its directories"
                lab.process.kill()
                shown = shown_in(seen(kernel.client))
        quarters.assert_dead()
        left |= quarters.directories()
        assert_recorded(read_history(data), f"killed {number}", shown)
        begun += [f"killed {number}"] * bool(shown.steps)
    quarters.assert_empty()


@contextmanager
def kernel_of(lab: Lab) -> Iterator[Kernel]:
    """A kernel of the server's, with `df` and the extension, as a page would drive it."""
    kernel_id = lab.start_session("notebook.ipynb")
    client = BlockingKernelClient()
    client.load_connection_file(str(Path(lab.environment["JUPYTER_RUNTIME_DIR"]) / f"kernel-{kernel_id}.json"))
    client.start_channels()
    try:
        assert eventually(lambda: is_ready(client), within_s=60)
        kernel = Kernel(client=client, manager=KernelManager())  # a manager of nothing: the server has the kernel
        assert kernel.run(f"{SETUP}\n%load_ext jupyter_codeagent").error == ""
        yield kernel
    finally:
        client.stop_channels()


def is_ready(client: BlockingKernelClient) -> bool:
    """Without a manager the client believes its heartbeat alone, and takes a slow start for a death."""
    try:
        client.wait_for_ready(timeout=60)
    except RuntimeError:
        return False
    return True


@pytest.mark.long("takes its time")
def test_an_embedded_model_that_is_killed_is_started_again(
    tmp_path: Path, quarters: Quarters, rounds: int, chance: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    weights = tmp_path / "own.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(state))
    for variable in ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    environment = {
        "PYTHONPATH": f"{TESTS / 'fake_llama'}:{TESTS.parent}",
        "GGML_FAKE_LOAD_S": str(LOAD_S),
        "GGML_FAKE_REPLY": SLOW_SUM,
        "GGML_FAKE_REPLY_S": "0.4",
        **quarters.environment,
    }
    settings = ("discover = False", f"weights = {str(weights)!r}")
    with kernel_in(tmp_path, environment, *settings) as kernel:
        assert_answers(kernel, "warm up")
        files = settled_files(kernel)
        for number, moment in enumerate(moments(rounds, chance)):
            duration_s = assert_answers(kernel, f"before {number}")
            if number % 2:  # this time while it loads
                kill_model(state)
            message_id = kernel.client.execute(f"%%agent\nkilled {number}", allow_stdin=False)
            time.sleep(moment * (duration_s + LOAD_S * (number % 2)))
            kill_model(state)
            assert_sane(ended(kernel, message_id))
            assert_answers(kernel, f"after {number}")
            assert len(list(state.glob("*.json"))) == 1
        assert settled_files(kernel) <= files + FILES_SLACK
    assert [pid for pid, command in quarters.processes().items() if SERVER_MODULE in command]
    assert stop_embedded()
    quarters.assert_empty()
    assert not [file.name for file in state.iterdir() if file.suffix not in (".log", ".lock")]
    runs = read_history(tmp_path / "data")
    assert len(runs) == 1 + 3 * rounds
    assert {run.status for run in runs} <= {"ok", "failed"}


def kill_model(state: Path) -> None:
    """The process that the state file names, loading or not, if it lives."""
    for _, written in all_states(state):
        if is_alive(written):
            os.kill(written.pid, signal.SIGKILL)


def test_the_key_of_an_embedded_model_that_was_killed_while_it_wrote_it_is_removed_by_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PYTHONPATH", f"{TESTS / 'fake_llama'}{os.pathsep}{TESTS.parent}")
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended_process:
        pass
    dead, living = (
        state_directory() / f"server-0123456789abcdef.{pid}.new" for pid in (ended_process.pid, os.getpid())
    )
    for file in (dead, living):
        file.write_text("a key")
        os.utime(file, (0, 0))
    try:
        asyncio.run(start_embedded(ModelSettings(weights=str(tmp_path / "own.gguf"))))
        assert not dead.exists()
        assert living.exists(), "it may still be writing"
    finally:
        stop_embedded()


KILLED_BEHIND = """
import asyncio, os, signal
from jupyter_codeagent.frontend.insertion import HeadlessInserter

_insert = HeadlessInserter.insert


async def insert_and_die(self, *where, **named):
    await _insert(self, *where, **named)
    await asyncio.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)


HeadlessInserter.insert = insert_and_die
"""


@pytest.mark.long("takes its time")
def test_cells_that_were_placed_stay_pending_when_the_kernel_is_killed_right_behind_them(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer
) -> None:
    environment = {"CODEAGENT_BASE_URL": model_server.url, "CODEAGENT_HEADLESS": "1", **quarters.environment}
    model_server.script(code("made_by_the_model = 5\nmade_by_the_model"), "x")
    with kernel_in(tmp_path, environment) as kernel:
        assert kernel.run(KILLED_BEHIND).error == ""
        kernel.client.execute("%%agent\nthe question", allow_stdin=False)
        placed = cells_placed(kernel)
        kernel.manager.shutdown_kernel(now=True)
    with kernel_in(tmp_path, environment) as kernel:
        ran = kernel.run(placed[0]["source"], cell_id=placed[0]["id"])
        assert ran.error == ""
        assert "False" in kernel.run("print('made_by_the_model' in globals())").text
        assert "Pending" in ran.text
    quarters.assert_empty()


def cells_placed(kernel: Kernel) -> list[dict[str, Any]]:
    """What a run has inserted into the notebook."""
    while True:
        data = kernel.client.get_iopub_msg(timeout=60)["content"].get("data", {})
        if CELLS_MIME in data:
            return list(data[CELLS_MIME]["cells"])


REMOVE_AND_DIE = """
import os, signal, sys, tempfile
from jupyter_codeagent.sandbox.local.walls.layout import PrivateDirectory

tempfile.tempdir = sys.argv[1]
left = 0


def die_in_time(event, arguments):
    global left
    if event in ("os.remove", "os.rmdir"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(die_in_time)
for removed in range(1, 100):
    made = PrivateDirectory.create()
    for directory in (made.connection, made.scratch, made.scratch / "deeper"):
        directory.mkdir(exist_ok=True)
        (directory / "file").touch()
    if not (remover := os.fork()):
        left = removed
        made.remove()
        os._exit(0)
    os.close(made.lock_fd)
    if os.waitpid(remover, 0)[1] == 0:
        break
    names = os.listdir(made.root)
    print(len(names), "in-use" in names)
"""
"""A fork is killed before the first thing that it removes, the second …; how much is left, and is the lock?"""


def test_what_a_killed_removal_has_left_goes_with_the_next_one(quarters: Quarters) -> None:
    command = [sys.executable, "-c", REMOVE_AND_DIE, str(quarters.root)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=TESTS.parent)
    left = [line.split() for line in done.stdout.splitlines()]
    assert len(left) > 5, "it was killed in the middle"
    assert all(owned == "True" for entries, owned in left if int(entries))
    remove_abandoned(quarters.root)
    assert not [path for path in quarters.directories() if any(path.iterdir())]
