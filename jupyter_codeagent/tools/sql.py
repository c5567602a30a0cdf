"""A query function over a database connection of the user's: one statement that reads, its rows as a frame.

Read-only is held by the database, not by looking at words: SQLite by `PRAGMA query_only`, DuckDB by its own parser
(SELECT over tables that it has; no file, no Python variable), PostgreSQL and MySQL by a read-only transaction.
For other databases it cannot be held, so the user has to allow writes, and is asked for each query.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.values import ToolPolicy

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 1_000_000
MAX_SCHEMA_CHARS = 1500
"""Of the tables and columns that the model is told."""
READ_ONLY_TRANSACTION: Mapping[str, str] = {
    "postgresql": "SET TRANSACTION READ ONLY",
    "mysql": "SET TRANSACTION READ ONLY",
    "mariadb": "SET TRANSACTION READ ONLY",
}
SHARED_POOLS = frozenset({"SingletonThreadPool", "StaticPool"})
DUCKDB_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "duckdb_tables", "duckdb_columns", "duckdb_views"}
)
DUCKDB_SCHEMAS = frozenset({"information_schema", "pg_catalog"})
Rows = tuple[Sequence[str], Sequence[tuple[Any, ...]]]
Run = Callable[[str], Rows]
Query = Callable[[str], "pd.DataFrame"]


def sql_tool(
    connection: object, *, name: str = "query", policy: ToolPolicy = "ask", allow_writes: bool = False
) -> Query:
    """Let code that `%%agent` runs query this database as ``query(sql) -> DataFrame``; returns that function.

    Bind it to its name, so that a cell that you accept finds it: ``query = sql_tool(engine)``.

    Parameters
    ----------
    connection
        A SQLAlchemy engine, a DuckDB or a `sqlite3` connection. It stays in your kernel.
    name
        Of the function.
    policy
        See `agent_tool`. By default each query waits for your yes.
    allow_writes
        Also statements that change the database; never with the policy ``auto``.

    Raises
    ------
    UsageError
        No such connection, or one for which reading alone cannot be held.
    """
    if allow_writes and policy == "auto":
        raise UsageError("sql_tool: with allow_writes=True each query is asked for; policy='auto' is for reading.")
    run, tables = _driver(connection, allow_writes=allow_writes)

    def query(sql: str) -> pd.DataFrame:
        import pandas as pd

        columns, rows = run(sql)
        if len(rows) > MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS:,} rows: aggregate or filter in the query")
        return pd.DataFrame.from_records([tuple(row) for row in rows], columns=list(columns))

    query.__name__ = name
    what = "Rows of one SQL statement" if allow_writes else "Rows of one SELECT"
    query.__doc__ = f"{what}. Tables: {tables}"
    REGISTRY.add(tool_of(query, name=name, policy=policy))
    return query


def _driver(connection: Any, *, allow_writes: bool) -> tuple[Run, str]:
    """How a statement runs, and the tables in words."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(connection).__mro__}
    if "sqlite3.Connection" in kinds:
        run, tables = _run_sqlite, _sqlite_tables
    elif kinds & {"duckdb.DuckDBPyConnection", "_duckdb.DuckDBPyConnection"}:
        run, tables = _run_duckdb, _duckdb_tables
    elif "sqlalchemy.Engine" in kinds:
        _check_engine(connection, allow_writes=allow_writes)
        run, tables = _run_engine, _engine_tables
    else:
        raise UsageError(
            f"sql_tool: a {type(connection).__name__} is neither a SQLAlchemy engine nor a DuckDB or sqlite3 "
            "connection."
        )
    return (lambda sql: run(connection, sql, allow_writes)), _tables_text(tables(connection))


def _tables_text(tables: Iterator[tuple[str, Sequence[str]]]) -> str:
    """``flights(year, month), planes(tailnum)``, cut where it is long."""
    text = ", ".join(f"{table}({', '.join(columns)})" for table, columns in tables)
    return text if len(text) <= MAX_SCHEMA_CHARS else f"{text[:MAX_SCHEMA_CHARS].rpartition(', ')[0]}, …"


# --- SQLite -------------------------------------------------------------------------------------------


def _run_sqlite(connection: Any, sql: str, allow_writes: bool) -> Rows:
    """`query_only` is put back to what it was. Statements that set it are refused, they are not needed to read."""
    if allow_writes:
        return _fetched(connection.execute(sql))
    _only_reads(sql)
    [before] = connection.execute("PRAGMA query_only").fetchone()
    connection.execute("PRAGMA query_only = 1")
    try:
        return _fetched(connection.execute(sql))
    finally:
        connection.execute(f"PRAGMA query_only = {int(before)}")


