"""Arrow streams made to harm the user's kernel: each is refused before it can take memory or run anything."""

from __future__ import annotations

import contextlib
import json
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import arrow_attacks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_attacks import batch_of, stream

from jupyter_codeagent.sandbox.data import arrow_types
from jupyter_codeagent.sandbox.data.stream import read_shape, read_table
from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue

MIB = 1 << 20
LIMIT = 64 << 20


def peak_bytes(call: Callable[[], object]) -> int:
    """What a call takes at most, of Arrow's memory and of Python's."""
    pool = pa.proxy_memory_pool(pa.system_memory_pool())
    usual = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    tracemalloc.start()
    try:
        call()
        return int(pool.max_memory()) + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        pa.set_memory_pool(usual)


def refusal(data: bytes) -> str:
    """Why a stream is refused, with less memory than it has bytes and a megabyte."""
    said: list[str] = []

    def read() -> None:
        with pytest.raises(RejectedDataError) as caught:
            read_table(data)
        said.append(str(caught.value))

    assert peak_bytes(read) < len(data) + MIB
    return said[0]


# --- bombs ----------------------------------------------------------------------------------------------

ZEROS = batch_of(a=np.zeros(2 * MIB))


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compression_announced_as_in_version_4_is_refused_before_anything_inflates(codec: str) -> None:
    data = arrow_attacks.compressed_as_in_version_4(ZEROS, codec)

    assert peak_bytes(lambda: pa.ipc.open_stream(data).read_all()) > 15 * MIB, "Arrow believes it"
    assert len(data) < 100_000
    assert "metadata version 4" in refusal(data)


def test_a_delta_of_a_dictionary_is_refused_before_it_is_joined() -> None:
    data = arrow_attacks.dictionaries(columns=100, rows=4096, count=3, are_deltas=True)

    assert peak_bytes(lambda: pa.ipc.open_stream(data).read_all()) > 6 * MIB, "Arrow joins it"
    assert len(data) < 200_000
    assert "columns overlap" in refusal(data)
    honest = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["x", "y"]))
    grown = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), pa.array(["x", "y", "z"]))
    written = stream(batch_of(a=honest), batch_of(a=grown), emit_dictionary_deltas=True)
    assert "continues after its only record batch" in refusal(written)
    assert "replaced or continued" in refusal(without_first_batch(written))


def test_a_dictionary_that_is_replaced_again_and_again_is_refused() -> None:
    data = arrow_attacks.dictionaries(columns=2, rows=8, count=4, are_deltas=False)
    assert "columns overlap" in refusal(data)
    batches = [batch_of(a=pa.array([f"{at}"]).dictionary_encode()) for at in range(3)]
    assert "replaced or continued" in refusal(without_first_batch(stream(*batches)))


def without_first_batch(data: bytes) -> bytes:
    found = [message for message in arrow_attacks.messages(data) if message.kind == 3]
    return data[: found[0].at] + data[found[0].body_at + found[0].body_bytes :]


@pytest.mark.parametrize("key", [b"ARROW:experimental_compression", b"made.up", b""])
def test_metadata_of_a_message_are_refused(key: bytes) -> None:
    assert "custom metadata" in refusal(stream(batch_of(a=[1]), metadata={key: b"zstd"}))


def test_versions_before_the_fifth_are_refused() -> None:
    data = stream(batch_of(a=[1]), metadata_version=pa.ipc.MetadataVersion.V4)
    assert "metadata version 4 came out of the sandbox; only 5 is read" in refusal(data)


