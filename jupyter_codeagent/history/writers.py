"""Detection of writers that are gone: each process that writes runs locks a file of its own until it ends.

The operating system releases the lock however the process ends, so this works after kill -9 and a power cut, and
across containers; process ids are reused, and mean nothing in another container.
"""

from __future__ import annotations

import fcntl
import os
import uuid
import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class WriterLock:
    """The locked file of this process; each row that it writes contains the `token`."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True, mode=0o700)
        _remove_dead(directory)
        self.token = uuid.uuid4().hex
        self._path = directory / self.token
        self._file: int | None = _locked_file(self._path)
        # A forked child may live longer than this process, and would keep the lock.
        lock = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _close_in_child(lock()))

    def release(self) -> None:
        """Release the lock; runs of this writer that have not ended count as interrupted. Idempotent."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
        self._file = None

    def close_in_child(self) -> None:
        """Close the file in a forked child, without releasing the parent's lock."""
        if self._file is not None:
            os.close(self._file)
        self._file = None


def dead_writers(directory: Path, tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the tokens whose process is gone."""
    return tuple(token for token in tokens if not _is_alive(directory / token))


def _is_alive(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # A shared lock, so that two simultaneous readers do not take each other for the writer.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _locked_file(path: Path) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)  # waits only while a reader checks the lock
        # Another process may have removed the file before it was locked.
        if path.exists() and path.stat().st_ino == os.fstat(file).st_ino:
            return file
        os.close(file)


def _remove_dead(directory: Path) -> None:
    for path in directory.iterdir():
        with suppress(FileNotFoundError, BlockingIOError):
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                # Removed under the lock: whoever creates this file just now waits for it, and then makes another.
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            finally:
                os.close(file)


def _close_in_child(lock: WriterLock | None) -> None:
    if lock is not None:
        lock.close_in_child()
