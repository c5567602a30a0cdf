"""The BPF programs, run by a small interpreter over system calls of both machines."""

from __future__ import annotations

import errno
import struct

import pytest

from jupyter_codeagent.sandbox.guest import seccomp
from jupyter_codeagent.sandbox.guest.syscalls import (
    ALWAYS_DENIED,
    LAST_REVIEWED,
    LATE_DENIED,
    METADATA,
    METADATA_READS,
    NUMBERS,
)

ALLOW, KILL = seccomp.ALLOW, seccomp.KILL
MACHINES = tuple(seccomp.AUDIT_ARCH)
OWN_PID = 4321


def answer(program: bytes, number: int, arch: int, arguments: tuple[int, ...] = ()) -> int:
    """What the kernel would do: an interpreter of the instructions that we emit (linux/filter.h)."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("=IIQ6Q", number, arch, 0, *padded)
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        operation, if_true, if_false, value = code[at]
        at += 1
        if operation == seccomp.LOAD:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == seccomp.AND:
            accumulator &= value
        elif operation == seccomp.RETURN:
            return int(value)
        else:
            taken = {
                seccomp.JUMP_EQ: accumulator == value,
                seccomp.JUMP_GE: accumulator >= value,
                seccomp.JUMP_SET: bool(accumulator & value),
            }[operation]
            at += if_true if taken else if_false


class Filter:
    def __init__(self, machine: str, **options: object) -> None:
        self.machine = machine
        defaults: dict[str, object] = {"stage": "late", "subprocess": False}
        self.program = seccomp.build(machine=machine, **{**defaults, **options})  # type: ignore[arg-type]

    def number(self, name: str) -> int:
        return NUMBERS[name][MACHINES.index(self.machine)]

    def __call__(self, name: str, *arguments: int) -> int:
        number = self.number(name)
        assert number >= 0, f"{name} is not on {self.machine}"
        return answer(self.program, number, seccomp.AUDIT_ARCH[self.machine], arguments)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_listed_call_is_refused_at_both_stages(machine: str) -> None:
    for stage in ("early", "late"):
        checked = Filter(machine, stage=stage)
        names = [name for name in ALWAYS_DENIED if checked.number(name) >= 0]
        assert {checked(name) for name in names} == {seccomp.EPERM}


def test_a_call_that_is_not_listed_is_allowed(machine: str) -> None:
    listed = {numbers[MACHINES.index(machine)] for numbers in NUMBERS.values()}
    checked = Filter(machine, own_pid=OWN_PID, shared_files=True, deny_truncate=True)
    arch = seccomp.AUDIT_ARCH[machine]
    reviewed = set(range(LAST_REVIEWED + 1)) - listed
    assert {answer(checked.program, number, arch) for number in reviewed} == {ALLOW}


def test_a_call_that_nobody_has_reviewed_is_not_there(machine: str) -> None:
    """Nor are the numbers from 512 on, which once reached the x32 calls without the x32 bit."""
    listed = {numbers[MACHINES.index(machine)] for numbers in NUMBERS.values()}
    arch = seccomp.AUDIT_ARCH[machine]
    later = {*range(LAST_REVIEWED + 1, 1024), 0x3FFFFFFF} - listed
    for checked in (Filter(machine, stage="early"), Filter(machine, subprocess=True, own_pid=OWN_PID)):
        assert {answer(checked.program, number, arch) for number in later} == {seccomp.ENOSYS}


def test_another_architecture_is_killed(machine: str) -> None:
    assert answer(Filter(machine).program, 0, 0x40000003) == KILL


def test_the_x32_numbers_do_not_slip_through() -> None:
    checked = Filter("x86_64")
    assert answer(checked.program, 0x40000000 + 101, seccomp.AUDIT_ARCH["x86_64"]) == seccomp.ENOSYS


def test_threads_can_be_made_and_processes_cannot(machine: str) -> None:
    checked = Filter(machine)
    assert checked("clone", seccomp.CLONE_THREAD) == ALLOW
    assert checked("clone", 17) == seccomp.EPERM
    assert checked("execve") == seccomp.EPERM
    assert checked("clone3") == seccomp.ENOSYS


def test_processes_can_be_made_where_the_policy_says_so_but_no_namespaces(machine: str) -> None:
    checked = Filter(machine, subprocess=True)
    assert checked("clone", 17) == ALLOW
    assert checked("execve") == ALLOW
    for bit in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert checked("clone", bit | 17) == seccomp.EPERM
        assert checked("clone", bit | seccomp.CLONE_THREAD) == seccomp.EPERM


def test_early_only_unix_sockets_can_be_made_and_late_none(machine: str) -> None:
    early, late = Filter(machine, stage="early"), Filter(machine)
    assert early("socket", 1) == ALLOW
    assert {early("socket", family) for family in (0, 2, 10, 16, 17, 40)} == {seccomp.NO_SOCKET}
    assert early("bind") == early("connect") == ALLOW
    assert {late(name, 1) for name in LATE_DENIED} == {seccomp.EPERM}
    assert {early(name, 1) for name in LATE_DENIED} == {ALLOW}


def test_only_stream_pairs_can_be_made(machine: str) -> None:
    checked = Filter(machine)
    cloexec = 0o2000000
    assert checked("socketpair", 1, 1 | cloexec) == ALLOW
    assert checked("socketpair", 1, 2 | cloexec) == seccomp.EPERM
    assert checked("socketpair", 2, 1) == seccomp.NO_SOCKET


def test_single_arguments_are_refused_and_their_neighbours_allowed(machine: str) -> None:
    checked = Filter(machine)
    tiocsti, tioclinux, fiosetown, fs_ioc_setflags, enable_verity = 0x5412, 0x541C, 0x8901, 0x40086602, 0x40806685
    for request in (tiocsti, tioclinux, fiosetown, fs_ioc_setflags, enable_verity):
        assert checked("ioctl", 0, request) == seccomp.EPERM
        assert checked("ioctl", 0, request | 1 << 32) == seccomp.EPERM  # the kernel looks at the low 32 bits
    assert {checked("ioctl", 0, request) for request in seccomp.IOCTLS} == {ALLOW}
    for option in (seccomp.PR_SET_PDEATHSIG, seccomp.PR_SET_DUMPABLE, seccomp.PR_SET_MM, seccomp.PR_SET_SECCOMP):
        assert checked("prctl", option) == seccomp.EPERM
    assert checked("prctl", 15) == ALLOW
    for command in (seccomp.F_SETLEASE, seccomp.F_NOTIFY):
        assert checked("fcntl", 0, command) == seccomp.EPERM
    assert {checked("fcntl", 0, command) for command in (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1031)} == {ALLOW}
    assert checked("personality", 0) == checked("personality", 0xFFFFFFFF) == ALLOW
    assert checked("personality", 0x0040000) == seccomp.EPERM


def test_without_a_pid_namespace_signals_reach_only_oneself(machine: str) -> None:
    checked = Filter(machine, own_pid=OWN_PID)
    for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
        assert checked(name, OWN_PID) == ALLOW
        assert {checked(name, pid) for pid in (0, 1, OWN_PID + 1, (1 << 64) - 1)} == {seccomp.EPERM}
    for name in ("prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam"):
        assert checked(name, 0) == checked(name, OWN_PID) == ALLOW
        assert checked(name, 1) == seccomp.EPERM
    assert checked("fcntl", 0, 8) == seccomp.EPERM
    assert checked("fcntl", 0, 3) == ALLOW
    assert checked("setpriority") == seccomp.EPERM
    assert Filter(machine, own_pid=OWN_PID, stage="early")("setpriority") == ALLOW
    assert Filter(machine)("kill", 1) == ALLOW


def test_where_files_are_shared_metadata_changes_do_nothing(machine: str) -> None:
    checked, own = Filter(machine, shared_files=True), Filter(machine)
    names = [name for name in METADATA if checked.number(name) >= 0]
    assert {checked(name) for name in names} == {seccomp.FAKE_SUCCESS}
    reviewed = [name for name in names if checked.number(name) <= LAST_REVIEWED]
    assert {own(name) for name in reviewed} == {ALLOW}
    not_mediated = (*METADATA_READS, "fallocate")
    assert {checked(name) for name in not_mediated} == {seccomp.NOT_SUPPORTED}
    assert {own(name) for name in not_mediated} == {ALLOW}


def test_the_kernel_can_still_be_bound_and_confined_before_the_late_filter(machine: str) -> None:
    early = Filter(machine, stage="early", own_pid=OWN_PID, shared_files=True)
    assert early("prctl", seccomp.PR_SET_NO_NEW_PRIVS) == early("prctl", seccomp.PR_SET_SECCOMP) == ALLOW
    assert early("seccomp") == ALLOW


def test_truncate_is_refused_where_landlock_does_not_see_it(machine: str) -> None:
    assert Filter(machine, deny_truncate=True)("truncate") == seccomp.EPERM
    assert Filter(machine)("truncate") == ALLOW


def test_an_unknown_machine_is_an_error_and_no_empty_filter() -> None:
    with pytest.raises(OSError, match="riscv64") as caught:
        seccomp.build(stage="late", subprocess=False, machine="riscv64")
    assert caught.value.errno == errno.ENOSYS


def test_the_program_is_one_that_the_kernel_takes(machine: str) -> None:
    program = Filter(machine, own_pid=OWN_PID, shared_files=True, deny_truncate=True).program
    assert len(program) // 8 <= 4096