@pytest.mark.parametrize(
    ("column", "why"),
    [
        (pa.nulls(90_000_000), "with nothing in them"),
        (pa.StructArray.from_buffers(pa.struct([]), 90_000_000, [None]), "with nothing in them"),
        (pa.Array.from_buffers(pa.binary(0), 90_000_000, [None, pa.py_buffer(b"")]), "with nothing in them"),
        (pa.array([[None] * 11_000_000], pa.list_(pa.null())), "with nothing in them"),
        (
            pa.FixedSizeListArray.from_arrays(pa.nulls(1 << 30), 1 << 29),
            "with nothing in them",
        ),
        (
            pa.Array.from_buffers(
                pa.list_(pa.null(), 0), 90_000_000, [None], children=[pa.nulls(0)]
            ),
            "with nothing in them",
        ),
        (pa.StructArray.from_arrays([pa.nulls(90_000_000)], ["x"]), "with nothing in them"),
        (pa.nulls(200_000_000), "200,000,000 rows"),
    ],
    ids=["null", "no parts", "no width", "in a list", "in fixed lists", "lists of none", "in a struct", "rows"],
)  # fmt: skip
def test_values_without_bytes_are_counted_wherever_they_are(column: Any, why: str) -> None:
    assert why in refusal(stream(batch_of(a=column)))


def test_values_without_bytes_are_counted_over_all_columns() -> None:
    columns = {f"c{at}": pa.nulls(1_000_000) for at in range(11)}
    assert "11,000,000 rows or cells with nothing in them" in refusal(stream(batch_of(**columns)))
    del columns["c0"]
    assert read_table(stream(batch_of(**columns))).num_columns == 10


def nested(depth: int) -> Any:
    array = pa.array([1])
    for _ in range(depth):
        array = pa.ListArray.from_arrays([0, len(array)], array)
    return array


def test_nesting_and_numbers_of_columns_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_types, "MAX_FIELDS", 100)
    monkeypatch.setattr(arrow_types, "MAX_COLUMNS", 50)
    assert read_table(stream(batch_of(a=nested(20)))).num_rows == 1
    assert "nested deeper than 20" in refusal(stream(batch_of(a=nested(21))))
    parts = pa.StructArray.from_arrays([pa.array([1])] * 49, [f"f{at}" for at in range(49)])
    assert read_table(stream(batch_of(a=parts, b=parts))).num_columns == 2
    assert "more than 100 fields" in refusal(stream(batch_of(a=parts, b=parts, c=[1])))
    wide = [pa.record_batch([pa.array([1])] * count, [f"c{at}" for at in range(count)]) for count in (50, 51)]
    assert read_table(stream(wide[0])).num_columns == 50
    assert "51 columns" in refusal(stream(wide[1]))


def chain(depth: int) -> Any:
    array = pa.array([1])
    for _ in range(depth):
        array = pa.StructArray.from_arrays([array, pa.array([1])], ["", ""])
    return array


def changed(data: bytes, change: Callable[[bytearray, Any], None]) -> bytes:
    """`change` gets the metadata of the schema message, and one of its fields after the other, parents first."""
    [schema, *_] = arrow_attacks.messages(data)
    metadata = bytearray(schema.table.data)
    for field in all_fields(schema.table):
        change(metadata, field)
    return data[: schema.metadata_at] + bytes(metadata) + data[schema.body_at :]


def all_fields(message: Any) -> Iterator[Any]:
    waiting = list(message.table(2).tables(1))
    while waiting:
        field = waiting.pop()
        yield field
        waiting += field.tables(5)


