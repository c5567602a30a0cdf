"""The messages of an Arrow stream as `guest.frames` writes it, read without Arrow. Everything else is rejected.

That is: a schema, a dictionary for each column that has one, at most one record batch, the end; in version 5 and
little-endian, with nothing compressed, and buffers that follow one another. So decoding cannot multiply the data.
Layout: Arrow columnar format, "IPC"; Message.fbs, Schema.fbs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from jupyter_codeagent.sandbox.data.flatbuffer import MalformedError, Table, root
from jupyter_codeagent.sandbox.data.rejection import rejecting_errors
from jupyter_codeagent.types.errors import RejectedDataError

CONTINUATION = 0xFFFFFFFF
VERSION_5, LITTLE_ENDIAN = 4, 0
SCHEMA, DICTIONARY_BATCH, RECORD_BATCH = 1, 2, 3
EXTENSION_KEY = b"ARROW:extension:name"
ALIGNED_TO = 8
"""Alignment of each buffer in bytes."""
MAX_BUFFERS = 150_000
MAX_DICTIONARIES = 20_000


@dataclass(frozen=True, kw_only=True)
class Batch:
    """The positions of one batch's buffers in the stream."""

    rows: int
    lengths: tuple[int, ...]
    """Length of each array, a parent before its children."""
    buffers: tuple[tuple[int, int], ...]
    """(position, bytes), in the order of the arrays."""


@dataclass(frozen=True, kw_only=True)
class Messages:
    """A whole stream."""

    schema: Table
    dictionaries: dict[int, Batch] = field(default_factory=dict)
    batch: Batch | None = None

    @property
    def rows(self) -> int:
        """Rows of the record batch; 0 without one."""
        return self.batch.rows if self.batch is not None else 0


def read_messages(data: bytes) -> Messages:
    """Read the messages of a stream, in a time proportional to the size of its metadata.

    Raises
    ------
    RejectedDataError
        If it is not such a stream.
    """
    with rejecting_errors("Arrow data from the sandbox has malformed metadata"):
        return _read(data)


def _read(data: bytes) -> Messages:
    schema: Table | None = None
    dictionaries: dict[int, Batch] = {}
    batch: Batch | None = None
    for message, body_at, body_end in _messages(data):
        kind, header = message.number(1, "b"), message.table(2)
        if header is None or (kind == SCHEMA) != (schema is None):
            raise MalformedError("a stream has one schema, at its beginning")
        if kind == SCHEMA:
            schema = _schema(header, body_end - body_at)
        elif batch is not None:
            raise RejectedDataError("Arrow data from the sandbox continues after its only record batch.")
        elif kind == DICTIONARY_BATCH:
            number = header.number(0, "q")
            if number in dictionaries or header.number(2, "b"):
                raise RejectedDataError(
                    "Arrow data from the sandbox has a dictionary that is replaced or continued."
                )
            if len(dictionaries) == MAX_DICTIONARIES:
                raise RejectedDataError(f"More than {MAX_DICTIONARIES:,} dictionaries came out of the sandbox.")
            dictionaries[number] = _batch(header.table(1), body_at, body_end)
        elif kind == RECORD_BATCH:
            batch = _batch(header, body_at, body_end)
        else:
            raise RejectedDataError(f"Arrow data from the sandbox has a message of type {kind}.")
    if schema is None:
        raise MalformedError("there is no schema")
    return Messages(schema=schema, dictionaries=dictionaries, batch=batch)


def _messages(data: bytes) -> Iterator[tuple[Table, int, int]]:
    """Yield each message, and where its body begins and ends."""
    at = 0
    while at + 8 <= len(data):
        continuation, length = struct.unpack_from("<Ii", data, at)
        if continuation != CONTINUATION:
            raise RejectedDataError("Data from the sandbox is not an Arrow stream.")
        at += 8
        if length == 0 and at == len(data):
            return
        body_at = at + length
        if length <= 0 or body_at > len(data) or body_at % ALIGNED_TO:
            break
        message = root(data[at:body_at])
        _require_own_form(message)
        at = body_at + message.number(3, "q")
        if not body_at <= at <= len(data):
            break
        yield message, body_at, at
    raise RejectedDataError("Arrow data from the sandbox is cut off.")


def _require_own_form(message: Table) -> None:
    version = message.number(0, "h")
    if version != VERSION_5:
        raise RejectedDataError(
            f"Arrow data of metadata version {version + 1} came out of the sandbox; only 5 is read."
        )
    if message.has(4):  # Arrow 0.17 announced compression by it
        raise RejectedDataError("An Arrow message with custom metadata came out of the sandbox.")


def _schema(schema: Table, body_bytes: int) -> Table:
    if schema.number(0, "h") != LITTLE_ENDIAN or body_bytes:
        raise MalformedError("the schema is of another byte order, or has a body")
    if EXTENSION_KEY in schema.data:
        raise RejectedDataError("A column of an Arrow extension type came out of the sandbox.")
    return schema


def _batch(batch: Table | None, body_at: int, body_end: int) -> Batch:
    if batch is None:
        raise MalformedError("a batch without arrays")
    if batch.has(3):
        raise RejectedDataError("Compressed Arrow data came out of the sandbox; it can claim any size.")
    if batch.has(4):
        raise RejectedDataError("Arrow data with views came out of the sandbox; they can claim any length.")
    if max(batch.vector(1, 16)[1], batch.vector(2, 16)[1]) > MAX_BUFFERS:
        raise RejectedDataError(f"Arrow data with more than {MAX_BUFFERS:,} buffers came out of the sandbox.")
    return Batch(
        rows=batch.number(0, "q"),
        lengths=tuple(length for length, _ in batch.structs(1, "<qq")),
        buffers=tuple(_buffers(batch, body_at, body_end)),
    )


def _buffers(batch: Table, body_at: int, body_end: int) -> Iterator[tuple[int, int]]:
    """Yield the buffers, each of which must follow the one before: shared bytes would be copied twice."""
    end = body_at
    for offset, size_bytes in batch.structs(2, "<qq"):
        start = body_at + offset
        if size_bytes == 0:  # its offset means nothing
            yield body_at, 0
            continue
        if size_bytes < 0 or start + size_bytes > body_end:
            raise RejectedDataError("Arrow data from the sandbox is cut off.")
        if start < end or start % ALIGNED_TO:
            raise RejectedDataError("Buffers of a frame from the sandbox share bytes: its columns overlap.")
        end = start + size_bytes
        yield start, size_bytes
