"""LazyFrames that the sandbox cannot open: code asks them by SQL of Polars, and gets nothing else."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from database_programs import TRIPS, programs_of, same
from hostile_sql import HIDDEN, SECRET, hostile, statements
from polars.testing import assert_frame_equal

from jupyter_codeagent.sandbox.guest.databases import create_database
from jupyter_codeagent.session.variable_selection import select_variables
from jupyter_codeagent.tools.databases import rows
from jupyter_codeagent.tools.live_databases import LiveDatabases
from jupyter_codeagent.tools.timeouts import ended_by_signals
from jupyter_codeagent.types.errors import UsageError, VariableError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.variables import VariableSummary

PEOPLE = pl.LazyFrame(
    {
        "id": [1, 2, 3],
        "city": ["Oslo", "Rome", "Oslo"],
        "age": [30, 40, 50],
        "email": [f"{SECRET}1", f"{SECRET}2", f"{SECRET}3"],
    }
)


def trips() -> pl.LazyFrame:
    return (
        pl.from_pandas(TRIPS)
        .lazy()
        .with_columns(
            pl.col("day").str.to_date(),
            pl.col("started").str.to_datetime(),
            pl.col("fare").map_batches(lambda fare: fare),
        )
    )


def asked(frame: pl.LazyFrame, *labels: str) -> Callable[[str], Any]:
    function: Callable[[str], Any] = LiveDatabases().find("trips", frame, labels).tool.function
    return function


def test_a_query_of_a_lazy_frame_gives_the_figures_of_the_same_program_on_a_copy_in_pandas() -> None:
    ask = asked(trips())
    programs = [*programs_of("polars")]
    assert len({sql for _, sql, _ in programs}) >= 95
    for question, sql, program in programs:
        assert same(ask(sql).to_pandas(), program()), f"{question} {sql}"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "SUM(km) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING)",
            "Polars: SUM with window frame 'ROWS",
        ),
        ("PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY km)", "percentile_cont() is not allowed here"),
        ("LAG(fare) IGNORE NULLS OVER (ORDER BY id)", "Polars: 'IGNORE|RESPECT NULLS' is not currently supported"),
        ("COUNT(DISTINCT zone, paid)", "Polars: no function matches the given name and arguments: `COUNT(DISTINCT"),
        ("MODE() WITHIN GROUP (ORDER BY paid)", "mode() is not allowed here"),
    ],
)
def test_what_polars_cannot_do_ends_in_one_line_that_names_the_operation(sql: str, said: str) -> None:
    with pytest.raises((PermissionError, ValueError)) as raised:
        asked(trips())(f"SELECT {sql} FROM self")
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)


def test_code_of_the_sandbox_gives_the_same_frame_on_the_lazy_frame_itself() -> None:
    tool = LiveDatabases().find("trips", trips(), []).tool
    stand_in: Any = create_database(lambda _, given: tool.function(**given), "trips", tool.stub.doc, tool.stub.kind)
    for sql in (
        "SELECT zone, AVG(fare) AS mean, COUNT(*) AS n FROM self GROUP BY zone ORDER BY zone",
        "SELECT * FROM self WHERE km > 25 ORDER BY id LIMIT 20",
    ):
        assert_frame_equal(stand_in.sql(sql).collect(), trips().sql(sql).collect())
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: stand_in.group_by("zone"), r"Write trips.sql\(.*collect\(\); tables: self"),
        (lambda: stand_in.sql("SELECT 1", table_name="x"), "leave table_name out"),
        (lambda: stand_in.sql("SELECT 1").filter(), "no 'filter' before they are collected"),
        (lambda: stand_in.sql("SELECT 1 FROM trips"), "there is no table 'trips'; tables: self"),
        (lambda: stand_in.sql("SELECT missing FROM self"), r"^Polars: [^\n]*missing[^\n]*$"),
    ]
    for use, said in uses:
        with pytest.raises((AttributeError, TypeError, PermissionError, ValueError), match=said):
            use()


def test_no_hostile_statement_gets_anything_out_of_a_lazy_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask = asked(PEOPLE, "id", "city", "age")
    tried = [re.sub(r"\b(people|trips)\b", "self", sql) for sql in (*hostile("polars"), *hostile("postgresql"))]
    assert len(tried) > 250
    for sql in tried:
        with pytest.raises((PermissionError, ValueError)) as refusal:
            ask(sql)
        assert SECRET not in str(refusal.value).replace(sql, ""), sql
    answered, texts = {}, []
    for sql in statements(HIDDEN):
        try:
            answered[sql] = ask(re.sub(r"\b(people|trips)\b", "self", sql))
        except (PermissionError, ValueError) as problem:
            texts.append(str(problem).replace(sql, ""))
    assert [text for text in texts if SECRET in text] == []
    assert [sql for sql, frame in answered.items() if SECRET in str(frame.rows()) or "email" in frame.columns] == []
    assert len(answered) > 5, "those with a star"


def test_behind_the_sql_check_no_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.tools.databases.statements.KNOWN", {"polars": frozenset({"read_csv"})})
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(PermissionError, match="read_ is not allowed here"):
        asked(PEOPLE)(f"SELECT * FROM read_csv('{tmp_path}/x.csv')")


def test_rows_of_a_lazy_frame_end_at_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, value in (("MAX_ROWS", 1000), ("MAX_BYTES", 10_000)):
        with monkeypatch.context() as patched:
            patched.setattr(rows, limit, value)
            with pytest.raises(ValueError, match="aggregate"):
                asked(trips())("SELECT * FROM self")


def test_a_stop_ends_a_query_of_a_lazy_frame() -> None:
    def slow(batch: pl.Series) -> pl.Series:
        time.sleep(0.05)
        return batch

    parts = [pl.LazyFrame({"a": [number]}).with_columns(pl.col("a").map_batches(slow)) for number in range(200)]
    ask = asked(pl.concat(parts, parallel=False))
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ended_by_signals("trips", 30):
        ask("SELECT SUM(a) FROM self")
    assert time.monotonic() - started < 5
    assert len(asked(trips())("SELECT * FROM self")) == len(TRIPS), "Polars is as good as before"


def test_the_model_is_told_columns_and_a_query_waits_for_a_yes() -> None:
    found = LiveDatabases().find("trips", trips(), ["zone", "km"])
    assert found.headline == (
        "trips: Polars database, not copied, with the tables self (zone String, km Float64). Ask it in SQL of "
        'Polars, which gives a DataFrame: trips.sql("""SELECT COUNT(*) AS n FROM self""").collect()'
    )
    assert found.tool.stub.policy == "ask", "it may read over a network"
    with pytest.raises(UsageError, match="has no column 'nothing'; it has id, zone"):
        LiveDatabases().find("trips", trips(), ["nothing"])


def test_a_lazy_frame_is_asked_where_it_lies_only_if_the_sandbox_cannot_open_it(tmp_path: Path) -> None:
    pl.from_pandas(TRIPS).write_parquet(tmp_path / "trips.parquet")
    local = pl.scan_parquet(tmp_path / "trips.parquet")

    def selected(frame: pl.LazyFrame, options: RunOptions) -> Any:
        return select_variables(
            {"trips": frame}, [], "", options, always=(), max_bytes=1 << 20, ask=lambda *_: None
        )

    named = RunOptions(variables=("trips",), columns=(("trips", ("zone", "km")),))
    assert selected(local, named).databases == {}
    assert selected(trips(), named).databases == {"trips": ("zone", "km")}
    remote = pl.scan_parquet("s3://bucket/trips.parquet", storage_options={"region": "eu-north-1"})
    assert selected(remote, RunOptions(variables=("trips",))).databases == {"trips": ()}
    skipped = select_variables(
        {"far": trips()},
        [VariableSummary(name="far", type_name="LazyFrame", headline="far: LazyFrame")],
        "How many rows has far?",
        RunOptions(),
        always=(),
        max_bytes=1 << 20,
        ask=lambda *_: None,
    ).skipped
    assert [one.reason.endswith("`--vars far` lets the code query it in place.") for one in skipped] == [True]
    with pytest.raises(VariableError, match="--sample"):
        selected(trips(), RunOptions(variables=("trips",), sample=10))
