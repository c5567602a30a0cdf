"""Frames on their way to the host: each column as an Arrow array and a tag for its type. See `data.frames`.

`pyarrow.Table.from_pandas` keeps 38 of the 59 dtype cases tried and raises for some; our own tags keep more, and a
column without a data form becomes text, with a note.
"""

from __future__ import annotations

import datetime
import decimal
import math
from typing import Any

from .plain import NoDataFormError, encode

Column = tuple[Any, str]
"""(Arrow array, tag)."""
CELL_TYPES = (str, bytes, bool, int, float, decimal.Decimal, datetime.date, datetime.datetime, datetime.time)
MAX_TEXT = 10_000
"""Limit for the characters of a cell that becomes text."""


def pack_pandas(value: Any) -> tuple[dict[str, Any], bytes]:
    """Pack a DataFrame, Series or Index as (meta, Arrow stream)."""
    import pandas as pd

    notes: list[str] = []
    if not type(value).__module__.startswith("pandas"):
        notes.append(f"a {type(value).__name__} came back as one of pandas' own")
    if getattr(value, "attrs", None):
        notes.append("its attrs were not copied")
    if isinstance(value, pd.DataFrame):
        form, frame = "frame", value
    elif isinstance(value, pd.Series):
        form, frame = "series", value.to_frame()
    else:
        form, frame = "index", pd.DataFrame(index=value)
    index: Any = frame.index
    columns = [column(frame.iloc[:, at], notes) for at in range(frame.shape[1])]
    is_range = isinstance(index, pd.RangeIndex)
    if not is_range:
        columns += [column(index.get_level_values(level).to_series(), notes) for level in range(index.nlevels)]
    meta = {
        "form": form,
        "rows": len(frame),
        "tags": [tag for _, tag in columns],
        "labels": [label(name, notes) for name in (frame.columns if form != "series" else [value.name])],
        "column_names": [label(name, notes) for name in frame.columns.names],
        "many_column_levels": isinstance(frame.columns, pd.MultiIndex),
        "range": [index.start, index.stop, index.step] if is_range else None,
        "index_names": [label(name, notes) for name in index.names],
        "freq": getattr(index, "freqstr", None),
        "notes": notes[:20],
    }
    return meta, arrow_stream([array for array, _ in columns])


def arrow_stream(arrays: list[Any]) -> bytes:
    """Return an uncompressed stream with columns named by position: their real names are in the description."""
    import pyarrow as pa

    return table_stream(pa.Table.from_arrays(arrays, names=[f"c{at}" for at in range(len(arrays))]))


def table_stream(table: Any) -> bytes:
    """Return the uncompressed Arrow stream of a table."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks())
    return bytes(memoryview(sink.getvalue()))


def label(value: Any, notes: list[str]) -> Any:
    """Return the JSON of one column label or name."""
    try:
        return encode(value)
    except NoDataFormError:
        notes.append(f"label {str(value)[:40]!r} became text")
        return str(value)


def column(series: Any, notes: list[str]) -> Column:
    """Convert one column; to text, with a note, where it has no data form."""
    import pyarrow as pa

    try:
        return typed_column(series, notes)
    except (NoDataFormError, pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        notes.append(f"column {str(series.name)[:40]!r} became text ({type(problem).__name__})")
        return text_column(series), "object"


def typed_column(series: Any, notes: list[str]) -> Column:
    """Convert one column by its dtype."""
    import numpy as np
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        notes.append(f"sparse column {str(series.name)[:40]!r} became dense")
        return typed_column(series.sparse.to_dense(), notes)
    if isinstance(dtype, np.dtype):
        return numpy_column(series, dtype, notes)
    if isinstance(dtype, pd.CategoricalDtype | pd.PeriodDtype | pd.IntervalDtype):
        return composed_column(series, dtype, notes)
    return extension_column(series, dtype)


def composed_column(series: Any, dtype: Any, notes: list[str]) -> Column:
    """Convert a column of a dtype that is kept as codes, ordinals or pairs."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.CategoricalDtype):
        return categorical_column(series.array, notes)
    if isinstance(dtype, pd.PeriodDtype):
        return pa.array(
            series.array.asi8, mask=series.isna().to_numpy()
        ), f"period:{dtype.name[len('period[') : -1]}"
    ends = [pa.array(end.to_numpy()) for end in (series.array.left, series.array.right)]
    return pa.StructArray.from_arrays(ends, ["left", "right"]), f"interval:{dtype.closed}"


def extension_column(series: Any, dtype: Any) -> Column:
    """Convert a column of a dtype that has an Arrow form."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(dtype, pd.StringDtype):
        kind = f"string:{dtype.storage}:{'NA' if dtype.na_value is pd.NA else 'nan'}"
        return one_chunk(pa.array(series, type=pa.large_string(), from_pandas=True)), kind
    array = one_chunk(pa.array(series, from_pandas=True))
    if isinstance(dtype, pd.ArrowDtype):
        return array, "arrow"
    if isinstance(dtype, pd.DatetimeTZDtype):
        return array, "zoned"
    return array, f"masked:{dtype.name}"


def one_chunk(array: Any) -> Any:
    """Return an Arrow array without chunks."""
    return array.combine_chunks() if type(array).__name__ == "ChunkedArray" else array


def numpy_column(series: Any, dtype: Any, notes: list[str]) -> Column:
    """Convert a column of a numpy dtype."""
    import pyarrow as pa

    values = series.to_numpy()
    if dtype.kind in "biufmM" and dtype.itemsize <= 8:  # Arrow has no longer floats
        return pa.array(values, from_pandas=False), f"numpy:{dtype.newbyteorder('=').str}"
    if dtype.kind == "c":
        parts = [pa.array(part.astype("f8")) for part in (values.real, values.imag)]
        return pa.StructArray.from_arrays(parts, ["real", "imag"]), "complex"
    if dtype.kind != "O":
        raise NoDataFormError(f"{dtype} has no data form")
    kinds = {type(cell) for cell in values if not is_missing(cell)}
    if len(kinds) > 1 or not kinds <= set(CELL_TYPES):
        raise NoDataFormError("its cells are of several types, or not plain")
    if len({repr(cell) for cell in values if is_missing(cell)}) > 1:
        notes.append(f"missing values of column {str(series.name)[:40]!r} became None")
    return pa.array([None if is_missing(cell) else cell for cell in values]), "object"


def categorical_column(values: Any, notes: list[str]) -> Column:
    """Convert a categorical to codes, and its categories with a tag of their own."""
    import pandas as pd
    import pyarrow as pa

    codes = pa.array(values.codes.astype("int64"), mask=values.codes == -1)
    categories, tag = typed_column(pd.Series(values.categories), notes)
    return pa.DictionaryArray.from_arrays(codes, categories), f"category:{int(bool(values.ordered))}:{tag}"


def is_missing(cell: Any) -> bool:
    """Check for None, NaN, NaT or pandas.NA."""
    return (
        cell is None
        or type(cell).__name__ in ("NAType", "NaTType")
        or (isinstance(cell, float) and math.isnan(cell))
    )


def text_column(series: Any) -> Any:
    """Convert a column to text."""
    import pyarrow as pa

    return pa.array([None if is_missing(cell) else cell_text(cell) for cell in series], pa.large_string())


def cell_text(cell: Any) -> str:
    """Return a cell as text without lone surrogates, which UTF-8 does not allow."""
    return str(cell)[:MAX_TEXT].encode("utf-8", "backslashreplace").decode()
