"""Copies are never stale: however a library lets a value be changed in place, the next run gets the new state.

Each way is tried on a fresh value: an export, an export of the unchanged value that writes nothing, the change, an
export that has to arrive equal to the changed value.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from transfer_cases import loaded
from transfer_equality import assert_same

from jupyter_codeagent.sandbox.data import layout
from jupyter_codeagent.sandbox.data.spool import Spool

ROWS = 2_000
"""16 kB a column: with the limit below, buffers have pieces of their own."""
Change = Callable[[Any], Any]
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1: people will go on using it


@pytest.fixture(autouse=True, params=["large buffers", "small buffers"])
def large_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "large buffers":
        monkeypatch.setattr(layout, "LARGE_BYTES", 1 << 10)


def check(value: Any, change: Change, directory: Path) -> None:
    spool = Spool(directory, max_bytes=1 << 28)
    namespace = {"value": value}
    first = spool.export(namespace, ("value",), required=True)
    state = {path.name: path.stat().st_mtime_ns for path in directory.iterdir()}
    assert spool.export(namespace, ("value",), required=True) == first
    assert {path.name: path.stat().st_mtime_ns for path in directory.iterdir()} == state
    before = loaded(directory, first)["value"]
    assert_same(before, value)
    change(value)
    second = spool.export(namespace, ("value",), required=True)
    assert second.copied[0].version > first.copied[0].version
    assert_same(loaded(directory, second)["value"], value)
    with pytest.raises(AssertionError):  # else the change would have changed nothing that is looked at
        assert_same(before, value)


def frame() -> pd.DataFrame:
    numbers = np.random.default_rng(0)
    made = pd.DataFrame(numbers.random((ROWS, 4)), columns=list("abcd"))
    made["n"] = np.arange(ROWS)
    made["i"] = pd.array(np.arange(ROWS), dtype="Int64")
    made["s"] = pd.Series([f"text {row % 100}" for row in range(ROWS)], dtype="str")
    made["k"] = pd.Categorical(["x", "y"] * (ROWS // 2), categories=["x", "y", "z"])
    made["t"] = pd.date_range("2013-01-01", periods=ROWS, freq="s")
    objects: Any = [{"row": row} for row in range(ROWS)]
    made["o"] = objects
    made["w"] = pd.array(range(ROWS), dtype="int64[pyarrow]")
    return made


def writable(series: pd.Series[Any]) -> np.ndarray[Any, Any]:
    """The live memory: pandas hands it out read only, and anybody can turn that off."""
    values = series.to_numpy()
    while values.base is not None and isinstance(values.base, np.ndarray) and not values.flags.writeable:
        try:
            values.flags.writeable = True
        except ValueError:
            values = values.base
    values.flags.writeable = True
    return values


def set_item(target: Any, key: Any, value: Any) -> bool:
    target[key] = value
    return True


FRAME_WAYS: dict[str, Change] = {
    "loc": lambda df: set_item(df.loc, (7, "a"), -1.0),
    "loc with a mask": lambda df: set_item(df.loc, (df["a"] > 0.5, "b"), 0.0),
    "loc of a new row": lambda df: set_item(df.loc, ROWS, df.iloc[0]),
    "iloc": lambda df: set_item(df.iloc, (ROWS - 1, 3), -1.0),
    "at": lambda df: set_item(df.at, (3, "n"), -1),
    "iat": lambda df: set_item(df.iat, (3, 1), -1.0),
    "at in a nullable column": lambda df: set_item(df.at, (3, "i"), pd.NA),
    "at in a column of texts": lambda df: set_item(df.at, (3, "s"), "TEXT"),
    "at in a categorical": lambda df: set_item(df.at, (3, "k"), "z"),
    "at in a column of times": lambda df: set_item(df.at, (3, "t"), pd.Timestamp("2000-01-01")),
    "at in an Arrow column": lambda df: set_item(df.at, (3, "w"), -1),
    "a column set": lambda df: set_item(df, "a", df["a"] * 2),
    "a column added": lambda df: set_item(df, "new", df["a"] * 2),
    "operators in place": lambda df: set_item(df, "a", df["a"].__iadd__(1)),
    "insert": lambda df: df.insert(1, "new", 5),
    "pop": lambda df: df.pop("b"),
    "del": lambda df: df.__delitem__("b"),
    "drop columns": lambda df: df.drop(columns="b", inplace=True),
    "drop rows": lambda df: df.drop(index=range(5), inplace=True),
    "rename": lambda df: df.rename(columns={"a": "z"}, inplace=True),
    "columns": lambda df: setattr(df, "columns", [*"zbcd", *df.columns[4:]]),
    "name of the columns": lambda df: setattr(df.columns, "name", "of"),
    "index": lambda df: setattr(df, "index", df.index + 1),
    "name of the index": lambda df: setattr(df.index, "name", "row"),
    "names of the index": lambda df: setattr(df.index, "names", ["row"]),
    "set_index": lambda df: df.set_index("n", inplace=True),
    "reset_index": lambda df: df.reset_index(inplace=True),
    "sort_values": lambda df: df.sort_values("a", inplace=True),
    "sort_index": lambda df: df.sort_index(ascending=False, inplace=True),
    "sort_values without the index": lambda df: df.sort_values("a", inplace=True, ignore_index=True),
    "fillna": lambda df: (set_item(df.loc, (1, "a"), np.nan), df.fillna({"a": 9.0}, inplace=True)),
    "dropna": lambda df: (set_item(df.loc, (1, "a"), np.nan), df.dropna(inplace=True)),
    "mask": lambda df: df.mask(df["a"] > 0.5, inplace=True),
    "where": lambda df: df.where(df["a"] > 0.5, inplace=True),
    "replace": lambda df: df.replace({"n": {5: 6}}, inplace=True),
    "clip": lambda df: set_item(df, ["a", "b"], df[["a", "b"]].clip(upper=0.5)),
    "eval": lambda df: df.eval("a = b * 2", inplace=True),
    "query": lambda df: df.query("a > 0.5", inplace=True),
    "update": lambda df: df.update(pd.DataFrame({"a": [5.0]}, index=[3])),
    "drop_duplicates": lambda df: df.drop_duplicates("s", inplace=True),
    "interpolate": lambda df: (set_item(df.loc, (1, "a"), np.nan), set_item(df, "a", df["a"].interpolate())),
    "attrs": lambda df: df.attrs.update(unit="m"),
    "flags": lambda df: setattr(df.flags, "allows_duplicate_labels", False),
    "memory of to_numpy": lambda df: set_item(writable(df["a"]), 5, -1.0),
    "memory of a categorical's codes": lambda df: set_item(df["k"].array._codes, 0, 2),
    "memory of a nullable column": lambda df: set_item(df["i"].array._data, 5, -1),
    "mask of a nullable column": lambda df: set_item(df["i"].array._mask, 5, True),
    "setitem of an extension array": lambda df: set_item(df["i"].array, 5, 99),
    "categories renamed": lambda df: set_item(df, "k", df["k"].cat.rename_categories({"x": "q"})),
    "categories reordered": lambda df: set_item(df, "k", df["k"].cat.reorder_categories(["z", "y", "x"])),
    "categories ordered": lambda df: set_item(df, "k", df["k"].cat.as_ordered()),
    "an unused category removed": lambda df: set_item(df, "k", df["k"].cat.remove_unused_categories()),
    "inside an object": lambda df: df["o"].iloc[3].update(row=-1),
    "a new dtype": lambda df: set_item(df, "n", df["n"].astype("int32")),
    "a time zone": lambda df: set_item(df, "t", df["t"].dt.tz_localize("UTC")),
    "isetitem": lambda df: df.isetitem(0, np.zeros(ROWS)),
    "assignment to several columns": lambda df: set_item(df, ["a", "b"], 0.0),
    "a buffer of an Arrow column": lambda df: set_item(arrow_memory(df["w"].array._pa_array.chunk(0)), 5, -1),
    "a buffer of texts": lambda df: set_item(arrow_memory(df["s"].array._pa_array.chunk(0), -1, "u1"), 5, 90),
}


def arrow_memory(array: Any, buffer: int = 1, dtype: str = "i8") -> np.ndarray[Any, Any]:
    """Arrow's arrays cannot be changed, by those who keep to the rules."""
    import ctypes

    found = array.buffers()[buffer]
    memory = (ctypes.c_char * found.size).from_address(found.address)
    return np.frombuffer(memory, dtype)


