"""A query function over a database connection of the user's: one statement that reads, its rows as a frame.

Read-only is held by the database, not by looking at words: SQLite by `PRAGMA query_only`, DuckDB by its own parser
(SELECT over tables that it has; no file, no Python variable), PostgreSQL and MySQL by a read-only transaction.
For other databases it cannot be held, so the user has to allow writes, and is asked for each query.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.values import ToolPolicy

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 1_000_000
MAX_BYTES = 512 << 20
"""Of the values of all rows."""
MAX_VALUE_BYTES = 64 << 20
"""Of one value that SQLite makes up or reads."""
AT_ONCE_BYTES = 8 << 20
MAX_ROWS_AT_ONCE = 5000
MAX_SCHEMA_CHARS = 1500
"""Of the tables and columns that the model is told."""
READ_ONLY_TRANSACTION: Mapping[str, str] = {
    "postgresql": "SET TRANSACTION READ ONLY",
    "mysql": "SET TRANSACTION READ ONLY",
    "mariadb": "SET TRANSACTION READ ONLY",
}
POSTGRESQL_READS_FILES = (
    "SELECT rolsuper OR pg_has_role(current_user, 'pg_read_server_files', 'member') "
    "OR pg_has_role(current_user, 'pg_execute_server_program', 'member') FROM pg_roles WHERE rolname = current_user"
)
STREAMED = ("SELECT", "WITH", "VALUES", "TABLE")
"""First words of what a server-side cursor can be of."""
SIGNALS_EVERY = 100_000
"""Steps of SQLite, some milliseconds, after which Python looks whether the query is to end."""
SHARED_POOLS = frozenset({"SingletonThreadPool", "StaticPool"})
DUCKDB_TABLE_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "duckdb_tables", "duckdb_columns", "duckdb_views"}
)
DUCKDB_REFUSED_FUNCTIONS = frozenset({"write_log", "current_setting", "getvariable", "setseed", "sleep_ms"})
"""They change no table, which a read-only transaction refuses, but read or write what is none."""
WORDS = re.compile(r"[\w ]+")
DUCKDB_REFUSED_VIEWS = frozenset({"duckdb_logs", "pg_settings", "pg_prepared_statements"})
Rows = tuple[Sequence[str], Sequence[tuple[Any, ...]]]
Run = Callable[[str], Rows]
Query = Callable[[str], "pd.DataFrame"]


def sql_tool(
    connection: object,
    *,
    name: str = "query",
    policy: ToolPolicy = "ask",
    allow_writes: bool = False,
    timeout_s: float | None = 60.0,
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
    timeout_s
        Seconds after which a query is ended with a `TimeoutError` in the program; None for no limit.

    Raises
    ------
    UsageError
        No such connection, or one for which reading alone cannot be held.
    """
    run, tables = _driver(connection, allow_writes=allow_writes, timeout_s=timeout_s)

    def query(sql: str) -> pd.DataFrame:
        import pandas as pd

        columns, rows = run(sql)
        if len(rows) > MAX_ROWS:
            raise ValueError(f"more than {MAX_ROWS:,} rows: aggregate or filter in the query")
        return pd.DataFrame.from_records([tuple(row) for row in rows], columns=list(columns))

    query.__name__ = name
    what = "Rows of one SQL statement" if allow_writes else "Rows of one SELECT"
    query.__doc__ = f"{what}. Tables: {tables}"

    def check_auto() -> None:
        if allow_writes:
            raise UsageError(
                "sql_tool: with allow_writes=True each query is asked for; policy='auto' is for reading."
            )
        if hasattr(connection, "dialect"):
            _check_rights(connection)

    if policy == "auto":
        check_auto()
    tool = tool_of(query, name=name, policy=policy, timeout_s=timeout_s)
    REGISTRY.add(replace(tool, check_auto=check_auto))
    return query


