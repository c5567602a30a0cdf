"""What code asks of shared tables: hostile statements do not get through, ordinary ones give what pandas gives."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy
from hostile_sql import HIDDEN, HIDDEN_IN_PIVOTS, SECRET, SHARED, hostile, statements

from jupyter_codeagent.tools.databases.table_sharing import SharedTable, SharedTables, checked_statement
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.sql import sql_tool
from jupyter_codeagent.types.errors import UsageError

PEOPLE = [(1, "Oslo", 30, f"{SECRET}1"), (2, "Rome", 40, f"{SECRET}2"), (3, "Oslo", 50, f"{SECRET}3")]
TRIPS = [("Oslo", 1, "2024-01-01"), ("Rome", 2, "2024-02-01"), ("Oslo", 4, "2024-03-01")]
VISIBLE = {"people": ("id", "city", "age"), "trips": ("city", "n", "day")}
STATEMENTS = (
    "CREATE TABLE people (id INTEGER, city TEXT, age INTEGER, email TEXT)",
    "CREATE TABLE trips (city TEXT, n INTEGER, day DATE)",
    "CREATE TABLE secrets (word TEXT)",
    f"INSERT INTO secrets VALUES ('{SECRET}')",
    "CREATE VIEW letters AS SELECT email FROM people",
    "CREATE VIEW adults AS SELECT id, city, email FROM people WHERE age > 30",
)
Query = Callable[[str], pd.DataFrame]


@pytest.fixture(autouse=True, scope="module")
def _empty_registry() -> Iterator[None]:
    yield
    for name in REGISTRY.tools():
        REGISTRY.remove(name)


def filled(connection: Any) -> Any:
    for statement in STATEMENTS:
        connection.execute(statement)
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", PEOPLE)
    connection.executemany("INSERT INTO trips VALUES (?, ?, ?)", TRIPS)
    return connection


def sqlite_file(folder: Path) -> Any:
    connection = filled(sqlite3.connect(folder / "all.db", check_same_thread=False))
    connection.create_function("told", 1, lambda text: f"{SECRET} {text}")
    connection.create_collation("told", lambda one, other: pytest.fail("the user's code was run"))
    connection.commit()
    return connection


def sqlite_engine(folder: Path) -> Any:
    sqlite_file(folder).close()
    return sqlalchemy.create_engine(f"sqlite:///{folder / 'all.db'}")


def duck(_: Path) -> Any:
    connection = filled(duckdb.connect())
    connection.create_function("told", lambda text: f"{SECRET} {text}", [str], str)
    connection.execute("CREATE SEQUENCE numbers")
    connection.execute("CREATE MACRO of_people() AS (SELECT max(email) FROM people)")
    connection.execute("CREATE MACRO of_table() AS TABLE SELECT email FROM people")
    return connection


CONNECT = {"sqlite": sqlite_file, "duckdb": duck}


@pytest.fixture(scope="module", params=[*CONNECT])
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any, Query]:
    connection = CONNECT[request.param](tmp_path_factory.mktemp(request.param))
    query = sql_tool(connection, policy="auto", tables=SHARED, timeout_s=20, name=f"ask_{request.param}")
    return request.param, connection, query


def tables_of(dialect: str) -> SharedTables:
    return SharedTables(
        dialect=dialect,
        by_name={
            name: SharedTable(name=name, source=("main", name), columns=columns)
            for name, columns in VISIBLE.items()
        },
    )


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql", "mysql", "mariadb", "spark", "polars"])
def test_no_hostile_statement_gets_through_the_tables_of(dialect: str) -> None:
    tried = hostile(dialect)
    assert len(tried) > 190
    through = []
    for sql in tried:
        with suppress(PermissionError):
            through.append(checked_statement(sql, dialect, tables_of(dialect)).text)
    assert through == []


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgresql", "mysql", "mariadb", "spark"])
def test_what_reaches_for_a_hidden_column_is_run_on_tables_that_do_not_have_it(dialect: str) -> None:
    assert len(statements(HIDDEN)) > 40
    for sql in statements(HIDDEN):
        text = tables_of(dialect).narrowed(checked_statement(sql, dialect, tables_of(dialect)))
        quote = "`" if dialect in ("mysql", "mariadb", "spark") else '"'
        assert text.startswith("WITH")
        sources = text.count(f"FROM {quote}main{quote}.")
        assert sources == sum(f"{quote}{name}{quote} AS" in text for name in VISIBLE), text
        assert f"{quote}email{quote}" not in text


def test_a_hidden_column_does_not_exist_for_a_query(shared: tuple[str, Any, Query]) -> None:
    dialect, _, query = shared
    answered, texts = {}, []
    pivots = statements(HIDDEN_IN_PIVOTS) if dialect == "duckdb" else []
    for sql in (*statements(HIDDEN), *pivots):
        try:
            answered[sql] = query(sql)
        except (PermissionError, sqlite3.Error, duckdb.Error) as problem:
            texts.append(str(problem).replace(sql, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in frame.to_csv() or "email" in frame] == []
    assert list(answered["SELECT * FROM people"].columns) == ["id", "city", "age"]
    assert [sql for sql in pivots if sql in answered] == pivots[-2:]
    assert 9 <= len(answered) - len(pivots[-2:]) <= 14, "those with a star"


def test_no_hostile_statement_gets_anything_out_of_a_database(
    shared: tuple[str, Any, Query], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect, connection, query = shared
    monkeypatch.chdir(tmp_path)
    for sql in hostile(dialect):
        with pytest.raises((PermissionError, sqlite3.Error, duckdb.Error)) as refusal:
            query(sql)
        assert SECRET not in str(refusal.value).replace(sql, ""), sql
    assert connection.execute("SELECT count(*) FROM trips").fetchone() == (3,)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_behind_the_sql_check_the_database_refuses_other_tables_and_columns_itself(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the SQL check had read a statement otherwise than the database does."""
    module = f"jupyter_codeagent.tools.databases.{kind}"

    def waved_through(sql: str, dialect: str, shared: SharedTables | None, **_: Any) -> Any:
        known = checked_statement("SELECT 1", dialect, shared)
        return type(known)(**{**vars(known), "text": sql})

    query = sql_tool(CONNECT[kind](tmp_path), policy="auto", tables=SHARED)
    monkeypatch.setattr(f"{module}.checked_statement", waved_through)
    for sql in (
        "SELECT word FROM secrets",
        "SELECT max(email) FROM main.people",
        "SELECT city FROM main.people ORDER BY email",
        "SELECT 1 WHERE 'x' IN (SELECT word FROM secrets)",
        "SELECT * FROM letters",
        "SELECT * FROM adults",
        "WITH secrets AS (SELECT 1) SELECT * FROM main.secrets",
        "SELECT * FROM sqlite_master",
        "SELECT told('x')",
    ):
        with pytest.raises((PermissionError, sqlite3.Error, duckdb.Error)):
            query(sql)


