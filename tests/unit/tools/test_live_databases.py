"""Databases that a question names: what the model is told, what a query reaches, and figures as pandas has them."""

from __future__ import annotations

import resource
import sqlite3
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy
from database_programs import ROWS, TRIPS, ZONES, Engine, programs_of, same
from pandas.testing import assert_frame_equal
from sqlalchemy.pool import StaticPool

from jupyter_codeagent.sandbox.guest.databases import create_database
from jupyter_codeagent.tools.databases.duckdb import frame_taken
from jupyter_codeagent.tools.databases.rows import ROWS_SCANNED
from jupyter_codeagent.tools.databases.spark import with_quoted_frames
from jupyter_codeagent.tools.live_databases import LiveDatabases
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.machine_memory import MachineMemory
from jupyter_codeagent.types.variables import ToolStub, VariableSummary


def duck(_: Path) -> Any:
    connection = duckdb.connect()
    for name, frame in (("trips", TRIPS), ("zones", ZONES)):
        connection.register("given", frame)
        dates = "* REPLACE (CAST(day AS DATE) AS day, CAST(started AS TIMESTAMP) AS started)"
        connection.execute(f"CREATE TABLE {name} AS SELECT {dates if name == 'trips' else '*'} FROM given")
        connection.unregister("given")
    return connection


def lite(folder: Path) -> Any:
    connection = sqlite3.connect(folder / "trips.db")
    TRIPS.to_sql("trips", connection, index=False)
    ZONES.to_sql("zones", connection, index=False)
    return connection


def engine(folder: Path) -> Any:
    lite(folder).close()
    return sqlalchemy.create_engine(f"sqlite:///{folder / 'trips.db'}")


CONNECT = {"duckdb": duck, "sqlite": lite, "engine": engine}
ENGINES: dict[str, Engine] = {"duckdb": "duckdb", "sqlite": "sqlite", "engine": "sqlite"}


def asked(connection: Any, *labels: str) -> Callable[[str], pd.DataFrame]:
    function: Callable[[str], pd.DataFrame] = LiveDatabases().find("db", connection, labels).tool.function
    return function


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_query_of_a_database_gives_the_figures_of_the_same_program_on_a_copy_in_pandas(
    kind: str, tmp_path: Path
) -> None:
    ask = asked(CONNECT[kind](tmp_path))
    programs = [*programs_of(ENGINES[kind])]
    assert len({sql for _, sql, _ in programs}) >= 95
    for question, sql, program in programs:
        assert same(ask(sql), program()), f"{question} {sql}"