def _driver(connection: Any, *, allow_writes: bool, timeout_s: float | None) -> tuple[Run, str]:
    """How a statement runs, and the tables in words."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(connection).__mro__}
    if "sqlite3.Connection" in kinds:
        run, tables = _run_sqlite, _sqlite_tables
    elif kinds & {"duckdb.DuckDBPyConnection", "_duckdb.DuckDBPyConnection"}:
        run, tables = _run_duckdb, _duckdb_tables_of_all
    elif "sqlalchemy.Engine" in kinds:
        _check_engine(connection, allow_writes=allow_writes)
        run, tables = partial(_run_engine, timeout_s=timeout_s), _engine_tables
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
    import sqlite3

    cursor = connection.cursor()
    cursor.row_factory = None
    connection.set_progress_handler(lambda: 0, SIGNALS_EVERY)
    longest_bytes = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    try:
        if allow_writes:
            return _fetched(cursor.execute(sql))
        _only_reads(sql)
        [before] = cursor.execute("PRAGMA query_only").fetchone()
        cursor.execute("PRAGMA query_only = 1")
        try:
            return _fetched(cursor.execute(sql))
        finally:
            cursor.execute(f"PRAGMA query_only = {int(before)}")
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest_bytes)
        connection.set_progress_handler(None, 0)


def _sqlite_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    named = connection.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name")
    for (table,) in named.fetchall():
        columns = connection.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall()
        yield table, [column for (column,) in columns]


def _only_reads(sql: str) -> None:
    """Whether the first word is one of those that read: for settings, which no read-only mode refuses."""
    first = _first_word(sql)
    if first not in (*STREAMED, "EXPLAIN", "SHOW", "DESCRIBE"):
        raise PermissionError(f"only queries are allowed here, not {first[:20] or 'an empty statement'}")


def _first_word(sql: str) -> str:
    return sql.lstrip(" \t\r\n(").partition(" ")[0].split("\n")[0].rstrip(";(*").upper()


# --- DuckDB -------------------------------------------------------------------------------------------


def _run_duckdb(connection: Any, sql: str, allow_writes: bool) -> Rows:
    """On a thread of its own: DuckDB looks for signals so seldom that a Stop could take a minute."""
    with closing(connection.cursor()) as cursor, ThreadPoolExecutor(1, "codeagent-duckdb") as thread:
        running = thread.submit(_query_duckdb, cursor, sql, allow_writes)
        try:
            return running.result()
        except BaseException:
            cursor.interrupt()
            raise


def _query_duckdb(cursor: Any, sql: str, allow_writes: bool) -> Rows:
    try:
        cursor.execute(
            "SET python_enable_replacements = false"
        )  # of this cursor: `FROM df` is no variable of yours
    except Exception as problem:
        if cursor.execute("SELECT current_setting('python_enable_replacements')").fetchone()[0] is not False:
            raise PermissionError(
                "the configuration of DuckDB is locked while queries find your variables"
            ) from problem
    if not allow_writes:
        _check_duckdb(cursor, sql)
        cursor.execute("BEGIN TRANSACTION READ ONLY")
    return _fetched(cursor.execute(sql))


def _check_duckdb(cursor: Any, sql: str) -> None:
    """By its own parse: one SELECT, over tables and views that it has. Raises PermissionError.

    A name that is no table would be looked for as a file, the whole of ``catalog.schema.name`` as its path. Names
    of a WITH are words: what has no dot is no file.
    """
    parsed = json.loads(cursor.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()[0])
    if parsed.get("error") or len(parsed.get("statements", [])) != 1:
        raise PermissionError(f"only one SELECT is allowed here: {parsed.get('error_message', '')}"[:200])
    nodes = list(_nodes(parsed))
    named: set[str] = set()
    for node in nodes:
        ctes = node.get("cte_map")
        if isinstance(ctes, dict):
            named |= {str(entry.get("key")).lower() for entry in ctes.get("map", [])}
    known = _duckdb_relations(cursor) | {("", "", name) for name in named if WORDS.fullmatch(name)}
    for node in nodes:
        if node.get("type") == "BASE_TABLE":
            name = tuple(str(node.get(f"{part}_name", "")).lower() for part in ("catalog", "schema", "table"))
            if name not in known or len((node.get("qualified_name") or {}).get("path", ())) > len(name):
                raise PermissionError(f"there is no table {'.'.join(filter(None, name))[:60]!r}")
        elif node.get("type") == "TABLE_FUNCTION":
            source = str(node.get("function", {}).get("function_name")).lower()
            if source not in DUCKDB_TABLE_FUNCTIONS:
                raise PermissionError(f"{source[:60]}() is not allowed here: query the tables")
        elif (function := str(node.get("function_name")).lower()) in DUCKDB_REFUSED_FUNCTIONS:
            raise PermissionError(f"{function}() is not allowed here: query the tables")


def _duckdb_relations(cursor: Any) -> set[tuple[str, ...]]:
    """Each table and view under all its names: (catalog, schema, name), and with less where that finds it."""
    found = cursor.execute(
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() "
        "UNION ALL SELECT database_name, schema_name, view_name FROM duckdb_views()"
    ).fetchall()
    searched = {"temp", "system", cursor.execute("SELECT current_database()").fetchone()[0].lower()}
    schemas = {schema.lower() for schema in cursor.execute("SELECT current_schemas(true)").fetchone()[0]}
    relations: set[tuple[str, ...]] = set()
    for catalog, schema, name in ([part.lower() for part in row] for row in found):
        if catalog == "system" and name in DUCKDB_REFUSED_VIEWS:
            continue
        relations.add((catalog, schema, name))
        if schema == "main":
            relations.add(("", catalog, name))
        if catalog in searched:
            relations.add(("", schema, name))
            if schema in schemas:
                relations.add(("", "", name))
    return relations


def _duckdb_tables_of_all(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """Without temporary ones, which belong to the user's own connection."""
    with closing(connection.cursor()) as cursor:
        yield from _duckdb_tables(cursor)


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


