"""Subsets of a frame, some columns and rows in the frame's own type, before it is copied; the frame is not changed.

Columns are views; rows are taken from the wanted columns only. So the memory cost is that of the result, and a mask
of one byte per row.
"""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.condition import Condition
from jupyter_codeagent.types.errors import VariableError

SEED = 20130101
"""Fixed, so that the same question on the same data gets the same rows, and their copy is reused."""
PLAIN_OBJECTS = ("string", "integer", "floating", "mixed-integer-float", "boolean", "decimal", "date", "empty")
"""Results of `pandas.api.types.infer_dtype` for objects whose comparison does not run the user's own code."""


@dataclass(frozen=True, kw_only=True)
class SubsetRequest:
    """Which part of a frame is wanted; everything by default."""

    columns: tuple[str, ...] = ()
    sample: int | None = None
    """Number of random rows, in their order, of a frame that has more."""
    where: Condition | None = None

    def __bool__(self) -> bool:
        return bool(self.columns or self.sample or self.where)


@dataclass(frozen=True, kw_only=True)
class Subset:
    """A part of a frame, and a note which part it is."""

    value: Any
    note: str = ""
    """``random sample of 336776 rows; 2 of 19 columns``; empty if it is the whole frame."""


def supports_subset(value: object) -> bool:
    """Check for a pandas, GeoPandas, polars or Arrow frame or a pandas Series, of exactly these types."""
    return _subset_taker(value) is not None


def column_labels(value: Any) -> list[str]:
    """Return the names of the columns, as text; none for a series."""
    if type(value).__name__ == "Series":
        return []
    return [str(label) for label in (value.column_names if type(value).__name__ == "Table" else value.columns)]


