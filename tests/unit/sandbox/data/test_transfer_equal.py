"""Whatever can be copied arrives equal: same library, type, dtypes, values, labels and order in memory.

Hypothesis makes the values. What has no faithful copy says so, by the name of what is in the way.
"""

from __future__ import annotations

import datetime
import decimal
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from transfer_cases import loaded
from transfer_equality import assert_same, same_values

from jupyter_codeagent.sandbox.data import layout
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.types.errors import VariableError

ROWS = 12
THOROUGH = settings(
    deadline=None,
    database=None,
    max_examples=settings().max_examples * 60 // 100,
    suppress_health_check=list(HealthCheck),
)


def arrived(value: Any, *, large_bytes: int = layout.LARGE_BYTES) -> Any:
    """What a sandbox gets; also, an unchanged value is recognised."""
    with tempfile.TemporaryDirectory() as directory, patch.object(layout, "LARGE_BYTES", large_bytes):
        spool = Spool(Path(directory), max_bytes=1 << 26)
        manifest = spool.export({"value": value}, ("value",), required=True)
        assert spool.export({"value": value}, ("value",), required=True) == manifest
        return loaded(Path(directory), manifest)["value"]


# --- values -------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
INTS = st.integers(-(2**31), 2**31 - 1)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2200, 1, 1))
TIMES = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2200, 1, 1))
DECIMALS = st.decimals(-(10**6), 10**6, places=2)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    TEXT,
    st.binary(max_size=8),
    DECIMALS,
    DATES,
    TIMES,
    st.just(pd.NA),
    st.just(pd.NaT),
    st.just(pd.Timestamp("2013-01-01 05:00", tz="Europe/Berlin")),
    st.just(np.float32(1.5)),
)
OBJECTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(TEXT, inner, max_size=3)
    ),
    max_leaves=6,
)
UNITS = ("s", "ms", "us", "ns")
NUMPY_DTYPES = (
    *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?", "c8", "c16"),
    *(f"M8[{unit}]" for unit in UNITS),
    *(f"m8[{unit}]" for unit in UNITS),
)
NULLABLE: dict[str, st.SearchStrategy[Any]] = {
    "Int8": st.integers(-128, 127),
    "Int64": st.integers(-(2**63), 2**63 - 1),
    "UInt32": st.integers(0, 2**32 - 1),
    "Float32": st.floats(width=32, allow_nan=False),
    "Float64": st.floats(allow_nan=False),
    "boolean": st.booleans(),
    "str": TEXT,
    "string[python]": TEXT,
    "string[pyarrow]": TEXT,
}
ARROW: tuple[tuple[pa.DataType, st.SearchStrategy[Any]], ...] = (
    (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), TEXT),
    (pa.large_string(), TEXT),
    (pa.string_view(), TEXT),
    (pa.binary(), st.binary(max_size=8)),
    (pa.date32(), DATES),
    (pa.timestamp("us"), TIMES),
    (pa.timestamp("ms", "Asia/Tokyo"), TIMES.map(lambda time: time.replace(microsecond=0, tzinfo=datetime.UTC))),
    (pa.duration("s"), st.integers(-(10**6), 10**6)),
    (pa.decimal128(12, 2), DECIMALS),
    (pa.dictionary(pa.int32(), pa.string()), TEXT),
    (pa.list_(pa.int64()), st.lists(INTS, max_size=3)),
    (pa.list_(pa.list_(pa.string())), st.lists(st.lists(TEXT, max_size=2), max_size=2)),
    (pa.list_(pa.int32(), 2), st.tuples(INTS, INTS).map(list)),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), st.fixed_dictionaries({"a": INTS, "b": TEXT})),
    (pa.map_(pa.string(), pa.int64()), st.dictionaries(TEXT, INTS, max_size=2).map(lambda pairs: [*pairs.items()])),
)


@st.composite
def pandas_arrays(draw: st.DrawFn, rows: int) -> Any:
    """One column's values, of any dtype."""
    return draw(draw(st.sampled_from(COLUMN_KINDS))(rows))


def lists(values: st.SearchStrategy[Any], rows: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=rows, max_size=rows)


def numpy_columns(rows: int) -> st.SearchStrategy[Any]:
    return st.sampled_from(NUMPY_DTYPES).flatmap(lambda dtype: arrays.arrays(dtype, rows, elements=within(dtype)))


