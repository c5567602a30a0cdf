"""Frames from an Arrow stream and the side-car of `inside.frames`. Tags are matched, never looked up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.errors import RejectedDataError
from jupyter_codeagent.transfer.plain import decode

NUMPY_DTYPE = re.compile(r"([|<>=])?([biuf])([1248])|([|<>=])?[mM]8\[(s|ms|us|ns)\]")
MISSING_ORDINAL = -(1 << 63)
"""NaT as pandas stores it."""
MASKED_DTYPE = re.compile(r"U?Int(8|16|32|64)|Float(32|64)|boolean")


@dataclass(frozen=True, kw_only=True)
class SideCar:
    """What an Arrow table does not say about a frame; checked against the table."""

    form: str
    rows: int
    labels: tuple[Any, ...]
    tags: tuple[str, ...] = ()
    column_names: tuple[Any, ...] = (None,)
    many_column_levels: bool = False
    range: tuple[int, int, int] | None = None
    index_names: tuple[Any, ...] = (None,)
    freq: str | None = None
    notes: tuple[str, ...] = ()


def read_side_car(meta: Any) -> SideCar:
    """Raises ValueError or TypeError for what `inside.frames` would not have written."""
    if not isinstance(meta, dict):
        raise TypeError("the side-car is no object")
    span = meta.get("range")
    return SideCar(
        form=_text(meta.get("form")),
        rows=_whole(meta.get("rows")),
        labels=tuple(_hashable(decode(label, 0, [])) for label in _items(meta.get("labels"))),
        tags=tuple(_text(tag) for tag in _items(meta.get("tags", []))),
        column_names=_names(meta.get("column_names", [None])),
        many_column_levels=meta.get("many_column_levels") is True,
        range=None if span is None else _three(span),
        index_names=_names(meta.get("index_names", [None])),
        freq=None if meta.get("freq") is None else _text(meta["freq"])[:20],
        notes=tuple(_text(note)[:200] for note in _items(meta.get("notes", []))[:20]),
    )


def build_pandas(table: Any, side: SideCar) -> Any:
    """The DataFrame, Series or Index.

    Raises
    ------
    RejectedDataError, ValueError, TypeError
    """
    import pandas as pd

    levels = 0 if side.range is not None else len(side.index_names)
    width = table.num_columns - levels
    if width < 0 or len(side.tags) != table.num_columns or len(side.labels) != width:
        raise RejectedDataError("A frame from the sandbox has another number of columns than its description.")
    if table.num_columns and table.num_rows != side.rows:
        raise RejectedDataError("A frame from the sandbox has another number of rows than its description.")
    arrays = [_array(table.column(at), tag) for at, tag in enumerate(side.tags)]
    index = _index(arrays[width:], side)
    if side.form == "index":
        return index
    frame = pd.DataFrame(
        {at: pd.Series(values, index=index) for at, values in enumerate(arrays[:width])}, index=index
    )
    if side.form == "series":
        return frame.iloc[:, 0].rename(side.labels[0])
    if side.labels:
        frame.columns = _columns(side)
    return frame


def build_polars(table: Any, side: SideCar) -> Any:
    """The polars DataFrame or Series."""
    import polars as pl
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_dictionary(field.type) and not _is_text(field.type.value_type):  # polars would write it out
            raise RejectedDataError("A polars frame with a dictionary of other than text came out of the sandbox.")
    frame = pl.from_arrow(_renamed(table, side))
    return frame if side.form == "polars_frame" or isinstance(frame, pl.Series) else frame.to_series()


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def build_arrow(table: Any, side: SideCar) -> Any:
    """The table, or its only column."""
    renamed = _renamed(table, side)
    return renamed if side.form == "arrow_table" else renamed.column(0).combine_chunks()


def _renamed(table: Any, side: SideCar) -> Any:
    if len(side.labels) != table.num_columns:
        raise RejectedDataError("A frame from the sandbox has another number of columns than its description.")
    return table.rename_columns([_text(label) for label in side.labels])


def _columns(side: SideCar) -> Any:
    import pandas as pd

    if side.many_column_levels:
        return pd.MultiIndex.from_tuples(side.labels, names=list(side.column_names))
    return pd.Index(list(side.labels), name=side.column_names[0], tupleize_cols=False)


def _index(levels: Sequence[Any], side: SideCar) -> Any:
    import pandas as pd

    if side.range is not None:
        index = pd.RangeIndex(*side.range, name=side.index_names[0])
        if len(index) != side.rows:
            raise RejectedDataError("A frame from the sandbox has another number of rows than its description.")
        return index
    if len(levels) != 1:
        return pd.MultiIndex.from_arrays(list(levels), names=list(side.index_names))
    index = pd.Index(levels[0], name=side.index_names[0])
    if side.freq and isinstance(index, pd.DatetimeIndex):
        return pd.DatetimeIndex(index, freq=side.freq)
    return index


def _array(chunked: Any, tag: str) -> Any:
    """A writable pandas or numpy array of one column."""
    import pyarrow as pa

    array = chunked.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no chunks at all
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    kind, _, detail = tag.partition(":")
    if kind not in BUILDERS or (pa.types.is_dictionary(array.type) and kind not in ("category", "arrow")):
        raise RejectedDataError(f"A column from the sandbox is tagged {tag[:40]!r}.")
    return BUILDERS[kind](array, detail)


def _numpy(array: Any, detail: str) -> Any:
    import numpy as np

    if not NUMPY_DTYPE.fullmatch(detail):
        raise RejectedDataError(f"A column from the sandbox claims the type {detail[:40]!r}.")
    return np.array(array.to_numpy(zero_copy_only=False), dtype=np.dtype(detail))


def _object(array: Any, _detail: str) -> Any:
    import numpy as np

    values = np.empty(len(array), dtype=object)
    values[:] = array.to_pylist()
    return values


def _complex(array: Any, _detail: str) -> Any:
    real, imaginary = (_numpy(array.field(name), "<f8") for name in ("real", "imag"))
    return real + 1j * imaginary


def _string(array: Any, detail: str) -> Any:
    import pandas as pd

    storage, _, missing = detail.partition(":")
    dtype: Any = pd.StringDtype(
        "python" if storage == "python" else "pyarrow", na_value=pd.NA if missing == "NA" else float("nan")
    )
    return pd.array(array.to_pylist(), dtype=dtype) if storage == "python" else dtype.__from_arrow__(array)


def _category(array: Any, detail: str) -> Any:
    import numpy as np
    import pandas as pd

    codes = np.array(array.indices.fill_null(-1).to_numpy(zero_copy_only=False))
    return pd.Categorical.from_codes(codes, pd.Index(array.dictionary.to_pandas()), ordered=detail == "1")


def _period(array: Any, detail: str) -> Any:
    import pandas as pd

    ordinals = array.fill_null(MISSING_ORDINAL).to_numpy(zero_copy_only=False)
    period_index: Any = pd.PeriodIndex
    return period_index.from_ordinals(ordinals, freq=detail[:20]).array


def _interval(array: Any, detail: str) -> Any:
    import pandas as pd

    left, right = (array.field(name).to_numpy(zero_copy_only=False) for name in ("left", "right"))
    intervals: Any = pd.arrays.IntervalArray
    return intervals.from_arrays(left, right, closed=detail)


def _masked(array: Any, detail: str) -> Any:
    import pandas as pd

    if not MASKED_DTYPE.fullmatch(detail):
        raise RejectedDataError(f"A column from the sandbox claims the type {detail[:40]!r}.")
    dtype: Any = pd.api.types.pandas_dtype(detail)
    return dtype.__from_arrow__(array)


def _zoned(array: Any, _detail: str) -> Any:
    return array.to_pandas().array.copy()


def _arrow(array: Any, _detail: str) -> Any:
    import pandas as pd

    return pd.array(array, dtype=pd.ArrowDtype(array.type))


BUILDERS: dict[str, Callable[[Any, str], Any]] = {
    "numpy": _numpy,
    "object": _object,
    "complex": _complex,
    "string": _string,
    "category": _category,
    "period": _period,
    "interval": _interval,
    "masked": _masked,
    "zoned": _zoned,
    "arrow": _arrow,
}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not text: {str(value)[:40]}")
    return value


def _hashable(value: Any) -> Any:
    hash(value)
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"not a count: {str(value)[:40]}")
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {str(value)[:40]}")
    return value


def _names(value: Any) -> tuple[Any, ...]:
    """One for each level, of which there is one at least."""
    names = tuple(decode(name, 0, []) for name in _items(value))
    if not names:
        raise ValueError("no level has a name")
    return names


def _three(value: Any) -> tuple[int, int, int]:
    start, stop, step = _items(value)
    if not all(type(number) is int and abs(number) < 1 << 62 for number in (start, stop, step)):
        raise ValueError("not a range")
    return start, stop, step
