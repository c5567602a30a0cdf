"""Queries over connections of the user's: what reads is answered, what writes or reads elsewhere is not."""

# ruff: noqa: E501  (a query a line)

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

from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.timeouts import ended_by_signals
from jupyter_codeagent.tools.tool import stub_line, tool_of
from jupyter_codeagent.types.errors import UsageError

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
    monkeypatch.setattr("jupyter_codeagent.tools.databases.rows.MAX_BYTES", 10_000)
    with pytest.raises(ValueError, match="choose columns"):
        query_of(duck(tmp_path))("SELECT list(range) FROM range(3000)")
    fetched: list[int] = []

    class Cursor:
        description = (("text",),)

        def fetchmany(self, count: int) -> list[tuple[str]]:
            fetched.append(count)
            return [("x" * 6000,)] * count

    with pytest.raises(ValueError, match="choose columns"):
        rows.fetched(Cursor())
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
    monkeypatch.setattr("jupyter_codeagent.tools.databases.rows.MAX_BYTES", 1000)
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
    assert time.monotonic() - started < 50, "not only by its limit"
    assert len(query("SELECT * FROM trips")) == 3, "the connection is as good as before"


def test_too_many_rows_are_refused_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.databases.rows.MAX_ROWS", 2)
    with pytest.raises(ValueError, match="more than 2 rows: aggregate"):
        query_of(sqlite_file(tmp_path))("SELECT * FROM trips")


# --- what reads only, and does more -------------------------------------------------------------------


def attacked_duckdb(folder: Path) -> Any:
    connection = duck(folder)
    (folder / "own.csv").write_text("shown\n1\n")
    (folder / "other.txt").write_text("secret")
    for statement in (
        "CREATE MACRO plus(a, b) AS a + b",
        "CREATE MACRO twice(a) AS plus(a, a)",
        "CREATE MACRO of_file(path) AS (SELECT content FROM read_text(path))",
        "CREATE MACRO of_macro(path) AS of_file(path)",
        "CREATE MACRO setting(name) AS current_setting(name)",
        "CREATE MACRO read_csv(path) AS (SELECT content FROM read_text(path))",
        "CREATE MACRO lower(path) AS (SELECT content FROM read_text(path))",
        "CREATE MACRO lines(path) AS TABLE SELECT * FROM read_text(path)",
        "CREATE MACRO range(path) AS TABLE SELECT * FROM read_text(path)",
        f"CREATE VIEW of_own_file AS SELECT * FROM read_csv('{folder}/own.csv')",
        f"CREATE VIEW by_macro AS SELECT of_file('{folder}/other.txt') AS content",
        "CREATE VIEW by_view AS SELECT * FROM by_macro",
    ):
        connection.execute(statement)
    connection.create_function("told", told, [str], str)
    connection.execute("CREATE VIEW by_function AS SELECT told(city) AS told FROM trips")
    return connection


SEEN: list[str] = []
"""What the function of the user's was called with."""


