"""The sandbox's processes as the host sees them: their tree, memory, threads, CPU time and files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_codeagent.sandbox.local.watch import libproc
from jupyter_codeagent.sandbox.local.watch.libproc import Reading

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Usage of all processes. Memory is anonymous: private and shared, swapped or not, with page tables."""

    memory_bytes: int
    threads: int
    processes: int
    resident_bytes: int = 0
    """Memory with mapped files, mainly libraries."""
    processor_s: float = 0.0
    """CPU time since the start, ended children included."""


def process_tree(pid: int) -> list[int]:
    """Return the process and all its descendants; none when it is gone. Takes about 50 µs for each."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        if _exists(current):
            found.append(current)
            waiting.extend(_children(current))
    return found


def first_child(pid: int | None) -> int | None:
    """Return the oldest living child; None if there is none, or no such process."""
    return next(iter(_children(pid)), None) if pid is not None else None


def measure(pids: Iterable[int]) -> Usage:
    """Return the usage of the processes together."""
    readings = [reading for pid in pids if (reading := _read(pid)) is not None]
    return Usage(
        memory_bytes=sum(reading.memory_bytes for reading in readings),
        resident_bytes=sum(reading.resident_bytes for reading in readings),
        processor_s=sum(reading.processor_s for reading in readings),
        threads=sum(reading.threads for reading in readings),
        processes=len(readings),
    )


def _exists_in_proc(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def _children_in_proc(pid: int) -> Iterator[int]:
    for thread in _threads_in_proc(pid):
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
        except OSError:
            continue  # it ended meanwhile; the children of the others count


def _threads_in_proc(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []


def _read_in_proc(pid: int) -> Reading | None:
    memory = resident = threads = 0
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        ticks = _ticks(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith(("RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:")):
            memory += int(line.split()[1]) << 10
        elif line.startswith("VmRSS:"):
            resident = int(line.split()[1]) << 10
        elif line.startswith("Threads:"):
            threads = int(line.split()[1])
    return Reading(memory_bytes=memory, resident_bytes=resident, threads=threads, processor_s=ticks / TICKS_PER_S)


def _ticks(stat: str) -> int:
    """Return utime + stime + cutime + cstime (proc_pid_stat(5)); field 2 may hold spaces and parentheses."""
    return sum(map(int, stat.rpartition(")")[2].split()[11:15]))


if sys.platform == "darwin":
    _exists, _children, _read = libproc.exists, libproc.children, libproc.read
else:
    _exists, _children, _read = _exists_in_proc, _children_in_proc, _read_in_proc


def open_exit_descriptor(process: subprocess.Popen[bytes]) -> int:
    """Open a descriptor that becomes readable when the process has ended; the caller closes it.

    It is a pidfd, or on other systems a pipe whose other end a thread closes after it has waited.
    """
    if hasattr(os, "pidfd_open"):
        return os.pidfd_open(process.pid)
    reading, writing = os.pipe()
    threading.Thread(target=_close_after, args=(process, writing), daemon=True).start()
    return reading


def _close_after(process: subprocess.Popen[bytes], fd: int) -> None:
    process.wait()
    os.close(fd)


def format_exit_status(status: int | None) -> str:
    """Format an exit status: ``exit status 3``, ``exit status 139, SIGSEGV``.

    bwrap passes signals on as shells do, as 128 + number.
    """
    if status is None:
        return "no exit status"
    number = -status if status < 0 else status - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"exit status {status}"
    return f"exit status {128 + number}, {name}"


def kill_tree(pid: int) -> None:
    """Send SIGKILL to the process and all its descendants; a pid namespace ends with its first process."""
    for member in process_tree(pid):
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            continue  # it ended together with its parent


def files_on_tmpfs(pid: int, directories: Iterable[str]) -> int:
    """Count inodes in use on the tmpfs mounts of a process: bubblewrap limits their size, but not their files."""
    used = 0
    for directory in directories:
        try:
            numbers = os.statvfs(f"/proc/{pid}/root{directory}")
        except OSError:
            continue  # the process ended meanwhile
        used += numbers.f_files - numbers.f_ffree
    return used
