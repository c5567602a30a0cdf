"""The clock on the wall is set in the middle of a run: limits are kept, nothing ends early, nothing is lost."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from endurance.questions import (
    RIGHT,
    assert_answers,
    ended,
    kernel_in,
    pid_of,
    read_history,
    settled_files,
    slow_model,
)
from endurance.traces import Quarters, eventually, owned, quarters_below
from kernel_client import Kernel
from model_server import ModelServer, code, serving

import jupyter_codeagent
from jupyter_codeagent.models.embedded.launcher import start_embedded, stop_embedded
from jupyter_codeagent.models.embedded.state import process_started
from jupyter_codeagent.settings.settings import ModelSettings

pytestmark = pytest.mark.xdist_group("clock")

TESTS = Path(__file__).parents[1]
PACKAGE = Path(jupyter_codeagent.__file__).parent
DAY_S = 86_400
JUMPS_S = (-DAY_S, DAY_S)
IDLE_S = 3.0

CLOCK = """
import os, time

_real, _file = time.time, os.environ["PYTHON_CLOCK_OFFSET"]


def _time():
    with open(_file) as file:
        return _real() + float(file.read())


time.time = _time
"""
"""`sitecustomize` outside the sandbox. Of all variables the embedded server gets those that begin with PYTHON."""


class Clock:
    """What is added to `time.time` in the processes with this environment, in seconds; can be set at any time."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir()
        (directory / "sitecustomize.py").write_text(CLOCK)
        self._file = directory / "offset"
        self.set(0)
        path = os.pathsep.join((str(directory), str(TESTS / "fake_llama"), str(TESTS.parent)))
        self.environment = {"PYTHONPATH": path, "PYTHON_CLOCK_OFFSET": str(self._file)}

    def set(self, offset_s: float) -> None:
        written = self._file.with_suffix(".new")
        written.write_text(str(offset_s))
        os.replace(written, self._file)


@dataclass(frozen=True, kw_only=True)
class Clocked:
    """A kernel under a clock, with what it was started with."""

    kernel: Kernel
    clock: Clock
    server: ModelServer
    quarters: Quarters
    environment: dict[str, str]
    base: Path


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clocked]:
    """One kernel for all tests; it leaves nothing when it ends."""
    base = tmp_path_factory.mktemp("clocked")
    clock = Clock(base / "clock")
    with serving() as server, quarters_below(Path("/tmp")) as quarters:
        slow_model(server)
        environment = {"CODEAGENT_BASE_URL": server.url, **quarters.environment, **clock.environment}
        with kernel_in(base, environment) as kernel:
            now = float(kernel.run("import time; print(time.time())").text)
            clock.set(DAY_S)
            assert float(kernel.run("print(time.time())").text) >= now + DAY_S, "the clock is in force"
            yield Clocked(
                kernel=kernel, clock=clock, server=server, quarters=quarters, environment=environment, base=base
            )
        quarters.assert_empty()


@pytest.fixture
def clocked(started: Clocked) -> Iterator[Clocked]:
    """The right time and the usual model again; a question was answered before the test and is after it."""
    started.clock.set(0)
    slow_model(started.server)
    assert_answers(started.kernel, "before")
    yield started
    slow_model(started.server)
    assert_answers(started.kernel, "after")


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_a_run_goes_on_when_the_clock_is_set(clocked: Clocked, jump_s: float) -> None:
    duration_s = assert_answers(clocked.kernel, "how long it takes")
    for part in (0.2, 0.5, 0.8):
        clocked.clock.set(0)
        message_id = clocked.kernel.client.execute(f"%%agent\nat {part}", allow_stdin=False)
        time.sleep(part * duration_s)
        clocked.clock.set(jump_s)
        ran = ended(clocked.kernel, message_id)
        assert ran.error == ""
        assert RIGHT in ran.text


