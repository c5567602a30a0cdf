"""Ways to use up the host: memory and disk that no counter sees, code that never stops, things left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_box import Box

from jupyter_codeagent.types.sandbox import SandboxLevel

MakeBox = Callable[..., Box]
MiB = 1 << 20


WRITE = """
import os
part = os.urandom(1 << 20)
def fill(file, size_mib=20):
    for _ in range(size_mib): os.write(file, part)
"""

HIDDEN_FILES = {
    "removed-but-open": """
for i in range(20):
    f = os.open('f', os.O_CREAT | os.O_RDWR); os.unlink('f'); fill(f)
""",
    "never-had-a-name": """
for i in range(20): fill(os.open('.', os.O_TMPFILE | os.O_RDWR))
""",
    "removed-but-mapped": """
import ctypes
for i in range(20):
    f = os.open('f', os.O_CREAT | os.O_RDWR); fill(f)
    ctypes.CDLL(None).mmap(None, 4096, 1, 1, f, 0); os.unlink('f'); os.close(f)
""",
    "below-a-deep-tree": """
for i in range(1500): os.mkdir('d' * 50); os.chdir('d' * 50)
for i in range(20): fill(os.open(f'f{i}', 66))
""",
    "in-a-directory-closed-to-reading": """
os.mkdir('q', 0o300)
for i in range(20): fill(os.open(f'q/{i}', 66, 384))
""",
    "in-many-directories": """
for i in range(20): os.mkdir(f'm{i}'); fill(os.open(f'm{i}/f', 66))
""",
    "grown-by-mapping": """
import mmap
for i in range(20):
    f = os.open(f'g{i}', 66); os.ftruncate(f, 20 << 20); m = mmap.mmap(f, 0)
    for at in range(0, 20 << 20, 1 << 20): m[at:at + (1 << 20)] = part
""",
    "reserved": """
for i in range(20): os.posix_fallocate(os.open(f'r{i}', 66), 0, 20 << 20)
""",
}


@pytest.mark.parametrize("trick", HIDDEN_FILES.values(), ids=HIDDEN_FILES)
def test_disk_space_is_limited_wherever_in_scratch_it_hides(make_box: MakeBox, trick: str) -> None:
    own = make_box("landlock", disk_bytes=40 * MiB)
    root = own.process.directory.root
    result = own.run(f"{WRITE}{trick}\nimport time; time.sleep(10)\nprint('kept it all')", timeout_s=60)
    assert result.status == "killed", result
    own.call(own.kernel.stop())
    assert not root.exists()


def test_no_disk_space_is_taken_faster_than_it_can_be_written(make_box: MakeBox) -> None:
    """fallocate(2) reserves any amount at once; the watchdog would see it when it is gone."""
    own = make_box("landlock")
    code = "import ctypes, os; f = os.open('f', 66); print(ctypes.CDLL(None).fallocate(f, 0, 0, 400 << 20))"
    assert own.text(code) == "-1"
    assert (
        own.text("f = os.open('g', 66); os.posix_fallocate(f, 0, 5 << 20); print(os.fstat(f).st_size >> 20)") == "5"
    )


LEFT_BEHIND = {
    "deep-tree": "for i in range(3000): os.mkdir('d'); os.chdir('d')",
    "closed-directory": "os.mkdir('c', 0o700); os.mkdir('c/d'); os.mkdir('e', 0)",
    "many-entries": "for i in range(5000): os.close(os.open(f'{i}', 66))",
    "longest-names": "for i in range(300): os.close(os.open(f'{i:0255}', 66))",
    "strange-names": "for n in (b'\\xff\\xfe', b'a\\nb', b'-rf', b' ', b'\\x1b]0;x\\x07', b'*'): "
    "os.close(os.open(n, 66))",
    "links-to-the-host": "os.symlink('/', 'root'); os.symlink('..', 'up'); os.symlink('loop', 'loop')",
}


@pytest.mark.parametrize("trick", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_that_code_leaves_keeps_its_directory_from_being_removed(make_box: MakeBox, trick: str) -> None:
    own = make_box("landlock")
    root = own.process.directory.root
    own.run(f"import os\n{trick}")
    own.call(own.kernel.stop())
    assert not root.exists()


def test_a_closed_connection_directory_is_removed_as_well(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level)
    root = own.process.directory.root
    own.run("import os; os.chmod(os.environ['JUPYTER_RUNTIME_DIR'], 0)")
    own.call(own.kernel.stop())
    assert not root.exists()


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_next_sandbox_finds_nothing_of_the_last_one(make_box: MakeBox, level: SandboxLevel) -> None:
    first = make_box(level)
    code = """
import builtins, os, sys, tempfile, fcntl
builtins.open_again = open
open('left', 'w').write('x'); open(os.path.join(tempfile.gettempdir(), 'left'), 'w').write('x')
os.environ['LEFT'] = 'x'
for place in ('/dev/shm', '/tmp', '/var/tmp', os.path.expanduser('~')):
    try: open(place + '/left', 'w').write('x')
    except OSError: pass
print(fcntl.flock(os.open(sys.prefix, os.O_RDONLY), fcntl.LOCK_EX))
"""
    first.run(code)
    first.call(first.kernel.stop())
    second = make_box(level)
    look = """
import builtins, os, tempfile
print(hasattr(builtins, 'open_again'), 'LEFT' in os.environ, *[os.path.exists(place + '/left') for place in
    ('.', tempfile.gettempdir(), '/dev/shm', '/tmp', '/var/tmp', os.path.expanduser('~'))])
