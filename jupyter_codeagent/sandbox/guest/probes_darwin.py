"""Probes that use other calls on macOS, and probes for ways out that only macOS has. Never run on a Mac so far.

Each returns True if it succeeded. A missing symbol raises, and the level does not start: what is not measured does
not count as blocked.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

CTL_KERN, KERN_PROC, KERN_PROC_PID, KERN_PROCARGS2 = 1, 14, 1, 49
PROC_PIDTBSDINFO, PROC_BSDINFO_BYTES = 3, 136
SERVICES = (b"com.apple.pasteboard.1", b"com.apple.SecurityServer")
"""The clipboard and the keychain; Apple events go the same way."""
AT_START = frozenset(os.environ)
"""`serve` imports this before it imports ipykernel."""
ADDED_BY_THE_SYSTEM = frozenset({"__CF_USER_TEXT_ENCODING", "__PYVENV_LAUNCHER__", "PYTHONEXECUTABLE"})


def _environment(target: dict[str, Any]) -> bool:
    """Look for other variables in the environment at the start; ipykernel itself adds a few names later."""
    allowed = {*target["environment"], *ADDED_BY_THE_SYSTEM}
    return not allowed >= AT_START


def _environment_of_others(target: dict[str, Any]) -> bool:
    """Read the environment of the host: KERN_PROCARGS2 gives arguments and environment of the user's processes."""
    return _sysctl(CTL_KERN, KERN_PROCARGS2, target["pid"]) > 0


def _see_processes(target: dict[str, Any]) -> bool:
    buffer = ctypes.create_string_buffer(PROC_BSDINFO_BYTES)
    found = ctypes.CDLL(None).proc_pidinfo(
        target["pid"], PROC_PIDTBSDINFO, ctypes.c_uint64(0), buffer, PROC_BSDINFO_BYTES
    )
    return found > 0 or _sysctl(CTL_KERN, KERN_PROC, KERN_PROC_PID, target["pid"]) > 0


def _signal_processes(target: dict[str, Any]) -> bool:
    os.kill(target["pid"], 0)
    return True


def _memory_of_others(target: dict[str, Any]) -> bool:
    libc = ctypes.CDLL(None)
    port = ctypes.c_uint()
    return int(libc.task_for_pid(_port(libc, "mach_task_self_"), target["pid"], ctypes.byref(port))) == 0


def _system_services(_target: dict[str, Any]) -> bool:
    libc = ctypes.CDLL(None)
    port = ctypes.c_uint()
    bootstrap = _port(libc, "bootstrap_port")
    return any(libc.bootstrap_look_up(bootstrap, name, ctypes.byref(port)) == 0 for name in SERVICES)


def _native_code(_target: dict[str, Any]) -> bool:
    """Load code that was written to scratch."""
    import _ctypes

    with tempfile.TemporaryDirectory() as directory:
        copy = shutil.copy(_ctypes.__file__, os.path.join(directory, "copy.so"))
        ctypes.CDLL(copy)
    return True


def _sysctl(*names: int) -> int:
    """Return the number of bytes that a sysctl gives; 0 where it is refused."""
    mib = (ctypes.c_int * len(names))(*names)
    buffer = ctypes.create_string_buffer(1 << 18)
    size = ctypes.c_size_t(len(buffer))
    result = ctypes.CDLL(None).sysctl(mib, len(names), buffer, ctypes.byref(size), None, ctypes.c_size_t(0))
    return size.value if result == 0 else 0


def _port(libc: ctypes.CDLL, name: str) -> int:
    return ctypes.c_uint.in_dll(libc, name).value


ON_DARWIN: dict[str, Callable[[dict[str, Any]], bool]] = {
    "environment": _environment,
    "environment of other processes": _environment_of_others,
    "see other processes": _see_processes,
    "signal other processes": _signal_processes,
    "memory of other processes": _memory_of_others,
    "services of the system": _system_services,
    "native code from scratch": _native_code,
}
LINUX_ONLY = ("abstract sockets", "new user namespace", "io_uring")
