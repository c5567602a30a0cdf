"""Describers of tables: pandas, polars, pyarrow. Their cost is in columns, never in rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from jupyter_codeagent.values import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import column_name, missing_text, short_dtype, summarize, tell_categories
from jupyter_codeagent.variables.secret import private_text
from jupyter_codeagent.variables.text import MAX_NAME_CHARS, looks_personal, number, safe

SAMPLE_ROWS = 2000
"""Evenly strided over the whole length, so that sorted data is seen from end to end."""
MAX_STAT_COLUMNS = 100
"""Columns with statistics; further ones are told by name and type."""
SHOWN_ROWS = 3


def describe_pandas(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """A pandas DataFrame; statistics from at most `SAMPLE_ROWS` rows."""
    rows, width = frame.shape
    sample = _strided(frame, rows)
    columns = [
        summarize(label, sample.iloc[:, at], privacy, sampled=rows > SAMPLE_ROWS)
        if at < MAX_STAT_COLUMNS
        else ColumnSummary(name=column_name(label), dtype=short_dtype(frame.dtypes.iloc[at]))
        for at, label in enumerate(frame.columns)
    ]
    index = _index_text(frame.index)
    return VariableSummary(
        name=name,
        type_name=type(frame).__name__,
        headline=f"{name}: {type(frame).__name__} {rows}x{width}{index}",
        columns=tuple(columns),
        size_bytes=_pandas_bytes(frame, sample, rows),
        copyable=True,
        frame_like=True,
        sampled=rows > SAMPLE_ROWS,
        rows=_pandas_rows(sample.head(SHOWN_ROWS)) if privacy == "samples" else "",
    )


def describe_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """A pandas Series: one column."""
    rows = len(series)
    sample = _strided(series, rows)
    column = summarize(
        series.name if series.name is not None else name, sample, privacy, sampled=rows > SAMPLE_ROWS
    )
    stats = f" {column.stats}" if column.stats and not looks_personal(name) else ""
    return VariableSummary(
        name=name,
        type_name="Series",
        headline=f"{name}: Series {column.name} {column.dtype} {rows}{stats}{_index_text(series.index)}",
        size_bytes=int(series.memory_usage(deep=False)),
        copyable=True,
        frame_like=True,
        sampled=rows > SAMPLE_ROWS,
    )


def describe_index(name: str, index: Any, privacy: Privacy) -> VariableSummary:
    """A pandas Index of its own."""
    return VariableSummary(
        name=name,
        type_name=type(index).__name__,
        headline=f"{name}: {type(index).__name__} {len(index)} {short_dtype(index.dtype)}",
        size_bytes=int(index.memory_usage(deep=False)),
        copyable=True,
    )


def describe_polars(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """An eager polars DataFrame; statistics from a strided sample, by polars itself."""
    rows, width = frame.shape
    sample = frame.gather_every(max(1, rows // SAMPLE_ROWS)).head(SAMPLE_ROWS) if rows else frame
    columns = tuple(
        _polars_column(sample[label], privacy, sampled=rows > SAMPLE_ROWS)
        if at < MAX_STAT_COLUMNS
        else _named(label, dtype)
        for at, (label, dtype) in enumerate(frame.schema.items())
    )
    return VariableSummary(
        name=name,
        type_name="polars.DataFrame",
        headline=f"{name}: polars.DataFrame {rows}x{width}",
        columns=columns,
        size_bytes=int(frame.estimated_size()),
        copyable=True,
        frame_like=True,
        sampled=rows > SAMPLE_ROWS,
        rows=_polars_rows(sample.head(SHOWN_ROWS)) if privacy == "samples" else "",
    )


def describe_lazy(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """A polars LazyFrame: nothing is collected, not even its schema, which may open files."""
    return VariableSummary(
        name=name, type_name="polars.LazyFrame", headline=f"{name}: polars.LazyFrame (not collected)"
    )


def describe_arrow(name: str, table: Any, privacy: Privacy) -> VariableSummary:
    """A pyarrow Table: its schema and size are free."""
    return VariableSummary(
        name=name,
        type_name="pyarrow.Table",
        headline=f"{name}: pyarrow.Table {table.num_rows}x{table.num_columns}",
        columns=tuple(_named(field.name, field.type) for field in table.schema),
        size_bytes=int(table.nbytes),
        copyable=True,
        frame_like=True,
    )


def _polars_column(column: Any, privacy: Privacy, *, sampled: bool) -> ColumnSummary:
    named = _named(column.name, column.dtype)
    if privacy == "schema" or column.dtype.is_nested() or looks_personal(column.name):
        return named
    stats, example = _polars_stats(column.drop_nulls())
    missing = missing_text(int(column.null_count()), len(column), sampled=sampled)
    return replace(named, stats=stats, example=example, missing=missing)


def _polars_stats(present: Any) -> tuple[str, str]:
    if present.is_empty() or str(present.dtype) == "Boolean":
        return "", ""
    if present.dtype.is_numeric() or present.dtype.is_temporal():
        return f"{number(present.min())}..{number(present.max())}", ""
    counts = present.cast(str, strict=False).value_counts(sort=True).rows()
    return tell_categories([(str(value), count) for value, count in counts], len(present))


def _named(label: object, dtype: object) -> ColumnSummary:
    text = str(dtype)
    # An Enum of polars writes out its categories, which are values; `List(Enum(…))` is told as `List`.
    shown = text.partition("(")[0] if "Enum(" in text else text
    return ColumnSummary(name=column_name(label), dtype=safe(shown, MAX_NAME_CHARS))


def _strided(values: Any, rows: int) -> Any:
    return values.iloc[:: max(1, rows // SAMPLE_ROWS)].iloc[:SAMPLE_ROWS] if rows > SAMPLE_ROWS else values


def _pandas_bytes(frame: Any, sample: Any, rows: int) -> int:
    """Shallow sizes are exact for numbers; text is estimated from the sample."""
    shallow = int(frame.memory_usage(deep=False).sum())
    if not len(sample) or not any(str(dtype) in ("object", "str", "string") for dtype in frame.dtypes):
        return shallow
    deep = int(sample.memory_usage(deep=True, index=False).sum()) - int(
        sample.memory_usage(deep=False, index=False).sum()
    )
    return shallow + deep * rows // len(sample)


def _index_text(index: Any) -> str:
    """Told only where it says something: a name, several levels, dates."""
    if type(index).__name__ == "RangeIndex" and index.name is None:
        return ""
    names = ", ".join(column_name(label) for label in index.names)
    return f", index {names} {short_dtype(index.dtype) if index.nlevels == 1 else 'MultiIndex'}"


def _pandas_rows(head: Any) -> str:
    told = [at for at, label in enumerate(head.columns) if _may_be_shown(label, head.iloc[:, at])]
    return _rows_text(head.iloc[:, told].to_csv(index=False)) if told else ""


def _polars_rows(head: Any) -> str:
    """Without nested columns, objects and bytes, which CSV cannot hold."""
    plain = [c for c in head if not c.dtype.is_nested() and str(c.dtype) not in ("Object", "Binary")]
    told = [c.name for c in plain if _may_be_shown(c.name, c)]
    return _rows_text(head.select(told).write_csv()) if told else ""


def _may_be_shown(label: object, values: Iterable[object]) -> bool:
    return not looks_personal(label) and not any(private_text(str(value)) for value in values)


def _rows_text(csv: str) -> str:
    return "\n".join(safe(line, 400) for line in csv.splitlines())


DESCRIBERS = {
    "pandas.DataFrame": describe_pandas,
    "pandas.core.frame.DataFrame": describe_pandas,
    "pandas.Series": describe_series,
    "pandas.core.series.Series": describe_series,
    "pandas.Index": describe_index,
    "pandas.core.indexes.base.Index": describe_index,
    "polars.dataframe.frame.DataFrame": describe_polars,
    "polars.lazyframe.frame.LazyFrame": describe_lazy,
    "pyarrow.lib.Table": describe_arrow,
}
