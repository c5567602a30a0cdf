"""Every kind of variable that a data scientist has, as the prompt describes it; real objects of the libraries."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import datetime
import enum
import functools
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import dask.array
import dask.bag
import dask.dataframe
import duckdb
import geopandas
import ibis
import matplotlib
import numpy as np
import pandas as pd
import plotly.graph_objects
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pydantic
import pytest
import scipy.sparse
import sqlalchemy
import sqlalchemy.orm
import xarray
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from jupyter_codeagent.types.variables import Privacy
from jupyter_codeagent.variables.describe import describe_by_type, describe_value

matplotlib.use("Agg")
ROWS = 5000
# Their types ask for more than these tests want to say.
PANDAS: Any = pd
NUMPY: Any = np
DASK: Any = dask


def headline(value: object, privacy: Privacy = "stats") -> str:
    told = describe_value("x", value, privacy).headline
    assert told != describe_by_type("x", value).headline  # else there was no describer, or it failed
    return told


def columns(value: object, privacy: Privacy = "stats") -> list[str]:
    return [
        " ".join(part for part in (c.name, c.dtype, c.stats, c.example, c.missing) if part)
        for c in describe_value("x", value, privacy).columns
    ]


def frame_of_all_types() -> pd.DataFrame:
    half = ROWS // 2
    return pd.DataFrame(
        {
            "category": pd.Categorical(["u", "u", "v", "u"] * (half // 2)),
            "ordered": pd.Categorical(["u", "u", "v", "u"] * (half // 2), ordered=True),
            "nullable": PANDAS.array([1, None] * half, dtype="Int64"),
            "truth": PANDAS.array([True, None] * half, dtype="boolean"),
            "zoned": pd.date_range("2020-01-01", periods=ROWS, freq="D", tz="Europe/Berlin"),
            "lasting": pd.to_timedelta(range(ROWS), unit="D"),
            "period": pd.period_range("2020-01-01", periods=ROWS, freq="D"),
            "interval": pd.interval_range(0, ROWS),
            "sparse": pd.arrays.SparseArray([5] + [0] * (ROWS - 1)),
            "dicts": [{"a": 1}] * ROWS,
            "lists": [[1, "a"]] * ROWS,
            "mixed": [1, 1, "u", 1] * (half // 2),
            "arrow": PANDAS.array([1.5, None] * half, dtype="double[pyarrow]"),
            "arrow_time": PANDAS.array(
                [datetime.datetime(2020, 1, 1, 3, 4)] * ROWS, dtype=pd.ArrowDtype(pa.timestamp("ns", "UTC"))
            ),
            "arrow_lists": PANDAS.array([[1]] * ROWS, dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
            "empty": [None] * ROWS,
        }
    )


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("category", "category {u, v}"),
        ("ordered", "ordered category {u, v}"),
        ("nullable", "int 1..1 50.0% missing"),
        ("truth", "bool 50.0% missing"),
        ("zoned", "datetime[Europe/Berlin] 2020-01-01..2033-09-08"),
        ("lasting", "timedelta 0 days..4999 days"),
        ("period", "period[D] 2020-01-01..2033-09-08"),
        ("interval", "interval[int64, right] 2000u"),
        ("sparse", "sparse int 0..5"),
        ("dicts", "object dict values, keys ['a']"),
        ("lists", "object list values of int, str"),
        ("mixed", "object int|str {1, u}"),
        ("arrow", "float 1.5..1.5 2500 missing"),
        ("arrow_time", "datetime[UTC] 2020-01-01 03:04:00..2020-01-01 03:04:00"),
        ("arrow_lists", "list[item: int64] list values of int"),
        ("empty", "object 100.0% missing"),
    ],
)
def test_each_dtype_of_pandas_is_told_with_what_it_holds(label: str, told: str) -> None:
    assert (
        next(line for line in columns(frame_of_all_types()) if line.startswith(f"'{label}' "))
        == f"'{label}' {told}"
    )


def test_labels_of_several_levels_and_labels_that_stand_twice_are_told() -> None:
    levels = pd.MultiIndex.from_product([["mean", "max"], [2020, 2021]], names=["what", "year"])
    pivoted = pd.DataFrame(np.ones((2, 4)), columns=levels, index=pd.Index(["a", "b"], name="key"))
    assert headline(pivoted) == "x: DataFrame 2x4, column levels 'what', 'year', index 'key' str"
    assert columns(pivoted)[0] == "('mean', 2020) float 1..1"
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", 7])
    assert headline(twice) == "x: DataFrame 1x3, duplicate column names"
    assert columns(twice) == ["'a' int 1..1", "'a' int 2..2", "7 int 3..3"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            pd.DataFrame({"v": [1, 2]}, index=pd.date_range("2024-01-01", periods=2, freq="D", name="day")),
            "x: DataFrame 2x1, index 'day' datetime D 2024-01-01..2024-01-02",
        ),
        (pd.date_range("2024-01-01", periods=3), "x: DatetimeIndex 3 datetime 2024-01-01..2024-01-03"),
        (pd.RangeIndex(0, 10, 5), "x: RangeIndex 2 int 0..5 step 5"),
        (pd.MultiIndex.from_product([["a"], [1, 2]], names=["k", None]), "x: MultiIndex 2 ('k' str, None int)"),
        (pd.Index(["u", "v"] * 9), "x: Index 18 str {u, v}"),
        (pd.Categorical(["u", "v"] * 9), "x: Categorical category 18 {u, v}"),
        (PANDAS.array([1, 2], dtype="Int64"), "x: IntegerArray int 2 1..2"),
        (pd.Series(range(ROWS), name="n"), "x: Series 'n' int 5000 0..4999 (from a sample)"),
        (pd.DataFrame({"k": ["a"], "v": [1]}).groupby("k"), "x: DataFrameGroupBy of 1x2 by 'k' (not computed)"),
        (pd.Series([1.0]).rolling(3), "x: Rolling of 1 (not computed)"),
        (pd.Timestamp("2024-01-02 03:00"), "x: Timestamp = 2024-01-02 03:00:00"),
        (pl.Series("n", [1, None, 3]), "x: polars.Series 'n' Int64 3 1..3 1 missing"),
        (pl.col("a") == "secret", "x: polars.Expr"),
        (pa.array([1, None]), "x: pyarrow.Int64Array int 2 1..1 1 missing"),
        (pa.chunked_array([[1], [2]]), "x: pyarrow.ChunkedArray int 2 1..2"),
        (pa.scalar(5), "x: pyarrow.Scalar int"),
        (NUMPY.ma.masked_array([1, 2, 3], [0, 1, 0]), "x: MaskedArray 3 int64 1..3 1 masked"),
        (np.zeros(20_000), "x: ndarray 20000 float64 0..0 (from a sample)"),
        (np.array([np.nan, 2.0]), "x: ndarray 2 float64 2..2 1 missing"),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), "x: ndarray 2 datetime64[D] 2020-01-01..2020-01-01"),
        (np.array(["u", "v"] * 9), "x: ndarray 18 str {u, v}"),
        (np.array([{}, 1], dtype=object), "x: ndarray 2 object dict, int values"),
        (scipy.sparse.csr_array(np.eye(4)), "x: csr_array 4x4 float64, 4 stored (0.25 of all), 1..1"),
        (scipy.sparse.lil_array(np.eye(4)), "x: lil_array 4x4 float64, 4 stored (0.25 of all)"),
        (dask.array.zeros((4, 2)), "x: dask.Array 4x2 float64 (not computed)"),
        (DASK.bag.from_sequence([1]), "x: dask.Bag (not computed)"),
        (DASK.delayed(len)([1]), "x: dask.Delayed (not computed)"),
        (plotly.graph_objects.Figure(plotly.graph_objects.Bar(y=[1])), "x: plotly.Figure with 1 traces of bar"),
        (
            make_pipeline(StandardScaler(), LinearRegression()),
            "x: Pipeline ['standardscaler' StandardScaler, 'linearregression' LinearRegression] not fitted",
        ),
        (
            make_pipeline(LinearRegression()).fit([[1], [2]], [1, 2]),
            "x: Pipeline ['linearregression' LinearRegression] fitted",
        ),
        (functools.partial(len), "x: partial of len (not copied)"),
        (ValueError("out of range"), "x: exception ValueError: 'out of range'"),
        (range(0, 9, 3), "x: range 0..9 step 3"),
        (np.float32(1.5), "x: float32 = 1.5"),
        (b"abc", "x: bytes 3 bytes"),
        ([{"id": 1, "n": 2}], "x: list 1 of dict keys ['id', 'n']"),
        ({"a": pd.DataFrame()}, "x: dict keys ['a'] of DataFrame"),
        ([1, 2.5], "x: list 2 of float, int 1..2.5"),
        (10**400, "x: int = 1329 bits"),
    ],
)
def test_each_kind_of_the_libraries_is_told_in_one_line(value: object, told: str) -> None:
    assert headline(value) == told


def test_structured_arrays_tell_their_fields() -> None:
    records = np.array([(1, 2.5)] * 3, dtype=[("n", "i4"), ("v", "f8")])
    assert headline(records) == "x: ndarray 3 of records with 2 fields"
    assert columns(records) == ["'n' int32 1..1", "'v' float64 2.5..2.5"]


def test_a_mapped_file_is_not_read(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "m", shape=(4,), dtype="f8", mode="w+")
    assert headline(mapped) == "x: memmap 4 float64 in a file (not read)"


def test_polars_types_are_told_short_and_counts_of_nulls_are_exact_at_any_size() -> None:
    frame = pl.DataFrame(
        {
            "n": [1, None] * (ROWS // 2),
            "t": pl.Series([datetime.datetime(2020, 1, 1)] * ROWS, dtype=pl.Datetime("us", "UTC")),
            "l": [[1]] * ROWS,
            "s": [{"a": 1}] * ROWS,
        }
    )
    assert columns(frame) == [
        "'n' Int64 1..1 2500 missing",
        "'t' Datetime[UTC] 2020-01-01..2020-01-01",
        "'l' List[Int64]",
        "'s' Struct['a' Int64]",
    ]


def test_arrow_tables_tell_ranges_and_exact_counts_of_nulls() -> None:
    instants = pa.array([1577836800 * 10**9] * ROWS, pa.timestamp("ns", "UTC"))
    table = pa.table({"n": range(ROWS), "s": ["u", None] * (ROWS // 2), "t": instants, "l": [[1]] * ROWS})
    expected = [
        "'n' int 0..4999",
        "'s' str {u} 2500 missing",
        "'t' datetime[UTC] 2020-01-01..2020-01-01",
        "'l' list[item: int64] list values of int",
    ]
    assert columns(table) == expected
    assert columns(table.to_batches()[0]) == expected
    assert headline(table.to_batches()[0]) == "x: pyarrow.RecordBatch 5000x4"
    assert describe_value("x", table.slice(0, 2), "samples").rows == "n,s\n0,u\n1,"


def test_arrow_readers_and_datasets_tell_their_schema_and_are_not_read(tmp_path: Path) -> None:
    table = pa.table({"n": [1]})
    pa.parquet.write_table(table, tmp_path / "part.parquet")
    reader = table.to_reader()
    assert headline(reader) == "x: pyarrow.RecordBatchReader of 1 columns (not read)"
    assert reader.read_all().num_rows == 1  # still there for the user
    dataset = pa.dataset.dataset(tmp_path)
    assert headline(dataset) == "x: pyarrow.FileSystemDataset 1 parquet files, 1 columns (not read)"
    assert headline(dataset.scanner()) == "x: pyarrow.Scanner of 1 columns (not read)"
    assert headline(table.schema) == "x: pyarrow.Schema of 1 fields"
    (tmp_path / "part.parquet").unlink()
    assert columns(dataset) == columns(reader) == columns(table.schema) == ["'n' int"]


def test_a_parquet_file_tells_the_exact_ranges_of_its_footer(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    pa.parquet.write_table(pa.table({"n": [1, None, 9], "s": ["Anna", "Bob", "Cid"]}), path)
    assert "3x2, not read)" in headline(path)
    assert columns(path) == ["'n' int 1..9 1 missing", "'s' str"]
    assert headline(pa.parquet.ParquetFile(path)) == "x: ParquetFile 3x2 (not read)"
    assert columns(pa.parquet.ParquetFile(path)) == columns(path)
    assert columns(path, "schema") == []


def test_paths_tell_whether_the_file_is_there_and_how_large(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x" * 2048)
    (tmp_path / "no.parquet").write_bytes(b"not parquet")
    assert headline(tmp_path / "a.csv").endswith("(2 KiB)")
    assert headline(tmp_path / "no.parquet").endswith("(11 bytes)")
    assert headline(tmp_path).endswith("(directory)")
    assert headline(tmp_path / "b.csv").endswith("(no such file)")
    assert headline(tmp_path / "a.csv", "schema") == "x: PosixPath"
    assert headline(Path.home() / "gone.csv").startswith("x: PosixPath = ~/gone.csv")


def test_xarray_tells_dimensions_units_and_ranges_of_what_is_in_memory() -> None:
    array = xarray.DataArray(
        np.arange(6.0).reshape(2, 3),
        dims=("time", "lat"),
        coords={"time": pd.date_range("2020-01-01", periods=2)},
        name="temp",
        attrs={"units": "K"},
    )
    assert headline(array) == "x: xarray.DataArray 'temp' float64 ('time' 2, 'lat' 3) 0..5"
    dataset = array.to_dataset()
    assert headline(dataset) == "x: xarray.Dataset ('time' 2, 'lat' 3)"
    assert columns(dataset)[1] == "'temp' float64 (time, lat) in K 0..5"
    assert "2020-01-01..2020-01-02" in columns(dataset)[0]
    lazy = dataset.chunk({"time": 1})
    assert headline(lazy).endswith("(not loaded)")
    assert columns(lazy)[1] == "'temp' float64 (time, lat) in K"


def test_geopandas_tells_kinds_of_shapes_and_no_coordinates() -> None:
    frame = geopandas.GeoDataFrame(
        {"n": [1, 2]}, geometry=geopandas.points_from_xy([10.757, None], [59.911, 3]), crs="EPSG:4326"
    )
    for privacy in ("stats", "samples"):
        summary = describe_value("x", frame, privacy)
        assert summary.headline == "x: GeoDataFrame 2x2"
        assert columns(frame, privacy)[1] == "'geometry' geometry Point WGS 84"
        assert "59.9" not in str(summary)
    assert headline(frame.geometry) == "x: GeoSeries 'geometry' geometry 2 Point WGS 84"


@pytest.fixture
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE flights AS SELECT 1 AS n, 'x' AS carrier")
    yield connection
    connection.close()


def test_duckdb_tells_tables_and_leaves_the_users_open_result_alone(database: Any) -> None:
    open_result = database.execute("SELECT * FROM range(10)")
    assert headline(database) == "x: DuckDB connection, tables 'flights' ('n', 'carrier')"
    assert len(open_result.fetchall()) == 10


def test_duckdb_relations_are_not_run(database: Any) -> None:
    relation = database.sql("SELECT n, 'u'::ENUM('u', 'v') AS e, error('was run') AS boom FROM flights")
    assert headline(relation) == "x: DuckDB relation of 3 columns (not run)"
    assert columns(relation)[:2] == ["'n' INTEGER", "'e' ENUM"]


def test_sqlalchemy_tells_the_dialect_and_no_secret_of_the_url() -> None:
    url = sqlalchemy.URL.create("sqlite", "bob", "hunter2", "db.example", 1, "sales", {"sslkey": "k3y"})
    engine = sqlalchemy.create_mock_engine("sqlite://", lambda *_: None)
    real = sqlalchemy.create_engine("sqlite:///sales.db")
    assert headline(real) == "x: SQLAlchemy Engine sqlite+pysqlite database 'sales.db' (not connected)"
    assert not Path("sales.db").exists()
    assert headline(real, "schema") == "x: SQLAlchemy Engine sqlite+pysqlite (not connected)"
    real.url = url
    for value in (real, url, engine):
        told = str(describe_value("x", value, "samples"))
        assert not any(secret in told for secret in ("bob", "hunter2", "db.example", "k3y"))
    assert headline(url) == "x: SQLAlchemy URL sqlite"
    memory = sqlalchemy.create_engine("sqlite://")
    with memory.connect() as connection, sqlalchemy.orm.Session(memory) as session:
        assert headline(connection) == "x: SQLAlchemy Connection sqlite+pysqlite"
        assert headline(session) == "x: SQLAlchemy Session sqlite+pysqlite"
    memory.dispose()
    metadata = sqlalchemy.MetaData()
    table = sqlalchemy.Table("flights", metadata, sqlalchemy.Column("n", sqlalchemy.Integer))
    assert headline(metadata) == "x: SQLAlchemy MetaData, tables 'flights' ('n')"
    assert headline(table) == "x: SQLAlchemy Table 'flights' (not read)"
    assert columns(table) == ["'n' integer"]


def test_sqlite_is_not_queried() -> None:
    connection = sqlite3.connect(":memory:")
    asked: list[str] = []
    connection.set_trace_callback(asked.append)
    assert headline(connection) == "x: sqlite3 connection (not queried)"
    assert asked == []
    connection.close()


def test_ibis_tables_tell_their_schema() -> None:
    table = ibis.table({"n": "int64", "s": "string"}, name="flights")
    assert headline(table) == "x: ibis.Table of 2 columns (not run)"
    assert columns(table) == ["'n' int64", "'s' string"]
    assert headline(table.n) == "x: ibis IntegerColumn (not run)"


def test_dask_frames_are_not_computed() -> None:
    def boom(part: pd.DataFrame) -> pd.DataFrame:
        raise AssertionError("was computed")

    base = DASK.dataframe.from_pandas(pd.DataFrame({"n": [1, 2], "s": ["u", "v"]}), npartitions=1)
    frame = base.map_partitions(boom, meta=base._meta)
    assert headline(frame) == "x: dask.DataFrame of 2 columns (not computed)"
    assert columns(frame) == ["'n' int", "'s' str"]
    assert headline(frame["n"]) == "x: dask.Series 'n' int (not computed)"


def test_figures_tell_their_titles_and_are_not_drawn() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(1, 2)
    axes[0].set_title("Fare by class")
    axes[0].set_xlabel("class")
    axes[1].set_title("of alice@example.org")
    figure.draw = None  # type: ignore[assignment, method-assign]
    assert headline(figure) == "x: Figure with 2 axes: 'Fare by class', 'x class'; ***"
    assert headline(axes[0]) == "x: Axes 'Fare by class', 'x class'"
    assert headline(figure, "schema") == "x: Figure with 2 axes"


@dataclasses.dataclass
class Settings:
    """How to train."""

    rate: float = 0.1
    password: str = "hunter2"
    frame: Any = None


@dataclasses.dataclass(slots=True)
class Slotted:
    rate: float = 0.25


class Model(pydantic.BaseModel):
    rate: float = 0.5
    secret: pydantic.SecretStr = pydantic.SecretStr("hunter2")


class Colour(enum.Enum):
    RED = "hunter2"


Point = collections.namedtuple("Point", "east north")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (Settings(), "x: Settings(rate=0.1, password: str, frame: NoneType)"),
        (
            Settings,
            "x: class Settings(rate: float = …, password: str = …, frame: Any = …) (not copied)  # How to train.",
        ),
        (Slotted(), "x: Slotted(rate=0.25)"),
        (Slotted, "x: class Slotted(rate: float = …) (not copied)"),
        (Model(), "x: Model(rate=0.5, secret: SecretStr)"),
        (Colour, "x: class Colour with members RED (not copied)"),
        (Colour.RED, "x: Colour.RED"),
        (Point(1, 2), "x: Point(east=1, north=2)"),
    ],
)
def test_objects_with_fields_tell_them_but_no_secret(value: object, told: str) -> None:
    assert headline(value) == told


def test_fields_are_told_by_name_and_type_in_schema_mode() -> None:
    assert headline(Settings(), "schema") == "x: Settings(rate: float, password: str, frame: NoneType)"


def test_functions_tell_their_annotations_without_running_them() -> None:
    class Evil:
        def __repr__(self) -> str:
            raise AssertionError("repr was called")

    async def fetch(n, names=None, other=None, *, most=5):  # type: ignore[no-untyped-def]
        pass

    fetch.__annotations__ = {"n": int, "names": list[str] | None, "other": Evil(), "most": Annotated[int, Evil()]}
    told = "x: async def x(n: int, names: list[str] | None = …, other=…, *, most: int = …) (not copied)"
    assert headline(fetch) == told


def test_what_is_running_is_not_consumed() -> None:
    numbers = (n for n in [1, 2])
    assert headline(numbers) == "x: generator (not consumed)"
    assert list(numbers) == [1, 2]
    waiting = asyncio.sleep(0)
    assert headline(waiting) == "x: coroutine (not consumed)"
    waiting.close()


@pytest.mark.parametrize(
    "value",
    [
        pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2024-01-01", periods=2, name="day")),
        pd.Series([1, 2]),
        pl.DataFrame({"a": [1, 2]}),
        pa.table({"a": [1, 2]}),
        np.arange(3),
        xarray.DataArray([1, 2], dims="x"),
        5,
        "word",
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_headline_without_values_is_that_of_the_mode_schema(value: object) -> None:
    """Described once where that costs something: the receipt takes what differs for statistics."""
    under_schema = describe_value("x", value, "schema")
    assert describe_value("x", value, "stats").bare_headline == under_schema.headline
    assert under_schema.bare_headline == under_schema.headline
