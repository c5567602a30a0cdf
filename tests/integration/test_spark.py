"""A real Spark: code asks tables, views and DataFrames where they lie, and gets nothing else out of it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from database_programs import OWN, TRIPS, ZONES, programs_of, same
from hostile_sql import HIDDEN, HIDDEN_IN_PIVOTS, SECRET, hostile, statements
from kernel_client import Kernel
from model_server import ModelServer, code
from pandas.testing import assert_frame_equal

from jupyter_codeagent.sandbox.guest.databases import create_database
from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.databases import spark as of_spark
from jupyter_codeagent.tools.databases.table_sharing import SharedTables, checked_statement
from jupyter_codeagent.tools.live_databases import LiveDatabases, Named
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.timeouts import TookTooLongError, ended_by_signals
from jupyter_codeagent.types.errors import UsageError

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # PySpark warns of what it does itself, with each version of pandas
    pytest.mark.xdist_group("spark"),
    pytest.mark.long("starts a Spark; queries are judged in unit/tools/test_sql_hostile.py each time"),
    pytest.mark.skipif(
        find_spec("pyspark") is None or shutil.which("java") is None,
        reason="not installed: pyspark, of 500 MB, and Java (CI installs them)",
    ),
]
START = """
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", FOLDER)
    .config("spark.sql.codegen.wholeStage", "false")
    .config("spark.sql.adaptive.enabled", "false")
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
"""
END = """
spark.stop()
gateway = type(spark.sparkContext)._gateway  # a kernel with Spark would take half a minute to end
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait(20)
"""
PEOPLE = [(1, "Oslo", 30, f"{SECRET}1"), (2, "Rome", 40, f"{SECRET}2"), (3, "Oslo", 50, f"{SECRET}3")]
COLUMNS = ["people.id", "people.city", "people.age"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names: dict[str, Any] = {"FOLDER": str(tmp_path_factory.mktemp("spark"))}
        exec(START, names)
        session = names["spark"]
        yield session
        session.stop()


@pytest.fixture(scope="module")
def trips(spark: Any) -> Any:
    dates = ("CAST(day AS DATE) AS day", "CAST(started AS TIMESTAMP_NTZ) AS started")
    made = spark.createDataFrame(TRIPS).selectExpr("id", "zone", "km", "fare", "paid", "rider", *dates)
    made.createOrReplaceTempView("trips")
    return made.cache()


@pytest.fixture(scope="module")
def zones(spark: Any) -> Any:
    made = spark.createDataFrame(ZONES)
    made.createOrReplaceTempView("zones")
    return made


@pytest.fixture(scope="module")
def people(spark: Any) -> Any:
    spark.createDataFrame(PEOPLE, ["id", "city", "age", "email"]).write.saveAsTable("people")
    spark.createDataFrame([(SECRET,)], ["word"]).createOrReplaceTempView("secrets")
    spark.sql("CREATE VIEW letters AS SELECT email FROM people")
    spark.udf.register("told", lambda text: f"{SECRET} {text}")
    return spark.table("people")


def asked(named: Named, name: str) -> Callable[[str], pd.DataFrame]:
    function: Callable[[str], pd.DataFrame] = LiveDatabases().find_all(named)[name].tool.function
    return function


def in_braces(sql: str) -> str:
    return re.sub(r"(?<=FROM |JOIN )(trips|zones)\b|\b(trips|zones)(?=\.)", r"{\1\2}", sql)


def stand_ins(named: Named) -> dict[str, Any]:
    """What the sandbox has under these names."""
    tools = {name: one.tool for name, one in LiveDatabases().find_all(named).items()}
    return {
        name: create_database(lambda of, given: tools[of].function(**given), name, tool.stub.doc, tool.stub.kind)
        for name, tool in tools.items()
    }


OTHER_HALF = pytest.mark.rare("every fourth program and every second one of Spark's own is in the first half")


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=OTHER_HALF)])
def test_a_query_of_spark_gives_the_figures_of_the_same_program_on_a_copy_in_pandas(
    spark: Any, trips: Any, zones: Any, half: int
) -> None:
    """Every second one that all engines have, and those of Spark: a job takes Spark a quarter of a second."""
    programs = [*programs_of("spark")]
    own = len(OWN["spark"])
    ask = asked({"spark": (spark, ["trips", "zones"])}, "spark")
    chosen = [*programs[:-own:2], *programs[-own:]]
    assert len({sql for _, sql, _ in chosen}) >= 55
    for question, sql, program in chosen[half::2]:
        assert same(ask(sql), program()), f"{question} {sql}"


def test_a_frame_of_spark_says_how_many_rows_were_read_for_it(spark: Any, trips: Any, zones: Any) -> None:
    ask = asked({"spark": (spark, ["trips", "zones"])}, "spark")
    both = "SELECT city, SUM(km) AS km FROM trips JOIN zones USING (zone) GROUP BY city"
    expected = {rows.ROWS_SCANNED: len(TRIPS) + len(ZONES)}
    assert ask(both).attrs == expected
    spark.conf.set("spark.sql.adaptive.enabled", "true")  # as it is unless somebody sets it
    try:
        assert ask(both).attrs == expected
    finally:
        spark.conf.set("spark.sql.adaptive.enabled", "false")


def test_what_spark_cannot_do_ends_in_one_line_that_names_the_operation(spark: Any, trips: Any, zones: Any) -> None:
    ask = asked({"spark": (spark, ["trips", "zones"])}, "spark")
    for sql, said in (
        ("SELECT strftime('%Y', day) FROM trips", "strftime() is not allowed here"),
        ("SELECT DISTINCT ON (zone) zone FROM trips", "Spark: [UNRESOLVED_ROUTINE] Cannot resolve routine `ON`"),
        ("SELECT quantile_cont(km, 0.9) FROM trips", "quantile_cont() is not allowed here"),
        ("SELECT zone, km FROM trips GROUP BY zone", "Spark: [MISSING_AGGREGATION] The non-aggregating expression"),
        (
            "SELECT sequence(MIN(day), MAX(day), INTERVAL 1 SECOND) FROM trips",
            "sequence() as a list: write its ends",
        ),
        ("SELECT id FROM trips SORT BY km", "Sort is not allowed here"),
    ):
        with pytest.raises((PermissionError, ValueError)) as raised:
            ask(sql)
        assert str(raised.value).startswith(said)
        assert "\n" not in str(raised.value)


def test_code_of_the_sandbox_gives_the_same_frame_on_sparks_own_session_and_dataframes(
    spark: Any, trips: Any, zones: Any
) -> None:
    """What the sandbox binds under these names, and what the accepted cell has there."""
    own = {"spark": spark, "trips": trips, "zones": zones}
    given = stand_ins(
        {"spark": (spark, ["zones"]), "trips": (trips, []), "zones": (zones, ["zone", "city", "area"])}
    )
    programs = [sql for _, sql, _ in programs_of("spark")]
    braces = [in_braces(sql) for sql in (*programs[19:29:2], *programs[-3:-1])]
    written = [
        'spark.sql("SELECT city, sum(area) AS area FROM zones GROUP BY city ORDER BY city").toPandas()',
        'spark.sql("SELECT z.city, t.km FROM {a} t JOIN zones z USING (zone) ORDER BY id", a=trips).toPandas()',
        "spark.sql(\"SELECT '{x}' AS x, '{{' AS y\").toPandas()",
        "trips.sparkSession.sql(\"SELECT '{{x}}' AS x, zone FROM {t} ORDER BY id LIMIT 3\", t=trips).toPandas()",
        'zones.sparkSession.sql("SELECT * FROM {zones} ORDER BY zone", zones=zones).toPandas()',
        *(f"trips.sparkSession.sql({sql!r}, trips=trips, zones=zones).toPandas()" for sql in braces),
    ]
    for expression in written:
        assert_frame_equal(eval(expression, {**given}), eval(expression, {**own}))
    assert [view.name for view in spark.catalog.listTables() if "pyspark" in view.name] == []
    for expression, said in (
        ('trips.sparkSession.sql("SELECT 1 FROM {trips.sparkSession}", trips=trips)', "no DataFrame"),
        ('trips.sparkSession.sql("SELECT 1 FROM {trips!r}", trips=trips)', "no DataFrame"),
        ('trips.sparkSession.sql("SELECT 1 FROM {t}", t="people")', "no DataFrame"),
        (
            'trips.sparkSession.sql("SELECT 1 FROM trips", trips=trips)',
            r"needs braces in the query. Write: SELECT 1 FROM .trips.$",
        ),
        ('trips.sparkSession.sql(f"SELECT 1 FROM {trips}")', "no place in an f-string"),
        ("trips.groupBy('zone')", r"Write trips.sparkSession.sql"),
        ('spark.sql("SELECT * FROM zones").groupBy("zone")', "write it in the SQL"),
        ('spark.sql("SELECT missing FROM zones")', r"^Spark: \[UNRESOLVED_COLUMN[^\n]*$"),
        ('spark.sql("SELECT missing FROM {t}", t=trips)', r"^Spark: (?!.*_pyspark)[^\n]*`km`[^\n]*$"),
    ):
        with pytest.raises((TypeError, AttributeError, PermissionError, ValueError), match=said):
            eval(expression, {**given})


def test_values_of_spark_have_the_types_of_its_own_to_pandas(spark: Any, zones: Any) -> None:
    sql = (
        "SELECT CAST(area AS DECIMAL(10, 2)) AS d, DATE'2024-02-03' AS day, "
        "TIMESTAMP'2024-02-03 04:05:06' AS at, array(1, NULL) AS a, map('k', area) AS m, "
        "named_struct('x', area, 'y', city) AS s, CAST(NULL AS INT) AS n, "
        "CAST('b' AS BINARY) AS b, area > 4 AS large, INTERVAL '1' DAY AS i FROM zones ORDER BY zone"
    )
    found = asked({"spark": (spark, ["zones"])}, "spark")(sql)
    assert_frame_equal(found, spark.sql(sql).toPandas())


def test_no_hostile_statement_gets_anything_out_of_spark(
    spark: Any, people: Any, trips: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {"spark": (spark, [*COLUMNS, "trips"]), "people": (people, ["id", "city", "age"])}
    ask = asked(named, "spark")
    tried = hostile("spark")
    assert len(tried) > 250
    for sql in tried:
        with pytest.raises((PermissionError, ValueError)) as refusal:
            ask(sql)
        assert SECRET not in str(refusal.value).replace(sql, ""), sql
    answered, texts = {}, []
    pivots = statements(HIDDEN_IN_PIVOTS)
    for sql in (*statements(HIDDEN), *pivots):
        for one in (sql, re.sub(r"(?<=FROM |JOIN )people\b|\bpeople(?=\.)", "{people}", sql)):
            try:
                answered[one] = ask(one)
            except (PermissionError, ValueError) as problem:
                texts.append(str(problem).replace(one, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in frame.to_csv() or "email" in frame] == []
    assert [sql for sql in pivots if sql in answered] == pivots[-2:]
    assert 22 <= len(answered) <= 32, "those with a star, and two pivots"
    assert list(tmp_path.iterdir()) == []
    assert spark.table("people").count() == 3


def test_behind_the_sql_check_spark_is_asked_what_it_reads(
    spark: Any, people: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the SQL check had read a statement otherwise than Spark does."""

    def waved_through(sql: str, dialect: str, shared: SharedTables | None) -> Any:
        known = checked_statement("SELECT 1", dialect, shared)
        words = frozenset(re.findall(r"\w+", sql.lower()))
        return type(known)(**{**vars(known), "text": sql, "words": words})

    ask = asked({"spark": (spark, COLUMNS)}, "spark")
    monkeypatch.setattr(of_spark, "checked_statement", waved_through)
    for sql in (
        "SELECT word FROM secrets",
        "SELECT email FROM default.people",
        "SELECT 1 WHERE 'x' IN (TABLE secrets)",
        "SELECT (SELECT max(word) FROM secrets)",
        "WITH a AS (SELECT (SELECT 1 FROM secrets)) SELECT 1",
        "SELECT * FROM text.`/etc/passwd`",
        "FROM people MAP city USING 'cat'",
        "SELECT /*+ BROADCAST(people) */ 1 FROM people",
        "CACHE TABLE people",
        "SET a=1",
        "DROP TABLE people",
    ):
        with pytest.raises((PermissionError, ValueError)):
            ask(sql)
    spark.sql("DECLARE VARIABLE kept STRING DEFAULT 's3cret'")
    with pytest.raises(PermissionError, match="variables of SQL"):
        ask("SELECT kept")
    spark.sql("DROP TEMPORARY VARIABLE kept")
    monkeypatch.setattr(of_spark, "OWN_CLASSES", "org.apache.spark.sql.other.")
    with pytest.raises(PermissionError, match="a function of this session"):
        ask("SELECT abs(1)")


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_query_of_spark_ends_by_its_limit_and_by_a_stop_and_no_other_job_does(
    spark: Any, is_stopped: bool
) -> None:
    ask = asked({"spark": (spark, [])}, "spark")
    own: list[int] = []
    other = threading.Thread(target=lambda: own.append(spark.range(3_000_000).selectExpr("sum(id)").first()[0]))
    stop = threading.Timer(2, os.kill, [os.getpid(), signal.SIGINT])
    other.start()
    if is_stopped:
        stop.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt if is_stopped else TookTooLongError):
        with ended_by_signals("spark", 60 if is_stopped else 2):
            ask("SELECT count(*) FROM range(1000000000) a JOIN range(100000) b ON hash(a.id) % 7 = hash(b.id) % 7")
    assert time.monotonic() - started < 20
    other.join()
    assert own == [sum(range(3_000_000))]
    assert len(ask("SELECT 1")) == 1
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None


