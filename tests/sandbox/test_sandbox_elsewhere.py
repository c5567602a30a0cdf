"""Sandboxes behind a command and in a container: the same promises, through a relay."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sandbox_box import Box

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.sandbox.local.watch.processes import process_tree
from jupyter_codeagent.sandbox.remote import container
from jupyter_codeagent.sandbox.remote.backend import RemoteBackend
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxPolicy

Run = Callable[[Coroutine[Any, Any, Any]], Any]
RELAY = (sys.executable, "-m", "jupyter_codeagent.sandbox.remote.relay")
FAKE_ENGINE = Path(__file__).with_name("fake_engine")


@pytest.fixture
def start(loop_thread: Run, tmp_path: Path) -> Iterator[Callable[[SandboxPolicy], Box]]:
    started: list[Box] = []

    def begin(policy: SandboxPolicy) -> Box:
        kernel = loop_thread(SandboxKernel.start(policy=policy, data_dir=tmp_path))
        started.append(Box(kernel, loop_thread, tmp_path))
        return started[-1]

    yield begin
    for box in started:
        box.call(box.kernel.stop())


@pytest.fixture
def away(start: Callable[[SandboxPolicy], Box]) -> Box:
    """Behind a command on this machine; ssh would carry the same streams to another."""
    return start(SandboxPolicy(levels=("command",), command=RELAY))


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Docker, which puts up the same walls by bubblewrap; where it notes what it was asked."""
    place = tmp_path / "engine"
    place.mkdir()
    view = {str(Path(sys.executable).parents[1]), str(Path(sys.base_prefix)), str(Path(__file__).parents[2])}
    monkeypatch.setattr(container, "TRUSTED_PATH", str(FAKE_ENGINE))
    monkeypatch.setenv("DOCKER_FAKE_PLACE", str(place))
    monkeypatch.setenv("DOCKER_FAKE_PYTHON", sys.executable)
    monkeypatch.setenv("DOCKER_FAKE_VIEW", ":".join(sorted(view)))
    return place


CONTAINER = SandboxPolicy(levels=("container",), image="codeagent-sandbox")


def relays() -> list[int]:
    """Those that this process has started."""
    return [pid for pid in process_tree(os.getpid()) if b"sandbox.remote.relay" in command_line(pid)]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""  # it ended while we looked


def test_state_outputs_and_errors_pass_through_the_relay(away: Box) -> None:
    assert away.run("x = 41").status == "ok"
    assert away.text("print(x + 1)") == "42"
    failed = away.run("\n\n1 / 0")
    assert failed.status == "error"
    assert failed.error is not None
    assert (failed.error.ename, failed.error.line) == ("ZeroDivisionError", 3)


def test_what_confines_the_code_there_is_measured_and_told(away: Box) -> None:
    status = away.kernel.status
    assert status.level == "command"
    assert status.label.startswith("command (")
    assert {"read files outside", "TCP", "Unix sockets", "environment"} <= set(status.closed)
    assert any("seccomp" in layer for layer in status.layers)


def test_copies_arrive_there_equal_and_writable(away: Box, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(3_000_000), "b": [0.5, None, 2.0] * 1_000_000})  # more than one message
    spool = Spool(tmp_path, max_bytes=1 << 30)
    manifest = spool.export({"frame": frame}, ["frame"], required=True)
    away.call(away.kernel.load(manifest.copied))
    assert away.text("print(frame.a.sum(), frame.b.isna().sum(), frame.b.dtype)") == "4499998500000 1000000 float64"
    away.run("frame.loc[0, 'a'] = -1")
    assert away.text("print(frame.a[0])") == "-1"
    again = spool.export({"frame": frame, "other": [1, 2]}, ["other"], required=True)
    away.call(away.kernel.load(again.copied))
    assert away.text("print(other, frame.a[0])") == "[1, 2] -1"
    assert isinstance(away.kernel.backend, RemoteBackend)
    assert set(away.kernel.backend._sent_files) == {path.name for path in tmp_path.iterdir()}
    packed = away.call(away.kernel.fetch("frame", max_bytes=1 << 28))
    assert packed.kind == "arrow"
    assert len(packed.data) > 24_000_000


def test_of_a_changed_copy_only_the_new_files_are_sent_there(away: Box, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(3_000_000), "b": 0.5, "c": range(3_000_000)})
    spool = Spool(tmp_path, max_bytes=1 << 30)
    away.call(away.kernel.load(spool.export({"frame": frame}, ["frame"], required=True).copied))
    assert isinstance(away.kernel.backend, RemoteBackend)
    before = set(away.kernel.backend._sent_files)
    frame["b"] = 1.5
    again = spool.export({"frame": frame}, ["frame"], required=True)
    sent: list[str] = []
    send = away.kernel.backend._send_file

    async def note(name: str) -> None:
        sent.append(name)
        await send(name)

    away.kernel.backend._send_file = note  # type: ignore[method-assign]
    away.call(away.kernel.load(again.copied))
    assert away.text("print(frame.a.sum(), frame.b.sum(), frame.c.max())") == "4499998500000 4500000.0 2999999"
    assert sent
    assert set(sent) == {path.name for path in tmp_path.iterdir()} - before
    assert before & set(away.kernel.backend._sent_files)


