"""Process information on macOS (libproc.h, sys/proc_info.h, sys/resource.h), through ctypes: there is no /proc.

`ps` is no alternative: it would be started twenty times a second, and its resident size leaves out compressed
memory. The structures are those of the public headers of macOS 10.9 and later.
"""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass
from functools import cache
from typing import Protocol

PROC_PPID_ONLY, PROC_PIDTASKINFO, RUSAGE_INFO_V1 = 6, 4, 1
TASK_INFO = struct.Struct("=6Q12i")
"""struct proc_taskinfo: `pti_threadnum` is the tenth of the last twelve."""
THREADS = 6 + 9
USAGE_INFO = struct.Struct("=16x16Q")
"""struct rusage_info_v1 after its uuid; the names below are positions."""
USER_TIME, SYSTEM_TIME, RESIDENT, FOOTPRINT, CHILD_USER_TIME, CHILD_SYSTEM_TIME = 0, 1, 6, 7, 10, 11
PID = struct.Struct("=i")
MAX_CHILDREN = 4096


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Resource usage of one process."""

    memory_bytes: int
    """Memory as in Activity Monitor: private memory, the compressed part included."""
    resident_bytes: int
    threads: int
    processor_s: float
    """CPU time since the start, ended children included."""


class LibProc(Protocol):
    """The functions of libSystem that are used."""

    def proc_listpids(self, kind: int, parent: int, buffer: object, size: int) -> int: ...
    def proc_pidinfo(self, pid: int, flavour: int, argument: ctypes.c_uint64, buffer: object, size: int) -> int: ...
    def proc_pid_rusage(self, pid: int, flavour: int, buffer: object) -> int: ...
    def mach_timebase_info(self, buffer: object) -> int: ...


@cache
def system() -> LibProc:
    """Return libSystem."""
    return ctypes.CDLL("/usr/lib/libSystem.B.dylib", use_errno=True)


def exists(pid: int) -> bool:
    """Check whether a process exists; like in /proc, one that has ended but was not waited for does."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def children(pid: int, library: LibProc | None = None) -> list[int]:
    """Return the pids of a process's children."""
    buffer = ctypes.create_string_buffer(MAX_CHILDREN * PID.size)
    size = (library or system()).proc_listpids(PROC_PPID_ONLY, pid, buffer, len(buffer))
    if size < 0:
        return []
    used = buffer.raw[: size - size % PID.size]
    return [child for (child,) in PID.iter_unpack(used) if child > 0]


def read(pid: int, library: LibProc | None = None) -> Reading | None:
    """Return the usage of a process; None once it has ended."""
    library = library or system()
    task = ctypes.create_string_buffer(TASK_INFO.size)
    if library.proc_pidinfo(pid, PROC_PIDTASKINFO, ctypes.c_uint64(0), task, len(task)) != len(task):
        return None
    usage = ctypes.create_string_buffer(USAGE_INFO.size)
    if library.proc_pid_rusage(pid, RUSAGE_INFO_V1, usage) != 0:
        return None
    numbers = USAGE_INFO.unpack(usage.raw)
    spent = sum(numbers[index] for index in (USER_TIME, SYSTEM_TIME, CHILD_USER_TIME, CHILD_SYSTEM_TIME))
    return Reading(
        memory_bytes=numbers[FOOTPRINT],
        resident_bytes=numbers[RESIDENT],
        threads=TASK_INFO.unpack(task.raw)[THREADS],
        processor_s=spent * tick_ns(library) / 1e9,
    )


def tick_ns(library: LibProc) -> float:
    """Return the length of a tick of the Mach clock: 1 ns on Intel, 125/3 ns on Apple silicon."""
    buffer = ctypes.create_string_buffer(8)
    if library.mach_timebase_info(buffer) != 0:
        raise OSError("mach_timebase_info failed: CPU time cannot be measured")
    numerator, denominator = struct.unpack("=II", buffer.raw)
    return float(numerator) / float(denominator)
