"""Describers of pyarrow objects: sizes and counts of nulls cost nothing, ranges come from a few short slices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import (
    LONG_CHARS,
    MAX_STAT_COLUMNS,
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
    type_text,
)
from jupyter_codeagent.variables.describers.sample import EXAMPLE_ROWS, SAMPLE_ROWS, blocks, sample_rows
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.text import safe

_SHORT = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"), "int"),
    **dict.fromkeys(("halffloat", "float", "double"), "float"),
    **dict.fromkeys(("string", "large_string", "string_view"), "str"),
    **dict.fromkeys(("date32[day]", "date64[ms]"), "date"),
    "bool": "bool",
}
_NUMBERS = ("int", "float")


def describe_table(name: str, table: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Table or RecordBatch."""
    kind = f"pyarrow.{type_name(type(table))}"
    rows, fields = table.num_rows, list(table.schema)
    most = sample_rows(len(fields))
    described = [
        _describe_column(field.name, field.type, table.column(at) if at < MAX_STAT_COLUMNS else None, privacy, most)
        for at, field in enumerate(fields)
    ]
    headline = f"{name}: {kind} {rows}x{table.num_columns}"
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=headline,
        bare_headline=headline,
        columns=tuple(column.summary for column in described),
        size_bytes=_table_bytes(table),
        copyable=True,
        frame_like=True,
        sampled=rows > most,
        rows=_rows(table, described) if privacy == "samples" else "",
    )


def describe_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Describe an Array or ChunkedArray as one column."""
    rows = len(array)
    described = _describe_column(name, array.type, array, privacy).summary
    kind = f"pyarrow.{type_name(type(array))}"
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {described.dtype} {rows}{column_text(described, sampled=rows > SAMPLE_ROWS)}",
        size_bytes=int(array.nbytes),
        copyable=True,
        sampled=rows > SAMPLE_ROWS,
    )


def describe_schema(name: str, schema: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Schema by its fields."""
    return VariableSummary(
        name=name,
        type_name="pyarrow.Schema",
        headline=f"{name}: pyarrow.Schema of {len(schema)} fields",
        columns=fields_of(schema),
    )


def describe_reader(name: str, reader: Any, privacy: Privacy) -> VariableSummary:
    """Describe a RecordBatchReader by its schema: it can be read once only, and that is for the user."""
    return _unread(name, "pyarrow.RecordBatchReader", " of", reader.schema)


def describe_dataset(name: str, dataset: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Dataset by its schema and number of files; no file is opened."""
    files = getattr(dataset, "files", None)
    of = f" {len(files)} {safe(dataset.format.default_extname)} files," if files is not None else ""
    kind = f"pyarrow.{type_name(type(dataset))}"
    return _unread(name, kind, of, dataset.schema)


def describe_scanner(name: str, scanner: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Scanner by the schema of its result; nothing is scanned."""
    return _unread(name, "pyarrow.Scanner", " of", scanner.projected_schema)


def _unread(name: str, kind: str, of: str, schema: Any) -> VariableSummary:
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind}{of} {len(schema)} columns (not read)",
        columns=fields_of(schema),
    )


def describe_parquet_file(name: str, file: Any, privacy: Privacy) -> VariableSummary:
    """Describe an open ParquetFile by its footer, which is in memory already."""
    metadata = file.metadata
    return VariableSummary(
        name=name,
        type_name="ParquetFile",
        headline=f"{name}: ParquetFile {metadata.num_rows}x{metadata.num_columns} (not read)",
        columns=columns_of_footer(metadata, privacy),
    )


