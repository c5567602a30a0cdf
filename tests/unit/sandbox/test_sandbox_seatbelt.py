"""The level for macOS, as far as it can be tested on Linux: profile, command line, supervisor, readings, limits."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jupyter_client.manager import AsyncKernelManager

from jupyter_codeagent.sandbox.local.walls import seatbelt, supervisor
from jupyter_codeagent.sandbox.local.walls.provisioner import SandboxProvisioner
from jupyter_codeagent.sandbox.local.walls.seatbelt import SeatbeltPaths, quoted, seatbelt_profile
from jupyter_codeagent.sandbox.local.walls.spec import SandboxSpecManager, sandbox_spec
from jupyter_codeagent.sandbox.local.watch import libproc, processes
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxPolicy

HOME = "/Users/ada"
PRIVATE = "/private/tmp/codeagent-x"
VENV = "/Users/ada/venv"
PYTHON = "/opt/homebrew/Cellar/python@3.12/3.12.7/bin/python3.12"
END_TIMEOUT_S = 30.0


def places(**changed: Any) -> SeatbeltPaths:
    given_places: dict[str, Any] = {
        "programs": [PYTHON],
        "code": [VENV, "/opt/homebrew/Cellar/python@3.12/3.12.7"],
        "data": ["/private/tmp/copies"],
        "scratch": f"{PRIVATE}/s",
        "sockets": f"{PRIVATE}/c",
        "traversed": ["/Users", HOME, "/opt/homebrew", PRIVATE],
    }
    return SeatbeltPaths(**{**given_places, **changed})


def test_a_file_that_the_user_shows_can_be_read_and_not_written_and_its_neighbours_stay_unseen() -> None:
    shown = f"{HOME}/data/trips.parquet"
    profile = seatbelt_profile(places(files=[shown]), subprocess=False)
    assert allows(profile, "file-read-data", path=shown)
    assert not allows(PLAIN, "file-read-data", path=shown)
    for operation in ("file-write-data", "file-write-unlink", "process-exec", "file-map-executable"):
        assert not allows(profile, operation, path=shown)
    assert not allows(profile, "file-read-data", path=f"{HOME}/data/other.parquet")
    assert not allows(profile, "file-read-data", path=f"{HOME}/data")


# --- a reader of profiles, written apart from their writer ---------------------------------------------


class Text(str):
    """A string of the profile, as against a symbol."""


Form: TypeAlias = "Text | str | list[Form]"


def parse(text: str) -> list[Form]:
    """All top-level forms; fails for brackets that do not match and strings that do not end."""
    stack: list[list[Form]] = [[]]
    at = 0
    while at < len(text):
        if text[at] == "(":
            stack.append([])
        elif text[at] == ")":
            done = stack.pop()
            stack[-1].append(done)
        elif text[at] == '"':
            string, at = _string(text, at + 1)
            stack[-1].append(string)
        elif not text[at].isspace():
            end = at
            while end < len(text) and not text[end].isspace() and text[end] not in '()"':
                end += 1
            stack[-1].append(text[at:end])
            at = end - 1
        at += 1
    assert len(stack) == 1, "a bracket is not closed"
    return stack[0]


def _string(text: str, at: int) -> tuple[Text, int]:
    """The string that begins here, and where its closing quote is."""
    found = ""
    while text[at] != '"':
        if text[at] == "\\":
            at += 1
            assert text[at] in '"\\', f"\\{text[at]} means something else than {text[at]}"
        found += text[at]
        at += 1
    return Text(found), at


def allows(profile: str, operation: str, **subject: str) -> bool:
    """Whether a process may; the last rule that matches decides. `subject`: path, vnode, name, target, domain."""
    allowed = False
    for form in parse(profile):
        assert isinstance(form, list)
        if form[0] not in ("allow", "deny"):
            assert form[0] in ("version", "import")
            continue
        operations = list(itertools.takewhile(lambda part: isinstance(part, str), form[1:]))
        filters = form[1 + len(operations) :]
        if not any(_covers(str(pattern), operation) for pattern in operations):
            continue
        if not filters or any(_matches(each, subject) for each in filters):
            allowed = form[0] == "allow"
    return allowed


def _covers(pattern: str, operation: str) -> bool:
    if pattern == "default":
        return True
    return operation.startswith(pattern[:-1]) if pattern.endswith("*") else operation == pattern


def _matches(form: Form, subject: dict[str, str]) -> bool:
    assert isinstance(form, list)
    kind, arguments = form[0], form[1:]
    if kind == "require-all":
        return all(_matches(each, subject) for each in arguments)
    if kind == "local":
        assert arguments[0] == "unix-socket"
        return subject.get("domain") == "AF_UNIX" and all(_matches(each, subject) for each in arguments[1:])
    (argument,) = arguments
    value = subject.get(_ABOUT[str(kind)])
    if kind == "subpath":
        return value is not None and (value == argument or value.startswith(f"{argument}/"))
    if str(kind).endswith("-prefix"):
        return value is not None and value.startswith(str(argument))
    return value == argument


_ABOUT = {
    "literal": "path",
    "subpath": "path",
    "vnode-type": "vnode",
    "target": "target",
    "socket-domain": "domain",
    "sysctl-name": "name",
    "sysctl-name-prefix": "name",
    "ipc-posix-name-prefix": "name",
}
"""What a filter looks at; one that is not here fails the test."""


# --- the profile -----------------------------------------------------------------------------------------

PLAIN = seatbelt_profile(places(), subprocess=False)
WITH_SUBPROCESS = seatbelt_profile(places(), subprocess=True)
BOTH = pytest.mark.parametrize("profile", [PLAIN, WITH_SUBPROCESS], ids=["plain", "subprocess"])

OUTSIDE = [
    f"{HOME}/.ssh/id_ed25519",
    f"{HOME}/Library/Keychains/login.keychain-db",
    f"{HOME}/notebook.ipynb",
    f"{VENV}-other/secret",
    f"{PRIVATE}/t/canary",
    f"{PRIVATE}/cc/k.json",
    "/private/etc/passwd",
    "/private/etc/master.passwd",
    "/private/var/db/dslocal/nodes/Default/users/ada.plist",
    "/private/var/folders/zz/T/other",
    "/Volumes/Backup/x",
    "/Library/Preferences/SystemConfiguration/preferences.plist",
    "/opt/homebrew/etc/secret",
    "/usr/local/etc/secret",
    "/System/Volumes/Data/Users/ada/notebook.ipynb",
    "/dev/disk0",
    "/dev/ttys001",
    "/dev/auditpipe",
]


@BOTH
@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_can_be_read_or_written(profile: str, path: str) -> None:
    for operation in (
        "file-read-data",
        "file-read-xattr",
        "file-write-data",
        "file-write-create",
        "file-write-mode",
    ):
        assert not allows(profile, operation, path=path, vnode="REGULAR-FILE"), operation


@BOTH
@pytest.mark.parametrize("path", [f"{HOME}/notebook.ipynb", f"{HOME}/.ssh", f"{PRIVATE}/t/canary", "/Volumes/x"])
def test_not_even_the_names_of_the_users_files_are_known(profile: str, path: str) -> None:
    assert not allows(profile, "file-read-metadata", path=path)


@BOTH
@pytest.mark.parametrize(
    "path",
    [
        f"{VENV}/lib/python3.12/site-packages/numpy/__init__.py",
        "/private/tmp/copies/df.bin",
        f"{PRIVATE}/s/plot.png",
        f"{PRIVATE}/c/k.json",
        "/System/Library/Fonts/Helvetica.ttc",
        "/usr/lib/libSystem.B.dylib",
        "/usr/share/zoneinfo.default/Europe/Berlin",
        "/private/var/db/timezone/zoneinfo/UTC",
        "/dev/urandom",
        "/dev/null",
        "/",
        PYTHON,
    ],
)
def test_what_the_interpreter_needs_can_be_read(profile: str, path: str) -> None:
    assert allows(profile, "file-read-data", path=path)
    assert allows(profile, "file-read-metadata", path=path)


@BOTH
def test_only_scratch_can_be_written(profile: str) -> None:
    for operation in ("file-write-create", "file-write-data", "file-write-unlink", "file-write-mode"):
        assert allows(profile, operation, path=f"{PRIVATE}/s/new", vnode="REGULAR-FILE")
        for path in (VENV, f"{VENV}/x", "/private/tmp/copies/df.bin", f"{PRIVATE}/c/k.json", PYTHON, PRIVATE):
            assert not allows(profile, operation, path=path, vnode="REGULAR-FILE"), (operation, path)
    assert not allows(profile, "file-link", path=f"{PRIVATE}/s/new")


@BOTH
def test_code_is_mapped_from_where_the_sandbox_cannot_write(profile: str) -> None:
    assert allows(profile, "file-map-executable", path=f"{VENV}/lib/x.so")
    assert allows(profile, "file-map-executable", path=PYTHON)
    for path in (f"{PRIVATE}/s/x.so", "/private/tmp/copies/x.so", f"{PRIVATE}/c/x.so", f"{HOME}/x.so"):
        assert not allows(profile, "file-map-executable", path=path)


@BOTH
def test_sockets_are_bound_in_the_connection_directory_and_called_nowhere(profile: str) -> None:
    ours = f"{PRIVATE}/c/k-ipc-1"
    assert allows(profile, "system-socket", domain="AF_UNIX")
    assert not allows(profile, "system-socket", domain="AF_INET")
    assert not allows(profile, "system-socket", domain="AF_SYSTEM")
    assert allows(profile, "network-bind", domain="AF_UNIX", path=ours)
    assert allows(profile, "network-inbound", domain="AF_UNIX", path=ours)
    assert allows(profile, "file-write-create", path=ours, vnode="SOCKET")
    assert not allows(profile, "file-write-create", path=ours, vnode="REGULAR-FILE")
    assert not allows(profile, "file-write-unlink", path=ours, vnode="SOCKET")
    for path in (f"{PRIVATE}/t/u", "/private/var/run/mDNSResponder", "/private/tmp/com.apple.launchd/Listeners"):
        assert not allows(profile, "network-bind", domain="AF_UNIX", path=path)
        assert not allows(profile, "network-outbound", domain="AF_UNIX", path=path)
    assert not allows(profile, "network-outbound", domain="AF_UNIX", path=ours)
    for operation in ("network-outbound", "network-bind", "network-inbound"):
        assert not allows(profile, operation, domain="AF_INET")


@BOTH
def test_no_service_of_the_system_can_be_asked(profile: str) -> None:
    for service in ("com.apple.pasteboard.1", "com.apple.SecurityServer", "com.apple.coreservices.appleevents"):
        assert not allows(profile, "mach-lookup", name=service)
    for operation in ("mach-register", "appleevent-send", "iokit-open", "job-creation", "lsopen", "pseudo-tty"):
        assert not allows(profile, operation)


@BOTH
def test_other_processes_are_neither_seen_nor_signalled(profile: str) -> None:
    assert not allows(profile, "signal", target="others")
    assert not allows(profile, "process-info-pidinfo", target="others")
    assert not allows(profile, "mach-priv-task-port")
    for name in ("kern.procargs2", "kern.proc.pid.1", "kern.proc.all", "kern.uuid", "hw.serialnumber"):
        assert not allows(profile, "sysctl-read", name=name)
    assert not allows(profile, "sysctl-write", name="kern.hostname")


def test_of_the_machine_is_known_what_uname_and_processor_counts_ask() -> None:
    for name in ("kern.ostype", "kern.hostname", "kern.osrelease", "kern.version", "hw.machine", "hw.ncpu"):
        assert allows(PLAIN, "sysctl-read", name=name)


def test_programs_are_started_only_where_that_is_allowed() -> None:
    assert allows(PLAIN, "process-exec", path=PYTHON)
    assert not allows(PLAIN, "process-fork")
    assert not allows(PLAIN, "process-exec", path="/bin/sh")
    assert not allows(PLAIN, "file-read-data", path="/bin/sh")
    assert not allows(PLAIN, "ipc-posix-sem", name="/mp-abc")
    assert allows(WITH_SUBPROCESS, "process-fork")
    assert allows(WITH_SUBPROCESS, "process-exec", path="/bin/sh")
    assert not allows(WITH_SUBPROCESS, "process-exec", path=f"{PRIVATE}/s/program")
    assert not allows(WITH_SUBPROCESS, "ipc-posix-sem", name="/of-another-program")


def test_signals_reach_oneself_and_with_subprocesses_the_same_sandbox() -> None:
    assert allows(PLAIN, "signal", target="self")
    assert not allows(PLAIN, "signal", target="same-sandbox")
    assert allows(WITH_SUBPROCESS, "signal", target="same-sandbox")


def test_the_first_rule_denies_everything_and_no_rule_allows_without_saying_what() -> None:
    forms = parse(WITH_SUBPROCESS)
    assert forms[:2] == [["version", "1"], ["deny", "default"]]
    without_filter = [
        form for form in forms if isinstance(form, list) and not any(isinstance(x, list) for x in form)
    ]
    assert without_filter[2:] == [["allow", "process-fork"]]


def test_the_systems_own_profile_for_the_loader_is_imported_where_there_is_one(tmp_path: Path) -> None:
    assert seatbelt.system_imports(str(tmp_path)) == ()
    (tmp_path / "dyld-support.sb").touch()
    imports = seatbelt.system_imports(str(tmp_path))
    assert parse(seatbelt_profile(places(), subprocess=False, imports=imports))[2] == ["import", "dyld-support.sb"]


# --- names that want to be more than names ---------------------------------------------------------------

HOSTILE = st.text(st.sampled_from("ab ()\"\\;#|'.*\n\t\0é\ud800") | st.characters(), min_size=1, max_size=20)


@given(name=HOSTILE)
@example(name='x"))(allow default)(allow file-read* (subpath "')
@example(name="x\\")
@example(name='\\"')
@example(name=") (allow network*) (")
@example(name="a\nb")
@example(name="; (deny")
def test_a_directory_is_named_exactly_or_refused(name: str) -> None:
    path = f"/private/tmp/{name}"
    try:
        profile = seatbelt_profile(places(scratch=path), subprocess=False)
    except SandboxUnavailableError:
        unclean = (
            any(not part.isprintable() and part != "\xa0" for part in name) or "/" in name or name in (".", "..")
        )
        assert unclean or any(ord(part) < 32 for part in name)
        return
    assert [form[:2] for form in parse(profile)] == [form[:2] for form in parse(PLAIN)]
    assert allows(profile, "file-write-data", path=f"{path}/file")
    assert not allows(profile, "file-write-data", path="/private/tmp/other")
    assert not allows(profile, "network-outbound", domain="AF_INET")


@pytest.mark.parametrize("text", ["a\nb", "a\tb", "a\0b", "a\x7fb", "a\udc80b", "\r"])
def test_what_cannot_be_quoted_is_refused(text: str) -> None:
    with pytest.raises(SandboxUnavailableError, match="cannot name"):
        quoted(text)


@pytest.mark.parametrize("path", ["", "relative", "/a/../b", "/a//b", "//a", "/a/", "/a/.", "~/x"])
@pytest.mark.parametrize("place", ["scratch", "sockets"])
def test_a_path_that_is_not_absolute_and_plain_is_refused(place: str, path: str) -> None:
    with pytest.raises(SandboxUnavailableError, match="cannot be confined"):
        seatbelt_profile(places(**{place: path}), subprocess=False)


@pytest.mark.parametrize("changed", [{"scratch": "/"}, {"sockets": "/"}, {"code": ["/"]}, {"data": ["/"]}])
def test_the_whole_disk_is_never_granted(changed: dict[str, Any]) -> None:
    with pytest.raises(SandboxUnavailableError, match="cannot be confined"):
        seatbelt_profile(places(**changed), subprocess=False)


# --- the look at the machine -----------------------------------------------------------------------------


def found(tmp_path: Path, **changed: Any) -> SeatbeltPaths:
    for name in ("s", "c", "code", "data"):
        (tmp_path / name).mkdir(exist_ok=True)
    asked: dict[str, Any] = {
        "executable": sys.executable,
        "base_prefix": str(tmp_path),
        "code": [str(tmp_path / "code")],
        "data": [str(tmp_path / "data")],
        "scratch": str(tmp_path / "s"),
        "sockets": str(tmp_path / "c"),
    }
    return seatbelt.resolve_paths(**{**asked, **changed})


def test_places_are_named_as_they_are_when_every_link_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seatbelt, "MAX_SOCKET_PATH", 1000)
    real = Path(os.path.realpath(tmp_path))
    (tmp_path / "link").symlink_to("s")
    chosen = found(tmp_path, scratch=str(tmp_path / "link"))
    assert chosen.scratch == f"{real}/s"
    assert {f"{real}/link", f"{real}/s", str(real), str(real.parent)} <= set(chosen.traversed)
    assert chosen.programs == (os.path.realpath(sys.executable),)
    assert sys.executable in chosen.traversed


def test_the_program_behind_the_stub_of_a_framework_build_may_be_executed(tmp_path: Path) -> None:
    application = tmp_path / "Resources/Python.app/Contents/MacOS/Python"
    application.parent.mkdir(parents=True)
    application.touch()
    programs = seatbelt.interpreter_programs(sys.executable, str(tmp_path))
    assert programs == (os.path.realpath(sys.executable), os.path.realpath(application))


def test_links_that_lead_on_are_followed_under_their_own_names(tmp_path: Path) -> None:
    real = os.path.realpath(tmp_path)
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "first").symlink_to("second")
    (tmp_path / "second").symlink_to(f"{real}/a")
    (tmp_path / "a/up").symlink_to("../first/b")
    passed = seatbelt.traversed_paths([f"{real}/first/up/file"])
    below = [name.removeprefix(real) for name in passed if name.startswith(f"{real}/")]
    assert below == ["/first", "/second", "/a", "/a/up", "/a/b", "/a/b/file"]
    assert all(not os.path.islink(os.path.dirname(name)) for name in passed)


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(SandboxUnavailableError, match="more than 40 links"):
        seatbelt.traversed_paths([str(tmp_path / "a")])


def test_a_directory_too_deep_for_socket_addresses_is_refused_with_a_hint(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    with pytest.raises(SandboxUnavailableError, match="macOS allows 103: set TMPDIR to a shorter"):
        found(tmp_path, sockets=str(deep))
    seatbelt.check_socket_length("/private/tmp/codeagent-abcdefgh/c")


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has it")
def test_elsewhere_than_on_macos_the_level_says_that_it_is_not_there() -> None:
    with pytest.raises(SandboxUnavailableError, match=f"part of macOS, this is {sys.platform}"):
        seatbelt.require_sandbox_exec()


# --- the supervisor --------------------------------------------------------------------------------------

HOLDS_THE_LOCK = (
    "import signal, re; signal.signal(2, signal.SIG_IGN); print('up', flush=True); re.match('(a+)+b', 'a' * 99)"
)


def supervise(*code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        supervisor.supervised([sys.executable, "-c", *code]),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[bytes]) -> int:
    """Its status, with the pipe held open until then."""
    status = process.wait(END_TIMEOUT_S)
    process.communicate()
    return status


def gone(pid: int) -> bool:
    """Whether it has ended, collected by its parent or not."""
    deadline = time.monotonic() + END_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):  # the second: it ended between opening and reading
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 128 + signal.SIGKILL)]
)
def test_the_status_of_the_sandbox_is_that_of_its_supervisor(code: str, status: int) -> None:
    assert ended(supervise(code)) == status


def test_a_program_that_is_not_there_is_named_and_ends_the_supervisor() -> None:
    done = subprocess.run(
        supervisor.supervised(["/no/such/sandbox-exec"]), stdin=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
    assert done.returncode == supervisor.BROKEN
    assert b"/no/such/sandbox-exec" in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="reads /proc")
def test_a_sandbox_that_never_lets_the_interpreters_lock_go_ends_with_the_pipe() -> None:
    process = supervise(HOLDS_THE_LOCK)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    kernel = processes.first_child(process.pid)
    assert kernel is not None
    process.stdin.close()
    assert gone(kernel)
    assert process.wait(END_TIMEOUT_S) == 128 + signal.SIGKILL
    process.stdout.close()


@pytest.mark.skipif(sys.platform == "darwin", reason="reads /proc")
def test_a_host_that_is_killed_takes_its_sandbox_along() -> None:
    command = supervisor.supervised([sys.executable, "-c", HOLDS_THE_LOCK])
    host = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(f"""
                import subprocess, time
                child = subprocess.Popen({command!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                child.stdout.readline()
                print(child.pid, flush=True)
                time.sleep(1000)
            """),
        ],
        stdout=subprocess.PIPE,
    )
    assert host.stdout is not None
    outer = int(host.stdout.readline())
    inner = processes.first_child(outer)
    assert inner is not None
    host.kill()
    host.communicate(timeout=END_TIMEOUT_S)
    assert gone(inner)
    assert gone(outer)


@pytest.mark.skipif(sys.platform == "darwin", reason="reads /proc")
def test_an_interrupt_of_the_whole_group_does_not_end_the_supervisor() -> None:
    process = supervise("import time; print('up', flush=True); time.sleep(1000)")
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    kernel = processes.first_child(process.pid)
    assert kernel is not None
    os.killpg(process.pid, signal.SIGINT)
    assert os.path.exists(f"/proc/{kernel}")
    assert process.poll() is None
    os.kill(kernel, signal.SIGINT)  # what the host sends; by default it ends the child, so it is not ignored there
    assert ended(process) == 128 + signal.SIGINT


# --- the provisioner's wiring, with a sandbox-exec that only notes what it was given -----------------------


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SandboxProvisioner]]:
    program = tmp_path / "sandbox-exec"
    program.write_text(
        f"#!{sys.executable}\nimport json, sys, time\nprint(json.dumps(sys.argv), flush=True)\ntime.sleep(1000)\n",
        encoding="utf-8",
    )
    program.chmod(0o700)
    monkeypatch.setattr(seatbelt, "SANDBOX_EXEC", str(program))
    monkeypatch.setattr(seatbelt, "MAX_SOCKET_PATH", 1000)
    monkeypatch.setattr(seatbelt, "require_sandbox_exec", lambda: None)
    made: list[SandboxProvisioner] = []

    def make(**changed: Any) -> SandboxProvisioner:
        for name in ("s", "c", "data"):
            (tmp_path / name).mkdir()
        manager = AsyncKernelManager(
            kernel_name="sandbox",
            transport="ipc",
            connection_file=str(tmp_path / "c/k.json"),
            kernel_spec_manager=SandboxSpecManager(),
        )
        made.append(
            SandboxProvisioner(
                parent=manager,
                kernel_id="x",
                kernel_spec=sandbox_spec(),
                level="seatbelt",
                data_dir=str(tmp_path / "data"),
                scratch_dir=str(tmp_path / "s"),
                **changed,
            )
        )
        manager.provisioner = made[-1]
        return made[-1]

    yield make
    for provisioner in made:
        provisioner.close_pipes()
        if provisioner.process is not None:
            provisioner.process.wait(END_TIMEOUT_S)


@pytest.mark.skipif(sys.platform == "darwin", reason="reads /proc")
def test_the_kernel_is_started_behind_the_profile_and_ends_with_the_pipe_that_we_hold(
    pretended: Callable[..., SandboxProvisioner], tmp_path: Path
) -> None:
    async def start(provisioner: SandboxProvisioner) -> dict[str, Any]:
        command, arguments = await provisioner.parent.pre_start_kernel()
        await provisioner.launch_kernel(command, **arguments)
        return {"env": provisioner.environment}

    provisioner = pretended(limits={"NOFILE": 1024})
    started = asyncio.run(start(provisioner))
    with os.fdopen(os.dup(provisioner.report_fd), "rb") as report:
        words = json.loads(report.readline())
    assert words[1] == "-p"
    profile, command = words[2], words[3:]
    scratch = os.path.realpath(tmp_path / "s")
    assert allows(profile, "file-write-data", path=f"{scratch}/x")
    assert allows(profile, "process-exec", path=os.path.realpath(sys.executable))
    assert not allows(profile, "file-write-data", path=f"{os.path.realpath(tmp_path)}/data/x")
    assert not allows(profile, "process-fork")
    assert command[0] == sys.executable
    assert command[3].endswith("serve.py")
    assert json.loads(command[4])["level"] == "seatbelt"
    assert started["env"]["OPENSSL_CONF"] == "/dev/null"
    kernel = provisioner.inner_pid
    assert kernel is not None
    assert kernel != provisioner.outer_pid
    provisioner.close_pipes()
    assert gone(kernel)


def test_subprocesses_are_refused_where_they_could_outlive_the_sandbox(
    pretended: Callable[..., SandboxProvisioner],
) -> None:
    with pytest.raises(SandboxUnavailableError, match="no process namespace"):
        asyncio.run(pretended(allow_subprocess=True).pre_launch())


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has it")
def test_a_level_of_macos_leaves_no_pipe_open_elsewhere(tmp_path: Path) -> None:
    manager = AsyncKernelManager(transport="ipc", connection_file=str(tmp_path / "k.json"))
    provisioner = SandboxProvisioner(
        parent=manager, kernel_id="x", kernel_spec=sandbox_spec(), level="seatbelt", scratch_dir=str(tmp_path)
    )
    before = os.listdir("/proc/self/fd")
    with pytest.raises(SandboxUnavailableError, match="part of macOS"):
        asyncio.run(provisioner.pre_launch())
    assert len(os.listdir("/proc/self/fd")) == len(before)


# --- readings without /proc ------------------------------------------------------------------------------


class Library:
    """Answers as libSystem does, with structures laid out by hand from the headers."""

    def __init__(self, *, timebase: tuple[int, int] = (1, 1), alive: bool = True) -> None:
        self.timebase = timebase
        self.alive = alive

    def proc_listpids(self, kind: int, parent: int, buffer: Any, size: int) -> int:
        assert (kind, parent) == (6, 7)
        assert size == len(buffer)
        buffer[:12] = struct.pack("=3i", 41, 42, 0)
        return 12 if self.alive else -1

    def proc_pidinfo(self, pid: int, flavour: int, argument: ctypes.c_uint64, buffer: Any, size: int) -> int:
        assert (pid, flavour, argument.value, size) == (7, 4, 0, 96)
        buffer[:96] = struct.pack("=6Q", *[1 << 40] * 6) + struct.pack("=12i", *range(100, 112))
        return 96 if self.alive else 0

    def proc_pid_rusage(self, pid: int, flavour: int, buffer: Any) -> int:
        assert (pid, flavour, len(buffer)) == (7, 1, 144)
        own = [3_000_000_000, 2_000_000_000, 0, 0, 0, 0, 5 << 20, 9 << 20, 0, 0]
        of_children = [600_000_000, 400_000_000, 0, 0, 0, 0]
        buffer[:144] = bytes(16) + struct.pack("=16Q", *own, *of_children)
        return 0 if self.alive else -1

    def mach_timebase_info(self, buffer: Any) -> int:
        buffer[:8] = struct.pack("=II", *self.timebase)
        return 0


def test_the_structures_of_libproc_are_read_as_the_headers_lay_them_out() -> None:
    reading = libproc.read(7, Library())
    assert reading == libproc.Reading(memory_bytes=9 << 20, resident_bytes=5 << 20, threads=109, processor_s=6.0)


def test_processor_time_on_apple_silicon_is_converted_from_ticks() -> None:
    reading = libproc.read(7, Library(timebase=(125, 3)))
    assert reading is not None
    assert reading.processor_s == pytest.approx(250.0)


def test_children_are_listed_without_the_empty_places_of_the_buffer() -> None:
    assert libproc.children(7, Library()) == [41, 42]
    assert libproc.children(7, Library(alive=False)) == []


def test_a_process_that_has_ended_has_no_reading() -> None:
    assert libproc.read(7, Library(alive=False)) is None
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert libproc.exists(os.getpid())
    assert libproc.exists(1)  # not ours to signal
    assert not libproc.exists(child.pid)


def test_the_end_of_a_process_is_told_where_there_is_no_pidfd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    fd = processes.open_exit_descriptor(child)
    try:
        os.set_blocking(fd, False)
        with pytest.raises(BlockingIOError):
            os.read(fd, 1)
        child.kill()
        os.set_blocking(fd, True)
        assert os.read(fd, 1) == b""
        assert child.returncode == -signal.SIGKILL
    finally:
        os.close(fd)
        child.communicate()


# --- inside ------------------------------------------------------------------------------------------------


def run_as_on_a_mac(code: str) -> dict[str, Any]:
    """In an interpreter that believes it is on macOS from here on; what was imported before does not notice."""
    preamble = "import sys; sys.platform = 'darwin'\n"
    done = subprocess.run(
        [sys.executable, "-c", preamble + textwrap.dedent(code)], stdout=subprocess.PIPE, check=True, timeout=100
    )
    return dict(json.loads(done.stdout))


def test_on_macos_descriptors_are_closed_and_the_limits_set_that_exist_there() -> None:
    seen = run_as_on_a_mac("""
        import fcntl, json, os, resource
        from jupyter_codeagent.sandbox.guest import enforce
        high = fcntl.fcntl(os.open("/", os.O_RDONLY), fcntl.F_DUPFD, 700)
        data = resource.getrlimit(resource.RLIMIT_DATA)
        report = enforce.enforce_early(enforce.Confinement(
            level="seatbelt", read=(), write=(), sockets=(), subprocess=False,
            limits={"CORE": 0, "NOFILE": 512, "FSIZE": 1 << 30, "DATA": 1 << 30}))
        try:
            os.fstat(high)
        except OSError:
            high = -1
        print(json.dumps({
            "report": report, "high": high, "files": resource.getrlimit(resource.RLIMIT_NOFILE),
            "size": resource.getrlimit(resource.RLIMIT_FSIZE)[0], "umask": os.umask(0),
            "same_data": data == resource.getrlimit(resource.RLIMIT_DATA)}))
    """)
    assert seen == {
        "report": {"level": "seatbelt", "landlock": 0},
        "high": -1,
        "files": [512, 512],
        "size": 1 << 30,
        "umask": 0o077,
        "same_data": True,
    }


@pytest.mark.parametrize("level", ["bubblewrap", "namespaces", "landlock"])
def test_on_macos_a_level_of_linux_is_refused_before_anything_is_served(level: str) -> None:
    seen = run_as_on_a_mac(f"""
        import json
        from jupyter_codeagent.sandbox.guest import enforce
        try:
            enforce.enforce_early(enforce.Confinement(
                level={level!r}, read=(), write=(), sockets=(), limits={{}}, subprocess=False))
        except OSError as problem:
            print(json.dumps({{"refused": problem.strerror}}))
    """)
    assert seen == {"refused": f"level {level} needs Linux"}


@pytest.mark.skipif(sys.platform == "darwin", reason="there it is allowed")
def test_on_linux_the_level_of_macos_is_refused_before_anything_is_changed() -> None:
    seen = run_as_on_a_mac("""
        sys.platform = "linux"
        import json, resource
        from jupyter_codeagent.sandbox.guest import enforce
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        try:
            enforce.enforce_early(enforce.Confinement(
                level="seatbelt", read=(), write=(), sockets=(), limits={"NOFILE": 64}, subprocess=False))
        except OSError as problem:
            same = before == resource.getrlimit(resource.RLIMIT_NOFILE)
            print(json.dumps({"refused": problem.strerror, "same": same}))
    """)
    assert seen == {"refused": "level seatbelt needs macOS", "same": True}


def test_every_module_of_the_sandbox_can_be_imported_on_macos() -> None:
    """Without names that only Linux has, and without a look at /proc."""
    seen = run_as_on_a_mac("""
        sys.platform = "linux"  # what others have written chooses its own parts first
        import asyncio, importlib, json, os, pkgutil, signal, subprocess, zmq.asyncio
        import ipykernel.kernelapp, jupyter_client.manager, jupyter_client.provisioning, IPython, pyarrow
        import multiprocessing.synchronize, concurrent.futures, ssl, sqlite3, tempfile, platform
        import jupyter_codeagent.notebook.outputs
        sys.platform = "darwin"
        os.uname = lambda: os.uname_result(("Darwin", "mac", "24.0", "Darwin Kernel", "arm64"))
        platform.machine = lambda: "arm64"
        linux = ["pidfd_open", "unshare", "memfd_create", "sched_getaffinity", "O_TMPFILE", "O_PATH"]
        for name in linux:
            if hasattr(os, name):
                delattr(os, name)
        looks = []
        sys.addaudithook(lambda event, what: looks.append(what[0]) if event in ("open", "os.listdir")
            and str(what[0]).startswith("/proc") else None)
        import jupyter_codeagent.sandbox.guest, jupyter_codeagent.sandbox
        imported = []
        for package in (jupyter_codeagent.sandbox, jupyter_codeagent.sandbox.guest):
            for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                importlib.import_module(module.name)
                imported.append(module.name)
        processes = sys.modules["jupyter_codeagent.sandbox.local.watch.processes"]
        print(json.dumps({"imported": imported, "looks": looks, "reads": processes._read.__module__}))
    """)
    assert {"jupyter_codeagent.sandbox.local.walls.seatbelt", "jupyter_codeagent.sandbox.guest.probes"} <= set(
        seen["imported"]
    )
    assert seen["looks"] == []
    assert seen["reads"] == "jupyter_codeagent.sandbox.local.watch.libproc"


# --- the real thing ------------------------------------------------------------------------------------------

ATTEMPTS = {
    "read the home": "import os; os.listdir(os.path.dirname({home!r}) and {home!r})",
    "read a file": "open({canary!r}).read()",
    "write beside it": "open({canary!r} + '.new', 'w')",
    "change its mode": "import os; os.chmod({canary!r}, 0o644)",
    "call out": "import socket; socket.create_connection(('127.0.0.1', 9), 1)",
    "listen": "import socket; socket.create_server(('127.0.0.1', 0))",
    "start a program": "import subprocess; subprocess.run(['/usr/bin/true'])",
    "signal the host": "import os; os.kill({pid}, 0)",
}


@pytest.mark.skipif(
    sys.platform != "darwin", reason=f"Seatbelt is part of macOS, this is {sys.platform}: never run there so far"
)
def test_on_a_mac_code_runs_and_does_not_get_out(tmp_path: Path) -> None:
    from jupyter_codeagent.sandbox.kernel import SandboxKernel

    canary = tmp_path / "canary"
    canary.write_text("canary", encoding="ascii")
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    names = {"home": str(Path.home()), "canary": str(canary), "pid": os.getpid()}

    async def try_all() -> dict[str, str]:
        policy = SandboxPolicy(levels=("seatbelt",))
        kernel = await SandboxKernel.start(policy=policy, data_dir=data_dir)
        try:
            assert kernel.status.level == "seatbelt"
            result = await kernel.execute("import numpy; print(numpy.arange(3).sum())", timeout_s=30)
            assert result.status == "ok", result
            came_of = {}
            for what, code in ATTEMPTS.items():
                result = await kernel.execute(code.format(**names), timeout_s=30)
                came_of[what] = result.error.ename if result.error else result.status
            return came_of
        finally:
            await kernel.stop()

    assert asyncio.run(try_all()) == dict.fromkeys(ATTEMPTS, "PermissionError")
