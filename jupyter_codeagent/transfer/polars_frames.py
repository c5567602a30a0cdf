"""Polars without its own pickle, which writes a frame into one new piece of memory before anything is sent.

Its numbers and times are Arrow memory, so they are handed out as they lie. Text is not: an Arrow array of text
views refers to the texts of all rows it was cut from, and more rows than are shown must not reach the sandbox.
"""

from __future__ import annotations

from typing import Any

FRAME_MODULE, SERIES_MODULE = "polars.dataframe.frame", "polars.series.series"
MODULES = (FRAME_MODULE, SERIES_MODULE)


def reduced(value: Any) -> Any:
    """What `object.__reduce_ex__` should return for this value; NotImplemented where it does well by itself."""
    import polars as pl

    if type(value) is pl.DataFrame and value.width:
        return pl.DataFrame, (value.get_columns(),)
    if type(value) is pl.Series and _is_plain(value.dtype) and value.n_chunks() == 1:
        return pl.Series, (value.name, value.to_arrow(), value.dtype)
    return NotImplemented


def _is_plain(dtype: Any) -> bool:
    """Whether Arrow has the same type: not 128-bit integers, 16-bit floats or decimals."""
    import polars as pl

    plain = (
        pl.Int8,
        pl.Int16,
        pl.Int32,
        pl.Int64,
        pl.UInt8,
        pl.UInt16,
        pl.UInt32,
        pl.UInt64,
        pl.Float32,
        pl.Float64,
    )
    return dtype in (*plain, pl.Boolean, pl.Date, pl.Time) or dtype.base_type() in (pl.Datetime, pl.Duration)
