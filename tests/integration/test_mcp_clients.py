"""MCP clients of a real kernel: the SDK's own client, `jupyter codeagent mcp`, the sandbox."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from kernel_client import Kernel, running_kernel
from kernel_page import KernelPage, approve
from listening import wait_for_port
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import Implementation
from mcp_client import call, call_beside, connected, kernel_for_clients, of_kernel, run, told
from sandbox_attacks import attempts, got_through, was_tried, world

from jupyter_codeagent.variables.privacy.sharing.notebook_metadata import LISTS_VARIABLE
from jupyter_codeagent.variables.privacy.sharing.rules import sharing_view

pytestmark = pytest.mark.xdist_group("mcp clients")  # one kernel for most of it
PEOPLE = (
    "people = pd.DataFrame({'patient': ['Yolvandra Pexmire', 'Kelphine Ostravax'], 'n': [3, 4],"
    " 'wage': [714231, 714232], 'hue': ['hush', 'hush']})"
)
LIMIT_S = 120
"""Alone each takes some seconds; a machine with much else to do takes longer."""
TOKEN = "a-token-that-nobody-guesses"
ATTACKS = (
    attempts("os-open", "os.read(os.open('$SECRET', os.O_RDONLY), 99)"),
    attempts("symlink-of-the-host", "open('$LINK').read()"),
    attempts("tcp", "socket.create_connection(('127.0.0.1', $TCP), 2)"),
    attempts("kill", "os.kill($VICTIM, 9)"),
    attempts("shell", "__import__('subprocess').run(['/bin/cat', '$SECRET'], check=True)"),
)
"""Of the rows in `tests/sandbox`, which has the proof that they get through outside."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    with kernel_for_clients(tmp_path_factory.mktemp("mcp"), PEOPLE) as running:
        yield running


@contextmanager
def configured(kernel: Kernel, line: str, back: str) -> Iterator[None]:
    kernel.run(f"%config CodeAgent.{line}")
    try:
        yield
    finally:
        kernel.run(f"%config CodeAgent.{back}")


def test_an_assistant_computes_on_copies_in_the_same_sandbox_and_its_runs_are_recorded_as_its_own(
    kernel: Kernel,
) -> None:
    program = "# double\ndf['n'] *= 2\nmine = df.n.sum()\nprint(mine)"
    first, second, failed, history = call(
        of_kernel(kernel),
        run(program),
        run("print(mine, df.n.sum())"),
        run("df.m", variables=["df"]),
        ("history", {}),
    )
    assert first.text.endswith("ok, 0.01 s.\n14") or "\n14" in first.text
    assert "\n14 7" in second.text, "what it assigns stays, and copies are as the variables are"
    assert failed.is_error
    assert "AttributeError at line 1: 'DataFrame' object has no attribute 'm'" in failed.text
    assert "  ok  # double" in history.text
    assert "7\nFalse" in kernel.run("print(df.n.sum())\nprint('mine' in globals())").text, "nothing ran here"
    record = kernel.record(first.run_id)
    assert (record["request"]["client"], record["request"]["model"]) == ("editor", "no model")
    assert record["request"]["prompt"] == "editor (MCP): # double"
    assert record["model_calls"] == []
    assert record["made"] == [], "the notebook's sandbox has none of it"
    assert "editor (MCP): # double" in kernel.run("%agent history double").text
    assert "editor" not in kernel.run("%%agent --dry-run\nthe sum of n in df?").text, "it is in no conversation"
    other = call(of_kernel(kernel), ("history", {"run_id": first.run_id}), run("print(mine)"), name="other")
    assert other[0].text == f"You have no run '{first.run_id}' in this kernel: history lists yours."
    assert "name 'mine' is not defined" in other[1].text, "each client has a sandbox of its own"


