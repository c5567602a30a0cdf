"""Columns, samples and conditions: the part is what was asked for, the live frame is what it was."""

from __future__ import annotations

import hashlib
import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

from jupyter_codeagent.sandbox.data.condition import parse_condition
from jupyter_codeagent.sandbox.data.limits import format_too_large, rows_that_fit
from jupyter_codeagent.sandbox.data.subset import SubsetRequest, take_subset
from jupyter_codeagent.types.errors import VariableError


def flights(rows: int = 1000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "origin": pd.Categorical(rng.choice(["JFK", "LGA", "EWR"], rows)),
            "dep_delay": rng.normal(10, 40, rows),
            "arr_delay": rng.normal(10, 40, rows),
            "carrier": rng.choice(["AA", "UA"], rows),
        },
        index=pd.date_range("2013-01-01", periods=rows, freq="min", name="when"),
    )
    frame.attrs["source"] = "made up"
    return frame


def digest(frame: pd.DataFrame) -> str:
    sums = hashlib.sha256(pd.util.hash_pandas_object(frame).to_numpy().tobytes())
    sums.update(repr((list(frame.columns), list(frame.dtypes), frame.attrs, frame.index.name)).encode())
    return sums.hexdigest()


def test_a_part_has_the_wanted_columns_and_rows_and_keeps_index_dtypes_categories_and_attrs() -> None:
    frame = flights()
    wanted = SubsetRequest(
        columns=("dep_delay", "origin"), sample=50, where=parse_condition("arr_delay > 0 and carrier == 'AA'")
    )
    narrowed = take_subset("flights", frame, wanted)
    matching = frame[(frame.arr_delay > 0) & (frame.carrier == "AA")]
    assert len(narrowed.value) == 50
    assert narrowed.value.index.is_monotonic_increasing  # original order
    assert_frame_equal(narrowed.value, frame.loc[narrowed.value.index, ["origin", "dep_delay"]], check_freq=False)
    assert set(narrowed.value.index) <= set(matching.index)
    assert narrowed.value.attrs == {"source": "made up"}
    assert narrowed.note == (
        f"random sample of the {len(matching)} of 1000 rows where arr_delay > 0 and carrier == 'AA'; 2 of 4 columns"
    )


def test_a_sample_is_spread_over_the_whole_frame_and_is_the_same_each_time() -> None:
    frame = flights(10_000)
    first, second = (take_subset("f", frame, SubsetRequest(sample=500)).value for _ in range(2))
    assert_frame_equal(first, second)
    positions = frame.index.get_indexer(first.index)
    assert positions.min() < 200
    assert positions.max() > 9800
    assert len(set(np.diff(positions))) > 5  # not every twentieth


def test_a_frame_that_has_no_more_rows_than_the_sample_is_left_whole() -> None:
    frame = flights(100)
    narrowed = take_subset("f", frame, SubsetRequest(sample=100))
    assert narrowed.note == ""
    assert_frame_equal(narrowed.value, frame)


def test_the_live_frame_is_bit_for_bit_the_same_after_its_part_is_taken_and_even_changed() -> None:
    frame = flights()
    before = digest(frame)
    part = take_subset("f", frame, SubsetRequest(columns=("dep_delay",))).value
    part.iloc[:, 0] = 0.0
    part["new"] = 1
    assert digest(frame) == before
    rows = take_subset("f", frame, SubsetRequest(sample=10, where=parse_condition("dep_delay > 0"))).value
    rows["dep_delay"] = 1.0
    assert digest(frame) == before


def test_columns_of_a_large_frame_are_views_and_a_sample_costs_no_more_than_itself() -> None:
    frame = pd.DataFrame(np.zeros((200_000, 20)), columns=[f"c{n}" for n in range(20)])
    whole_bytes = frame.memory_usage().sum()
    tracemalloc.start()
    try:
        columns = take_subset("f", frame, SubsetRequest(columns=("c3", "c7", "c19"))).value
        columns_peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        part = take_subset("f", frame, SubsetRequest(columns=("c3", "c7"), where=parse_condition("c5 > 1"))).value
        where_peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert np.shares_memory(columns["c7"].to_numpy(), frame["c7"].to_numpy())
    assert columns_peak < whole_bytes / 100
    assert len(part) == 0
    assert where_peak < whole_bytes / 20  # a mask: one byte for a row of 160


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_polars_and_arrow_frames_keep_their_type_and_dtypes(library: str) -> None:
    table = pa.table({"a": pa.array(range(1000), pa.int16()), "b": ["x", None] * 500, "c": [1.5] * 1000})
    frame: Any = pl.from_arrow(table) if library == "polars" else table
    narrowed = take_subset(
        "f", frame, SubsetRequest(columns=("b", "a"), sample=20, where=parse_condition("c == 1.5 and a >= 500"))
    )
    assert type(narrowed.value) is type(frame)
    assert narrowed.value.shape == (20, 2)
    assert narrowed.note == "random sample of the 500 of 1000 rows where c == 1.5 and a >= 500; 2 of 3 columns"
    numbers = list(narrowed.value["a"]) if library == "polars" else narrowed.value["a"].to_pylist()
    assert numbers == sorted(numbers)
    assert min(numbers) >= 500
    kind = frame.schema["a"] if library == "polars" else frame.schema.field("a").type
    assert (narrowed.value.schema["a"] if library == "polars" else narrowed.value.schema.field("a").type) == kind


