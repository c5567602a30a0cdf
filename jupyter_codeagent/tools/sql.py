"""A query function over a database connection of the user: one statement that reads, its rows as a frame.

The database enforces read-only access; no words are searched for. SQLite does it by `PRAGMA query_only`, DuckDB by
its own parser and a read-only transaction, PostgreSQL and MySQL by a read-only transaction on their own connection.
What that does not prevent (functions that lock, wait, signal, read files) is refused by one SQL check for all
(`databases/statements.py`) where nobody is asked, or where only some tables and columns are shared. Other databases
cannot be kept to reading, so the user has to allow writes, and approves each query.

"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.sandbox.data.engines import Library, library_of
from jupyter_codeagent.tools.databases import rows, statements
from jupyter_codeagent.tools.databases.duckdb import (
    duckdb_estimate,
    duckdb_found,
    duckdb_tables,
    frame_taken,
    run_duckdb,
)
from jupyter_codeagent.tools.databases.estimates import bytes_text, rows_text
from jupyter_codeagent.tools.databases.own_queries import OwnQuery, own_query
from jupyter_codeagent.tools.databases.polars import polars_found, run_polars
from jupyter_codeagent.tools.databases.problems import plain_errors
from jupyter_codeagent.tools.databases.rows import Rows, Run
from jupyter_codeagent.tools.databases.servers import (
    READ_ONLY,
    check_engine,
    check_without_approval,
    engine_estimate,
    engine_found,
    engine_tables,
    run_engine,
)
from jupyter_codeagent.tools.databases.spark import (
    Frames,
    check_spark,
    is_local,
    run_spark,
    spark_bytes,
    spark_found,
)
from jupyter_codeagent.tools.databases.sqlite import run_sqlite, sqlite_found, sqlite_tables
from jupyter_codeagent.tools.databases.statements import TITLES, require_sqlglot
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, Wanted, shared_tables
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy

if TYPE_CHECKING:
    import pandas as pd

MAX_SCHEMA_CHARS = 1500
"""Size of the tables and columns in the prompt."""
Query = Callable[[str], "pd.DataFrame"]
AsFrame = Callable[[str], Any]
"""The same with the frame that the library itself would make."""
FIND: Mapping[Library, Callable[[Any, Sequence[str]], Sequence[KnownTable]]] = {
    "sqlite3": sqlite_found,
    "duckdb": duckdb_found,
    "sqlalchemy": engine_found,
    "spark": spark_found,
    "polars": polars_found,
}
TABLES: Mapping[Library, Callable[[Any], Iterator[tuple[str, Sequence[str]]]]] = {
    "sqlite3": sqlite_tables,
    "duckdb": duckdb_tables,
    "sqlalchemy": engine_tables,
}


def sql_tool(
    connection: object,
    *,
    name: str = "query",
    policy: ToolPolicy = "ask",
    tables: Wanted | None = None,
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
        See `agent_tool`. By default each query waits for your yes. With ``auto`` queries may call functions of a
        list only, none of your own; that needs sqlglot.
    tables
        Tables and views that queries may read, by default all: ``["trips"]``, or with the columns that exist for
        them, ``{"trips": ["city", "day"], "sales.orders": None}`` (None: all). Other tables and columns cannot be
        reached, whatever the policy; functions are those of ``auto``.
    allow_writes
        Also statements that change the database; never with the policy ``auto``.
    timeout_s
        Seconds after which a query is ended with a `TimeoutError` in the program; None for no limit.

    Raises
    ------
    UsageError
        No such connection, or one for which reading alone cannot be held.
    """
    if tables is not None:
        if allow_writes:
            raise UsageError("sql_tool: tables= is for reading; a statement that writes may reach all of them.")
        require_sqlglot("sql_tool(…, tables=…)")
    driver = driver_of(connection)
    if driver is None or driver.library not in TABLES or driver.own is not None:
        raise UsageError(
            f"sql_tool: a {type(connection).__name__} is neither a SQLAlchemy engine nor a DuckDB or sqlite3 "
            "connection."
        )
    driver.check(allow_writes=allow_writes)
    shared = None if tables is None else shared_tables(tables, driver.dialect, driver.find)
    run = driver.run(shared, allow_writes=allow_writes, timeout_s=timeout_s)
    text = tables_text(driver.tables() if shared is None else shared.listed())

    def query(sql: str) -> pd.DataFrame:
        return frame_of(run(sql, _needs_no_approval(query)))

    query.__name__ = name
    what = "Rows of one SQL statement" if allow_writes else "Rows of one SELECT"
    query.__doc__ = f"{what}. Tables: {text}"

    def check_auto() -> None:
        if allow_writes:
            raise UsageError(
                "sql_tool: with allow_writes=True each query is asked for; policy='auto' is for reading."
            )
        require_sqlglot("sql_tool(…, policy='auto')")
        if hasattr(connection, "dialect"):
            check_without_approval(connection)

    if policy == "auto":
        check_auto()

    tool = tool_of(query, name=name, policy=policy, timeout_s=timeout_s)
    estimate = None if allow_writes or not statements.is_available() else partial(_estimate, driver, shared)
    REGISTRY.add(replace(tool, check_auto=check_auto, estimate=estimate))
    return query


