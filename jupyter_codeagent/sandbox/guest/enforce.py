"""Confinement of this process, the same code for every level; bubblewrap only adds layers around it.

On Linux the order matters: descriptors and death signal, namespaces, capabilities, limits, Landlock (per thread, so
before any thread exists), the early filter. Then the kernel binds its sockets, then `enforce_late`. Any failure
raises and ends the process: code never runs in a half-confined state.

On macOS the profile (`walls.seatbelt`) and the end with the host (`walls.supervisor`) are in force before the
interpreter starts; only descriptors and limits are left to do here.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from dataclasses import dataclass
from typing import Any

from . import landlock, seccomp

PR_SET_PDEATHSIG, PR_CAPBSET_DROP = 1, 24
CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWUSER = 0x08000000, 0x04000000, 0x10000000
CLONE_NEWPID, CLONE_NEWNET = 0x20000000, 0x40000000
CAPSET = {"x86_64": 126, "aarch64": 91}
CAPABILITY_VERSION_3 = 0x20080522
SANDBOX_UID = 1000
DARWIN_LEVELS = ("seatbelt", "none")
DARWIN_LIMITS = ("CORE", "NOFILE", "FSIZE")
"""RLIMIT_DATA and RLIMIT_AS can be set on macOS and limit nothing: memory is the watchdog's alone. RLIMIT_NPROC
counts everything the user runs."""


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """The confinement to enforce, as `walls.provisioner` describes it in JSON."""

    level: str
    read: tuple[str, ...]
    write: tuple[str, ...]
    sockets: tuple[str, ...]
    limits: dict[str, int]
    """RLIMIT name to value."""
    subprocess: bool

    @classmethod
    def from_json(cls, described: dict[str, Any]) -> Confinement:
        """Read a confinement from its JSON."""
        return cls(
            level=described["level"],
            read=tuple(described["read"]),
            write=tuple(described["write"]),
            sockets=tuple(described["sockets"]),
            limits=dict(described["limits"]),
            subprocess=described["subprocess"],
        )

    @property
    def isolating(self) -> bool:
        """Whether the level isolates at all."""
        return self.level != "none"


def enforce_early(confinement: Confinement) -> dict[str, Any]:
    """Enforce everything but the last filter; return what is in force, for the report to the host.

    Raises
    ------
    OSError
        If anything is refused, or the level belongs to another system.
    """
    if sys.platform == "darwin":
        return _enforce_on_darwin(confinement)
    return _enforce_on_linux(confinement)


def enforce_late(confinement: Confinement) -> None:
    """Forbid new sockets for all threads, once the kernel's own are bound."""
    os.nice(5)  # not earlier: a user waits for the start
    if confinement.isolating and sys.platform != "darwin":  # Seatbelt never let any be connected
        seccomp.install(_filter(confinement, "late"))


def _enforce_on_darwin(confinement: Confinement) -> dict[str, Any]:
    if confinement.level not in DARWIN_LEVELS:
        raise OSError(errno.ENOTSUP, f"level {confinement.level} needs Linux")
    _close_inherited()
    _set_limits({name: value for name, value in confinement.limits.items() if name in DARWIN_LIMITS})
    os.umask(0o077)
    return {"level": confinement.level, "landlock": 0}


def _close_inherited() -> None:
    """Close all open descriptors: macOS may allow more of them than could be tried one by one."""
    for name in os.listdir("/dev/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):  # the descriptor that the list was read from is already closed
                os.close(int(name))


def _enforce_on_linux(confinement: Confinement) -> dict[str, Any]:
    if confinement.level == "seatbelt":
        raise OSError(errno.ENOTSUP, "level seatbelt needs macOS")
    os.closerange(3, 65536)
    libc = ctypes.CDLL(None, use_errno=True)
    _die_with_parent(libc)
    if confinement.level == "namespaces":
        _enter_namespaces(libc)
    if confinement.isolating:
        _drop_capabilities(libc)
    _set_limits(confinement.limits)
    _raise_oom_score()
    os.umask(0o077)
    report: dict[str, Any] = {"level": confinement.level, "landlock": 0}
    if confinement.isolating:
        report["landlock"] = _restrict_files(confinement)
        seccomp.install(_filter(confinement, "early"))
    return report


def _die_with_parent(libc: ctypes.CDLL) -> None:
    """Get SIGKILL when the *thread* of the host that spawned us ends (prctl(2))."""
    _check(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl(PR_SET_PDEATHSIG)")


def _enter_namespaces(libc: ctypes.CDLL) -> None:
    """Enter user, network, ipc, uts and pid namespaces without a helper; continue as a child of the new pid 1.

    Pid 1 itself cannot be killed from inside, and would have to reap orphans. There is no mount namespace: Landlock
    guards the files. ctypes is used because Python 3.11 has no os.unshare.
    """
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWPID
    _check(libc.unshare(flags), "unshare")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{SANDBOX_UID} {uid} 1"),
        ("gid_map", f"{SANDBOX_UID} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _check(libc.sethostname(b"sandbox", 7), "sethostname")
    _continue_in_child(libc)  # pid 1
    _continue_in_child(libc)
    os.setsid()


def _continue_in_child(libc: ctypes.CDLL) -> None:
    child = os.fork()
    if child:
        _wait_for(child)
    _die_with_parent(libc)  # not inherited over fork


def _wait_for(child: int) -> None:
    """Wait for the inner process, and exit with its status. The host signals the inner process directly."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    ended = status = 0
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)  # a signal as 128 + number, like bwrap and shells


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    """Drop all sets, the bounding set included: root in a container or in a user namespace keeps none."""
    for capability in range(64):
        libc.prctl(
            PR_CAPBSET_DROP, capability, 0, 0, 0
        )  # EINVAL past the last one, EPERM where we have none anyway
    header = struct.pack("Ii", CAPABILITY_VERSION_3, 0)
    _check(libc.syscall(CAPSET[os.uname().machine], header, bytes(24)), "capset")


def _set_limits(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        allowed = _unlimited_as_none(resource.getrlimit(kind)[1])
        soft = value if allowed is None else min(value, allowed)
        # DATA stays adjustable upwards: `calls.load` raises it for mapped copies. It only gives honest code a
        # MemoryError; against hostile code there is the watchdog of the host.
        hard = (resource.RLIM_INFINITY if allowed is None else allowed) if name == "DATA" else soft
        resource.setrlimit(kind, (soft, hard))


def _unlimited_as_none(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit


def _raise_oom_score() -> None:
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        return  # a courtesy to the host, not isolation: some containers mount /proc read-only


def _restrict_files(confinement: Confinement) -> int:
    if confinement.level == "bubblewrap" and not landlock.abi():
        return 0  # the mount namespace already protects files; Landlock is only a second layer there
    return landlock.restrict(read=confinement.read, write=confinement.write, sockets=confinement.sockets)


def _filter(confinement: Confinement, stage: seccomp.Stage) -> bytes:
    shared_files = confinement.level != "bubblewrap"
    return seccomp.build(
        stage=stage,
        subprocess=confinement.subprocess,
        own_pid=os.getpid() if confinement.level == "landlock" else None,
        shared_files=shared_files,
        deny_truncate=shared_files and landlock.abi() < 3,
    )


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