def told(text: str) -> str:
    SEEN.append(text)
    return text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT of_file('other.txt')",
        "SELECT main.of_file('other.txt')",
        "SELECT 'other.txt'.of_file()",
        "SELECT of_macro('other.txt')",
        "SELECT n FROM trips ORDER BY of_macro('other.txt')",
        "SELECT {'a': [of_file('other.txt')]}",
        "WITH x AS (SELECT of_file('other.txt') AS y) SELECT * FROM x",
        "VALUES (of_file('other.txt'))",
        "SELECT setting('temp_directory')",
        "SELECT read_csv('other.txt')",
        "SELECT lower('other.txt')",
        "SELECT * FROM lines('other.txt')",
        "SELECT * FROM range('other.txt')",
        "SELECT pg_sleep(1)",
    ],
)
@pytest.mark.parametrize("policy", ["ask", "auto"])
def test_a_macro_of_duckdb_reads_no_file_and_no_setting(
    policy: Any, sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    query = query_of(attacked_duckdb(tmp_path), policy=policy)
    with pytest.raises(PermissionError) as raised:
        query(sql)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("policy", ["ask", "auto"])
def test_macros_of_duckdb_that_compute_are_called(policy: Any, tmp_path: Path) -> None:
    query = query_of(attacked_duckdb(tmp_path), policy=policy)
    assert query("SELECT twice(n) AS two FROM trips ORDER BY n")["two"].tolist() == [2, 4, 8]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT told(city) FROM trips",
        "SELECT * FROM by_function",
        "SELECT * FROM by_macro",
        "SELECT * FROM by_view",
        "SELECT count(*) FROM (SELECT * FROM main.by_view)",
        "SELECT currval('numbers')",
        "SELECT * FROM pg_catalog.pg_class",
        "SELECT * FROM duckdb_settings",
    ],
)
def test_what_nobody_is_asked_about_calls_no_function_of_the_user_also_not_by_a_view(
    sql: str, tmp_path: Path
) -> None:
    connection = attacked_duckdb(tmp_path)
    SEEN.clear()
    with pytest.raises((PermissionError, duckdb.Error)) as raised:
        query_of(connection, policy="auto")(sql)
    assert SEEN == []
    assert "secret" not in str(raised.value)


def test_a_function_of_the_user_is_called_after_a_yes_and_views_over_own_files_are_read(tmp_path: Path) -> None:
    connection = attacked_duckdb(tmp_path)
    SEEN.clear()
    assert len(query_of(connection)("SELECT told(city) FROM trips")) == 3
    assert sorted(SEEN) == ["Oslo", "Oslo", "Rome"]
    connection.execute("DROP MACRO read_csv")
    assert query_of(connection, policy="auto")("SELECT * FROM of_own_file")["shown"].tolist() == [1]


ORDINARY_DUCKDB = """
    SELECT city, count(*) AS c, sum(n) FILTER (WHERE n > 1), avg(n), median(n), list(n), string_agg(city, ',') FROM trips GROUP BY ALL
    SELECT row_number() OVER (PARTITION BY city ORDER BY n), lag(n) OVER (ORDER BY n), * EXCLUDE (n) FROM trips QUALIFY n > 0
    SELECT CASE WHEN n IN (1, 2) THEN 'a' ELSE lower(city) END, n BETWEEN 1 AND 2, city LIKE 'O%', n IS NULL, -n FROM trips
    SELECT date_trunc('month', DATE '2024-02-03'), now(), today(), INTERVAL 1 DAY, strftime(now(), '%Y'), extract(year FROM now())
    SELECT [x + 1 FOR x IN [1, 2]], list_transform([1], lambda x: x + 1), {'a': 1}.a, map(['k'], [1])['k'], [1, 2][1]
    SELECT regexp_extract(city, 'O.*'), city || 'x', split_part(city, 's', 1), printf('%d', n), round(n / 3, 2), n // 2 FROM trips
    SELECT * FROM range(3), generate_series(1, 2), unnest([1]) AS u(v)
    SELECT * FROM trips t JOIN trips s USING (city) LEFT JOIN cities c ON c.city = t.city WHERE EXISTS (SELECT 1)
    WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT x, random(), uuid() FROM r
    SELECT corr(n, n), quantile_cont(n, 0.5), stddev(n), mode(city), arg_max(city, n), approx_count_distinct(city) FROM trips
    SELECT coalesce(nullif(n, 1), 0), ifnull(n, 0), if(n > 1, 1, 2), greatest(n, 2), n::VARCHAR, TRY_CAST(city AS INT), json_extract('{"a": 1}', '$.a') FROM trips
    SELECT city, GROUPING(city) FROM trips GROUP BY ROLLUP (city) ORDER BY ALL LIMIT 2
    SELECT list_sum([1]), list_aggregate([1], 'max'), array_to_string(['a'], ','), date_diff('day', now(), now()), age(now())
    FROM trips SELECT COLUMNS('n') + 1
    SUMMARIZE trips
    DESCRIBE trips
    SELECT table_name FROM information_schema.tables
"""