def test_code_that_runs_too_long_there_is_interrupted_and_keeps_its_state(away: Box) -> None:
    away.run("x = 1")
    stopped = away.run("while True: pass", timeout_s=0.5)
    assert stopped.status == "timeout"
    assert away.text("print(x)") == "1"


def test_a_flood_of_output_there_is_stopped_and_the_sandbox_lives(away: Box) -> None:
    flooded = away.run("while True: print('x' * 1000)")
    assert flooded.status == "interrupted"
    assert "output" in flooded.reason
    assert away.text("print('alive')") == "alive"


@pytest.mark.long("another situation of what a test beside it proves")
def test_one_huge_message_there_is_refused_and_the_sandbox_lives(start: Callable[[SandboxPolicy], Box]) -> None:
    box = start(SandboxPolicy(levels=("command",), command=RELAY, message_bytes=1 << 20))
    huge = box.run(
        "print('before'); from IPython.display import display; display({'text/plain': 'x' * (2 << 20)}, raw=True)"
    )
    assert huge.status != "killed", huge.reason
    assert box.text("print('alive')") == "alive"


@pytest.mark.long("another situation of what a test beside it proves")
def test_memory_over_the_limit_there_ends_the_sandbox_with_the_limit_named(
    start: Callable[[SandboxPolicy], Box],
) -> None:
    box = start(SandboxPolicy(levels=("command",), command=RELAY, memory_bytes=300 << 20))
    code = "import mmap\nkept = mmap.mmap(-1, 900 << 20)\nfor at in range(0, 900 << 20, 4096): kept[at] = 1"
    ended = box.run(code)
    assert ended.status == "killed"
    assert "300 MiB" in ended.reason


def test_a_sandbox_that_ends_there_is_told_as_such(away: Box) -> None:
    ended = away.run("import os; os._exit(3)")
    assert ended.status == "killed"
    assert "exit status 3" in ended.reason


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_relay_that_is_killed_is_told_as_such_and_takes_its_sandbox_along(away: Box) -> None:

    relay = relays()[0]
    below = process_tree(relay)
    assert any(b"guest/serve.py" in command_line(pid) for pid in below)
    os.kill(relay, signal.SIGKILL)
    assert away.run("1").status == "killed"
    until = time.monotonic() + 10
    while any(map(command_line, below)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in below if command_line(pid)]


@pytest.mark.long("another situation of what a test beside it proves")
def test_stopping_leaves_no_relay_and_no_directory(
    start: Callable[[SandboxPolicy], Box], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        monkeypatch.setenv("TMPDIR", temporary)  # of the relay: this process has chosen its own already
        box = start(SandboxPolicy(levels=("command",), command=RELAY))
        assert relays()
        assert len(os.listdir(temporary)) == 2
        box.call(box.kernel.stop())
        assert not relays()
        assert not os.listdir(temporary)


HUGE = "import sys; sys.stdout.buffer.write(bytes([0, 1, 255, 255, 255, 255])); sys.stdout.flush(); input()"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ((), "no command is configured"),
        (("/no/such/program",), "/no/such/program cannot be started"),
        (("false",), "false ended with status 1"),
        (("sh", "-c", "echo Permission denied >&2; exit 255"), "status 255: Permission denied"),
        (("sh", "-c", "cat /etc/passwd; sleep 5"), "it sent something that is not a message"),
        ((sys.executable, "-c", HUGE), "the limit is"),
    ],
)  # fmt: skip
def test_a_command_that_starts_no_relay_is_a_sandbox_that_does_not_work(
    command: tuple[str, ...], reason: str, start: Callable[[SandboxPolicy], Box]
) -> None:
    with pytest.raises(SandboxUnavailableError, match="nothing was run") as refused:
        start(SandboxPolicy(levels=("command",), command=command))
    assert reason in str(refused.value)


