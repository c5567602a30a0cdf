"""One variable of the sandbox as bytes that the host can validate: Arrow, .npy, JSON or PNG. Never pickle."""

from __future__ import annotations

import io
import json
from typing import Any

from .frames import arrow_stream, pack_pandas, table_stream
from .plain import NoDataFormError, encode, no_data_form

Packed = tuple[str, str, bytes]
"""kind, meta as JSON, data: a `types.sandbox.PackedValue` on the host."""

SPARSE = frozenset(f"{form}_{kind}" for form in ("csr", "csc", "coo") for kind in ("array", "matrix"))


def pack(value: Any, max_bytes: int) -> Packed:
    """Return the value's data form; where there is none, kind ``error`` with a sentence in place of meta."""
    too_large = "error", f"it is larger than {max_bytes >> 20} MiB, the limit for one value", b""
    if size_bytes(value) > max_bytes:
        return too_large
    try:
        kind, meta, data = pack_by_type(value)
        if kind == "":
            kind, meta, data = pack_plain(value, max_bytes)
    except NoDataFormError as problem:
        return "error", f"it cannot come back as data: {problem}", b""
    except OverflowError:
        return too_large
    text = json.dumps(meta)
    return too_large if len(text) + len(data) > max_bytes else (kind, text, data)


def size_bytes(value: Any) -> int:
    """Return a cheap lower bound of the size, so that nothing huge is built only to be refused."""
    size = getattr(value, "nbytes", 0)
    return size if isinstance(size, int) else 0


def return_form(value: Any) -> str:
    """Return how a value would come back, by its type only: see `types.sandbox.ReturnForm`."""
    library, kinds = _library_and_kinds(value)
    if library in ("pandas", "polars", "pyarrow", "numpy", "scipy") and kinds & DATA:
        return "data"
    if _is_figure(kinds, library):
        return "image"
    if _is_chart(kinds, library):
        return "specification"
    if library in ("builtins", "datetime", "decimal", "fractions", "uuid", "collections"):
        return "data" if type(value).__name__ not in NO_DATA else ""
    return ""


DATA = SPARSE | {
    *("DataFrame", "Series", "Index", "Table", "RecordBatch", "Array", "ChunkedArray", "ndarray", "generic"),
    *("Timestamp", "Timedelta", "Period", "NaTType", "NAType"),
}
NO_DATA = frozenset(
    {"function", "type", "module", "generator", "object", "method", "ufunc", "builtin_function_or_method"}
)


def _library_and_kinds(value: Any) -> tuple[str, set[str]]:
    """Return the known library of the value's type or of one of its bases, and the names of all these types."""
    kinds = {kind.__name__ for kind in type(value).__mro__}
    libraries = [kind.__module__.partition(".")[0] for kind in type(value).__mro__]
    known = ("pandas", "polars", "pyarrow", "numpy", "scipy", "matplotlib", "plotly", "altair")
    return next((library for library in libraries if library in known), libraries[0]), kinds


def _is_figure(kinds: set[str], library: str) -> bool:
    return library == "matplotlib" and "Figure" in kinds


def _is_chart(kinds: set[str], library: str) -> bool:
    return (library == "plotly" and "BaseFigure" in kinds) or (library == "altair" and "TopLevelMixin" in kinds)


def pack_by_type(value: Any) -> tuple[str, Any, bytes]:
    """Pack a value by the names of its types, so that no library is imported. Kind "" for plain values."""
    library, kinds = _library_and_kinds(value)
    if library == "pandas" and kinds & {"DataFrame", "Series", "Index"}:
        meta, data = pack_pandas(value)
        return "arrow", meta, data
    if library == "polars" and kinds & {"DataFrame", "Series"}:
        return pack_polars(value)
    if library == "pyarrow" and kinds & {"Table", "RecordBatch", "Array", "ChunkedArray"}:
        return pack_arrow(value)
    if library == "numpy" and type(value).__name__ in ("ndarray", "matrix", "recarray", "memmap"):
        return pack_array(value)
    if _is_figure(kinds, library):
        return "png", {}, figure_bytes(value)
    return "", None, b""


