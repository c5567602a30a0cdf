"""PostgreSQL and MySQL by a SQLAlchemy engine: each query has a connection of its own and a read-only transaction.

A read-only transaction lets a query end other sessions, take locks, wait, and read files. So queries that nobody is
asked about, or that may read shared tables only, pass the SQL check (`statements.py`), as do the views they read.

"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from jupyter_codeagent.tools.databases.estimates import mysql_rows, postgresql_rows, postgresql_tables
from jupyter_codeagent.tools.databases.functions import KNOWN, WORDS
from jupyter_codeagent.tools.databases.rows import STREAMED, Rows, first_word, only_reads, portions
from jupyter_codeagent.tools.databases.sqlite import run_sqlite, sqlite_found
from jupyter_codeagent.tools.databases.statements import Statement, checked
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, checked_statement
from jupyter_codeagent.types.errors import UsageError

READ_ONLY = frozenset({"postgresql", "mysql", "mariadb"})
POSTGRESQL_READS_FILES = (
    "SELECT rolsuper OR pg_has_role(current_user, 'pg_read_server_files', 'member') "
    "OR pg_has_role(current_user, 'pg_execute_server_program', 'member') FROM pg_roles WHERE rolname = current_user"
)
POSTGRESQL_ROWS = (
    "SELECT reltuples FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = :schema AND c.relname = :name"
)
ESTIMATE_S = 5.0
"""Time in which a server has to plan a query."""
QUOTED = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`""")
SHARED_POOLS = frozenset({"SingletonThreadPool", "StaticPool"})
LISTS = frozenset({"tables", "columns"})
"""Tables of `information_schema` that may be queried without approval."""
MYSQL_OWN = frozenset({"mysql", "performance_schema", "sys"})
MYSQL_QUOTING = frozenset(
    {"ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"}
)
"""Modes that read quotes otherwise than the SQL check does, and those that bring such a mode with them."""
MYSQL_ENGINES = frozenset({"innodb", "myisam", "aria", "memory", "rocksdb", "archive", "columnstore", "ndbcluster"})
"""Engines of ordinary tables; those of others may be files or lie on another server."""


def check_engine(engine: Any, *, allow_writes: bool) -> None:
    """Raise UsageError for an engine with which queries cannot be kept to reading."""
    dialect = engine.dialect.name
    if type(engine.pool).__name__ in SHARED_POOLS:
        raise UsageError(
            "sql_tool: this engine shares one connection with you, whose open transaction a query could end; "
            "give the sqlite3 connection itself."
        )
    if not allow_writes and dialect != "sqlite" and dialect not in READ_ONLY:
        raise UsageError(
            f"sql_tool: reading alone cannot be held for {dialect}. Give an engine whose user may only read, with "
            "allow_writes=True: each query is then asked for."
        )


def check_without_approval(engine: Any) -> None:
    """Raise UsageError for an engine that cannot run queries without approval.

    Raises
    ------
    UsageError
        The user of the database may read files of the server.
    """
    if engine.dialect.name == "sqlite":
        return
    with own_connection(engine) as opened:
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


@contextmanager
def own_connection(engine: Any) -> Iterator[Any]:
    """Open a connection for one use: what a query leaves in its session (locks, settings) ends with it.

    The connection is made as the engine makes its own, with its hooks, but not taken from its pool.
    """
    import sqlalchemy

    pool = engine.pool.recreate()
    try:
        with sqlalchemy.Connection(engine, connection=pool.connect()) as opened:
            yield opened
    finally:
        pool.dispose()