def within(dtype: str) -> st.SearchStrategy[Any]:
    """pandas has no times before the year 1 or after 9999 that it could show; all other values of a dtype."""
    if dtype[0] not in "Mm":
        return arrays.from_dtype(np.dtype(dtype))
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[dtype[3:-1]]
    numbers = st.one_of(st.just(np.iinfo("i8").min), st.integers(-(10**9) * per_second, 10**9 * per_second))
    return numbers.map(lambda number: np.array(number).astype("i8").view(dtype)[()])


def nullable_columns(rows: int) -> st.SearchStrategy[Any]:
    return st.sampled_from(sorted(NULLABLE)).flatmap(
        lambda dtype: lists(st.one_of(st.none(), NULLABLE[dtype]), rows).map(
            lambda values: pd.array(values, dtype=dtype)  # type: ignore[call-overload]
        )
    )


def arrow_arrays(rows: int) -> st.SearchStrategy[Any]:
    return st.sampled_from(ARROW).flatmap(
        lambda case: lists(st.one_of(st.none(), case[1]), rows).map(lambda values: pa.array(values, case[0]))
    )


def arrow_columns(rows: int) -> st.SearchStrategy[Any]:
    return arrow_arrays(rows).map(pd.arrays.ArrowExtensionArray)


def category_columns(rows: int) -> st.SearchStrategy[Any]:
    categories = st.one_of(
        st.lists(TEXT, unique=True, min_size=1, max_size=4),
        st.lists(INTS, unique=True, min_size=1, max_size=4),
        st.lists(DATES, unique=True, min_size=1, max_size=4).map(pd.DatetimeIndex),
    )
    return st.tuples(categories, lists(st.integers(-1, 0), rows), st.booleans()).map(
        lambda drawn: pd.Categorical.from_codes(drawn[1], pd.Index(drawn[0]), ordered=drawn[2])
    )


def sparse_columns(rows: int) -> st.SearchStrategy[Any]:
    fills = st.sampled_from([0.0, np.nan, 1.0])
    return st.tuples(lists(st.sampled_from([0.0, 1.0, 2.5]), rows), fills).map(
        lambda drawn: pd.arrays.SparseArray(np.array(drawn[0], "f8"), fill_value=drawn[1])
    )


def period_columns(rows: int) -> st.SearchStrategy[Any]:
    return st.tuples(lists(st.integers(0, 500), rows), st.sampled_from(["M", "D", "Q-NOV", "h"])).map(
        lambda drawn: (
            pd.PeriodIndex.from_ordinals(  # type: ignore[attr-defined]
                np.array(drawn[0], "i8"), freq=drawn[1]
            ).array
        )
    )


def interval_columns(rows: int) -> st.SearchStrategy[Any]:
    return st.tuples(lists(st.integers(0, 9), rows), st.sampled_from(["left", "right", "both", "neither"])).map(
        lambda drawn: pd.arrays.IntervalArray.from_arrays(
            np.array(drawn[0], "i8"), np.array(drawn[0], "i8") + 2, closed=drawn[1]
        )
    )


def zoned_columns(rows: int) -> st.SearchStrategy[Any]:
    zones = st.sampled_from(["UTC", "America/New_York", "Asia/Kolkata", "+02:30"])
    return st.tuples(lists(TIMES, rows), zones, st.sampled_from(UNITS)).map(
        lambda drawn: pd.DatetimeIndex(drawn[0]).as_unit(drawn[2]).tz_localize("UTC").tz_convert(drawn[1]).array
    )


def object_columns(rows: int) -> st.SearchStrategy[Any]:
    def make(values: list[Any]) -> np.ndarray[Any, Any]:
        column = np.empty(rows, object)
        for row, value in enumerate(values):
            column[row] = value
        return column

    return lists(OBJECTS, rows).map(make)


COLUMN_KINDS: tuple[Callable[[int], st.SearchStrategy[Any]], ...] = (
    numpy_columns,
    nullable_columns,
    arrow_columns,
    category_columns,
    sparse_columns,
    period_columns,
    interval_columns,
    zoned_columns,
    object_columns,
)
LABEL_KINDS = (numpy_columns, nullable_columns, category_columns, period_columns, interval_columns, zoned_columns)
"""Without values that cannot be hashed."""
NAMES = st.one_of(st.none(), TEXT, st.integers(0, 9), st.tuples(TEXT, st.integers(0, 3)))


