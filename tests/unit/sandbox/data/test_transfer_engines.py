"""Remote frames: the user's own engine fetches what was asked for, and only then."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import ibis  # type: ignore[import-untyped,unused-ignore]
import pandas as pd
import pytest

from jupyter_codeagent.sandbox.data.condition import parse_condition
from jupyter_codeagent.sandbox.data.engines import engine_of, fetch, format_copy_advice, is_database
from jupyter_codeagent.sandbox.data.subset import SubsetRequest
from jupyter_codeagent.types.errors import VariableError

ROWS = 10_000
FRAME = pd.DataFrame({"n": range(ROWS), "origin": ["JFK", "LGA"] * (ROWS // 2), "other": 1.5})
WANTED = SubsetRequest(sample=500, columns=("n", "origin"), where=parse_condition("n >= 2000 and origin == 'JFK'"))


def dask_frame(frame: pd.DataFrame, parts: int) -> Any:
    return dd.from_pandas(frame, npartitions=parts)  # type: ignore[no-untyped-call]


def test_dask_fetches_a_random_sample_of_the_rows_that_meet_the_condition() -> None:
    frame = dask_frame(FRAME, 4)
    part = fetch("big", frame, WANTED)
    assert type(part.value) is pd.DataFrame
    assert len(part.value) == 500
    assert list(part.value.columns) == ["n", "origin"]
    assert set(part.value["origin"]) == {"JFK"}
    assert part.value["n"].min() >= 2000
    assert part.value["n"].max() > 9000  # of all partitions
    assert part.note == (
        "random sample, 500 rows where n >= 2000 and origin == 'JFK', fetched by Dask; 2 of 3 columns"
    )


def test_dask_fetches_all_rows_where_there_are_no_more() -> None:
    part = fetch("small", dask_frame(FRAME.head(30), 2), SubsetRequest(sample=100))
    assert len(part.value) == 30
    assert part.note == "all 30 rows, fetched by Dask"


@pytest.mark.filterwarnings("ignore:The 'future.infer_string' option", "ignore:fetch_arrow_table")  # Ibis' own ways
def test_ibis_has_the_database_filter_and_limit() -> None:
    connection = ibis.duckdb.connect()
    origin = "CASE WHEN range % 2 = 0 THEN 'JFK' ELSE 'LGA' END"
    connection.raw_sql(f"CREATE TABLE flights AS SELECT range n, {origin} origin, 1.5 other FROM range({ROWS})")
    part = fetch("flights", connection.table("flights"), WANTED)
    assert type(part.value) is pd.DataFrame
    assert part.value.shape == (500, 2)
    assert part.value["n"].min() >= 2000
    assert part.note.startswith("the first rows, not a random sample, 500 rows where n >= 2000")
    connection.disconnect()


class Calls:
    """What a Spark frame was asked, in order."""

    def __init__(self) -> None:
        self.made: list[str] = []


def spark_frame(calls: Calls, rows: int) -> Any:
    """A double with the methods of `pyspark.sql.DataFrame` that are used, and no others."""

    class DataFrame:
        columns = ("n", "origin", "other")

        def select(self, *names: str) -> Any:
            calls.made.append(f"select {','.join(names)}")
            return self

        def count(self) -> int:
            calls.made.append("count")
            return rows

        def sample(self, fraction: float, seed: int) -> Any:
            calls.made.append(f"sample {fraction:.3f}")
            return self

        def limit(self, number: int) -> Any:
            calls.made.append(f"limit {number}")
            return self

        def toPandas(self) -> pd.DataFrame:
            calls.made.append("toPandas")
            return FRAME.head(500)

    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    return DataFrame()


def test_spark_samples_on_the_cluster_and_only_the_sample_comes_here() -> None:
    calls = Calls()
    part = fetch("big", spark_frame(calls, 10_000), SubsetRequest(sample=500, columns=("n",)))
    assert calls.made == ["select n", "count", "sample 0.056", "limit 500", "toPandas"]
    assert part.note == "random sample, 500 rows, fetched by Spark; 1 of 3 columns"


def test_nothing_is_run_on_a_cluster_without_a_sample_and_the_error_says_how() -> None:
    calls = Calls()
    with pytest.raises(VariableError, match=r"'big' is a Spark frame.*`--vars big --sample 100000`"):
        fetch("big", spark_frame(calls, 10_000), SubsetRequest())
    assert calls.made == []


def test_what_an_engine_says_is_told_in_one_line() -> None:
    with pytest.raises(VariableError, match=r"^'big' has no column 'nope'"):
        fetch("big", dask_frame(FRAME, 2), SubsetRequest(sample=10, columns=("nope",)))
    broken = dask_frame(FRAME, 2).map_partitions(lambda part: part / 0, meta=FRAME)
    with pytest.raises(VariableError, match=r"^Dask could not fetch 'big': \w+"):
        fetch("big", broken, SubsetRequest(sample=10))


def test_a_database_engine_has_no_rows_and_the_sentence_says_to_query_first() -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")
    engine = sqlalchemy.create_engine("sqlite://")
    assert is_database(engine)
    assert "pd.read_sql('SELECT …', db)" in format_copy_advice("db", engine)


def test_pandas_frames_are_of_no_engine() -> None:
    assert engine_of(FRAME) is None
    assert not is_database(FRAME)
