"""Queries over connections of the user's: what reads is answered, what writes or reads elsewhere is not."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy
from sqlalchemy.pool import StaticPool

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.tools import sql
from jupyter_codeagent.tools.ending import ended_by_signals
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.tool import stub_line

ROWS = [("Oslo", 1), ("Rome", 2), ("Oslo", 4)]
Query = Callable[[str], pd.DataFrame]


@pytest.fixture(autouse=True)
def _empty_registry() -> Iterator[None]:
    yield
    for name in REGISTRY.tools():
        REGISTRY.remove(name)


def filled(connection: Any) -> Any:
    connection.execute("CREATE TABLE trips (city TEXT, n INTEGER)")
    for row in ROWS:
        connection.execute("INSERT INTO trips VALUES (?, ?)", row)
    connection.execute("CREATE VIEW cities AS SELECT DISTINCT city FROM trips")
    connection.commit()
    return connection


def sqlite_file(folder: Path) -> Any:
    return filled(sqlite3.connect(folder / "trips.db"))


def engine(folder: Path) -> Any:
    sqlite_file(folder).close()
    return sqlalchemy.create_engine(f"sqlite:///{folder / 'trips.db'}")


def duck(_: Path) -> Any:
    connection = duckdb.connect()
    connection.begin()
    return filled(connection)


KINDS = pytest.mark.parametrize("connect", [sqlite_file, engine, duck])


def query_of(connection: Any, **options: Any) -> Query:
    sql_tool(connection, **options)
    function: Query = REGISTRY.tools()[options.get("name", "query")].function
    return function


def count(connection: Any) -> int:
    if isinstance(connection, sqlalchemy.Engine):
        with connection.connect() as opened:
            return int(opened.exec_driver_sql("SELECT count(*) FROM trips").scalar_one())
    return int(connection.execute("SELECT count(*) FROM trips").fetchone()[0])


@KINDS
def test_a_query_gives_a_frame_and_the_model_knows_tables_and_columns(
    connect: Callable[[Path], Any], tmp_path: Path
) -> None:
    connection = connect(tmp_path)
    query = query_of(connection, policy="auto")
    found = query("SELECT city, sum(n) AS total FROM trips GROUP BY city ORDER BY city")
    assert found.to_dict("list") == {"city": ["Oslo", "Rome"], "total": [5, 2]}
    assert len(query("WITH big AS (SELECT * FROM trips WHERE n > 1) SELECT * FROM big")) == 2
    assert len(query("select * from cities;")) == 2
    assert query("SELECT * FROM trips WHERE n > 99").columns.tolist() == ["city", "n"]
    line = stub_line(REGISTRY.tools()["query"].stub)
    assert line.startswith("def query(sql: str) -> DataFrame  # Rows of one SELECT. Tables: ")
    assert "trips(city, n)" in line
    assert "cities(city)" in line


@KINDS
@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM trips",
        "INSERT INTO trips VALUES ('Bern', 9)",
        "DROP TABLE trips",
        "UPDATE trips SET n = 0",
        "CREATE TABLE other (a INTEGER)",
        "SELECT 1; DELETE FROM trips",
        "PRAGMA query_only = 0",
        "ATTACH 'other.db' AS other",
        "/* SELECT */ DELETE FROM trips",
        "",
        "COMMIT",
        "VACUUM",
    ],
)
def test_what_does_not_only_read_is_refused_and_changes_nothing(
    connect: Callable[[Path], Any], tmp_path: Path, sql: str
) -> None:
    connection = connect(tmp_path)
    query = query_of(connection)
    with pytest.raises(Exception, match=r".") as raised:
        query(sql)
    assert isinstance(
        raised.value, PermissionError | sqlite3.Error | duckdb.Error | sqlalchemy.exc.DBAPIError | sqlite3.Warning
    )
    assert count(connection) == 3
    assert len(query("SELECT * FROM trips")) == 3, "the connection still answers"


def test_a_write_behind_with_is_stopped_by_the_database(tmp_path: Path) -> None:
    connection = sqlite_file(tmp_path)
    query = query_of(connection)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        query("WITH x AS (SELECT 1) INSERT INTO trips SELECT 'Bern', 1 FROM x")
    assert count(connection) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'x.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM trips WHERE n IN (SELECT 1 FROM READ_BLOB('/etc/passwd'))",
        'WITH "x.csv" AS (SELECT * FROM "x.csv") SELECT * FROM "x.csv"',
        'SELECT * FROM (WITH "x.csv" AS (SELECT 1) SELECT * FROM "x.csv"), "x.csv"',
        "SELECT * FROM private_frame",
        "WITH private_frame AS (SELECT * FROM private_frame) SELECT * FROM private_frame",
        "COPY trips TO 'x.csv'",
        "INSTALL httpfs",
        "SET threads = 1",
        "CALL pragma_version()",
        "SELECT * FROM query('DELETE FROM trips')",
        "SELECT * FROM query_table('private_frame')",
        'WITH csv AS (SELECT 1) SELECT * FROM "x".csv',
        "WITH csv AS (SELECT 1) SELECT * FROM x.csv",
        'SELECT * FROM "x".pg_catalog.".csv"',
        'SELECT * FROM "[x]".information_schema.".csv"',
        'WITH csv AS (SELECT 1) SELECT * FROM "http://127.0.0.1:9/leak?x".csv',
        'SELECT * FROM information_schema."x.csv"',
        "SELECT nextval('numbers')",
        "SELECT write_log('secret')",
        "SELECT current_setting('secret_directory')",
        "SELECT * FROM duckdb_logs",
        "SELECT * FROM pg_catalog.pg_settings",
        "SELECT * FROM system.main.duckdb_logs",
    ],
)
def test_duckdb_reads_its_own_tables_alone_no_files_and_no_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("secret\n1\n")
    private_frame = pd.DataFrame({"secret": [1]})
    connection = duck(tmp_path)
    connection.execute("CREATE SEQUENCE numbers")
    query = query_of(connection)
    with pytest.raises((PermissionError, duckdb.Error)) as raised:
        query(sql)
    assert "secret" not in str(raised.value)
    assert len(private_frame) == 1


@pytest.mark.parametrize(
    "table",
    ["trips", "main.trips", "memory.trips", "memory.main.trips", "other.cats", "other.main.cats", "sales.dogs"],
)
def test_duckdbs_tables_are_found_under_all_their_names(tmp_path: Path, table: str) -> None:
    connection = duck(tmp_path)
    connection.execute("ATTACH ':memory:' AS other")
    connection.execute("CREATE TABLE other.main.cats AS SELECT 1 AS n")
    connection.execute("CREATE SCHEMA sales")
    connection.execute("CREATE TABLE sales.dogs AS SELECT 1 AS n")
    query = query_of(connection)
    assert len(query(f"SELECT * FROM {table}")) > 0
    with pytest.raises(PermissionError, match="there is no table"):
        query("SELECT * FROM cats")


def test_duckdbs_tables_are_found_in_any_case_and_its_own_lists_too(tmp_path: Path) -> None:
    query = query_of(duck(tmp_path))
    assert len(query("SELECT * FROM TRIPS, range(2)")) == 6
    assert "trips" in query("SELECT table_name FROM information_schema.tables").table_name.tolist()
    assert "trips" in query("SELECT table_name FROM duckdb_tables()").table_name.tolist()


@KINDS
def test_writes_are_possible_where_the_user_allows_them_and_never_unasked(
    connect: Callable[[Path], Any], tmp_path: Path
) -> None:
    connection = connect(tmp_path)
    with pytest.raises(UsageError, match="each query is asked for"):
        sql_tool(connection, allow_writes=True, policy="auto")
    query = query_of(connection, allow_writes=True, name="write")
    query("DELETE FROM trips WHERE n = 4")
    assert count(connection) == 2
    assert REGISTRY.tools()["write"].stub.policy == "ask"


def test_a_connection_whose_rows_are_dicts_is_left_as_it_was(tmp_path: Path) -> None:
    connection = sqlite_file(tmp_path)
    connection.row_factory = lambda cursor, row: {"n": row[0]}
    assert len(query_of(connection)("SELECT * FROM trips")) == 3
    connection.execute("DELETE FROM trips")
    assert connection.execute("SELECT count(*) FROM trips").fetchone() == {"n": 0}


def test_values_in_lists_count_and_large_rows_are_fetched_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.sql.MAX_BYTES", 10_000)
    with pytest.raises(ValueError, match="choose columns"):
        query_of(duck(tmp_path))("SELECT list(range) FROM range(3000)")
    fetched: list[int] = []

    class Cursor:
        description = (("text",),)

        def fetchmany(self, count: int) -> list[tuple[str]]:
            fetched.append(count)
            return [("x" * 6000,)] * count

    with pytest.raises(ValueError, match="choose columns"):
        sql._fetched(Cursor())
    assert fetched == [1, 2]


def test_a_locked_duckdb_answers_only_where_it_finds_no_variables_anyway(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    connection.execute("SET lock_configuration = true")
    with pytest.raises(PermissionError, match="locked"):
        query_of(connection)("SELECT * FROM trips")
    connection = duck(tmp_path)
    connection.execute("SET GLOBAL python_enable_replacements = false")
    connection.execute("SET lock_configuration = true")
    assert len(query_of(connection)("SELECT * FROM trips")) == 3


def test_names_of_a_with_may_have_spaces_and_what_is_told_can_be_queried(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    connection.execute("CREATE TEMP TABLE mine AS SELECT 1 AS n")
    query = query_of(connection)
    assert len(query('WITH "my trips" AS (SELECT * FROM trips) SELECT * FROM "my trips"')) == 3
    assert "mine(" not in str(query.__doc__)


def test_an_open_transaction_of_the_user_is_neither_seen_through_nor_ended(tmp_path: Path) -> None:
    connection = sqlite_file(tmp_path)
    connection.execute("DELETE FROM trips")
    query_of(connection)("SELECT 1")
    connection.rollback()
    assert count(connection) == 3
    connection.execute("PRAGMA query_only = 1")
    query_of(connection)("SELECT 1")
    assert connection.execute("PRAGMA query_only").fetchone() == (1,), "as it was"


def test_what_cannot_be_held_to_reading_is_refused(tmp_path: Path) -> None:
    shared = sqlalchemy.create_engine("sqlite://", poolclass=StaticPool)
    with pytest.raises(UsageError, match="shares one connection with you"):
        sql_tool(shared)
    other = sqlalchemy.create_mock_engine("mssql+pyodbc://", lambda *_: None)
    with pytest.raises(UsageError, match="is neither a SQLAlchemy engine nor"):
        sql_tool(other)
    with pytest.raises(UsageError, match="Path is neither"):
        sql_tool(tmp_path)


@KINDS
def test_values_that_are_too_large_together_are_refused_with_what_to_do(
    connect: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.sql.MAX_BYTES", 1000)
    query = query_of(connect(tmp_path))
    assert len(query(f"SELECT '{'x' * 300}' AS text FROM trips")) == 3
    with pytest.raises(ValueError, match="aggregate, filter or choose columns"):
        query(f"SELECT '{'x' * 400}' AS text FROM trips")


def test_sqlite_makes_no_value_that_fills_the_memory_and_the_users_limit_is_as_before(tmp_path: Path) -> None:
    connection = sqlite_file(tmp_path)
    before = connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH)
    query = query_of(connection)
    with pytest.raises(sqlite3.DataError, match="too big"):
        query("SELECT length(zeroblob(900000000))")
    assert connection.getlimit(sqlite3.SQLITE_LIMIT_LENGTH) == before


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
LONG = "SELECT count(*) FROM range(10000000) a, range(1000000) b WHERE (a.range * b.range) % 7 = 3"


@pytest.mark.parametrize(("connect", "sql"), [(sqlite_file, ENDLESS), (engine, ENDLESS), (duck, LONG)])
@pytest.mark.parametrize("is_stopped", [True, False])
def test_an_endless_query_ends_by_its_limit_and_by_a_stop(
    connect: Callable[[Path], Any], sql: str, is_stopped: bool, tmp_path: Path
) -> None:
    connection = connect(tmp_path)
    query = query_of(connection, timeout_s=60 if is_stopped else 0.5)
    tool = REGISTRY.tools()["query"]
    stop = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    if is_stopped:
        stop.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt if is_stopped else TimeoutError):
        with ended_by_signals(tool.name, tool.timeout_s):
            tool.function(sql)
    assert time.monotonic() - started < 20
    assert len(query("SELECT * FROM trips")) == 3, "the connection is as good as before"


def test_too_many_rows_are_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.sql.MAX_ROWS", 2)
    with pytest.raises(ValueError, match="more than 2 rows: aggregate"):
        query_of(sqlite_file(tmp_path))("SELECT * FROM trips")
