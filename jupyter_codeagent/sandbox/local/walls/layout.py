"""The private directory of one sandbox on the host, and the names of its parts inside."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from jupyter_codeagent.sandbox import owned_directory
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_directory

MAX_SOCKET_PATH = 103 if sys.platform == "darwin" else 107
"""Bytes of an AF_UNIX address (unix(7), sys/un.h), without the terminating zero."""
PREFIX = "codeagent-"
IN_USE = "in-use"
"""Lock file, locked for as long as the host's process lives, however that ends."""
LONGEST_SOCKET_NAME = "/c/k-ipc-12345"


@dataclass(frozen=True, kw_only=True)
class SandboxPaths:
    """Paths as code in the sandbox sees them."""

    connection: str
    scratch: str
    temporary: str
    data: str

    @property
    def matplotlib(self) -> str:
        return f"{self.temporary}/matplotlib"


@dataclass(frozen=True, kw_only=True)
class PrivateDirectory:
    """``c/`` connection file and sockets, ``s/`` scratch where there is no mount namespace; mode 0700."""

    root: Path
    lock_fd: int

    @property
    def connection(self) -> Path:
        return self.root / "c"

    @property
    def scratch(self) -> Path:
        return self.root / "s"

    @classmethod
    def create(cls) -> PrivateDirectory:
        """Create and lock a directory, with a path short enough for its sockets."""
        root = Path(os.path.realpath(tempfile.mkdtemp(prefix=PREFIX)))
        if len(str(root) + LONGEST_SOCKET_NAME) > MAX_SOCKET_PATH:  # a long TMPDIR
            root.rmdir()
            root = Path(os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir="/tmp")))
        remove_abandoned(root.parent)
        directory = cls(root=root, lock_fd=lock_directory(root, IN_USE))
        directory.connection.mkdir(mode=0o700)
        directory.scratch.mkdir(mode=0o700)
        return directory

    def remove(self) -> None:
        """Remove the directory, whatever code in the sandbox has put into it."""
        remove_directory(self.root, IN_USE, self.lock_fd)


def remove_abandoned(parent: Path) -> None:
    """Remove directories that killed hosts have left; their sandboxes died with them."""
    owned_directory.remove_abandoned(parent, prefix=PREFIX, lock=IN_USE)
