"""State files of this user's embedded servers: one private file for each set of options."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_state_path

STATE_DIR_VARIABLE = "CODEAGENT_STATE_DIR"
MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes of an AF_UNIX address (unix(7), sys/un.h), without the terminating zero."""
SOCKET_SUFFIX = ".sock"
"""llama.cpp takes a name without it for a host."""
SOCKET_DIRECTORY = "codeagent-model-"
"""Beginning of the name of the directory for a socket that cannot be beside the state file."""


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """The state of one server, written by itself."""

    pid: int
    started: str
    """`process_started` of the pid, so that a reused pid is not taken for the server."""
    url: str = ""
    """Address, ``http://127.0.0.1:PORT``, or ``http://127.0.0.1`` for a socket; empty while the weights load."""
    socket_path: str = ""
    """Unix socket that it listens on; empty for one that listens on the port."""
    key: str = field(default="", repr=False)
    model: str = ""


def state_directory() -> Path:
    """Return the directory of state files, created if missing, private to the user (0700)."""
    configured = os.environ.get(STATE_DIR_VARIABLE)
    directory = Path(configured) if configured else user_state_path("jupyter-codeagent") / "embedded"
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    directory.chmod(0o700)
    return directory


def state_file(directory: Path, *options: object) -> Path:
    """Return the state file for a set of options and this boot, because machines may share a home directory."""
    digest = hashlib.sha256(json.dumps([_boot(), *map(str, options)]).encode()).hexdigest()
    return directory / f"server-{digest[:16]}.json"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return os.uname().nodename


def new_socket_path(file: Path) -> str:
    """Return a path for the Unix socket of a server: beside its state file, or in a private directory if need be.

    The directory is the user's alone, so that nobody else can connect: connections that say nothing would keep all
    threads of the server. Not every file system has sockets, and their paths are short.
    """
    path = file.with_suffix(SOCKET_SUFFIX)
    path.unlink(missing_ok=True)
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH and _can_bind(path):
        return str(path)
    private = tempfile.mkdtemp(prefix=SOCKET_DIRECTORY)
    if len(os.fsencode(f"{private}/s{SOCKET_SUFFIX}")) > MAX_SOCKET_PATH:  # a long TMPDIR
        os.rmdir(private)
        private = tempfile.mkdtemp(prefix=SOCKET_DIRECTORY, dir="/tmp")
    return f"{private}/s{SOCKET_SUFFIX}"


def _can_bind(path: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as trial:
            trial.bind(str(path))
    except OSError:
        return False
    path.unlink()
    return True


def remove_state(file: Path, state: ServerState) -> None:
    """Remove the state file of an ended server, and its socket with a directory made for it on this machine."""
    file.unlink(missing_ok=True)
    path = Path(state.socket_path)
    if path == file.with_suffix(SOCKET_SUFFIX):
        path.unlink(missing_ok=True)
    elif state.socket_path and is_ours(state):
        with suppress(OSError):  # another process removes it as well
            path.unlink()
            path.parent.rmdir()


def write_state(file: Path, state: ServerState) -> None:
    """Write the state atomically, readable for the user only."""
    partial = file.with_suffix(f".{os.getpid()}.new")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as opened:
        json.dump(asdict(state), opened)
    os.replace(partial, file)


def read_state(file: Path) -> ServerState | None:
    """Read a state; None if there is no file, or one that this version cannot read."""
    try:
        return ServerState(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def all_states(directory: Path) -> Iterator[tuple[Path, ServerState]]:
    """Yield each state file with its state, without unreadable ones."""
    for file in sorted(directory.glob("server-*.json")):
        state = read_state(file)
        if state is not None:
            yield file, state


def partial_states(directory: Path) -> Iterator[tuple[Path, int]]:
    """Yield unfinished state files with the pid of their writer, which may have been killed."""
    for file in sorted(directory.glob("server-*.new")):
        pid = file.stem.rpartition(".")[2]
        if pid.isdigit():
            yield file, int(pid)


def process_started(pid: int) -> str:
    """Return the boot id and clock tick of a process's start; empty if it has ended or is a zombie."""
    try:
        # After the last parenthesis: the name of the process may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else f"{_boot()} {fields[19]}"


def is_ours(state: ServerState) -> bool:
    """Check whether it was written on this machine since its boot, so that the pid is valid here."""
    return state.started.startswith(_boot())


def is_alive(state: ServerState) -> bool:
    """Check whether the process that wrote it still runs, on this machine and since its boot."""
    return process_started(state.pid) == state.started != ""
