"""Describers of pandas objects. Their cost grows with columns, never with rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import (
    MAX_STAT_COLUMNS,
    DescribedColumn,
    Sample,
    by_type_only,
    column_name,
    column_text,
    describe_column,
    instant,
    is_personal,
    is_plain,
    missing_text,
    rows_text,
    type_text,
)
from jupyter_codeagent.variables.describers import arrow
from jupyter_codeagent.variables.describers.date_parts import with_date
from jupyter_codeagent.variables.describers.numbers import read_numbers, row_array
from jupyter_codeagent.variables.describers.sample import EXAMPLE_ROWS, SAMPLE_ROWS, positions, sample_rows
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.privacy.pii_patterns import MASK
from jupyter_codeagent.variables.text import looks_personal, safe

CHECKED_CELLS = 200
"""Objects of a column whose size is measured."""
CELL_BYTES = 8
"""Size of a reference in a column of objects."""


def describe_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """Describe a DataFrame, with statistics from `SAMPLE_ROWS` rows of the first `MAX_STAT_COLUMNS` columns."""
    rows, width = frame.shape
    labels, dtypes = _masked_labels(frame.columns), list(frame.dtypes)
    most = sample_rows(width)
    # Many columns share one dtype, and writing its name takes time.
    types = {key: dtype_text(dtype) for key, dtype in {id(dtype): dtype for dtype in dtypes}.items()}
    arrays = [frame.iloc[:, at].array for at in range(min(width, MAX_STAT_COLUMNS))]
    described = [
        _describe_column(label, dtype, types[id(dtype)], arrays[at] if at < len(arrays) else None, privacy, most)
        for at, (label, dtype) in enumerate(zip(labels, dtypes, strict=True))
    ]
    kind = safe(type_name(type(frame)), 60)
    head = f"{name}: {kind} {rows}x{width}{_labels_text(frame.columns, labels)}"
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{head}{_index_text(frame.index, privacy)}",
        bare_headline=f"{head}{_index_text(frame.index, 'schema')}",
        columns=with_date(name, labels, [column.summary for column in described]),
        size_bytes=_frame_bytes(arrays, dtypes, rows),
        copyable=True,
        frame_like=True,
        sampled=rows > most,
        rows=_rows(frame, labels, described) if privacy == "samples" else "",
    )


def _masked_labels(columns: Any) -> list[Any]:
    """Return labels without personal ones: in a pivot table they are values of the column that names the axis."""
    personal = [_is_personal_axis(columns, at) for at in range(columns.nlevels)]
    if not any(personal):
        return list(columns)
    if columns.nlevels == 1:
        return [MASK] * len(columns)
    return [
        tuple(MASK if hidden else part for hidden, part in zip(personal, label, strict=True)) for label in columns
    ]


def _is_personal_axis(columns: Any, level: int) -> bool:
    name = columns.names[level]
    if name is None or not is_plain(name):
        return False
    texts = [label for label in columns.get_level_values(level)[:SAMPLE_ROWS] if type(label) is str]
    # Names of statistics (mean, max) are no people, although "max" is a given name.
    return looks_personal(name) or (not all(text.islower() for text in texts) and is_personal(name, texts))


def describe_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Series as one column, by type only if the variable's name or its own looks personal."""
    rows = len(series)
    label = series.name if series.name is not None else name
    mode: Privacy = "schema" if looks_personal(name) else privacy
    described = _describe_column(label, series.dtype, dtype_text(series.dtype), series.array, mode).summary
    sampled = rows > SAMPLE_ROWS
    kind = safe(type_name(type(series)), 60)
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {column_name(label)} {described.dtype} {rows}"
        f"{column_text(described, sampled=sampled)}"
        f"{_index_text(series.index, privacy)}",
        size_bytes=_array_bytes(series.array, series.dtype, rows),
        copyable=True,
        frame_like=True,
        sampled=sampled,
    )


def describe_index(name: str, index: Any, privacy: Privacy) -> VariableSummary:
    """Describe an Index; a MultiIndex by its levels."""
    rows, kind = len(index), safe(type_name(type(index)), 60)
    if index.nlevels > 1:
        text, size = f" {rows} {_levels_text(index)}", int(sum(code.nbytes for code in index.codes))
    elif kind == "RangeIndex":
        text, size = f" {rows} int {index.start}..{index.stop - index.step} step {index.step}", 0
        text = text if privacy != "schema" else " int"
    else:
        label = index.name if index.name is not None else name
        mode: Privacy = "schema" if looks_personal(name) else privacy
        described = _describe_column(label, index.dtype, dtype_text(index.dtype), index.array, mode).summary
        text = f" {rows} {described.dtype}{column_text(described, sampled=rows > SAMPLE_ROWS)}"
        size = _array_bytes(index.array, index.dtype, rows)
    return VariableSummary(
        name=name, type_name=kind, headline=f"{name}: {kind}{text}", size_bytes=size, copyable=True
    )


