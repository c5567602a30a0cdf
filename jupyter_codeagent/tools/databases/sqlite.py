"""SQLite: `PRAGMA query_only`, and for queries without approval an authorizer of SQLite itself.

A connection of our own would not have the user's in-memory tables, temporary tables and attached files.

"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from jupyter_codeagent.tools.databases.rows import Rows, fetched, only_reads

MAX_VALUE_BYTES = 64 << 20
"""Largest value that SQLite may make or read."""
SIGNALS_EVERY = 100_000
"""Steps of SQLite, some milliseconds, after which Python checks whether the query is to end."""
REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "sqlite_log"})
"""Functions of SQLite itself that do more than compute."""
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
READING_PRAGMAS = frozenset({"data_version", "table_info", "table_xinfo", "table_list", "index_list", "index_info"})
"""Pragmas allowed as functions; a statement that begins with PRAGMA is refused."""


def run_sqlite(connection: Any, sql: str, without_approval: bool, *, allow_writes: bool) -> Rows:
    """Run a query and restore `query_only` after it; statements that set it are refused, as reading needs none."""
    cursor = connection.cursor()
    cursor.row_factory = None
    connection.set_progress_handler(lambda: 0, SIGNALS_EVERY)
    longest_bytes = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    try:
        if allow_writes:
            return fetched(cursor.execute(sql))
        only_reads(sql)
        [before] = cursor.execute("PRAGMA query_only").fetchone()
        cursor.execute("PRAGMA query_only = 1")
        try:
            if not without_approval:
                return fetched(cursor.execute(sql))
            with _only_known_functions(connection):
                return fetched(cursor.execute(sql))
        finally:
            cursor.execute(f"PRAGMA query_only = {int(before)}")
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest_bytes)
        connection.set_progress_handler(None, 0)


@contextmanager
def _only_known_functions(connection: Any) -> Iterator[None]:
    """Refuse functions that the user has registered: they are the user's code, even under names of SQLite."""
    listed = connection.execute("SELECT name, builtin FROM pragma_function_list").fetchall()
    own = {str(name).lower() for name, builtin in listed if not builtin}
    known = {str(name).lower() for name, _ in listed} - own - REFUSED_FUNCTIONS

    def allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        # A table that a function makes is declared, which SQLite calls a change; `query_only` refuses true ones.
        reads = action in READING or (action == sqlite3.SQLITE_UPDATE and first == "sqlite_master")
        if action == sqlite3.SQLITE_FUNCTION:
            reads = str(second).lower() in known
        elif action == sqlite3.SQLITE_PRAGMA:
            reads = str(first).lower() in READING_PRAGMAS
        return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)
    try:
        yield
    finally:
        connection.set_authorizer(None)


def sqlite_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    named = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
    for (table,) in named.fetchall():
        columns = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        yield table, [column for (column,) in columns]
