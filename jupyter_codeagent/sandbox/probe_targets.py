"""Targets on the host for the probes of the self-test: what a probe can reach, hostile code could reach."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.guest.layers import namespaces
from jupyter_codeagent.sandbox.local.walls.roots import is_within

MAX_USER_FILES = 5


@contextlib.contextmanager
def open_targets(
    directory: Path, *, environment: Mapping[str, str], bound: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Open a canary file and listeners on TCP, a path socket and an abstract socket; remove them at the end.

    Some files that the user really has are targets, too, for reading only: nothing is written to their directories.
    """
    place = directory / "t"
    place.mkdir(mode=0o700)
    canary = place / "canary"
    canary.write_text("canary", encoding="ascii")
    canary.chmod(0o600)
    abstract = f"codeagent-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        tcp = _listener(stack, socket.AF_INET, ("127.0.0.1", 0))
        _listener(stack, socket.AF_UNIX, str(place / "u"))
        if sys.platform == "linux":  # other systems have no abstract sockets
            _listener(stack, socket.AF_UNIX, "\0" + abstract)
        yield {
            "files": [str(canary), *_files_of_the_user(bound)],
            "canary": str(canary),
            "directory": str(place),
            "tcp": tcp.getsockname()[1],
            "socket": str(place / "u"),
            "abstract": abstract,
            "environment": [*environment, "PWD", "LC_CTYPE", "PATH"],  # bwrap and Python add the last three
            "pid": os.getpid(),
            "ppid": os.getppid(),
            "pid_namespace": namespaces().get("pid", ""),
            "host_name": os.uname().nodename,
            "namespaces": namespaces(),
        }


def _listener(stack: contextlib.ExitStack, family: int, address: Any) -> socket.socket:
    listener = stack.enter_context(socket.socket(family))
    listener.bind(address)
    listener.listen()
    return listener


def _files_of_the_user(bound: Sequence[str]) -> list[str]:
    """Return files of the home and the working directory, except where the interpreter lives in them."""
    found: list[str] = []
    for directory in (Path.home(), Path.cwd()):
        with contextlib.suppress(OSError):  # a directory that cannot be listed has no files to probe
            names = sorted(entry.path for entry in os.scandir(directory) if entry.is_file(follow_symlinks=False))
            found += [name for name in names if not any(is_within(name, root) for root in bound)][:MAX_USER_FILES]
    return [name for name in found if os.access(name, os.R_OK)]