def describe_extension_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Categorical or another array type of pandas."""
    rows, kind = len(array), safe(type_name(type(array)), 60)
    described = _describe_column(name, array.dtype, dtype_text(array.dtype), array, privacy).summary
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {described.dtype} {rows}{column_text(described, sampled=rows > SAMPLE_ROWS)}",
        size_bytes=int(array.nbytes),
        copyable=True,
    )


def describe_grouped(name: str, grouped: Any, privacy: Privacy) -> VariableSummary:
    """Describe a GroupBy, Rolling or Resampler by its frame and keys; the groups are not computed."""
    kind = safe(type_name(type(grouped)), 60)
    shape = "x".join(map(str, grouped.obj.shape))
    keys = getattr(grouped, "keys", None)
    keys = [keys] if type(keys) is str else keys
    by = ", ".join(column_name(key) for key in keys) if type(keys) is list and all(map(is_plain, keys)) else ""
    return VariableSummary(
        name=name, type_name=kind, headline=f"{name}: {kind} of {shape}{f' by {by}' if by else ''} (not computed)"
    )


def dtype_text(dtype: Any) -> str:
    """Return ``int``, ``float``, ``str``, ``bool``, ``datetime[UTC]``, ``category``, else the dtype's own name."""
    text = str(dtype)
    if text.endswith("[pyarrow]") and not text.startswith("string"):
        return arrow.short_type(dtype.pyarrow_dtype)
    if text.startswith("datetime64"):
        zone = text.partition(", ")[2].rstrip("]")
        return safe(f"datetime[{zone}]", 40) if zone else "datetime"
    if text.startswith("Sparse["):
        return f"sparse {dtype_text(dtype.subtype)}"
    if text == "category":
        return "ordered category" if dtype.ordered else text
    lowered = text.lower().removeprefix("u")
    short = next((short for short in ("int", "float", "bool", "timedelta", "str") if lowered.startswith(short)), "")
    return short if short and not lowered.startswith("interval") else type_text(text)


def _describe_column(
    label: object, dtype: Any, text: str, array: Any, privacy: Privacy, most: int = SAMPLE_ROWS
) -> DescribedColumn:
    """Describe a column; `array` is the whole column, or None for its type only."""
    if array is None or by_type_only(label, privacy):
        return DescribedColumn(summary=ColumnSummary(name=column_name(label), dtype=text))
    return describe_column(label, text, privacy, _read(array, dtype, most))


def _read(array: Any, dtype: Any, most: int = SAMPLE_ROWS) -> Sample:
    chunked = getattr(array, "_pa_array", None)
    if chunked is not None:
        return arrow.read(chunked, most)
    import numpy as np  # pandas has imported it

    rows = len(array)
    sampled = rows > most
    taken = array.take(row_array(rows, most)) if sampled else array
    if type_name(type(dtype)) == "SparseDtype":
        taken, dtype = taken.to_dense(), dtype.subtype
    plain = isinstance(dtype, np.dtype) and dtype.kind in "iufbcO"
    values = np.asarray(taken) if plain else taken
    if plain and dtype.kind in "iuf":
        return read_numbers(values, sampled=sampled)
    gone = np.asarray([_is_missing(value) for value in values], dtype=bool) if plain else taken.isna()
    missing = missing_text(int(gone.sum()), len(taken), sampled=sampled)
    present: Any = values[~gone]
    if dtype.kind in "iuf" and len(present):
        counted = read_numbers(present.to_numpy(dtype="int64" if dtype.kind != "f" else "float64"), sampled=sampled)
        return Sample(values=counted.values, low=counted.low, high=counted.high, missing=missing)
    if len(present) and (dtype.kind in "mM" or type_name(type(dtype)) == "PeriodDtype"):
        return Sample(low=instant(present.min()), high=instant(present.max()), missing=missing)
    if dtype.kind in "bc":
        return Sample(missing=missing)
    return Sample(values=present.tolist(), missing=missing)


