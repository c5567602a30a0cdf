"""What another user of the machine tries: run as them, with nothing of ours, it prints all that it got as JSON.

Arguments: the uid of the other user, and a secret of theirs.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PLACES = ("/home", "/tmp", "/dev/shm", "/run", "/var/tmp", "/dev/mqueue")
MAX_BYTES = 1 << 20
PTRACE_ATTACH = 16
PTRACE_DETACH = 17


def main(uid: int, secret: str) -> None:
    got = {
        "files": list(readable(uid)),
        "with the secret": [path for path in readable(uid) if holds(path, secret)],
        "written": list(writable(uid)),
        "processes": list(processes(uid, secret)),
        "sockets": list(sockets(uid)),
        "ports": list(ports(uid)),
        "shared memory": shared_memory(uid),
    }
    print(json.dumps(got))


def entries(uid: int) -> Iterator[tuple[Path, os.stat_result]]:
    """All of theirs that can be found, in directories of theirs and in those that everybody writes to."""
    waiting = [Path(place) for place in PLACES]
    while waiting:
        with suppress(OSError):
            for entry in os.scandir(waiting.pop()):
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if found.st_uid == uid:
                        yield Path(entry.path), found
                    is_shared = found.st_mode & stat.S_IWOTH
                    if stat.S_ISDIR(found.st_mode) and (found.st_uid == uid or is_shared):
                        waiting.append(Path(entry.path))


def readable(uid: int) -> Iterator[str]:
    """Files that can be read."""
    for path, found in entries(uid):
        if stat.S_ISREG(found.st_mode) and os.access(path, os.R_OK):
            yield str(path)


def holds(path: str, secret: str) -> bool:
    try:
        with open(path, "rb") as file:
            return secret.encode() in file.read(MAX_BYTES)
    except OSError:
        return False


def writable(uid: int) -> Iterator[str]:
    for path, found in entries(uid):
        if not stat.S_ISLNK(found.st_mode) and not stat.S_ISSOCK(found.st_mode) and os.access(path, os.W_OK):
            yield str(path)


def processes(uid: int, secret: str) -> Iterator[str]:
    """What can be done to their processes, and secrets that all can read of them."""
    libc = ctypes.CDLL(None, use_errno=True)
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if not entry.name.isdigit() or entry.stat().st_uid != uid:
                continue
            pid = int(entry.name)
            for name in ("environ", "mem", "maps", "fd", "cwd", "root", "io", "stack"):
                with suppress(OSError):
                    if name in ("fd",):
                        os.listdir(entry / name)
                    elif name in ("cwd", "root"):
                        os.readlink(entry / name)
                    else:
                        (entry / name).open("rb").read(1)
                    yield f"{name} of {(entry / 'comm').read_text().strip()}"
            if secret in (entry / "cmdline").read_text():
                yield f"secret in the arguments of {pid}"
            with suppress(PermissionError):
                os.kill(pid, 0)
                yield f"signal to {pid}"
            if libc.ptrace(PTRACE_ATTACH, pid, 0, 0) == 0:
                yield f"ptrace of {pid}"
                libc.ptrace(PTRACE_DETACH, pid, 0, 0)


def sockets(uid: int) -> Iterator[str]:
    """Unix sockets of theirs that let us connect, those without a file among them."""
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        name = line.split(maxsplit=7)[7:]
        if not name or not is_theirs(name[0], uid):
            continue
        with socket.socket(socket.AF_UNIX) as one, suppress(OSError):
            one.settimeout(1)
            one.connect(f"\0{name[0][1:]}" if name[0].startswith("@") else name[0])
            yield name[0]


def is_theirs(name: str, uid: int) -> bool:
    """Names without a file have no owner to be seen: all of them are tried that are of no system service."""
    if name.startswith("@"):
        return "codeagent" in name or "kernel" in name
    with suppress(OSError):
        return os.lstat(name).st_uid == uid
    return "codeagent" in name or "kernel-" in name


def ports(uid: int) -> Iterator[str]:
    """What their ports answer to one who has no key."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] != "0A" or int(fields[7]) != uid:
            continue
        port = int(fields[1].rpartition(":")[2], 16)
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as one:
            one.sendall(b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            yield one.recv(100).decode(errors="replace").partition("\r\n")[0]


def shared_memory(uid: int) -> list[str]:
    """System V segments, which have no files."""
    rows = [line.split() for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return [row[1] for row in rows if int(row[7]) == uid]


main(int(sys.argv[1]), sys.argv[2])
