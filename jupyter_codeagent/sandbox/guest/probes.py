"""Probes that measure, from inside, what is open. Each returns True if it succeeded, which is bad."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

from .probes_darwin import LINUX_ONLY, ON_DARWIN

CLONE_NEWUSER = 0x10000000
SYSCALLS = {
    "x86_64": {"unshare": 272, "process_vm_readv": 310},
    "aarch64": {"unshare": 97, "process_vm_readv": 270},
}
IO_URING_SETUP = 425


def run_probes(target: dict[str, Any]) -> dict[str, bool]:
    """Run all probes; return name to whether the probe succeeded. `target` describes what the host has opened."""
    return {name: _succeeds(probe, target) for name, probe in PROBES.items()}


def _succeeds(probe: Callable[[dict[str, Any]], bool], target: dict[str, Any]) -> bool:
    try:
        return bool(probe(target))
    except (OSError, ValueError):
        return False


def _read_outside(target: dict[str, Any]) -> bool:
    return any(_readable(path) for path in target["files"])


def _readable(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError:
        return False
    return True


def _write_outside(target: dict[str, Any]) -> bool:
    with open(os.path.join(target["directory"], "written"), "w", encoding="ascii"):
        return True


def _change_metadata(target: dict[str, Any]) -> bool:
    os.chmod(target["canary"], 0o640)
    return os.stat(target["canary"]).st_mode & 0o777 == 0o640


def _connects(family: int, address: Any) -> bool:
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)
    return True


def _tcp(target: dict[str, Any]) -> bool:
    return _connects(socket.AF_INET, ("127.0.0.1", target["tcp"]))


def _udp(target: dict[str, Any]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", target["tcp"]))
    return True


def _listen(_target: dict[str, Any]) -> bool:
    with socket.socket(socket.AF_INET) as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
    return True


def _unix_socket(target: dict[str, Any]) -> bool:
    return _connects(socket.AF_UNIX, target["socket"])


def _abstract_socket(target: dict[str, Any]) -> bool:
    return _connects(socket.AF_UNIX, "\0" + target["abstract"])


def _environment(target: dict[str, Any]) -> bool:
    """Look for other variables in the environment at the start; ipykernel itself adds a few names later."""
    return bool(_names_of("self") - {name.encode() for name in target["environment"]})


def _environment_of_others(target: dict[str, Any]) -> bool:
    allowed = {name.encode() for name in target["environment"]}
    return any(_names_of(pid) - allowed for pid in os.listdir("/proc") if pid.isdigit())


def _names_of(pid: str) -> set[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return {line.partition(b"=")[0] for line in file.read().split(b"\0") if line}
    except OSError:
        return set()


def _see_processes(target: dict[str, Any]) -> bool:
    with open(f"/proc/{target['pid']}/status", encoding="utf-8") as file:
        return f"PPid:\t{target['ppid']}\n" in file.read()


def _signal_processes(target: dict[str, Any]) -> bool:
    if os.readlink("/proc/self/ns/pid") != target["pid_namespace"]:
        return False  # in here the number means another process
    os.kill(target["pid"], 0)
    return True


def _system_call(number: int, *arguments: int) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))


def _memory_of_others(target: dict[str, Any]) -> bool:
    """Read one byte from an invalid address: EFAULT means that access was granted (and nothing was read)."""
    libc = ctypes.CDLL(None, use_errno=True)
    byte = ctypes.create_string_buffer(1)
    local = struct.pack("=QQ", ctypes.addressof(byte), 1)
    remote = struct.pack("=QQ", 8, 1)
    number = SYSCALLS[os.uname().machine]["process_vm_readv"]
    return (
        int(libc.syscall(number, target["pid"], local, 1, remote, 1, 0)) >= 0 or ctypes.get_errno() == errno.EFAULT
    )


def _user_namespace(_target: dict[str, Any]) -> bool:
    return _system_call(SYSCALLS[os.uname().machine]["unshare"], CLONE_NEWUSER) == 0


def _io_uring(_target: dict[str, Any]) -> bool:
    parameters = ctypes.create_string_buffer(128)
    return int(ctypes.CDLL(None, use_errno=True).syscall(IO_URING_SETUP, 1, parameters)) >= 0


def _subprocess(_target: dict[str, Any]) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _file_names(target: dict[str, Any]) -> bool:
    return os.path.exists(target["canary"])


def _host_name(target: dict[str, Any]) -> bool:
    return os.uname().nodename == str(target["host_name"])


ON_LINUX: dict[str, Callable[[dict[str, Any]], bool]] = {
    "read files outside": _read_outside,
    "write files outside": _write_outside,
    "change metadata of files": _change_metadata,
    "TCP": _tcp,
    "UDP": _udp,
    "listen on a port": _listen,
    "Unix sockets": _unix_socket,
    "abstract sockets": _abstract_socket,
    "environment": _environment,
    "environment of other processes": _environment_of_others,
    "see other processes": _see_processes,
    "signal other processes": _signal_processes,
    "memory of other processes": _memory_of_others,
    "new user namespace": _user_namespace,
    "io_uring": _io_uring,
    "start a subprocess": _subprocess,
    "see file names": _file_names,
    "see the host name": _host_name,
}


def probes_of(platform: str) -> dict[str, Callable[[dict[str, Any]], bool]]:
    """Return the probes of a system, by its `sys.platform`."""
    if platform != "darwin":
        return ON_LINUX
    return {name: probe for name, probe in {**ON_LINUX, **ON_DARWIN}.items() if name not in LINUX_ONLY}


PROBES = probes_of(sys.platform)