def pack_array(value: Any) -> tuple[str, Any, bytes]:
    """Pack a numpy array; kind "" for an array of objects."""
    if value.dtype.hasobject:
        return "", None, b""
    kind = type(value).__name__
    notes = [] if kind == "ndarray" else [f"a {kind} became an ndarray"]
    return "npy", {"notes": notes}, npy_bytes(value)


def figure_bytes(figure: Any) -> bytes:
    """Return a matplotlib figure as PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return file.getvalue()


class PartCollector:
    """Collector of what does not fit into the JSON of one value: its frames, arrays and figures, and notes."""

    def __init__(self, max_bytes: int) -> None:
        self.parts: list[tuple[str, str, int]] = []
        self.data: list[bytes] = []
        self.notes: list[str] = []
        self._left = max_bytes

    def attach(self, value: Any) -> Any:
        """See `EncodingContext.attach`."""
        library, kinds = _library_and_kinds(value)
        if library == "scipy" and kinds & SPARSE:
            return self._sparse(value)
        if library == "numpy" and "MaskedArray" in kinds:
            return {"masked_array": [self._part(value.data), self._part(_mask(value))]}
        if library == "numpy" and "ndarray" in kinds and value.dtype.hasobject:
            if value.dtype != object:
                raise NoDataFormError("a structured array of Python objects has no data form")
            return {"object_array": [list(value.shape), [encode(item, 1, self) for item in value.ravel().tolist()]]}
        if _is_chart(kinds, library):
            return {"specification": self._specification(value, library)}
        kind, _, _ = packed = pack_by_type(value)
        return self._packed(packed) if kind else None

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def _part(self, value: Any) -> Any:
        packed = pack_by_type(value)
        if not packed[0]:
            raise no_data_form(type(value))
        return self._packed(packed)

    def _packed(self, packed: tuple[str, Any, bytes]) -> Any:
        kind, meta, data = packed
        self._left -= len(data)
        if self._left < 0:
            raise OverflowError
        self.parts.append((kind, json.dumps(meta), len(data)))
        self.data.append(data)
        return {"part": len(self.parts) - 1}

    def _sparse(self, value: Any) -> Any:
        name = type(value).__name__
        if value.ndim != 2:
            raise NoDataFormError("a sparse array that is not two-dimensional has no data form")
        arrays = [value.row, value.col] if name.startswith("coo") else [value.indptr, value.indices]
        return {"sparse": [name, list(value.shape), *(self._part(array) for array in (value.data, *arrays))]}

    def _specification(self, value: Any, library: str) -> Any:
        drawn = "plotly.graph_objects.Figure" if library == "plotly" else "altair.Chart.from_dict"
        self.note(f"the chart came back as its specification; {drawn} makes a chart of it")
        return json.loads(value.to_json()) if library == "plotly" else value.to_dict()


def _mask(value: Any) -> Any:
    import numpy as np

    return np.ma.getmaskarray(value)


def pack_plain(value: Any, max_bytes: int) -> tuple[str, Any, bytes]:
    """Pack a value as JSON, with parts that are not JSON beside it."""
    context = PartCollector(max_bytes)
    encoded = encode(value, 0, context)
    if not context.parts and not context.notes:
        return "json", encoded, b""
    return "parts", {"value": encoded, "parts": context.parts, "notes": context.notes[:20]}, b"".join(context.data)


def pack_polars(value: Any) -> tuple[str, Any, bytes]:
    """Pack a polars DataFrame or Series."""
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
    """Pack an Arrow table, batch or array."""
    import pyarrow as pa

    if isinstance(value, pa.RecordBatch):
        value = pa.Table.from_batches([value])
    if isinstance(value, pa.Table):
        meta = {"form": "arrow_table", "labels": value.column_names, "rows": value.num_rows}
        return "arrow", meta, table_stream(value.rename_columns([f"c{at}" for at in range(value.num_columns)]))
    array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
    return "arrow", {"form": "arrow_array", "labels": ["values"], "rows": len(array)}, arrow_stream([array])


def npy_bytes(array: Any) -> bytes:
    """Return an array in the `.npy` format, without pickles."""
    import numpy as np

    file = io.BytesIO()
    np.save(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()
