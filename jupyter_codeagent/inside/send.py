"""One variable of the sandbox as bytes that the host can check: Arrow, .npy or JSON. Never pickle."""

from __future__ import annotations

import io
import json
from typing import Any

from .frames import arrow_stream, pack_pandas, table_stream
from .plain import NoDataFormError, encode

Packed = tuple[str, str, bytes]
"""kind, meta as JSON, data: what `values.PackedValue` is on the host."""


def pack(value: Any, max_bytes: int) -> Packed:
    """The value's data form; kind ``error`` with a sentence in place of meta where there is none."""
    if size_bytes(value) > max_bytes:
        return "error", f"it is larger than {max_bytes >> 20} MiB, the limit for one value", b""
    try:
        kind, meta, data = pack_by_type(value)
    except NoDataFormError as problem:
        return "error", f"it cannot come back as data: {problem}", b""
    text = json.dumps(meta)
    if len(text) + len(data) > max_bytes:
        return "error", f"it is larger than {max_bytes >> 20} MiB, the limit for one value", b""
    return kind, text, data


def size_bytes(value: Any) -> int:
    """A cheap lower bound, so that nothing huge is built only to be refused."""
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0


def pack_by_type(value: Any) -> tuple[str, Any, bytes]:
    """Dispatch by the names of types: nothing is imported that the value did not bring."""
    names = {f"{kind.__module__}.{kind.__qualname__}".partition(".")[0]: kind for kind in type(value).__mro__}
    kinds = {kind.__name__ for kind in type(value).__mro__}
    if "pandas" in names and kinds & {"DataFrame", "Series", "Index"}:
        meta, data = pack_pandas(value)
        return "arrow", meta, data
    if "polars" in names and kinds & {"DataFrame", "Series"}:
        return pack_polars(value)
    if "pyarrow" in names and kinds & {"Table", "RecordBatch", "Array", "ChunkedArray"}:
        return pack_arrow(value)
    if "numpy" in names and "ndarray" in kinds:
        return "npy", {}, npy_bytes(value)
    return "json", encode(value), b""


def pack_polars(value: Any) -> tuple[str, Any, bytes]:
    import polars as pl

    notes: list[str] = []
    form = "polars_frame" if isinstance(value, pl.DataFrame) else "polars_series"
    frame = value if isinstance(value, pl.DataFrame) else value.to_frame()
    for name, dtype in frame.schema.items():
        if dtype == pl.Object:
            raise NoDataFormError(f"column {name!r} holds Python objects")
        if dtype == pl.Enum:
            notes.append(f"enum column {name!r} became text")
            frame = frame.with_columns(pl.col(name).cast(pl.String))
    meta = {"form": form, "labels": frame.columns, "rows": frame.height, "notes": notes}
    arrays = [column.combine_chunks() for column in frame.to_arrow(compat_level=pl.CompatLevel.oldest()).columns]
    return "arrow", meta, arrow_stream(arrays)


def pack_arrow(value: Any) -> tuple[str, Any, bytes]:
    import pyarrow as pa

    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, pa.Table):
        meta = {"form": "arrow_table", "labels": value.column_names, "rows": value.num_rows}
        return "arrow", meta, table_stream(value.rename_columns([f"c{at}" for at in range(value.num_columns)]))
    array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
    return "arrow", {"form": "arrow_array", "labels": ["values"], "rows": len(array)}, arrow_stream([array])


def npy_bytes(array: Any) -> bytes:
    import numpy as np

    if array.dtype.hasobject:
        raise NoDataFormError("an array of Python objects has no data form")
    file = io.BytesIO()
    np.save(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()
