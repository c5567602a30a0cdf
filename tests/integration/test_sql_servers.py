"""`sql_tool` over real PostgreSQL and MariaDB servers: what reads is answered, nothing else happens."""

# ruff: noqa: E501  (a query a line)

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy
from database_programs import ZONES, Engine, T, programs_of, same
from database_servers import OWNER, READER, engine_of, mariadb, missing_servers, postgresql
from hostile_sql import HIDDEN, SECRET, SHARED, hostile, statements
from pandas.testing import assert_frame_equal

from jupyter_codeagent.sandbox.guest.databases import create_database
from jupyter_codeagent.tools.live_databases import LiveDatabases
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.timeouts import ended_by_signals
from jupyter_codeagent.types.errors import UsageError

# A query that is stopped is left to the driver, which says at its end that it was left.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    pytest.mark.xdist_group("database servers"),
    pytest.mark.long("starts a MariaDB and a PostgreSQL; queries are judged in unit/tools/test_sql.py each time"),
]
SLEEP = {"postgresql": "SELECT pg_sleep(60)", "mariadb": "SELECT SLEEP(60)"}

REFUSED = r"(?i)read.only|only quer|semicolon|denied|syntax|not exist|doesn't exist|data-modifying|undeclared"


@pytest.fixture(scope="module")
def folders() -> Iterator[dict[str, Path]]:
    if missing := missing_servers():
        pytest.skip(f"not installed: {missing} (CI installs them; they would start services on a machine of yours)")
    with postgresql() as one, mariadb() as other:
        yield {"postgresql": one, "mariadb": other}


@pytest.fixture(params=["postgresql+psycopg", "postgresql+psycopg2", "mariadb+pymysql"])
def engine(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[Any]:
    """Of a user who may write to the tables there, too."""
    dialect = request.param.partition("+")[0]
    made = engine_of(request.param, folders[dialect], OWNER if dialect == "postgresql" else READER)
    yield made
    made.dispose()
    for name in REGISTRY.tools():
        REGISTRY.remove(name)


def rows(engine: Any) -> int:
    with engine.connect() as opened:
        return int(opened.exec_driver_sql("SELECT count(*) FROM trips").scalar_one())


def test_a_query_gives_a_frame_and_the_model_knows_the_tables(engine: Any) -> None:
    query = sql_tool(engine)
    frame = query("SELECT city, sum(n) AS n FROM trips WHERE city LIKE 'O%' AND n % 8 > 0 GROUP BY city")
    assert [[str(city), int(n)] for city, n in frame.itertuples(index=False)] == [["Oslo", 5]]
    assert "trips(city, n)" in str(query.__doc__)
    assert len(query("EXPLAIN SELECT * FROM trips")) > 0


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM trips",
        "WITH gone AS (DELETE FROM trips RETURNING n) SELECT * FROM gone",
        "SELECT 1; COMMIT; DELETE FROM trips",
        "SELECT 1; SET TRANSACTION READ WRITE; DELETE FROM trips",
        "SELECT * INTO copied FROM trips",
        "SELECT nextval('numbers')",
        "SELECT set_config('transaction_read_only', 'off', false) FROM trips; DELETE FROM trips",
        "EXPLAIN ANALYZE DELETE FROM trips",
        "SELECT * FROM trips INTO OUTFILE '/tmp/codeagent-never'",
    ],
)
def test_what_does_not_only_read_is_refused_and_changes_nothing(engine: Any, sql: str) -> None:
    query = sql_tool(engine)
    with pytest.raises(Exception, match=REFUSED):
        query(sql)
    assert rows(engine) == 3
    assert not Path("/tmp/codeagent-never").exists()


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_query_that_waits_ends_by_its_limit_and_by_a_stop(engine: Any, is_stopped: bool) -> None:
    limit_s = 30 if is_stopped and engine.driver != "psycopg2" else 2  # psycopg2 waits in C: the server ends it
    query = sql_tool(engine, timeout_s=limit_s)
    stop = threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT])
    if is_stopped:
        stop.start()
    started = time.monotonic()
    ended = pytest.raises(KeyboardInterrupt if is_stopped else TimeoutError)
    with ended, ended_by_signals("query", REGISTRY.tools()["query"].timeout_s):
        query(SLEEP[engine.dialect.name])
    assert time.monotonic() - started < 15
    assert len(query("SELECT * FROM trips")) == 3, "the engine is as good as before"


