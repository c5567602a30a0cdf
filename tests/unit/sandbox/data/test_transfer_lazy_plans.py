"""Lazy values over local files: which they read is known without reading them; what cannot be shown is refused."""

from __future__ import annotations

import os
import pickle
import socket
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from jupyter_codeagent.sandbox.data.condition import parse_condition
from jupyter_codeagent.sandbox.data.lazy_plans import Plan, is_lazy, make_plan
from jupyter_codeagent.sandbox.data.subset import SubsetRequest
from jupyter_codeagent.types.errors import VariableError

MAX_BYTES = 1 << 20


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with data in it."""
    (tmp_path / "d").mkdir()
    frame = pl.DataFrame({"a": range(1000), "b": ["x", "y"] * 500})
    frame.write_parquet(tmp_path / "d" / "one.parquet")
    frame.write_parquet(tmp_path / "d" / "two.parquet")
    frame.write_csv(tmp_path / "d" / "one.csv")
    frame.write_ipc(tmp_path / "d" / "one.arrow")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plan(value: Any, wanted: SubsetRequest | None = None) -> Plan:
    return make_plan("x", value, wanted or SubsetRequest(), max_bytes=MAX_BYTES)


def paths(made: Plan) -> list[str]:
    return [file.path for file in made.files]


def in_other_process(made: Plan, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The value as another process has it, which is in another working directory."""
    monkeypatch.chdir("/")
    return pickle.loads(pickle.dumps(made.value, protocol=5))


@pytest.mark.parametrize(
    ("scan", "files"),
    [
        (lambda: pl.scan_parquet("d/one.parquet"), ["one.parquet"]),
        (lambda: pl.scan_parquet("d/*.parquet"), ["one.parquet", "two.parquet"]),
        (lambda: pl.scan_parquet(["d/one.parquet", "d/two.parquet"]), ["one.parquet", "two.parquet"]),
        (lambda: pl.scan_csv("d/one.csv"), ["one.csv"]),
        (lambda: pl.scan_ipc("d/one.arrow"), ["one.arrow"]),
        (lambda: pl.concat([pl.scan_csv("d/one.csv"), pl.scan_ipc("d/one.arrow")]), ["one.csv", "one.arrow"]),
        (
            lambda: (
                pl.scan_parquet("d/one.parquet").join(pl.LazyFrame({"a": [1, 2]}), on="a").filter(pl.col("a") > 1)
            ),
            ["one.parquet"],
        ),
        (lambda: pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a") > 1), []),
    ],
)
def test_a_lazy_frame_is_a_plan_over_its_files_and_gives_the_same_elsewhere(
    place: Path, monkeypatch: pytest.MonkeyPatch, scan: Any, files: list[str]
) -> None:
    lazy = scan()
    expected = lazy.collect()
    made = plan(lazy)
    assert sorted(paths(made)) == sorted(str(place / "d" / name) for name in files)
    assert made.columns == tuple(expected.schema.items())
    assert in_other_process(made, monkeypatch).collect().equals(expected)


def test_a_partitioned_directory_keeps_its_partition_columns(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for year in (2012, 2013):
        (place / "h" / f"year={year}").mkdir(parents=True)
        pl.DataFrame({"a": [year, 1]}).write_parquet(place / "h" / f"year={year}" / "p.parquet")
    expected = pl.scan_parquet("h/").collect()
    assert expected.columns == ["a", "year"]
    made = plan(pl.scan_parquet("h/"))
    assert len(made.files) == 2
    assert in_other_process(made, monkeypatch).collect().equals(expected)


def test_columns_and_a_condition_become_part_of_the_plan(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = SubsetRequest(columns=("a",), where=parse_condition("b == 'x' and a >= 900"))
    made = plan(pl.scan_parquet("d/one.parquet"), wanted)
    assert made.note == "rows where b == 'x' and a >= 900; 1 of 2 columns"
    assert in_other_process(made, monkeypatch).collect().shape == (50, 1)


def test_a_link_is_shown_as_what_it_leads_to(place: Path) -> None:
    (place / "link.parquet").symlink_to(place / "d" / "one.parquet")
    assert paths(plan(pl.scan_parquet("link.parquet"))) == [str(place / "d" / "one.parquet")]


def test_a_dataset_is_copied_with_its_schema_and_partitions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"a": range(10), "k": ["u", "v"] * 5})
    ds.write_dataset(table, "ds", format="parquet", partitioning=["k"], partitioning_flavor="hive")
    dataset = ds.dataset("ds", format="parquet", partitioning="hive")
    expected = dataset.to_table().sort_by("a")
    made = plan(dataset)
    assert len(made.files) == 2
    assert all(path.startswith(str(place / "ds")) for path in paths(made))
    again = in_other_process(made, monkeypatch)
    assert again.schema == dataset.schema
    assert again.to_table().sort_by("a").equals(expected)
    assert again.count_rows(filter=ds.field("k") == "u") == 5


@pytest.mark.parametrize(
    "query",
    [
        "SELECT a, count(*) n FROM 'd/one.parquet' WHERE a > 3 GROUP BY a ORDER BY a",
        "SELECT one.a FROM 'd/one.parquet' ORDER BY one.a LIMIT 3",
        "SELECT * FROM read_parquet(['d/one.parquet', 'd/two.parquet'], union_by_name=true) ORDER BY ALL",
        "SELECT * FROM read_csv('d/one.csv', header=true) ORDER BY a",
        "WITH big AS (SELECT * FROM read_parquet('d/*.parquet') WHERE a > 990) SELECT sum(a) FROM big",
        "SELECT (SELECT max(a) FROM read_csv_auto('d/one.csv')) AS m, range FROM range(3)",
        "SELECT o.a, t.b FROM 'd/one.parquet' o JOIN 'd/two.parquet' t USING (a) ORDER BY a LIMIT 5",
    ],
)
def test_a_duckdb_relation_is_its_query_over_real_paths(
    place: Path, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    connection = duckdb.connect()
    relation = connection.sql(query)
    expected = relation.fetchall()
    made = plan(relation)
    assert made.type_name == "DuckDBPyRelation"
    assert made.files
    assert all(path.startswith(f"{place}/d/") for path in paths(made))
    again = in_other_process(made, monkeypatch)
    assert type(again) is type(relation)
    assert again.fetchall() == expected


def test_a_connection_with_views_over_files_is_one_elsewhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE VIEW flights AS SELECT * FROM read_parquet('d/*.parquet')")
    connection.execute('CREATE VIEW "late AS SELECT" (n) AS SELECT a FROM flights WHERE a > 990')
    pending = connection.execute("SELECT a FROM flights ORDER BY a")
    assert pending.fetchone() == (0,)
    made = plan(connection)
    assert pending.fetchone() == (0,)  # a result that the user is reading goes on where it was
    again = in_other_process(made, monkeypatch)
    assert again.execute('SELECT count(*) FROM "late AS SELECT" WHERE n > 0').fetchone() == (18,)


def test_a_database_file_is_opened_for_reading_elsewhere(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect("q.db") as writing:
        writing.execute("CREATE TABLE t AS SELECT range i FROM range(100)")
    with duckdb.connect("q.db") as writing, pytest.raises(VariableError, match="open for writing"):
        plan(writing)
    with duckdb.connect("q.db", read_only=True) as reading:
        made = plan(reading)
        assert paths(made) == [str(place / "q.db")]
        again = in_other_process(made, monkeypatch)
        assert again.execute("SELECT count(*) FROM t").fetchone() == (100,)
        with pytest.raises(duckdb.Error, match="read-only"):
            again.execute("CREATE TABLE u AS SELECT 1")


def local_function(value: int) -> int:
    return value


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: pl.scan_parquet("s3://bucket/x.parquet"), "over s3: the sandbox has no network"),
        (lambda: pl.scan_csv("https://example.org/x.csv"), "over https: the sandbox has no network"),
        (lambda: pl.scan_parquet("d/one.parquet").map_batches(lambda frame: frame), "a step in Python"),
        (
            lambda: pl.scan_parquet("d/one.parquet").with_columns(
                pl.col("a").map_elements(local_function, return_dtype=pl.Int64)
            ),
            "a step in Python",
        ),
        (lambda: pl.scan_pyarrow_dataset(ds.dataset("d/one.parquet")), "a step in Python"),
        (lambda: pl.LazyFrame({"a": np.arange(1 << 18)}), "holds frames in memory, 2 MiB; the limit is 1 MiB"),
        (lambda: pl.scan_parquet("d/none.parquet"), "no such file exists|cannot be opened: No such file"),
        (lambda: pl.scan_parquet("d/none*.parquet"), "no such file exists"),
        (lambda: pl.LazyFrame({"f": [1.0]}).filter(pl.col("f") < float("inf")), "cannot be serialized exactly"),
        (lambda: ds.dataset("d/one.parquet").filter(ds.field("a") > 3), "was filtered"),
        (duckdb.connect, "empty DuckDB connection"),
        (lambda: duckdb.connect().execute("CREATE TABLE t AS SELECT 1 x"), r"has tables in memory \(t\)"),
        (lambda: duckdb.connect().from_df(pd.DataFrame({"q": [1]})), "a table or a frame of your kernel"),
        (lambda: duckdb.connect().sql("SELECT * FROM read_text('d/one.csv')"), r"uses read_text\(\)"),
        (lambda: duckdb.connect().sql("SELECT * FROM read_csv('d/' || 'one.csv')"), "not a constant"),
    ],
)
def test_what_the_sandbox_could_not_read_is_refused_with_the_reason(place: Path, make: Any, why: str) -> None:
    with pytest.raises(VariableError, match=why):
        plan(make())


