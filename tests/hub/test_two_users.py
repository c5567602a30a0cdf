"""Two users of a hub at once: each has their own results; the other reads, reaches and exhausts nothing of them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hub.hub_server import Account, Hub, HubKernel, UserServer
from model_server import ModelServer, Reply, code

INTRUDER = Path(__file__).parent / "intruder.py"
FAKE_LLAMA = Path(__file__).parents[1] / "fake_llama" / "xllamacpp.py"
SECRET = "a-secret-of-user-a"
OF_IPYTHON = ".ipython/profile_default/history.sqlite"
"""Where a home may be looked into, others read IPython's own list of all cells: docs/hub.md says so."""
SHARED = (Path("/tmp"), Path("/dev/shm"))
SQUATTED = ("codeagent-copies-squatted", "codeagent-squatted", "codeagent-model-squatted")

Both = tuple[Account, Account]


def sums(_: dict[str, Any]) -> Reply:
    return Reply(text=code("int(mine['n'].sum())"))


def ask(kernel: HubKernel, number: int, question: str, options: str = "") -> str:
    kernel.run(f"mine = pd.DataFrame({{'n': [{number}, 1000]}})")
    return kernel.send(f"%%agent {options} --vars mine\n{question}")


def with_embedded_model(kernel: HubKernel) -> None:
    """Have the kernel use a stand-in for llama.cpp, in a process of its own as the real one."""
    directory = kernel.server.account.home / "fake"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o755)
    shutil.copy(FAKE_LLAMA, directory)
    weights = directory / "own.gguf"
    if not weights.exists():  # its time tells one server from another
        weights.write_bytes(b"GGUF")
    reply = code("int(mine['n'].sum())")
    kernel.run(f"import os\nos.environ |= {{'PYTHONPATH': {str(directory)!r}, 'GGML_FAKE_REPLY': {reply!r}}}")
    kernel.run(f"%config CodeAgent.weights = '{weights}'")


def embedded_servers(account: Account) -> dict[int, str]:
    return {pid: line for pid, line in account.processes().items() if "models.embedded.server" in line}


def left_in_shared_places(account: Account) -> list[str]:
    found = [entry for place in SHARED for entry in place.iterdir() if entry.name.startswith("codeagent-")]
    return [str(entry) for entry in found if entry.lstat().st_uid == account.uid]


def eventually(account: Account, within_s: float = 10) -> list[str]:
    """What is left when nothing goes away any more."""
    deadline = time.monotonic() + within_s
    while left_in_shared_places(account) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left_in_shared_places(account)


def test_both_ask_at_once_and_each_has_their_own_result_and_history(
    hub: Hub, both: Both, shared_model: ModelServer
) -> None:
    shared_model.choose = sums
    servers = [hub.start_server(account) for account in both]
    shared_model.headers.clear()
    with servers[0].kernel() as a, servers[1].kernel() as b:
        asked = [ask(a, 1, "the sum of a"), ask(b, 2, "the sum of b")]
        shown = [kernel.wait(msg_id) for kernel, msg_id in zip((a, b), asked, strict=True)]
        assert "1001" in shown[0]
        assert "1002" in shown[1]
        for server, letter in zip(servers, "ab", strict=True):
            prompts = [run["prompt"] for run in server.request("/jupyter-codeagent/runs")["runs"]]
            assert [prompt for prompt in prompts if prompt.startswith("the sum of")] == [f"the sum of {letter}"]
    used = {headers.get("authorization") for headers in shared_model.headers}
    assert used == {f"Bearer {account.key}" for account in both}, "each with their own key"
    address = f"{servers[0].prefix}/jupyter-codeagent/runs"
    assert hub.request(address, token=servers[1].token, ok=(403, 404)) in (403, 404)


@pytest.fixture
def _squatters(both: Both) -> Iterator[None]:
    """Before the first has started anything, the second has put what they could find in the way of it."""
    first, second = both
    target = first.home / "precious"
    target.write_text("precious")
    os.chown(target, first.uid, first.gid)
    made = [place / name for place in SHARED for name in SQUATTED]
    second.python(
        "import os, sys\n"
        "for path in sys.argv[2:]:\n"
        "    os.mkdir(path, 0o777)\n"
        "    os.chmod(path, 0o777)\n"
        "    for lock in ('in-use', 'owner.lock'):\n"
        "        os.symlink(sys.argv[1], f'{path}/{lock}')\n"
        "    os.symlink(os.path.dirname(sys.argv[1]), f'{path}-link')\n",
        str(target),
        *map(str, made),
    )
    yield
    for path in made:
        shutil.rmtree(path)
        path.with_name(f"{path.name}-link").unlink()
    assert target.read_text() == "precious"