def _estimate(driver: Driver, shared: SharedTables | None, sql: str) -> str:
    """Return what the database expects; empty for a query that its check refuses, which a person may allow."""
    try:
        return driver.estimate(sql, shared)
    except Exception:  # noqa: BLE001  (of any driver: the person is asked without it)
        return ""


def _needs_no_approval(query: Query) -> bool:
    """Check whether code may call the function now without approval, under whatever name."""
    return any(tool.function is query and tool.stub.policy == "auto" for tool in REGISTRY.tools().values())


@dataclass(frozen=True, kw_only=True)
class Driver:
    """How to query one database of the user's."""

    connection: Any
    library: Library
    dialect: str
    """As SQLAlchemy names it."""
    find: Callable[[Sequence[str]], Sequence[KnownTable]]
    """Returns the tables of a name, given by its parts; all tables for no parts."""
    named: Frames = field(default_factory=dict)
    """DataFrames of Spark that a query may name."""
    own: OwnQuery | None = None
    """The query of the user's that it is; its connection is `connection` then."""

    @property
    def has_others_waiting(self) -> bool:
        """Whether it is a server or a cluster, and not in the kernel or for it alone."""
        if self.library == "spark":
            return not is_local(self.connection)
        if self.own is not None:
            return self.own.reads_network
        return self.dialect in READ_ONLY or self.library == "polars"  # which may read over a network

    def tables(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Return all tables with their columns."""
        return TABLES[self.library](self.connection)

    def check(self, *, allow_writes: bool) -> None:
        """Raise UsageError for a connection with which queries cannot be kept to reading."""
        if self.library == "sqlalchemy":
            check_engine(self.connection, allow_writes=allow_writes)
        elif self.library == "spark":
            check_spark(self.connection)

    def run(self, shared: SharedTables | None, *, allow_writes: bool, timeout_s: float | None) -> Run:
        if self.library == "sqlite3":
            return partial(run_sqlite, self.connection, allow_writes=allow_writes, shared=shared)
        if self.library == "duckdb":
            return partial(run_duckdb, self.connection, allow_writes=allow_writes, shared=shared)
        return partial(run_engine, self.connection, allow_writes=allow_writes, timeout_s=timeout_s, shared=shared)

    def estimate(self, sql: str, shared: SharedTables | None) -> str:
        """Return what the database expects of a query that its check has passed; empty if it does not tell.

        Raises what running the query would raise at once, as for SQL with a mistake in it.
        """
        if self.library == "spark" and shared is not None:
            return bytes_text(self.dialect, spark_bytes(self.connection, sql, shared, self.named))
        rows_expected = {"duckdb": duckdb_estimate, "sqlalchemy": engine_estimate}.get(self.library)
        if rows_expected is None:
            return ""
        with plain_errors(TITLES[self.dialect]):
            return rows_text(self.dialect, rows_expected(self.connection, sql, shared))

    def frames(self, shared: SharedTables, *, timeout_s: float) -> AsFrame:
        """Return the function of a checked statement that returns its rows, as the library's own calls would.

        It raises an error of the database as a ValueError with one line.
        """
        if self.library == "spark":
            return lambda sql: run_spark(self.connection, sql, shared, self.named)
        if self.library == "polars":
            return lambda sql: run_polars(self.connection, sql, shared)
        run = self.run(shared, allow_writes=False, timeout_s=timeout_s)

        def asked(sql: str) -> pd.DataFrame:
            with plain_errors(TITLES[self.dialect]):
                if self.library == "duckdb":
                    return run_duckdb(
                        self.connection, sql, True, allow_writes=False, shared=shared, take=frame_taken
                    )
                return frame_of(run(sql, True))

        return asked


def driver_of(connection: Any) -> Driver | None:
    """Return how to query this database, by the name of its type; None for any other value.

    Raises
    ------
    UsageError
        It is a query over a database that cannot be queried in place.
    """
    library = library_of(connection)
    if library is None:
        return None
    if library in ("duckdb_relation", "ibis"):
        own = own_query(connection, is_ibis=library == "ibis")
        return Driver(
            connection=own.connection, library=own.library, dialect=own.dialect, find=lambda _: [], own=own
        )
    if library == "spark_frame":
        connection, library = connection.sparkSession, "spark"
    dialects = {"sqlite3": "sqlite", "duckdb": "duckdb", "spark": "spark", "polars": "polars"}
    return Driver(
        connection=connection,
        library=library,
        dialect=dialects.get(library) or str(connection.dialect.name),
        find=partial(FIND[library], connection),
    )


def frame_of(found: Rows) -> pd.DataFrame:
    """Return the rows as a frame.

    Raises
    ------
    ValueError
        There are too many.
    """
    import pandas as pd

    columns, values = found
    rows.check_size(rows=len(values))
    return pd.DataFrame.from_records([tuple(row) for row in values], columns=list(columns))


def tables_text(tables: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return ``flights(year, month), planes(tailnum)``, cut if it is long."""
    text = ", ".join(f"{table}({', '.join(columns)})" for table, columns in tables)
    return text if len(text) <= MAX_SCHEMA_CHARS else f"{text[:MAX_SCHEMA_CHARS].rpartition(', ')[0]}, …"
