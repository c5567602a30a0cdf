"""Ibis tables and DuckDB relations: queries of the user's, over a connection that they know themselves.

A checked query gets the user's in front, as SQL, and reads its shared columns. The user's is trusted, like a view:
it may read files, frames and all tables. It is not run to find out what it has.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_codeagent.tools.databases.problems import plain_errors
from jupyter_codeagent.tools.databases.statements import TITLES
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, in_braces
from jupyter_codeagent.types.errors import UsageError

LIBRARIES: Mapping[str, Literal["duckdb", "sqlite3"]] = {"duckdb": "duckdb", "sqlite": "sqlite3"}
"""Backends of Ibis whose tables are queried."""
PATH = "SELECT system.main.current_setting('search_path')"
FINDS_VARIABLES = "SELECT system.main.current_setting('python_enable_replacements')"
VIEWS = "SELECT view_name, sql FROM duckdb_views() WHERE temporary AND NOT internal ORDER BY view_oid"
TABLES = (
    "SELECT table_name FROM duckdb_tables() WHERE NOT internal "
    "UNION SELECT view_name FROM duckdb_views() WHERE NOT internal"
)


@dataclass(frozen=True, kw_only=True)
class OwnQuery:
    """One table or relation of the user's."""

    connection: Any
    library: Literal["duckdb", "sqlite3"]
    dialect: str
    """As SQLAlchemy names it."""
    sql: str
    columns: Mapping[str, str]
    """Name -> type, as the library names it."""
    is_ibis: bool

    @property
    def reads_network(self) -> bool:
        """Whether a query may take others' time: whoever named an address was not asked for each query of it."""
        return "://" in self.sql

    def table(self, name: str) -> KnownTable:
        """Return it as queries name it.

        SQLite takes names of all tables in a WITH for each other's, so an Ibis table has one that no table has.
        """
        return KnownTable(source=(in_braces(name) if self.is_ibis else name,), columns=self.columns, query=self.sql)

    def check(self) -> None:
        """Check that queries find what it reads. The database reads the query, and runs nothing.

        Raises
        ------
        UsageError
            It has a temporary table, a parameter, or what only its own connection knows.
        """
        try:
            with plain_errors(TITLES[self.dialect]):
                self._bind()
        except ValueError as problem:
            raise UsageError(
                f"sql_tool: it cannot be queried in place: {problem}. Name its connection, or a frame of its rows."
            ) from problem

    def _bind(self) -> None:
        if self.library == "sqlite3":
            self.connection.execute(f"EXPLAIN {self.sql}").close()
            return
        with closing(OwnCursors(self.connection, self.sql).cursor()) as cursor:
            cursor.execute("SET python_enable_replacements = false")
            cursor.execute(f"DESCRIBE WITH own AS (\n{self.sql}\n) SELECT * FROM own")  # noqa: S608  (the user's)

    def is_joined_by_name(self, name: str) -> bool:
        """Check that a query beside it finds it under its name, also in the user's kernel.

        DuckDB looks for a variable after its tables, unless that is switched off; Ibis looks for no names.
        """
        if self.is_ibis:
            return True
        [(finds_variables,)] = self.connection.sql(FINDS_VARIABLES).fetchall()
        if not finds_variables:
            return False
        tables = {table.lower() for (table,) in self.connection.sql(TABLES).fetchall()}
        return name.lower() not in tables or self.sql.replace('"', "") == f"SELECT * FROM {name}"  # noqa: S608


@dataclass(frozen=True)
class OwnCursors:
    """A DuckDB connection, for queries of the user's on cursors: these lack its temporary views and its schema."""

    connection: Any
    sql: str
    """All that the user's queries may name."""

    def cursor(self) -> Any:
        [(path,)] = self.connection.sql(PATH).fetchall()
        views = self._views()
        cursor = self.connection.cursor()
        if path:
            cursor.execute("SET search_path = '{}'".format(path.replace("'", "''")))
        for view in views:
            with suppress(Exception):  # of a frame that is registered: what reads it ends with DuckDB's own message
                cursor.execute(view)
        return cursor

    def _views(self) -> list[str]:
        """Return the views that are named, and those that they name, in the order in which they were made."""
        found: list[str] = []
        named = self.sql
        for name, sql in reversed(self.connection.sql(VIEWS).fetchall()):
            if name in named:
                found.insert(0, sql)
                named += sql
        return found


def own_query(value: Any, *, is_ibis: bool) -> OwnQuery:
    """Return the query that an Ibis table or a DuckDB relation is.

    Raises
    ------
    UsageError
        It cannot be queried in place.
    """
    return _of_ibis(value) if is_ibis else _of_relation(value)


def _of_relation(relation: Any) -> OwnQuery:
    connection = getattr(relation, "_con", None)
    if connection is None:
        raise UsageError(
            "sql_tool: before DuckDB 2 a relation does not tell its connection: make it a view, such as "
            "trips.create_view('trips'), and name the connection: --vars 'db[trips]'."
        )
    columns = dict(zip(relation.columns, map(str, relation.types), strict=True))
    return OwnQuery(
        connection=connection,
        library="duckdb",
        dialect="duckdb",
        sql=_as_part(relation.sql_query()),
        columns=columns,
        is_ibis=False,
    )


def _of_ibis(table: Any) -> OwnQuery:
    backend = table.get_backend()
    dialect = str(type(backend).name)
    if dialect not in LIBRARIES:
        raise UsageError(
            f"sql_tool: an Ibis table is queried in place over DuckDB or SQLite, not over {dialect[:40]}: name the "
            "connection behind it, or copy rows with --sample 100000."
        )
    return OwnQuery(
        connection=backend.con,
        library=LIBRARIES[dialect],
        dialect=dialect,
        sql=_as_part(str(sys.modules["ibis"].to_sql(table))),
        columns={name: str(kind) for name, kind in table.schema().items()},
        is_ibis=True,
    )


def _as_part(sql: str) -> str:
    return sql.strip().rstrip(";")