@pytest.mark.usefixtures("_squatters")
def test_nothing_of_a_running_session_is_read_reached_or_held_by_the_other_user(
    hub: Hub, both: Both, shared_model: ModelServer
) -> None:
    shared_model.choose = lambda _: Reply(text=code(f"mine['n'].sum(), {SECRET!r}"))
    first, second = both
    with hub.start_server(first).kernel() as kernel:
        assert SECRET in kernel.wait(ask(kernel, 1, f"what about {SECRET}"))
        with_embedded_model(kernel)
        assert "1001" in kernel.wait(ask(kernel, 1, "the sum", "--model embedded"))
        assert len(embedded_servers(first)) == 1
        got = json.loads(second.python(INTRUDER.read_text(), str(first.uid), SECRET))
        print(json.dumps(got, indent=1))
        assert [path for path in got["files"] if "codeagent" in path.removeprefix(str(first.home))] == []
        assert [path for path in got["files"] if not path.startswith(str(first.home))] == []
        assert got["with the secret"] == [str(first.home / OF_IPYTHON)]
        assert (got["written"], got["processes"], got["sockets"], got["shared memory"]) == ([], [], [], [])
        # The server, which knows who asks, and a pipe of ipykernel's own, which takes only what has its key.
        assert {answer for answer in got["ports"] if answer.startswith("HTTP")} == {"HTTP/1.1 404 Not Found"}
        assert [answer for answer in got["ports"] if answer.isprintable() and not answer.startswith("HTTP")] == []


HOLD = """
import socket, sys, time
held = []
for line in open("/proc/net/tcp").readlines()[1:]:
    fields = line.split()
    if fields[3] == "0A" and fields[7] == sys.argv[1]:
        for _ in range(100):
            one = socket.create_connection(("127.0.0.1", int(fields[1].rpartition(":")[2], 16)))
            one.sendall(b"POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\n")
            held.append(one)
print(len(held), flush=True)
time.sleep(600)
"""


@contextmanager
def holding_all_ports(holder: Account, of: Account) -> Iterator[None]:
    command = ["/usr/bin/python3", "-c", HOLD, str(of.uid)]
    with subprocess.Popen(command, user=holder.uid, group=holder.gid, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) >= 100
        try:
            yield
        finally:
            process.kill()


def test_connections_of_the_other_user_keep_no_question_from_its_answer(hub: Hub, both: Both) -> None:
    first, second = both
    with hub.start_server(first).kernel() as kernel:
        with_embedded_model(kernel)
        assert "1001" in kernel.wait(ask(kernel, 1, "the sum before", "--model embedded"))
        with holding_all_ports(second, first):
            began = time.monotonic()
            assert "1002" in kernel.wait(ask(kernel, 2, "the sum while they hold all ports", "--model embedded"))
            assert time.monotonic() - began < 30


def test_named_servers_of_a_user_share_history_and_embedded_model_and_collide_in_nothing(
    hub: Hub, both: Both
) -> None:
    first = both[0]
    servers = [hub.start_server(first), hub.start_server(first, "second")]
    assert [server.prefix for server in servers] == ["/user/codeagent-a", "/user/codeagent-a/second"]
    with servers[0].kernel() as one, servers[1].kernel() as other:
        for kernel in (one, other):
            with_embedded_model(kernel)
        asked = [ask(one, 1, "of the first server", "--model embedded")]
        asked.append(ask(other, 2, "of the second server", "--model embedded"))
        assert "1001" in one.wait(asked[0])
        assert "1002" in other.wait(asked[1])
        assert len(embedded_servers(first)) == 1
        listed = [server.request("/jupyter-codeagent/runs?limit=2")["runs"] for server in servers]
        assert listed[0] == listed[1]
        assert {run["prompt"] for run in listed[0]} == {"of the first server", "of the second server"}
    stop_with_its_kernels(servers[1])


def stop_with_its_kernels(server: UserServer) -> None:
    server.stop()
    assert [line for line in server.account.processes().values() if f"{server.prefix}/" in line] == []


def test_what_ends_leaves_nothing_a_culled_server_a_killed_kernel_or_a_kernel_that_is_shut_down(
    hub: Hub, both: Both, shared_model: ModelServer
) -> None:
    shared_model.choose = sums
    first = both[0]
    server = hub.start_server(first)
    with server.kernel() as kernel:
        assert "1001" in kernel.wait(ask(kernel, 1, "to be shut down"))
        assert left_in_shared_places(first)
    assert eventually(first) == []
    with server.kernel() as kernel:
        assert "1001" in kernel.wait(ask(kernel, 1, "to be killed"))
        os.kill(kernel.pid, signal.SIGKILL)
        left = left_in_shared_places(first)
        assert left
    with server.kernel() as kernel:
        assert "1001" in kernel.wait(ask(kernel, 1, "after a kill"))
        assert not set(left) & set(left_in_shared_places(first))
        server.stop()
        assert eventually(first) == []
    deadline = time.monotonic() + 20
    while rest(first) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert rest(first) == []


def rest(account: Account) -> list[str]:
    """What runs of this user beside the embedded model, which ends a quarter of an hour after its last question."""
    return [line for pid, line in account.processes().items() if pid not in embedded_servers(account)]


def test_no_token_or_key_is_in_a_log_or_in_the_arguments_of_a_process(
    hub: Hub, both: Both, shared_model: ModelServer
) -> None:
    shared_model.choose = sums
    server = hub.start_server(both[0])
    with server.kernel() as kernel:
        assert "1001" in kernel.wait(ask(kernel, 1, "with a key"))
        server.request("/jupyter-codeagent/runs")
        keys = {line.split("=")[1] for line in kernel.run("!env | grep _TOKEN=").split() if "=" in line}
        assert keys
        lines = [line for one in both for line in one.processes().values()]
    log = hub.log.read_text(errors="replace")
    for key in {both[0].key, hub.token, server.token, *keys}:
        assert key not in log
        assert not any(key in line for line in lines)
    assert "/jupyter-codeagent/" in log
    assert "token=" not in "".join(line for line in log.splitlines() if "codeagent/" in line)
