"""What code in the sandbox cannot reach, at every level; each probe is shown to work outside as well."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel

MakeBox = Callable[..., Any]

READ = "print(open({path!r}).read())"
WRITE = "open({path!r}, 'w').write('x'); print('written')"


def outside(code: str) -> str:
    """The same code without a sandbox."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    return done.stdout.strip()


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("CANARY-1", encoding="ascii")
    path.chmod(0o600)
    return path


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        server.settimeout(5)
        yield server


def test_code_cannot_read_the_users_files(box: Any, secret: Path) -> None:
    result = box.run(READ.format(path=str(secret)))
    assert result.status == "error"
    assert result.error is not None
    assert result.error.ename in ("FileNotFoundError", "PermissionError")


def test_the_same_code_can_read_them_outside(secret: Path) -> None:
    assert outside(READ.format(path=str(secret))) == "CANARY-1"


def test_code_can_read_the_data_directory_and_files_that_come_later(box: Any) -> None:
    (box.data_dir / "late").write_text("copied", encoding="ascii")
    data = box.process.provisioner.paths.data
    assert box.text(READ.format(path=f"{data}/late")) == "copied"


def test_code_cannot_write_into_the_data_directory(box: Any) -> None:
    data = box.process.provisioner.paths.data
    assert box.run(WRITE.format(path=f"{data}/mine")).status == "error"
    assert not (box.data_dir / "mine").exists()


def test_code_cannot_see_into_the_home_directory(box: Any) -> None:
    home = Path.home()
    name = next(home.iterdir()).name
    assert name in outside(f"import os; print(os.listdir({str(home)!r}))")
    listed = box.run(f"import os; print(os.listdir({str(home)!r}))")
    if listed.status == "ok":  # a directory above the interpreter's own: only the way there is in view
        on_the_way = {*sys.prefix.split("/"), *sys.base_prefix.split("/")}
        assert set(box.text(f"import os; print(*os.listdir({str(home)!r}))").split()) <= on_the_way
    else:
        assert listed.error is not None
        assert listed.error.ename in ("FileNotFoundError", "PermissionError")
    assert box.text("import os; print(os.path.expanduser('~'))") == box.process.provisioner.paths.scratch


@pytest.mark.parametrize("place", ["/", "/etc", "/usr/lib", "/var/tmp", "/dev", "/proc/sys/kernel", sys.prefix])
def test_code_cannot_write_into_the_system(box: Any, place: str) -> None:
    if place == "/dev" and box.kernel.status.level == "bubblewrap":
        pytest.skip("there it is a tmpfs of the sandbox itself")
    result = box.run(WRITE.format(path=f"{place}/codeagent-test"))
    assert result.status == "error"
    assert result.error is not None
    assert result.error.ename in ("PermissionError", "OSError", "FileNotFoundError")
    assert not os.path.exists(f"{place}/codeagent-test")


def test_code_cannot_write_outside(box: Any, tmp_path: Path) -> None:
    assert box.run(WRITE.format(path=str(tmp_path / "mine"))).status == "error"
    assert not (tmp_path / "mine").exists()


def test_code_can_write_to_its_scratch_and_temporary_directory(box: Any) -> None:
    assert box.text(WRITE.format(path="mine")) == "written"
    assert box.text("import tempfile; f = tempfile.NamedTemporaryFile(); f.write(b'x'); print(f.tell())") == "1"


def test_code_cannot_change_mode_or_time_of_the_users_files(box: Any, secret: Path) -> None:
    before = secret.stat()
    box.run(f"import os; os.chmod({str(secret)!r}, 0o777)")
    box.run(f"import os; os.utime({str(secret)!r}, (0, 0))")
    box.run(f"import os; os.truncate({str(secret)!r}, 0)")
    after = secret.stat()
    assert (after.st_mode, after.st_mtime, after.st_size) == (before.st_mode, before.st_mtime, before.st_size)


