"""An Arrow table from a stream of the sandbox, taken for hostile: its buffers are parts of what came.

Arrow's own reader is not used: 15 KB became 480 MB in it, 1.7 MB became 680, before anything could be validated.
What is read here (`messages`, `arrow_types`) is what is built (`arrow_arrays`), so nothing is decompressed, joined
or byte-swapped, and nobody's extension type is called. Arrow then validates in full what was built: without that,
320 bytes killed the process (`Table.validate()` alone had passed them).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.arrow_arrays import Budget, build_columns, build_entries
from jupyter_codeagent.sandbox.data.arrow_types import Column, read_columns
from jupyter_codeagent.sandbox.data.messages import Messages, read_messages
from jupyter_codeagent.sandbox.data.refusal import refused
from jupyter_codeagent.types.errors import RejectedDataError

MAX_ROWS = 100_000_000
MAX_CELLS = 2_000_000_000
"""Rows × columns."""


@dataclass(frozen=True, kw_only=True)
class TableShape:
    """What a stream says of its table, of which nothing was built."""

    rows: int
    columns: tuple[Column, ...]


def read_shape(data: bytes) -> TableShape:
    """Rows and columns of the table, from the metadata alone.

    Raises
    ------
    RejectedDataError
    """
    messages = read_messages(data)
    return TableShape(rows=messages.rows, columns=_checked_columns(messages))


def read_table(data: bytes) -> Any:
    """A `pyarrow.Table` whose every buffer is a part of `data` and whose text is UTF-8; columns are ``c0``, ``c1``.

    Raises
    ------
    RejectedDataError
    """
    import pyarrow as pa

    messages = read_messages(data)
    columns = _checked_columns(messages)
    with refused("Arrow data from the sandbox is not valid"):
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
        raise RejectedDataError("Arrow data from the sandbox has not just one dictionary for each column with one.")
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