def take_subset(name: str, value: Any, wanted: SubsetRequest) -> Subset:
    """Return the wanted part. The value is not changed; the result may share memory with it.

    A condition applies to frames that have its columns; others are left whole.

    Raises
    ------
    VariableError
        If the frame lacks a column, the condition does not fit its columns, or the value is not a frame.
    """
    take_part = _subset_taker(value)
    if take_part is None:
        raise VariableError(f"{name!r} is a {type(value).__name__}: columns, --sample and --where need a frame.")
    labels = column_labels(value)
    missing = [column for column in wanted.columns if column not in labels]
    if missing:
        near = difflib.get_close_matches(missing[0], labels, n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise VariableError(f"{name!r} has no column {missing[0]!r}{hint}")
    where = wanted.where if wanted.where is not None and set(wanted.where.names) <= set(labels) else None
    keep = [at for at, label in enumerate(labels) if not wanted.columns or label in wanted.columns]
    try:
        result, rows, matching = take_part(value, keep, where, wanted.sample)
    except VariableError:
        raise
    except Exception as problem:
        # A library can raise anything for a comparison, and the user gets its message.
        asked = f"--where {where.text!r} " if where is not None else "The part asked for "
        text = " ".join(str(problem).split())[:200]
        raise VariableError(f"{asked}does not fit {name!r}: {type(problem).__name__}: {text}") from problem
    return Subset(
        value=result,
        note=_note(
            rows=rows,
            matching=matching,
            kept=len(result),
            where=where,
            columns=(len(keep), len(labels)),
        ),
    )


def _note(*, rows: int, matching: int, kept: int, where: Condition | None, columns: tuple[int, int]) -> str:
    parts = []
    if kept < matching:
        chosen = f"the {matching} of {rows} rows where {where.text}" if where is not None else f"{rows} rows"
        parts.append(f"random sample of {chosen}")
    elif where is not None:
        parts.append(f"{kept} of {rows} rows, where {where.text}")
    if columns[0] < columns[1]:
        parts.append(f"{columns[0]} of {columns[1]} columns")
    return "; ".join(parts)


Part = tuple[Any, int, int]
"""The part, the number of rows of the whole, the number of rows that match the condition."""
SubsetTaker = Callable[[Any, list[int], Condition | None, int | None], Part]


def _subset_taker(value: object) -> SubsetTaker | None:
    kind = type(value)
    return SUBSET_TAKERS.get((kind.__module__.partition(".")[0], kind.__name__))


def _pandas_frame(frame: Any, keep: list[int], where: Condition | None, sample: int | None) -> Part:
    import numpy as np

    rows = len(frame)
    positions = None
    if where is not None:
        mask = where.evaluate(_PandasColumns(frame))
        if str(mask.dtype) == "boolean" or "bool" in str(mask.dtype):
            positions = np.flatnonzero(mask.fillna(False).to_numpy(dtype=bool))
        else:
            raise VariableError(f"--where {where.text!r} is a {mask.dtype} value, not a condition.")
    matching = rows if positions is None else len(positions)
    picked = _picked(matching, sample)
    if picked is not None:
        positions = picked if positions is None else positions[picked]
    if len(keep) < frame.shape[1]:
        # Not `frame[columns]`, which copies them; `drop` slices the blocks.
        wanted = set(keep)
        others = [label for at, label in enumerate(frame.columns) if at not in wanted]
        frame = frame.drop(columns=others)
    return (frame if positions is None else frame.iloc[positions]), rows, matching


def _pandas_series(series: Any, keep: list[int], where: Condition | None, sample: int | None) -> Part:
    picked = _picked(len(series), sample)
    return (series if picked is None else series.iloc[picked]), len(series), len(series)


def _polars_frame(frame: Any, keep: list[int], where: Condition | None, sample: int | None) -> Part:
    rows = frame.height
    lazy = frame.lazy()
    if where is not None:
        lazy = lazy.filter(where.evaluate(PolarsColumns(frame.schema)))
    part = lazy.select([frame.columns[at] for at in keep]).collect()
    matching = part.height
    picked = _picked(matching, sample)
    return (part if picked is None else part[picked]), rows, matching


def _arrow_table(table: Any, keep: list[int], where: Condition | None, sample: int | None) -> Part:
    rows = table.num_rows
    part = table.select(keep)
    if where is not None:
        needed = dict.fromkeys([*keep, *(table.column_names.index(name) for name in where.names)])
        part = table.select(list(needed)).filter(where.evaluate(ArrowColumns(table.schema)))
        part = part.select(list(range(len(keep))))
    matching = part.num_rows
    picked = _picked(matching, sample)
    return (part if picked is None else part.take(picked)), rows, matching


SUBSET_TAKERS: dict[tuple[str, str], SubsetTaker] = {
    ("pandas", "DataFrame"): _pandas_frame,
    ("geopandas", "GeoDataFrame"): _pandas_frame,
    ("pandas", "Series"): _pandas_series,
    ("polars", "DataFrame"): _polars_frame,
    ("pyarrow", "Table"): _arrow_table,
}


def _picked(rows: int, sample: int | None) -> Any:
    """Return the positions of the sample, ascending; None for all rows."""
    if sample is None or rows <= sample:
        return None
    import numpy as np

    return np.sort(np.random.default_rng(SEED).choice(rows, sample, replace=False, shuffle=False))


def _only(labels: Sequence[Any], name: str) -> int:
    found = [at for at, label in enumerate(labels) if str(label) == name]
    if len(found) != 1:
        raise VariableError(
            f"--where: {len(found)} columns are called {name!r}, so it is not clear which is meant."
        )
    return found[0]


def _as_time(value: Any) -> Any:
    """Convert text to a datetime; other values stay as they are."""
    return datetime.datetime.fromisoformat(value) if isinstance(value, str) else value


class _PandasColumns:
    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def column(self, name: str) -> Any:
        import pandas as pd

        column = self._frame.iloc[:, _only(self._frame.columns, name)]
        strange = type(column.dtype).__module__.partition(".")[0] not in ("pandas", "numpy")
        if strange or (column.dtype == object and pd.api.types.infer_dtype(column) not in PLAIN_OBJECTS):
            raise VariableError(f"--where: column {name!r} holds objects; comparing them could run any code.")
        return column

    def literal(self, value: Any, compared_with: str | None) -> Any:
        return value

    def is_in(self, column: Any, values: list[Any]) -> Any:
        return column.isin(values)


class PolarsColumns:
    """Polars columns as expressions; nothing is computed."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def column(self, name: str) -> Any:
        import polars as pl

        if self._schema[name] == pl.Object:
            raise VariableError(f"--where: column {name!r} holds objects; comparing them could run any code.")
        return pl.col(name)

    def literal(self, value: Any, compared_with: str | None) -> Any:
        if compared_with is None or not isinstance(value, str):
            return value
        dtype = self._schema[compared_with]
        if not dtype.is_temporal():
            return value
        moment = _as_time(value)
        zone = getattr(dtype, "time_zone", None)
        return moment.date() if str(dtype) == "Date" else _in_zone(moment, zone)

    def is_in(self, column: Any, values: list[Any]) -> Any:
        return column.is_in(values)


class ArrowColumns:
    """Columns of a pyarrow Table or Dataset as expressions; nothing is computed."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema

    def column(self, name: str) -> Any:
        import pyarrow.compute as pc

        _only(self._schema.names, name)
        return pc.field(name)

    def literal(self, value: Any, compared_with: str | None) -> Any:
        import pyarrow as pa

        if compared_with is None:
            return value
        kind = self._schema.field(compared_with).type
        if not (pa.types.is_temporal(kind) and isinstance(value, str)):
            return value
        return pa.scalar(_in_zone(_as_time(value), getattr(kind, "tz", None)), type=kind)

    def is_in(self, column: Any, values: list[Any]) -> Any:
        return column.isin(values)


def _in_zone(moment: datetime.datetime, zone: str | None) -> datetime.datetime:
    from zoneinfo import ZoneInfo

    return moment.replace(tzinfo=ZoneInfo(zone)) if zone and moment.tzinfo is None else moment