def test_code_cannot_touch_files_through_a_symlink_in_scratch(box: Any, secret: Path) -> None:
    box.run(f"import os; os.symlink({str(secret)!r}, 'link')")
    assert box.run(READ.format(path="link")).status == "error"


EVERYTHING_OF_PROCESSES = """
import glob, os
for pid in [*range(1, 400), 'self', *(path.split('/')[2] for path in glob.glob('/proc/[0-9]*'))]:
    for name in ('environ', 'cmdline'):
        try: print(open(f'/proc/{pid}/{name}').read())
        except OSError: pass
print(dict(os.environ))
"""


def test_code_cannot_see_the_hosts_environment(box: Any) -> None:
    seen = box.text(EVERYTHING_OF_PROCESSES)
    # The last is set by polars as it is imported, here and in there.
    made_inside = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "_", "_RJEM_MALLOC_CONF")
    # A directory that holds this interpreter is no secret there: the sandbox runs the same one, by the same path.
    holds_python = tuple(f"{place}/" for place in (sys.prefix, sys.base_prefix))
    for name, value in os.environ.items():
        if len(value) > 12 and name not in made_inside:
            assert f"{name}={value}" not in seen, name
            if not any(place.startswith(value) for place in holds_python):
                assert value not in seen, name


def test_keys_set_before_the_start_do_not_reach_the_sandbox(
    make_box: MakeBox, level: SandboxLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "CODEAGENT_API_KEY", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LD_LIBRARY_PATH"):
        monkeypatch.setenv(name, f"/secret-of-the-user/{name}")
    own = make_box(level)
    seen = own.text(EVERYTHING_OF_PROCESSES)
    assert "HOME=" in seen
    assert "secret-of-the-user" not in seen


def test_code_does_not_see_the_hosts_list_of_processes(box: Any) -> None:
    code = "import os\ntry: print(*[n for n in os.listdir('/proc') if n.isdigit()])\nexcept OSError: print('')"
    assert str(os.getpid()) in outside(code).split()
    assert len(box.text(code).split()) <= 3  # bubblewrap's own
    host = f"/proc/{os.getpid()}"
    assert str(os.getpid()) in outside(f"print(open('{host}/stat').read())")
    assert box.run(f"open('{host}/stat').read()").status == "error"
    assert box.run(f"import os; os.listdir('{host}/fd')").status == "error"


def test_a_secret_of_the_host_cannot_be_read_from_pid_1(box: Any) -> None:
    marker = "CODEAGENT_TEST_SECRET=abc123"
    assert marker in outside_with_secret()
    assert "abc123" not in box.text("try: print(open('/proc/1/environ').read())\nexcept OSError as e: print(e)")


def outside_with_secret() -> str:
    code = "print(open('/proc/self/environ').read().replace(chr(0), chr(10)))"
    environment = {**os.environ, "CODEAGENT_TEST_SECRET": "abc123"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    return done.stdout


def test_code_cannot_connect_by_tcp(box: Any, listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    result = box.run(f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=2)")
    assert result.status == "error"
    assert result.error is not None
    assert result.error.ename in ("PermissionError", "OSError")


def test_the_same_connection_can_be_made_outside(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    code = f"import socket; socket.create_connection(('127.0.0.1', {port}), timeout=2); print('connected')"
    assert outside(code) == "connected"


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "socket.socket(socket.AF_INET6)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socket(socket.AF_UNIX)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "socket.create_server(('127.0.0.1', 0))",
        "socket.getaddrinfo('example.com', 80)",
    ],
)
def test_code_cannot_make_a_socket_of_any_kind(box: Any, attempt: str) -> None:
    result = box.run(f"import socket; {attempt}")
    assert result.status == "error"
    assert result.error is not None
    assert result.error.ename in ("PermissionError", "OSError", "gaierror")


def test_code_cannot_reach_path_and_abstract_sockets(box: Any, tmp_path: Path) -> None:
    for address in (str(tmp_path / "u"), "\0codeagent-test"):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(address)
            server.listen()
            assert box.run(f"import socket; socket.socket(socket.AF_UNIX).connect({address!r})").status == "error"


def test_asyncio_can_run_inside(box: Any) -> None:
    code = "import asyncio, threading\nasync def f(): return 7\n"
    code += "t = threading.Thread(target=lambda: print(asyncio.run(f()))); t.start(); t.join()"
    assert box.text(code) == "7"


def test_code_cannot_see_or_signal_processes_of_the_host(box: Any) -> None:
    victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        code = f"import os\ntry: print(open('/proc/{victim.pid}/cmdline').read())\nexcept OSError: print('hidden')"
        assert box.text(code) == "hidden"
        box.run(f"import os; os.kill({victim.pid}, 9)")
        box.run("import os, signal; os.kill(-1, signal.SIGURG)")
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.communicate()


@pytest.mark.parametrize(
    "attempt",
    [
        "subprocess.run(['/bin/true'])",
        "os.fork()",
        "os.execv('/bin/true', ['true'])",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "os.memfd_create('x')",
    ],
)
def test_code_cannot_start_a_process(box: Any, attempt: str) -> None:
    result = box.run(f"import os, subprocess; {attempt}")
    assert result.status == "error"
    assert result.error is not None
    assert result.error.ename in ("PermissionError", "OSError", "BlockingIOError")


def test_code_can_start_threads(box: Any) -> None:
    assert box.text("import threading; t = threading.Thread(target=print, args=(5,)); t.start(); t.join()") == "5"


def test_code_can_start_processes_where_the_policy_says_so(
    make_box: MakeBox, level_with_processes: SandboxLevel
) -> None:
    free = make_box(level_with_processes, subprocess=True)
    assert free.text(
        "import subprocess; print(subprocess.run(['/bin/echo', 'hi'], capture_output=True).stdout)"
    ) == ("b'hi\\n'")


def test_processes_are_refused_at_the_level_where_they_could_outlive_the_sandbox(make_box: MakeBox) -> None:
    with pytest.raises(SandboxUnavailableError, match="no process namespace"):
        make_box("landlock", subprocess=True)


@pytest.mark.parametrize(
    ("name", "number"), [("unshare", 272), ("bpf", 321), ("io_uring_setup", 425), ("ptrace", 101)]
)
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of x86_64")
def test_privileged_system_calls_are_refused_by_the_filter(box: Any, name: str, number: int) -> None:
    code = f"import ctypes; c = ctypes.CDLL(None, use_errno=True); c.syscall({number}, 0x10000000, 0, 0, 0)"
    assert box.text(f"{code}; print(ctypes.get_errno())") == "1", name


def test_code_cannot_outlive_its_death_signal(box: Any) -> None:
    assert box.text("import ctypes; print(ctypes.CDLL(None).prctl(1, 0, 0, 0, 0))") == "-1"


def test_code_has_no_capabilities(box: Any) -> None:
    code = "print([l.split()[1] for l in open('/proc/self/status') if l.startswith('Cap')])"
    assert set(eval(box.text(code))) == {"0000000000000000"}


def test_the_status_names_no_open_wall_that_the_level_promises_closed(box: Any) -> None:
    assert {"read files outside", "TCP", "Unix sockets", "environment", "start a subprocess"} <= set(
        box.kernel.status.closed
    )
    assert set(box.kernel.status.open) <= {"see file names", "see the host name"}


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_altair_chart_leaves_as_a_specification_and_not_as_a_page(box: Any) -> None:
    result = box.run(
        "import altair as alt, pandas as pd\nalt.Chart(pd.DataFrame({'a': [1, 2]})).mark_bar().encode(x='a')"
    )
    assert result.status == "ok"
    [shown] = result.outputs
    assert shown["data"]["application/vnd.codeagent.interactive.v1+json"]["kind"] == "vega-lite"
    assert "text/html" not in shown["data"]
