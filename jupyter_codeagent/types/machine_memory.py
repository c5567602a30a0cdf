"""Total and free memory of this machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""Control group of a container, which sees its own as the root; outside of containers it has no limit."""
MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True, kw_only=True)
class MachineMemory:
    """Memory that processes may use, within a container's limit."""

    total_bytes: int
    free_bytes: int
    """Free memory, with memory that the system can reclaim at once, such as the page cache."""


def machine_memory() -> MachineMemory:
    """Return the current memory; without data from the system all of it counts as free."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    free = read_meminfo(_text(MEMINFO)).get("MemAvailable", total)
    return apply_cgroup_limit(MachineMemory(total_bytes=total, free_bytes=free), lambda name: _text(CGROUP / name))


def read_meminfo(text: str) -> dict[str, int]:
    """Return the values of lines such as ``MemAvailable:  123 kB``, in bytes."""
    words = [line.split() for line in text.splitlines()]
    return {word[0].rstrip(":"): int(word[1]) << 10 for word in words if len(word) == 3}


def apply_cgroup_limit(machine: MachineMemory, read: Callable[[str], str]) -> MachineMemory:
    """Return the memory within the limit of a control group, whose files `read` reads (cgroups v2)."""
    limit, used = read("memory.max").strip(), read("memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return machine
    files = dict(line.split() for line in read("memory.stat").splitlines())
    free = int(limit) - int(used) + int(files.get("inactive_file", 0))
    return MachineMemory(
        total_bytes=min(machine.total_bytes, int(limit)), free_bytes=max(min(machine.free_bytes, free), 0)
    )


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:
        return ""
