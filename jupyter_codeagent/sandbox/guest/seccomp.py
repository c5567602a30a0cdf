"""Seccomp filters assembled in pure Python: no libseccomp, no binary.

Two are installed, one over the other. `early` is installed before anything heavy is imported: AF_UNIX is the only
socket family, because zmq has to bind its ipc sockets. `late` is installed once they are bound: no socket can be
created, connected or bound at all, which closes what Landlock leaves open: the path sockets of D-Bus, docker and
ssh-agent.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable
from typing import Literal

from .syscalls import ALWAYS_DENIED, LAST_REVIEWED, LATE_DENIED, METADATA, METADATA_READS, NUMBERS

Stage = Literal["early", "late"]

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
LOAD, JUMP_EQ, JUMP_GE, JUMP_SET, RETURN, AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
KILL, ALLOW, ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
EPERM, ENOSYS = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
FAKE_SUCCESS = ERRNO | 0
"""Do nothing and report success."""
NOT_SUPPORTED = ERRNO | errno.EOPNOTSUPP
NO_SOCKET = NOT_SUPPORTED
"""The only refusal of socket(2) that libzmq survives; EPERM and EAFNOSUPPORT make it abort (ip_resolver.cpp)."""

CLONE_THREAD = 0x00010000
CLONE_NEW_ANY = 0x7E020000
X32_BIT = 0x40000000
AF_UNIX, SOCK_STREAM = 1, 1
IOCTLS = (
    0x5401,  # TCGETS, isatty(3)
    0x802C542A,  # TCGETS2, isatty(3) from glibc 2.42 on
    0x540F,  # TIOCGPGRP
    0x5411,  # TIOCOUTQ
    0x5413,  # TIOCGWINSZ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
    0x5460,  # FIOQSIZE
    0x40049409,  # FICLONE, tried by copies before they copy
    0x4020940D,  # FICLONERANGE
)
"""All that data work needs. Not among them: TIOCSTI and TIOCLINUX, which type on a terminal; FIOSETOWN, which
sends signals; FS_IOC_SETFLAGS and FS_IOC_ENABLE_VERITY, which change a file that is only open for reading."""
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_MM, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 35, 38
F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_NOTIFY = 8, 10, 15, 1024, 1026
PER_QUERY = 0xFFFFFFFF


class Program:
    """A BPF program under construction; every block ends in a return on each of its paths."""

    def __init__(self, machine: str) -> None:
        self.instructions: list[bytes] = []
        self._column = list(AUDIT_ARCH).index(machine)

    def emit(self, code: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        """Append one instruction."""
        self.instructions.append(struct.pack("=HBBI", code, if_true, if_false, value))

    def argument(self, index: int) -> None:
        """Load the low 32 bits, which the kernel itself uses for flags, families and ioctl numbers."""
        self.emit(LOAD, 16 + 8 * index)

    def answer(self, name: str, action: int) -> None:
        """Answer a system call with the action."""
        self.block(name, lambda: self.emit(RETURN, action))

    def block(self, name: str, body: Callable[[], None]) -> None:
        """Run the instructions of `body` for a system call."""
        number = NUMBERS[name][self._column]
        if number < 0:
            return
        start = len(self.instructions)
        self.emit(JUMP_EQ, number)
        body()
        skip = len(self.instructions) - start - 1
        self.instructions[start] = struct.pack("=HBBI", JUMP_EQ, 0, skip, number)

    def allow_only(self, name: str, argument: int, values: tuple[int, ...], refusal: int = EPERM) -> None:
        """Allow the call when the argument is one of the values."""

        def body() -> None:
            self.argument(argument)
            for index, value in enumerate(values):
                self.emit(JUMP_EQ, value, len(values) - index, 0)
            self.emit(RETURN, refusal)
            self.emit(RETURN, ALLOW)

        self.block(name, body)

    def refuse_only(self, name: str, argument: int, values: tuple[int, ...]) -> None:
        """Refuse the call when the argument is one of the values."""

        def body() -> None:
            self.argument(argument)
            for index, value in enumerate(values):
                self.emit(JUMP_EQ, value, len(values) - index, 0)
            self.emit(RETURN, ALLOW)
            self.emit(RETURN, EPERM)

        self.block(name, body)


def build(
    *,
    stage: Stage,
    subprocess: bool,
    own_pid: int | None = None,
    shared_files: bool = False,
    deny_truncate: bool = False,
    machine: str | None = None,
) -> bytes:
    """Build the filter as the bytes of a `struct sock_filter[]`.

    `own_pid` is given where there is no pid namespace: signals, priorities and limits then reach that process
    only. `shared_files` means that the user's files are visible (no mount namespace). `deny_truncate` is needed
    for Landlock before ABI 3, which does not mediate truncate(2).
    """
    machine = machine or platform.machine()
    if machine not in AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no system call table for {machine}; known: {', '.join(AUDIT_ARCH)}")
    program = Program(machine)
    _check_architecture(program, machine)
    for name in ALWAYS_DENIED:
        program.answer(name, EPERM)
    _processes(program, subprocess)
    _sockets(program, stage)
    program.allow_only("ioctl", 1, IOCTLS)
    _restrict_own_process(program, stage)
    program.allow_only("personality", 0, (0, PER_QUERY))
    commands = [F_SETLEASE, F_NOTIFY]  # a lease on a file open for reading makes the next writer wait for 45 s
    if own_pid is not None:
        commands += [F_SETOWN, F_SETSIG, F_SETOWN_EX]
        _restrict_targets_to_self(program, own_pid)
        if stage == "late":  # `enforce_late` lowers our own priority just before
            program.answer("setpriority", EPERM)
    program.refuse_only("fcntl", 1, tuple(commands))
    if shared_files:
        for name in METADATA:
            program.answer(name, FAKE_SUCCESS)  # so that shutil.copy into scratch still works
        # fallocate takes any amount of the user's disk at once, before the watchdog sees it; glibc writes instead
        for name in (*METADATA_READS, "fallocate"):
            program.answer(name, NOT_SUPPORTED)
    if deny_truncate:
        program.answer("truncate", EPERM)
    program.emit(JUMP_GE, LAST_REVIEWED + 1, 0, 1)
    program.emit(RETURN, ENOSYS)
    program.emit(RETURN, ALLOW)
    return b"".join(program.instructions)


def _check_architecture(program: Program, machine: str) -> None:
    program.emit(LOAD, 4)
    program.emit(JUMP_EQ, AUDIT_ARCH[machine], 1, 0)
    program.emit(RETURN, KILL)
    program.emit(LOAD, 0)
    if machine == "x86_64":  # the x32 numbers would pass a filter that checks only the plain ones
        program.emit(JUMP_GE, X32_BIT, 0, 1)
        program.emit(RETURN, ENOSYS)


def _processes(program: Program, subprocess: bool) -> None:
    program.answer(
        "clone3", ENOSYS
    )  # its flags lie in memory, where no filter sees them; glibc falls back to clone

    def clone() -> None:
        program.argument(0)
        program.emit(JUMP_SET, CLONE_NEW_ANY, 0, 1)
        program.emit(RETURN, EPERM)
        if not subprocess:
            program.emit(JUMP_SET, CLONE_THREAD, 1, 0)
            program.emit(RETURN, EPERM)
        program.emit(RETURN, ALLOW)

    program.block("clone", clone)
    if not subprocess:
        for name in ("fork", "vfork", "execve", "execveat"):
            program.answer(name, EPERM)


def _sockets(program: Program, stage: Stage) -> None:
    if stage == "late":
        for name in LATE_DENIED:
            program.answer(name, EPERM)
    else:
        program.allow_only("socket", 0, (AF_UNIX,), NO_SOCKET)

    def socketpair() -> None:  # a pair of datagram sockets could still sendto() any path socket
        program.argument(0)
        program.emit(JUMP_EQ, AF_UNIX, 1, 0)
        program.emit(RETURN, NO_SOCKET)
        program.argument(1)
        program.emit(AND, 0xF)  # without SOCK_CLOEXEC and SOCK_NONBLOCK
        program.emit(JUMP_EQ, SOCK_STREAM, 1, 0)
        program.emit(RETURN, EPERM)
        program.emit(RETURN, ALLOW)

    program.block("socketpair", socketpair)


def _restrict_own_process(program: Program, stage: Stage) -> None:
    """Keep the process tied to the host, and readable for the host's watchdog, which uses its /proc directory."""
    options = [PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM]
    if stage == "late":
        options.append(PR_SET_SECCOMP)
    program.refuse_only("prctl", 0, tuple(options))


def _restrict_targets_to_self(program: Program, pid: int) -> None:
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        program.allow_only(name, 0, (pid,))
    for name in ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam"):
        program.allow_only(name, 0, (0, pid))
    for name in ("tkill", "pidfd_open", "pidfd_send_signal", "ioprio_set"):
        program.answer(name, EPERM)
    program.answer("sched_setscheduler", FAKE_SUCCESS)  # libzmq aborts when it is refused (thread.cpp)


class _FilterProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def install(program: bytes) -> None:
    """Install the filter for all threads of this process, for good.

    Raises
    ------
    OSError
        If the kernel refuses it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    text = ctypes.create_string_buffer(program, len(program))
    described = _FilterProgram(len(program) // 8, ctypes.addressof(text))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
    set_mode_filter, tsync = 1, 1
    result = libc.syscall(number, set_mode_filter, tsync, ctypes.byref(described))
    if result:  # positive: the id of a thread that could not be synchronised
        raise OSError(ctypes.get_errno() or errno.EBUSY, f"seccomp(SECCOMP_SET_MODE_FILTER) gave {result}")
