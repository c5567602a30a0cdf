"""What a test leaves on the machine: processes, directories, sockets. Looks at /proc from outside, and asks nobody.

Everything that a test starts has the name of its `Quarters` in its environment (TMPDIR), its arguments (bwrap) or
its mounts (what runs inside), so other sandboxes on the same machine are not taken for the test's.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MEMORY = Path("/dev/shm")
GONE_S = 5.0
"""A sandbox dies with its host at once, a kernel sees within 1 s that its server is gone."""
LOCKS = ("owner.lock", "in-use")


@dataclass(frozen=True, kw_only=True)
class Quarters:
    """The temporary directory of one test."""

    root: Path

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process, and all it starts, belong here. JupyterLab asks node, which keeps a cache there."""
        return {"TMPDIR": str(self.root), "NODE_DISABLE_COMPILE_CACHE": "1"}

    def processes(self) -> dict[int, str]:
        """Pid to command line, of everything that belongs here and lives."""
        return {pid: _command(pid) for pid in _pids() if _belongs(pid, self.root.name) and _state(pid) not in "ZX"}

    def directories(self) -> set[Path]:
        """Private directories of sandboxes, and of copies where there is no memory file system."""
        return set(self.root.glob("codeagent-*"))

    def sockets(self) -> list[str]:
        """Sockets with a name that are bound here, their files removed or not."""
        return [line for line in Path("/proc/net/unix").read_text().splitlines() if self.root.name in line]

    def assert_dead(self, within_s: float = GONE_S) -> None:
        """Nothing that belongs here still runs."""
        eventually(lambda: not self.processes(), within_s)
        assert self.processes() == {}

    def assert_empty(self) -> None:
        """Everything has been ended as it should be: nothing is left, not even a file."""
        self.assert_dead()
        assert self.sockets() == []
        assert sorted(self.root.iterdir()) == []


@contextmanager
def quarters_below(parent: Path) -> Iterator[Quarters]:
    """Quarters of their own; ends what a failed test has left in them."""
    quarters = Quarters(root=Path(tempfile.mkdtemp(prefix="endure-", dir=parent)))
    try:
        yield quarters
    finally:
        for pid in quarters.processes():
            _kill(pid)
        shutil.rmtree(quarters.root, ignore_errors=True)


def owned(pid: int) -> set[Path]:
    """The directories that a process holds locked: copies and sandboxes of a kernel."""
    links = (_link(f"/proc/{pid}/fd/{fd}") for fd in _listdir(f"/proc/{pid}/fd"))
    return {Path(link).parent for link in links if link.endswith(LOCKS)}


def tree(pid: int) -> list[int]:
    """A process and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        for task in _listdir(f"/proc/{found[-1]}/task"):
            waiting.extend(map(int, _read(f"/proc/{found[-1]}/task/{task}/children").split()))
    return found


def inner_processes(kernel_pid: int) -> list[int]:
    """What runs inside a kernel's sandboxes, in the order of its start: of the one in use, then of the spare."""
    found = [pid for pid in tree(kernel_pid) if _runs_inside(pid)]
    leaves = [pid for pid in found if not set(tree(pid)[1:]) & set(found)]  # it forks where there is no bwrap
    return sorted(leaves, key=_started)


def open_files(pid: int) -> int:
    return len(_listdir(f"/proc/{pid}/fd"))


def threads(pid: int) -> int:
    return len(_listdir(f"/proc/{pid}/task"))


def resident_bytes(pid: int) -> int:
    return int(_read(f"/proc/{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def deleted_maps(pid: int, ending: str) -> int:
    """Removed files of this kind that a process still has in its memory."""
    lines = _read(f"/proc/{pid}/maps").splitlines()
    return len({line.split()[4] for line in lines if line.endswith(f"{ending} (deleted)")})


def eventually(condition: Callable[[], object], within_s: float = GONE_S) -> bool:
    """Whether it comes to hold."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _belongs(pid: int, name: str) -> bool:
    return any(name in _read(f"/proc/{pid}/{file}") for file in ("cmdline", "environ", "mountinfo"))


def _runs_inside(pid: int) -> bool:
    command = _command(pid)
    wraps = os.path.basename(command.split(" ")[0]) == "bwrap"  # its arguments hold the inner command too
    return "guest/serve.py" in command and not wraps and _state(pid) not in "ZX"


def _started(pid: int) -> int:
    """Clock ticks since boot: the 22nd field of proc_pid_stat(5); 0 when it is gone."""
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return int(fields[19]) if fields else 0


def _command(pid: int) -> str:
    return _read(f"/proc/{pid}/cmdline").replace("\0", " ").strip()


def _state(pid: int) -> str:
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].strip()[:1] or "X"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""  # it ended while we looked


def _listdir(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
