"""Calls of the user's functions out of the sandbox: every level and over a relay, ordinary and hostile."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import arrow_attacks
import numpy as np
import pandas as pd
import pytest
from sandbox_box import Box, printed

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.tool_calls import CallAnswer, CallRequest
from jupyter_codeagent.tools.broker import ToolCallBroker
from jupyter_codeagent.tools.call_host import Host as CallHost
from jupyter_codeagent.tools.call_host import Limits
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.sandbox import ExecutionResult, SandboxPolicy
from jupyter_codeagent.types.variables import ToolStub

Run = Callable[[Coroutine[Any, Any, Any]], Any]
RELAY = (sys.executable, "-m", "jupyter_codeagent.sandbox.remote.relay")
STUBS = (
    ToolStub(name="echo", signature="(x, *rest, y: int = 2, **more)", doc="Gives back its argument.\n\nAs it is."),
    ToolStub(name="frame", signature="(rows: int = 3) -> DataFrame", doc="A frame of so many rows."),
    ToolStub(name="fail", signature="()"),
    ToolStub(name="slow", signature="(seconds: float)"),
)


class Host:
    """Answers as the user's kernel would, and notes what came."""

    def __init__(self, data_dir: Path) -> None:
        self._spool = Spool(data_dir, max_bytes=1 << 30)
        self.requests: list[CallRequest] = []
        self.asked = asyncio.Event()
        self.cancelled = 0

    @property
    def calls(self) -> list[tuple[str, Any]]:
        return [(one.name, unpack(one.arguments, max_bytes=1 << 30)[0]) for one in self.requests]

    async def answer(self, request: CallRequest) -> CallAnswer:
        self.requests.append(request)
        self.asked.set()
        arguments, _ = unpack(request.arguments, max_bytes=1 << 30)
        match request.name:
            case "frame":
                made = pd.DataFrame({"n": np.arange(arguments.get("rows", 3)), "t": "x"})
                return CallAnswer(copy=self._spool.write("frame()", made, 1 << 30))
            case "fail":
                return CallAnswer(ename="FileNotFoundError", evalue="no such file")
            case "slow":
                try:
                    await asyncio.sleep(arguments["seconds"])
                except asyncio.CancelledError:
                    self.cancelled += 1
                    raise
                return CallAnswer(value="slept")
            case _:
                return CallAnswer(value=arguments.get("x"))


OTHER_LEVEL = pytest.mark.rare("calls take the same way at each local level; bubblewrap and the relay are tried")


@pytest.fixture(
    params=[
        "bubblewrap",
        pytest.param("namespaces", marks=OTHER_LEVEL),
        pytest.param("landlock", marks=OTHER_LEVEL),
        "command",
    ]
)
def calling(request: pytest.FixtureRequest, loop_thread: Run, tmp_path: Path) -> Iterator[tuple[Box, Host]]:
    policy = SandboxPolicy(levels=(request.param,), command=RELAY if request.param == "command" else ())
    kernel = loop_thread(SandboxKernel.start(policy=policy, data_dir=tmp_path))
    try:
        loop_thread(kernel.offer(STUBS))
        yield Box(kernel, loop_thread, tmp_path), Host(tmp_path)
    finally:
        loop_thread(kernel.stop())


def run(calling: tuple[Box, Host], code: str, timeout_s: float = 30.0) -> ExecutionResult:
    box, host = calling
    result: ExecutionResult = box.call(box.kernel.execute(code, timeout_s=timeout_s, on_call=host.answer))
    return result


def test_plain_values_frames_and_exceptions_come_back_as_what_they_are(calling: tuple[Box, Host]) -> None:
    result = run(
        calling,
        """
print(echo(1), echo('a', y=3), echo([1, {'b': None}]), echo(x=1.5))
table = frame(rows=4)
table.loc[0, 'n'] = 100
print(type(table).__name__, table.n.sum(), frame().shape)
try:
    fail()
except FileNotFoundError as error:
    print(repr(error))
print(tools.map(echo, range(20)), tools.map(echo, [{'x': 1, 'y': 2}]))
""",
    )
    assert result.status == "ok", result
    assert printed(result) == (
        "1 a [1, {'b': None}] 1.5\nDataFrame 106 (3, 2)\nFileNotFoundError('no such file')\n"
        f"{list(range(20))} [1]"
    )
    _, host = calling
    assert [one.line for one in host.requests[:5]] == [1, 1, 1, 1, 2]
    assert [entry.name for entry in result.namespace] == ["table"], "stubs are no variables of the program"


def test_the_first_calls_may_be_several_at_a_time(calling: tuple[Box, Host]) -> None:
    assert printed(run(calling, "print(tools.map(echo, range(20)))")) == str(list(range(20)))