def run_engine(
    engine: Any,
    sql: str,
    without_approval: bool,
    *,
    allow_writes: bool,
    timeout_s: float | None,
    shared: SharedTables | None = None,
) -> Rows:
    """Run a query in a transaction that is rolled back unless writes are allowed."""
    dialect = engine.dialect.name
    with _limited_connection(engine, timeout_s) as opened:
        if allow_writes:
            rows = _of_result(opened.execution_options(no_parameters=True).exec_driver_sql(sql))
            opened.commit()
            return rows
        if dialect == "sqlite":
            only_reads(sql)
            connection = opened.connection.driver_connection
            return run_sqlite(connection, sql, without_approval, allow_writes=allow_writes, shared=shared)
        sql = _reading(opened, dialect, sql, is_checked=without_approval or shared is not None, shared=shared)
        # Rows come as they are fetched: otherwise a driver would hold all of them before there is a limit.
        streamed = opened.execution_options(stream_results=first_word(sql) in STREAMED, no_parameters=True)
        rows = _of_result(streamed.exec_driver_sql(sql))
        opened.rollback()
        return rows


def engine_estimate(engine: Any, sql: str, shared: SharedTables | None) -> int:
    """Return the rows of the largest step of a query that has passed its check; 0 if they are not told.

    Raises what running the query would raise before its first row.
    """
    dialect = engine.dialect.name
    if dialect not in READ_ONLY:
        return 0
    with _limited_connection(engine, ESTIMATE_S) as opened:
        sql = _reading(opened, dialect, sql, is_checked=True, shared=shared)
        options = "(FORMAT JSON, VERBOSE)" if dialect == "postgresql" else "FORMAT=JSON"
        with_plan = opened.execution_options(no_parameters=True)
        found = with_plan.exec_driver_sql(f"EXPLAIN {options} {sql}").scalar_one()
        plan = json.loads(found) if isinstance(found, str | bytes) else found
        if dialect != "postgresql":
            return mysql_rows(plan)
        rows = {
            table: _rows(opened, POSTGRESQL_ROWS, schema=table[0], name=table[1])
            for table in postgresql_tables(plan)
        }
        return postgresql_rows(plan, {table: int(found[0][0]) for table, found in rows.items() if found})


@contextmanager
def _limited_connection(engine: Any, timeout_s: float | None) -> Iterator[Any]:
    dialect = engine.dialect.name
    with own_connection(engine) as opened:
        if dialect == "postgresql" and _commits_each(opened):
            opened.execution_options(isolation_level="READ COMMITTED")  # else each statement is a transaction
        _limit(opened, dialect, timeout_s)
        yield opened


def _limit(opened: Any, dialect: str, timeout_s: float | None) -> None:
    """Set the time limit on the server, too: psycopg2 sees no signals, and an abandoned query would continue."""
    if timeout_s is None:
        return
    if dialect == "postgresql":
        opened.exec_driver_sql(f"SET statement_timeout = {math.ceil(timeout_s * 1000)}")
    elif dialect != "sqlite":
        is_mariadb = bool(getattr(opened.dialect, "is_mariadb", False))
        limit = (
            f"max_statement_time = {timeout_s}" if is_mariadb else f"max_execution_time = {timeout_s * 1000:.0f}"
        )
        opened.exec_driver_sql(f"SET SESSION {limit}")


def _reading(opened: Any, dialect: str, sql: str, *, is_checked: bool, shared: SharedTables | None) -> str:
    """Return the statement to run, in a read-only transaction that has begun; raise PermissionError."""
    only_reads(sql)
    if not is_checked:
        _check_semicolons(sql)
    _begin_reading(opened, dialect)
    return _checked(opened, dialect, sql, shared) if is_checked else sql


def _begin_reading(opened: Any, dialect: str) -> None:
    """Begin a read-only transaction; fix how strings are quoted, so that the server reads what was checked."""
    if dialect == "postgresql":
        opened.exec_driver_sql("SET standard_conforming_strings = on")
        opened.exec_driver_sql("SET TRANSACTION READ ONLY")
        if opened.exec_driver_sql("SHOW transaction_read_only").scalar_one() != "on":
            raise PermissionError("no read-only transaction could be begun, so nothing was run")
        return
    modes = set(str(opened.exec_driver_sql("SELECT @@sql_mode").scalar_one()).upper().split(","))
    plain = ",".join(sorted(mode for mode in modes - MYSQL_QUOTING if mode.isidentifier()))
    opened.exec_driver_sql(f"SET SESSION sql_mode = '{plain}'")
    if left := MYSQL_QUOTING & set(str(opened.exec_driver_sql("SELECT @@sql_mode").scalar_one()).split(",")):
        raise PermissionError(f"the server quotes in its own way (sql_mode {min(left)}), so nothing was run")
    opened.rollback()
    opened.exec_driver_sql("SET TRANSACTION READ ONLY")