def _sqlite_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    named = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
    for (table,) in named.fetchall():
        columns = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        yield table, [column for (column,) in columns]


def _only_reads(sql: str) -> None:
    """Whether the first word is one of those that read: for settings, which no read-only mode refuses."""
    first = sql.lstrip(" \t\r\n(").partition(" ")[0].split("\n")[0].rstrip(";(*").upper()
    if first not in ("SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "TABLE"):
        raise PermissionError(f"only queries are allowed here, not {first[:20] or 'an empty statement'}")


# --- DuckDB -------------------------------------------------------------------------------------------


def _run_duckdb(connection: Any, sql: str, allow_writes: bool) -> Rows:
    with closing(connection.cursor()) as cursor:
        cursor.execute(
            "SET python_enable_replacements = false"
        )  # of this cursor: `FROM df` is no variable of yours
        if not allow_writes:
            _check_duckdb(cursor, sql)
        return _fetched(cursor.execute(sql))


def _check_duckdb(cursor: Any, sql: str) -> None:
    """By its own parse: one SELECT, over tables and views that it has. Raises PermissionError.

    A name that is no table would be looked for as a file. Names of a WITH are words: what has no dot is no file.
    """
    parsed = json.loads(cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()[0])
    if parsed.get("error") or len(parsed.get("statements", [])) != 1:
        raise PermissionError(f"only one SELECT is allowed here: {parsed.get('error_message', '')}"[:200])
    nodes = list(_nodes(parsed))
    known = {name.lower() for name, _ in _duckdb_tables(cursor)}
    for node in nodes:
        ctes = node.get("cte_map")
        named = [str(entry.get("key")) for entry in ctes.get("map", [])] if isinstance(ctes, dict) else []
        known |= {name.lower() for name in named if name.isidentifier()}
    for node in nodes:
        if node.get("type") == "BASE_TABLE":
            is_known = str(node.get("table_name")).lower() in known or node.get("schema_name") in DUCKDB_SCHEMAS
            if not is_known:
                raise PermissionError(f"there is no table {str(node.get('table_name'))[:60]!r}")
        elif node.get("type") == "TABLE_FUNCTION":
            function = str(node.get("function", {}).get("function_name")).lower()
            if function not in DUCKDB_FUNCTIONS:
                raise PermissionError(f"{function[:60]}() is not allowed here: query the tables")


def _duckdb_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    rows = connection.execute(
        "SELECT table_name, list(column_name ORDER BY column_index) FROM duckdb_columns() "
        "WHERE NOT internal GROUP BY table_name ORDER BY table_name"
    ).fetchall()
    yield from rows


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        for value in tree.values():
            yield from _nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value)


# --- SQLAlchemy ---------------------------------------------------------------------------------------


def _check_engine(engine: Any, *, allow_writes: bool) -> None:
    dialect = engine.dialect.name
    if type(engine.pool).__name__ in SHARED_POOLS:
        raise UsageError(
            "sql_tool: this engine shares one connection with you, whose open transaction a query could end; "
            "give the sqlite3 connection itself."
        )
    if not allow_writes and dialect != "sqlite" and dialect not in READ_ONLY_TRANSACTION:
        raise UsageError(
            f"sql_tool: reading alone cannot be held for {dialect}. Give an engine whose user may only read, with "
            "allow_writes=True: each query is then asked for."
        )


def _run_engine(connection: Any, sql: str, allow_writes: bool) -> Rows:
    """In a transaction of its own, which is rolled back unless writes are allowed."""
    with connection.connect() as opened:
        if allow_writes:
            rows = _fetched(opened.exec_driver_sql(sql).cursor)
            opened.commit()
            return rows
        _only_reads(sql)
        if connection.dialect.name == "sqlite":
            return _run_sqlite(opened.connection.driver_connection, sql, allow_writes)
        opened.exec_driver_sql(READ_ONLY_TRANSACTION[connection.dialect.name])
        rows = _fetched(opened.exec_driver_sql(sql).cursor)
        opened.rollback()
        return rows


def _engine_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    import sqlalchemy

    inspector = sqlalchemy.inspect(connection)
    for table in (*inspector.get_table_names(), *inspector.get_view_names()):
        yield table, [column["name"] for column in inspector.get_columns(table)]


def _fetched(cursor: Any) -> Rows:
    """One row more than is allowed tells that there are more; nothing for a statement without rows."""
    if cursor is None or cursor.description is None:
        return (), ()
    return [column[0] for column in cursor.description], cursor.fetchmany(MAX_ROWS + 1)