def _check_rights(engine: Any) -> None:
    """For queries that nobody is asked for: a read-only transaction lets such a user read files of the server."""
    if engine.dialect.name == "sqlite":
        return
    with engine.connect() as opened:
        if engine.dialect.name == "postgresql":
            reads_files = opened.exec_driver_sql(POSTGRESQL_READS_FILES).scalar_one()
        else:
            grants = [str(grant).upper().partition(" ON ") for (grant,) in opened.exec_driver_sql("SHOW GRANTS")]
            reads_files = any(
                where.startswith("*.*")
                and {"ALL PRIVILEGES", "FILE"} & set(rights.removeprefix("GRANT ").split(", "))
                for rights, _, where in grants
            )
    if reads_files:
        raise UsageError(
            f"sql_tool: policy='auto' is for a user of the database who may only read tables, and "
            f"{engine.url.username} may read files of the server. Connect as another one, or leave policy='ask'."
        )


def _run_engine(connection: Any, sql: str, allow_writes: bool, timeout_s: float | None) -> Rows:
    """In a transaction of its own, which is rolled back unless writes are allowed."""
    dialect = connection.dialect.name
    with connection.connect() as opened:
        if dialect == "postgresql" and _commits_each(opened):
            opened.execution_options(isolation_level="READ COMMITTED")  # else each statement is a transaction
        if dialect == "postgresql" and timeout_s is not None:  # psycopg2 hears no signal meanwhile
            opened.exec_driver_sql(f"SET LOCAL statement_timeout = {math.ceil(timeout_s * 1000)}")
        if allow_writes:
            rows = _of_result(opened.execution_options(no_parameters=True).exec_driver_sql(sql))
            opened.commit()
            return rows
        _only_reads(sql)
        if dialect == "sqlite":
            return _run_sqlite(opened.connection.driver_connection, sql, allow_writes)
        if ";" in sql.rstrip().rstrip(";"):
            raise PermissionError("one statement is allowed here, without a semicolon in it")
        opened.exec_driver_sql(READ_ONLY_TRANSACTION[dialect])
        if dialect == "postgresql" and not _is_read_only(opened):
            raise PermissionError("no read-only transaction could be begun, so nothing was run")
        # Rows come as they are fetched: a driver would else hold all of them before there is a limit.
        streamed = opened.execution_options(stream_results=_first_word(sql) in STREAMED, no_parameters=True)
        rows = _of_result(streamed.exec_driver_sql(sql))
        opened.rollback()
        return rows


def _commits_each(opened: Any) -> bool:
    """Of psycopg, psycopg2 and pg8000; SQLAlchemy itself tells the isolation of the server here."""
    return bool(getattr(opened.connection.driver_connection, "autocommit", False))


def _is_read_only(opened: Any) -> bool:
    return bool(opened.exec_driver_sql("SHOW transaction_read_only").scalar_one() == "on")


def _of_result(result: Any) -> Rows:
    with closing(result):
        return (tuple(result.keys()), _portions(result)) if result.returns_rows else ((), ())


def _engine_tables(connection: Any) -> Iterator[tuple[str, Sequence[str]]]:
    import sqlalchemy

    inspector = sqlalchemy.inspect(connection)
    for table in (*inspector.get_table_names(), *inspector.get_view_names()):
        yield table, [column["name"] for column in inspector.get_columns(table)]


def _fetched(cursor: Any) -> Rows:
    """Nothing for a statement without rows."""
    if cursor.description is None:
        return (), ()
    return [column[0] for column in cursor.description], _portions(cursor)


def _portions(cursor: Any) -> list[tuple[Any, ...]]:
    """One row more than is allowed tells that there are more.

    Raises
    ------
    ValueError
        The values together are too large to be held here.
    """
    rows: list[tuple[Any, ...]] = []
    size_bytes = 0
    at_once = 1
    while len(rows) <= MAX_ROWS and (portion := cursor.fetchmany(at_once)):
        rows += portion
        portion_bytes = sum(_size_bytes(value) for row in portion for value in row)
        size_bytes += portion_bytes
        if size_bytes > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES >> 20} MiB: aggregate, filter or choose columns in the query")
        fitting = AT_ONCE_BYTES * len(portion) // max(portion_bytes, 1)
        at_once = max(1, min(fitting, 2 * at_once, MAX_ROWS_AT_ONCE))
    return rows


def _size_bytes(value: object) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, memoryview):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_size_bytes, (*value, *value.values())))
    return sum(map(_size_bytes, value)) if isinstance(value, list | tuple | set) else 8
