"""Describers of polars objects: what is eager by a sample, what is lazy not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import (
    CHECKED_VALUES,
    LONG_CHARS,
    MAX_STAT_COLUMNS,
    MIN_PERSONAL_NUMBER,
    Sample,
    ToldColumn,
    by_type_only,
    column_name,
    column_text,
    instant,
    missing_text,
    number_range,
    rows_text,
    tell,
)
from jupyter_codeagent.variables.reading import type_name
from jupyter_codeagent.variables.sample import SAMPLE_ROWS, SHOWN_ROWS, positions, sample_rows
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, looks_personal, safe

TYPE_DEPTH = 2
"""Of nested types."""


def describe_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """An eager DataFrame; counts of nulls are exact, they are free."""
    rows, width = frame.shape
    most = sample_rows(width)
    told = [
        _tell(label, dtype, frame.to_series(at) if at < MAX_STAT_COLUMNS else None, privacy, most)
        for at, (label, dtype) in enumerate(frame.schema.items())
    ]
    headline = f"{name}: polars.DataFrame {rows}x{width}"
    return VariableSummary(
        name=name,
        type_name="polars.DataFrame",
        headline=headline,
        bare_headline=headline,
        columns=tuple(column.summary for column in told),
        size_bytes=int(frame.estimated_size()),
        copyable=True,
        frame_like=True,
        sampled=rows > most,
        rows=_rows(frame, told) if privacy == "samples" else "",
    )


def describe_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    rows = len(series)
    label = series.name or name
    told = _tell(label, series.dtype, series, "schema" if looks_personal(name) else privacy).summary
    return VariableSummary(
        name=name,
        type_name="polars.Series",
        headline=f"{name}: polars.Series {column_name(label)} {told.dtype} {rows}"
        f"{column_text(told, sampled=rows > SAMPLE_ROWS)}",
        size_bytes=int(series.estimated_size()),
        copyable=True,
        frame_like=True,
        sampled=rows > SAMPLE_ROWS,
    )


def describe_lazy(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """A LazyFrame: nothing is collected, not even its schema, which may open files."""
    return VariableSummary(
        name=name, type_name="polars.LazyFrame", headline=f"{name}: polars.LazyFrame (not collected)"
    )


def describe_expression(name: str, expression: Any, privacy: Privacy) -> VariableSummary:
    """An expression holds literals of the user's: its type only."""
    return VariableSummary(name=name, type_name="polars.Expr", headline=f"{name}: polars.Expr")


def short_type(dtype: Any, depth: int = TYPE_DEPTH) -> str:
    """By polars' own name, without units, and without the categories of an Enum, which are values."""
    kind = type_name(type(dtype))
    if kind == "Datetime" and dtype.time_zone:
        return f"Datetime[{safe(dtype.time_zone)}]"
    if kind in ("List", "Array") and depth:
        return f"{kind}[{short_type(dtype.inner, depth - 1)}]"
    if kind == "Struct" and depth:
        fields = [f"{column_name(field.name)} {short_type(field.dtype, depth - 1)}" for field in dtype.fields]
        return safe(f"Struct[{', '.join(fields)}]", MAX_NAME_CHARS)
    return safe(kind, MAX_NAME_CHARS)


def _tell(label: str, dtype: Any, column: Any, privacy: Privacy, most: int = SAMPLE_ROWS) -> ToldColumn:
    text = short_type(dtype)
    if column is None or by_type_only(label, privacy):
        return ToldColumn(summary=ColumnSummary(name=column_name(label), dtype=text))
    return tell(label, text, privacy, _read(column, dtype, most))


def _read(column: Any, dtype: Any, most: int) -> Sample:
    rows = len(column)
    missing = missing_text(int(column.null_count()), rows, sampled=False)
    if dtype.is_nested() or str(dtype) in ("Boolean", "Binary", "Object", "Null") or _is_prose(column, dtype, rows):
        return Sample(missing=missing)
    present = (column[list(positions(rows, most))] if rows > most else column).drop_nulls()
    if dtype.is_float():
        present = present.drop_nans()
    if present.is_empty():
        return Sample(missing=missing)
    if dtype.is_temporal():
        return Sample(low=instant(present.min()), high=instant(present.max()), missing=missing)
    if dtype.is_numeric():
        smallest, largest = present.min(), present.max()
        low, high = number_range(smallest, largest)
        return Sample(values=_whole(present, largest), low=low, high=high, missing=missing)
    return Sample(values=present.to_list(), missing=missing)


def _is_prose(column: Any, dtype: Any, rows: int) -> bool:
    """Documents in cells: even a sample of them would be large."""
    return str(dtype) == "String" and column.estimated_size() > rows * (LONG_CHARS + 16)


def _whole(present: Any, largest: Any) -> list[int]:
    if not MIN_PERSONAL_NUMBER <= largest < float("inf"):
        return []
    some = [present[at] for at in positions(len(present), CHECKED_VALUES)]
    return [int(value) for value in some if abs(value) != float("inf") and value == int(value)]


def _rows(frame: Any, told: Sequence[ToldColumn]) -> str:
    """Without nested columns and objects."""
    head = frame.head(SHOWN_ROWS)
    plain = [not dtype.is_nested() and str(dtype) not in ("Object", "Binary") for dtype in head.dtypes]
    shown = [at for at, column in enumerate(told) if column.may_be_shown and plain[at]]
    return rows_text([(head.columns[at], head.to_series(at).to_list()) for at in shown])


DESCRIBERS = {
    "polars.dataframe.frame.DataFrame": describe_frame,
    "polars.series.series.Series": describe_series,
    "polars.lazyframe.frame.LazyFrame": describe_lazy,
    "polars.expr.expr.Expr": describe_expression,
}