@pytest.mark.parametrize("connect", [sqlite_file, sqlite_engine, duck])
@pytest.mark.parametrize("policy", ["ask", "auto"])
def test_tables_and_columns_that_are_not_shared_do_not_exist_whatever_the_policy(
    connect: Callable[[Path], Any], policy: Any, tmp_path: Path
) -> None:
    query = sql_tool(connect(tmp_path), policy=policy, tables={"people": ["city", "Age"], "ADULTS": ["id", "city"]})
    assert query.__doc__ == "Rows of one SELECT. Tables: people(city, age), adults(id, city)"
    assert query("SELECT * FROM people ORDER BY age").to_dict("list") == {
        "city": ["Oslo", "Rome", "Oslo"],
        "age": [30, 40, 50],
    }
    joined = query("WITH a AS (SELECT * FROM adults) SELECT * FROM a JOIN People p USING (city) ORDER BY id, age")
    assert joined.columns.tolist() == ["id", "city", "age"]
    assert len(joined) == 3
    for sql in (
        "SELECT email FROM adults",
        "SELECT id FROM people",
        "SELECT * FROM trips",
        "SELECT * FROM letters",
    ):
        with pytest.raises(Exception, match=r"no table|no such column|not found"):
            query(sql)


@pytest.mark.parametrize("connect", [sqlite_file, sqlite_engine, duck])
def test_tables_that_cannot_be_shared_are_named_when_the_function_is_made(
    connect: Callable[[Path], Any], tmp_path: Path
) -> None:
    connection = connect(tmp_path)
    for tables, said in (
        (["nothing"], "tables='nothing': there is no such table"),
        ({"people": ["mail"]}, "tables='people' has no column 'mail'; it has id, city, age, email"),
        ({"people": []}, "give a list of columns, or None for all"),
        ({"people": "city"}, "give a list of columns, or None for all"),
        (["people", "main.people"], "people is there twice"),
        ([], "give names"),
        ("people", "give names"),
        (["sqlite_master"], "there is no such table"),
        (["a.b.c.people"], "there is no such table"),
    ):
        with pytest.raises(UsageError, match=said):
            sql_tool(connection, tables=tables)
    with pytest.raises(UsageError, match="tables= is for reading"):
        sql_tool(connection, tables=["people"], allow_writes=True)


def test_tables_of_schemas_are_shared_by_their_whole_names(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    connection.execute("CREATE SCHEMA sales; CREATE TABLE sales.people AS SELECT 7 AS id, 'x' AS email")
    with pytest.raises(UsageError, match="2 tables have this name; write schema"):
        sql_tool(connection, tables=["people"])
    query = sql_tool(connection, policy="auto", tables={"sales.people": ["id"]})
    assert query("SELECT * FROM people")["id"].tolist() == [7]
    attached = sqlite_file(tmp_path)
    attached.execute("ATTACH ':memory:' AS other")
    attached.execute("CREATE TABLE other.people (id)")
    with pytest.raises(UsageError, match="2 tables have this name"):
        sql_tool(attached, tables=["people"])
    assert sql_tool(attached, policy="auto", tables=["other.people"])("SELECT * FROM people").empty


def test_a_column_that_comes_later_is_not_shared(tmp_path: Path) -> None:
    connection = duck(tmp_path)
    query = sql_tool(connection, policy="auto", tables=["trips"])
    connection.execute("ALTER TABLE trips ADD COLUMN secret TEXT DEFAULT 's3cret'")
    assert query("SELECT * FROM trips").columns.tolist() == ["city", "n", "day"]


@pytest.mark.parametrize("connect", [sqlite_file, sqlite_engine, duck])
def test_without_sqlglot_no_query_runs_unasked_or_on_shared_tables_and_asked_ones_do(
    connect: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(tmp_path)
    monkeypatch.setattr("jupyter_codeagent.tools.databases.statements.is_available", lambda: False)
    for options in ({"policy": "auto"}, {"tables": ["trips"]}):
        with pytest.raises(UsageError, match="sqlglot is missing: `pip install sqlglot`"):
            sql_tool(connection, **options)
    assert len(sql_tool(connection)("SELECT * FROM trips")) == 3
