"""Polars: one checked SELECT over a LazyFrame that the sandbox cannot open itself, as `trips.sql("… FROM self")`.

Such a frame reads over a network, has a step in Python, or holds more in memory than is copied. SQL of Polars knows
the one table `self`; functions that read files are not on the list of the SQL check.

"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.databases.table_sharing import KnownTable, SharedTables, checked_statement

if TYPE_CHECKING:
    import polars as pl

TABLE = "self"
READS = "read_"
"""Begin of the names of functions that read files: refused wherever it stands, should the SQL check mistake one."""
POLL_S = 0.01


def polars_found(frame: Any, _parts: Sequence[str]) -> list[KnownTable]:
    """Return the frame as queries name it; the columns of files are looked up in them."""
    return [KnownTable(source=(TABLE,), columns={name: str(kind) for name, kind in frame.collect_schema().items()})]


def run_polars(frame: Any, sql: str, shared: SharedTables) -> pl.DataFrame:
    """Run a query, which ends between two of its steps after Ctrl+C.

    Raises
    ------
    PermissionError
        It is more than a query of shared columns.
    ValueError
        Polars does not understand it, or its result is too large.
    """
    import polars as pl

    statement = checked_statement(sql, "polars", shared)
    if READS in statement.text.lower():
        raise PermissionError(f"{READS} is not allowed here: query the table {TABLE}")
    columns = shared.by_name[TABLE].columns
    try:
        found: pl.DataFrame = _collected(frame.select(*columns).sql(statement.text).head(rows.MAX_ROWS + 1))
    except pl.exceptions.PolarsError as problem:
        raise ValueError(f"Polars: {str(problem).splitlines()[0]}") from problem
    rows.check_size(rows=len(found), size_bytes=int(found.estimated_size()))
    return found


def _collected(query: Any) -> Any:
    """Collect on a thread, which gets no Ctrl+C: Polars ends the process if a query that runs is forgotten."""
    stopped = threading.Event()
    thread = ThreadPoolExecutor(1, "codeagent-polars")
    running = thread.submit(_waited, query, stopped)
    try:
        return running.result()
    finally:
        stopped.set()
        thread.shutdown(wait=False)


def _waited(query: Any, stopped: threading.Event) -> Any:
    running = query.collect(background=True)
    while (found := running.fetch()) is None:
        if stopped.wait(POLL_S):
            running.cancel()
            return running.fetch_blocking()
    return found
