"""Hidden columns are in no description and no copy; the user's own object is not changed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from jupyter_codeagent.types.errors import UsageError, VariableError
from jupyter_codeagent.variables.privacy.column_filter import NotNarrowableError, check_columns, without_columns
from jupyter_codeagent.variables.privacy.column_lists import list_columns

HIDDEN = frozenset({"tailnum"})
CANARY = "canary-71423"
FACT = b"fact-71423"
MAY_HOLD_ANYTHING = ("facts", "arrow metadata", "metadata of a field", "attributes in arrow")


def frame() -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2], "tailnum": [CANARY, "x"], "b": [3, 4], "c": [0.5, 1.5]})


def indexed() -> pd.DataFrame:
    return frame().set_index("tailnum")


def many_levels() -> pd.DataFrame:
    wide = frame()
    wide.columns = pd.MultiIndex.from_tuples([("x", "a"), ("tailnum", CANARY), ("y", "b"), ("y", "c")])
    return wide


def categorical_labels() -> pd.DataFrame:
    wide = frame()
    wide.columns = pd.CategoricalIndex(wide.columns)
    return wide


def with_facts() -> pd.DataFrame:
    facts = frame()
    facts.attrs = {"tailnum": CANARY, "units": {"tailnum": CANARY, "a": "m"}, "order": ["a", FACT.decode()]}
    return facts


def arrow_with_pandas_metadata() -> pa.Table:
    return pa.Table.from_pandas(indexed())


def arrow_with_own_metadata() -> pa.Table:
    return pa.Table.from_pandas(frame()).replace_schema_metadata({"primary": "tailnum", "of": FACT})


def arrow_with_metadata_of_a_field() -> pa.Table:
    table = pa.Table.from_pandas(frame())
    return table.cast(table.schema.set(0, table.schema.field(0).with_metadata({"note": FACT})))


def records() -> Any:
    return np.array([(1, CANARY, 2)], dtype=[("a", "i4"), ("tailnum", "U20"), ("b", "i4")])


KINDS: dict[str, Callable[[], Any]] = {
    "frame": frame,
    "index": indexed,
    "many index levels": lambda: frame().set_index(["a", "tailnum"]),
    "many column levels": many_levels,
    "categorical labels": categorical_labels,
    "facts": with_facts,
    "series by its index": lambda: indexed()["a"],
    "index of many levels": lambda: frame().set_index(["a", "tailnum"]).index,
    "polars": lambda: pl.from_pandas(frame()),
    "arrow": arrow_with_pandas_metadata,
    "arrow batch": lambda: arrow_with_pandas_metadata().to_batches()[0],
    "arrow metadata": arrow_with_own_metadata,
    "metadata of a field": arrow_with_metadata_of_a_field,
    "attributes in arrow": lambda: pa.Table.from_pandas(with_facts()),
    "records": records,
    "dict": lambda: {"a": 1, "tailnum": CANARY},
    "slice of one block": lambda: pd.DataFrame([[1, 71423, 2]], columns=["a", "tailnum", "b"], dtype="int64"),
}


def bytes_of(value: object) -> bytes:
    """As a copy for the sandbox carries it, out-of-band buffers as well."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return head + b"".join(bytes(buffer.raw()) for buffer in buffers)


@pytest.mark.parametrize("kind", KINDS)
def test_neither_name_nor_values_of_a_hidden_column_are_in_the_bytes_of_a_copy(kind: str) -> None:
    value = KINDS[kind]()
    whole, narrowed = bytes_of(value), bytes_of(without_columns(value, HIDDEN))
    canaries = [CANARY.encode(), CANARY.encode("utf-32-le"), (71423).to_bytes(8, "little")]
    assert any(canary in whole for canary in canaries)
    assert b"tailnum" in whole
    for canary in (*canaries, b"tailnum"):
        assert canary not in narrowed


@pytest.mark.parametrize("kind", KINDS)
def test_the_users_own_object_is_not_changed(kind: str) -> None:
    value = KINDS[kind]()
    before = bytes_of(value)
    without_columns(value, HIDDEN)
    assert bytes_of(value) == before


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_nothing_hidden_is_the_same_object_or_equal(kind: str) -> None:
    value = KINDS[kind]()
    same = without_columns(value, frozenset({"nosuch"}))
    assert without_columns(value, frozenset()) is value
    assert same is value or kind in MAY_HOLD_ANYTHING or bytes_of(same) == bytes_of(value)


@pytest.mark.parametrize("kind", MAY_HOLD_ANYTHING)
def test_what_hangs_on_a_frame_of_which_something_is_hidden_does_not_come_along(kind: str) -> None:
    """It may tell of the hidden column in words of its own, or after the column is gone."""
    whole, narrowed = bytes_of(KINDS[kind]()), bytes_of(without_columns(KINDS[kind](), frozenset({"nosuch"})))
    assert FACT in whole
    assert FACT not in narrowed
    assert CANARY.encode() in narrowed


def test_the_visible_columns_are_views_of_the_users_own_memory() -> None:
    wide = pd.DataFrame(np.ones((100, 6)), columns=list("abcdef"))
    narrowed = without_columns(wide, frozenset({"b", "e"}))
    assert list(narrowed) == ["a", "c", "d", "f"]
    assert all(np.shares_memory(narrowed[name].to_numpy(), wide[name].to_numpy()) for name in narrowed)