@pytest.mark.parametrize("sql", ORDINARY_DUCKDB.strip().splitlines())
def test_ordinary_queries_of_duckdb_are_answered_unasked(sql: str, tmp_path: Path) -> None:
    assert len(query_of(duck(tmp_path), policy="auto")(sql.strip())) >= 0


def attacked_sqlite(folder: Path) -> Any:
    connection = sqlite_file(folder)
    connection.create_function("told", 1, told)
    connection.create_function("upper", 1, told)
    connection.execute("CREATE VIEW by_function AS SELECT told(city) AS told FROM trips")
    connection.execute("ATTACH ':memory:' AS other")
    return connection


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT told(city) FROM trips",
        "SELECT upper(city) FROM trips",
        "SELECT * FROM by_function",
        "SELECT * FROM trips WHERE told(city) = 'x'",
        "SELECT load_extension('x')",
        "SELECT * FROM pragma_database_list",
        "SELECT * FROM pragma_compile_options",
        "EXPLAIN SELECT told(city) FROM trips",
        "SELECT fts3_tokenizer('simple')",
    ],
)
def test_sqlite_calls_no_function_of_the_user_unasked(sql: str, tmp_path: Path) -> None:
    connection = attacked_sqlite(tmp_path)
    SEEN.clear()
    with pytest.raises(
        (sqlite3.Error, PermissionError), match=r"not authorized|prohibited|no such|not allowed|not EXPLAIN"
    ):
        query_of(connection, policy="auto")(sql)
    assert SEEN == []
    assert connection.execute("SELECT told('mine')").fetchone() == ("mine",), (
        "the user's own connection is as before"
    )


def test_sqlite_calls_a_function_of_the_user_after_a_yes(tmp_path: Path) -> None:
    SEEN.clear()
    assert len(query_of(attacked_sqlite(tmp_path))("SELECT * FROM by_function")) == 3
    assert len(SEEN) == 3


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT x FROM r",
        "SELECT city, count(*), group_concat(n), max(n) OVER (), lower(city), strftime('%Y', 'now') FROM trips GROUP BY 1",
        "SELECT json_extract('{\"a\": 1}', '$.a'), round(n, 1), coalesce(n, 0), substr(city, 1, 2) FROM trips",
        "SELECT * FROM cities JOIN trips USING (city) ORDER BY city LIKE 'O%'",
        "SELECT * FROM pragma_table_info('trips')",
        "SELECT * FROM json_each('[1, 2]')",
    ],
)
@pytest.mark.parametrize("connect", [sqlite_file, engine])
def test_ordinary_queries_of_sqlite_are_answered_unasked(connect: Any, sql: str, tmp_path: Path) -> None:
    assert len(query_of(connect(tmp_path), policy="auto")(sql)) > 0


def test_a_query_that_is_declared_once_more_as_auto_is_unasked_under_any_name(tmp_path: Path) -> None:
    query = query_of(attacked_sqlite(tmp_path))
    SEEN.clear()
    query("SELECT told('a')")
    REGISTRY.add(tool_of(query, name="other", policy="auto"))
    with pytest.raises(PermissionError, match=r"told\(\) is not allowed"):
        query("SELECT told('b')")
    assert SEEN == ["a"]


def test_a_query_of_an_engine_has_a_connection_of_its_own_which_ends_with_it(tmp_path: Path) -> None:
    made = engine(tmp_path)
    opened: list[Any] = []
    closed: list[Any] = []
    sqlalchemy.event.listen(made, "connect", lambda connection, _: opened.append(connection))
    sqlalchemy.event.listen(made, "close", lambda connection, _: closed.append(connection))
    with made.connect() as mine:
        own = mine.connection.driver_connection
        query_of(made)("SELECT * FROM trips")
        assert len(opened) > 1
        assert own not in closed
        assert set(map(id, closed)) == set(map(id, opened)) - {id(own)}
