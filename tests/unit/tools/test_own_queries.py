"""Ibis tables and DuckDB relations: code asks them where they lie, and gets only what is shared of them."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import pytest
from database_programs import ROWS, TRIPS, ZONES, programs_of, same
from hostile_sql import HIDDEN, HIDDEN_IN_PIVOTS, SECRET, hostile, statements
from pandas.testing import assert_frame_equal, assert_series_equal

from jupyter_codeagent.sandbox.guest.databases import create_database
from jupyter_codeagent.session.variable_selection import select_variables
from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.databases.rows import ROWS_SCANNED
from jupyter_codeagent.tools.live_databases import LiveDatabases, Named
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.tools.timeouts import ended_by_signals
from jupyter_codeagent.types.errors import UsageError, VariableError
from jupyter_codeagent.types.options import RunOptions

pytestmark = pytest.mark.filterwarnings(
    "ignore:The 'future.infer_string' option", "ignore:fetch_arrow_table"
)  # Ibis' own ways
DATES = "* REPLACE (CAST(day AS DATE) AS day, CAST(started AS TIMESTAMP) AS started)"
PEOPLE = [(1, "Oslo", 30, f"{SECRET}1"), (2, "Rome", 40, f"{SECRET}2"), (3, "Oslo", 50, f"{SECRET}3")]
DAYS = [("Oslo", 1, "2024-01-01"), ("Rome", 2, "2024-02-01"), ("Oslo", 4, "2024-03-01")]


def filled(connection: Any) -> Any:
    """The tables of `hostile_sql`."""
    for statement in (
        "CREATE TABLE people (id INTEGER, city TEXT, age INTEGER, email TEXT)",
        "CREATE TABLE trips (city TEXT, n INTEGER, day DATE)",
        "CREATE TABLE secrets (word TEXT)",
        f"INSERT INTO secrets VALUES ('{SECRET}')",
        "CREATE VIEW letters AS SELECT email FROM people",
    ):
        connection.execute(statement)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", PEOPLE)
    connection.executemany("INSERT INTO trips VALUES (?, ?, ?)", DAYS)
    return connection


def duck() -> Any:
    connection = duckdb.connect()
    for name, frame in (("trips", TRIPS), ("zones", ZONES)):
        connection.register("given", frame)
        chosen = DATES if name == "trips" else "*"
        connection.execute(f"CREATE TABLE {name} AS SELECT {chosen} FROM given")
        connection.unregister("given")
    return connection


def relations() -> dict[str, Any]:
    connection = duck()
    return {"trips": connection.sql("SELECT * FROM trips"), "zones": connection.table("zones")}


def of_ibis(backend: str) -> dict[str, Any]:
    """Tables under the names that they have in the database."""
    if backend == "duckdb":
        over_duckdb = ibis.duckdb.from_connection(duck())
        return {"trips": over_duckdb.table("trips"), "zones": over_duckdb.table("zones")}
    over_sqlite = ibis.sqlite.connect()
    TRIPS.to_sql("trips", over_sqlite.con, index=False)
    ZONES.to_sql("zones", over_sqlite.con, index=False)
    over_sqlite.con.commit()
    trips = over_sqlite.table("trips").cast({"day": "date", "started": "timestamp"})
    return {"trips": trips, "zones": over_sqlite.table("zones")}


def of(values: dict[str, Any]) -> Named:
    return {name: (value, ()) for name, value in values.items()}


def asked(named: Named, name: str) -> Callable[[str], pd.DataFrame]:
    function: Callable[[str], pd.DataFrame] = LiveDatabases().find_all(named)[name].tool.function
    return function


def stand_ins(named: Named) -> dict[str, Any]:
    """What the sandbox has under these names."""
    tools = {name: one.tool for name, one in LiveDatabases().find_all(named).items()}

    def ask(name: str, given: dict[str, Any]) -> pd.DataFrame:
        found: pd.DataFrame = tools[name].function(**given)
        return found

    return {
        name: create_database(ask, name, tool.stub.doc, tool.stub.kind, tool.stub.columns)
        for name, tool in tools.items()
    }


# --- DuckDB relations -------------------------------------------------------------------------------------


def test_a_query_of_a_relation_gives_the_figures_of_the_same_program_on_a_copy_in_pandas() -> None:
    ask = asked(of(relations()), "trips")
    programs = [*programs_of("duckdb")]
    assert len({sql for _, sql, _ in programs}) >= 95
    for question, sql, program in programs:
        assert same(ask(sql), program()), f"{question} {sql}"


def test_code_of_the_sandbox_gives_the_same_frame_on_the_relations_themselves_and_leaves_no_view() -> None:
    connection = duck()
    frame = pd.DataFrame({"zone": ["A", "B"], "rank": [2, 1]})
    own = {
        "trips": connection.sql("SELECT * FROM trips WHERE km > 1 -- the user's"),
        "zones": connection.table("zones"),
        "ranks": connection.sql("SELECT * FROM frame WHERE rank > 0"),
        "few": connection.table("trips").filter("id < 50").project("id, km * 2 AS twice"),
    }
    del frame
    given = stand_ins(of(own))
    every = [sql for _, sql, _ in programs_of("duckdb")][::4]
    written = [
        *(f"trips.query('trips', {sql!r}).df()" for sql in every),
        "ranks.query('ranks', 'SELECT * FROM ranks JOIN zones USING (zone) ORDER BY rank').df()",
        "few.query('few', 'WITH x AS (SELECT * FROM few) SELECT * FROM x JOIN few USING (id) ORDER BY id').df()",
        "pd.DataFrame(few.query('few', 'SELECT MAX(twice) AS m FROM few').fetchall())",
    ]
    for expression in written:
        assert_frame_equal(eval(expression, {"pd": pd} | given), eval(expression, {"pd": pd} | own))
    found = "SELECT COUNT(*) FROM duckdb_views() WHERE NOT internal"
    assert connection.execute(found).fetchall() == [(0,)]
    for expression, said in (
        ("trips.query('t', 'SELECT 1 FROM t')", "a query names it trips"),
        ("trips.filter('km > 1')", r"Write trips.query\(\"trips\", \"\"\"SELECT …"),
        ("trips.query('trips', 'SELECT missing FROM trips')", r"^DuckDB: Binder Error: [^\n]*missing[^\n]*$"),
        ("duckdb.sql('SELECT * FROM trips').df()", r"Write trips.query\(\"trips\""),
    ):
        with pytest.raises((TypeError, AttributeError, ValueError, duckdb.Error), match=said):
            eval(expression, {"duckdb": duckdb, **given})


def test_a_relation_is_joined_by_its_name_only_where_the_accepted_cell_finds_it_by_that_name() -> None:
    connection = duck()
    own = {
        "trips": connection.table("trips").filter("id < 10"),
        "zones": connection.table("zones").filter("area > 5"),
        "more": connection.table("zones").filter("area > 5"),
        "elsewhere": duckdb.connect().sql("SELECT 'A' AS zone"),
    }
    ask = asked(of(own), "trips")
    join = "SELECT COUNT(*) AS n FROM trips JOIN {} USING (zone)"
    in_kernel = eval(f"trips.query('trips', {join.format('more')!r}).df()", {**own})
    assert ask(join.format("more")).equals(in_kernel)
    assert ask("SELECT COUNT(*) AS n FROM trips")["n"].tolist() == [10], "not the table of this name"
    for name in ("zones", "elsewhere"):
        with pytest.raises(PermissionError, match=f"there is no table '{name}'; tables: trips, more"):
            ask(join.format(name))
    connection.execute("SET python_enable_replacements = false")
    with pytest.raises(PermissionError, match=r"there is no table 'more'; tables: trips$"):
        asked(of(own), "trips")(join.format("more"))


def test_no_hostile_statement_gets_anything_out_of_a_relation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    connection = filled(duckdb.connect())
    connection.create_function("told", lambda text: f"{SECRET} {text}", [str], str)
    connection.execute("CREATE MACRO of_people() AS (SELECT max(email) FROM people)")
    everyone = connection.table("people")
    named: Named = {"people": (everyone, ["id", "city", "age"]), "trips": (connection.table("trips"), [])}
    ask = asked(named, "people")
    tried = hostile("duckdb")
    assert len(tried) > 250
    for sql in tried:
        with pytest.raises((PermissionError, ValueError)) as refusal:
            ask(sql)
        assert SECRET not in str(refusal.value).replace(sql, ""), sql
    answered, texts = {}, []
    pivots = statements(HIDDEN_IN_PIVOTS)
    for sql in (*statements(HIDDEN), *pivots):
        try:
            answered[sql] = ask(sql)
        except (PermissionError, ValueError) as problem:
            texts.append(str(problem).replace(sql, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in frame.to_csv() or "email" in frame] == []
    assert list(answered["SELECT * FROM people"].columns) == ["id", "city", "age"]
    assert 9 <= len(answered) - len(pivots[-2:]) <= 14, "those with a star"
    assert list(tmp_path.iterdir()) == []
    assert connection.execute("SELECT COUNT(*) FROM people").fetchall() == [(3,)]


def test_a_relation_over_frames_views_and_a_schema_in_use_is_asked_as_the_user_made_it(tmp_path: Path) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE kept AS SELECT 'main' AS place")
    connection.execute("CREATE SCHEMA other; CREATE TABLE other.kept AS SELECT 'other' AS place; USE other")
    connection.execute(f"COPY (SELECT 7 AS n) TO '{tmp_path}/n.parquet'")
    connection.execute(f"CREATE TEMP VIEW base AS FROM '{tmp_path}/n.parquet'")
    connection.execute("CREATE TEMP VIEW twice AS SELECT 2 * n AS n FROM base")
    frame = pd.DataFrame({"a": [1, 2]})
    for relation, expected in (
        (connection.table("kept"), [("other",)]),
        (connection.sql("SELECT n FROM twice"), [(14,)]),
        (connection.sql("SELECT SUM(a)::INT AS s FROM frame"), [(3,)]),
        (connection.from_df(frame), [(1,), (2,)]),
    ):
        found = asked({"own": (relation, ())}, "own")("SELECT * FROM own")
        assert [*found.itertuples(index=False, name=None)] == expected == relation.fetchall()
    connection.execute("CREATE TEMP TABLE short AS SELECT 1 AS a")
    for relation, said in (
        (connection.table("short"), "cannot be queried in place: DuckDB: .*short"),
        (connection.sql("SELECT a FROM frame WHERE a > ?", params=[1]), "cannot be queried in place: DuckDB"),
    ):
        with pytest.raises(UsageError, match=f"--vars own: it {said}"):
            LiveDatabases().find_all({"own": (relation, ())})


class BeforeTwo:
    """A relation of DuckDB 1, which does not tell its connection."""


BeforeTwo.__module__, BeforeTwo.__name__ = "_duckdb", "DuckDBPyRelation"


def test_a_relation_is_asked_where_it_lies_only_if_the_sandbox_cannot_open_it(tmp_path: Path) -> None:
    connection = duck()
    connection.execute(f"COPY trips TO '{tmp_path}/trips.parquet'")
    local = connection.read_parquet(f"{tmp_path}/trips.parquet")

    def selected(relation: Any, **options: Any) -> Any:
        values = {"trips": relation, "local": local}
        return select_variables(
            values, [], "", RunOptions(**options), always=(), max_bytes=1 << 20, ask=lambda *_: None
        )

    assert selected(local, variables=("trips",)).databases == {}
    table = connection.table("trips")
    assert selected(table, variables=("trips",)).databases == {"trips": ()}
    assert selected(local, variables=("trips", "local")).databases == {}
    assert selected(table, variables=("trips", "local")).databases == {"trips": (), "local": ()}, "to be joined"
    part = (("trips", ("zone", "km")),)
    assert selected(table, variables=("trips",), columns=part).databases == {"trips": ("zone", "km")}
    assert selected(local, variables=("trips",), columns=part).databases == {"trips": ("zone", "km")}
    with pytest.raises(VariableError, match="--sample would have to read"):
        selected(table, variables=("trips",), sample=10)
    with pytest.raises(UsageError, match="--vars old: before DuckDB 2 a relation does not tell its connection"):
        LiveDatabases().find("old", BeforeTwo(), [])
    with pytest.raises(UsageError, match="sql_tool: a DuckDBPyRelation is neither"):
        sql_tool(table)


# --- Ibis -------------------------------------------------------------------------------------------------

PROGRAMS = """
trips.count().execute()
trips.group_by("zone").agg(mean=trips.fare.mean(), n=trips.count()).order_by("zone").to_pandas()
trips.filter(_.km > 5).group_by("zone").aggregate(m=_.fare.sum()).order_by(ibis.desc("m")).limit(3).to_pandas()
trips.join(zones, "zone").group_by("city").agg(km=_.km.sum()).order_by("city").to_pandas()
trips.left_join(zones, "zone").filter(_.city.isnull()).count().execute()
trips.anti_join(zones, "zone").count().execute()
trips.filter(_.zone.isin(zones.zone)).count().execute()
trips.mutate(m=_.day.month()).group_by("m").agg(n=_.count()).order_by("m").to_pandas()
trips.mutate(d=_.day.truncate("M")).group_by("d").agg(f=_.fare.sum()).order_by("d").to_pandas()
trips.mutate(s=_.day.strftime("%Y-%m")).group_by("s").agg(n=_.count()).order_by("s").to_pandas()
trips.mutate(h=_.started.hour()).group_by("h").agg(n=_.count()).order_by("h").to_pandas()
trips.filter(_.day.between("2024-01-01", "2024-03-01")).count().execute()
trips.fare.mean().execute()
trips.fare.median().execute()
trips.fare.quantile(0.9).execute()
trips.zone.nunique().execute()
trips.fare.std().execute()
trips.group_by("zone").agg(sd=_.fare.std(), most=_.paid.mode()).order_by("zone").to_pandas()
trips.zone.value_counts().order_by("zone").to_pandas()
trips.zone.topk(3).to_pandas()
trips.select("zone", "km").distinct().order_by("zone", "km").head(5).to_pandas()
trips.mutate(r=ibis.row_number().over(group_by="zone", order_by=ibis.desc("fare"))).filter(_.r < 2).order_by("zone", "r").to_pandas()
trips.mutate(c=_.fare.sum().over(ibis.cumulative_window(order_by="id"))).order_by("id").head(3).to_pandas()
trips.group_by("zone").mutate(prev=_.fare.lag(1)).order_by("id").head(4).to_pandas()
trips.mutate(q=ibis.ntile(4).over(order_by="fare")).group_by("q").agg(n=_.count()).order_by("q").to_pandas()
trips.mutate(share=_.fare / _.fare.sum()).order_by("id").head(3).to_pandas()
trips.group_by("zone").agg(p=(_.paid == "card").mean()).order_by("zone").to_pandas()
trips.group_by("zone").having(_.count() > 5).agg(m=_.km.mean()).order_by("zone").to_pandas()
trips.mutate(far=ibis.cases((_.km > 10, "far"), else_="near")).group_by("far").agg(n=_.count()).order_by("far").to_pandas()
trips.mutate(big=(_.km > 10).ifelse(1, 0)).big.sum().execute()
trips.km.bucket([0, 5, 10, 100]).name("b").value_counts().order_by("b").to_pandas()
trips.fill_null({"rider": "none"}).group_by("rider").agg(n=_.count()).order_by("rider").head(5).to_pandas()
trips.drop_null().count().execute()
trips.filter(_.rider.like("%a%")).count().execute()
trips.rider.length().mean().execute()
trips.union(trips).count().execute()
trips.filter(_.fare == _.fare.max()).order_by("id").to_pandas()
trips.pivot_wider(names_from="paid", values_from="fare", values_agg="mean", id_cols="zone", names=["card", "cash"]).order_by("zone").to_pandas()
trips.aggregate([trips.fare.min().name("a"), trips.fare.max().name("b")]).to_pandas()
trips.order_by(ibis.desc("fare"), "id").head(5).to_pandas()
trips.order_by("id").head(5).km.to_pandas()
trips.order_by("id").head(5).to_pyarrow().to_pandas()
trips.order_by("id").head(5).select("id", "zone", "km").to_polars().to_pandas()
"""  # noqa: E501  (a program a line)


@pytest.mark.parametrize("backend", ["duckdb", "sqlite"])
def test_code_of_the_sandbox_gives_the_same_frame_on_the_tables_of_ibis_themselves(backend: str) -> None:
    own = of_ibis(backend)
    given = stand_ins(of(own))
    answered = 0
    for program in PROGRAMS.strip().splitlines():
        names = {"ibis": ibis, "_": ibis._}
        try:
            wanted = eval(program, names | own)
        except ibis.common.exceptions.OperationNotDefinedError:
            continue  # SQLite has no quantile
        found = eval(program, names | given)
        answered += 1
        if isinstance(wanted, pd.DataFrame):
            assert_frame_equal(found, wanted)
        elif isinstance(wanted, pd.Series):
            assert_series_equal(found, wanted)
        else:
            assert found == pytest.approx(wanted, rel=1e-12), program
    assert answered >= {"duckdb": 43, "sqlite": 41}[backend]


@pytest.mark.parametrize("backend", ["duckdb", "sqlite"])
def test_derived_tables_of_ibis_are_asked_as_they_are_and_nothing_is_left_in_the_database(
    backend: str, tmp_path: Path
) -> None:
    own = of_ibis(backend)
    connection = own["zones"].get_backend().con
    trips, zones = own["trips"], own["zones"]
    derived = {
        "trips": trips.filter(trips.km > 1).mutate(twice=trips.km * 2),
        "zones": zones.filter(zones.area > 5),
        "both": trips.join(zones, "zone").group_by("city").agg(km=trips.km.sum()),
    }
    given = stand_ins(of(derived))
    for program in (
        "trips.join(zones, 'zone').aggregate(n=ibis._.count(), t=ibis._.twice.max()).to_pandas()",
        "both.order_by('city').to_pandas()",
        "both.join(zones, 'city').order_by('city', 'zone').to_pandas()",
    ):
        assert_frame_equal(eval(program, {"ibis": ibis} | given), eval(program, {"ibis": ibis} | derived))
    named = "duckdb_views() WHERE NOT internal" if backend == "duckdb" else "sqlite_temp_master"
    assert connection.execute(f"SELECT COUNT(*) FROM {named}").fetchall() == [(0,)]
    if backend == "duckdb":
        TRIPS.to_parquet(tmp_path / "trips.parquet")
        read = {"read": ibis.read_parquet(tmp_path / "trips.parquet")}
        counted = "read.aggregate(n=read.count(), km=read.km.sum()).to_pandas()"
        assert_frame_equal(eval(counted, stand_ins(of(read))), eval(counted, {**read}))


@pytest.mark.parametrize("backend", ["duckdb", "sqlite"])
def test_no_hostile_statement_gets_anything_out_of_a_table_of_ibis(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code of the sandbox may send any text, not only what Ibis compiles."""
    monkeypatch.chdir(tmp_path)
    if backend == "duckdb":
        connection = ibis.duckdb.from_connection(filled(duckdb.connect()))
        connection.con.create_function("told", lambda text: f"{SECRET} {text}", [str], str)
    else:
        connection = ibis.sqlite.connect()
        filled(connection.con).create_function("told", 1, lambda text: f"{SECRET} {text}")
    people = connection.table("people")
    people = people.union(people.filter(people.id < 0)).mutate(city=ibis._.city.upper())  # with a WITH of its own
    named: Named = {"people": (people, ["id", "city", "age"]), "trips": (connection.table("trips"), [])}
    ask = asked(named, "people")

    def forms(sql: str) -> list[str]:
        """As it is, where `people` is the table of the database, and with the names that Ibis sends."""
        in_braces = [sql]
        for name in ("people", "trips"):
            in_braces = [text.replace(f"{name}.", f'"{{{name}}}".') for text in in_braces]
            in_braces = [text.replace(f" {name}", f' "{{{name}}}"') for text in in_braces]
        return [sql, *in_braces]

    tried = [one for sql in hostile(backend) for one in forms(sql)]
    assert len(tried) > 450
    for sql in tried:
        with pytest.raises((PermissionError, ValueError)) as refusal:
            ask(sql)
        assert SECRET not in str(refusal.value).replace(sql, ""), sql
    answered, texts = {}, []
    for sql in (one for hidden in statements(HIDDEN) for one in forms(hidden)):
        try:
            answered[sql] = ask(sql)
        except (PermissionError, ValueError) as problem:
            texts.append(str(problem).replace(sql, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in frame.to_csv() or "email" in frame] == []
    assert 9 <= len(answered) <= 14, "those with a star"
    given = stand_ins(named)["people"]
    assert [*given.columns] == [*given.to_pandas().columns] == ["id", "city", "age"]
    with pytest.raises(AttributeError, match="email"):
        given.order_by(given.email)
    assert list(tmp_path.iterdir()) == []


def test_behind_the_sql_check_sqlite_is_asked_who_reads_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the SQL check had read a statement otherwise than SQLite does."""
    connection = ibis.sqlite.connect()
    filled(connection.con)
    people = connection.table("people")
    ask = asked({"people": (people.filter(people.age.std() > 0), ["id", "city", "age"])}, "people")
    assert ask('SELECT COUNT(*) AS n FROM "{people}"')["n"].tolist() == [3], "functions of Ibis in the user's own"
    waved = "jupyter_codeagent.tools.databases.table_sharing.SharedTables.check"
    monkeypatch.setattr(waved, lambda self, statement: None)
    for sql in ("SELECT email FROM people", "SELECT word FROM secrets", "SELECT email FROM letters"):
        with pytest.raises((PermissionError, ValueError, sqlite3.Error), match=r"prohibited|not authorized"):
            ask(sql)


def test_what_ibis_cannot_ask_ends_in_one_line() -> None:
    given = stand_ins(of(of_ibis("duckdb")))
    frame = ibis.memtable({"zone": ["A"]})
    for expression, said in (
        ("trips.join(frame, 'zone').to_pandas()", "only tables of the user's can be asked together"),
        ("trips.alias('t').sql('SELECT 1 FROM t')", "no connection is here. Write methods of the Ibis table"),
        ("trips.get_backend().list_tables()", "no connection is here"),
        ("trips.missing", "missing"),
    ):
        with pytest.raises((TypeError, AttributeError), match=said):
            eval(expression, {"frame": frame, **given})
    elsewhere = of_ibis("duckdb")["zones"]
    given = stand_ins(of({"trips": of_ibis("duckdb")["trips"], "zones": elsewhere}))
    with pytest.raises(PermissionError, match=r"there is no table '\{zones\}'; tables: \{trips\}"):
        given["trips"].join(given["zones"], "zone").to_pandas()
    made = create_database(lambda *_: None, "trips", "", "ibis_nothing", ())
    with pytest.raises(AttributeError, match="Ibis cannot be loaded here: No module named"):
        made.count()


class OverPostgres:
    """A table of Ibis over a server."""

    def get_backend(self) -> Any:
        return type("Backend", (), {"name": "postgres"})()


OverPostgres.__module__, OverPostgres.__name__ = "ibis.expr.types.relations", "Table"


def test_tables_of_ibis_over_others_and_over_frames_in_memory_say_what_to_do() -> None:
    with pytest.raises(UsageError, match="--vars t: an Ibis table is queried in place over DuckDB or"):
        LiveDatabases().find("t", OverPostgres(), [])
    with pytest.raises(UsageError, match=r"--vars t: it cannot be queried in place: DuckDB: .*memtable"):
        LiveDatabases().find("t", ibis.memtable({"a": [1]}), [])
    with pytest.raises(UsageError, match=r"--vars t: .*has no column 'nothing'; it has zone, city, area"):
        LiveDatabases().find("t", of_ibis("sqlite")["zones"], ["nothing"])


# --- both -------------------------------------------------------------------------------------------------


def test_what_the_user_made_is_not_run_to_describe_it() -> None:
    calls: list[int] = []

    def seen(n: int) -> int:
        calls.append(n)
        return n

    connection = duck()
    connection.create_function("seen", seen, ["BIGINT"], "BIGINT")
    relation = connection.sql("SELECT seen(id) AS id, zone FROM trips")
    over = ibis.duckdb.from_connection(connection)
    connection.execute("CREATE VIEW watched AS SELECT seen(id) AS id, zone FROM trips")
    table = over.table("watched")
    lite = ibis.sqlite.connect()
    lite.con.execute("CREATE TABLE t AS SELECT 1 AS id")
    lite.con.create_function("seen", 1, seen)
    lite.con.execute("CREATE VIEW watched AS SELECT seen(id) AS id FROM t")
    named = of({"relation": relation, "table": table, "lite": lite.table("watched")})
    calls.clear()  # Ibis looks into a view of SQLite for its types
    found = LiveDatabases().find_all(named)
    assert "zone VARCHAR" in found["relation"].headline
    assert "zone string" in found["table"].headline
    assert calls == []
    assert len(found["relation"].tool.function("SELECT COUNT(id) AS n FROM relation WHERE id >= 0")) == 1
    assert len(calls) >= ROWS, "when it is asked"


def test_the_model_is_told_columns_and_how_to_ask() -> None:
    databases = LiveDatabases()
    found = databases.find_all({name: (one, ["zone"]) for name, one in relations().items()})
    assert found["trips"].headline == (
        "trips: DuckDB database, not copied, with the tables trips (zone VARCHAR). Tables join on zone (trips, "
        'zones). Ask it in SQL of DuckDB, which gives a DataFrame: trips.query("trips", """SELECT COUNT(*) AS n '
        'FROM trips""").df()'
    )
    assert found["trips"].tool.stub.policy == "auto"
    values = of_ibis("duckdb")
    named: Named = {"trips": (values["trips"], ["zone", "km"]), "zones": (values["zones"], [])}
    told = databases.find_all(named)["trips"]
    assert told.headline == (
        "trips: Ibis table over DuckDB, not copied, with the columns zone string, km float64. Tables join on zone "
        "(trips, zones). Ask it by Ibis, whose to_pandas() gives a DataFrame: "
        "trips.aggregate(n=trips.count()).to_pandas()"
    )
    assert databases.find_all(named)["trips"].tool.function is told.tool.function, "a yes for all stays one"
    unnamed: Named = {"grouped": (duckdb.sql("SELECT 'Oslo' || 'x', count(*) FILTER (WHERE 1 > 471) AS n"), [])}
    assert "Oslo" in databases.find_all(unnamed, "stats")["grouped"].headline
    assert "the tables grouped (*** VARCHAR, n BIGINT)" in databases.find_all(unnamed, "schema")["grouped"].headline
    estimate = told.tool.estimate
    assert estimate is not None
    assert "expects about 2,000 rows" in estimate('SELECT SUM(km) AS s FROM "{trips}"')
    assert told.tool.function('SELECT SUM(km) AS s FROM "{trips}"').attrs == {ROWS_SCANNED: ROWS}
    duckdb_only = duckdb.connect()
    remote = duckdb_only.sql("SELECT 's3://bucket/x' AS place")
    assert databases.find("remote", remote, []).tool.stub.policy == "ask", "what it reads others may serve"


def test_rows_end_at_their_limits_and_a_stop_ends_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = asked(of(relations()), "trips")
    for limit, value in (("MAX_ROWS", 1000), ("MAX_BYTES", 10_000)):
        with monkeypatch.context() as patched:
            patched.setattr(rows, limit, value)
            with pytest.raises(ValueError, match="aggregate"):
                ask("SELECT * FROM trips")
    many = asked({"many": (duckdb.connect().sql("SELECT range AS n FROM range(1000000)"), ())}, "many")
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ended_by_signals("many", 30):
        many("SELECT COUNT(*) FROM many a JOIN many b ON hash(a.n) % 7 = hash(b.n) % 7")
    assert time.monotonic() - started < 5
