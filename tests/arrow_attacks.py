"""Arrow streams that no honest writer makes, each made of one that was written by Arrow and changed in place."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from jupyter_codeagent.sandbox.data.flatbuffer import Table, root

VERSION_4 = 3
MESSAGE_VERSION, MESSAGE_HEADER, MESSAGE_BODY_BYTES = 0, 2, 3
BATCH_BUFFERS, BATCH_COMPRESSION = 2, 3
SCHEMA, DICTIONARY = 1, 2


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a stream; positions are those in the stream."""

    at: int
    metadata_at: int
    body_at: int
    table: Table

    @property
    def kind(self) -> int:
        return self.table.number(1, "b")

    @property
    def batch(self) -> Table:
        header = self.table.table(MESSAGE_HEADER)
        assert header is not None
        inner = header.table(1) if self.kind == DICTIONARY else header
        assert inner is not None
        return inner

    @property
    def body_bytes(self) -> int:
        return self.table.number(MESSAGE_BODY_BYTES, "q")


def messages(data: bytes) -> Iterator[Message]:
    at = 0
    while (length := struct.unpack_from("<i", data, at + 4)[0]) != 0:
        table = root(bytes(data[at + 8 : at + 8 + length]))
        found = Message(at=at, metadata_at=at + 8, body_at=at + 8 + length, table=table)
        yield found
        at = found.body_at + found.body_bytes


def stream(*batches: Any, metadata: dict[bytes, bytes] | None = None, **options: Any) -> bytes:
    """As Arrow writes it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch, custom_metadata=metadata)
    return bytes(memoryview(sink.getvalue()))


def batch_of(**columns: Any) -> Any:
    return pa.record_batch(columns)


def compressed_as_in_version_4(batch: Any, codec: str = "zstd") -> bytes:
    """Arrow 0.17 said in a message's metadata that its body is compressed; the readers of today believe it."""
    written = stream(batch, metadata={b"ARROW:experimental_compression": codec.encode()}, compression=codec)
    data = bytearray(written)
    for message in messages(written):
        struct.pack_into("<h", data, message.metadata_at + field(message.table, MESSAGE_VERSION), VERSION_4)
        if message.kind != SCHEMA:
            struct.pack_into("<H", data, message.metadata_at + vtable_entry(message.batch, BATCH_COMPRESSION), 0)
    return bytes(data)


def dictionaries(columns: int, rows: int, count: int, *, are_deltas: bool) -> bytes:
    """A dictionary of structs whose parts share their bytes, replaced or continued again and again.

    Arrow joins what continues one: each part gets bytes of its own.
    """
    parts = [np.zeros(rows) for _ in range(columns)]
    entries = pa.StructArray.from_arrays(list(map(pa.array, parts)), [f"f{at}" for at in range(columns)])
    batches = []
    for at in range(1, count + 1):
        more = pa.concat_arrays([entries] * at) if are_deltas else pa.concat_arrays([entries, entries[:at]])
        batches.append(batch_of(a=pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), more)))
    return sharing(stream(*batches, emit_dictionary_deltas=are_deltas))


def sharing(data: bytes) -> bytes:
    """Buffers of the same size in the same body are moved to the place of the first, and the body is cut off."""
    pieces = []
    for message in messages(data):
        metadata = bytearray(data[message.at : message.body_at])
        body = data[message.body_at : message.body_at + message.body_bytes]
        if message.kind != SCHEMA:
            body = _shared(metadata, message, body)
        pieces.append(bytes(metadata) + body)
    return b"".join(pieces) + data[-8:]


def _shared(metadata: bytearray, message: Message, body: bytes) -> bytes:
    start, count = message.batch.vector(BATCH_BUFFERS, 16)
    places: dict[int, int] = {}
    kept = b""
    for at in range(start + 8, start + 8 + 16 * count, 16):
        offset, size_bytes = struct.unpack_from("<qq", metadata, at)
        if size_bytes not in places:
            places[size_bytes] = len(kept)
            kept += body[offset : offset + size_bytes].ljust(-(-size_bytes // 8) * 8, b"\0")
        struct.pack_into("<q", metadata, at, places[size_bytes])
    struct.pack_into("<q", metadata, 8 + field(message.table, MESSAGE_BODY_BYTES), len(kept))
    return kept


def field(table: Table, slot: int) -> int:
    """Position of a field of a table."""
    (offset,) = struct.unpack_from("<H", table.data, vtable_entry(table, slot))
    assert offset
    return table.at + int(offset)


def vtable_entry(table: Table, slot: int) -> int:
    """Position of the number that says where the field is; 0 there means that it is left out."""
    (back,) = struct.unpack_from("<i", table.data, table.at)
    return table.at - int(back) + 4 + 2 * slot
