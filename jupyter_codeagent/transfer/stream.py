"""An Arrow stream from the sandbox, taken for hostile: checked before Arrow allocates, then validated in full.

Without the first, 17 KB of compressed body became 537 MB; without the second, 320 bytes killed the process
(`Table.validate()` alone had passed them). Layout of the messages: Arrow columnar format, "IPC"; Message.fbs.
"""

from __future__ import annotations

import struct
from typing import Any

from jupyter_codeagent.errors import RejectedDataError

MAX_ROWS = 100_000_000
MAX_COLUMNS = 20_000
MAX_CELLS = 2_000_000_000
"""Rows × columns: an array of nulls has no bytes, so 224 of them can claim any number of rows."""

CONTINUATION = 0xFFFFFFFF
SCHEMA, DICTIONARY_BATCH, RECORD_BATCH = 1, 2, 3
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
    except (pa.ArrowException, OSError, ValueError, OverflowError) as problem:
        text = " ".join(str(problem).split())[:120]
        raise RejectedDataError(f"Arrow data from the sandbox is not valid: {text}.") from problem
    return table.replace_schema_metadata(None)


def _check_shape(table: Any) -> None:
    import pyarrow as pa

    rows, columns = table.num_rows, table.num_columns
    if rows > MAX_ROWS or columns > MAX_COLUMNS or rows * columns > MAX_CELLS:
        raise RejectedDataError(
            f"A frame of {rows:,} rows x {columns:,} columns came out of the sandbox; the limits are {MAX_ROWS:,} "
            f"rows, {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells."
        )
    for field in table.schema:
        if pa.types.is_run_end_encoded(field.type):
            raise RejectedDataError("A run-end encoded column came out of the sandbox; it can claim any length.")


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
