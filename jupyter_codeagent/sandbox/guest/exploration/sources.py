"""Columns of pandas and polars tables as numpy arrays, one at a time."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np

from .index_columns import index_columns

INFER_ROWS = 20_000
DAY = 86_400_000_000
"""Microseconds."""


class Source(Protocol):
    """Access to one table; `rows` picks row numbers, None stands for all."""

    library: str
    rows: int
    index: str
    """What the levels of the index are called that no column repeats, if they say more than numbers of rows and are
    not among `levels`."""
    levels: tuple[str, ...]
    """Levels of the index that are looked at as columns."""
    labelled: bool
    """Whether the index says more than numbers of rows."""

    def labels(self) -> list[Any]:
        """Return the labels of all columns."""

    def stored(self, name: str) -> str:
        """Return the type as the table has it."""

    def kind(self, name: str) -> str:
        """Return "number", "flag", "date", "text", "mixed" or "other"."""

    def missing(self, name: str) -> int:
        """Count the missing values of all rows."""

    def infinite(self, name: str) -> int:
        """Count the infinite numbers of all rows."""

    def numbers(self, name: str, rows: Any) -> Any:
        """Return numbers, flags as 0 and 1, dates as days since 1970; missing as NaN."""

    def codes(self, name: str, rows: Any) -> tuple[Any, list[str]]:
        """Return numbers of levels, missing as -1, and the levels as text, in order."""

    def hashes(self, name: str) -> Any:
        """Return a 64-bit hash of each value of all rows, equal for equal values."""


def open_source(table: Any) -> Source | None:
    """Return the access to a pandas or polars DataFrame; None for anything else."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return PandasSource(table)
    if polars is not None and isinstance(table, polars.DataFrame):
        return PolarsSource(table)
    return None


def finite(values: Any) -> Any:
    """Return the values with infinite ones as missing; no copy if there are none."""
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values


def order_levels(codes: Any, levels: list[str]) -> tuple[Any, list[str]]:
    """Return codes and levels with the levels sorted, so that both libraries give the same."""
    order = sorted(range(len(levels)), key=levels.__getitem__)
    places = np.full(len(levels) + 1, -1, np.int32)  # the last one is that of -1
    places[order] = np.arange(len(levels), dtype=np.int32)
    return places[codes], [levels[index] for index in order]


class PandasSource:
    """A pandas DataFrame."""

    library = "pandas"

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.rows = len(frame)
        names = [name for name in frame.index.names if name is not None]
        more = [str(name) for name in names if name not in frame.columns]
        says_more = bool(more) or not (names or frame.index.inferred_type in ("integer", "empty"))
        self.levels = index_columns(frame)
        self.index = ", ".join(more) or "without a name" if says_more and not self.levels else ""
        self.labelled = says_more or bool(names)

    def labels(self) -> list[Any]:
        """Return the labels of all columns, those of the index first."""
        return [*self.levels, *self.frame.columns]

    def stored(self, name: str) -> str:
        """Return the type as the table has it."""
        dtype = self._series(name, None).dtype
        categories = getattr(dtype, "categories", None)
        if categories is None or categories.inferred_type in ("string", "empty"):
            return "category ordered" if getattr(dtype, "ordered", False) else str(dtype)
        return f"category[{categories.dtype}]"

    def kind(self, name: str) -> str:
        """Return "number", "flag", "date", "text", "mixed" or "other"."""
        import pandas as pd

        series = self._series(name, None)
        types = pd.api.types
        if isinstance(series.dtype, pd.CategoricalDtype):
            return "text"
        if series.dtype == object:
            return _object_kind(types.infer_dtype(series.iloc[:INFER_ROWS], skipna=True))
        for kind, matches in (
            ("flag", types.is_bool_dtype),
            ("other", types.is_complex_dtype),
            ("number", types.is_numeric_dtype),
            ("date", types.is_datetime64_any_dtype),
            ("date", lambda dtype: isinstance(dtype, pd.PeriodDtype)),
            ("text", types.is_string_dtype),
        ):
            if matches(series.dtype):
                return kind
        return "other"

    def missing(self, name: str) -> int:
        """Count the missing values of all rows."""
        return int(self._series(name, None).isna().sum())

    def infinite(self, name: str) -> int:
        """Count the infinite numbers of all rows."""
        series = self._series(name, None)
        if getattr(series.dtype, "kind", "") != "f":
            return 0
        return int(np.isinf(series.to_numpy(dtype="float64", na_value=np.nan)).sum())

    def numbers(self, name: str, rows: Any) -> Any:
        """Return numbers, flags as 0 and 1, dates as days since 1970; missing as NaN."""
        import pandas as pd

        series = self._series(name, rows)
        kind = self.kind(name)
        if kind == "date":
            return _pandas_days(series)
        if series.dtype == object:
            series = pd.to_numeric(series, errors="coerce")
        if isinstance(series.dtype, np.dtype):
            return finite(series.to_numpy().astype(np.float64, copy=False))
        return finite(series.to_numpy(dtype="float64", na_value=np.nan))

    def codes(self, name: str, rows: Any) -> tuple[Any, list[str]]:
        """Return numbers of levels, missing as -1, and the levels as text, in order."""
        import pandas as pd

        series = self._series(name, rows)
        if self.kind(name) == "mixed":
            series = series.astype(str).where(series.notna())
        codes, levels = pd.factorize(series)
        return order_levels(codes, [str(level) for level in levels])

    def hashes(self, name: str) -> Any:
        """Return a 64-bit hash of each value of all rows, equal for equal values."""
        import pandas as pd

        series = self._series(name, None)
        if self.kind(name) in ("mixed", "other"):
            series = series.astype(str)
        return pd.util.hash_pandas_object(series, index=False).to_numpy()

    def _series(self, name: str, rows: Any) -> Any:
        if name in self.levels:
            import pandas as pd

            series = pd.Series(self.frame.index.get_level_values(self.levels.index(name)).array)
        else:
            series = self.frame[name]
        return series if rows is None else series.take(rows)