def test_one_part_of_a_schema_in_many_places_is_counted_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flatbuffer can point to the same table again: 19 levels of two parts are half a million fields."""

    def point_twice(metadata: bytearray, field: Any) -> None:
        at, count = field.vector(5, 4)
        if count == 2:
            (first,) = struct.unpack_from("<I", metadata, at)
            struct.pack_into("<I", metadata, at + 4, first - 4)

    monkeypatch.setattr(arrow_types, "MAX_FIELDS", 1000)
    honest = stream(batch_of(a=chain(19)))
    assert read_table(honest).num_rows == 1
    assert "more than 1,000 fields" in refusal(changed(honest, point_twice))


def test_one_name_in_many_places_is_counted_as_often() -> None:
    """A name of 100 KB and a thousand parts that point to it would be 100 MB of text."""
    names = ["n" * 100_000, *(f"p{at}" for at in range(1000))]
    honest = stream(batch_of(a=pa.StructArray.from_arrays([pa.array([1])] * 1001, names)))
    assert read_table(honest).num_rows == 1
    [schema, *_] = arrow_attacks.messages(honest)
    long_at = schema.table.data.index(b"n" * 100) - 4

    def point_there(metadata: bytearray, field: Any) -> None:
        at = arrow_attacks.field(field, 0)
        if at < long_at:
            struct.pack_into("<I", metadata, at, long_at - at)

    assert "malformed schema" in refusal(changed(honest, point_there))


def test_a_million_empty_batches_or_dictionaries_are_refused() -> None:
    data = stream(batch_of(a=pa.array(["x"]).dictionary_encode()))
    schema, dictionary, batch = arrow_attacks.messages(data)
    head, one, end = data[: schema.body_at], data[dictionary.at : batch.at], data[batch.at : -8]
    assert read_table(head + one + end + data[-8:]).num_rows == 1
    assert "continues after" in refusal(head + one + end * 50_000 + data[-8:])
    assert "replaced or continued" in refusal(head + one * 50_000 + end + data[-8:])
    assert "one schema" in refusal(head * 50_000 + one + end + data[-8:])


def test_dictionaries_of_no_column_are_refused() -> None:
    coded, plain = stream(batch_of(a=pa.array(["x"]).dictionary_encode())), stream(batch_of(a=["x"]))
    _, dictionary, batch = arrow_attacks.messages(coded)
    schema, *_ = arrow_attacks.messages(plain)
    assert "lacks a dictionary" in refusal(
        plain[: schema.body_at] + coded[dictionary.at : batch.at] + plain[schema.body_at :]
    )
    assert "lacks a dictionary" in refusal(coded[: dictionary.at] + coded[batch.at :])


def test_a_dictionary_inside_of_a_column_or_of_a_dictionary_is_refused() -> None:
    words = pa.array(["x", "y"]).dictionary_encode()
    listed = pa.ListArray.from_arrays([0, 2], words)
    assert "dictionary inside" in refusal(stream(batch_of(a=listed)))
    assert "dictionary inside" in refusal(stream(batch_of(a=pa.DictionaryArray.from_arrays([0], listed))))


# --- other forms ----------------------------------------------------------------------------------------


def written(write: Callable[[Any], object]) -> bytes:
    sink = pa.BufferOutputStream()
    write(sink)
    return bytes(memoryview(sink.getvalue()))


def as_file(batch: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(memoryview(sink.getvalue()))


@pytest.mark.parametrize(
    "data",
    [
        as_file(batch_of(a=[1])),
        written(lambda sink: pa.ipc.write_tensor(pa.Tensor.from_numpy(np.zeros((2, 2))), sink)),
        bytes(memoryview(batch_of(a=[1]).serialize())),
        stream(batch_of(a=[1]), use_legacy_format=True),
        stream(batch_of(a=[1]))[:-8],
        stream(batch_of(a=[1])) + b"more",
        stream(batch_of(a=[1])) * 2,
        b"",
        b"\xff\xff\xff\xff\0\0\0\0",
        b"ARROW1\0\0",
    ],
)
def test_what_is_not_one_whole_stream_is_refused(data: bytes) -> None:
    assert "sandbox" in refusal(data)


def test_another_byte_order_is_refused() -> None:
    data = stream(batch_of(a=[1], b=["x"]))
    [schema, *_] = arrow_attacks.messages(data)
    header = schema.table.table(2)
    assert header is not None
    metadata = bytearray(schema.table.data)
    free = max(header.at + 4, header.at)  # the byte order is left out: say that it is where a 1 can be written
    struct.pack_into("<H", metadata, arrow_attacks.vtable_entry(header, 0), free - header.at)
    big = data[: schema.metadata_at] + bytes(metadata) + data[schema.body_at :]
    assert "another byte order" in refusal(big)


class Registered(pa.ExtensionType):  # type: ignore[misc]
    """As a library, or the user, may have registered one."""

    made: list[bytes] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__(pa.binary(), "codeagent.test")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"x"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: Any, serialized: bytes) -> Registered:
        cls.made.append(serialized)
        return cls()


@pytest.fixture
def registered() -> Iterator[type[Registered]]:
    pa.register_extension_type(Registered())
    Registered.made.clear()
    yield Registered
    pa.unregister_extension_type("codeagent.test")


def test_extension_types_of_the_users_kernel_are_never_called(registered: type[Registered]) -> None:
    plain = pa.array([b"x"])
    data = stream(batch_of(a=pa.ExtensionArray.from_storage(registered(), plain)))
    pa.ipc.open_stream(data).read_all()
    assert registered.made, "Arrow calls it"
    registered.made.clear()
    inner = pa.StructArray.from_arrays([pa.ExtensionArray.from_storage(registered(), plain)], ["x"])
    for attack in (data, stream(batch_of(a=inner))):
        assert "extension type" in refusal(attack)
    assert registered.made == []


@pytest.mark.parametrize(
    "zone",
    ["dateutil//etc/passwd", "/etc/passwd", "../etc/passwd", "Europe", "zone.tab", "\0", "tzlocal()", "A" * 9999],
)
def test_only_zones_that_there_are_are_looked_up(zone: str) -> None:
    assert read_table(stream(batch_of(a=pa.array([0], pa.timestamp("s", "+01:00"))))).num_rows == 1
    honest = stream(batch_of(a=pa.array([0], pa.timestamp("s", "Z" * len(zone)))))
    data = honest.replace(b"Z" * len(zone), zone.encode())
    assert "time zone" in refusal(data) or "malformed" in refusal(data)


def test_what_metadata_say_of_a_schema_is_not_read() -> None:
    hostile = {b"pandas": b'{"index_columns": [{"kind": "range", "start": 0, "stop": 1e18}]}', b"x": b"\xff" * 1000}
    field = pa.field("a", pa.int64(), metadata=hostile)
    batch = pa.record_batch([pa.array([1])], schema=pa.schema([field], metadata=hostile))
    table = read_table(stream(batch))
    assert (table.schema.metadata, table.schema.field(0).metadata, table.num_rows) == (None, None, 1)
    assert read_shape(stream(batch)).rows == 1


@pytest.mark.parametrize("scale", [-1, 6, 2**31 - 1, -(2**31)])
def test_decimals_whose_text_would_be_without_end_are_refused(scale: int) -> None:
    assert "malformed schema" in refusal(stream(batch_of(a=pa.array([None], pa.decimal128(5, scale)))))


# --- frames ---------------------------------------------------------------------------------------------


def frame_refusal(form: str, batch: Any, **meta: Any) -> str:
    """Of a frame of one column, and of its outline where that can tell."""
    described = {"form": form, "labels": ["a"], "rows": batch.num_rows, "range": [0, batch.num_rows, 1]} | meta
    data = batch if isinstance(batch, bytes) else stream(batch)
    packed = PackedValue(kind="arrow", meta_json=json.dumps(described), data=data)
    said: list[str] = []

    def read() -> None:
        with pytest.raises(RejectedDataError) as caught:
            unpack(packed, max_bytes=LIMIT)
        said.append(str(caught.value))

    assert peak_bytes(read) < 4 * len(data) + MIB
    assert "\n" not in said[0]
    return said[0]


BITS = batch_of(a=pa.Array.from_buffers(pa.bool_(), 8 * MIB, [None, pa.py_buffer(bytes(MIB))]))


@pytest.mark.parametrize(
    ("tag", "batch"),
    [
        ("numpy:<i8", BITS),
        ("numpy:<f8", BITS),
        ("masked:Int64", BITS),
        ("period:D", BITS),
        ("numpy:<i8", batch_of(a=np.zeros(MIB, "i1"))),
        ("numpy:<f8", batch_of(a=pa.nulls(MIB))),
        ("object", batch_of(a=np.zeros(MIB, "i1"))),
        ("object", batch_of(a=pa.array([[]] * MIB, pa.list_(pa.int8())))),
        ("object", batch_of(a=pa.StructArray.from_arrays([pa.array([True] * MIB)], ["x"]))),
        ("string:python:nan", batch_of(a=np.zeros(MIB, "i1"))),
        ("string:pyarrow:nan", batch_of(a=np.zeros(MIB, "i1"))),
        ("zoned", BITS),
        ("complex", BITS),
        ("interval:left", BITS),
        ("category:0:object", BITS),
        ("category:0:object", batch_of(a=pa.DictionaryArray.from_arrays([0], pa.array([[1]])))),
        ("category:0:category:0:object", batch_of(a=pa.array(["x"]).dictionary_encode())),
        ("object", batch_of(a=pa.array(["x" * 1000]).dictionary_encode())),
    ],
)  # fmt: skip
def test_a_tag_takes_no_types_that_would_take_many_times_their_bytes(tag: str, batch: Any) -> None:
    assert "is tagged" in frame_refusal("frame", batch, tags=[tag])


def bits(count: int) -> Any:
    return pa.Array.from_buffers(pa.bool_(), count, [None, pa.py_buffer(bytes(-(-count // 8)))])


def test_objects_that_came_as_a_bit_or_as_nothing_are_limited() -> None:
    """Each takes eight bytes, and came as one bit or none: 224 bytes became 580 MB."""
    for column in (bits(5_000_001), pa.nulls(5_000_001)):
        assert "5,000,001 objects that are None" in frame_refusal("frame", batch_of(a=column), tags=["object"])
    both = batch_of(a=bits(2_600_000), b=pa.nulls(2_600_000))
    assert "5,200,000 objects" in frame_refusal("frame", both, tags=["object"] * 2, labels=["a", "b"])


ROWS = 20_000
WORST = {
    "nothing": ("object", pa.nulls(5_000_000)),
    "bits": ("object", bits(5_000_000)),
    "days": ("object", pa.array(np.arange(ROWS, dtype="i4")).cast(pa.date32())),
    "moments": ("object", pa.array(np.arange(ROWS), pa.timestamp("ns", "+01:00"))),
    "letters": ("object", pa.array(["\N{LATIN SMALL LETTER A WITH DIAERESIS}"] * ROWS)),
    "one long text": ("object", pa.array(["a" * MIB + "\N{PENGUIN}"])),
    "masks": ("masked:boolean", bits(8 * ROWS)),
    "truth": ("numpy:|b1", bits(8 * ROWS)),
    "arrow": ("arrow", pa.nulls(10_000_000)),
}


@pytest.mark.parametrize("name", WORST)
def test_a_frame_takes_at_most_64_times_its_bytes_and_128_mib(name: str) -> None:
    tag, column = WORST[name]
    data, rows = stream(batch_of(a=column)), len(column)
    meta = {"form": "frame", "labels": ["a"], "rows": rows, "range": [0, rows, 1], "tags": [tag]}
    packed = PackedValue(kind="arrow", meta_json=json.dumps(meta), data=data)
    spare_bytes = 128 * MIB if rows > 8 * ROWS else MIB
    assert peak_bytes(lambda: unpack(packed, max_bytes=LIMIT)) < 64 * len(data) + spare_bytes


@pytest.mark.parametrize(
    "item", ["[],", '{"list":[]},', '{"set":[]},', '{"":0},', '{"date":"2013-01-01"},', "0.1,"]
)
def test_json_takes_at_most_64_times_its_characters(item: str) -> None:
    text = '{"list":[' + (item * (200_000 // len(item)))[:-1] + "]}"
    packed = PackedValue(kind="json", meta_json=text, data=b"")

    def read() -> None:
        with contextlib.suppress(RejectedDataError):
            unpack(packed, max_bytes=LIMIT)

    assert peak_bytes(read) < 64 * len(text) + MIB


@pytest.mark.parametrize(
    ("batch", "why"),
    [
        (batch_of(a=pa.StructArray.from_arrays([pa.array([1])] * 2, ["x", "x"])), "does not match its description"),
        (batch_of(a=pa.array([None], pa.decimal256(50, 2))), "polars frame with a column of decimal256"),
        (batch_of(a=pa.array([None], pa.month_day_nano_interval())), "with a column of month_day_nano"),
        (batch_of(a=pa.Array.from_buffers(pa.list_(pa.int8(), 0), 1, [None], children=[pa.array([], pa.int8())])),
         "polars frame with a column of fixed_size_list"),
        (batch_of(a=pa.array([1, 2]).dictionary_encode()), "polars frame with a column of dictionary"),
    ],
)  # fmt: skip
def test_what_polars_did_not_write_is_one_line_and_no_panic(batch: Any, why: str) -> None:
    assert why in frame_refusal("polars_frame", batch)


@pytest.mark.parametrize("form", ["polars_frame", "arrow_table", "frame"])
def test_names_that_are_no_utf8_are_one_line_and_no_panic(form: str) -> None:
    """polars panics for them, which no `except Exception` catches."""
    honest = stream(batch_of(a=pa.array([{"QQ": 1}])))
    table = pa.ipc.open_stream(honest.replace(b"QQ", b"\xff\xfe")).read_all()
    with pytest.raises(pl.exceptions.PanicException):
        pl.from_arrow(table)
    batch: Any = batch_of(a=[1])
    meta = {"form": form, "labels": ["a"], "rows": 1, "range": [0, 1, 1], "tags": ["arrow"] * (form == "frame")}
    packed = PackedValue(kind="arrow", meta_json=json.dumps(meta), data=honest.replace(b"QQ", b"\xff\xfe"))
    with pytest.raises(RejectedDataError, match="malformed schema"):
        unpack(packed, max_bytes=LIMIT)
    assert batch.num_rows == 1


@pytest.mark.parametrize("labels", [["a", "a"], ["a", "\ud800"], ["a", 1], ["a", {"tuple": ["b"]}]])
@pytest.mark.parametrize("form", ["polars_frame", "polars_series", "arrow_table", "arrow_array"])
def test_labels_that_a_library_does_not_take_are_one_line(form: str, labels: list[Any]) -> None:
    meta = {"form": form, "labels": labels, "rows": 1}
    packed = PackedValue(kind="arrow", meta_json=json.dumps(meta), data=stream(batch_of(a=[1], b=[2])))
    try:
        unpack(packed, max_bytes=LIMIT)
    except RejectedDataError as problem:
        assert "\n" not in str(problem)  # noqa: PT017
        return
    assert form.startswith("arrow")
    assert labels == ["a", "a"]


def test_codes_outside_of_their_categories_are_refused() -> None:
    for code in (-1, 1, 127):
        column = pa.DictionaryArray.from_arrays(pa.array([code], pa.int8()), pa.array(["x"]), safe=False)
        assert "not valid" in refusal(stream(batch_of(a=column)))


@pytest.mark.parametrize("entries", [["x", "x"], ["x", None]])
def test_categories_that_are_none_are_refused(entries: list[Any]) -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(entries))
    assert "does not match its description" in frame_refusal(
        "frame", batch_of(a=column), tags=["category:0:object"]
    )


def colliding(count: int) -> np.ndarray[Any, Any]:
    """Numbers for which the hash table of pandas has one and the same place."""
    high = np.arange(count, dtype=np.uint64)
    low = (high ^ (high << np.uint64(11)) ^ (high << np.uint64(22))) & np.uint64(0xFFFFFFFF)
    return np.array((high << np.uint64(33)) | low, dtype=np.int64)


def test_levels_of_an_index_that_were_made_to_collide_take_no_longer_than_others() -> None:
    """`MultiIndex.from_arrays` took 3 s for 40,000 rows, and four times as long for twice as many."""
    rows = 200_000
    frame = pd.DataFrame({"v": range(rows)}, index=pd.MultiIndex.from_arrays([range(rows), [0] * rows]))
    kind, meta, _ = pack(frame, LIMIT)
    data = stream(batch_of(c0=np.arange(rows), c1=colliding(rows), c2=np.zeros(rows, "i8")))
    started = time.process_time()
    got, _ = unpack(PackedValue(kind=kind, meta_json=meta, data=data), max_bytes=LIMIT)  # type: ignore[arg-type]
    assert time.process_time() - started < 5
    assert got.index.get_level_values(0).tolist() == colliding(rows).tolist()


def test_categories_that_are_no_text_are_limited_and_those_that_are_are_not() -> None:
    numbers = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(range(100_001)))
    assert "100,001 categories" in frame_refusal("frame", batch_of(a=numbers), tags=["category:0:numpy:<i8"])
    words = pd.DataFrame({"a": pd.Categorical([str(at) for at in range(100_001)])})
    kind, meta, data = pack(words, LIMIT)
    got, _ = unpack(PackedValue(kind=kind, meta_json=meta, data=data), max_bytes=LIMIT)  # type: ignore[arg-type]
    assert got.equals(words)


@pytest.mark.parametrize("freq", ["bh", "ME", "WOM-2THU", "0D", "-1D", "9" * 18 + "D", "evil", "D" * 1000])
def test_a_frequency_that_is_not_that_of_its_rows_is_refused_at_once(freq: str) -> None:
    """The rows that it would give are made one by one for some: 16 s for a million."""
    moments = pa.array(np.arange(1_000_000), pa.timestamp("s"))
    batch = batch_of(v=np.zeros(1_000_000), i=moments)
    meta = {"tags": ["numpy:<f8", "numpy:<M8[s]"], "range": None, "index_names": [None], "freq": freq}
    started = time.process_time()
    described = {"form": "frame", "labels": ["a"], "rows": 1_000_000} | meta
    with pytest.raises(RejectedDataError, match="does not match its description"):
        unpack(PackedValue(kind="arrow", meta_json=json.dumps(described), data=stream(batch)), max_bytes=LIMIT)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(("freq", "steps"), [("CBMS", np.full(100_000, 86_400)), ("h", colliding(40_000)[1:])])
def test_a_frequency_is_refused_at_once_for_any_rows(freq: str, steps: np.ndarray[Any, Any]) -> None:
    """Months that begin on a business day took 9 s, and steps that collide in pandas' hash table 3 s."""
    moments = pa.array(np.concatenate([[0], np.cumsum(steps)]), pa.timestamp("s" if freq == "CBMS" else "ns"))
    meta = {"form": "index", "labels": [], "rows": len(moments), "tags": [f"numpy:<M8[{moments.type.unit}]"]}
    described = json.dumps(meta | {"index_names": [None], "freq": freq})
    started = time.process_time()
    with pytest.raises(RejectedDataError, match="does not match its description"):
        unpack(PackedValue(kind="arrow", meta_json=described, data=stream(batch_of(i=moments))), max_bytes=LIMIT)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(("freq", "rows"), [("h", 300_000), ("D", 300_000), ("B", 150_000), ("ME", 3_000)])