def _is_missing(value: object) -> bool:
    if value is None or (type(value) is float and value != value):  # noqa: PLR0124 - NaN
        return True
    return type_name(type(value)) in ("NAType", "NaTType")


def _labels_text(columns: Any, labels: Sequence[object]) -> str:
    """Return what is unusual about column labels: several levels, duplicates."""
    levels = ""
    if columns.nlevels > 1:
        names = [column_name(label) for label in columns.names if label is not None]
        levels = f", column levels {', '.join(names)}" if names else f", {columns.nlevels} column levels"
    return levels + (", duplicate column names" if len(set(labels)) < len(labels) else "")


def _index_text(index: Any, privacy: Privacy) -> str:
    """Return what is unusual about an index: a name, several levels, dates."""
    if index.nlevels > 1:
        return f", MultiIndex {_levels_text(index)}"
    if type_name(type(index)) == "RangeIndex":
        return "" if index.name is None else f", index {column_name(index.name)} int"
    text = f", index {column_name(index.name)} {dtype_text(index.dtype)}"
    if by_type_only(index.name, privacy) or index.dtype.kind not in "mMiuf" or not len(index):
        return text
    sample = _read(index.array, index.dtype)
    freq = getattr(index, "freqstr", None)
    range_text = (
        f" {sample.low}..{sample.high}" if sample.low and not is_personal(index.name, sample.values) else ""
    )
    return text + (f" {safe(freq)}" if type(freq) is str else "") + range_text


def _levels_text(index: Any) -> str:
    levels = zip(index.names, index.levels, strict=True)
    return f"({', '.join(f'{column_name(label)} {dtype_text(level.dtype)}' for label, level in levels)})"


def _frame_bytes(arrays: Sequence[Any], dtypes: Sequence[Any], rows: int) -> int:
    """Return the size, exact for numbers and estimated for objects.

    `arrays` are the first columns; further ones of a type are assumed to be like the last of these.
    """
    total, of_type = 0, dict[str, int]()
    for at, dtype in enumerate(dtypes):
        if type(dtype).__module__.startswith("numpy") and dtype.kind != "O":
            total += rows * dtype.itemsize
            continue
        kind = type_name(type(dtype))
        if at < len(arrays):
            of_type[kind] = _array_bytes(arrays[at], dtype, rows)
        total += of_type.get(kind, rows * CELL_BYTES)
    return total


def _array_bytes(array: Any, dtype: Any, rows: int) -> int:
    size = int(array.nbytes)
    if getattr(dtype, "kind", "") != "O" or getattr(array, "_pa_array", None) is not None or not rows:
        return size
    if type_name(type(dtype)) not in ("ObjectDType", "StringDtype"):
        return size
    import numpy as np  # pandas has imported it

    # Indexing a pandas array would ask each object for its type.
    cells = np.asarray(array) if type_name(type(dtype)) == "ObjectDType" else array
    checked = [cells[at] for at in positions(rows, CHECKED_CELLS)]
    return size + sum(map(_cell_bytes, checked)) * rows // len(checked)


def _cell_bytes(value: object) -> int:
    """Return the size of a built-in object; an instance of a user's class is not asked."""
    return (
        type(value).__sizeof__(value) if type(value) in (str, bytes, int, float, list, dict, tuple) else CELL_BYTES
    )


def _rows(frame: Any, labels: Sequence[object], described: Sequence[DescribedColumn]) -> str:
    """Return the first rows as CSV, with the columns whose values may be displayed."""
    head = frame.iloc[:EXAMPLE_ROWS]
    kept = [at for at, column in enumerate(described) if column.may_display_values]
    return rows_text([(labels[at], head.iloc[:, at].tolist()) for at in kept])


DESCRIBERS = {
    **dict.fromkeys(("pandas.DataFrame", "pandas.core.frame.DataFrame"), describe_frame),
    **dict.fromkeys(("pandas.Series", "pandas.core.series.Series"), describe_series),
    **dict.fromkeys(("pandas.Index", "pandas.core.indexes.base.Index"), describe_index),
    **dict.fromkeys(
        (
            *("pandas.api.extensions.ExtensionArray", "pandas.core.arrays.base.ExtensionArray"),
            *("pandas.Categorical", "pandas.core.arrays.categorical.Categorical"),
        ),
        describe_extension_array,
    ),
    **dict.fromkeys(
        (
            *("pandas.core.groupby.groupby.BaseGroupBy", "pandas.core.window.rolling.BaseWindow"),
            "pandas.core.resample.Resampler",
        ),
        describe_grouped,
    ),
}