def test_a_geodataframe_stays_one() -> None:
    gpd = pytest.importorskip("geopandas", reason="geopandas is not installed")
    frame = gpd.GeoDataFrame({"n": range(100)}, geometry=gpd.points_from_xy(range(100), range(100)), crs=4326)
    part = take_subset("g", frame, SubsetRequest(sample=10, where=parse_condition("n >= 50"))).value
    assert type(part) is gpd.GeoDataFrame
    assert part.crs == frame.crs
    assert len(part) == 10


def test_a_series_is_sampled_and_a_condition_for_other_frames_leaves_a_frame_whole() -> None:
    series = pd.Series(range(1000), name="s")
    assert len(take_subset("s", series, SubsetRequest(sample=10)).value) == 10
    planes = pd.DataFrame({"seats": range(10)})
    assert take_subset("planes", planes, SubsetRequest(where=parse_condition("dep_delay > 60"))).note == ""


def test_names_that_are_no_text_and_names_that_occur_twice_are_found() -> None:
    frame = pd.DataFrame([[1, 2, 3]], columns=[2013, "a", "a"])
    assert list(take_subset("f", frame, SubsetRequest(columns=("2013",))).value.columns) == [2013]
    assert take_subset("f", frame, SubsetRequest(columns=("a",))).value.shape == (1, 2)
    with pytest.raises(VariableError, match="2 columns are called 'a'"):
        take_subset("f", frame, SubsetRequest(where=parse_condition("a > 1")))


def test_an_unknown_column_is_told_with_the_nearest_ones() -> None:
    with pytest.raises(VariableError, match=r"'f' has no column 'dep_dela'; did you mean 'dep_delay'"):
        take_subset("f", flights(), SubsetRequest(columns=("dep_dela",)))


def test_a_comparison_that_the_library_refuses_is_one_line_with_its_reason() -> None:
    with pytest.raises(VariableError, match=r"^--where \"dep_delay > 'x'\" does not fit 'f': TypeError"):
        take_subset("f", flights(), SubsetRequest(where=parse_condition("dep_delay > 'x'")))
    with pytest.raises(VariableError, match="not a condition"):
        take_subset("f", flights(), SubsetRequest(where=parse_condition("dep_delay + 1")))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_the_error_of_a_large_frame_names_three_ways_and_each_of_them_fits(kind: str) -> None:
    rows = 100_000
    data = {"name": ["x" * 100] * rows, "unit cost": np.arange(rows) / 7, "n": np.arange(rows)}
    frame: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[kind](data)
    limit_bytes = 2 << 20
    text = format_too_large("big", frame, size_bytes=12 << 20, limit_bytes=limit_bytes)
    assert "'big' is about 12 MiB; copies of one run are limited to 2 MiB." in text
    assert """--vars "big['unit cost',n]\"""" in text
    from jupyter_codeagent.entrypoints.options import parse_options

    sample = int(text.split("--sample ")[1].split(",")[0])
    condition = text.split('--where "')[1].split('"')[0]
    options = parse_options(f"""--vars "big['unit cost',n]" --sample {sample} --where "{condition}\"""")
    columns = take_subset("big", frame, SubsetRequest(columns=dict(options.columns)["big"])).value
    sampled = take_subset("big", frame, SubsetRequest(sample=options.sample)).value
    assert options.where is not None
    matching = take_subset("big", frame, SubsetRequest(where=parse_condition(options.where))).value
    assert size_of(columns) <= limit_bytes
    assert limit_bytes / 2 < size_of(sampled) <= limit_bytes
    assert 0 < len(matching) < rows


def size_of(frame: Any) -> int:
    if isinstance(frame, pd.DataFrame):
        return int(frame.memory_usage(deep=True).sum())
    return int(frame.estimated_size() if isinstance(frame, pl.DataFrame) else frame.nbytes)


def test_the_rows_that_fit_are_rounded_down_to_two_digits() -> None:
    assert rows_that_fit(1_000_000, 1000, 500) == 450_000
    assert rows_that_fit(336_776, 100 << 20, 10 << 20) == 30_000
    assert rows_that_fit(10, 1000, 0) == 0