def test_frames_and_dates_go_out_as_arguments(calling: tuple[Box, Host]) -> None:
    code = """
import datetime, pandas as pd
echo(pd.DataFrame({'a': [1, 2]}), datetime.date(2013, 1, 2), y=3, z={'k': (1, 2)})
"""
    assert run(calling, code).status == "ok"
    _, host = calling
    [(_, arguments)] = host.calls
    assert arguments["x"].equals(pd.DataFrame({"a": [1, 2]}))
    assert (str(arguments["rest"][0]), arguments["y"], arguments["more"]) == ("2013-01-02", 3, {"z": {"k": (1, 2)}})


def test_a_call_that_the_signature_does_not_allow_costs_no_call(calling: tuple[Box, Host]) -> None:
    result = run(calling, "frame(size=3)")
    assert result.error is not None
    assert result.error.ename == "TypeError"
    assert result.error.evalue == (
        "frame(rows: int = 3) -> DataFrame: got an unexpected keyword argument 'size'; this call gives size=3"
    )
    result = run(calling, "frame(1, 'x', [2])")
    assert result.error is not None
    assert result.error.evalue.endswith("too many positional arguments; this call gives rows=1, too many: 'x', [2]")
    assert calling[1].requests == []
    assert "cannot be called with these arguments" in str(run(calling, "echo(lambda: 1)").error)
    assert calling[1].requests == []


def test_functions_are_found_and_explained_inside(calling: tuple[Box, Host]) -> None:
    result = run(calling, "print(tools.search('frame rows'))\nprint(echo.__doc__)\nprint(tools.search('nothing'))")
    assert printed(result) == (
        "def frame(rows: int = 3) -> DataFrame  # A frame of so many rows.\n"
        "Gives back its argument.\n\nAs it is.\nno function has any of these words: nothing"
    )


def test_the_clock_stands_still_while_a_call_waits_and_only_then(calling: tuple[Box, Host]) -> None:
    result = run(calling, "print(slow(2.5))", timeout_s=1)
    assert (result.status, printed(result)) == ("ok", "slept")
    started = time.monotonic()
    assert run(calling, "slow(1)\nwhile True: pass", timeout_s=1).status == "timeout"
    assert time.monotonic() - started < 8


def test_stop_cancels_the_call_and_the_next_one_gets_its_own_answer(calling: tuple[Box, Host]) -> None:
    box, host = calling

    async def stopped() -> None:
        task = asyncio.create_task(box.kernel.execute("slow(60)", timeout_s=5, on_call=host.answer))
        await host.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    box.call(stopped())
    assert host.cancelled == 1
    assert printed(run(calling, "print(echo('after'))")) == "after"


@pytest.mark.long("another situation of what a test beside it proves")
def test_functions_that_are_no_longer_offered_are_gone_and_new_ones_there(calling: tuple[Box, Host]) -> None:
    box, _ = calling
    assert printed(run(calling, "frame = 5\nprint(frame)")) == "5"
    assert printed(run(calling, "print(frame().shape)")) == "(3, 2)", "in the next cell it is the function again"
    box.call(box.kernel.offer(STUBS[:1]))
    result = run(calling, "print(echo(1))\nframe")
    assert printed(result) == "1"
    assert result.error is not None
    assert result.error.ename == "NameError"
    box.call(box.kernel.offer(()))
    assert "NameError" in str(run(calling, "tools").error)


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_answers_and_fails_ends_the_execution_and_is_not_swallowed(calling: tuple[Box, Host]) -> None:
    box, _ = calling

    async def broken(_: CallRequest) -> CallAnswer:
        raise ZeroDivisionError("a fault of ours")

    with pytest.raises(ZeroDivisionError, match="a fault of ours"):
        box.call(box.kernel.execute("echo(1)", timeout_s=5, on_call=broken))
    assert printed(run(calling, "print(echo(2))")) == "2"


SEND = """
kernel = get_ipython().kernel
def send(content, buffers=(), kind='codeagent_call'):
    kernel.session.send(kernel.iopub_socket, kind, content, parent=kernel.get_parent(), buffers=list(buffers))
"""
GOOD = "{'number': 1000, 'name': 'echo', 'line': 1, 'kind': 'json', 'meta': '{\"dict\": []}'}"


