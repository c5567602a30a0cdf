"""The SQLite file: private, in WAL mode, with a known schema version; failures become one-line `HistoryError`s."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_codeagent.types.errors import HistoryError

BUSY_TIMEOUT_S = 5.0
"""Time to wait for the write lock of another process; a write holds it for milliseconds."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # Narrow rows for lists; the record, a thousand times as large, is only read for one run at a time.
        """CREATE TABLE runs (
            n INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            session TEXT NOT NULL,
            writer TEXT NOT NULL,
            prompt TEXT NOT NULL,
            notebook TEXT,
            cell_id TEXT,
            model TEXT NOT NULL,
            status TEXT NOT NULL,
            started_at REAL NOT NULL,
            ended_at REAL,
            saved_at REAL NOT NULL,
            steps INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            cell_state TEXT NOT NULL,
            error TEXT NOT NULL
        )""",
        "CREATE INDEX runs_started_at ON runs (started_at, n)",
        "CREATE INDEX runs_cell ON runs (cell_id, notebook)",
        "CREATE TABLE records (n INTEGER PRIMARY KEY, record TEXT NOT NULL)",
        # Case-folded here and searched by instr: 33 ms over 10,000 runs of 4 kB, right for every alphabet,
        # any text is just text, and the file can be opened by a Python whose SQLite lacks full-text search.
        "CREATE TABLE texts (n INTEGER PRIMARY KEY, text TEXT NOT NULL)",
        """CREATE TABLE decisions (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id TEXT NOT NULL,
            at REAL NOT NULL,
            what TEXT NOT NULL,
            by TEXT NOT NULL
        )""",
        "CREATE INDEX decisions_run ON decisions (run_id, n)",
    ),
    # The code that ran in the live kernel: a person may have edited it, so it can differ from the run's code. The
    # decision `applied` came with this version: a reader of version 1 would take it for a state of cells.
    ("ALTER TABLE decisions ADD COLUMN code TEXT NOT NULL DEFAULT ''",),
)
"""One entry per schema version, oldest first; entries are only ever added."""


class Database:
    """One SQLite connection, opened at first use and shared by all threads under a lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction; reads in it are consistent.

        Raises
        ------
        HistoryError
            The file cannot be opened, read or written; it is never replaced or deleted.
        """
        with self._lock, self._translated_errors():
            connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # SQLite itself rolls back when the disk is full
                    connection.execute("ROLLBACK")
                raise

    def shrink(self) -> None:
        """Release free pages and empty the write-ahead log after a deletion, so that no deleted data stays."""
        with self._lock, self._translated_errors():
            connection = self._connection or self._open()
            connection.executescript("PRAGMA incremental_vacuum")  # execute() would free one page only
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the connection; idempotent, the next use opens the file again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Created here for its mode; SQLite gives the write-ahead log and its index the mode of the file.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            _refuse_newer(connection, self.path)
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # has an effect in a new file only
            _use_write_ahead_log(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA secure_delete = ON")  # deleted data is overwritten, not only unlinked
            _migrate(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise HistoryError(self._error_text(error)) from error
        except OSError as error:
            raise HistoryError(
                f"The history {self.path} cannot be opened ({error.strerror or error}). "
                "Make its directory writable, or set JUPYTER_DATA_DIR to one that is."
            ) from error

    def _error_text(self, error: sqlite3.Error) -> str:
        code = getattr(error, "sqlite_errorname", None) or ""
        if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            return (
                f"The history {self.path} is damaged ({error}). Nothing was deleted: move it away to start a new "
                f"one, or try `sqlite3 {self.path.name} .recover` on a copy."
            )
        if code.startswith("SQLITE_BUSY"):
            return f"The history {self.path} was locked by another process for {BUSY_TIMEOUT_S:.0f} s; try again."
        if code.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return f"The history {self.path} could not be written or read ({error}). Is the disk full?"
        return f"The history {self.path} failed ({error}). Make sure that you may read and write it."


def _refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)
    if version > len(MIGRATIONS):
        raise HistoryError(
            f"The history {path} has schema version {version}; this jupyter-codeagent knows versions up to "
            f"{len(MIGRATIONS)}. Upgrade jupyter-codeagent; the file was not touched."
        )


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to WAL mode, with retries: SQLite does not wait for this lock when two processes create the file."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _migrate(connection: sqlite3.Connection) -> None:
    """Bring an older file up to date, in one transaction; another process may have done it while we waited."""
    if _version(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    for statements in MIGRATIONS[_version(connection) :]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")
