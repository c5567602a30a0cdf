"""Tools of real MCP servers, on standard streams and over HTTP, called by code in the sandbox."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

from jupyter_codeagent.models.embedded.state import process_started

SERVER = Path(__file__).parents[1] / "mcp_server.py"
START = f"weather auto {sys.executable} {SERVER}"


def record(kernel: Kernel, prompt: str) -> dict[str, Any]:
    text = kernel.ask(prompt, "--json --approve auto").text
    found: dict[str, Any] = json.loads(next(line for line in text.splitlines() if line.startswith("{")))
    return found


def ask(kernel: Kernel, server: ModelServer, program: str) -> dict[str, Any]:
    server.script(code(program), "x")
    return record(kernel, "What is it?")


def added(kernel: Kernel) -> str:
    """What adding the server shows."""
    ran = kernel.run(f"%agent mcp add {START}")
    assert ran.error == ""
    return ran.text


def servers_of(kernel: Kernel) -> list[int]:
    """The processes that this kernel has started: beside it other tests start the same server."""
    command = ["pgrep", "--parent", str(kernel.pid), "--full", str(SERVER)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(pid) for pid in found.stdout.split()]


def calls_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(call["call"], call["status"]) for step in run["steps"] for call in step["result"]["calls"]]


def test_the_tools_of_an_mcp_server_become_functions_and_its_hints_never_loosen_a_policy(kernel: Kernel) -> None:
    shown = added(kernel)
    assert "weather: 6 functions" in shown
    assert (
        "auto  def get_hours(*, origin: str, month: int = 1) -> DataFrame  # Hourly weather of an airport." in shown
    )
    assert "ask   def forget(station: str)" in shown, "it calls itself read-only, and destructive too"
    assert "ask   def fail(why: str)" in shown, "it does not say that it only reads"
    assert "def weather_print()" in shown, "its own name is one of Python's"
    assert "ask   def get_hours" in kernel.run(f"%agent mcp add weather python {SERVER}").text
    assert "def get_hours" in kernel.run("%agent tool").text
    kernel.run("%agent mcp remove weather")
    assert "get_hours" not in kernel.run("%agent tool").text
    assert "NameError" in kernel.run("get_hours").error


@pytest.mark.long("another situation of what a test beside it proves")
def test_code_calls_an_mcp_tool_and_gets_its_structured_result(kernel: Kernel, model_server: ModelServer) -> None:
    added(kernel)
    program = "hours = get_hours('JFK', month=2)\nprint(hours.temp.sum(), len(get_hours('LGA')))"
    run = ask(kernel, model_server, program)
    assert "3.6" in json.dumps(run["outputs"])
    assert calls_of(run) == [("get_hours(origin='JFK', month=2)", "ok"), ("get_hours('LGA')", "ok")]
    assert "0     0   0.1" in kernel.run("print(get_hours('JFK'))").text, "accepted cells find it"
    assert "Index(['hour', 'temp']" in kernel.run("print(get_hours('LGA').columns)").text, "no rows, but columns"
    assert "def get_hours(*, origin: str, month: int = 1)" in str(model_server.requests[0]["messages"])


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_server_is_asked_anew_at_each_question_and_its_functions_are_never_told_as_variables(
    kernel: Kernel, model_server: ModelServer
) -> None:
    added(kernel)
    for _ in range(2):
        ask(kernel, model_server, "print(df.n.sum())")
        told = str(model_server.requests[0]["messages"])
        assert told.count("get_hours") == 1, told
        assert "agent_tool" not in told


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_server_cannot_take_the_names_of_variables_and_libraries(
    kernel: Kernel, model_server: ModelServer
) -> None:
    hostile = SERVER.with_name("hostile_mcp_server.py")
    shown = kernel.run(f"%agent mcp add weather {sys.executable} {hostile} names-of-others")
    assert shown.error == ""
    listed = kernel.run("%agent tool").text
    assert "def weather_df()" in listed
    assert "def weather_np()" in listed, "also where nobody has imported it"
    assert "DataFrame" in kernel.run("print(type(df))").text
    assert "NameError" in kernel.run("np").error
    run = ask(kernel, model_server, "print(df.n.sum(), np.sqrt(4))")
    assert "7 2.0" in json.dumps(run["outputs"])
    kernel.run("send = 5")
    assert "def weather_send()" in kernel.run("%agent tool").text, "a name that stands for something by now"


@pytest.mark.rare("another case of what a test beside it proves")
def test_what_a_server_refuses_is_an_exception_of_the_program(kernel: Kernel, model_server: ModelServer) -> None:
    added(kernel)
    for program, told in (
        ("get_hours(3)", "TypeError: arguments['origin']: 3 is not of type 'string'"),
        ("get_hours(df)", "TypeError: a DataFrame cannot be sent to an MCP server"),
        ("forget('x')", "PermissionError: the user rejected this call of forget"),
    ):
        shown = f"try:\n    {program}\nexcept Exception as error:\n    print(type(error).__name__ + ':', error)"
        assert told in str(ask(kernel, model_server, shown)["outputs"]), program


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_server_that_ends_is_told_and_its_functions_are_gone_at_the_next_question(
    kernel: Kernel, model_server: ModelServer
) -> None:
    added(kernel)
    (server,) = servers_of(kernel)
    os.kill(server, signal.SIGKILL)
    time.sleep(1)
    run = ask(kernel, model_server, "print(get_hours('JFK'))")
    assert any("the MCP server weather" in note and "not available" in note for note in run["notes"]), run["notes"]
    assert run["steps"][0]["result"]["error"]["ename"] == "NameError"
    assert "def get_hours" not in str(model_server.requests[0]["messages"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_of_a_server_outlives_the_kernel(kernel: Kernel) -> None:
    added(kernel)
    (server,) = servers_of(kernel)
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel()
    until = time.monotonic() + 10
    while process_started(server):
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.rare("another case of what a test beside it proves")
def test_what_cannot_be_added_is_one_line(kernel: Kernel) -> None:
    for words, told in (
        ("add weather /nowhere/server", "cannot be reached"),
        ("add weather http://127.0.0.1:9/mcp", "cannot be reached"),
        ("add weather", "give what to start, or where it is"),
        ("add we-ather echo", "is not a valid server name"),
        ("add weather 'echo", "The command cannot be read"),
        ("remove weather", "No MCP server named 'weather'; none are running"),
        ("what", "%agent mcp add NAME"),
        (f"add weather {sys.executable} -c pass", "cannot be reached"),
    ):
        ran = kernel.run(f"%agent mcp {words}")
        assert told in ran.error, ran
        assert "\n" not in ran.error


@pytest.fixture
def http_server() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVER), str(port)], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 30
        while True:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < until
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_server_over_http_is_called_like_one_on_this_machine(
    kernel: Kernel, model_server: ModelServer, http_server: str
) -> None:
    assert "weather: 6 functions" in kernel.run(f"%agent mcp add weather auto {http_server}").text
    assert "3.3" in json.dumps(ask(kernel, model_server, "print(get_hours('JFK').temp.sum())")["outputs"])