def test_a_frequency_that_is_that_of_its_rows_comes_along(freq: str, rows: int) -> None:
    days = pd.date_range("1700-01-01", periods=rows, freq=freq, unit="s")
    kind, meta, data = pack(pd.Series(range(rows), index=days), LIMIT)
    got, _ = unpack(PackedValue(kind=kind, meta_json=meta, data=data), max_bytes=LIMIT)  # type: ignore[arg-type]
    assert got.index.freq == days.freq


# --- what is honest -------------------------------------------------------------------------------------

HONEST = {
    "null": pa.nulls(2),
    "truth": pa.array([True, None]),
    "numbers": pa.array([1.5, None]),
    "half": pa.array([1.5, None], pa.float16()),
    "small": pa.array([1, None], pa.uint8()),
    "text": pa.array(["ä", None]),
    "large text": pa.array(["ä", None], pa.large_string()),
    "bytes": pa.array([b"x", None]),
    "large bytes": pa.array([b"x", None], pa.large_binary()),
    "fixed bytes": pa.array([b"xy", None], pa.binary(2)),
    "decimals": pa.array([None, None], pa.decimal128(5, 2)),
    "large decimals": pa.array([None, None], pa.decimal256(50, 2)),
    "days": pa.array([1, None], pa.int32()).cast(pa.date32()),
    "milliseconds": pa.array([86_400_000, None], pa.int64()).cast(pa.date64()),
    "times": pa.array([1, None], pa.time32("ms")),
    "fine times": pa.array([1, None], pa.time64("ns")),
    "moments": pa.array([1, None], pa.timestamp("us")),
    "moments of a zone": pa.array([1, None], pa.timestamp("ns", "America/New_York")),
    "spans": pa.array([1, None], pa.duration("s")),
    "intervals": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
    "lists": pa.array([[1, None], None]),
    "large lists": pa.array([["x"], None], pa.large_list(pa.string())),
    "fixed lists": pa.array([[1, 2], None], pa.list_(pa.int8(), 2)),
    "structs": pa.array([{"x": 1, "y": [{"z": "s"}]}, None]),
    "no parts": pa.array([{}, None], pa.struct([])),
    "maps": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int8())),
    "categories": pa.array(["x", None]).dictionary_encode(),
    "ordered categories": pa.DictionaryArray.from_arrays(pa.array([0, None], pa.uint32()), ["x"], ordered=True),
    "numbers as categories": pa.array([1.5, None]).dictionary_encode(),
    "structs as categories": pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), pa.array([{"x": 1}])),
}