@st.composite
def labels(draw: st.DrawFn, length: int) -> Any:
    """Of rows or of columns."""
    kind = draw(st.sampled_from(["range", "text", "mixed", "levels", "times", "values"]))
    if kind == "range":
        start, step = draw(st.integers(-5, 5)), draw(st.sampled_from([1, 2, -3]))
        return pd.RangeIndex(start, start + step * length, step, name=draw(NAMES))
    if kind == "text":
        return pd.Index(draw(lists(TEXT, length)), dtype="str", name=draw(NAMES))
    if kind == "mixed":
        return pd.Index(draw(lists(NAMES, length)), dtype=object, tupleize_cols=False, name=draw(NAMES))
    if kind == "levels":
        pairs = [draw(lists(TEXT, length)), draw(lists(st.integers(0, 3), length))]
        return pd.MultiIndex.from_arrays(pairs, names=[draw(NAMES), draw(NAMES)])
    if kind == "times":
        frequency = draw(st.sampled_from(["h", "D", "MS", "B"]))
        return pd.date_range("2013-01-01", periods=length, freq=frequency, name=draw(NAMES))
    values = draw(draw(st.sampled_from(LABEL_KINDS))(length))
    return pd.Index(values, name=draw(NAMES), tupleize_cols=False)


@st.composite
def frames(draw: st.DrawFn) -> pd.DataFrame:
    rows, width = draw(st.integers(0, ROWS)), draw(st.integers(0, 5))
    frame = pd.DataFrame({i: pd.Series(draw(pandas_arrays(rows))) for i in range(width)}, index=range(rows))
    frame.columns, frame.index = draw(labels(width)), draw(labels(rows))
    frame.attrs = draw(st.dictionaries(TEXT, OBJECTS, max_size=2))
    if frame.columns.is_unique and frame.index.is_unique:
        flags: Any = frame.flags
        flags.allows_duplicate_labels = draw(st.booleans())
    return draw(st.sampled_from(PARTS))(frame)


PARTS: tuple[Callable[[pd.DataFrame], pd.DataFrame], ...] = (
    lambda frame: frame,
    lambda frame: frame,
    lambda frame: frame.iloc[1:-1],
    lambda frame: frame.iloc[::2],
    lambda frame: frame.iloc[::-1, ::-1],
    lambda frame: frame.iloc[:, 1:],
    lambda frame: frame.copy(),
)


@THOROUGH
@given(frame=frames(), large_bytes=st.sampled_from([8, layout.LARGE_BYTES]))
def test_a_pandas_frame_of_any_dtypes_and_labels_arrives_equal(frame: pd.DataFrame, large_bytes: int) -> None:
    assert_same(frame, arrived(frame, large_bytes=large_bytes))


@THOROUGH
@given(st.integers(0, ROWS).flatmap(pandas_arrays), NAMES)
def test_a_series_and_its_array_arrive_equal(values: Any, name: Any) -> None:
    series = pd.Series(values, name=name)
    assert_same(series, arrived(series))
    same_values(series.array, arrived(series.array))


@THOROUGH
@given(st.integers(0, ROWS).flatmap(labels))
def test_an_index_of_any_kind_arrives_equal(index: pd.Index[Any]) -> None:
    assert_same(index, arrived(index))


# --- numpy --------------------------------------------------------------------------------------------

STRUCTURED = np.dtype([("a", "<i4"), ("b", ">f8"), ("s", "U3"), ("n", [("x", "i1"), ("y", "M8[ms]")])])


@st.composite
def numpy_arrays(draw: st.DrawFn) -> Any:
    dtype = draw(st.one_of(arrays.scalar_dtypes(), st.just(STRUCTURED), st.sampled_from([np.dtype("O")])))
    shape = draw(arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    if dtype == np.dtype("O"):
        array = draw(arrays.arrays(dtype, shape, elements=LEAVES))
    else:
        array = draw(arrays.arrays(dtype, shape))
    change = draw(st.sampled_from(ARRANGED))
    return change(np.asarray(array))


ARRANGED: tuple[Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], ...] = (
    lambda array: array,
    np.asfortranarray,
    lambda array: array.T,
    lambda array: array[::2] if array.ndim else array,
    lambda array: array[..., ::-1] if array.ndim else array,
    lambda array: np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) % 2 == 0),
    lambda array: np.broadcast_to(array, (2, *array.shape)).copy(),
)


@THOROUGH
@given(numpy_arrays())
def test_a_numpy_array_of_any_dtype_and_order_arrives_equal(array: np.ndarray[Any, Any]) -> None:
    assert_same(array, arrived(array, large_bytes=8))


class _Unit(np.ndarray[Any, Any]):
    """A subclass, as libraries have them."""