def test_what_is_hidden_or_personal_reaches_no_mcp_client(kernel: Kernel) -> None:
    answers = call(
        of_kernel(kernel),
        ("list_variables", {}),
        ("describe", {"name": "people"}),
        run("print(people, list(people.columns))"),
        run("print(people.wage)"),
        run("import pathlib\nfor file in pathlib.Path('/').rglob('*.piece'): print(file.read_bytes())"),
    )
    seen = "\n".join(answer.text for answer in answers)
    assert "people: DataFrame 2x3" in seen
    assert "hush" in seen
    for canary in ("7142", "Yolvandra", "Ostravax"):
        assert canary not in seen
    assert "'wage'" not in answers[0].text + answers[1].text + answers[2].text
    assert answers[3].is_error
    kernel.run("%agent hide people[hue]")
    hidden = call(of_kernel(kernel), run("print(list(people.columns))"), ("describe", {"name": "nobody"}))
    assert "['patient', 'n']" in hidden[0].text, "the sandbox that had the column is gone"
    assert hidden[1].is_error
    with configured(kernel, "privacy = 'schema'", "privacy = 'stats'"):
        schema = call(
            of_kernel(kernel), run("print(df.n.sum() * 1000)"), run("raise ValueError(str(df.n.sum() * 1000))")
        )
    assert "privacy = schema" in schema[0].text
    assert "7000" not in schema[0].text + schema[1].text


def test_no_program_of_an_mcp_client_gets_out_of_the_sandbox(kernel: Kernel) -> None:
    with world() as outside:
        answers = call(
            of_kernel(kernel), *(run(outside.fill(attack.code)) for attack in ATTACKS), name="hostile\x1b[31m"
        )
        for attack, answer in zip(ATTACKS, answers, strict=True):
            assert was_tried(answer.text), (attack.name, answer.text)
            assert got_through(answer.text) == []
        assert {*outside.reached()} <= {"the victim's priority"}, "which `nice` has changed already"


def test_mcp_is_off_until_the_user_lets_clients_in_and_what_nobody_can_approve_is_denied(kernel: Kernel) -> None:
    with configured(kernel, "clients = False", "clients = True"):
        (refused,) = call(of_kernel(kernel), ("list_variables", {}))
    assert refused.is_error
    assert "have them run `%config CodeAgent.clients = True`" in refused.text
    with configured(kernel, "approve = 'ask'", "approve = 'review'"):
        (denied,) = call(of_kernel(kernel), run("print(1)"))
        assert denied.is_error
        assert denied.text.startswith("Denied: the user's setting approve = ask")
        assert kernel.record(kernel.run_ids()[0])["status"] == "rejected"


def test_the_person_at_the_panel_approves_stops_and_gets_the_cells_of_an_mcp_client(kernel: Kernel) -> None:
    page = KernelPage(kernel, answer=approve).open()
    try:
        with configured(kernel, "approve = 'ask'", "approve = 'review'"):
            asked = call_beside(of_kernel(kernel), run("print('asked')"), run("import time; time.sleep(60)"))
            assert page.wait_for("proposal")["proposal"]["lasting"] == [], "no yes is for all that it may send"
            sleeping = page.wait_for("proposal")["proposal"]["run_id"]
            assert page.last("run")["run"]["status"] == "waiting"
            while page.wait_for("progress")["phase"] != "sandbox":
                pass
            page.say(type="stop", run_id=sleeping)
            while page.wait_for("run")["run"]["status"] != "stopped":
                pass
            first, stopped = asked.result(LIMIT_S)
        assert "\nasked" in first.text
        assert stopped.text == "Stopped by the user: ask them before you run it again."
        inserted = call_beside(of_kernel(kernel), ("insert_cells", {"run_id": first.run_id}), ("history", {}))
        message = page.wait_for("insert")
        assert [cell["metadata"]["codeagent"]["state"] for cell in message["cells"]] == ["pending"]
        while page.wait_for("run")["run"]["placed"] != "cells":
            pass
        text, history = inserted.result(LIMIT_S)
        assert text.text.endswith("pending: the user decides about them.")
        assert "ok, cells pending  print('asked')" in history.text
    finally:
        page.post("comm_close", data={})


def test_a_call_that_the_mcp_client_cancels_is_stopped_in_the_sandbox(kernel: Kernel) -> None:
    async def cancelled() -> None:
        async with connected(of_kernel(kernel), "hasty") as client:
            await told(client, *run("print(1)"))
            status = await asyncio.to_thread(kernel.run, "%agent status")
            clients = status.text.partition("clients: ")[2].partition("\n")[0]
            assert "hasty" in clients.split(", ")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await told(client, *run("import time; time.sleep(60)"))
            for _ in range(50):
                if "stopped" in (history := await told(client, "history", {})).text:
                    return
                await asyncio.sleep(0.1)
            pytest.fail(history.text)

    asyncio.run(cancelled())


