"""Private directories whose lock tells whether their owner lives, and the removal of those that owners have left.

The system releases the lock with the last process that has its file open, however that process ends.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from jupyter_codeagent.sandbox.removal import remove_tree


def lock_directory(path: Path, lock: str) -> int:
    """Lock a new directory, and return the descriptor to keep open for as long as it is used.

    The file is locked before it gets its name: nobody finds it unlocked while we live.
    """
    import fcntl  # POSIX only; the module is imported everywhere

    fd = os.open(path / f"{lock}.new", os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX)
    os.rename(path / f"{lock}.new", path / lock)
    return fd


def remove_directory(path: Path, lock: str, fd: int) -> None:
    """Remove a directory of ours and release its lock.

    The lock file is removed last. If we are killed halfway, or something cannot be removed now, the next sweep can
    still tell that the owner is gone. The contents may be hostile (see `removal`).
    """
    try:
        for entry in _entries(path, lock):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(Path(entry.path))
            else:
                os.unlink(entry.path)
        if not _entries(path, lock):
            os.unlink(path / lock)
            path.rmdir()
    except OSError:
        pass  # removed by somebody else, or its lock file is still there for the next sweep
    finally:
        os.close(fd)


def _entries(path: Path, lock: str) -> list[os.DirEntry[str]]:
    with os.scandir(path) as entries:
        return [entry for entry in entries if entry.name != lock]


def remove_abandoned(parent: Path, *, prefix: str, lock: str, unlocked_s: float | None = None) -> None:
    """Remove this user's directories under `parent` whose owner is gone.

    Others may do the same at the same time, and in a shared directory anything may have such a name: entries that
    are not ours or vanish meanwhile are skipped. A directory without a lock is just being created, or its owner
    died while creating it: it is removed once it is `unlocked_s` old, never if that is None.
    """
    for path in parent.glob(f"{prefix}*"):
        found = _lstat(path)
        if found is None or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            continue
        try:
            fd = os.open(path / lock, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            if unlocked_s is not None and time.time() - found.st_mtime > unlocked_s:
                _remove(path)
        except OSError:
            continue  # not a lock of ours, for example a link
        else:
            _remove_unless_locked(path, lock, fd)


def _remove_unless_locked(path: Path, lock: str, fd: int) -> None:
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
    else:
        remove_directory(path, lock, fd)


def _lstat(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None  # removed while we looked


def _remove(path: Path) -> None:
    try:
        remove_tree(path)
    except OSError:
        return  # another process removes it as well; the next sweep tries what is left