@pytest.mark.parametrize("way", FRAME_WAYS)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_frame_changed_in_place_is_sent_anew(way: str, tmp_path: Path) -> None:
    check(frame(), FRAME_WAYS[way], tmp_path)


SERIES_WAYS: dict[str, Change] = {
    "setitem": lambda s: set_item(s, 5, -1.0),
    "iloc": lambda s: set_item(s.iloc, -1, -1.0),
    "a slice": lambda s: set_item(s.iloc, slice(5, 9), -1.0),
    "name": lambda s: setattr(s, "name", "z"),
    "update": lambda s: s.update(pd.Series([9.0], index=[3])),
    "sort_values": lambda s: s.sort_values(inplace=True),
    "mask": lambda s: s.mask(s > 0.5, 0.0, inplace=True),
    "operator": lambda s: s.__iadd__(1),
    "memory": lambda s: set_item(writable(s), 5, -1.0),
    "index name": lambda s: setattr(s.index, "name", "row"),
}


@pytest.mark.parametrize("way", SERIES_WAYS)
def test_a_series_changed_in_place_is_sent_anew(way: str, tmp_path: Path) -> None:
    check(pd.Series(np.random.default_rng(0).random(ROWS), name="a"), SERIES_WAYS[way], tmp_path)


NUMPY_WAYS: dict[str, Change] = {
    "setitem": lambda a: set_item(a, (3, 3), -1.0),
    "the last number": lambda a: set_item(a, (-1, -1), -1.0),
    "the sign of a zero": lambda a: set_item(a, (0, 0), -0.0),
    "a view": lambda a: set_item(a[::7, 2], slice(None), 0.0),
    "a view of another type": lambda a: set_item(a.view("i8"), (5, 1), 1),
    "a transposed view": lambda a: set_item(a.T, (1, 5), -1.0),
    "a memory view": lambda a: set_item(memoryview(a), (5, 1), -1.0),
    "out": lambda a: np.multiply(a, 2, out=a),
    "an operator": lambda a: a.__imul__(2),
    "copyto": lambda a: np.copyto(a[5], 7.0),
    "put": lambda a: np.put(a, [17], -1.0),
    "place": lambda a: np.place(a, a > 0.5, 0.0),
    "putmask": lambda a: np.putmask(a, a > 0.5, 0.0),
    "fill_diagonal": lambda a: np.fill_diagonal(a, 5.0),
    "at of a ufunc": lambda a: np.add.at(a, (5, 1), 1.0),
    "fill": lambda a: a.fill(1.0),
    "sort": lambda a: a.sort(axis=0),
    "partition": lambda a: a[:, 0].partition(100),
    "byteswap": lambda a: a.byteswap(inplace=True),
    "flat": lambda a: set_item(a.flat, 11, -1.0),
    "itemset by a buffer": lambda a: set_item(np.frombuffer(a, "u1"), 0, 9),
    "shuffle": lambda a: np.random.default_rng(1).shuffle(a),
    "resize": lambda a: a.resize((ROWS + 1, 4), refcheck=False),
    "readinto": lambda a: __import__("io").BytesIO(bytes(64)).readinto(memoryview(a[9:11])),
    "read only": lambda a: setattr(a.flags, "writeable", False),
}


