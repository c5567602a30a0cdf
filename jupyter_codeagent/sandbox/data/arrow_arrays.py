"""Arrow arrays over the buffers of one batch. They refer to the received bytes; nothing is copied.

Arrow's own validation checks whether the buffers are long enough, and what their offsets point to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.arrow_types import Column
from jupyter_codeagent.sandbox.data.messages import Batch
from jupyter_codeagent.types.errors import RejectedDataError

MAX_EMPTY_CELLS = 10_000_000
"""Limit for cells of arrays that have no bytes for their values: 224 bytes can claim any number of them."""
MAX_LENGTH = 1 << 40


@dataclass
class Budget:
    """Count of cells in one stream that cost the sandbox nothing."""

    empty_cells: int = 0

    def add(self, cells: int) -> None:
        """Count cells; raise RejectedDataError above the limit."""
        self.empty_cells += cells
        if self.empty_cells > MAX_EMPTY_CELLS:
            raise RejectedDataError(
                f"{self.empty_cells:,} rows or cells with nothing in them came out of the sandbox; the limit is "
                f"{MAX_EMPTY_CELLS:,}."
            )


def build_columns(
    columns: Sequence[Column], entries: Mapping[int, Any], batch: Batch, buffer: Any, budget: Budget
) -> list[Any]:
    """Build one array for each column; `entries` are the dictionaries, by number.

    Raises
    ------
    ValueError, ArrowException
    """
    builder = _Builder(batch, buffer, budget)
    arrays = []
    for column in columns:
        if column.dictionary is None:
            arrays.append(builder.array(column.type, column.parts))
        else:
            indices = builder.array(column.dictionary.index)
            arrays.append(_encoded(indices, entries[column.dictionary.number], column.dictionary.is_ordered))
    builder.require_end(arrays)
    return arrays


def build_entries(column: Column, batch: Batch, buffer: Any, budget: Budget) -> Any:
    """Build the dictionary of a column.

    Raises
    ------
    ValueError, ArrowException
    """
    builder = _Builder(batch, buffer, budget)
    array = builder.array(column.type, column.parts)
    builder.require_end([array])
    array.validate(full=True)
    return array


def _encoded(indices: Any, entries: Any, is_ordered: bool) -> Any:
    """Return a dictionary array; Arrow checks every index."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(indices, entries, ordered=is_ordered, safe=True)


class _Builder:
    """Builder of a batch's arrays: each takes the next lengths and buffers, a parent before its children."""

    def __init__(self, batch: Batch, buffer: Any, budget: Budget) -> None:
        self._rows = batch.rows
        self._lengths, self._buffers = iter(batch.lengths), iter(batch.buffers)
        self._bytes = buffer
        self._budget = budget

    def array(self, kind: Any, parts: Sequence[Column] = ()) -> Any:
        import pyarrow as pa

        length = next(self._lengths, -1)
        if not 0 <= length <= MAX_LENGTH:
            raise ValueError(f"an array of the length {length}")
        if _has_no_bytes(kind, parts):
            self._budget.add(length)
        if pa.types.is_null(kind):  # the only type without buffers in a stream
            return pa.nulls(length)
        buffers = [self._buffer(is_validity=at == 0) for at in range(kind.num_buffers)]
        children = [self.array(part.type, part.parts) for part in parts]
        return pa.Array.from_buffers(kind, length, buffers, children=children or None)

    def _buffer(self, *, is_validity: bool) -> Any:
        """Return the next buffer; None for a validity buffer that is left out because no value is missing."""
        start, size_bytes = next(self._buffers, (0, -1))
        if size_bytes < 0:
            raise ValueError("a buffer is not there")
        return None if is_validity and not size_bytes else self._bytes.slice(start, size_bytes)

    def require_end(self, arrays: Sequence[Any]) -> None:
        if next(self._lengths, None) is not None or next(self._buffers, None) is not None:
            raise ValueError("there are more arrays than columns")
        if any(len(array) != self._rows for array in arrays):
            raise ValueError(f"a column does not have the {self._rows:,} rows of its batch")


def _has_no_bytes(kind: Any, parts: Sequence[Column]) -> bool:
    """Check whether its length is bounded neither by its own buffers nor by those of its parts."""
    import pyarrow as pa

    is_type = pa.types
    if is_type.is_null(kind):
        return True
    if is_type.is_struct(kind):
        return not parts
    if is_type.is_fixed_size_binary(kind):
        return int(kind.byte_width) == 0
    return bool(is_type.is_fixed_size_list(kind) and kind.list_size == 0)