"""
    assert set(second.text(look).split()) == {"False"}


def test_devices_are_no_place_for_data(make_box: MakeBox, level: SandboxLevel) -> None:
    """bubblewrap's /dev is a tmpfs without a size: half of the memory of the host."""
    own = make_box(level)
    code = """
import os
try: os.write(os.open('/dev/fill', 66), b'x'); print('written')
except OSError: print('refused')
"""
    assert own.text(code) == "refused"
    assert own.text("open('/dev/null', 'w').write('x'); print(len(open('/dev/urandom', 'rb').read(5)))") == "5"


MEMORY = {
    "page-tables": """
import ctypes
libc = ctypes.CDLL(None); libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
while True:
    start = libc.mmap(None, 1 << 36, 1, 0x4022, -1, 0)
    libc.madvise(start, 1 << 36, 15)
    for at in range(start, start + (1 << 36), 1 << 21): ctypes.string_at(at, 1)
""",
    "mapped-twice": "import mmap\nkept = []\nwhile True:\n    m = mmap.mmap(-1, 8 << 20); m[:] = bytes(8 << 20); "
    "kept.append(m)",
    "raised-limit": "import resource\nresource.setrlimit(resource.RLIMIT_DATA, (-1, -1))\nkept = []\nwhile True: "
    "kept.append(b'x' * (8 << 20))",
}


@pytest.mark.parametrize("hog", MEMORY.values(), ids=MEMORY)
def test_memory_of_every_kind_counts(make_box: MakeBox, hog: str) -> None:
    own = make_box("landlock", memory_bytes=400 * MiB)
    result = own.run(hog, timeout_s=60)
    assert result.status == "killed", result
    assert "limit is 400 MiB" in result.reason


UNSTOPPABLE = {
    "stopped-process": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "signals-blocked": "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    "sleep-in-c": "import ctypes, signal\nsignal.signal(2, signal.SIG_IGN); ctypes.CDLL(None).sleep(600)",
    "interpreter-lock-held": "import ctypes, signal\n"
    "signal.signal(2, signal.SIG_IGN); ctypes.PyDLL(None).sleep(600)",
    "endless-match": "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
    "endless-power": "import signal; signal.signal(2, signal.SIG_IGN); 9 ** 9 ** 9",
    "handler-that-goes-on": "import signal\n"
    "def again(*_):\n    while True: pass\nsignal.signal(2, again)\nwhile True: "
    "pass",
    "every-exception-caught": "while True:\n    try:\n        while True: pass\n    except BaseException: continue",
    "thread-that-waits": "import threading; threading.Event().wait() if False else [None for _ in iter(int, 1)]",
    "exit-handlers": "import atexit, time; atexit.register(time.sleep, 600)\ntry:\n    while True: "
    "pass\nfinally:\n    while True: pass",
}


@pytest.mark.parametrize("code", UNSTOPPABLE.values(), ids=UNSTOPPABLE)
@pytest.mark.long("another situation of what a test beside it proves")
def test_code_that_will_not_stop_is_over_soon_after_its_time(make_box: MakeBox, code: str) -> None:
    own = make_box("landlock")
    pid = own.process.provisioner.inner_pid
    started = time.monotonic()
    result = own.run(code, timeout_s=0.5)
    assert result.status in ("killed", "timeout")
    assert time.monotonic() - started < 30
    own.call(own.kernel.stop())
    assert pid is not None
    assert not os.path.exists(f"/proc/{pid}")


TIMERS = """
import signal, threading, ctypes
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05); signal.signal(signal.SIGALRM, lambda *_: None)
threading.Timer(0.1, lambda: print('late')).start()
"""


def test_timers_that_a_cell_leaves_behind_do_not_write_into_the_next_one(make_box: MakeBox) -> None:
    own = make_box("landlock")
    own.run(TIMERS)
    assert own.text("import time; time.sleep(0.3); print('next')").splitlines()[-1] == "next"
    assert own.kernel.alive


EXHAUSTIONS = {
    "descriptors": "import os\nkept = []\nwhile True: kept.append(os.open('/dev/null', 0))",
    "pipes": "import os\nkept = []\nwhile True: kept.append(os.pipe())",
    "socket-pairs": "import socket\nkept = []\nwhile True: kept.append(socket.socketpair())",
    "mappings": "import mmap\nkept = []\nwhile True: kept.append(mmap.mmap(-1, 4096))",
    "recursion": "def f(): f()\nf()",
    "threads-that-fail": "import threading\nfor _ in range(50): threading.Thread(target=lambda: 1 / 0).start()",
}


@pytest.mark.parametrize("code", EXHAUSTIONS.values(), ids=EXHAUSTIONS)
@pytest.mark.long_except("pipes", "recursion", why="each takes seconds to be full")
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_cell_that_uses_up_its_own_process_harms_nobody_else(make_box: MakeBox, code: str) -> None:
    own, other = make_box("landlock"), make_box("landlock")
    own.run(code, timeout_s=5)
    assert other.text("print(6 * 7)") == "42"
    assert os.listdir("/proc/self/fd")


@pytest.mark.parametrize("level", ["bubblewrap", "namespaces"])
def test_a_daemon_dies_with_the_sandbox_where_processes_are_allowed(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, subprocess=True)
    mark = f"86{os.getpid()}"
    code = f"""
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in range(3): os.close(fd)
        os.execv('/bin/sleep', ['sleep', '{mark}'])
    os._exit(0)
os.wait()
"""
    own.run(code)
    assert _running(mark)
    own.call(own.kernel.stop())
    until = time.monotonic() + 10
    while _running(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _running(mark)


def _running(mark: str) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    return True
            except OSError:
                continue
    return False