@pytest.mark.parametrize("way", NUMPY_WAYS)
def test_an_array_changed_in_place_is_sent_anew(way: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((ROWS, 4))
    values[0, 0] = 0.0
    check(values, NUMPY_WAYS[way], tmp_path)


def test_a_file_that_is_mapped_and_changed_by_others_is_sent_anew(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    values = np.memmap(tmp_path / "data", "f8", "w+", shape=(ROWS,))
    other = np.memmap(tmp_path / "data", "f8", "r+", shape=(ROWS,))
    check(values, lambda _: set_item(other, 17, 5.0), tmp_path / "spool")


def test_masked_and_structured_arrays_changed_in_place_are_sent_anew(tmp_path: Path) -> None:
    ways: list[tuple[Any, Change]] = [
        (np.ma.masked_array(np.arange(9.0), mask=np.zeros(9, "?")), lambda a: set_item(a, 3, np.ma.masked)),
        (np.ma.masked_array(np.arange(9.0)), lambda a: set_item(a.data, 3, -1.0)),
        (np.zeros(ROWS, [("a", "i4"), ("b", "f8")]), lambda a: set_item(a["b"], 7, 1.0)),
    ]
    for number, (value, change) in enumerate(ways):
        (tmp_path / str(number)).mkdir()
        check(value, change, tmp_path / str(number))


POLARS_WAYS: dict[str, Change] = {
    "insert_column": lambda df: df.insert_column(0, pl.Series("new", range(ROWS))),
    "replace_column": lambda df: df.replace_column(0, pl.Series("new", range(ROWS))),
    "setitem": lambda df: set_item(df, (3, "a"), -1),
    "drop_in_place": lambda df: df.drop_in_place("b"),
    "extend": lambda df: df.extend(df.head(2)),
    "columns": lambda df: setattr(df, "columns", ["y", "z"]),
    "memory of to_numpy": lambda df: set_item(polars_memory(df["a"]), 5, -1),
}


def polars_memory(series: pl.Series) -> np.ndarray[Any, Any]:
    """To_numpy shares it, read only."""
    import ctypes

    values: Any = series.to_numpy(allow_copy=False)
    memory: Any = (ctypes.c_char * values.nbytes).from_address(values.__array_interface__["data"][0])
    found: np.ndarray[Any, Any] = np.frombuffer(memory, values.dtype)
    return found


@pytest.mark.parametrize("way", POLARS_WAYS)
def test_a_polars_frame_changed_in_place_is_sent_anew(way: str, tmp_path: Path) -> None:
    check(pl.DataFrame({"a": range(ROWS), "b": ["x", "y"] * (ROWS // 2)}), POLARS_WAYS[way], tmp_path)


def test_an_arrow_table_changed_through_its_memory_is_sent_anew(tmp_path: Path) -> None:
    """As a library does that shares memory with numpy."""
    values = np.arange(ROWS)
    table = pa.table({"a": pa.Array.from_buffers(pa.int64(), ROWS, [None, pa.py_buffer(values)])})
    check(table, lambda _: set_item(values, 5, -1), tmp_path)


PLAIN_WAYS: dict[str, tuple[Callable[[], Any], Change]] = {
    "a list": (lambda: [1, [2, [3]]], lambda v: v[1][1].append(4)),
    "a dict": (lambda: {"a": {"b": [1, 2]}}, lambda v: v["a"]["b"].__setitem__(0, 9)),
    "the order of a dict": (lambda: {"a": 1, "b": 2}, lambda v: v.__setitem__("a", v.pop("a"))),
    "a set": (lambda: {1, 2}, lambda v: v.add(3)),
    "a bytearray": (lambda: bytearray(100_000), lambda v: v.__setitem__(99_999, 1)),
    "frames in a dict": (lambda: {"one": frame()}, lambda v: v["one"].__setitem__("a", 0.0)),
    "an array in a list": (lambda: [np.zeros(ROWS)], lambda v: v[0].__setitem__(5, 1.0)),
}


@pytest.mark.parametrize("way", PLAIN_WAYS)
def test_a_container_changed_inside_is_sent_anew(way: str, tmp_path: Path) -> None:
    make, change = PLAIN_WAYS[way]
    check(make(), change, tmp_path)


def test_an_estimator_that_is_fitted_again_is_sent_anew(tmp_path: Path) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    model = linear_model.LinearRegression().fit(x, y)
    spool = Spool(tmp_path, max_bytes=1 << 26)
    first = spool.export({"model": model}, ("model",), required=True)
    assert spool.export({"model": model}, ("model",), required=True) == first
    model.fit(x, y * 3)
    second = spool.export({"model": model}, ("model",), required=True)
    assert second != first
    got = loaded(tmp_path, second)["model"]
    assert np.array_equal(got.predict(x), model.predict(x))
    assert pickle.dumps(got.coef_) == pickle.dumps(model.coef_)