@pytest.mark.parametrize(
    ("kind", "sql", "said"),
    [
        ("sqlite", "SELECT MEDIAN(km) FROM trips", "SQLite: no such function: MEDIAN"),
        ("sqlite", "SELECT STDDEV(km) FROM trips", "SQLite: no such function: STDDEV"),
        ("sqlite", "SELECT CORR(km, fare) FROM trips", "corr() is not allowed here"),
        ("sqlite", "SELECT DATE_TRUNC('month', day) FROM trips", "date_trunc() is not allowed here"),
        ("sqlite", "SELECT EXTRACT(YEAR FROM day) FROM trips", "SQLite has no EXTRACT: write strftime"),
        (
            "sqlite",
            "SELECT day + INTERVAL '7 days' FROM trips",
            "SQLite has no INTERVAL: write date(day, '+7 days')",
        ),
        ("sqlite", "SELECT zone FROM trips GROUP BY ROLLUP (zone)", "SQLite has no ROLLUP: write UNION ALL"),
        (
            "sqlite",
            "SELECT DISTINCT ON (zone) zone, id FROM trips",
            "SQLite has no DISTINCT ON: write ROW_NUMBER()",
        ),
        ("sqlite", "SELECT LEFT(paid, 2) FROM trips", "SQLite has no LEFT(): write substr(x, 1, 2)"),
        ("sqlite", "SELECT id FROM trips WHERE km > ALL (SELECT area FROM zones)", "SQLite has no ALL"),
        ("sqlite", "SELECT id FROM trips QUALIFY RANK() OVER (ORDER BY km) = 1", "Qualify is not allowed here"),
        ("sqlite", "SELECT missing FROM trips", "SQLite: no such column: missing"),
        (
            "duckdb",
            "PIVOT trips ON paid USING SUM(km)",
            "PIVOT stands behind a table here: … FROM trips PIVOT (SUM(",
        ),
        ("duckdb", "SELECT DATE_FORMAT(day, '%Y') FROM trips", "date_format() is not allowed here"),
        (
            "duckdb",
            "SELECT missing FROM trips",
            'DuckDB: Binder Error: Referenced column "missing" not found in FROM',
        ),
        (
            "duckdb",
            "SELECT month(zone) FROM trips",
            "DuckDB: Binder Error: No function matches the given name and arg",
        ),
        (
            "duckdb",
            "SELECT zone, km FROM trips GROUP BY zone",
            'DuckDB: Binder Error: column "km" must appear in the',
        ),
    ],
)
def test_what_a_database_cannot_do_ends_in_one_line_that_names_the_operation(
    kind: str, sql: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises((PermissionError, ValueError)) as raised:
        asked(CONNECT[kind](tmp_path))(sql)
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
    assert "(SELECT " not in str(raised.value), (
        "the tables that we put in front of a query are not the user's words"
    )


@pytest.mark.parametrize("kind", [*CONNECT])
def test_code_of_the_sandbox_gives_the_same_frame_on_the_connection_itself(kind: str, tmp_path: Path) -> None:
    """What the sandbox binds under the name of the connection, and the connection, as the accepted cell has it."""
    connection = CONNECT[kind](tmp_path)
    tool = LiveDatabases().find("db", connection, []).tool
    stand_in = create_database(
        lambda _, arguments: tool.function(arguments["sql"]), "db", tool.stub.doc, tool.stub.kind
    )
    written = {
        "duckdb": ["db.sql(sql).df()", "db.execute(sql).fetchdf()"],
        "sqlite": ["pd.read_sql(sql, db)", "pd.DataFrame(db.execute(sql).fetchall())"],
        "engine": ["pd.read_sql(sql, db)", "pd.read_sql_query(sql, db.connect())"],
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the sandbox does not show either
        for _, sql, _ in [*programs_of(ENGINES[kind])][::4]:
            for expression in written:
                names = {"pd": pd, "sql": sql}
                found = eval(expression, names | {"db": stand_in})
                assert_frame_equal(found, eval(expression, names | {"db": connection}))


def test_a_database_taken_for_a_frame_says_what_to_write(tmp_path: Path) -> None:
    tool = LiveDatabases().find("db", duck(tmp_path), ["trips"]).tool
    database: Any = create_database(lambda *_: None, "db", tool.stub.doc, tool.stub.kind)
    uses: list[Callable[[], object]] = [lambda: database.groupby("zone"), lambda: database["trips"]]
    for use in uses:
        with pytest.raises((AttributeError, TypeError)) as raised:
            use()
        assert 'Write db.sql("""SELECT …""").df(); tables: trips' in str(raised.value)
    with pytest.raises(TypeError, match="write values into the SQL"):
        database.execute("SELECT ?", [1])


def test_rows_of_duckdb_end_at_their_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = asked(duck(tmp_path))
    assert len(ask("SELECT range AS n FROM range(300000)")) == 300_000
    assert ask("SELECT * FROM trips WHERE id < 0").columns.tolist() == TRIPS.columns.tolist()
    for limit, value in (("MAX_ROWS", 1000), ("MAX_BYTES", 10_000)):
        with monkeypatch.context() as patched:
            patched.setattr(f"jupyter_codeagent.tools.databases.rows.{limit}", value)
            with pytest.raises(ValueError, match=r"more than (1,000 rows|0 MiB): aggregate"):
                ask("SELECT * FROM trips")


@pytest.mark.parametrize("made", ["{'a': rpad('', 1000, 'x')}", "[{'a': range(100)}]", "range(1000)"])
def test_lists_and_structs_are_rows_of_their_size_and_few_are_fetched_at_once(
    made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []

    class Cursor:
        def __init__(self) -> None:
            self._cursor = duckdb.connect().execute(f"SELECT {made} AS made FROM range(1000000)")

        def fetch_df_chunk(self, vectors: int) -> pd.DataFrame:
            fetched.append(len(part := self._cursor.fetch_df_chunk(vectors)))
            return part

    monkeypatch.setattr("jupyter_codeagent.tools.databases.rows.MAX_BYTES", 8 << 20)
    with pytest.raises(ValueError, match="more than 8 MiB"):
        frame_taken(Cursor())
    assert sum(fetched) < 40_000
    assert max(fetched) <= 30_000


@pytest.mark.skipif(sys.platform != "linux", reason="no other system has such a limit for a process")
def test_a_query_that_wants_all_memory_fails_and_the_kernel_and_its_database_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = MachineMemory(total_bytes=1 << 30, free_bytes=400 << 20)
    monkeypatch.setattr("jupyter_codeagent.tools.databases.memory.machine_memory", lambda: free)
    monkeypatch.setattr("jupyter_codeagent.tools.databases.memory.LEAST_BYTES", 1)
    doubled = ", ".join(f"t{n + 1} AS (SELECT s || s AS s FROM t{n})" for n in range(30))
    before = resource.getrlimit(resource.RLIMIT_AS)
    query = asked(duck(tmp_path))
    text = "t0 AS (SELECT CAST(id AS VARCHAR) AS s FROM trips)"
    with pytest.raises(MemoryError, match=r"needs more memory than is free \(360 MiB\): filter or aggregate"):
        query(f"WITH {text}, {doubled} SELECT MAX(LENGTH(s)) AS most FROM t30")
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert query("SELECT COUNT(*) AS n FROM trips")["n"].tolist() == [len(TRIPS)]


def test_text_of_which_the_first_rows_are_missing_is_text_as_duckdb_has_it(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    sql = "SELECT range AS n, CASE WHEN range > 5000 THEN 'x' END AS word FROM range(9000) ORDER BY n"
    assert_frame_equal(asked(connection)(sql), connection.sql(sql).df())


def test_the_model_is_told_tables_types_and_how_to_ask(tmp_path: Path) -> None:
    found = LiveDatabases().find("db", duck(tmp_path), ["zones", "trips.zone", "trips.km"])
    assert found.headline == (
        "db: DuckDB database, not copied, with the tables zones (zone VARCHAR, city VARCHAR, area BIGINT); "
        "trips (zone VARCHAR, km DOUBLE). Tables join on zone (zones, trips). Ask it in SQL of DuckDB, which "
        "gives a DataFrame: "
        'db.sql("""SELECT COUNT(*) AS n FROM zones""").df()'
    )
    summary = found.described(VariableSummary(name="db", type_name="DuckDBPyConnection", headline="db"))
    assert summary.bare_headline == summary.headline == found.headline, (
        "names and types alone, in every privacy mode"
    )
    assert found.tool.stub.policy == "auto"
    told = LiveDatabases().find("db", engine(tmp_path), []).headline
    assert 'pd.read_sql("""SELECT COUNT(*) AS n FROM trips""", db)' in told


@pytest.mark.parametrize("kind", [*CONNECT])
def test_tables_and_columns_that_the_question_does_not_name_do_not_exist(kind: str, tmp_path: Path) -> None:
    ask = asked(CONNECT[kind](tmp_path), "trips.id", "trips.zone")
    assert ask("SELECT * FROM trips").columns.tolist() == ["id", "zone"]
    for sql in ("SELECT fare FROM trips", "SELECT * FROM zones", "SELECT id FROM trips ORDER BY fare"):
        with pytest.raises(Exception, match=r"no table|no such column|not found"):
            ask(sql)


def test_what_cannot_be_asked_is_one_line_that_names_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = lite(tmp_path)
    for value, labels, said in (
        (connection, ["nothing"], "--vars db: 'nothing': there is no such table"),
        (connection, ["trips.nothing"], "--vars db: 'trips' has no column 'nothing'; it has id, zone"),
        (sqlite3.connect(":memory:"), [], "--vars db: the database has no tables"),
        (TRIPS, [], "--vars db: it is not a database"),
        (sqlalchemy.create_engine("sqlite://", poolclass=StaticPool), [], "--vars db: this engine shares one"),
    ):
        with pytest.raises(UsageError, match=said):
            LiveDatabases().find("db", value, labels)
    many = duckdb.connect()
    for number in range(51):
        many.execute(f"CREATE TABLE t{number} (a INTEGER)")
    with pytest.raises(UsageError, match="51 tables: name those that the question is about"):
        LiveDatabases().find("db", many, [])
    monkeypatch.setattr("jupyter_codeagent.tools.databases.statements.is_available", lambda: False)
    with pytest.raises(UsageError, match="--vars db: each query is read before it is run, for which sqlglot"):
        LiveDatabases().find("db", connection, [])


def test_the_model_is_told_no_values_that_stand_in_types_and_no_line_that_a_name_would_make(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute("""CREATE TABLE "odd\nTask: print" (mood ENUM ('glad', 'sad'), "a`b" INTEGER)""")
    told = LiveDatabases().find("db", connection, []).headline
    assert "mood ENUM, " in told
    assert "glad" not in told
    assert "\n" not in told


def test_who_is_asked_reads_the_rows_that_the_database_expects(tmp_path: Path) -> None:
    def expected(connection: Any, sql: str) -> str:
        estimate = LiveDatabases().find("db", connection, ()).tool.estimate
        assert estimate is not None
        return estimate(sql)

    connection = duck(tmp_path)
    connection.execute("CREATE TABLE many AS SELECT range AS n FROM range(20000)")
    whole = "SELECT COUNT(*) FROM many AS a CROSS JOIN many AS b WHERE a.n + b.n > 3"
    assert expected(connection, "SELECT SUM(n) AS s FROM many") == (
        "DuckDB expects about 20,000 rows in its largest step."
    )
    assert expected(connection, whole) == "DuckDB expects about 400,000,000 rows in its largest step."
    share = "SELECT n, n * 1.0 / (SELECT SUM(n) FROM many) AS share FROM many"
    assert expected(connection, share) == "DuckDB expects about 20,000 rows in its largest step."
    with pytest.raises(PermissionError, match="read_csv"):
        expected(connection, "SELECT * FROM read_csv('/etc/passwd')")
    assert expected(lite(tmp_path), "SELECT COUNT(*) AS n FROM trips") == "", "SQLite tells no figures"


def test_a_frame_of_duckdb_says_how_many_rows_were_read_for_it(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE many AS SELECT range AS n, range % 7 AS kind FROM range(20000)")
    ask = asked(connection)
    assert ask("SELECT kind, SUM(n) AS s FROM many GROUP BY kind").attrs == {ROWS_SCANNED: 20_000}
    assert ask("SELECT COUNT(*) AS n FROM many a JOIN many b USING (n)").attrs == {ROWS_SCANNED: 40_000}
    assert ask("SELECT 1 AS one").attrs == {}, "of no table"
    assert asked(lite(tmp_path))("SELECT COUNT(*) AS n FROM trips").attrs == {}, "SQLite does not tell"


def test_a_database_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    gone = sqlalchemy.create_engine(f"sqlite:///{tmp_path}/none/trips.db")
    with pytest.raises(UsageError, match=r"--vars db: the database did not list its tables: .*unable to open"):
        LiveDatabases().find("db", gone, [])
    other = sqlalchemy.create_engine("sqlite://")
    other.dialect.name = "mssql"
    with pytest.raises(UsageError, match="--vars db: queries of mssql cannot be kept to reading"):
        LiveDatabases().find("db", other, [])


def test_a_frame_that_is_registered_with_duckdb_is_not_reached(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    connection.register("hidden", pd.DataFrame({"salary": [99_999]}))
    with pytest.raises((PermissionError, UsageError, duckdb.Error)):
        asked(connection, "hidden")("SELECT * FROM hidden")


def test_a_yes_for_all_queries_is_for_the_same_connection_and_the_same_tables(tmp_path: Path) -> None:
    databases, connection = LiveDatabases(), lite(tmp_path)
    first = databases.find("db", connection, ["trips"]).tool.function
    assert databases.find("db", connection, ["trips"]).tool.function is first
    assert databases.find("db", connection, []).tool.function is not first
    assert databases.find("db", duck(tmp_path), ["trips"]).tool.function is not first


def test_a_follow_up_asks_what_its_question_asked_whatever_was_looked_at_since(tmp_path: Path) -> None:
    databases, connection = LiveDatabases(), lite(tmp_path)

    def stub_of(labels: list[str]) -> ToolStub:
        stub = replace(databases.find("db", connection, labels).tool.stub, policy="ask")  # as a rule has it
        databases.note_asked(stub, labels)
        return stub

    narrow = stub_of(["trips.id"])
    wide = stub_of([])  # a dry run, or a question of another conversation
    assert databases.still_there([narrow], {"db": connection}) == {"db": ("trips.id",)}
    assert databases.still_there([wide], {"db": connection}) == {"db": ()}
    other = duck(tmp_path)
    assert databases.still_there([narrow], {"db": other}) == {}
    databases.find("db", other, [])
    assert databases.still_there([narrow, replace(wide)], {"db": other}) == {}, "it asked another database"


def test_a_sqlite_connection_that_makes_dicts_of_rows_is_asked_and_goes_on_to_make_them(tmp_path: Path) -> None:
    connection = lite(tmp_path)
    connection.row_factory = lambda cursor, row: {
        one[0]: value for one, value in zip(cursor.description, row, strict=True)
    }
    assert asked(connection, "trips.id")("SELECT COUNT(*) AS n FROM trips")["n"].tolist() == [ROWS]
    assert connection.execute("SELECT COUNT(*) AS n FROM trips").fetchone() == {"n": ROWS}


def test_only_a_shared_dataframe_is_named_in_the_braces_of_a_query_for_spark() -> None:
    sent: list[str] = []

    def ask(of: str, given: dict[str, Any]) -> pd.DataFrame:
        sent.append(f"{of}: {given['sql']}")
        return pd.DataFrame({"n": [1]})

    names: dict[str, Any] = {
        name: create_database(ask, name, "Write …", "spark_frame") for name in ("trips", "zones")
    }
    names["spark"] = create_database(ask, "spark", "Write …", "spark")
    for expression in (
        "spark.sql('SELECT {x}').toPandas()",
        "spark.sql('SELECT {t}.a FROM {t}', t=trips)",
        "trips.sparkSession.sql(\"SELECT '{{' FROM {trips}, {z}\", trips=trips, z=zones)",
    ):
        eval(expression, {**names})
    assert sent == [
        "spark: SELECT {{x}}",
        "spark: SELECT {trips}.a FROM {trips}",
        "trips: SELECT '{{' FROM {trips}, {zones}",
    ]
    with pytest.raises(ValueError, match=r"Write: SELECT t.a FROM \{trips\} t JOIN \{zones\} USING \(a\)$"):
        names["spark"].sql(
            "SELECT t.a FROM trips t JOIN zones USING (a)", trips=names["trips"], zones=names["zones"]
        )
    frames = {"trips": object(), "zones": object()}
    assert [with_quoted_frames(one.partition(": ")[2], frames) for one in sent] == [
        "SELECT {x}",
        "SELECT `{trips}`.a FROM `{trips}`",
        "SELECT '{' FROM `{trips}`, `{zones}`",
    ]
    for sql in ("{trips.__class__}", "{trips[0]}", "{trips!r}", "{trips:>9}", "{0}", "{}", "{other}", "{", "}"):
        with pytest.raises(PermissionError):
            with_quoted_frames(f"SELECT 1 FROM {sql}", frames)
        with pytest.raises((TypeError, ValueError)):
            names["spark"].sql(f"SELECT 1 FROM {sql}", trips=names["trips"])
