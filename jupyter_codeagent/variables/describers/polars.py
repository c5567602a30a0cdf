"""Describers of polars objects: eager ones are sampled, lazy ones are not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import (
    CHECKED_VALUES,
    LONG_CHARS,
    MAX_STAT_COLUMNS,
    MIN_PERSONAL_NUMBER,
    DescribedColumn,
    Sample,
    by_type_only,
    column_name,
    column_text,
    describe_column,
    instant,
    missing_text,
    number_range,
    rows_text,
)
from jupyter_codeagent.variables.describers.sample import EXAMPLE_ROWS, SAMPLE_ROWS, positions, sample_rows
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, looks_personal, safe

TYPE_DEPTH = 2
"""Levels of a nested type that are named."""


def describe_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe an eager DataFrame; counts of nulls are exact, since they cost nothing."""
    rows, width = frame.shape
    most = sample_rows(width)
    described = [
        _describe_column(label, dtype, frame.to_series(at) if at < MAX_STAT_COLUMNS else None, privacy, most)
        for at, (label, dtype) in enumerate(frame.schema.items())
    ]
    headline = f"{name}: polars.DataFrame {rows}x{width}"
    return VariableSummary(
        name=name,
        type_name="polars.DataFrame",
        headline=headline,
        bare_headline=headline,
        columns=tuple(column.summary for column in described),
        size_bytes=int(frame.estimated_size()),
        copyable=True,
        frame_like=True,
        sampled=rows > most,
        rows=_rows(frame, described) if privacy == "samples" else "",
    )


def describe_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Series as one column."""
    rows = len(series)
    label = series.name or name
    described = _describe_column(label, series.dtype, series, "schema" if looks_personal(name) else privacy).summary
    return VariableSummary(
        name=name,
        type_name="polars.Series",
        headline=f"{name}: polars.Series {column_name(label)} {described.dtype} {rows}"
        f"{column_text(described, sampled=rows > SAMPLE_ROWS)}",
        size_bytes=int(series.estimated_size()),
        copyable=True,
        frame_like=True,
        sampled=rows > SAMPLE_ROWS,
    )


def describe_lazy(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a LazyFrame by its type: nothing is collected, not even its schema, which may open files."""
    return VariableSummary(
        name=name, type_name="polars.LazyFrame", headline=f"{name}: polars.LazyFrame (not collected)"
    )


def describe_expression(name: str, expression: Any, privacy: Privacy) -> VariableSummary:
    """Describe an expression by its type, since it has the user's literals in it."""
    return VariableSummary(name=name, type_name="polars.Expr", headline=f"{name}: polars.Expr")


def short_type(dtype: Any, depth: int = TYPE_DEPTH) -> str:
    """Return polars' name for a type, without units and without the categories of an Enum, which are values."""
    kind = type_name(type(dtype))
    if kind == "Datetime" and dtype.time_zone:
        return f"Datetime[{safe(dtype.time_zone)}]"
    if kind in ("List", "Array") and depth:
        return f"{kind}[{short_type(dtype.inner, depth - 1)}]"
    if kind == "Struct" and depth:
        fields = [f"{column_name(field.name)} {short_type(field.dtype, depth - 1)}" for field in dtype.fields]
        return safe(f"Struct[{', '.join(fields)}]", MAX_NAME_CHARS)
    return safe(kind, MAX_NAME_CHARS)


def _describe_column(
    label: str, dtype: Any, column: Any, privacy: Privacy, most: int = SAMPLE_ROWS
) -> DescribedColumn:
    text = short_type(dtype)
    if column is None or by_type_only(label, privacy):
        return DescribedColumn(summary=ColumnSummary(name=column_name(label), dtype=text))
    return describe_column(label, text, privacy, _read(column, dtype, most))


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
    """Check for documents in cells: even a sample of them would be large."""
    return str(dtype) == "String" and column.estimated_size() > rows * (LONG_CHARS + 16)


def _whole(present: Any, largest: Any) -> list[int]:
    if not MIN_PERSONAL_NUMBER <= largest < float("inf"):
        return []
    some = [present[at] for at in positions(len(present), CHECKED_VALUES)]
    return [int(value) for value in some if abs(value) != float("inf") and value == int(value)]


def _rows(frame: Any, described: Sequence[DescribedColumn]) -> str:
    """Return example rows without nested columns and objects."""
    head = frame.head(EXAMPLE_ROWS)
    plain = [not dtype.is_nested() and str(dtype) not in ("Object", "Binary") for dtype in head.dtypes]
    kept = [at for at, column in enumerate(described) if column.may_display_values and plain[at]]
    return rows_text([(head.columns[at], head.to_series(at).to_list()) for at in kept])


DESCRIBERS = {
    "polars.dataframe.frame.DataFrame": describe_frame,
    "polars.series.series.Series": describe_series,
    "polars.lazyframe.frame.LazyFrame": describe_lazy,
    "polars.expr.expr.Expr": describe_expression,
}
