"""Which processes that wrote runs are still alive: each holds a lock on a file of its own until it ends.

The kernel of the operating system gives the lock back however a process ends, so this holds after kill -9 and
a power cut, and across containers; process ids would be used again, and mean nothing in another container.
"""

from __future__ import annotations

import fcntl
import os
import uuid
import weakref
from collections.abc import Iterable
from pathlib import Path


class WriterMark:
    """The sign of life of this process; `token` goes into each row it writes."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True, mode=0o700)
        _remove_dead(directory)
        self.token = uuid.uuid4().hex
        self._path = directory / self.token
        self._file: int | None = _locked_file(self._path)
        # A forked child would hold the lock for as long as it lives, which may be longer than we do.
        mark = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _close_in_child(mark()))

    def release(self) -> None:
        """Idempotent; runs of this writer that have not ended count as interrupted from now on."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
        self._file = None

    def forget(self) -> None:
        """In a forked child: close without touching the parent's lock."""
        if self._file is not None:
            os.close(self._file)
        self._file = None


def dead_writers(directory: Path, tokens: Iterable[str]) -> tuple[str, ...]:
    """Those of the tokens whose process is gone."""
    return tuple(token for token in tokens if not _is_alive(directory / token))


def _is_alive(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two readers who ask at the same time do not take each other for the writer.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _locked_file(path: Path) -> int:
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)  # waits at most for a reader's glance
        # Another process may have tidied the file away before it was locked.
        if path.exists() and path.stat().st_ino == os.fstat(file).st_ino:
            return file
        os.close(file)


def _remove_dead(directory: Path) -> None:
    for path in directory.iterdir():
        if not _is_alive(path):
            path.unlink(missing_ok=True)


def _close_in_child(mark: WriterMark | None) -> None:
    if mark is not None:
        mark.forget()