@pytest.mark.parametrize("rows", [2, 1, 0])
@pytest.mark.parametrize("name", HONEST)
def test_each_type_is_read_as_arrow_reads_it(name: str, rows: int) -> None:
    column = HONEST[name].slice(2 - rows)
    data = stream(batch_of(c0=column, c1=pa.array(range(rows), pa.int64())))
    table = read_table(data)
    assert table.equals(pa.ipc.open_stream(data).read_all())
    shape = read_shape(data)
    assert (shape.rows, [one.whole_type for one in shape.columns]) == (rows, [column.type, pa.int64()])


def test_a_table_without_columns_or_batches_is_read() -> None:
    for table in (
        pa.table({}),
        pa.table({"c0": pa.array([], pa.string())}),
        pa.table({"c0": HONEST["categories"][:0]}),
    ):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        assert read_table(bytes(memoryview(sink.getvalue()))).equals(table)


def test_reading_copies_nothing() -> None:
    column = pa.StructArray.from_arrays([np.arange(MIB), pa.array(["x"] * MIB)], ["n", "s"])
    data = stream(batch_of(a=column))
    assert peak_bytes(lambda: read_table(data)) < MIB // 4


# --- any change -----------------------------------------------------------------------------------------

EXTREMES = {
    2: [0xFFFF],
    4: [0, 0x7FFFFFFF, 0xFFFFFFF8],
    8: [0, (1 << 63) - 1, (1 << 64) - 8, 1 << 40],
}
"""By width in bytes: small ones, and those whose multiples or sums turn negative, or come round to small ones."""
MUTATED = {
    "pandas": (
        "frame",
        pd.DataFrame(
            {"t": pd.date_range("2013", periods=2, tz="UTC"), "s": ["x", None], "c": pd.Categorical(["u", "v"])}
        ),
    ),
    "nested": ("arrow_table", pa.table({"n": [[{"x": 1}], None], "m": HONEST["maps"], "z": pa.nulls(2)})),
    "polars": ("polars_frame", pl.DataFrame({"a": [[1], None], "c": pl.Series(["x", "y"], dtype=pl.Categorical)})),
}


