"""Landlock through three system calls and ctypes (include/uapi/linux/landlock.h)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Sequence

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, MAKE_SOCK = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 9
ALL_OF_ABI_1, REFER, TRUNCATE, IOCTL_DEV = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
NET_BIND_AND_CONNECT, SCOPE_ABSTRACT_AND_SIGNAL = 3, 3
PR_SET_NO_NEW_PRIVS = 38

PINNED = ("/proc/", "/sys/")
"""Rules for these can be lost when memory is short: a rule belongs to an inode, and theirs are recreated."""

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Return Landlock's version: 1 files, 2 renames, 3 truncate, 4 TCP, 5 devices, 6 sockets, signals; 0 none."""
    return max(int(_libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)), 0)


def restrict(*, read: Sequence[str], write: Sequence[str], sockets: Sequence[str]) -> int:
    """Confine this process to the given paths and forbid TCP; return the ABI in force.

    Must run before the process has a second thread: Landlock is per thread and has no TSYNC. In the directories
    `sockets` only sockets can be created: no file, link, rename or removal.

    Raises
    ------
    OSError
        If the kernel has no Landlock or refuses a rule.
    """
    version = abi()
    if not version:
        raise OSError(95, "the kernel has no Landlock")
    handled = _handled(version)
    network = NET_BIND_AND_CONNECT if version >= 4 else 0
    scoped = SCOPE_ABSTRACT_AND_SIGNAL if version >= 6 else 0
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _libc.syscall(CREATE_RULESET, struct.pack("=QQQ", handled, network, scoped)[:size], size, 0)
    _check(ruleset, "landlock_create_ruleset")
    for paths, rights in (
        (read, READ),
        (sockets, READ_FILE | READ_DIR | MAKE_SOCK),
        (write, handled & ~EXECUTE & ~IOCTL_DEV),
    ):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    _check(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")
    _check(_libc.syscall(RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
    return version


def _handled(version: int) -> int:
    newer = ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
    return ALL_OF_ABI_1 | sum(right for since, right in newer if version >= since)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return  # a missing file needs no rule
    try:
        if not os.path.isdir(path):
            rights &= FOR_FILES
        _check(_libc.syscall(ADD_RULE, ruleset, 1, struct.pack("=Qi", rights, fd), 0), f"landlock_add_rule {path}")
    finally:
        if not path.startswith(PINNED):  # these stay open, which keeps the inode; nothing can be read from O_PATH
            os.close(fd)


def _check(result: int, what: str) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
