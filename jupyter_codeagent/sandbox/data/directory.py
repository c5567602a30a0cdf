"""The private directory that holds the copies, and the removal of directories that crashed kernels left."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from jupyter_codeagent.sandbox import owned_directory
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_directory

MEMORY = Path("/dev/shm")  # noqa: S108  (only a parent; mkdtemp makes a private directory in it)
PREFIX = "codeagent-copies-"
"""Only for these directories: one without a lock is removed once it is old."""
LOCK = "owner.lock"
ABANDONED_S = 3600.0
"""Age in seconds: a younger directory without a lock may be one that is just being created."""


class SpoolDirectory:
    """A directory of mode 0700: in memory if `max_bytes` fit there, else on disk.

    Its owner holds a lock as long as it lives, so that a later kernel can recognise what a crash has left. Copies
    are the user's data, and perhaps a gigabyte of memory: neither may stay behind.
    """

    def __init__(self, *, max_bytes: int) -> None:
        parents = [Path(tempfile.gettempdir())]
        if _is_writable(MEMORY):
            parents.append(MEMORY)
        for parent in parents:
            remove_abandoned(parent)
        roomy = [parent for parent in parents if shutil.disk_usage(parent).free > max_bytes]
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=roomy[-1] if roomy else parents[0]))
        # Sandboxes are started with all files closed, so none of them holds the lock.
        self._lock = lock_directory(self.path, LOCK)

    def close(self) -> None:
        """Remove the directory; sandboxes that still map a file keep their view of it."""
        remove_directory(self.path, LOCK, self._lock)


def remove_abandoned(parent: Path) -> None:
    """Remove this user's spool directories under `parent` whose owner is gone."""
    owned_directory.remove_abandoned(parent, prefix=PREFIX, lock=LOCK, unlocked_s=ABANDONED_S)


def _is_writable(path: Path) -> bool:
    return path.is_dir() and os.access(path, os.W_OK)