def mutations(data: bytes) -> Iterator[bytes]:
    """Each number of each message's metadata set to values that may harm, and each byte to the next."""
    for message in arrow_attacks.messages(data):
        for width, extremes in EXTREMES.items():
            for at in range(message.at, message.body_at, width):
                for value in extremes:
                    yield data[:at] + value.to_bytes(width, "little") + data[at + width :]
        for at in range(message.at, message.body_at):
            yield data[:at] + bytes([(data[at] + 1) % 256]) + data[at + 1 :]


@pytest.mark.parametrize("name", MUTATED)
@pytest.mark.long("another situation of what a test beside it proves")
def test_no_number_of_a_stream_can_be_set_so_that_it_harms(name: str) -> None:
    """Whatever it is set to, reading takes a megabyte at most, and ends with a table or our own error."""
    form, value = MUTATED[name]
    kind, meta, data = pack(value, LIMIT)
    assert (kind, json.loads(meta)["form"]) == ("arrow", form)
    ends: dict[str, int] = {}

    def read_all() -> None:
        for changed_data in mutations(data):
            packed = PackedValue(kind="arrow", meta_json=meta, data=changed_data)
            try:
                unpack(packed, max_bytes=LIMIT)
                ends["value"] = ends.get("value", 0) + 1
            except RejectedDataError:
                ends["refused"] = ends.get("refused", 0) + 1

    assert peak_bytes(read_all) < 2 * MIB
    assert ends["value"] > 50
    assert ends["refused"] > 1000
