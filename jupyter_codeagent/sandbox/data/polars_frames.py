"""Pickling of polars frames without polars' own way, which first writes the whole frame to new memory.

Numbers and times are Arrow memory, so they are passed on as they are. Text is not: an Arrow array of text views
refers to the texts of all rows it was cut from, and rows that were cut off must not reach the sandbox. Nor must
values that were set to missing, which polars leaves in memory.
"""

from __future__ import annotations

from typing import Any

MODULES = ("polars.dataframe.frame", "polars.series.series")


def reduced(value: Any) -> Any:
    """Return what `object.__reduce_ex__` should return for a value; NotImplemented if the default is right."""
    import polars as pl

    if type(value) is pl.DataFrame and value.width:
        return pl.DataFrame, (value.get_columns(),)
    if type(value) is not pl.Series:
        return NotImplemented
    if _is_plain(value.dtype) and value.n_chunks() == 1:
        return pl.Series, (value.name, value.to_arrow(), value.dtype)
    without = _without_leftovers(value)
    return NotImplemented if without is value else without.__reduce_ex__(5)


def _is_plain(dtype: Any) -> bool:
    """Check whether Arrow has the same type: not so for 128-bit integers, 16-bit floats and decimals."""
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


def _without_leftovers(series: Any) -> Any:
    """Return an equal series with nothing in memory under missing values (except in lists); itself if possible."""
    import polars as pl

    there, made = series.is_not_null(), series
    if series.dtype == pl.Object:
        return series
    if series.dtype == pl.Struct and series.dtype.fields:
        parts = series.struct.unnest().get_columns()
        without = [_without_leftovers(part) for part in parts]
        if any(one is not other for one, other in zip(without, parts, strict=True)):
            made = pl.DataFrame(without).to_struct(series.name)
    if not series.null_count():
        return made
    places = pl.select(pl.when(there).then(there.cum_sum() - 1)).to_series()
    return made.filter(there).gather(places)