def test_another_version_over_there_is_refused(
    start: Callable[[SandboxPolicy], Box], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.sandbox.remote.backend.installed_version", lambda: "99.0")
    with pytest.raises(SandboxUnavailableError, match=r"99\.0 here and .* there: the versions must be equal"):
        start(SandboxPolicy(levels=("command",), command=RELAY))


@pytest.mark.long("another situation of what a test beside it proves")
def test_keys_in_the_environment_do_not_reach_the_command(
    start: Callable[[SandboxPolicy], Box], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    box = start(SandboxPolicy(levels=("command",), command=RELAY))
    assert box.text("print('ok')") == "ok"
    assert all(b"sk-canary" not in Path(f"/proc/{pid}/environ").read_bytes() for pid in relays())


# --- containers -------------------------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_container_runs_the_code_and_its_walls_are_told(
    engine: Path, start: Callable[[SandboxPolicy], Box]
) -> None:
    box = start(CONTAINER)
    assert box.text("print(6 * 7)") == "42"
    status = box.kernel.status
    assert status.label == "container (docker codeagent-sandbox), no network"
    assert status.layers[0].startswith("rootless docker container: no network interface, read-only root")
    assert {"TCP", "read files outside", "write files outside"} <= set(status.closed)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_container_gets_its_limits_from_the_policy(engine: Path, start: Callable[[SandboxPolicy], Box]) -> None:
    import json

    start(
        SandboxPolicy(
            levels=("container",), image="codeagent-sandbox", memory_bytes=1 << 30, processes=7, threads=100
        )
    )
    (noted,) = engine.iterdir()
    given = json.loads(noted.read_text())["given"]
    assert given["--network"] == ["none"]
    assert given["--pids-limit"] == ["107"]
    assert given["--memory"] == given["--memory-swap"]
    assert int(given["--memory"][0]) > 1 << 30
    assert given["--cap-drop"] == ["ALL"]
    assert given["--security-opt"] == ["no-new-privileges"]
    assert given["--pull"] == ["never"]


@pytest.mark.parametrize(
    ("taken_out", "fault"),
    [
        (["--network", "none"], "a network interface"),
        (["--read-only"], "a writable root"),
        (["--user", "1000:1000"], "root's identity"),
    ],
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_container_without_one_of_its_walls_is_refused(
    taken_out: list[str],
    fault: str,
    engine: Path,
    start: Callable[[SandboxPolicy], Box],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_argv = container.run_argv

    def weakened(found: container.Engine, policy: SandboxPolicy, *, name: str) -> list[str]:
        argv = run_argv(found, policy, name=name)
        at = argv.index(taken_out[0])
        put_in = ["--user", "0:0"] if taken_out[0] == "--user" else []
        return [*argv[:at], *put_in, *argv[at + len(taken_out) :]]

    monkeypatch.setattr(container, "run_argv", weakened)
    if taken_out[0] == "--network" and len(os.listdir("/sys/class/net")) < 2:
        pytest.skip("this machine has no network interface that could be seen")
    with pytest.raises(SandboxUnavailableError, match=f"it has .*{fault}"):
        start(CONTAINER)


def test_an_image_that_is_not_there_is_not_pulled_and_the_error_says_how_to_build_it(
    engine: Path, start: Callable[[SandboxPolicy], Box]
) -> None:
    with pytest.raises(SandboxUnavailableError, match=r"has no image 'other'.*Dockerfile -t other"):
        start(SandboxPolicy(levels=("container",), image="other"))


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_container_is_ended_by_its_engine_where_its_client_is_gone(
    engine: Path, start: Callable[[SandboxPolicy], Box], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    kill_argv = container.kill_argv

    def noted_kill(found: container.Engine, *, name: str) -> list[str]:
        asked.append(name)
        return kill_argv(found, name=name)

    monkeypatch.setattr(container, "kill_argv", noted_kill)
    box = start(CONTAINER)
    box.call(box.kernel.stop())
    (noted,) = engine.iterdir()
    assert asked == [noted.name]
    assert not relays()


def test_a_real_container_engine_runs_the_code(start: Callable[[SandboxPolicy], Box]) -> None:
    image = os.environ.get("CODEAGENT_TEST_IMAGE", "codeagent-sandbox")
    try:
        found = asyncio.run(container.find_engine(""))
        asyncio.run(container.check_image(found, image))
    except SandboxUnavailableError as problem:
        pytest.skip(f"no container can be started here: {problem}")
    box = start(SandboxPolicy(levels=("container",), image=image))
    assert box.text("print(6 * 7)") == "42"


def test_a_program_in_the_users_path_is_not_taken_for_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(FAKE_ENGINE / "docker", tmp_path / "docker")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(container, "TRUSTED_PATH", "/nowhere")
    with pytest.raises(SandboxUnavailableError, match="docker is not installed"):
        asyncio.run(container.find_engine("docker"))


DOCKER_INFO = '{"SecurityOptions": ["name=seccomp,profile=builtin"], "Runtimes": {"runc": {}, "runsc": {}}}'
PODMAN_INFO = '{"host": {"security": {"rootless": true}}}'


@pytest.mark.parametrize(
    ("program", "info", "rootless"),
    [("docker", DOCKER_INFO, False), ("podman", PODMAN_INFO, True), ("docker", "{}", False)],
)
def test_the_engine_is_known_by_what_it_says_of_itself(program: str, info: str, rootless: bool) -> None:
    found = container.engine_from(program, f"/usr/bin/{program}", info)
    assert found.rootless == rootless
    assert "--runtime" not in container.run_argv(found, CONTAINER, name="n"), "no level starts in gVisor"
