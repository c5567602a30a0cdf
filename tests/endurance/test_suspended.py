"""A laptop that is closed in the middle of a run: SIGSTOP for longer than every limit, SIGCONT, and all goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from endurance.questions import (
    assert_answers,
    assert_sane,
    ended,
    kernel_in,
    moments,
    pid_of,
    read_history,
    settled_files,
    slow_model,
)
from endurance.traces import Quarters, eventually, inner_processes, tree
from kernel_client import Kernel
from model_server import ModelServer, Reply, code

LIMIT_S = 1.5
"""For the model's next word and for one execution."""
SUSPENDED_S = 3.0
FILES_SLACK = 3


@pytest.fixture
def impatient(tmp_path: Path, quarters: Quarters, model_server: ModelServer) -> Iterator[Kernel]:
    """A kernel with short limits that has answered a question, and leaves nothing when it ends."""
    slow_model(model_server)
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    with kernel_in(tmp_path, environment, f"read_timeout_s = {LIMIT_S}", f"timeout_s = {LIMIT_S}") as kernel:
        assert_answers(kernel, "warm up")
        files = settled_files(kernel)
        yield kernel
        assert_answers(kernel, "in the end", "--new")
        assert settled_files(kernel) <= files + FILES_SLACK
    quarters.assert_empty()
    assert {run.status for run in read_history(tmp_path / "data")} <= {"ok", "failed"}


@contextmanager
def suspended(pids: Sequence[int]) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in reversed(pids):
            if Path(f"/proc/{pid}").exists():
                os.kill(pid, signal.SIGCONT)


def everything(kernel: Kernel) -> list[int]:
    return tree(pid_of(kernel))


def kernel_alone(kernel: Kernel) -> list[int]:
    return [pid_of(kernel)]


def sandboxes(kernel: Kernel) -> list[int]:
    """All of their processes, of the spare too."""
    return tree(pid_of(kernel))[1:]


WHO: tuple[Callable[[Kernel], list[int]], ...] = (everything, kernel_alone, sandboxes)


@pytest.mark.long("takes its time")
def test_a_run_that_is_suspended_for_longer_than_its_limits_ends_with_a_result_or_one_line(
    impatient: Kernel, rounds: int, chance: Random
) -> None:
    for number, moment in enumerate(moments(rounds, chance)):
        who = WHO[number % len(WHO)]
        duration_s = assert_answers(impatient, f"before {number}")
        message_id = impatient.client.execute(f"%%agent\nsuspended {number}", allow_stdin=False)
        time.sleep(moment * duration_s)
        with suspended(who(impatient)):
            time.sleep(SUSPENDED_S)
        assert_sane(ended(impatient, message_id))
        assert_answers(impatient, f"after {number}")


@pytest.mark.long("takes its time")
def test_a_sandbox_that_stands_still_is_given_up_at_its_limit_and_replaced(
    impatient: Kernel, model_server: ModelServer
) -> None:
    in_use, _ = inner_processes(pid_of(impatient))
    model_server.choose = lambda _: Reply(text=code(f"import time\ntime.sleep({LIMIT_S / 2})\nprint('done')"))
    message_id = impatient.client.execute("%%agent --max-steps 1\nstands still", allow_stdin=False)
    asked = len(model_server.requests)
    assert eventually(lambda: len(model_server.requests) > asked)
    with suspended([in_use]):
        ran = ended(impatient, message_id)
        assert ran.error.startswith("RunFailedError")
        assert f"ran longer than {LIMIT_S:g} s and did not stop" in ran.error
        assert eventually(lambda: in_use not in everything(impatient))
    slow_model(model_server)
    assert_answers(impatient, "after")