def test_a_busy_a_restarted_and_an_unprepared_kernel_are_told_in_one_line(tmp_path: Path) -> None:
    # What a saved notebook hides holds before any page or question has read it.
    hidden = {LISTS_VARIABLE: json.dumps(sharing_view({}, {"df": frozenset({"city"})}))}
    with running_kernel(tmp_path, hidden) as kernel:
        kernel.run("%config CodeAgent.clients = True\nfrom jupyter_codeagent.session import client_runs")
        kernel.run("client_runs.BUSY_S = 0.5")

        async def calls() -> list[str]:
            async with connected(of_kernel(kernel), "editor") as client:
                texts = [(await told(client, "list_variables", {})).text]
                kernel.client.execute("import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.1)")
                while "begun" not in (await heard(kernel))["content"].get("text", ""):
                    pass
                texts.append((await told(client, "list_variables", {})).text)
                kernel.signal(signal.SIGINT)
                await asyncio.to_thread(kernel.client.get_shell_msg, timeout=30)
                kernel.run("%unload_ext jupyter_codeagent")
                texts.append((await told(client, "list_variables", {})).text)
                kernel.run("%load_ext jupyter_codeagent\n%config CodeAgent.clients = True")
                texts.append((await told(client, "list_variables", {})).text)
                waiting = asyncio.create_task(told(client, *run("import time; time.sleep(60)")))
                await asyncio.sleep(1)
                kernel.client.shutdown()
                texts.append((await waiting).text)
                return texts

        started = time.monotonic()
        before, busy, unloaded, again, gone = asyncio.run(calls())
        assert time.monotonic() - started < LIMIT_S
        assert before == "df: DataFrame 3x1\n n int 1..4"
        assert busy.startswith("The user's kernel has been busy with a cell")
        assert unloaded.startswith("jupyter-codeagent is not loaded in the kernel.")
        assert "df: DataFrame" in again
        assert gone.startswith("The kernel was restarted or ended.")


async def heard(kernel: Kernel) -> dict[str, Any]:
    message: dict[str, Any] = await asyncio.to_thread(kernel.client.get_iopub_msg, timeout=30)
    return message


@pytest.fixture
def http(kernel: Kernel, tmp_path: Path) -> Iterator[str]:
    """The address of a server over HTTP."""
    log = tmp_path / "log"
    environment = {**os.environ, "CODEAGENT_MCP_TOKEN": TOKEN, "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime")}
    with log.open("wb") as out:
        server = subprocess.Popen(of_kernel(kernel, "--http", "0").command, env=environment, stdout=out, stderr=out)
    try:
        yield f"http://127.0.0.1:{wait_for_port(server, log, LIMIT_S)}/mcp"
        file = next((tmp_path / "runtime").glob("codeagent-mcp-*.json"))
        assert file.stat().st_mode & 0o777 == 0o600
        assert TOKEN not in Path(f"/proc/{server.pid}/cmdline").read_text()
    finally:
        server.send_signal(signal.SIGTERM)  # uvicorn ends by the signal itself, where nobody catches that
        server.wait(LIMIT_S)
    assert not list((tmp_path / "runtime").iterdir())
    assert TOKEN not in log.read_text()


def test_mcp_over_http_serves_only_who_has_the_token_on_loopback(kernel: Kernel, http: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}

    async def called() -> Any:
        async with httpx2.AsyncClient(headers=headers, timeout=30) as web:
            transport = streamable_http_client(http, http_client=web)
            async with Client(transport, client_info=Implementation(name="on the web", version="1")) as client:
                return await told(client, *run("print(df.n.sum())"))

    answer = asyncio.run(called())
    assert "\n7" in answer.text
    assert kernel.record(answer.run_id)["request"]["client"] == "on the web"
    knock = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accepts = {"accept": "application/json, text/event-stream"}
    for given, status in (
        ({}, 401),
        ({"authorization": f"Bearer {TOKEN}x"}, 401),
        ({"authorization": TOKEN}, 401),
        ({**headers, "host": "evil.example"}, 421),
        ({**headers, "origin": "http://evil.example"}, 403),
        ({**headers, "origin": "http://127.0.0.1:1"}, 403),
    ):
        assert httpx2.post(http, json=knock, headers={**accepts, **given}).status_code == status, given
    port = int(http.rpartition(":")[2].partition("/")[0])
    with socket.socket() as outside:
        assert outside.connect_ex((_own_address(), port)) != 0, "it listens on loopback alone"


def _own_address() -> str:
    """An address of this machine that is not loopback; loopback where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route:
        try:
            route.connect(("192.0.2.1", 9))
        except OSError:
            return "192.0.2.1"
        return str(route.getsockname()[0])
