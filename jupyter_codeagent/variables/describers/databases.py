"""Describers of database connections and of queries that have not run. No statement is sent to a server.

Of an engine's URL, the description has only the dialect and the name of the database, never user, password, host or
parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import column_name, type_text
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import quoted, safe

MAX_TABLES = 20
MAX_TABLE_COLUMNS = 12
EXPRESSION = re.compile(r"'|[<>=*+|]|::|\w\(")
"""In the name of a column to which a query has given none: its text may have values."""

_OWN_CATALOGS = "SELECT bool_and(type = 'duckdb') FROM duckdb_databases() WHERE NOT internal"
_TABLES = (
    "SELECT table_name, list(column_name ORDER BY column_index)[:$most] FROM duckdb_columns() "
    "WHERE NOT internal GROUP BY ALL ORDER BY table_name LIMIT $tables"
)


def describe_duckdb(name: str, connection: Any, privacy: Privacy) -> VariableSummary:
    """Describe a DuckDB connection by its tables and columns, from the catalog in memory.

    The query runs on a new cursor, so a result that the user is about to fetch stays. Attached servers (PostgreSQL,
    MotherDuck) would be queried over the network: with one of them nothing is listed.
    """
    cursor = connection.cursor()
    try:
        own = cursor.execute(_OWN_CATALOGS).fetchone()[0]
        tables = (
            cursor.execute(_TABLES, {"most": MAX_TABLE_COLUMNS + 1, "tables": MAX_TABLES + 1}).fetchall()
            if own
            else []
        )
    finally:
        cursor.close()
    text = (
        _tables_text((table, columns) for table, columns in tables) if own else " (not listed: attached databases)"
    )
    return _summary(name, "DuckDBPyConnection", f"DuckDB connection{text}")


def describe_duckdb_relation(name: str, relation: Any, privacy: Privacy) -> VariableSummary:
    """Describe a DuckDB query that has not run by its columns, which are known already."""
    columns = tuple(
        ColumnSummary(name=_column_name(label, privacy), dtype=type_text(kind))
        for label, kind in zip(relation.columns, relation.types, strict=True)
    )
    return _summary(name, "DuckDBPyRelation", f"DuckDB relation of {len(columns)} columns (not run)", columns)


def describe_engine(name: str, engine: Any, privacy: Privacy) -> VariableSummary:
    """Describe a SQLAlchemy engine; no connection is made."""
    return _summary(name, "Engine", f"SQLAlchemy Engine {_engine_text(engine, privacy)} (not connected)")


def describe_connection(name: str, connection: Any, privacy: Privacy) -> VariableSummary:
    """Describe a SQLAlchemy connection; nothing is sent over it."""
    return _summary(name, "Connection", f"SQLAlchemy Connection {_engine_text(connection.engine, privacy)}")


def describe_url(name: str, url: Any, privacy: Privacy) -> VariableSummary:
    """Describe a SQLAlchemy URL by its driver only: it has users, passwords, hosts and keys."""
    return _summary(name, "URL", f"SQLAlchemy URL {safe(str(url.drivername), 40)}")


def describe_session(name: str, session: Any, privacy: Privacy) -> VariableSummary:
    """Describe a SQLAlchemy session by its engine."""
    engine = getattr(session.bind, "engine", None)
    text = f" {_engine_text(engine, privacy)}" if engine is not None else ""
    return _summary(name, "Session", f"SQLAlchemy Session{text}")


def describe_metadata(name: str, metadata: Any, privacy: Privacy) -> VariableSummary:
    """Describe SQLAlchemy metadata by the tables that the user has declared or reflected already."""
    declared = metadata.tables.values()
    tables = [(str(table.name), [str(column.name) for column in table.columns]) for table in declared]
    return _summary(name, "MetaData", f"SQLAlchemy MetaData{_tables_text(tables)}")


def describe_table(name: str, table: Any, privacy: Privacy) -> VariableSummary:
    """Describe a SQLAlchemy table by its declared columns."""
    columns = tuple(
        ColumnSummary(name=column_name(str(column.name)), dtype=safe(type_name(type(column.type)).lower(), 40))
        for column in table.columns
    )
    return _summary(name, "Table", f"SQLAlchemy Table {column_name(str(table.name))} (not read)", columns)


def describe_sqlite(name: str, connection: Any, privacy: Privacy) -> VariableSummary:
    """Describe an sqlite3 connection without its tables: listing them would lock the file, or wait for a lock."""
    return _summary(name, "Connection", "sqlite3 connection (not queried)")


def describe_ibis_table(name: str, table: Any, privacy: Privacy) -> VariableSummary:
    """Describe an Ibis table by its schema, which Ibis knows without asking the backend."""
    columns = tuple(
        ColumnSummary(name=_column_name(label, privacy), dtype=type_text(kind))
        for label, kind in table.schema().items()
    )
    return _summary(name, "ibis.Table", f"ibis.Table of {len(columns)} columns (not run)", columns)


def describe_ibis_value(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe another Ibis expression by its type."""
    kind = safe(type_name(type(value)), 60)
    return _summary(name, kind, f"ibis {kind} (not run)")


