"""Databases that a question names: asked where they lie, and the accepted cell asks them itself."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

OPEN = """
import duckdb, sqlite3, sqlalchemy
ROWS = [("Oslo", 1, "a"), ("Rome", 2, "b"), ("Oslo", 4, "c")]
duck = duckdb.connect()
lite = sqlite3.connect("trips.db")
for _connection in (duck, lite):
    _connection.execute("CREATE TABLE trips (city TEXT, n INTEGER, email TEXT)")
    _connection.executemany("INSERT INTO trips VALUES (?, ?, ?)", ROWS)
    _connection.execute("CREATE TABLE cities AS SELECT 'Oslo' AS city, 'NO' AS country")
    _connection.commit() if _connection is lite else None
engine = sqlalchemy.create_engine("sqlite:///trips.db")
"""
SQL = "SELECT t.city, country, AVG(n) AS mean FROM trips t LEFT JOIN cities c ON c.city = t.city GROUP BY ALL"
SQL = SQL.replace("GROUP BY ALL", "GROUP BY t.city, country ORDER BY t.city")
ASKED = {
    "duck": f'found = duck.sql("{SQL}").df()\nprint(found.to_csv(index=False))',
    "lite": f'found = pd.read_sql("{SQL}", lite)\nprint(found.to_csv(index=False))',
    "engine": f'with engine.connect() as opened:\n    found = pd.read_sql("{SQL}", opened)\n'
    "print(found.to_csv(index=False))",
}
LAZY = """
import polars as pl
lazy = pl.LazyFrame({"city": ["Oslo", "Rome", "Oslo"], "n": [1, 2, 4], "email": ["a", "b", "c"]})
lazy = lazy.with_columns(pl.col("n").map_batches(lambda n: n))
_session = get_ipython().magics_manager.registry['AgentMagics'].session
from jupyter_codeagent.tools.grants import grant_of
_session.grants.add([grant_of(_session.tools.databases.find("lazy", lazy, ["city", "n"]).tool)])
"""
OF_LAZY = """
found = lazy.sql("SELECT city, AVG(n) AS mean FROM self GROUP BY city ORDER BY city").collect()
print(found.write_csv())
"""
OWN = """
import ibis
ran = []
duck.create_function("seen", lambda n: ran.append(n) or n, ["BIGINT"], "BIGINT")
relation = duck.sql("SELECT city, seen(n) AS n, email FROM trips WHERE n > 0")
countries = duck.table("cities")
over_duckdb = ibis.duckdb.connect()  # which ends looking for variables on its connection
over_duckdb.con.execute("CREATE TABLE trips (city TEXT, n INTEGER, email TEXT)")
over_duckdb.con.executemany("INSERT INTO trips VALUES (?, ?, ?)", ROWS)
over_duckdb.con.execute("CREATE TABLE cities AS SELECT 'Oslo' AS city, 'NO' AS country")
table = over_duckdb.table("trips").filter(ibis._.n > 0)
cities = over_duckdb.table("cities")
over_sqlite = ibis.sqlite.connect("trips.db")
trips = over_sqlite.table("trips")
places = over_sqlite.table("cities")
"""
IN_IBIS = (
    'found = {0}.left_join({1}, "city").group_by("city", "country").agg(mean={0}.n.mean()).order_by("city")\n'
    "print(found.to_pandas().to_csv(index=False))"
)
OWN_ASKED = {
    ("relation", "relation[city,n],countries"): (
        f"found = relation.query('relation', {SQL.replace('trips', 'relation').replace('cities', 'countries')!r})\n"
        "print(found.df().to_csv(index=False))"
    ),
    ("table", "table[city,n],cities"): IN_IBIS.format("table", "cities"),
    ("trips", "trips[city,n],places"): IN_IBIS.format("trips", "places"),
}
LEFT = """
views = "SELECT view_name FROM duckdb_views() WHERE NOT internal"
found = [*duck.execute(views).fetchall(), *over_duckdb.con.execute(views).fetchall()]
print(found, over_sqlite.con.execute("SELECT name FROM sqlite_temp_master").fetchall())
"""
RESULT = "city,country,mean\nOslo,NO,2.5\nRome,,2.0"


def record(kernel: Kernel, prompt: str, options: str) -> dict[str, Any]:
    text = kernel.ask(prompt, f"--json --approve auto {options}").text
    found: dict[str, Any] = json.loads(next((line for line in text.splitlines() if line.startswith("{")), "{}"))
    assert found, text
    return found


def test_a_database_is_asked_where_it_lies_and_the_accepted_cell_asks_it_itself_with_the_same_figures(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(OPEN)
    for name, program in ASKED.items():
        model_server.script(code(program))
        run = record(kernel, "Mean n by city and country?", f"--new --vars '{name}[trips.city,trips.n,cities]'")
        assert json.dumps(RESULT)[1:-1] in json.dumps(run["outputs"])
        [call] = run["steps"][0]["result"]["calls"]
        read = ", 4 rows scanned" if name == "duck" else ""
        assert (call["tool"], call["status"], call["result"]) == (name, "ok", f"DataFrame 2x3{read}")
        assert SQL in call["call"], "the record names the query"
        assert run["verdict"]["level"] == "look", "what a query did to rows is not counted"
        returned = r"4 rows scanned in \d+\.\d s, 2 returned" if read else r"2 rows in \d+\.\d s"
        asked = re.compile(rf"asked {name}: 1 query, {returned}")
        assert any(map(asked.fullmatch, run["notes"])), run["notes"]
        told = model_server.requests[-1]["messages"][-1]["content"]
        assert f"{name}: " in told
        assert "email" not in json.dumps(model_server.requests)
        assert RESULT in kernel.run(program).text, "the accepted cell, in the kernel of the user"
    model_server.script(code('print(duck.sql("SELECT MAX(n) AS top FROM trips").df())'))
    kernel.ask("Mean n?", "--new --vars 'duck[trips.n]' --approve auto")
    model_server.script(code('print(duck.sql("SELECT MIN(n) AS least FROM trips").df())'))
    run = record(kernel, "And the least?", "")
    assert [call["status"] for call in run["steps"][0]["result"]["calls"]] == ["ok"], "a follow-up asks it again"
    assert "city" not in model_server.requests[-1]["messages"][-1]["content"], "of the tables and columns named"
    kernel.run("%config CodeAgent.tools = 'ask'")
    model_server.script(code("print(1)"))
    kernel.ask("Mean n?", "--new --vars 'duck[trips.n]' --approve auto")
    model_server.script(code("print(2)"))
    kernel.ask("And the least?", "--approve auto")
    told = model_server.requests[-1]["messages"][-1]["content"]
    assert "duck: " in told, "a follow-up, also where each query is asked for"
    kernel.run("%config CodeAgent.tools = 'auto'")
    kernel.run(LAZY)
    model_server.script(code(OF_LAZY))
    run = record(kernel, "Mean n by city?", "--new --vars 'lazy[city,n]'")
    assert json.dumps("city,mean\nOslo,2.5\nRome,2.0")[1:-1] in json.dumps(run["outputs"])
    assert any(note.startswith("asked lazy: 1 query, 2 rows in ") for note in run["notes"]), run["notes"]
    assert "email" not in json.dumps(model_server.requests)
    assert "Oslo,2.5\nRome,2.0" in kernel.run(OF_LAZY).text
    kernel.run("people = pl.DataFrame({'city': ['Oslo'], 'wage': [71234]})")
    kernel.run("paid = people.lazy().with_columns(pl.col('wage').map_batches(lambda n: n))")
    kernel.run("%agent hide people[wage]")
    refused = kernel.ask("Mean wage?", "--new --vars paid").error
    assert "'paid' cannot be queried: it is a polars LazyFrame of 'wage', which is hidden in 'people'" in refused
    model_server.script(code('print(duck.sql("SELECT email FROM trips").df())'), code("print(1)"))
    run = record(kernel, "Which mails?", "--new --vars 'duck[trips.city,trips.n]'")
    error = run["steps"][0]["result"]["error"]
    assert (error["ename"], error["evalue"].count("\n")) == ("ValueError", 0)
    assert run["steps"][0]["result"]["calls"][0]["status"] == "failed"


def test_a_table_of_ibis_and_a_relation_are_asked_where_they_lie_and_the_accepted_cell_gives_the_same_figures(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(OPEN)
    kernel.run(OWN)
    for (name, options), program in OWN_ASKED.items():
        kernel.run("ran.clear()")
        shown = kernel.ask("Mean n by city?", f"--dry-run --vars '{options}'").text
        assert "[]" in kernel.run("print(ran)").text, "what the user made is not run to describe it"
        assert f"{name}: not copied; the code would query it in your kernel" in shown
        model_server.script(code(program))
        run = record(kernel, "Mean n by city and country?", f"--new --vars '{options}'")
        assert json.dumps(RESULT)[1:-1] in json.dumps(run["outputs"]), run["steps"]
        assert [call["status"] for call in run["steps"][0]["result"]["calls"]] == ["ok"]
        assert run["verdict"]["level"] == "look"
        assert any(note.startswith(f"asked {name}: 1 query") for note in run["notes"]), run["notes"]
        assert "email" not in json.dumps(model_server.requests)
        assert RESULT in kernel.run(program).text, "the accepted cell, in the kernel of the user"
    assert "[] []" in kernel.run(LEFT).text
    sampled = "print(table.shape)"
    model_server.script(code(sampled))
    assert "(2, 3)" in json.dumps(record(kernel, "How many?", "--new --vars table --sample 2")["outputs"])


@pytest.mark.long("another situation of what the test above proves")
def test_a_dry_run_names_the_tables_and_sends_no_query_and_what_cannot_be_asked_is_one_line(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(OPEN)
    kernel.run("asked = []\nlite.set_trace_callback(asked.append)")
    shown = kernel.ask("Mean n by city?", "--dry-run --vars lite").text
    assert (
        "lite: SQLite database, not copied, with the tables trips (city TEXT, n INTEGER, email TEXT); cities"
        in shown
    )
    assert "lite: not copied; the code would query it in your kernel" in shown
    assert "[]" in kernel.run("print([one for one in asked if 'trips' in one and '_xinfo' not in one])").text
    assert "a dry run asks no database" in kernel.ask("Mean n?", "--dry-run --vars engine").text
    for options, said in (
        ("--vars lite[nothing]", "--vars lite: 'nothing': there is no such table"),
        ("--vars lite --sample 10", "leave --sample and --where out"),
        ("--vars lite --candidates 3", "leave --candidates out"),
    ):
        assert said in kernel.ask("Mean n?", options).error
    assert not model_server.requests
