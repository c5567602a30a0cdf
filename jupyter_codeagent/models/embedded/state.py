"""State files of this user's embedded servers: one private file for each set of options."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_state_path

STATE_DIR_VARIABLE = "CODEAGENT_STATE_DIR"


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """The state of one server, written by itself."""

    pid: int
    started: str
    """`process_started` of the pid, so that a reused pid is not taken for the server."""
    url: str = ""
    """Address, ``http://127.0.0.1:PORT``; empty while the weights are loading."""
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
