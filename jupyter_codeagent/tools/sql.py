"""A query function over a database connection of the user: one statement that reads, its rows as a frame.

The database enforces read-only access; no words are searched for. SQLite does it by `PRAGMA query_only`, DuckDB by
its own parser and a read-only transaction, PostgreSQL and MySQL by a read-only transaction on their own connection.
What that does not prevent (functions that lock, wait, signal, read files) is refused by one SQL check for all
(`databases/statements.py`) where nobody is asked, or where only some tables and columns are shared. Other databases
cannot be kept to reading, so the user has to allow writes, and approves each query.

"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.databases.duckdb import duckdb_found, duckdb_tables, run_duckdb
from jupyter_codeagent.tools.databases.rows import Run
from jupyter_codeagent.tools.databases.servers import (
    check_engine,
    check_without_approval,
    engine_found,
    engine_tables,
    run_engine,
)
from jupyter_codeagent.tools.databases.shared import SharedTables, Wanted, shared_tables
from jupyter_codeagent.tools.databases.sqlite import run_sqlite, sqlite_found, sqlite_tables
from jupyter_codeagent.tools.databases.statements import require_sqlglot
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.tool import tool_of
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy

if TYPE_CHECKING:
    import pandas as pd

MAX_SCHEMA_CHARS = 1500
"""Size of the tables and columns in the prompt."""
Query = Callable[[str], "pd.DataFrame"]


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
        require_sqlglot("tables=")
    run, text = _driver(connection, tables, allow_writes=allow_writes, timeout_s=timeout_s)

    def query(sql: str) -> pd.DataFrame:
        import pandas as pd

        columns, found = run(sql, _needs_no_approval(query))
        if len(found) > rows.MAX_ROWS:
            raise ValueError(f"more than {rows.MAX_ROWS:,} rows: aggregate or filter in the query")
        return pd.DataFrame.from_records([tuple(row) for row in found], columns=list(columns))

    query.__name__ = name
    what = "Rows of one SQL statement" if allow_writes else "Rows of one SELECT"
    query.__doc__ = f"{what}. Tables: {text}"

    def check_auto() -> None:
        if allow_writes:
            raise UsageError(
                "sql_tool: with allow_writes=True each query is asked for; policy='auto' is for reading."
            )
        require_sqlglot("policy='auto'")
        if hasattr(connection, "dialect"):
            check_without_approval(connection)

    if policy == "auto":
        check_auto()
    tool = tool_of(query, name=name, policy=policy, timeout_s=timeout_s)
    REGISTRY.add(replace(tool, check_auto=check_auto))
    return query


def _needs_no_approval(query: Query) -> bool:
    """Check whether code may call the function now without approval, under whatever name."""
    return any(tool.function is query and tool.stub.policy == "auto" for tool in REGISTRY.tools().values())


def _driver(
    connection: Any, wanted: Wanted | None, *, allow_writes: bool, timeout_s: float | None
) -> tuple[Run, str]:
    """Return how a statement runs, and the tables as text."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(connection).__mro__}
    if "sqlite3.Connection" in kinds:
        run, dialect = partial(run_sqlite, connection), "sqlite"
        find, tables = partial(sqlite_found, connection), partial(sqlite_tables, connection)
    elif kinds & {"duckdb.DuckDBPyConnection", "_duckdb.DuckDBPyConnection"}:
        run, dialect = partial(run_duckdb, connection), "duckdb"
        find, tables = partial(duckdb_found, connection), partial(duckdb_tables, connection)
    elif "sqlalchemy.Engine" in kinds:
        check_engine(connection, allow_writes=allow_writes)
        run, dialect = partial(run_engine, connection, timeout_s=timeout_s), connection.dialect.name
        find, tables = partial(engine_found, connection), partial(engine_tables, connection)
    else:
        raise UsageError(
            f"sql_tool: a {type(connection).__name__} is neither a SQLAlchemy engine nor a DuckDB or sqlite3 "
            "connection."
        )
    shared = None if wanted is None else shared_tables(wanted, dialect, find)
    listed = tables() if shared is None else _listed(shared)
    return partial(run, allow_writes=allow_writes, shared=shared), _tables_text(listed)


def _listed(shared: SharedTables) -> Iterator[tuple[str, Sequence[str]]]:
    return ((table.name, table.columns) for table in shared.by_name.values())


def _tables_text(tables: Iterator[tuple[str, Sequence[str]]]) -> str:
    """Return ``flights(year, month), planes(tailnum)``, cut if it is long."""
    text = ", ".join(f"{table}({', '.join(columns)})" for table, columns in tables)
    return text if len(text) <= MAX_SCHEMA_CHARS else f"{text[:MAX_SCHEMA_CHARS].rpartition(', ')[0]}, …"