NUMPY_CASES: dict[str, Any] = {
    "read only": np.broadcast_to(np.arange(3), (2, 3)),
    "read only and contiguous": np.frombuffer(b"12345678", "i4"),
    "a record array": np.rec.array([(1, "x"), (2, "y")], dtype=[("n", "i4"), ("s", "U1")]),
    "a matrix": np.arange(6.0).reshape(2, 3)[:, :1],
    "a subclass": np.arange(4.0).view(_Unit),
    "big endian": np.arange(5, dtype=">i8"),
    "a scalar": np.float32(1.5),
    "a time": np.datetime64("2013-01-01", "D"),
    "a random generator": None,
}


@pytest.mark.parametrize("case", [name for name, value in NUMPY_CASES.items() if value is not None])
def test_special_numpy_values_arrive_equal(case: str) -> None:
    got = arrived(NUMPY_CASES[case])
    if case == "read only":  # of a broadcast array there is more to read than there is memory: it is written out
        assert np.array_equal(got, NUMPY_CASES[case])
    else:
        assert_same(NUMPY_CASES[case], got)


# --- polars and Arrow ---------------------------------------------------------------------------------

POLARS: tuple[tuple[Any, st.SearchStrategy[Any]], ...] = (
    (pl.Int8, st.integers(-128, 127)),
    (pl.UInt64, st.integers(0, 2**64 - 1)),
    (pl.Float32, st.floats(width=32, allow_nan=False)),
    (pl.Float64, st.floats(allow_nan=False)),
    (pl.Boolean, st.booleans()),
    (pl.String, TEXT),
    (pl.Binary, st.binary(max_size=8)),
    (pl.Date, DATES),
    (pl.Datetime("ms"), TIMES.map(lambda time: time.replace(microsecond=0))),
    (pl.Datetime("us", "Europe/Berlin"), TIMES.map(lambda time: time.replace(tzinfo=datetime.UTC))),
    (pl.Duration("us"), st.timedeltas(datetime.timedelta(-9), datetime.timedelta(9))),
    (pl.Time, st.times()),
    (pl.Decimal(12, 2), DECIMALS),
    (pl.Categorical, TEXT),
    (pl.Enum(["a", "b", "unused"]), st.sampled_from(["a", "b"])),
    (pl.List(pl.Int64), st.lists(INTS, max_size=3)),
    (pl.Array(pl.Int64, 2), st.tuples(INTS, INTS).map(list)),
    (pl.Struct({"a": pl.Int64, "b": pl.String}), st.fixed_dictionaries({"a": INTS, "b": TEXT})),
    (pl.Null, st.none()),
)


@st.composite
def polars_frames(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(0, ROWS))
    chosen = draw(st.lists(st.sampled_from(POLARS), max_size=4))
    columns = [
        pl.Series(f"c{index}", draw(lists(st.one_of(st.none(), values), rows)), dtype=dtype)
        for index, (dtype, values) in enumerate(chosen)
    ]
    frame = pl.DataFrame(columns)
    return draw(st.sampled_from([frame, frame[1:-1], frame.reverse(), pl.concat([frame, frame], rechunk=False)]))


@THOROUGH
@given(polars_frames())
def test_a_polars_frame_and_its_series_arrive_equal(frame: pl.DataFrame) -> None:
    assert_same(frame, arrived(frame))
    for series in frame:
        assert_same(series, arrived(series))


def test_a_lazy_polars_frame_is_not_run_to_copy_it() -> None:
    lazy = pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a") > 1)
    assert arrived(lazy).collect().equals(lazy.collect())


