"""Data out of the sandbox: exact where it can be, with a note where it cannot, refused where it lies."""

from __future__ import annotations

import datetime
import decimal
import io
import json
import struct
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transfer_cases import EXACT_BOTH_WAYS, assert_equal

from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue

LIMIT = 64 << 20


def packed_value(value: Any) -> PackedValue:
    kind, meta, data = pack(value, LIMIT)
    assert kind in ("arrow", "npy", "json"), meta
    return PackedValue(kind=kind, meta_json=meta, data=data)  # type: ignore[arg-type]


def round_trip(value: Any) -> tuple[Any, tuple[str, ...]]:
    return unpack(packed_value(value), max_bytes=LIMIT)


@pytest.mark.parametrize("name", EXACT_BOTH_WAYS)
def test_a_pandas_value_comes_back_equal(name: str) -> None:
    got, notes = round_trip(EXACT_BOTH_WAYS[name])
    assert_equal(EXACT_BOTH_WAYS[name], got)
    assert notes == ()


def test_a_frame_that_came_back_is_writable() -> None:
    got, _ = round_trip(pd.DataFrame({"a": [1.0, 2.0], "s": ["x", "y"]}))
    got.loc[0, "a"] = 5.0
    got["a"].to_numpy(copy=False)
    got["a"] += 1
    assert got["a"].tolist() == [6.0, 3.0]


@pytest.mark.parametrize(
    ("frame", "note"),
    [
        (pd.DataFrame({"m": [1, "x", None]}, dtype=object), "column 'm' became text"),
        (pd.DataFrame({"m": [{1, 2}]}), "column 'm' became text"),
        (pd.DataFrame({"m": pd.arrays.SparseArray([0, 0, 1])}), "sparse column 'm' became dense"),
    ],
)
def test_what_has_no_data_form_becomes_text_with_a_note(frame: pd.DataFrame, note: str) -> None:
    got, notes = round_trip(frame)
    assert got.shape == frame.shape
    assert note in notes[0]


def test_polars_and_arrow_come_back_as_what_they_were() -> None:
    frame = pl.DataFrame({"a": [1, None], "s": ["x", "ä"], "d": [datetime.date(2013, 1, 1), None]})
    got, _ = round_trip(frame)
    assert got.equals(frame)
    assert got.schema == frame.schema
    series, _ = round_trip(frame["s"])
    assert series.equals(frame["s"])
    assert series.name == "s"
    table = pa.table({"a": [1, 2], "n": [[1], None]})
    assert round_trip(table)[0].equals(table)


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.array(["a", "bc"]), np.zeros(0), np.array(3.5)])
def test_an_array_comes_back_equal(array: np.ndarray[Any, Any]) -> None:
    got, _ = round_trip(array)
    assert got.dtype == array.dtype
    assert np.array_equal(got, array)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        12345678901234567890,
        -0.5,
        float("inf"),
        "ä\u2028'\"",
        [1, [2.5, None]],
        (1, "a"),
        {"a": (1, 2), 3: None},
        {1, 2},
        datetime.datetime(2013, 1, 1, 5, tzinfo=datetime.UTC),
        datetime.timedelta(days=-1, microseconds=7),
        decimal.Decimal("1.10"),
        2 + 3j,
        b"\x00\xff",
        np.float64(2.5),
        np.int8(-3),
        np.bool_(True),
        np.datetime64("2013-01-01T05", "h"),
        pd.Timestamp("2013-01-01", tz="America/New_York"),
        pd.Timedelta("1h"),
    ],
)
def test_a_plain_value_comes_back_as_what_it_was(value: Any) -> None:
    got, notes = round_trip(value)
    assert got == value
    assert type(got) is type(value)
    assert notes == ()


def test_what_is_no_data_is_refused_with_its_type() -> None:
    kind, text, data = pack(object(), LIMIT)
    assert (kind, data) == ("error", b"")
    assert "cannot come back as data: builtins.object" in text
    assert pack(np.array([object()]), LIMIT)[0] == "error"


