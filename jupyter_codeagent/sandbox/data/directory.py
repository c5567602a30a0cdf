"""The private directory that holds the copies, and what crashed kernels left of theirs."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from jupyter_codeagent.sandbox import owned_directory
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_directory

MEMORY = Path("/dev/shm")  # noqa: S108  (only a parent; mkdtemp makes a private directory in it)
PREFIX = "codeagent-copies-"
"""Of these directories alone: by its age a directory may be removed that says nothing of its owner."""
LOCK = "owner.lock"
ABANDONED_S = 3600.0
"""Without a lock a directory is just being made, or its owner died while making it."""


class SpoolDirectory:
    """A directory of mode 0700: in memory where `max_bytes` fit there, else on disk.

    Its owner holds a lock as long as it lives, so that a later kernel can tell what was left by a crash. Copies are
    the user's data, and a gigabyte of memory: neither may stay behind.
    """

    def __init__(self, *, max_bytes: int) -> None:
        parents = [Path(tempfile.gettempdir())]
        if _is_writable(MEMORY):
            parents.append(MEMORY)
        for parent in parents:
            remove_abandoned(parent)
        roomy = [parent for parent in parents if shutil.disk_usage(parent).free > max_bytes]
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=roomy[-1] if roomy else parents[0]))
        # Sandboxes are started with closed files, so none of them holds the lock.
        self._lock = lock_directory(self.path, LOCK)

    def close(self) -> None:
        """Remove all of it; sandboxes that still map a file keep their view."""
        remove_directory(self.path, LOCK, self._lock)


def remove_abandoned(parent: Path) -> None:
    """Remove this user's spool directories under `parent` whose owner is gone."""
    owned_directory.remove_abandoned(parent, prefix=PREFIX, lock=LOCK, unlocked_s=ABANDONED_S)


def _is_writable(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.W_OK)