def describe_scalar(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Scalar by its type."""
    return VariableSummary(
        name=name, type_name="pyarrow.Scalar", headline=f"{name}: pyarrow.Scalar {short_type(value.type)}"
    )


def fields_of(schema: Any) -> tuple[ColumnSummary, ...]:
    """Return names and types of a schema's fields."""
    return tuple(ColumnSummary(name=column_name(field.name), dtype=short_type(field.type)) for field in schema)


def columns_of_footer(metadata: Any, privacy: Privacy) -> tuple[ColumnSummary, ...]:
    """Return names and types of a parquet file, with the exact ranges and counts of nulls of its footer."""
    schema = metadata.schema.to_arrow_schema()
    # A nested field has several columns in the footer, so positions differ from those in the schema.
    flat = metadata.num_columns == len(schema)
    return tuple(
        describe_column(
            field.name, short_type(field.type), privacy, _footer(metadata, at, short_type(field.type))
        ).summary
        if flat and at < MAX_STAT_COLUMNS and not by_type_only(field.name, privacy)
        else ColumnSummary(name=column_name(field.name), dtype=short_type(field.type))
        for at, field in enumerate(schema)
    )


def short_type(kind: Any) -> str:
    """Return ``int``, ``float``, ``str``, ``datetime[UTC]``, ``category``, else Arrow's own name."""
    text = str(kind)
    if text.startswith("dictionary"):
        return "ordered category" if kind.ordered else "category"
    if text.startswith("timestamp"):
        return f"datetime[{safe(kind.tz)}]" if kind.tz else "datetime"
    if text.startswith("extension<"):
        return safe(str(kind.extension_name), 40)
    return _SHORT.get(text) or type_text(text)


def read(column: Any, most: int = SAMPLE_ROWS) -> Sample:
    """Read a sample of an Array or ChunkedArray; the count of nulls is Arrow's own and exact."""
    rows = len(column)
    missing = missing_text(int(column.null_count), rows, sampled=False)
    kind = short_type(column.type)
    if kind == "bool" or not rows or column.null_count == rows:
        return Sample(missing=missing)
    if kind.startswith("datetime"):
        low, high = _instants(column, most)
        return Sample(low=low, high=high, missing=missing)
    if not (
        kind in (*_NUMBERS, "str", "date", "category") or kind.startswith(("list", "struct", "decimal", "time"))
    ):
        return Sample(missing=missing)
    pieces = [column.slice(start, count) for start, count in blocks(rows, most)]
    if sum(piece.nbytes for piece in pieces) > min(rows, most) * LONG_CHARS:
        return Sample(missing=missing)  # documents or pictures: even a sample would be large
    values = [value for piece in pieces for value in piece.to_pylist() if value is not None]
    if kind in _NUMBERS:
        return _numbers([value for value in values if value == value], missing)  # noqa: PLR0124 - without NaN
    if kind == "date" and values:
        return Sample(low=instant(min(values)), high=instant(max(values)), missing=missing)
    return Sample(values=values, missing=missing)


def _describe_column(
    label: str, kind: Any, column: Any, privacy: Privacy, most: int = SAMPLE_ROWS
) -> DescribedColumn:
    if column is None or by_type_only(label, privacy):
        return DescribedColumn(summary=ColumnSummary(name=column_name(label), dtype=short_type(kind)))
    return describe_column(label, short_type(kind), privacy, read(column, most))


def _numbers(values: Sequence[Any], missing: str) -> Sample:
    if not values:
        return Sample(missing=missing)
    low, high = number_range(min(values), max(values))
    whole = [int(value) for value in values if abs(value) != float("inf") and value == int(value)]
    return Sample(values=whole, low=low, high=high, missing=missing)


def _instants(column: Any, most: int) -> tuple[str, str]:
    """Return the range of instants in UTC, as Arrow writes it: `pa.scalar` and `as_py` would import pandas."""
    import pyarrow as pa

    counts = [
        value
        for start, count in blocks(len(column), most)
        for value in column.slice(start, count).cast(pa.int64()).to_pylist()
        if value is not None
    ]
    if not counts:
        return "", ""
    ends = b"".join(at.to_bytes(8, sys.byteorder, signed=True) for at in (min(counts), max(counts)))
    instants = pa.Array.from_buffers(pa.timestamp(column.type.unit), 2, [None, pa.py_buffer(ends)])
    low, high = instants.cast(pa.string()).to_pylist()
    return _short_instant(low), _short_instant(high)


def _short_instant(text: str) -> str:
    day, _, time = text.partition(" ")
    return day if not time.strip("0:.") else f"{day} {time.rstrip('0').rstrip('.:') if '.' in time else time}"


def _footer(metadata: Any, at: int, kind: str) -> Sample:
    groups = [metadata.row_group(group).column(at).statistics for group in range(metadata.num_row_groups)]
    if not groups or any(group is None or not group.has_null_count for group in groups):
        return Sample()
    missing = missing_text(sum(group.null_count for group in groups), metadata.num_rows, sampled=False)
    with_range = [group for group in groups if group.has_min_max and kind in _NUMBERS]
    if len(with_range) < len(groups):
        return Sample(missing=missing)
    return _numbers([*(group.min for group in with_range), *(group.max for group in with_range)], missing)


def _table_bytes(table: Any) -> int:
    """Return the size, exact up to `MAX_STAT_COLUMNS` columns; further ones are assumed to be like these."""
    width = table.num_columns
    counted = sum(table.column(at).nbytes for at in range(min(width, MAX_STAT_COLUMNS)))
    return int(counted * width / MAX_STAT_COLUMNS) if width > MAX_STAT_COLUMNS else int(counted)


def _rows(table: Any, described: Sequence[DescribedColumn]) -> str:
    """Return example rows without instants, whose `as_py` may import pandas."""
    kept = [
        at
        for at, column in enumerate(described)
        if column.may_display_values and not column.summary.dtype.startswith(("datetime", "duration", "extension"))
    ]
    return rows_text([(table.schema[at].name, table.column(at).slice(0, EXAMPLE_ROWS).to_pylist()) for at in kept])


DESCRIBERS = {
    **dict.fromkeys(("pyarrow.lib.Table", "pyarrow.lib.RecordBatch"), describe_table),
    **dict.fromkeys(("pyarrow.lib.Array", "pyarrow.lib.ChunkedArray"), describe_array),
    "pyarrow.lib.Schema": describe_schema,
    "pyarrow.lib.RecordBatchReader": describe_reader,
    "pyarrow._dataset.Dataset": describe_dataset,
    "pyarrow._dataset.Scanner": describe_scanner,
    "pyarrow.parquet.core.ParquetFile": describe_parquet_file,
    "pyarrow.lib.Scalar": describe_scalar,
}