@pytest.mark.parametrize(
    "name",
    [".env", "prod.env", ".netrc", "id_rsa", "server.pem", "aws_credentials.csv", ".ssh/known.csv", ".aws/x.csv"],
)
def test_a_file_that_looks_secret_is_never_shown_not_even_through_a_link(place: Path, name: str) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text("a\n1\n")
    with pytest.raises(VariableError, match="looks secret"):
        plan(pl.scan_csv(name))
    (place / "harmless.csv").symlink_to(place / name)
    with pytest.raises(VariableError, match="looks secret"):
        plan(pl.scan_csv("harmless.csv"))


def test_only_regular_files_outside_of_the_systems_directories_are_shown(place: Path) -> None:
    os.mkfifo(place / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("sock.csv")
        for name in ("pipe.csv", "sock.csv"):
            with pytest.raises(VariableError, match="device, pipe or socket"):
                plan(pl.scan_csv(name, schema={"a": pl.Int64}, glob=False))
    with pytest.raises(VariableError, match="below /etc"):
        plan(pl.scan_csv("/etc/hosts"))
    with pytest.raises(VariableError, match=r"below /proc|device, pipe"):
        plan(pl.scan_csv("/proc/self/environ"))


def test_a_sample_of_what_was_never_read_is_refused_with_what_works_instead(place: Path) -> None:
    with pytest.raises(VariableError, match="use --where or columns"):
        plan(pl.scan_parquet("d/one.parquet"), SubsetRequest(sample=10))


def test_frames_are_no_lazy_values() -> None:
    assert not any(is_lazy(value) for value in (pl.DataFrame(), pd.DataFrame(), pa.table({}), 3, None))