@pytest.mark.parametrize("mode", ["ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "ANSI", "ORACLE", "MSSQL"])
def test_a_server_that_quotes_in_its_own_way_reads_the_words_that_were_checked(
    folders: dict[str, Path], mode: str
) -> None:
    """For ANSI the text would end at its backslash, and the rest be SQL: the mode brings ANSI_QUOTES with it."""
    options = {"connect_args": {"init_command": f"SET SESSION sql_mode = '{mode}'"}}
    engine = engine_of("mariadb+pymysql", folders["mariadb"], READER, **options)
    query = sql_tool(engine, policy="auto", tables=SHARED, name="of_mode")
    frame = query("""SELECT 1 AS "x\\" , (SELECT max(word) FROM secrets) AS y -- " FROM people""")
    assert frame.to_numpy().tolist() == [[1], [1]]
    assert query("""SELECT "it" AS a FROM people""")["a"].tolist() == ["it", "it"]
    REGISTRY.remove("of_mode")


def test_an_engine_that_commits_each_statement_writes_nothing_either(folders: dict[str, Path]) -> None:
    for driver in ("postgresql+psycopg", "postgresql+psycopg2"):
        made = engine_of(driver, folders["postgresql"], OWNER).execution_options(isolation_level="AUTOCOMMIT")
        query = sql_tool(made)
        assert len(query("SELECT * FROM trips")) == 3
        with pytest.raises(Exception, match="read-only"):
            query("EXPLAIN ANALYZE DELETE FROM trips")
        assert rows(made) == 3
        with made.connect() as opened:
            own: Any = opened.connection.driver_connection
            assert own.autocommit, "the user's connections are as before"
        made.dispose()


@pytest.fixture(params=["postgresql+psycopg", "mariadb+pymysql"])
def reader(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[Any]:
    """Of a user for whom queries may run unasked."""
    made = engine_of(request.param, folders[request.param.partition("+")[0]], READER)
    yield made
    made.dispose()
    for name in REGISTRY.tools():
        REGISTRY.remove(name)


ATTACKS = {
    "postgresql": r"""
        SELECT pg_terminate_backend({other})
        SELECT pg_cancel_backend({other})
        SELECT "pg_terminate_backend"({other})
        SELECT pg_catalog.pg_terminate_backend({other})
        SELECT * FROM pg_terminate_backend({other})
        SELECT * FROM pg_catalog.pg_terminate_backend({other})
        SELECT * FROM ROWS FROM (generate_series(1, 2), pg_sleep(9)) x
        WITH pg_sleep(a) AS (SELECT 1) SELECT pg_sleep(9)
        WITH x AS MATERIALIZED (SELECT pg_sleep(9)) SELECT * FROM x
        SELECT n FROM trips ORDER BY pg_sleep(9)
        SELECT n FROM trips LIMIT (SELECT 1 FROM pg_sleep(9))
        SELECT CASE WHEN pg_sleep(9) IS NULL THEN 1 END
        SELECT pg_advisory_lock(71)
        SELECT pg_try_advisory_lock_shared(71)
        SELECT pg_notify('a', 'b')
        SELECT set_config('statement_timeout', '0', false)
        SELECT current_setting('data_directory')
        SELECT nextval('numbers')
        SELECT lo_import('/etc/passwd')
        SELECT pg_read_file('/etc/passwd')
        SELECT query_to_xml('SELECT pg_sleep(9)', true, true, '')
        SELECT * FROM ts_stat('SELECT pg_sleep(9)')
        SELECT dblink('x', 'SELECT 1')
        SELECT pg_stat_reset()
        SELECT pg_logical_emit_message(true, 'a', 'b')
        SELECT note(city) FROM trips
        SELECT public.note(city) FROM trips
        SELECT initcap(n) FROM trips
        SELECT t.noted_row FROM trips t
        SELECT (t).noted_row FROM trips t
        SELECT 'a'::checked
        SELECT CAST('a' AS checked)
        SELECT * FROM by_function
        SELECT * FROM public.by_view
        SELECT * FROM "by_sleep"
        SELECT * FROM by_lock
        SELECT * FROM far
        SELECT query FROM pg_stat_activity
        SELECT * FROM pg_catalog.pg_settings
        SELECT * FROM information_schema.role_table_grants
        SELECT * FROM trips FOR UPDATE
        SELECT * FROM trips FOR SHARE
        SELECT * INTO copied FROM trips
        WITH gone AS (DELETE FROM trips RETURNING n) SELECT * FROM gone
        EXPLAIN ANALYZE SELECT pg_sleep(9)
        DO $$ BEGIN PERFORM pg_sleep(9); END $$
        COPY trips TO PROGRAM 'cat'
        SELECT 1; SELECT pg_sleep(9)
        SELECT E'\'' , pg_sleep(9) --'
        SELECT U&'\0027', 1
        SELECT $$x$$, pg_sleep(9)
        SELECT 1 OPERATOR(pg_catalog.+) 1
        SELECT ';\' , city FROM trips
        SELECT 'a' AS ";\" FROM trips
    """,
    "mariadb": r"""
        SELECT '\'; DROP TABLE trips; --'
        SELECT 'a\';', city FROM trips
        SELECT SLEEP(9)
        SELECT sleep (9)
        SELECT `sleep`(9)
        SELECT 1 FROM trips WHERE SLEEP(9) = 0
        WITH sleep(a) AS (SELECT 1) SELECT sleep(9)
        SELECT GET_LOCK('a', 1)
        SELECT RELEASE_ALL_LOCKS()
        SELECT BENCHMARK(1000000000, MD5('a'))
        SELECT LOAD_FILE('/etc/passwd')
        SELECT MASTER_POS_WAIT('a', 1)
        SELECT 'a' INTO OUTFILE '/tmp/codeagent-never'
        SELECT 'a' INTO DUMPFILE '/tmp/codeagent-never'
        SELECT city FROM trips LIMIT 1 INTO @city
        SELECT @a := SLEEP(9)
        SELECT @@datadir
        SELECT NEXTVAL(numbers)
        SELECT NEXT VALUE FOR numbers
        SELECT LASTVAL(numbers)
        SELECT note(city) FROM trips
        SELECT test.note(city) FROM trips
        SELECT * FROM by_function
        SELECT * FROM test.by_view
        SELECT * FROM `by_sleep`
        SELECT * FROM by_lock
        SELECT * FROM in_a_file
        SELECT * FROM mysql.user
        SELECT * FROM information_schema.processlist
        SELECT * FROM performance_schema.threads
        SELECT * FROM trips FOR UPDATE
        SELECT * FROM trips LOCK IN SHARE MODE
        SELECT * FROM trips PROCEDURE ANALYSE()
        SELECT {fn SLEEP(9)}
        SELECT VERSION()
        SHOW VARIABLES
        EXPLAIN SELECT SLEEP(9)
        DO SLEEP(9)
        SELECT 1; SELECT SLEEP(9)
        HANDLER trips OPEN
    """,
}


def of_readers(queries: dict[str, str]) -> list[tuple[str, str]]:
    """(driver, query)."""
    return [
        (driver, sql.strip())
        for driver in ("postgresql+psycopg", "mariadb+pymysql")
        for sql in queries[driver.partition("+")[0]].strip().splitlines()
    ]


@pytest.mark.parametrize(("reader", "sql"), of_readers(ATTACKS), indirect=["reader"])
def test_what_nobody_is_asked_about_ends_locks_waits_for_and_reads_nothing_else(reader: Any, sql: str) -> None:
    query = sql_tool(reader, policy="auto", timeout_s=5)
    with reader.connect() as other:
        alive = "SELECT pg_backend_pid()" if reader.dialect.name == "postgresql" else "SELECT CONNECTION_ID()"
        number = other.exec_driver_sql(alive).scalar_one()
        with pytest.raises(PermissionError):
            query(sql.replace("{other}", str(number)))
        assert other.exec_driver_sql(alive).scalar_one() == number, "the user's other connection is still there"
    assert not Path("/tmp/codeagent-never").exists()
    assert len(query("SELECT * FROM trips")) == 3


ORDINARY = {
    "postgresql": r"""
        SELECT city, count(*) AS c, sum(n) FILTER (WHERE n > 1) AS s FROM trips t GROUP BY city HAVING count(*) > 0 ORDER BY c DESC NULLS LAST LIMIT 5
        SELECT DISTINCT ON (city) city, n::numeric(10, 2), round(n / 3.0, 2), n || 'x' FROM trips ORDER BY city, n
        SELECT row_number() OVER w, lag(n, 1) OVER w FROM trips WINDOW w AS (PARTITION BY city ORDER BY n)
        WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT * FROM r
        SELECT date_trunc('month', d), extract(year FROM d), to_char(d, 'YYYY-MM') FROM generate_series('2020-01-01'::date, '2020-03-01', '1 month') AS g(d)
        SELECT now() - interval '1 day', current_date, age(now())
        SELECT CASE WHEN n IN (1, 2) THEN lower(city::text) ELSE upper(city) END, coalesce(n, 0), city LIKE 'O%', city ~* 'o' FROM trips
        SELECT * FROM trips a JOIN trips b USING (city) LEFT JOIN LATERAL (SELECT a.n) x ON true
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY n), corr(n, n), stddev(n), string_agg(city, ',' ORDER BY city), array_agg(n) FROM trips
        SELECT jsonb_build_object('a', n) ->> 'a', ('{"a": 1}'::jsonb) -> 'a', (ARRAY[1, 2])[1], n = ANY(ARRAY[1, 2]) FROM trips
        SELECT city FROM trips GROUP BY ROLLUP (city) UNION SELECT 'x' EXCEPT SELECT 'y'
        SELECT * FROM big -- with a comment
        SELECT /* one */ "city" FROM public.trips WHERE city <> 'a -- b' AND city <> 'O''Hara'
        SELECT table_name FROM information_schema.tables
        VALUES (1, 'a'), (2, 'b')
        SELECT split_part(city, 's', 1), regexp_replace(city, 'o', 'a', 'g'), substring(city FROM 1 FOR 2), trim(both ' ' FROM city), position('s' IN city) FROM trips
        SELECT 1 /* /* */ , pg_sleep(9) */ AS one
    """,
    "mariadb": r"""
        SELECT city, COUNT(*) AS c, SUM(n) FROM trips t GROUP BY city HAVING COUNT(*) > 0 ORDER BY c DESC LIMIT 5
        SELECT IF(n > 1, 'a', "b"), IFNULL(n, 0), CONCAT(city, 'x'), n DIV 2, n MOD 2, CAST(n AS UNSIGNED), n <=> 1 FROM trips
        SELECT DATE_FORMAT(NOW(), '%Y-%m'), YEAR(NOW()), DATE_ADD(NOW(), INTERVAL 1 DAY), STR_TO_DATE('2020', '%Y'), DATEDIFF(NOW(), NOW())
        SELECT GROUP_CONCAT(city ORDER BY city SEPARATOR ', '), STD(n), JSON_EXTRACT('{"a": 1}', '$.a'), SUBSTRING_INDEX('a,b', ',', 1) FROM trips
        SELECT ROW_NUMBER() OVER (PARTITION BY city ORDER BY n) FROM trips
        WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 3) SELECT * FROM r
        SELECT * FROM trips a JOIN trips b USING (city) WHERE a.city REGEXP 'O' AND EXISTS (SELECT 1)
        SELECT * FROM big # with a comment
        SELECT /* one */ `city` FROM test.trips WHERE city <> 'a # b' AND city <> 'it\'s' AND city <> "a'b"
        SELECT table_name FROM information_schema.tables
        SELECT CASE WHEN n IN (1, 2) THEN LOWER(city) ELSE REPLACE(city, 'o', 'a') END FROM trips
    """,
}


@pytest.mark.parametrize(("reader", "sql"), of_readers(ORDINARY), indirect=["reader"])
def test_ordinary_queries_are_answered_unasked(reader: Any, sql: str) -> None:
    assert len(sql_tool(reader, policy="auto")(sql)) > 0


@pytest.mark.parametrize("policy", ["ask", "auto"])
def test_tables_and_columns_that_are_not_shared_do_not_exist(reader: Any, policy: Any) -> None:
    query = sql_tool(reader, policy=policy, tables=SHARED, timeout_s=5)
    assert "Tables: people(id, city, age), trips(city, n)" in str(query.__doc__)
    assert list(query("SELECT * FROM people ORDER BY id")["age"]) == [30, 40]
    answered, texts = {}, []
    for sql in statements(HIDDEN):
        try:
            answered[sql] = query(sql)
        except (PermissionError, sqlalchemy.exc.DBAPIError) as problem:
            texts.append(str(problem).replace(sql, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in frame.to_csv() or "email" in frame] == []
    assert 9 <= len(answered) <= 15, "those with a star"


def test_no_hostile_statement_gets_anything_out_of_shared_tables(reader: Any) -> None:
    query = sql_tool(reader, policy="auto", tables=SHARED, timeout_s=5)
    for sql in hostile(reader.dialect.name):
        with pytest.raises(PermissionError):
            query(sql)
    with pytest.raises(PermissionError, match="secrets is the name of a table or schema that is not shared"):
        query("SELECT city AS secrets FROM people")
    assert len(query("SELECT * FROM trips")) == 3
    assert not Path("/tmp/codeagent-never").exists()


def test_tables_that_cannot_be_shared_are_named_when_the_function_is_made(reader: Any) -> None:
    with pytest.raises(UsageError, match="tables='nothing': there is no such table"):
        sql_tool(reader, tables=["nothing"])
    with pytest.raises(UsageError, match="tables='people' has no column 'mail'"):
        sql_tool(reader, tables={"people": ["mail"]})
    schema = "public" if reader.dialect.name == "postgresql" else "test"
    query = sql_tool(reader, policy="auto", tables={f"{schema}.trips": ["city"], "big": ["half"]})
    assert query("SELECT * FROM trips t, big").columns.tolist() == ["city", "half"]
    for view in ("by_function", "by_sleep"):  # what a view calls is checked, too
        with pytest.raises(PermissionError):
            sql_tool(reader, policy="auto", tables=[view])(f"SELECT * FROM {view}")


def test_a_database_is_asked_where_it_lies_and_the_accepted_cell_asks_it_itself_with_the_same_figures(
    reader: Any,
) -> None:
    found = LiveDatabases().find("db", reader, ["people.city", "people.age", "trips"])
    assert found.tool.stub.policy == "ask", "others wait for a server, too"
    assert (
        "with the tables people (city VARCHAR(20), age INTEGER); trips (city VARCHAR(20), n INTEGER)"
        in found.headline
    )
    stand_in: Any = create_database(
        lambda _, arguments: found.tool.function(arguments["sql"]), "db", "", found.tool.stub.kind
    )
    for sql in (
        "SELECT * FROM trips ORDER BY n",
        "SELECT t.city, AVG(n) AS mean, MAX(age) AS age FROM trips t LEFT JOIN people p ON p.city = t.city "
        "GROUP BY t.city ORDER BY t.city",
        "SELECT city, n, RANK() OVER (PARTITION BY city ORDER BY n) AS place FROM trips ORDER BY city, place",
        "SELECT CURRENT_DATE AS day, NULL AS nothing, 1 > 0 AS yes",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the sandbox does not show either
            asked = pd.read_sql(sql, stand_in)
        with reader.connect() as opened:
            assert_frame_equal(asked, pd.read_sql(sqlalchemy.text(sql), opened))
    with pytest.raises(Exception, match=r"(?i)email"):
        found.tool.function("SELECT email FROM people")


DRIVERS: dict[Engine, tuple[str, str]] = {
    "postgresql": ("postgresql+psycopg", OWNER),
    "mariadb": ("mariadb+pymysql", "root"),
}


@pytest.fixture(scope="module")
def rides(folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """The engines of a reader, with the tables of the programs in a schema of their own."""
    engines: dict[str, Any] = {}
    texts = {name: sqlalchemy.String(20) for name in ("zone", "paid", "rider", "city")}
    kinds: dict[str, Any] = {**texts, "day": sqlalchemy.Date(), "started": sqlalchemy.DateTime()}
    for dialect, (driver, owner) in DRIVERS.items():
        made = engine_of(driver, folders[dialect], owner)
        with made.begin() as opened:
            opened.exec_driver_sql("CREATE SCHEMA rides")
        for name, frame in (("trips", T), ("zones", ZONES)):
            frame.to_sql(
                name, made, schema="rides", index=False, dtype={key: kinds[key] for key in kinds if key in frame}
            )
        with made.begin() as opened:
            if dialect == "postgresql":
                opened.exec_driver_sql(f"GRANT USAGE ON SCHEMA rides TO {READER}")
                opened.exec_driver_sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA rides TO {READER}")
            else:
                opened.exec_driver_sql(f"GRANT SELECT ON rides.* TO {READER}@localhost")
        made.dispose()
        engines[dialect] = engine_of(driver, folders[dialect], READER)
    yield engines
    for one in engines.values():
        one.dispose()


@pytest.mark.parametrize("dialect", [*DRIVERS])
def test_a_query_of_a_server_gives_the_figures_of_the_same_program_on_a_copy_in_pandas(
    rides: dict[str, Any], dialect: Engine
) -> None:
    ask = LiveDatabases().find("db", rides[dialect], ["rides.trips", "rides.zones"]).tool.function
    programs = [*programs_of(dialect)]
    assert len({sql for _, sql, _ in programs}) >= 95
    for question, sql, program in programs:
        assert same(ask(sql), program()), f"{question} {sql}"


CANNOT = {
    "postgresql": (
        ("MEDIAN(km)", "median() is not allowed here"),
        ("QUANTILE_CONT(km, 0.9)", "quantile_cont() is not allowed here"),
        ("LAG(km) IGNORE NULLS OVER (ORDER BY id)", 'PostgreSQL: syntax error at or near "NULLS"'),
        ("ROUND(km, 2)", "PostgreSQL: function round(double precision, integer) does not exist HINT: No function"),
        ("missing", 'PostgreSQL: column "missing" does not exist'),
    ),
    "mariadb": (
        (
            "MEDIAN(km)",
            "MariaDB has no MEDIAN of a group: write SELECT DISTINCT a, MEDIAN(x) OVER (PARTITION BY a)",
        ),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY km)", "MariaDB has no PERCENTILE of a group: write SELECT"),
        ("COUNT(*) FILTER (WHERE km > 5)", "MariaDB has no FILTER: write SUM(CASE WHEN"),
        ("DATE_TRUNC('month', day)", "date_trunc() is not allowed here"),
        ("missing", "MariaDB: Unknown column 'missing' in 'SELECT'"),
    ),
}


@pytest.mark.parametrize("dialect", [*DRIVERS])
def test_what_a_server_cannot_do_ends_in_one_line_that_names_the_operation(
    rides: dict[str, Any], dialect: str
) -> None:
    ask = LiveDatabases().find("db", rides[dialect], ["rides.trips", "rides.zones"]).tool.function
    queries = [(f"SELECT {part} FROM trips", said) for part, said in CANNOT[dialect]]
    if dialect == "mariadb":
        queries += [
            ("SELECT area FROM trips FULL JOIN zones USING (zone)", "MariaDB has no FULL JOIN"),
            ("SELECT zone FROM trips GROUP BY CUBE (zone)", "MariaDB has no CUBE: write UNION ALL"),
            ("SELECT zone FROM trips GROUP BY ROLLUP (zone)", "MariaDB has no ROLLUP (…): write GROUP BY a WITH"),
        ]
    for sql, said in queries:
        with pytest.raises((PermissionError, ValueError)) as raised:
            ask(sql)
        assert str(raised.value).lower().startswith(said.lower())
        assert "\n" not in str(raised.value)
        assert "[SQL" not in str(raised.value)


def test_percent_is_written_as_the_accepted_cell_needs_it(reader: Any) -> None:
    """The driver reads ``%`` in plain text as the place of a value."""
    found = LiveDatabases().find("db", reader, ["trips"])
    assert found.headline.endswith("(write % as %%)")
    stand_in: Any = create_database(
        lambda _, arguments: found.tool.function(arguments["sql"]), "db", "", found.tool.stub.kind
    )
    sql = "SELECT city, n %% 2 AS rest FROM trips WHERE city LIKE 'O%%' ORDER BY n"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_frame_equal(pd.read_sql(sql, stand_in), pd.read_sql(sql, reader))
    with pytest.raises(Exception, match=r"% is written %%. Write: SELECT \* FROM trips WHERE city LIKE 'O%%'"):
        stand_in.execute("SELECT * FROM trips WHERE city LIKE 'O%'")


def test_a_query_has_a_connection_of_its_own_and_leaves_nothing_in_those_of_the_user(reader: Any) -> None:
    is_postgresql = reader.dialect.name == "postgresql"
    lock = "SELECT pg_advisory_lock(71)::text AS got" if is_postgresql else "SELECT GET_LOCK('mine', 9) AS got"
    number = "SELECT pg_backend_pid() AS id" if is_postgresql else "SELECT CONNECTION_ID() AS id"
    query = sql_tool(reader)
    with reader.connect() as mine:
        own = mine.exec_driver_sql(number).scalar_one()
        first, second = int(query(number)["id"][0]), int(query(number)["id"][0])
        assert len({own, first, second}) == 3
        query(lock)
        if is_postgresql:
            mine.exec_driver_sql("SET LOCAL lock_timeout = '9s'")
        assert mine.exec_driver_sql(lock).scalar_one() in ("", 1), "nobody holds it any more"
    with reader.connect() as again:
        assert again.exec_driver_sql(number).scalar_one() == own, "the pool still has it"


def test_hooks_of_the_engine_hold_for_queries_too(folders: dict[str, Path]) -> None:
    """Such as one that takes a role with fewer rights."""
    made = engine_of("postgresql+psycopg", folders["postgresql"], OWNER)

    @sqlalchemy.event.listens_for(made, "begin")
    def take_role(opened: Any) -> None:
        opened.exec_driver_sql(f"SET ROLE {READER}")

    assert sql_tool(made)("SELECT current_user AS who")["who"].tolist() == [READER]
    made.dispose()


def test_without_sqlglot_no_query_runs_unasked_and_asked_ones_do(
    reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.databases.statements.is_available", lambda: False)
    with pytest.raises(UsageError, match="sqlglot is missing: `pip install sqlglot`"):
        sql_tool(reader, policy="auto")
    assert len(sql_tool(reader)("SELECT * FROM trips")) == 3


def test_who_is_asked_reads_the_rows_that_the_server_expects_and_nothing_ran_by_then(engine: Any) -> None:
    is_postgresql = engine.dialect.name == "postgresql"
    with engine.begin() as opened:
        opened.exec_driver_sql("DROP TABLE IF EXISTS many")
        opened.exec_driver_sql("CREATE TABLE many (n INTEGER PRIMARY KEY, k INTEGER)")
        source = "SELECT n, n / 7 FROM generate_series(1, 20000) AS n"
        opened.exec_driver_sql(
            f"INSERT INTO many {source if is_postgresql else 'SELECT seq, seq / 7 FROM seq_1_to_20000'}"
        )
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as opened:
        opened.exec_driver_sql(f"ANALYZE {'' if is_postgresql else 'TABLE '}many")
    estimate = LiveDatabases().find("db", engine, ["many", "trips"]).tool.estimate
    assert estimate is not None

    def expected(sql: str) -> int:
        found = re.fullmatch(
            r"(?:PostgreSQL|MariaDB) expects (?:about )?([\d,]+) rows? in its largest step\.", estimate(sql)
        )
        assert found, estimate(sql)
        return int(found[1].replace(",", ""))

    assert expected("SELECT k, COUNT(*) FROM many WHERE k > 2850 GROUP BY k") == pytest.approx(20_000, rel=0.05)
    assert expected("SELECT k FROM many WHERE n = 7") == 1
    assert expected("SELECT COUNT(*) FROM many AS a CROSS JOIN many AS b") == pytest.approx(4e8, rel=0.1)
    with pytest.raises(PermissionError, match="no table 'secrets'"):
        estimate("SELECT * FROM secrets")
    with pytest.raises(ValueError, match=r"^(PostgreSQL|MariaDB): .*nothere"):
        estimate("SELECT nothere FROM many")
    assert estimate("SELECT 100 / (n - n) FROM trips").startswith(
        "MariaDB" if not is_postgresql else "PostgreSQL"
    ), "planned, not run"
    with engine.begin() as opened:
        opened.exec_driver_sql("DROP TABLE many")


def test_no_limit_of_ours_stays_with_the_users_connections(engine: Any) -> None:
    is_postgresql = engine.dialect.name == "postgresql"
    sql_tool(engine, timeout_s=1)("SELECT 1")
    with engine.connect() as opened:
        limit = opened.exec_driver_sql("SHOW statement_timeout" if is_postgresql else "SELECT @@max_statement_time")
        assert float(limit.scalar_one()) == 0
        opened.exec_driver_sql("INSERT INTO trips VALUES ('Bern', 1)")
        opened.rollback()


def test_who_may_read_files_of_the_server_is_asked_for_each_query(folders: dict[str, Path]) -> None:
    for driver, folder, owner in (
        ("postgresql+psycopg", folders["postgresql"], OWNER),
        ("mariadb+pymysql", folders["mariadb"], "root"),
    ):
        mighty = engine_of(driver, folder, owner)
        with pytest.raises(UsageError, match=f"{owner} may read files of the server"):
            sql_tool(mighty, policy="auto")
        mighty.dispose()
        reader = engine_of(driver, folder, READER)
        assert len(sql_tool(reader, policy="auto")("SELECT * FROM trips")) == 3
        reader.dispose()