@st.composite
def arrow_tables(draw: st.DrawFn) -> Any:
    rows = draw(st.integers(0, ROWS))
    columns = draw(st.lists(arrow_arrays(rows), min_size=1, max_size=4))
    fields = [
        pa.field(f"c{index}", column.type, metadata={"unit": "m"} if index else None)
        for index, column in enumerate(columns)
    ]
    table = pa.table(columns, schema=pa.schema(fields, metadata={"made": "here"}))
    return draw(
        st.sampled_from([table, table.slice(rows // 3, 2), pa.concat_tables([table, table]), table.slice(0, 1)])
    )


@THOROUGH
@given(arrow_tables())
def test_an_arrow_table_and_its_parts_arrive_equal(table: Any) -> None:
    assert_same(table, arrived(table, large_bytes=8))
    for part in (*table.to_batches(), *table.columns):
        assert_same(part, arrived(part))


@pytest.mark.parametrize("rows", [slice(5, 8), slice(0, 3), slice(4_998, None), slice(7, 7)])
@pytest.mark.parametrize("kind", ["array", "table", "list", "struct", "frame", "series of texts", "view", "polars"])
def test_a_slice_carries_no_rows_but_its_own(kind: str, rows: slice, tmp_path: Path) -> None:
    """The user may have cut the others off because of what is in them."""
    texts = [f"secret {row}" for row in range(5_000)]
    kinds: dict[str, Callable[[], Any]] = {
        "array": lambda: pa.array(texts),
        "table": lambda: pa.table({"s": texts, "n": range(5_000)}),
        "list": lambda: pa.array([[text] for text in texts]),
        "struct": lambda: pa.array([{"s": text} for text in texts]),
        "frame": lambda: pd.DataFrame({"s": texts, "n": range(5_000)}),
        "series of texts": lambda: pd.Series(texts, dtype="string[pyarrow]"),
        "view": lambda: pa.array(texts, pa.string_view()),
        "polars": lambda: pl.DataFrame({"s": texts}),
    }
    whole = kinds[kind]()
    part = whole.iloc[rows] if kind in {"frame", "series of texts"} else whole[rows]
    spool = Spool(tmp_path, max_bytes=1 << 26)
    manifest = spool.export({"part": part}, ("part",), required=True)
    assert_same(part, loaded(tmp_path, manifest)["part"])
    shown = {text.encode() for text in texts[rows]}
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert content.count(b"secret ") == len(shown)
    assert all(text in content for text in shown)


def test_a_part_of_an_arrow_union_is_refused_because_it_would_carry_the_rest(tmp_path: Path) -> None:
    texts = pa.array([f"secret {row}" for row in range(100)])
    union = pa.UnionArray.from_dense(pa.array([0] * 100, pa.int8()), pa.array(range(100), pa.int32()), [texts])
    with pytest.raises(VariableError, match="part of an Arrow array of type dense_union"):
        Spool(tmp_path, max_bytes=1 << 20).export({"part": union[5:8]}, ("part",), required=True)
    assert list(tmp_path.iterdir()) == []
    assert_same(union, arrived(union))


# --- other libraries ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_sparse_matrices_of_scipy_arrive_equal(form: str) -> None:
    sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
    for made in (sparse.eye(5, 4).asformat(form), sparse.eye_array(5, 4).asformat(form)):
        got = arrived(made)
        assert type(got) is type(made)
        assert got.dtype == made.dtype
        assert np.array_equal(got.toarray(), made.toarray())


def test_a_data_set_of_xarray_arrives_equal() -> None:
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    stamps = pd.date_range("2013-01-01", periods=3)
    data = xarray.Dataset(
        {"t": (("time", "x"), np.arange(6.0).reshape(3, 2), {"unit": "K"})},
        coords={"time": stamps},
        attrs={"by": "me"},
    )
    for value in (data, data["t"]):
        got = arrived(value)
        assert type(got) is type(value)
        assert got.identical(value)


def test_a_frame_of_geopandas_arrives_equal() -> None:
    geopandas = pytest.importorskip("geopandas", reason="geopandas is not installed")
    points = geopandas.GeoSeries.from_xy([0.5, 1.5], [2.5, 3.5], crs="EPSG:4326")
    frame = geopandas.GeoDataFrame({"name": ["a", "b"]}, geometry=points)
    got = arrived(frame)
    assert type(got) is type(frame)
    assert got.crs == frame.crs
    assert got.geom_equals(frame).all()
    assert got.name.equals(frame.name)


# --- what cannot be copied ----------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an open file": (lambda: io.TextIOWrapper(io.BytesIO()), "TextIOWrapper"),
    "a generator": (lambda: (i for i in range(3)), "generator"),
    "an unnamed function": (lambda: lambda x: x, "<lambda>"),
    "a reader": (lambda: pa.table({"a": [1]}).to_reader(), "reader"),
    "a frame with a generator in a cell": (lambda: pd.DataFrame({"o": [(i for i in range(3))]}), "generator"),
    "a memory view": (lambda: memoryview(b"abc"), "memoryview"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_copy_says_why_by_name_and_leaves_no_file(case: str, tmp_path: Path) -> None:
    make, name = REFUSED[case]
    with pytest.raises(VariableError, match=f"'value' cannot be copied: .*{name}"):
        Spool(tmp_path, max_bytes=1 << 20).export({"value": make()}, ("value",), required=True)
    assert list(tmp_path.iterdir()) == []


def test_decimals_are_among_the_objects() -> None:
    """A guard of this file: the values above reach what is compared."""
    with pytest.raises(AssertionError):
        assert_same([decimal.Decimal("1.10")], [1.10])