@pytest.mark.parametrize("jump_s", JUMPS_S)
def test_the_limit_of_an_execution_holds_when_the_clock_is_set(clocked: Clocked, jump_s: float) -> None:
    clocked.server.choose = None
    clocked.server.script(code("while True: pass"))
    started = time.monotonic()
    message_id = clocked.kernel.client.execute("%%agent --timeout 2 --max-steps 1\nendless", allow_stdin=False)
    assert eventually(lambda: clocked.server.requests)
    clocked.clock.set(jump_s)
    ran = ended(clocked.kernel, message_id)
    assert "after 2 s, the limit" in ran.error
    assert 2 < time.monotonic() - started < 20


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_a_decision_is_waited_for_as_long_as_it_was_said_when_the_clock_is_set(
    clocked: Clocked, jump_s: float
) -> None:
    limit_s = 60.0  # a card is tried first, which takes seconds
    clocked.kernel.run(f"get_ipython().run_line_magic('config', 'CodeAgent.approval_timeout_s = {limit_s}')")
    started = time.monotonic()
    message_id = clocked.kernel.client.execute("%%agent --approve ask --new\nmay I?", allow_stdin=True)
    clocked.kernel.client.get_stdin_msg(timeout=limit_s)
    clocked.clock.set(jump_s)
    clocked.kernel.client.input("y")
    assert RIGHT in ended(clocked.kernel, message_id).text
    assert time.monotonic() - started < limit_s


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_runs_are_listed_as_they_were_asked_when_the_clock_was_set_between_them(
    clocked: Clocked, jump_s: float
) -> None:
    for number, offset_s in enumerate((0.0, jump_s, 0.0)):
        clocked.clock.set(offset_s)
        assert_answers(clocked.kernel, f"number {number}")
    asked = [run.request.prompt for run in read_history(clocked.base / "data")]
    assert asked[:4] == ["number 2", "number 1", "number 0", "before"]


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_a_receipt_tells_how_long_the_run_took_whatever_the_clock_says(clocked: Clocked, jump_s: float) -> None:
    message_id = clocked.kernel.client.execute("%%agent\nhow long", allow_stdin=False)
    time.sleep(0.4)
    clocked.clock.set(jump_s)
    shown = re.findall(r"^✓ (\d+\.\d) s · ", ended(clocked.kernel, message_id).text, re.MULTILINE)
    assert len(shown) == 1
    assert 0.3 < float(shown[0]) < 60


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_a_kernel_that_starts_under_another_clock_removes_nothing_of_one_that_lives(
    clocked: Clocked, tmp_path: Path, jump_s: float
) -> None:
    settled_files(clocked.kernel)
    mine = owned(pid_of(clocked.kernel))
    assert len(mine) == 3
    clocked.clock.set(jump_s)
    with kernel_in(tmp_path, clocked.environment) as second:
        assert_answers(second, "in the other kernel")
        assert all(path.is_dir() for path in mine)


@pytest.mark.parametrize("jump_s", JUMPS_S)
@pytest.mark.long("takes its time")
def test_the_embedded_model_ends_itself_after_its_idle_time_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump_s: float
) -> None:
    clock = Clock(tmp_path / "clock")
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    for name, value in clock.environment.items():
        monkeypatch.setenv(name, value)
    settings = ModelSettings(weights=str(tmp_path / "own.gguf"), idle_shutdown_s=IDLE_S)
    try:
        server = asyncio.run(start_embedded(settings))
        started = time.monotonic()
        time.sleep(0.5)
        clock.set(jump_s)
        time.sleep(1.0)  # it looks three times a second
        assert process_started(server.pid), "it did not end with the jump"
        assert eventually(lambda: not process_started(server.pid), within_s=15)
        assert time.monotonic() - started > IDLE_S - 0.5
    finally:
        stop_embedded()


WALL_CLOCK = {
    "agent/ending.py": "when a run ended",
    "entrypoints/cli.py": "the day of a report",
    "entrypoints/kernel_clients/channels.py": "when a message was written",
    "frontend/approvals/approvers.py": "when a person decided",
    "frontend/approvals/gate.py": "when it was decided",
    "frontend/approvals/widgets.py": "when a person decided",
    "frontend/receipt.py": "how long a run took",
    "frontend/panel_proposals.py": "when a person decided",
    "history/store.py": "when a row was written",
    "models/embedded/launcher.py": "the age of a state file of another machine",
    "sandbox/remote/kubectl.py": "a time on another machine, after which nobody misses a Pod",
    "sandbox/owned_directory.py": "the age of a directory that nobody has locked, against its time of modification",
    "session/report_drafts.py": "the day of a report",
    "session/run_request.py": "when a run was started",
    "session/replay.py": "when a run ended",
}
"""Where `time.time` may be asked: for what is told to people or kept, never for a limit."""


QUESTIONS = {
    "time.time",
    "time.time_ns",
    *(
        f"{module}{question}"
        for module in ("", "datetime.")
        for question in ("datetime.now", "datetime.utcnow", "datetime.today", "date.today")
    ),
}


def test_limits_do_not_ask_the_clock_on_the_wall() -> None:
    asked = {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if asks_the_wall_clock(path.read_text())
    }
    assert asked == set(WALL_CLOCK)


def asks_the_wall_clock(source: str) -> bool:
    """Whether it says ``time.time``, imports it by name, or asks `datetime` for the present."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in QUESTIONS:
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            return any(alias.name in ("time", "time_ns") for alias in node.names)
    return False


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ("import time\ntime.time()", True),
        ("from time import time", True),
        ("import datetime\ndatetime.datetime.now()", True),
        ("from datetime import datetime\ndatetime.now()", True),
        ("import datetime\ndatetime.time(1)", False),
        ("import time\ntime.monotonic()", False),
        ("from time import monotonic, sleep", False),
    ],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_question_to_the_clock_on_the_wall_is_recognised(source: str, asks: bool) -> None:
    assert asks_the_wall_clock(source) is asks