def _check_semicolons(sql: str, *, in_text: bool = False) -> None:
    """Raise PermissionError for a semicolon before the end: a driver may run what follows as a second statement.

    `in_text`: unless it stands between quotes that every server reads in the same way, without a backslash.
    """
    text = sql.rstrip().rstrip(";")
    if ";" in (QUOTED.sub("", text) if in_text and "\\" not in text else text):
        raise PermissionError("one statement is allowed here, without a semicolon in it")


def _commits_each(opened: Any) -> bool:
    """Check the autocommit of psycopg, psycopg2 and pg8000; SQLAlchemy returns the server's default here."""
    return bool(getattr(opened.connection.driver_connection, "autocommit", False))


def _of_result(result: Any) -> Rows:
    with closing(result):
        return (tuple(result.keys()), portions(result)) if result.returns_rows else ((), ())


# --- checked queries --------------------------------------------------------------------------------------


def _checked(opened: Any, dialect: str, sql: str, shared: SharedTables | None) -> str:
    """Return the statement to run; raise PermissionError if it or its views may do more than read."""
    look_up = _postgresql_views if dialect == "postgresql" else _mysql_views
    statement = checked_statement(sql, dialect, shared)
    _check_semicolons(statement.text, in_text=True)
    looked_up = statement
    if shared is not None:
        _check_words(opened, dialect, statement, shared)
        sources = frozenset(table.source for name, table in shared.by_name.items() if (name,) in statement.outer)
        looked_up = replace(statement, tables=sources)
    waiting, seen = [looked_up], set[str]()
    while waiting:
        for view in look_up(opened, waiting.pop()):
            if view not in seen:
                seen.add(view)
                waiting.append(checked(view, dialect))
    return statement.text if shared is None else shared.narrowed(statement)


def _check_words(opened: Any, dialect: str, statement: Statement, shared: SharedTables) -> None:
    """Refuse words that are the name of another table or of a schema: should the parser mistake a table for else.

    Raises
    ------
    PermissionError
    """
    columns = {column for table in shared.by_name.values() for column in table.columns}
    words = statement.words - {*shared.by_name} - columns - KNOWN[dialect] - WORDS
    if dialect == "postgresql":
        found = _rows(
            opened,
            "SELECT relname::text FROM pg_class WHERE relname = ANY(:words) AND pg_table_is_visible(oid) "
            "UNION ALL SELECT nspname::text FROM pg_namespace WHERE nspname = ANY(:words)",
            words=sorted(words),
        )
    else:
        found = _rows(
            opened,
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() "
            "AND LOWER(table_name) IN :words UNION ALL "
            "SELECT schema_name FROM information_schema.schemata WHERE LOWER(schema_name) IN :words".replace(
                ":words", _listed(words)
            ),
        )
    if found:
        raise PermissionError(f"{str(found[0][0])[:60]} is the name of a table or schema that is not shared")


def _rows(opened: Any, sql: str, **values: Any) -> Sequence[Any]:
    import sqlalchemy

    rows: Sequence[Any] = opened.execute(sqlalchemy.text(sql), values).fetchall()
    return rows


