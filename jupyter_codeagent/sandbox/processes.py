"""The sandbox's processes as the host sees them: who, how much memory, how many threads, how many files."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Of all processes together. Memory is private and shared anonymous memory; mapped input does not count."""

    memory_bytes: int
    threads: int
    processes: int
    resident_bytes: int = 0
    """With mapped files, the libraries above all."""
    processor_s: float = 0.0
    """Since they began, children that have ended included."""


def process_tree(pid: int) -> list[int]:
    """The process and all its descendants; empty when it is gone. About 50 µs for each."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        if os.path.exists(f"/proc/{current}"):
            found.append(current)
            waiting.extend(_children(current))
    return found


def _children(pid: int) -> Iterator[int]:
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())
    except OSError:
        return  # it ended while we looked


def measure(pids: Iterable[int]) -> Usage:
    memory = resident = threads = processes = ticks = 0
    for pid in pids:
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
            ticks += _ticks(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        processes += 1
        for line in status.splitlines():
            if line.startswith(("RssAnon:", "RssShmem:")):
                memory += int(line.split()[1]) << 10
            elif line.startswith("VmRSS:"):
                resident += int(line.split()[1]) << 10
            elif line.startswith("Threads:"):
                threads += int(line.split()[1])
    return Usage(
        memory_bytes=memory,
        resident_bytes=resident,
        processor_s=ticks / TICKS_PER_S,
        threads=threads,
        processes=processes,
    )


def _ticks(stat: str) -> int:
    """utime, stime, cutime, cstime of proc_pid_stat(5). The name, second field, may hold spaces and parentheses."""
    return sum(map(int, stat.rpartition(")")[2].split()[11:15]))


def ending_in_words(status: int | None) -> str:
    """``exit status 3``, ``exit status 139, SIGSEGV``: bwrap passes signals on as shells do, as 128 + number."""
    if status is None:
        return "no exit status"
    number = -status if status < 0 else status - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        return f"exit status {status}"
    return f"exit status {128 + number}, {name}"


def kill_tree(pid: int) -> None:
    """SIGKILL to everything in it; a pid namespace falls with its first process."""
    for member in process_tree(pid):
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            continue  # its parent took it along


def disk_usage(directory: Path, *, max_files: int) -> tuple[int, int]:
    """Bytes and files below a directory of the host; stops counting above `max_files`. Links are not followed."""
    used = files = 0
    for parent, directories, names in os.walk(directory):
        files += len(names) + len(directories)
        if files > max_files:
            break
        used += sum(_allocated(os.path.join(parent, name)) for name in names)
    return used, files


def _allocated(path: str) -> int:
    try:
        return os.lstat(path).st_blocks * 512
    except OSError:
        return 0  # removed while we looked


def files_on_tmpfs(pid: int, directories: Iterable[str]) -> int:
    """Inodes in use on the tmpfs mounts of a process: bubblewrap limits their size, not their number of files."""
    used = 0
    for directory in directories:
        try:
            numbers = os.statvfs(f"/proc/{pid}/root{directory}")
        except OSError:
            continue  # the process ended while we looked
        used += numbers.f_files - numbers.f_ffree
    return used
