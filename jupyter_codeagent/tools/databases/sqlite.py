"""SQLite: `PRAGMA query_only`, and for checked queries an authorizer of SQLite itself behind the SQL check.

A connection of our own would not have the user's in-memory tables, temporary tables and attached files.

"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from jupyter_codeagent.tools.databases.rows import Rows, fetched, only_reads
from jupyter_codeagent.tools.databases.statements import Statement, names_of_with
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, checked_statement

MAX_VALUE_BYTES = 64 << 20
"""Largest value that SQLite may make or read."""
SIGNALS_EVERY = 100_000
"""Steps of SQLite, some milliseconds, after which Python checks whether the query is to end."""
REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "sqlite_log"})
"""Functions of SQLite itself that do more than compute."""
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
READING_PRAGMAS = frozenset({"data_version", "table_info", "table_xinfo", "table_list", "index_list", "index_info"})
"""Pragmas allowed as functions; a statement that begins with PRAGMA is refused."""


OF_IBIS = frozenset({"like", "_ibis_var_sample", "_ibis_var_pop", "_ibis_mode"})
"""Functions of Ibis itself in its connection, of which some replace those of SQLite; they compute."""
OF_FUNCTIONS = frozenset({"json_each", "json_tree"})
"""Tables that a function makes."""


def run_sqlite(
    connection: Any,
    sql: str,
    without_approval: bool,
    *,
    allow_writes: bool,
    shared: SharedTables | None = None,
) -> Rows:
    """Run a query and restore `query_only` after it; statements that set it are refused, as reading needs none."""
    cursor = _own_cursor(connection)
    connection.set_progress_handler(lambda: 0, SIGNALS_EVERY)
    longest_bytes = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    try:
        if allow_writes:
            return fetched(cursor.execute(sql))
        only_reads(sql)
        [before] = cursor.execute("PRAGMA query_only").fetchone()
        cursor.execute("PRAGMA query_only = 1")
        try:
            if not without_approval and shared is None:
                return fetched(cursor.execute(sql))
            is_ibis = shared is not None and any(table.query for table in shared.by_name.values())
            statement = checked_statement(sql, "sqlite", shared, own=OF_IBIS if is_ibis else frozenset())
            with _authorized(connection, statement, shared):
                return fetched(cursor.execute(statement.text if shared is None else shared.narrowed(statement)))
        finally:
            cursor.execute(f"PRAGMA query_only = {int(before)}")
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest_bytes)
        connection.set_progress_handler(None, 0)


@contextmanager
def _authorized(connection: Any, statement: Statement, shared: SharedTables | None) -> Iterator[None]:
    """Have SQLite ask for each function and column that the statement uses.

    Functions that the user has registered are the user's code, even under names of SQLite.
    """
    listed = _own_cursor(connection).execute("SELECT name, builtin FROM pragma_function_list").fetchall()
    own = {str(name).lower() for name, builtin in listed if not builtin}
    known = {str(name).lower() for name, _ in listed} - own - REFUSED_FUNCTIONS
    columns = None if shared is None else _SharedColumns.of(shared, statement, connection)
    if columns is not None and columns.queries:
        known |= OF_IBIS

    def allowed(action: int, first: str | None, second: str | None, _: str | None, inside: str | None) -> int:
        # A table that a function makes is declared, which SQLite calls a change; `query_only` refuses true ones.
        reads = action in READING or (action == sqlite3.SQLITE_UPDATE and first == "sqlite_master")
        if action == sqlite3.SQLITE_FUNCTION:
            is_own = columns is not None and columns.is_own(inside) and inside not in statement.named
            reads = str(second).lower() in known or is_own
        elif action == sqlite3.SQLITE_PRAGMA:
            reads = columns is None and str(first).lower() in READING_PRAGMAS
        elif action == sqlite3.SQLITE_READ and columns is not None:
            reads = columns.has(str(first).lower(), str(second).lower(), (inside or "").lower())
        return sqlite3.SQLITE_OK if reads else sqlite3.SQLITE_DENY

    connection.set_authorizer(allowed)
    try:
        yield
    finally:
        connection.set_authorizer(None)


@dataclass(frozen=True, kw_only=True)
class _SharedColumns:
    """The columns that a query may read, all names in lower case."""

    shared: frozenset[tuple[str, str]]
    tables: frozenset[str] = field(default=frozenset())
    """All tables and views of the connection."""
    views: frozenset[str] = field(default=frozenset())
    queries: frozenset[str] = field(default=frozenset())
    """Queries of the user's that stand in front of the checked one, and those that a WITH of theirs names."""

    @classmethod
    def of(cls, shared: SharedTables, statement: Statement, connection: Any) -> _SharedColumns:
        found = [(name.lower(), kind) for _, name, kind in _relations(connection)]
        tables = frozenset(name for name, _ in found)
        if taken := sorted(statement.named & tables):
            # SQLite says of a read in which WITH or view it is: the two must not be mistaken.
            raise PermissionError(f"{taken[0][:60]} is a table: give the WITH another name")
        return cls(
            shared=frozenset(
                (table.source[-1].lower(), column.lower())
                for table in shared.by_name.values()
                for column in table.columns
            ),
            tables=tables,
            views=frozenset(name for name, kind in found if kind == "view"),
            queries=frozenset(
                name.lower()
                for table in shared.by_name.values()
                if table.query
                for name in (table.own_name, *names_of_with(table.query, "sqlite"))
            ),
        )

    def is_own(self, inside: str | None) -> bool:
        """Check for what a query of the user's does itself."""
        return (inside or "").lower() in self.queries

    def has(self, table: str, column: str, inside: str) -> bool:
        """Check one column; `inside` is the view or the WITH that reads it, and views are shared as they are."""
        is_own = inside in self.views or self.is_own(inside)
        if is_own or (table, column) in self.shared or table in OF_FUNCTIONS:
            return True
        # Rows are counted without a column, and SQLite does not say in which query once it has merged some.
        is_shared = table not in self.tables or table in {name for name, _ in self.shared}
        return column == "" and (is_shared or bool(self.queries))


def _own_cursor(connection: Any) -> Any:
    """Return a cursor that gives tuples, whatever the connection makes of rows for the user."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


def _relations(connection: Any) -> Iterator[tuple[str, str, str]]:
    """Yield schema, name and kind of each table and view."""
    cursor = _own_cursor(connection)
    for _, schema, _ in cursor.execute("PRAGMA database_list").fetchall():
        quoted = '"' + schema.replace('"', '""') + '"'
        found = cursor.execute(
            f"SELECT name, type FROM {quoted}.sqlite_master WHERE type IN ('table', 'view')"  # noqa: S608  (quoted)
        )
        for name, kind in found.fetchall():
            yield schema, name, kind


def sqlite_found(connection: Any, parts: Sequence[str]) -> list[KnownTable]:
    """Return the tables and views of this name, ``trips`` or ``main.trips``; all of them for no parts."""
    *around, name = [part.lower() for part in parts] or [""]
    cursor, found = _own_cursor(connection), []
    for schema, table, _ in _relations(connection):
        if table.lower().startswith("sqlite_") or (parts and table.lower() != name):
            continue
        if around in ([], [schema.lower()]):
            columns = cursor.execute(
                "SELECT name, type FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1", (table, schema)
            ).fetchall()
            found.append(KnownTable(source=(schema, table), columns=dict(columns)))
    return found


def sqlite_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    cursor = _own_cursor(connection)
    named = cursor.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
    for (table,) in named.fetchall():
        columns = cursor.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        yield table, [column for (column,) in columns]
