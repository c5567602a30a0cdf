"""Cheap fingerprints of values: labels, types, and a digest of each part that changes when its contents do."""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from .pages import SMALL_BYTES, Memory

MAX_COLUMNS = 2000
MAX_HEAD_BYTES = 4 << 20
"""Limit for objects that are pickled to see whether they changed."""
MAX_COLUMN_HEAD_BYTES = 256 << 10
MAX_KEYS = 1000

Digest = Hashable


@dataclass(frozen=True)
class Fingerprint:
    """Labels, types and digests of a value. Two fingerprints differ where the value was changed between them."""

    kind: str
    """Name of the value's type."""
    rows: int | None = None
    labels: tuple[str, ...] = ()
    """Columns or keys, as their `repr`."""
    dtypes: tuple[str, ...] = ()
    digests: tuple[Digest, ...] = ()
    """One for each label; None where a part has no digest."""
    index: Digest = None
    whole: Digest = None
    """Digest of a value that has no parts."""
    kept: Any = field(default=None, compare=False, repr=False)
    """Immutable objects whose identity is part of a digest; kept so that no other object gets their address."""


def fingerprint(value: Any, memory: Memory) -> Fingerprint:
    """Return the fingerprint of a value, by the name of its type, so that no library is imported."""
    kind = type(value)
    library, name = kind.__module__.partition(".")[0], kind.__name__
    if library == "pandas" and name == "DataFrame":
        return _pandas_frame(value, memory)
    if library == "pandas" and name == "Series":
        return _pandas_series(value, memory)
    if library == "polars" and name == "DataFrame":
        return _polars_frame(value)
    if library == "polars" and name == "Series":
        return Fingerprint(
            kind=name, rows=len(value), whole=(str(value.dtype), _polars_digest(value)), kept=value.clone()
        )
    if library == "numpy" and name == "ndarray":
        return Fingerprint(kind=name, whole=(value.dtype.str, value.shape, _array_digest(value, memory)))
    if kind is dict and len(value) <= MAX_KEYS:
        return _dictionary(value, memory)
    rows = len(value) if kind in (list, set) else None
    return Fingerprint(kind=name, rows=rows, whole=_pickle_digest(value, memory, MAX_HEAD_BYTES))


def _pandas_frame(frame: Any, memory: Memory) -> Fingerprint:
    width = min(frame.shape[1], MAX_COLUMNS)
    arrays = [frame.iloc[:, at].array for at in range(width)]
    return Fingerprint(
        kind="DataFrame",
        rows=len(frame),
        labels=tuple(repr(label)[:100] for label in frame.columns[:width]),
        dtypes=tuple(str(array.dtype) for array in arrays),
        digests=tuple(_array_digest(array, memory) for array in arrays),
        index=id(frame.index),
        kept=frame.index,
    )


def _pandas_series(series: Any, memory: Memory) -> Fingerprint:
    return Fingerprint(
        kind="Series",
        rows=len(series),
        index=id(series.index),
        whole=(repr(series.name)[:100], str(series.dtype), _array_digest(series.array, memory)),
        kept=series.index,
    )


def _polars_frame(frame: Any) -> Fingerprint:
    columns = frame.get_columns()[:MAX_COLUMNS]
    return Fingerprint(
        kind="DataFrame",
        rows=frame.height,
        labels=tuple(repr(column.name)[:100] for column in columns),
        dtypes=tuple(str(column.dtype) for column in columns),
        digests=tuple(_polars_digest(column) for column in columns),
        kept=frame.clone(),  # shares the data, which is then copied by whatever changes it
    )


def _polars_digest(column: Any) -> Digest:
    """Return the addresses of the data, shared with the fingerprint: polars copies shared data before a change."""
    import polars as pl

    level = pl.CompatLevel.newest()
    # As text, categories would be copied at each access.
    physical = column.to_physical() if column.dtype in (pl.Categorical, pl.Enum) else column
    arrays = [chunk.to_arrow(compat_level=level) for chunk in physical.get_chunks()]
    return tuple((len(array), *(part and part.address for part in array.buffers())) for array in arrays)


def _dictionary(value: dict[Any, Any], memory: Memory) -> Fingerprint:
    return Fingerprint(
        kind="dict",
        labels=tuple(repr(key)[:100] if type(key) in (str, int, float, bool) else "" for key in value),
        dtypes=tuple(type(item).__name__ for item in value.values()),
        digests=tuple(
            _pickle_digest(item, memory, MAX_HEAD_BYTES // max(1, len(value))) for item in value.values()
        ),
    )


def _array_digest(array: Any, memory: Memory) -> Digest:
    """Return the digest of a one-dimensional pandas array or a numpy array."""
    plain = array.to_numpy() if type(array).__name__ == "NumpyExtensionArray" else array
    if type(plain).__name__ != "ndarray":
        return _pickle_digest(array, memory, MAX_COLUMN_HEAD_BYTES)
    if plain.dtype.hasobject:
        return _pointers_digest(plain, memory)
    import numpy as np

    low, high = np.lib.array_utils.byte_bounds(plain)
    return low, plain.shape, plain.strides, memory.state((low, high - low))


def _pointers_digest(plain: Any, memory: Memory) -> Digest:
    """Return a digest of the references to objects, not of their contents."""
    import numpy as np

    low, high = np.lib.array_utils.byte_bounds(plain)
    return plain.shape, memory.checksum((low, high - low))


class _BoundedFile(io.RawIOBase):
    """Keeps a checksum of what is written, and stops the writer when it is too large."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self.left = max_bytes
        self.checksum = 0

    def write(self, data: Any) -> int:
        self.left -= memoryview(data).nbytes
        if self.left < 0:
            raise BufferError("larger than the limit for digests")
        self.checksum = zlib.crc32(data, self.checksum)
        return memoryview(data).nbytes


def _pickle_digest(value: Any, memory: Memory, max_bytes: int) -> Digest:
    """Return a digest of the value's pickle stream and the state of its buffers; None if there is none."""
    file = _BoundedFile(max_bytes)
    buffers: list[pickle.PickleBuffer] = []
    try:
        pickle.Pickler(file, protocol=5, buffer_callback=buffers.append).dump(value)
        extents = [_extent(buffer.raw()) for buffer in buffers]
    except Exception:  # noqa: BLE001  (too large, or of a type that cannot be pickled any more: no digest)
        return None
    # Small buffers, such as those of categories, may be new objects each time: their addresses tell nothing.
    places = [address if length > SMALL_BYTES else 0 for address, length in extents]
    return file.checksum, tuple(zip(places, map(memory.state, extents), strict=True))


def _extent(raw: memoryview) -> tuple[int, int]:
    import numpy as np

    return (np.frombuffer(raw, "u1").__array_interface__["data"][0], raw.nbytes) if raw.nbytes else (0, 0)
