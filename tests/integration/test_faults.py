"""Whatever goes wrong: one clear line, the run in the history, live variables as they were, the next run works."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_client import Kernel, running_kernel
from model_server import ModelServer, Reply, code

SUM = code("df.groupby('city')['n'].sum()")
FINGERPRINT = "import hashlib, pickle; print('FP', hashlib.sha256(pickle.dumps(df)).hexdigest())"
LAST_RUN = (
    "from jupyter_codeagent.history import HistoryStore\n"
    "_store = HistoryStore(); _found = _store.search(limit=1)[1]\n"
    "print('LAST', _found[0].status, _found[0].prompt); _store.close()"
)


def assert_harmless(kernel: Kernel, server: ModelServer, before: str, status: str = "failed") -> None:
    """The fault is in the history, the variables are what they were, and the next question is answered."""
    assert kernel.run(FINGERPRINT).text == before
    assert f"LAST {status} the question" in kernel.run(LAST_RUN).text
    server.script(SUM, "x")
    after = kernel.ask("the question after", "--rerun")
    assert after.error == ""
    assert "Oslo    5" in after.text


@pytest.mark.long("another case of what a test beside it proves")
def test_a_fault_of_the_server_is_one_line(kernel: Kernel, model_server: ModelServer) -> None:
    before = kernel.run(FINGERPRINT).text
    for reply, told in (
        (Reply(status=401), "401"),
        (Reply(status=404), "404"),
        (Reply(status=429), "429"),
        (Reply(status=500), "500"),
        (Reply(text=SUM, drop_after=3), "cut"),
        (Reply(html=True), "HTML"),
        (Reply(text=""), "empty"),
    ):
        model_server.script(reply)
        ran = kernel.ask("the question")
        assert told.lower() in ran.error.lower()
        assert "\n" not in ran.error
        assert "secret-key-of-the-user" not in ran.error
        assert_harmless(kernel, model_server, before)


@pytest.mark.long("another case of what a test beside it proves")
def test_a_server_that_hangs_is_given_up_after_the_limit(tmp_path: Path, model_server: ModelServer) -> None:
    model_server.script(Reply(hang=True))
    with running_kernel(tmp_path, {"CODEAGENT_BASE_URL": model_server.url}) as kernel:
        kernel.run("get_ipython().run_line_magic('config', 'CodeAgent.read_timeout_s = 1')")
        before = kernel.run(FINGERPRINT).text
        started = time.monotonic()
        ran = kernel.ask("the question")
        assert "1 s" in ran.error
        assert time.monotonic() - started < 15
        assert_harmless(kernel, model_server, before)


@pytest.mark.long("another case of what a test beside it proves")
def test_a_server_that_is_down_is_named_with_what_to_do(tmp_path: Path, model_server: ModelServer) -> None:
    with running_kernel(tmp_path, {"CODEAGENT_BASE_URL": "http://127.0.0.1:9/v1"}) as kernel:
        ran = kernel.ask("the question")
        assert "127.0.0.1:9" in ran.error
        assert "\n" not in ran.error
        assert "LAST failed the question" in kernel.run(LAST_RUN).text
        kernel.run(f"import os; os.environ['CODEAGENT_BASE_URL'] = {model_server.url!r}")
        model_server.script(SUM, "x")
        assert kernel.ask("the question after").error == ""


@pytest.mark.long("another case of what a test beside it proves")
def test_replies_without_code_end_with_a_clear_line(kernel: Kernel, model_server: ModelServer) -> None:
    before = kernel.run(FINGERPRINT).text
    model_server.script("I am sorry, I cannot do that.")
    ran = kernel.ask("the question")
    assert ran.error.startswith("RunFailedError")
    assert "no code" in ran.error
    assert_harmless(kernel, model_server, before)


@pytest.mark.long("another case of what a test beside it proves")
def test_too_large_a_variable_is_named_with_the_limit(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(
        "get_ipython().run_line_magic('config', 'CodeAgent.max_transfer_mb = 1')\n%reload_ext jupyter_codeagent"
    )
    kernel.run("import numpy as np; big = np.zeros(1 << 20)")
    model_server.script(SUM)
    ran = kernel.ask("the question", "--vars big")
    assert "'big' is too large" in ran.error
    assert "1 MiB" in ran.error
    assert model_server.requests == []


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("while True: pass", "after 2 s, the limit"),
        ("import os\nwhile True: os.fork()", "not permitted"),
        ("x = []\nwhile True: x.append(b'x' * (64 << 20))", "memory"),
        ("f = open('/tmp/fill', 'wb')\nwhile True: f.write(bytes(16 << 20))", "No space left"),
        ("import os\nos._exit(7)", "its process ended"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "its process ended"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
    ],
    ids=["endless loop", "fork bomb", "memory", "disk", "os._exit", "kill", "sys.exit"],
)
@pytest.mark.long_except(
    "endless loop", "memory", "kill", why="a kernel for each; see tests/sandbox for the attacks"
)
def test_code_that_attacks_the_sandbox_ends_with_one_line(
    kernel: Kernel, model_server: ModelServer, source: str, told: str
) -> None:
    before = kernel.run(FINGERPRINT).text
    model_server.script(code(source))
    ran = kernel.ask("the question", f"--timeout {2 if 'pass' in source else 30} --max-steps 1")
    assert ran.error.startswith("RunFailedError")
    assert told.lower() in ran.error.lower()
    assert "\n" not in ran.error
    assert_harmless(kernel, model_server, before)


@pytest.mark.long("another case of what a test beside it proves")
def test_a_flood_of_output_is_cut_and_says_so(kernel: Kernel, model_server: ModelServer) -> None:
    before = kernel.run(FINGERPRINT).text
    model_server.script(code("for i in range(10**9): print('flood ' * 100)"))
    ran = kernel.ask("the question", "--timeout 30 --max-steps 1")
    assert "its output exceeded the limit of 4 MiB" in ran.error
    assert len(ran.text) < 20 << 20
    assert_harmless(kernel, model_server, before)


def interrupt_when(kernel: Kernel, condition: object, after_s: float = 0.3) -> threading.Thread:
    """Press Stop once the condition holds."""

    def press() -> None:
        deadline = time.monotonic() + 20
        while not condition() and time.monotonic() < deadline:  # type: ignore[operator]
            time.sleep(0.02)
        time.sleep(after_s)  # into the stage
        kernel.signal(signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    return thread


@pytest.mark.alone
@pytest.mark.parametrize("stage", ["model", "sandbox"])
def test_an_interrupt_stops_within_a_second_and_the_next_run_works(
    kernel: Kernel, model_server: ModelServer, stage: str
) -> None:
    model_server.script(SUM, "x")
    assert kernel.ask("warm up").error == ""
    before = kernel.run(FINGERPRINT).text
    slow_model = Reply(text="word " * 2000, piece_s=0.05)
    slow_code = code("import time\nmade_before = 1\ntime.sleep(60)")
    model_server.script(slow_model if stage == "model" else slow_code)
    pressed: list[float] = []

    def reached() -> bool:
        if model_server.requests:
            pressed.append(time.monotonic())
        return bool(pressed)

    thread = interrupt_when(kernel, reached, after_s=0.8)
    ran = kernel.ask("the question")
    stopped_after_s = time.monotonic() - pressed[-1] - 0.8
    thread.join()
    assert ran.error.startswith("StoppedError")
    assert stopped_after_s < 2.5  # a second, and room for a busy machine
    assert_harmless(kernel, model_server, before, "stopped")


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_interrupt_while_waiting_for_a_decision_runs_nothing(kernel: Kernel, model_server: ModelServer) -> None:
    before = kernel.run(FINGERPRINT).text
    model_server.script(code("print('ran' + ' here')"))
    asked = kernel.client.execute("%%agent --approve ask\nthe question", allow_stdin=True, stop_on_error=False)
    kernel.client.get_stdin_msg(timeout=30)
    kernel.signal(signal.SIGINT)
    reply = kernel.client.get_shell_msg(timeout=10)
    assert reply["parent_header"]["msg_id"] == asked
    assert reply["content"]["ename"] == "StoppedError"
    assert_harmless(kernel, model_server, before, "stopped")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_run_whose_kernel_was_killed_is_in_the_history_as_interrupted(
    tmp_path: Path, model_server: ModelServer
) -> None:
    environment = {"CODEAGENT_BASE_URL": model_server.url}
    model_server.script(code("import time\ntime.sleep(60)"))
    with running_kernel(tmp_path, environment) as kernel:
        kernel.client.execute("%%agent\nthe question")
        deadline = time.monotonic() + 30
        while not model_server.requests and time.monotonic() < deadline:
            time.sleep(0.05)
        kernel.signal(signal.SIGKILL)
        kernel.manager.shutdown_kernel(now=True)
    with running_kernel(tmp_path, environment) as kernel:
        assert "LAST interrupted the question" in kernel.run(LAST_RUN).text
        model_server.script(SUM, "x")
        assert kernel.ask("the question after").error == ""


@pytest.fixture
def unconfined(tmp_path: Path, model_server: ModelServer) -> Iterator[Kernel]:
    """A kernel whose sandbox levels are all said to be missing."""
    environment = {"CODEAGENT_BASE_URL": model_server.url}
    with running_kernel(tmp_path, environment) as kernel:
        kernel.run("get_ipython().run_line_magic('config', \"CodeAgent.sandbox = 'bubblewrap'\")")
        kernel.run("import shutil; shutil.which = lambda *_, **__: None")
        kernel.run("%reload_ext jupyter_codeagent")
        yield kernel


def test_without_a_sandbox_nothing_is_run_and_the_line_says_what_to_do(
    unconfined: Kernel, model_server: ModelServer
) -> None:
    model_server.script(SUM)
    ran = unconfined.ask("the question")
    assert "bubblewrap" in ran.error
    assert "\n" not in ran.error
    assert "Oslo    5" not in ran.text
    record = unconfined.run(LAST_RUN).text
    assert "LAST failed the question" in record


@pytest.mark.long("another situation of what a test beside it proves")
def test_sandbox_none_is_taken_only_from_the_configuration_and_warns_on_every_receipt(
    tmp_path: Path, model_server: ModelServer
) -> None:
    model_server.script(SUM, "x")
    with running_kernel(tmp_path, {"CODEAGENT_BASE_URL": model_server.url}) as kernel:
        assert "--sandbox" in kernel.ask("the question", "--sandbox none").error
        kernel.run("get_ipython().run_line_magic('config', \"CodeAgent.sandbox = 'none'\")")
        for _ in range(2):
            assert "NOT ISOLATED" in json.dumps(kernel.ask("the question", "--rerun").data)