def test_a_value_above_the_limit_is_refused_on_both_sides() -> None:
    big = np.zeros(1 << 20)
    assert pack(big, 1 << 20) == ("error", "it is larger than 1 MiB, the limit for one value", b"")
    with pytest.raises(RejectedDataError, match="bytes came out of the sandbox; the limit is 1,000"):
        unpack(packed_value(big), max_bytes=1000)


# --- hostile data ---------------------------------------------------------------------------------


def rejected(kind: str, meta: Any, data: bytes = b"") -> str:
    packed = PackedValue(kind=kind, meta_json=json.dumps(meta), data=data)  # type: ignore[arg-type]
    with pytest.raises(RejectedDataError) as caught:
        unpack(packed, max_bytes=LIMIT)
    return str(caught.value)


def stream(table: pa.Table, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


TABLE_META = {"form": "arrow_table", "labels": ["a"], "rows": 2}


def test_a_pickled_array_is_never_unpickled() -> None:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "not valid" in rejected("npy", {}, file.getvalue())


def npy_bytes(header: str, body: bytes = b"", version: int = 1) -> bytes:
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + body


def npy_header(descr: str, shape: str) -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


def test_an_archive_of_arrays_is_no_array() -> None:
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    assert "not valid" in rejected("npy", {}, file.getvalue())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_array_has_as_many_elements_as_bytes_came(version: int) -> None:
    header = npy_header("'<f8'", "(2,)")
    fits = PackedValue(kind="npy", meta_json="{}", data=npy_bytes(header, bytes(16), version))
    assert unpack(fits, max_bytes=LIMIT)[0].tolist() == [0.0, 0.0]
    for size_bytes in (0, 8, 24):
        assert "not valid" in rejected("npy", {}, npy_bytes(header, bytes(size_bytes), version))


@pytest.mark.parametrize(
    "header",
    [
        npy_header("'|V0'", "(1000000000000,)"),
        npy_header("[]", "(1000000000000,)"),
        npy_header("'<f8'", "(1000000000000,)"),
        npy_header("'<f8'", f"(0, {10**30})"),
        npy_header("'<f8'", "(-1, -1)"),
        npy_header("'|O'", "(1,)"),
        "(((",
        "{[]: 1}",
        "-" * 3000 + "1",
        "",
    ],
)
def test_a_header_that_numpy_did_not_write_is_refused(header: str) -> None:
    assert "not valid" in rejected(
        "npy", {}, npy_bytes(header, bytes(8) if "-1" in header or "O" in header else b"")
    )


def test_a_header_of_an_unknown_version_is_refused() -> None:
    assert "not valid" in rejected("npy", {}, npy_bytes(npy_header("'<f8'", "(1,)"), bytes(8), version=9))


@pytest.mark.parametrize("key", ["column_names", "index_names"])
@pytest.mark.parametrize("span", [None, [0, 2, 1]])
def test_a_frame_without_levels_is_refused(key: str, span: list[int] | None) -> None:
    kind, text, data = pack(pd.DataFrame({"a": [1, 2]}, index=["x", "y"] if span is None else None), LIMIT)
    meta = json.loads(text)
    assert meta[key] == [None]
    assert (meta.get("range") is None) == (span is None)
    assert "does not match its description" in rejected(kind, {**meta, key: []}, data)


@pytest.mark.parametrize("form", ["series", "polars_series", "arrow_array"])
def test_a_series_without_its_only_column_is_refused(form: str) -> None:
    meta = {"form": form, "labels": [], "tags": [], "rows": 0, "range": [0, 0, 1]}
    assert "sandbox" in rejected("arrow", meta, stream(pa.table({})))


def test_an_unknown_kind_is_refused() -> None:
    assert "kind 'pickle'" in rejected("pickle", {}, b"cos\nsystem\n")


def test_a_compressed_body_is_refused_and_a_plain_one_is_not() -> None:
    table = pa.table({"a": [1, 2]})
    assert unpack(PackedValue(kind="arrow", meta_json=json.dumps(TABLE_META), data=stream(table)), max_bytes=LIMIT)[
        0
    ].equals(table)
    assert "Compressed" in rejected("arrow", TABLE_META, stream(table, compression="zstd"))


def test_a_compressed_dictionary_is_refused() -> None:
    table = pa.table({"a": pa.array(["x" * 1000, "y"]).dictionary_encode()})
    assert "Compressed" in rejected("arrow", TABLE_META, stream(table, compression="lz4"))


def test_extension_types_are_refused() -> None:
    table = pa.table({"a": pa.array([b"0" * 16], pa.uuid())})
    assert "extension type" in rejected("arrow", TABLE_META, stream(table))


def test_offsets_that_point_outside_are_refused() -> None:
    """`Table.validate()` without `full` passes this; reading it then crashes the process."""
    data = bytearray(stream(pa.table({"a": ["xx", "yy"]})))
    offsets = struct.pack("<iii", 0, 2, 4)
    at = bytes(data).index(offsets)
    data[at : at + 12] = struct.pack("<iii", 0, 2_000_000_000, 4)
    assert "not valid" in rejected("arrow", TABLE_META, bytes(data))


def test_text_that_is_no_utf8_is_refused() -> None:
    data = stream(pa.table({"a": ["xx", "yy"]})).replace(b"xxyy", b"\xff\xfe\xff\xfe")
    assert "not valid" in rejected("arrow", TABLE_META, data)


def test_a_frame_of_nothing_but_claimed_rows_is_refused() -> None:
    table = pa.table({"a": pa.nulls(0)})
    huge = pa.table({"a": pa.nulls(200_000_000)})
    assert len(stream(huge)) < 2 * len(stream(table)) + 1000
    assert "200,000,000 rows" in rejected("arrow", TABLE_META, stream(huge))


@pytest.mark.parametrize("cut", [1, 9, 30, 200])
def test_a_cut_off_stream_is_refused(cut: int) -> None:
    assert rejected("arrow", TABLE_META, stream(pa.table({"a": [1, 2]}))[:cut])


@pytest.mark.parametrize(
    "change",
    [
        {"tags": ["numpy:|O"]},
        {"tags": ["os.system"]},
        {"tags": ["masked:object"]},
        {"tags": []},
        {"rows": 5},
        {"rows": -1},
        {"labels": ["a", "b"]},
        {"labels": [{"list": [1]}]},
        {"range": [0, 1 << 70, 1]},
        {"range": [0, 99, 1]},
        {"form": "pickle"},
        {"freq": "evil", "range": None},
    ],
)
def test_a_side_car_that_does_not_fit_the_data_is_refused(change: dict[str, Any]) -> None:
    packed = packed_value(pd.DataFrame({"a": [1, 2]}))
    assert rejected("arrow", json.loads(packed.meta_json) | change, packed.data)


@pytest.mark.parametrize(
    "encoded",
    [
        {"evil": 1},
        {"set": [{"list": []}]},
        {"dict": [[1]]},
        {"numpy": ["object", 1]},
        {"numpy": ["datetime64[ns]", "x"]},
        {"datetime": "yesterday"},
        {"list": 1},
        {"list": [], "tuple": []},
        {"pandas.Timestamp": "in the year of the tiger"},
        [1],
    ],
)
def test_plain_values_that_lie_are_refused(encoded: Any) -> None:
    assert rejected("json", encoded)


def test_endless_nesting_is_refused() -> None:
    text = '{"list":[' * 100_000 + "1" + "]}" * 100_000
    with pytest.raises(RejectedDataError):
        unpack(PackedValue(kind="json", meta_json=text, data=b""), max_bytes=LIMIT)


FRAME = packed_value(pd.DataFrame({"a": [1, 2], "s": ["x", "yy"], "c": pd.Categorical(["u", "v"])}))


@settings(max_examples=settings().max_examples * 3, deadline=None)
@given(st.integers(0, len(FRAME.data) - 1), st.binary(min_size=1, max_size=8))
def test_any_change_of_the_bytes_gives_a_frame_or_is_refused(at: int, other: bytes) -> None:
    data = (FRAME.data[:at] + other + FRAME.data[at + len(other) :])[: len(FRAME.data)]
    try:
        got, _ = unpack(PackedValue(kind="arrow", meta_json=FRAME.meta_json, data=data), max_bytes=LIMIT)
    except RejectedDataError:
        return
    assert isinstance(repr(got), str)