def _postgresql_views(opened: Any, statement: Statement) -> Iterator[str]:
    """Yield the definitions of the views that the statement reads.

    A function of the user may have the name of a known one, and can also be called as ``row.name``.
    """
    own = _rows(
        opened,
        "SELECT proname FROM pg_proc WHERE pronamespace <> 'pg_catalog'::regnamespace AND proname = ANY(:words)",
        words=sorted(statement.words),
    )
    if own:
        raise PermissionError(f"{own[0][0][:60]} is a function of this database, which needs approval")
    for table in statement.tables:
        name = ".".join('"' + part.replace('"', '""') + '"' for part in table)
        found = _rows(
            opened,
            "SELECT n.nspname, c.relname, c.relkind::text, pg_get_viewdef(c.oid) FROM pg_class c "
            "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass(:name)",
            name=name,
        )
        for schema, relation, kind, definition in found:
            if schema == "information_schema" and relation in LISTS:
                continue
            if schema in ("pg_catalog", "information_schema", "pg_toast") or kind not in ("r", "p", "m", "v"):
                raise PermissionError(f"{name[:60]} is not a table or view that may be queried without approval")
            if kind == "v":
                yield definition


def _mysql_views(opened: Any, statement: Statement) -> Iterator[str]:
    own = _rows(
        opened,
        "SELECT routine_name FROM information_schema.routines WHERE routine_type = 'FUNCTION' "
        "AND LOWER(routine_name) IN :words".replace(":words", _listed(statement.words)),
    )
    if own:
        raise PermissionError(f"{own[0][0][:60]} is a function of this database, which needs approval")
    for table in statement.tables:
        schema = table[-2] if len(table) > 1 else opened.exec_driver_sql("SELECT DATABASE()").scalar_one()
        if str(schema).lower() == "information_schema" and table[-1].lower() in LISTS:
            continue
        if str(schema).lower() in {*MYSQL_OWN, "information_schema"}:
            raise PermissionError(f"{'.'.join(table)[:60]} is not a table that may be queried without approval")
        found = _rows(
            opened,
            "SELECT t.table_type, t.engine, v.view_definition FROM information_schema.tables t "
            "LEFT JOIN information_schema.views v USING (table_schema, table_name) "
            "WHERE t.table_schema = :schema AND t.table_name = :name",
            schema=schema,
            name=table[-1],
        )
        for kind, engine, definition in found:
            if "VIEW" in str(kind):
                if not definition:
                    raise PermissionError(f"what the view {table[-1][:60]} does cannot be seen (SHOW VIEW)")
                yield definition
            elif str(engine).lower() not in MYSQL_ENGINES:
                raise PermissionError(
                    f"{table[-1][:60]} is a table of {engine}, which is not queried without approval"
                )


def _listed(words: frozenset[str]) -> str:
    """Return a list of literals; identifiers with quotes or escapes are left out: no function has them."""
    plain = sorted(word.lower() for word in words if word.replace("$", "_").isidentifier()) or ["-"]
    return f"({', '.join(repr(word) for word in plain)})"


def engine_found(engine: Any, parts: Sequence[str]) -> list[KnownTable]:
    """Return the table or view of this name, ``trips`` or ``sales.trips``; those of its schema for no parts."""
    import sqlalchemy

    with own_connection(engine) as opened:
        if engine.dialect.name == "sqlite":
            return sqlite_found(opened.connection.driver_connection, parts)
        inspector = sqlalchemy.inspect(opened)
        *around, name = parts or [""]
        schema = ".".join(around) or inspector.default_schema_name
        if around and schema not in inspector.get_schema_names():
            return []
        known = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
        return [
            KnownTable(
                source=(*filter(None, [schema]), table),
                columns={
                    str(column["name"]): str(column["type"]) for column in inspector.get_columns(table, schema)
                },
            )
            for table in known
            if table == name or not parts
        ]


def engine_tables(engine: Any) -> Iterator[tuple[str, Sequence[str]]]:
    import sqlalchemy

    with own_connection(engine) as opened:
        inspector = sqlalchemy.inspect(opened)
        for table in (*inspector.get_table_names(), *inspector.get_view_names()):
            yield table, [column["name"] for column in inspector.get_columns(table)]