@pytest.mark.parametrize(
    "forged",
    [
        "send({})",
        f"send({{**{GOOD}, 'number': '1'}})",
        f"send({{**{GOOD}, 'number': -1}})",
        f"send({{**{GOOD}, 'number': True}})",
        f"send({{**{GOOD}, 'name': 'os.system'}})",
        f"send({{**{GOOD}, 'name': 'x' * 5000}})",
        f"send({{**{GOOD}, 'name': 'import'}})",
        f"send({{**{GOOD}, 'kind': 'pickle'}})",
        f"send({{**{GOOD}, 'kind': 'arrow'}})",
        f"send({{**{GOOD}, 'meta': {{}}}})",
        f"send({{**{GOOD}, 'meta': 'x' * (20 << 20)}})",
        f"send({GOOD}, kind='codeagent_answer')",
    ],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_malformed_call_is_dropped_and_told(calling: tuple[Box, Host], forged: str) -> None:
    result = run(calling, f"{SEND}\n{forged}\nprint('on')")
    assert (result.status, printed(result)) == ("ok", "on")
    assert calling[1].requests == []
    assert any("dropped" in note for note in result.notes), result.notes


def test_a_call_that_is_sent_again_is_not_made_again(calling: tuple[Box, Host]) -> None:
    result = run(calling, f"{SEND}\nfor _ in range(3): send({GOOD})\nimport time; time.sleep(0.5)")
    assert len(calling[1].requests) == 1
    assert any("2 messages malformed" in note for note in result.notes), result.notes


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_flood_of_calls_is_stopped_and_never_more_than_a_few_wait(calling: tuple[Box, Host]) -> None:
    code = f"""{SEND}
for n in range(1, 20_000):
    send({{**{GOOD}, 'number': n, 'name': 'slow', 'meta': '{{"dict": [["seconds", 30]]}}'}})
"""
    started = time.monotonic()
    result = run(calling, code, timeout_s=20)
    assert len(calling[1].requests) <= 64
    assert result.status != "ok" or any("dropped" in note for note in result.notes)
    assert time.monotonic() - started < 40


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_closed_or_stolen_channel_of_answers_does_no_harm_to_the_host(calling: tuple[Box, Host]) -> None:
    box, _ = calling
    result = run(calling, "get_ipython().kernel.stdin_socket.close(0)\necho(1)", timeout_s=3)
    assert result.status in ("error", "timeout", "killed")
    assert box.kernel.alive == (result.status != "killed")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_thread_that_waits_for_a_call_does_not_buy_time_for_the_program(calling: tuple[Box, Host]) -> None:
    """The clock stands still, the CPU time does not."""
    box, host = calling
    code = """
import threading
threading.Thread(target=slow, args=(60,), daemon=True).start()
while True: pass
"""

    async def execute() -> ExecutionResult:
        return await box.kernel.execute(code, timeout_s=1, on_call=host.answer)

    started = time.monotonic()
    result: ExecutionResult = box.call(execute())
    assert result.status in ("interrupted", "killed", "timeout")
    assert time.monotonic() - started < 30


def test_the_names_of_functions_cannot_be_made_to_call_what_was_not_offered(calling: tuple[Box, Host]) -> None:
    """What the host gets is a name and data: renaming a stub asks for another name, which the host decides."""
    result = run(calling, "echo.__name__ = 'drop_tables'\nprint(echo(1))")
    assert [name for name, _ in calling[1].calls] == ["drop_tables"]
    assert result.status == "ok"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_bomb_as_an_argument_is_answered_at_once_and_nobody_is_asked(calling: tuple[Box, Host]) -> None:
    box, _ = calling
    asked: list[Proposal] = []
    made: list[Any] = []

    async def decide(proposal: Proposal) -> Decision:
        asked.append(proposal)
        return Decision(action="approve", code="", decided_by="panel")

    async def on_main_thread(call: Callable[[], Any]) -> Any:
        return call()

    async def on_users_loop(coroutine: Any) -> Any:
        return await coroutine

    host = CallHost(
        on_main_thread=on_main_thread, on_users_loop=on_users_loop, spool=Spool(box.data_dir, max_bytes=1)
    )
    limits = Limits(argument_bytes=1 << 28, result_bytes=1 << 20)

    def echo(x: Any) -> None:
        made.append(x)

    tools = {"echo": tool_of(echo)}
    desk = ToolCallBroker(tools, run_id="1", decide=decide, host=host, limits=limits)
    bomb = arrow_attacks.compressed_as_in_version_4(arrow_attacks.batch_of(a=np.zeros(1 << 21)))
    side_car = json.dumps({"form": "arrow_table", "labels": ["a"], "rows": 1 << 21})
    meta = {"value": {"dict": [["x", {"part": 0}]]}, "parts": [["arrow", side_car, len(bomb)]]}
    code = f"""
import sys
honest = sys.modules[type(echo).__module__].pack
sys.modules[type(echo).__module__].pack = lambda *_: ('parts', {json.dumps(meta)!r}, {bomb!r})
echo(1)
"""
    result = box.call(box.kernel.execute(code, timeout_s=30, on_call=desk.answer))
    assert result.error is not None
    assert (result.error.ename, "metadata version 4" in result.error.evalue) == ("ValueError", True)
    assert (asked, made) == ([], [])
    code = """
import pandas as pd
sys.modules[type(echo).__module__].pack = honest
echo(pd.DataFrame({'c': pd.cut([1, 2], [0, 1, 2])}))
"""
    assert box.call(box.kernel.execute(code, timeout_s=30, on_call=desk.answer)).status == "ok"
    assert asked[0].code == "echo(<DataFrame 2x1: 'c' category>)"
    assert made[0].equals(pd.DataFrame({"c": pd.cut([1, 2], [0, 1, 2])}))