def _object_kind(inferred: str) -> str:
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal"):
        return "number"
    if inferred in ("datetime", "datetime64", "date"):
        return "date"
    return {"string": "text", "boolean": "flag", "mixed-integer": "mixed", "mixed": "other"}.get(inferred, "other")


def _pandas_days(series: Any) -> Any:
    import pandas as pd

    if series.dtype == object:
        series = pd.to_datetime(series, errors="coerce")
    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.start_time
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_localize(None)
    dates = series.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT"))
    days = dates.astype(np.int64) / DAY
    days[np.isnat(dates)] = np.nan
    return days


class PolarsSource:
    """A polars DataFrame."""

    library = "polars"
    index = ""
    levels: tuple[str, ...] = ()
    labelled = False

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.rows = frame.height

    def labels(self) -> list[Any]:
        """Return the labels of all columns."""
        return list(self.frame.columns)

    def stored(self, name: str) -> str:
        """Return the type as the table has it."""
        return str(self.frame.schema[name])

    def kind(self, name: str) -> str:
        """Return "number", "flag", "date", "text", "mixed" or "other"."""
        import polars as pl

        dtype = self.frame.schema[name]
        if dtype == pl.Boolean:
            return "flag"
        if dtype.is_numeric():
            return "number"
        if dtype in (pl.Date, pl.Datetime):
            return "date"
        return "text" if dtype in (pl.String, pl.Categorical, pl.Enum) else "other"

    def missing(self, name: str) -> int:
        """Count the missing values of all rows; NaN counts, as in pandas."""
        series = self.frame.get_column(name)
        missing = series.null_count()
        if series.dtype.is_float():
            missing += series.is_nan().sum() or 0
        return int(missing)

    def infinite(self, name: str) -> int:
        """Count the infinite numbers of all rows."""
        series = self.frame.get_column(name)
        return int(series.is_infinite().sum() or 0) if series.dtype.is_float() else 0

    def numbers(self, name: str, rows: Any) -> Any:
        """Return numbers, flags as 0 and 1, dates as days since 1970; missing as NaN."""
        import polars as pl

        series = self._series(name, rows)
        if self.kind(name) != "date":
            return finite(series.cast(pl.Float64).to_numpy())
        if series.dtype == pl.Datetime and series.dtype.time_zone is not None:
            series = series.dt.replace_time_zone(None)
        moments = series.cast(pl.Datetime("us")).to_physical()
        return moments.cast(pl.Float64).to_numpy() / DAY

    def codes(self, name: str, rows: Any) -> tuple[Any, list[str]]:
        """Return numbers of levels, missing as -1, and the levels as text, in order."""
        import polars as pl

        series = self._series(name, rows)
        texts = series.cast(pl.String)
        if self.kind(name) == "flag":
            texts = series.replace_strict({True: "True", False: "False"}, default=None, return_dtype=pl.String)
        places = texts.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        return order_levels(places, texts.drop_nulls().unique().sort().to_list())

    def hashes(self, name: str) -> Any:
        """Return a 64-bit hash of each value of all rows, equal for equal values."""
        return self.frame.get_column(name).hash().to_numpy()

    def _series(self, name: str, rows: Any) -> Any:
        import polars as pl

        series = self.frame.get_column(name)
        return series if rows is None else series.gather(pl.Series(rows))
