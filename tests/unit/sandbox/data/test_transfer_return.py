"""What comes back besides frames: containers, figures, charts, sparse and masked arrays; and hostile ones."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import json
import struct
import subprocess
import sys
import uuid
import zlib
import zoneinfo
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from IPython.display import Image
from matplotlib.figure import Figure
from scipy import sparse

from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.guest.send import pack, return_form
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue

LIMIT = 64 << 20
OSLO = zoneinfo.ZoneInfo("Europe/Oslo")


class Point(NamedTuple):
    x: int
    y: int


def packed_value(value: Any) -> PackedValue:
    kind, meta, data = pack(value, LIMIT)
    assert kind != "error", meta
    return PackedValue(kind=kind, meta_json=meta, data=data)  # type: ignore[arg-type]


def round_trip(value: Any) -> tuple[Any, tuple[str, ...]]:
    return unpack(packed_value(value), max_bytes=LIMIT)


def rejected(kind: str, meta: Any, data: bytes = b"") -> str:
    text = meta if isinstance(meta, str) else json.dumps(meta)
    with pytest.raises(RejectedDataError) as caught:
        unpack(PackedValue(kind=kind, meta_json=text, data=data), max_bytes=LIMIT)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        -(2**70),
        range(1, 10, 3),
        uuid.UUID(int=7),
        fractions.Fraction(1, 3),
        bytearray(b"\x00\xff"),
        datetime.datetime(2013, 7, 1, 5, tzinfo=OSLO),
        datetime.datetime(2013, 10, 27, 2, 30, tzinfo=OSLO, fold=1),
        datetime.datetime(2013, 7, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))),
        pd.Timestamp("2013-07-01 05:00", tz="Europe/Oslo"),
        pd.Timestamp("2013-07-01").as_unit("s"),
        pd.Timedelta("1h").as_unit("ms"),
        pd.Period("2013-07", "M"),
        np.complex64(1 + 2j),
        {frozenset({1, 2}): {decimal.Decimal("1.10")}},
        [[], (), {}, set(), "", b""],
    ],
)
def test_a_plain_value_comes_back_exactly(value: Any) -> None:
    got, notes = round_trip(value)
    assert got == value
    assert type(got) is type(value)
    assert notes == ()
    for name in ("tzinfo", "tz", "unit", "fold", "dtype"):
        assert getattr(got, name, None) == getattr(value, name, None)


def test_a_whole_number_of_any_length_comes_back() -> None:
    """Python refuses to read or write one of more than 4,300 digits as text."""
    assert round_trip([10**5000])[0] == [10**5000]


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.uuids()
    | st.fractions(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=15,
)


@settings(max_examples=settings().max_examples * 60 // 100, deadline=None)
@given(PLAIN)
@example(datetime.datetime(2000, 1, 1, tzinfo=zoneinfo.ZoneInfo("UTC")))
@example(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC))
def test_whatever_is_nested_comes_back_equal_and_of_the_same_types(value: Any) -> None:
    got, notes = round_trip(value)
    assert got == value
    assert repr(got) == repr(value)
    assert notes == ()


@pytest.mark.parametrize(
    ("value", "plainer", "note"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}, "a Counter became a dict"),
        (collections.OrderedDict(a=1), {"a": 1}, "a OrderedDict became a dict"),
        (collections.deque([1, 2]), [1, 2], "a deque became a list"),
        (Point(1, 2), (1, 2), "a Point became a tuple"),
        (Path("a/b"), "a/b", "Path became a str"),
    ],
)
def test_what_becomes_plainer_says_so(value: Any, plainer: Any, note: str) -> None:
    got, notes = round_trip(value)
    assert (got, type(got)) == (plainer, type(plainer))
    assert note in notes[0]


def test_frames_and_arrays_in_containers_come_back_in_their_places() -> None:
    frame = pd.DataFrame({"a": [1, 2]})
    value = {"frames": [frame, pl.DataFrame({"b": ["x"]})], "array": (np.arange(3), pd.Series([1.5], name="s"))}
    got, notes = round_trip(value)
    pd.testing.assert_frame_equal(got["frames"][0], frame)
    assert got["frames"][1].equals(value["frames"][1])
    assert got["array"][0].tolist() == [0, 1, 2]
    pd.testing.assert_series_equal(got["array"][1], pd.Series([1.5], name="s"))
    assert notes == ()


def test_an_array_of_objects_comes_back() -> None:
    array = np.array([["a", None], [decimal.Decimal(1), [1]]], dtype=object)
    got, _ = round_trip(array)
    assert got.dtype == object
    assert got.tolist() == array.tolist()


def test_a_masked_array_keeps_its_mask() -> None:
    got, notes = round_trip(np.ma.masked_array([1, 2, 3], mask=[False, True, False]))
    assert isinstance(got, np.ma.MaskedArray)
    assert got.tolist() == [1, None, 3]
    assert notes == ()


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_a_sparse_array_comes_back_sparse(form: str, kind: str) -> None:
    value = getattr(sparse, f"{form}_{kind}")(np.eye(4)[:, :3])
    got, notes = round_trip(value)
    assert type(got) is type(value)
    assert (got.toarray() == value.toarray()).all()
    assert notes == ()


def figure() -> Figure:
    mpl.use("agg")
    made = Figure(figsize=(2, 1))
    made.subplots().plot([1, 2])
    return made


def test_a_figure_comes_back_as_a_png_image_and_says_so() -> None:
    got, notes = round_trip(figure())
    assert isinstance(got, Image)
    assert got.data.startswith(b"\x89PNG")
    assert "as a PNG image of" in notes[0]


@pytest.mark.parametrize("library", ["plotly", "altair"])
def test_a_chart_comes_back_as_its_specification_and_says_what_draws_it(library: str) -> None:
    if library == "plotly":
        objects = pytest.importorskip("plotly.graph_objects")
        chart: Any = objects.Figure(objects.Bar(x=["a"], y=[3]))
    else:
        altair = pytest.importorskip("altair")
        chart = altair.Chart(pd.DataFrame({"a": [1]})).mark_bar().encode(x="a")
    got, notes = round_trip(chart)
    assert type(got) is dict
    assert ("data" in got, library in notes[0]) == (True, True)
    assert return_form(chart) == "specification"


def test_what_is_lost_of_a_frame_is_noted() -> None:
    frame = pd.DataFrame({"a": [1]})
    frame.attrs["unit"] = "m"
    assert "attrs were not copied" in round_trip(frame)[1][0]


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (lambda: 1, "`%agent apply` runs the code that makes it"),
        (pl.LazyFrame({"a": [1]}), "bring back what its collect() gives"),
        (figure().axes[0], "bring back its figure"),
        (np, "no data form"),
    ],
)
def test_what_has_no_data_form_says_what_to_do_instead(value: Any, advice: str) -> None:
    kind, text, _ = pack(value, LIMIT)
    assert kind == "error"
    assert advice in text


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (pd.DataFrame(), "data"),
        (np.zeros(1), "data"),
        (np.float64(1), "data"),
        ([1], "data"),
        (1, "data"),
        (figure(), "image"),
        (print, ""),
        (object(), ""),
        (np, ""),
    ],
)
def test_only_what_can_come_back_is_offered(value: Any, form: str) -> None:
    assert return_form(value) == form


# --- hostile data ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"list": [1], "list": [2]}',
        '{"dict": [["a", 1], ["a", 2]]}',
        '{"set": [1, 1]}',
        '{"dict": [[NaN, {"evil": 1}]]}',
        '{"int": "' + "f" * 200_000 + '"}',
        "1" * 5000,
        '{"part": 0}',
        '{"part": -1}',
        '{"datetime": ["2013-01-01", "../../../etc/passwd", 0]}',
        '{"datetime": ["2013-01-01", "/etc/passwd", 0]}',
        '{"datetime": ["2013-01-01", "Europe", 0]}',
        '{"datetime": ["2013-01-01", "zone.tab", 0]}',
        '{"datetime": ["2013-01-01", "\\u0000", 0]}',
        '{"pandas.Timestamp": [1, "ns", "dateutil//etc/passwd"]}',
        '{"pandas.Timestamp": [1e300, "ns", null]}',
        '{"object_array": [[1000000000, 1000000000], []]}',
        '{"sparse": ["os", [1, 1], 1, 2, 3]}',
        '{"masked_array": [1, 2]}',
        '{"specification": 1}',
        '{"Fraction": ["1", "0"]}',
        '{"Fraction": ["' + "f" * 5000 + '", "1"]}',
        '{"numpy": ["float64", "' + "9" * 5000 + 'x"]}',
        '{"numpy": ["int8", 1000]}',
        '{"timedelta": [1e999, 0, 0]}',
        '{"pandas.Period": [99999999999999999999, "D"]}',
        '{"range": ["1", "2", "0"]}',
        '{"UUID": "x"}',
    ],
)
def test_a_plain_value_that_lies_is_refused(text: str) -> None:
    assert rejected("json", text)


def test_json_is_limited_whatever_a_value_may_have_of_bytes() -> None:
    """Its values can take forty times their text: 256 MB of empty lists would be 7 GB."""
    words = '"' + "x" * ((8 << 20) - 2) + '"'
    assert len(unpack(PackedValue(kind="json", meta_json=words, data=b""), max_bytes=LIMIT)[0]) == (8 << 20) - 2
    assert "8,388,609 characters of JSON" in rejected("json", words[:-1] + 'x"')


def test_keys_that_were_made_to_collide_are_refused() -> None:
    """`hash` of a whole number is its remainder by 2**61 - 1: a set of such numbers takes hours."""
    text = json.dumps({"set": [{"int": hex(at * (2**61 - 1))} for at in range(1, 100_000)]})
    assert "same hash" in rejected("json", text)


def parts(value: Any, *items: PackedValue) -> tuple[dict[str, Any], bytes]:
    described = [[item.kind, item.meta_json, len(item.data)] for item in items]
    return {"value": value, "parts": described, "notes": []}, b"".join(item.data for item in items)


def arrays(*values: Any) -> list[PackedValue]:
    return [packed_value(np.asarray(value)) for value in values]


@pytest.mark.parametrize(
    ("name", "data", "first", "second"),
    [
        ("csr_array", [1.0, 2.0], [0, 1, 9], [0, 1]),
        ("csr_array", [1.0, 2.0], [0, 9, 2], [0, 1]),
        ("csr_array", [1.0, 2.0], [0, 1, 2], [0, 7]),
        ("csr_array", [1.0, 2.0], [0, 1, 2], [0, -1]),
        ("csc_matrix", [1.0, 2.0], [0, 1], [0, 1]),
        ("coo_array", [1.0, 2.0], [0, 2], [0, 1]),
        ("coo_array", [1.0], [0, 1], [0, 1]),
        ("csr_array", ["a", "b"], [0, 1, 2], [0, 1]),
        ("dok_array", [1.0, 2.0], [0, 1, 2], [0, 1]),
    ],
)
def test_a_sparse_array_that_points_outside_is_refused(name: str, data: Any, first: Any, second: Any) -> None:
    encoded = {"sparse": [name, [2, 2], {"part": 0}, {"part": 1}, {"part": 2}]}
    assert rejected("parts", *parts(encoded, *arrays(data, first, second)))


def test_parts_are_as_long_as_they_say_and_never_nested() -> None:
    meta, data = parts({"part": 0}, *arrays([1.0]))
    assert unpack(PackedValue(kind="parts", meta_json=json.dumps(meta), data=data), max_bytes=LIMIT)[
        0
    ].tolist() == [1]
    assert rejected("parts", meta, data[:-1])
    assert "do not have the lengths" in rejected("parts", meta, data + b"x")
    assert "kind 'parts'" in rejected("parts", {**meta, "parts": [["parts", "{}", len(data)]]}, data)
    assert "kind 'json'" in rejected("parts", {**meta, "parts": [["json", "1", len(data)]]}, data)
    assert "has no description" in rejected("parts", {**meta, "parts": [["npy", "{}", -1]]}, data)
    assert "more than 1,000" in rejected("parts", {**meta, "parts": [["npy", "{}", 0]] * 1001}, data)


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, data: bytes, *more: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(more) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        png(2, 2, zlib.compress(bytes(100 << 20), 9)),
        png(100_000, 100_000, zlib.compress(bytes(10))),
        png(2, 2, zlib.compress(bytes(3))),
        png(2, 2, b"no deflate"),
        png(2, 2, zlib.compress(bytes(6))[:-8]),
        png(2, 2, zlib.compress(bytes(6)))[:-20],
        png(2, 2, zlib.compress(bytes(6))).replace(b"IDAT", b"IDAX"),
        png(0, 2, b""),
        png(2, 2, zlib.compress(bytes(6)), chunk(b"IDAT", b"") * 30_000),
        png(2, 2, zlib.compress(bytes(6)), chunk(b"vpAg", b"") * 30_000),
        b"<svg onload=alert(1)>",
        b"",
    ],
)
def test_a_picture_that_is_no_honest_png_is_refused(data: bytes) -> None:
    assert "not a valid PNG" in rejected("png", {}, data)


def test_of_a_picture_only_the_picture_comes_back() -> None:
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(50 << 20), 9))
    data = png(2, 2, zlib.compress(bytes(6)), bomb)
    got, _ = unpack(PackedValue(kind="png", meta_json="{}", data=data), max_bytes=LIMIT)
    assert got.data == png(2, 2, zlib.compress(bytes(6)))


def stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def table_of(column: Any) -> tuple[dict[str, Any], bytes]:
    return {"form": "arrow_table", "labels": ["a"], "rows": len(column)}, stream(pa.table({"a": column}))


VIEWS = pa.ListViewArray.from_arrays([0] * 10, [1000] * 10, pa.array(range(1000)))


@pytest.mark.parametrize(
    "column",
    [
        VIEWS,
        pa.array(["x" * 100], pa.string_view()),
        pa.array([b"x"], pa.binary_view()),
        pa.RunEndEncodedArray.from_arrays([1_000_000], [1]),
        pa.StructArray.from_arrays([VIEWS], ["v"]),
        pa.array([["x"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        pa.array([0], pa.timestamp("ns", "dateutil//etc/passwd")),
        pa.array([0], pa.timestamp("ns", "/etc/passwd")),
    ],
)
def test_types_that_claim_more_than_their_bytes_are_refused(column: Any) -> None:
    assert "came out of the sandbox" in rejected("arrow", *table_of(column))


def test_columns_that_share_their_bytes_are_refused() -> None:
    """A megabyte that each of fifty columns refers to would become fifty."""
    columns, rows = 50, 1 << 17
    table = pa.table({f"c{at}": pa.array(np.zeros(rows)) for at in range(columns)})
    meta = {"form": "arrow_table", "labels": table.column_names, "rows": rows}
    honest = stream(table)
    assert unpack(PackedValue(kind="arrow", meta_json=json.dumps(meta), data=honest), max_bytes=LIMIT)[0].equals(
        table
    )
    assert "its columns overlap" in rejected("arrow", meta, shared(honest, columns, rows * 8))


def shared(data: bytes, columns: int, column_bytes: int) -> bytes:
    """All buffers moved to the place of the first, and the body cut off behind it."""
    body_bytes, end = columns * column_bytes, data[-8:]
    head = bytearray(data[: -body_bytes - 8])
    moved = 0
    for at in range(columns):
        found = bytes(head).rfind(struct.pack("<qq", at * column_bytes, column_bytes))
        head[found : found + 8] = bytes(8)
        moved += found >= 0
    assert moved == columns
    found = bytes(head).find(struct.pack("<q", body_bytes))
    head[found : found + 8] = struct.pack("<q", column_bytes)
    return bytes(head) + bytes(column_bytes) + end


def test_empty_columns_may_not_claim_any_number_of_rows() -> None:
    nothing = pa.StructArray.from_buffers(pa.struct([]), 90_000_000, [None])
    assert "with nothing in them" in rejected("arrow", *table_of(nothing))


def test_a_category_outside_of_its_dictionary_is_refused() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 77], pa.int8()), pa.array(["x"]), safe=False)
    assert "not valid" in rejected("arrow", *table_of(column))


def test_a_dictionary_is_not_written_out() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), pa.array(["x" * 10_000]))
    meta = {"form": "frame", "rows": 1000, "labels": ["a"], "tags": ["object"], "range": [0, 1000, 1]}
    assert "tagged 'object'" in rejected("arrow", meta, table_of(column)[1])


FUZZ = """
import random, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
import numpy as np, pandas as pd, polars as pl
from matplotlib.figure import Figure
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.types.sandbox import PackedValue