def describe_ibis_backend(name: str, backend: Any, privacy: Privacy) -> VariableSummary:
    """Describe an Ibis connection by the name of its backend."""
    kind = type(backend).name
    text = safe(kind, 40) if type(kind) is str else ""
    return _summary(name, "ibis.Backend", f"ibis connection {text} (not queried)")


def _column_name(label: str, privacy: Privacy) -> str:
    """Return the label; under `schema`, that of an unnamed expression is masked, since its text may have values."""
    return "'***'" if privacy == "schema" and EXPRESSION.search(label) else column_name(label)


def _engine_text(engine: Any, privacy: Privacy) -> str:
    url = engine.url
    dialect = safe(f"{engine.dialect.name}+{engine.dialect.driver}", 40)
    database = url.database
    named = privacy != "schema" and type(database) is str and database and not private_text(database)
    return f"{dialect}{f' database {quoted(database, 60)}' if named else ''}"


def _tables_text(tables: Iterable[tuple[str, list[str]]]) -> str:
    found = list(tables)
    listed = [
        f"{column_name(table)} ({', '.join(column_name(label) for label in columns[:MAX_TABLE_COLUMNS])}"
        f"{', …' if len(columns) > MAX_TABLE_COLUMNS else ''})"
        for table, columns in found[:MAX_TABLES]
    ]
    more = ", …" if len(found) > MAX_TABLES else ""
    return f", tables {'; '.join(listed)}{more}" if listed else ", no tables"


def _summary(name: str, kind: str, text: str, columns: tuple[ColumnSummary, ...] = ()) -> VariableSummary:
    return VariableSummary(name=name, type_name=kind, headline=f"{name}: {text}", columns=columns)


DESCRIBERS = {
    **dict.fromkeys(("_duckdb.DuckDBPyConnection", "duckdb.duckdb.DuckDBPyConnection"), describe_duckdb),
    **dict.fromkeys(
        ("duckdb._relation.DuckDBPyRelation", "duckdb.duckdb.DuckDBPyRelation", "_duckdb.DuckDBPyRelation"),
        describe_duckdb_relation,
    ),
    "sqlalchemy.engine.base.Engine": describe_engine,
    "sqlalchemy.engine.url.URL": describe_url,
    "sqlalchemy.engine.base.Connection": describe_connection,
    "sqlalchemy.orm.session.Session": describe_session,
    "sqlalchemy.sql.schema.MetaData": describe_metadata,
    "sqlalchemy.sql.schema.Table": describe_table,
    "sqlite3.Connection": describe_sqlite,
    "ibis.expr.types.relations.Table": describe_ibis_table,
    "ibis.expr.types.core.Expr": describe_ibis_value,
    "ibis.backends.BaseBackend": describe_ibis_backend,
}
