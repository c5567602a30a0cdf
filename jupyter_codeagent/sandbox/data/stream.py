"""An Arrow table from a stream of the sandbox, which may be hostile: its buffers are slices of the received bytes.

Arrow's own reader is not used: in it 15 KB became 480 MB, and 1.7 MB became 680, before anything could be
validated. Arrays are built (`arrow_arrays`) from exactly what is read here (`messages`, `arrow_types`), so nothing
is decompressed, joined or byte-swapped, and no extension type is called. Arrow then validates the result in full:
without that, 320 bytes killed the process (`Table.validate()` alone had passed them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.arrow_arrays import Budget, build_columns, build_entries
from jupyter_codeagent.sandbox.data.arrow_types import Column, read_columns
from jupyter_codeagent.sandbox.data.messages import Messages, read_messages
from jupyter_codeagent.sandbox.data.rejection import rejecting_errors
from jupyter_codeagent.types.errors import RejectedDataError

MAX_ROWS = 100_000_000
MAX_CELLS = 2_000_000_000
"""Rows × columns."""


@dataclass(frozen=True, kw_only=True)
class TableShape:
    """The shape that a stream claims for its table, before anything is built."""

    rows: int
    columns: tuple[Column, ...]


def read_shape(data: bytes) -> TableShape:
    """Read rows and columns of the table, from the metadata only.

    Raises
    ------
    RejectedDataError
    """
    messages = read_messages(data)
    return TableShape(rows=messages.rows, columns=_checked_columns(messages))


def read_table(data: bytes) -> Any:
    """Read a `pyarrow.Table` with columns ``c0``, ``c1`` …; its buffers are slices of `data`, its text is UTF-8.

    Raises
    ------
    RejectedDataError
    """
    import pyarrow as pa

    messages = read_messages(data)
    columns = _checked_columns(messages)
    with rejecting_errors("Arrow data from the sandbox is not valid"):
        arrays = _arrays(pa.py_buffer(data), columns, messages)
        fields = [
            pa.field(f"c{at}", array.type, column.is_nullable)
            for at, (array, column) in enumerate(zip(arrays, columns, strict=True))
        ]
        table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
        table.validate(full=True)
        return table


def _checked_columns(messages: Messages) -> tuple[Column, ...]:
    columns = read_columns(messages.schema)
    rows, count = messages.rows, len(columns)
    if not 0 <= rows <= MAX_ROWS or rows * count > MAX_CELLS:
        raise RejectedDataError(
            f"A frame of {rows:,} rows x {count:,} columns came out of the sandbox; the limits are {MAX_ROWS:,} "
            f"rows and {MAX_CELLS:,} cells."
        )
    numbers = [column.dictionary.number for column in columns if column.dictionary is not None]
    expected = sorted(numbers) if messages.batch is not None else []
    if sorted(messages.dictionaries) != expected or len(set(numbers)) < len(numbers):
        raise RejectedDataError("Arrow data from the sandbox lacks a dictionary of a column, or has too many.")
    return columns


def _arrays(buffer: Any, columns: tuple[Column, ...], messages: Messages) -> list[Any]:
    import pyarrow as pa

    if messages.batch is None:
        return [pa.array([], column.whole_type) for column in columns]
    budget = Budget()
    entries = {
        column.dictionary.number: build_entries(
            column, messages.dictionaries[column.dictionary.number], buffer, budget
        )
        for column in columns
        if column.dictionary is not None
    }
    return build_columns(columns, entries, messages.batch, buffer, budget)