frame = pd.DataFrame({"a": [1, 2, 3], "s": ["x", None, "zz"], "c": pd.Categorical(["u", "v", "u"]),
                      "t": pd.date_range("2013", periods=3, tz="UTC"), "o": [1.5, None, 2.5]})
figure = Figure(figsize=(1, 1))
figure.subplots().plot([1, 2])
from scipy import sparse
values = [frame, frame.set_index(["s", "a"]), pl.DataFrame({"x": [[1], None], "e": ["a", "b"]}), np.arange(9.0),
          figure, {"f": frame, "n": [1, {2, 3}]}, sparse.csr_array(np.eye(3)), {"a": (1, 2.5, b"x")}]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
chance, ends = random.Random(7), {"value": 0, "refused": 0}
for at in range(int(sys.argv[1])):
    kind, meta, data = pack(values[at % len(values)], 1 << 24)
    meta, data = bytearray(meta.encode()), bytearray(data)
    for _ in range(chance.randint(1, 4)):
        target = data if data and chance.random() < 0.8 else meta
        target[chance.randrange(len(target))] = chance.choice([0, 1, 127, 128, 255, chance.randrange(256)])
    text = meta.decode("utf-8", "replace")
    try:
        got, _ = unpack(PackedValue(kind=kind, meta_json=text, data=bytes(data)), max_bytes=1 << 24)
        ends["value"] += 1
        try:
            repr(got)
        except (NotImplementedError, ValueError, OverflowError):  # pandas cannot write dates before the year 1
            pass
    except RejectedDataError:
        ends["refused"] += 1
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(ends["value"], ends["refused"], grown)
"""


@pytest.mark.long("another situation of what a test beside it proves")
def test_no_flipped_bytes_end_in_anything_but_a_value_or_a_refusal() -> None:
    """In a process of its own: what must not happen is that it dies, or takes memory without end."""
    rounds = settings().max_examples * 30
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FUZZ, str(rounds)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    value, refused, grown_kib = map(int, done.stdout.split())
    assert value > rounds / 30
    assert refused > rounds / 6
    assert grown_kib < 1 << 20