def test_who_is_asked_reads_how_much_spark_expects_to_read(spark: Any, tmp_path: Path) -> None:
    spark.range(100_000).write.parquet(str(tmp_path / "many"))
    many = spark.read.parquet(str(tmp_path / "many"))
    estimate = LiveDatabases().find("many", many, (), frames={"many": (many, ())}).tool.estimate
    assert estimate is not None
    assert re.fullmatch(
        r"Spark expects to read about \d\d\d KiB\.", estimate("SELECT SUM(id) AS s FROM {many} WHERE id > 3")
    )
    with pytest.raises(PermissionError, match="no DataFrame that is shared"):
        estimate("SELECT * FROM {trips}")


def test_rows_of_spark_end_at_their_limits(spark: Any, trips: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = asked({"trips": (trips, [])}, "trips")
    for limit, value in (("MAX_ROWS", 1000), ("MAX_BYTES", 10_000)):
        with monkeypatch.context() as patched:
            patched.setattr(rows, limit, value)
            with pytest.raises(ValueError, match="aggregate"):
                ask("SELECT * FROM {trips}")
    assert len(ask("SELECT * FROM {trips}")) == len(TRIPS)


def test_the_model_is_told_columns_and_how_to_ask_spark(
    spark: Any, trips: Any, zones: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases = LiveDatabases()
    found = databases.find_all({"trips": (trips, ["zone", "km"]), "zones": (zones, [])})
    assert found["trips"].headline == (
        "trips: Spark database, not copied, with the tables {trips} (zone string, km double). Tables join on "
        "zone ({trips}, {zones}). Ask it in SQL of Spark, which gives a DataFrame: "
        'trips.sparkSession.sql("""SELECT COUNT(*) AS n FROM {trips}""", trips=trips).toPandas() '
        "(with {trips} and {zones}: trips=trips, zones=zones)"
    )
    assert found["trips"].tool.stub.policy == "auto"
    again = databases.find_all({"trips": (trips, ["zone", "km"]), "zones": (zones, [])})
    assert again["trips"].tool.function is found["trips"].tool.function, "a yes for all queries stays one"
    monkeypatch.setattr(of_spark, "is_local", lambda _: False)
    monkeypatch.setattr("jupyter_codeagent.tools.sql.is_local", lambda _: False)
    assert databases.find_all({"trips": (trips, [])})["trips"].tool.stub.policy == "ask", "on a cluster others wait"
    for value, labels, said in (
        (spark, ["nothing"], "--vars x: 'nothing': there is no such table"),
        (trips, ["nothing"], "has no column 'nothing'; it has id, zone"),
    ):
        with pytest.raises(UsageError, match=said):
            databases.find_all({"x": (value, labels)})
    with pytest.raises(UsageError, match="a SparkSession is neither"):
        sql_tool(spark)
    spark.conf.set("spark.sql.caseSensitive", "true")
    with pytest.raises(UsageError, match="caseSensitive is set"):
        databases.find_all({"trips": (trips, [])})
    spark.conf.unset("spark.sql.caseSensitive")


def test_a_dataframe_of_spark_is_asked_where_it_lies_and_the_accepted_cell_gives_the_same_figures(
    kernel: Kernel, model_server: ModelServer, tmp_path: Path
) -> None:
    kernel.run(f"import warnings; warnings.simplefilter('ignore')\nFOLDER = {str(tmp_path)!r}{START}")
    kernel.run(
        "trips = spark.range(100_000).selectExpr('id % 3 AS zone', 'id AS km', \"'s3cret' AS email\")\n"
        "other = spark.range(3)"
    )
    sql = "SELECT zone, AVG(km) AS mean FROM {trips} GROUP BY zone ORDER BY zone"
    program = f'found = trips.sparkSession.sql("{sql}", trips=trips).toPandas()\nprint(found.to_csv(index=False))'
    model_server.script(code(program))
    shown = kernel.ask("Mean km by zone?", "--approve auto --vars trips[zone,km]").text
    result = "zone,mean\n0,49999.5\n1,49999.0\n2,50000.0"
    assert result in shown
    assert "asked trips: 1 query, 100,000 rows scanned in " in shown
    assert "s3cret" not in str(model_server.requests)
    assert "email" not in str(model_server.requests)
    assert result in kernel.run(program).text, "the accepted cell, in the kernel of the user"
    assert "`--vars other` lets the code query it" in kernel.ask("How many rows has other?", "--dry-run").text
    assert "with the tables {other} (id bigint)" in kernel.ask("How many?", "--dry-run --vars other").text
    assert not kernel.run(END).error
