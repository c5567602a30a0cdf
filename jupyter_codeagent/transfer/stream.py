"""An Arrow stream from the sandbox, taken for hostile: checked before Arrow allocates, then validated in full.

Without the first, 17 KB of compressed body became 537 MB; without the second, 320 bytes killed the process
(`Table.validate()` alone had passed them). Layout of the messages: Arrow columnar format, "IPC"; Message.fbs.
"""

from __future__ import annotations

import re
import struct
from typing import Any

from jupyter_codeagent.errors import RejectedDataError

MAX_ROWS = 100_000_000
MAX_COLUMNS = 20_000
MAX_CELLS = 2_000_000_000
"""Rows × columns: an array of nulls has no bytes, so 224 of them can claim any number of rows."""
MAX_EMPTY_CELLS = 10_000_000
"""Of columns that have less than a bit for each row."""
MAX_DEPTH = 20
ZONE = re.compile(r"[A-Za-z0-9_+\-]{1,32}(/[A-Za-z0-9_+\-]{1,32}){0,2}|[+-]\d\d:\d\d")
"""Of time zones; pandas would read a file for one that begins with ``dateutil/``."""

CONTINUATION = 0xFFFFFFFF
SCHEMA, DICTIONARY_BATCH, RECORD_BATCH = 1, 2, 3
CLAIMING = ("run_end_encoded", "list_view", "large_list_view", "string_view", "binary_view")
EXTENSION_KEY = b"ARROW:extension:name"


def read_table(data: bytes) -> Any:
    """A `pyarrow.Table` whose every buffer is within bounds and whose text is UTF-8.

    Raises
    ------
    RejectedDataError
    """
    import pyarrow as pa

    try:
        check_messages(data)
    except (struct.error, IndexError) as problem:
        raise RejectedDataError("Arrow data from the sandbox has malformed metadata.") from problem
    try:
        table = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        _check_shape(table)
        table.validate(full=True)
        _check_bytes(table, len(data))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        text = " ".join(str(problem).split())[:120]
        raise RejectedDataError(f"Arrow data from the sandbox is not valid: {text}.") from problem
    return table.replace_schema_metadata(None)


def _check_shape(table: Any) -> None:
    rows, columns = table.num_rows, table.num_columns
    if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise RejectedDataError(
            f"A frame of {rows:,} rows x {columns:,} columns came out of the sandbox; the limits are {MAX_ROWS:,} "
            f"rows, {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells."
        )
    for field in table.schema:
        check_type(field.type)


def _check_bytes(table: Any, size_bytes: int) -> None:
    """Only once the table is valid: where strings begin and end is read for it."""
    rows = table.num_rows
    if table.nbytes > 2 * size_bytes + MAX_EMPTY_CELLS:
        raise RejectedDataError(
            f"A frame from the sandbox claims {table.nbytes:,} bytes, but {size_bytes:,} came: its columns overlap."
        )
    empty = sum(len(column) for column in table.columns if column.nbytes * 8 < len(column))
    if empty > MAX_EMPTY_CELLS:
        raise RejectedDataError(
            f"A frame of {rows:,} rows with nothing in them came out of the sandbox; the limit is "
            f"{MAX_EMPTY_CELLS:,} such cells."
        )


def check_type(kind: Any, depth: int = 0) -> None:
    """Only types whose values are as large as their bytes: with views and runs, a few bytes claim any length.

    Raises
    ------
    RejectedDataError
    """
    import pyarrow as pa

    if depth > MAX_DEPTH:
        raise RejectedDataError(f"A column that is nested deeper than {MAX_DEPTH} came out of the sandbox.")
    if str(kind).startswith(CLAIMING) or (depth and pa.types.is_dictionary(kind)):
        raise RejectedDataError(
            f"A column of type {str(kind)[:60]} came out of the sandbox; it can claim any length."
        )
    if (
        pa.types.is_timestamp(kind)
        and kind.tz is not None
        and not (ZONE.fullmatch(kind.tz) and not kind.tz.startswith("dateutil"))
    ):
        raise RejectedDataError(f"A column with the time zone {kind.tz[:40]!r} came out of the sandbox.")
    for at in range(kind.num_fields):
        check_type(kind.field(at).type, depth + 1)
    if pa.types.is_dictionary(kind):
        check_type(kind.value_type, depth + 1)


def check_messages(data: bytes) -> None:
    """Walk the stream's messages; only plain schemas, dictionaries and record batches with bodies inside the data.

    Raises
    ------
    RejectedDataError, struct.error, IndexError
    """
    at = 0
    while at + 8 <= len(data):
        continuation, length = struct.unpack_from("<Ii", data, at)
        if continuation != CONTINUATION:
            raise RejectedDataError("Data from the sandbox is not an Arrow stream.")
        if length == 0:
            return
        body_at = at + 8 + length
        if length < 0 or body_at > len(data):
            raise RejectedDataError("Arrow data from the sandbox is cut off.")
        body_bytes = _check_message(data[at + 8 : body_at])
        if body_bytes < 0 or body_at + body_bytes > len(data):
            raise RejectedDataError("Arrow data from the sandbox is cut off.")
        at = body_at + body_bytes


def _check_message(metadata: bytes) -> int:
    """Length of the body. Fields of Message.fbs: 1 header type, 2 header, 3 body length."""
    (message,) = struct.unpack_from("<I", metadata, 0)
    type_at, header_at, length_at = (_field(metadata, message, slot) for slot in (1, 2, 3))
    kind = metadata[type_at] if type_at else 0
    if kind not in (SCHEMA, DICTIONARY_BATCH, RECORD_BATCH) or not header_at:
        raise RejectedDataError(f"Arrow data from the sandbox has a message of type {kind}.")
    header = _follow(metadata, header_at)
    if kind == SCHEMA and EXTENSION_KEY in metadata:
        raise RejectedDataError("A column of an Arrow extension type came out of the sandbox.")
    if kind == DICTIONARY_BATCH:
        header = _follow(metadata, _field(metadata, header, 1))
    if kind != SCHEMA and _field(metadata, header, 3):  # RecordBatch.compression
        raise RejectedDataError("Compressed Arrow data came out of the sandbox; it can claim any size.")
    return int(struct.unpack_from("<q", metadata, length_at)[0]) if length_at else 0


def _field(table_bytes: bytes, table: int, slot: int) -> int:
    """Position of a flatbuffer table's field; 0 where it is left out."""
    (back,) = struct.unpack_from("<i", table_bytes, table)
    vtable = table - back
    (vtable_bytes,) = struct.unpack_from("<H", table_bytes, vtable)
    entry = 4 + 2 * slot
    if entry + 2 > vtable_bytes:
        return 0
    (offset,) = struct.unpack_from("<H", table_bytes, vtable + entry)
    return table + int(offset) if offset else 0


def _follow(table_bytes: bytes, at: int) -> int:
    """The position that an offset field points to."""
    return at + int(struct.unpack_from("<I", table_bytes, at)[0])