def test_what_is_visible_is_equal_to_the_users_frame_without_the_column() -> None:
    facts = with_facts()
    days = facts.index = pd.date_range("2024", periods=2, name="day")
    facts = facts.set_flags(allows_duplicate_labels=False)
    narrowed = without_columns(facts, HIDDEN)
    pd.testing.assert_frame_equal(narrowed, facts.drop(columns="tailnum"), check_flags=True)
    table = pa.Table.from_pandas(frame().set_index("a"))
    pd.testing.assert_frame_equal(
        without_columns(table, HIDDEN).to_pandas(), frame().set_index("a").drop(columns="tailnum")
    )
    assert narrowed.attrs == {}
    assert narrowed.index is days or narrowed.index.equals(days)


def test_duplicate_and_non_string_labels_are_hidden_by_their_text() -> None:
    odd = pd.DataFrame([[1, 2, 3, 4]], columns=pd.Index([1, "x", 1, None], dtype=object))
    assert list(without_columns(odd, frozenset({"1"})).columns) == ["x", None]
    assert list(without_columns(odd, frozenset({"None"})).columns) == [1, "x", 1]


def test_a_top_label_hides_all_columns_below_it() -> None:
    assert without_columns(many_levels(), frozenset({"y"})).columns.tolist() == [("x", "a"), ("tailnum", CANARY)]
    assert without_columns(many_levels(), frozenset({"('y', 'b')"})).shape == (2, 3)


def test_with_all_columns_hidden_the_rows_are_still_counted() -> None:
    assert without_columns(frame(), frozenset({"a", "tailnum", "b", "c"})).shape == (2, 0)


def test_a_geo_frame_stays_one_unless_its_geometry_is_hidden() -> None:
    geopandas = pytest.importorskip("geopandas")
    points = geopandas.GeoSeries.from_xy([1.0], [2.0], crs=4326)
    places = geopandas.GeoDataFrame({"a": [1], "tailnum": [2]}, geometry=points)
    narrowed = without_columns(places, HIDDEN)
    assert type(narrowed) is geopandas.GeoDataFrame
    assert narrowed.crs == places.crs
    assert type(without_columns(places, frozenset({"geometry"}))) is pd.DataFrame


def test_an_xarray_dataset_loses_the_variable_its_dimension_and_all_attributes() -> None:
    xarray = pytest.importorskip("xarray")
    rows = {"a": ("tailnum", [1], {"note": CANARY}), "b": ("tailnum", [2])}
    dataset = xarray.Dataset(rows, coords={"tailnum": [CANARY]}, attrs={"first": CANARY})
    dataset["a"].encoding = {"coordinates": "tailnum", "source": CANARY}
    narrowed = without_columns(dataset, HIDDEN)
    assert list(narrowed.variables) == ["a", "b"]
    assert dict(narrowed.sizes) == {"dim_0": 1}
    for canary in (CANARY.encode(), b"tailnum"):
        assert canary in bytes_of(dataset)
        assert canary not in bytes_of(narrowed)
    assert dataset["a"].attrs == {"note": CANARY}, "the user's own is as it was"


def test_a_hidden_key_is_gone_from_the_dicts_in_a_dict_as_well() -> None:
    nested = {"a": 1, "rows": [{"tailnum": CANARY, "n": 1}, ({"tailnum": CANARY},)]}
    assert without_columns(nested, HIDDEN) == {"a": 1, "rows": [{"n": 1}, ({},)]}
    assert nested["rows"] == [{"tailnum": CANARY, "n": 1}, ({"tailnum": CANARY},)]


@pytest.mark.parametrize(
    "value",
    [
        pl.LazyFrame({"tailnum": [1]}),
        frame().groupby("tailnum"),
        frame()["tailnum"],
        pl.Series("tailnum", [1]),
        pd.Index([1], name="tailnum"),
        np.ones(3),
        type("Row", (dict,), {})(tailnum=1),
        type("Frame", (pd.DataFrame,), {})(frame()),
        frame().rename_axis(columns="tailnum"),
        CANARY,
        None,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_narrowed_is_refused(value: object) -> None:
    with pytest.raises(NotNarrowableError):
        without_columns(value, HIDDEN)


def test_a_label_that_raises_hides_the_whole_variable() -> None:
    class Label:
        def __str__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(NotNarrowableError, match="RuntimeError"):
        without_columns(pd.DataFrame({Label(): [1]}), HIDDEN)


@pytest.mark.parametrize("kind", KINDS)
def test_every_hidden_label_is_one_that_can_be_listed(kind: str) -> None:
    labels = [column.label for column in list_columns(KINDS[kind]())]
    assert any("tailnum" in label for label in labels)


def test_a_label_that_is_not_there_is_an_error_with_the_nearest_one() -> None:
    check_columns("df", frame(), HIDDEN)
    check_columns("df", many_levels(), frozenset({"y"}))
    with pytest.raises(UsageError, match="df has no column 'tailnun'; did you mean 'tailnum'"):
        check_columns("df", frame(), frozenset({"tailnun"}))
    with pytest.raises(VariableError, match="`%agent hide x` hides it as a whole"):
        check_columns("x", 7, HIDDEN)
