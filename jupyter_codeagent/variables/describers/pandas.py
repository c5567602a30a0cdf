"""Describers of pandas objects. Their cost is in columns, never in rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import (
    MAX_STAT_COLUMNS,
    Sample,
    ToldColumn,
    by_type_only,
    column_name,
    column_text,
    instant,
    is_personal,
    is_plain,
    missing_text,
    rows_text,
    tell,
    type_text,
)
from jupyter_codeagent.variables.date_parts import with_date
from jupyter_codeagent.variables.describers import arrow
from jupyter_codeagent.variables.numbers import read_numbers, row_array
from jupyter_codeagent.variables.privacy.pii_patterns import MASK
from jupyter_codeagent.variables.reading import type_name
from jupyter_codeagent.variables.sample import SAMPLE_ROWS, SHOWN_ROWS, positions, sample_rows
from jupyter_codeagent.variables.text import looks_personal, safe

CHECKED_CELLS = 200
"""Objects of a column whose size is looked at."""
CELL_BYTES = 8
"""What a column of objects holds itself of each."""


def describe_frame(name: str, frame: Any, privacy: Privacy) -> VariableSummary:
    """A DataFrame; statistics from at most `SAMPLE_ROWS` rows of the first `MAX_STAT_COLUMNS` columns."""
    rows, width = frame.shape
    labels, dtypes = _told_labels(frame.columns), list(frame.dtypes)
    most = sample_rows(width)
    # Many columns share one dtype, and its text is not free.
    types = {key: dtype_text(dtype) for key, dtype in {id(dtype): dtype for dtype in dtypes}.items()}
    arrays = [frame.iloc[:, at].array for at in range(min(width, MAX_STAT_COLUMNS))]
    told = [
        _tell_column(label, dtype, types[id(dtype)], arrays[at] if at < len(arrays) else None, privacy, most)
        for at, (label, dtype) in enumerate(zip(labels, dtypes, strict=True))
    ]
    kind = safe(type_name(type(frame)), 60)
    head = f"{name}: {kind} {rows}x{width}{_labels_text(frame.columns, labels)}"
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{head}{_index_text(frame.index, privacy)}",
        bare_headline=f"{head}{_index_text(frame.index, 'schema')}",
        columns=with_date(name, labels, [column.summary for column in told]),
        size_bytes=_frame_bytes(arrays, dtypes, rows),
        copyable=True,
        frame_like=True,
        sampled=rows > most,
        rows=_rows(frame, labels, told) if privacy == "samples" else "",
    )


def _told_labels(columns: Any) -> list[Any]:
    """Labels of a pivot table are values of the column that their axis is named by: personal ones are masked."""
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
    # Names of figures (mean, max) are no people, though one of them is a given name.
    return looks_personal(name) or (not all(text.islower() for text in texts) and is_personal(name, texts))


def describe_series(name: str, series: Any, privacy: Privacy) -> VariableSummary:
    """A Series: one column, told by type only if the variable's name or its own is personal."""
    rows = len(series)
    label = series.name if series.name is not None else name
    mode: Privacy = "schema" if looks_personal(name) else privacy
    told = _tell_column(label, series.dtype, dtype_text(series.dtype), series.array, mode).summary
    sampled = rows > SAMPLE_ROWS
    kind = safe(type_name(type(series)), 60)
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {column_name(label)} {told.dtype} {rows}{column_text(told, sampled=sampled)}"
        f"{_index_text(series.index, privacy)}",
        size_bytes=_array_bytes(series.array, series.dtype, rows),
        copyable=True,
        frame_like=True,
        sampled=sampled,
    )


def describe_index(name: str, index: Any, privacy: Privacy) -> VariableSummary:
    """An Index of its own; of a MultiIndex, its levels."""
    rows, kind = len(index), safe(type_name(type(index)), 60)
    if index.nlevels > 1:
        text, size = f" {rows} {_levels_text(index)}", int(sum(code.nbytes for code in index.codes))
    elif kind == "RangeIndex":
        text, size = f" {rows} int {index.start}..{index.stop - index.step} step {index.step}", 0
        text = text if privacy != "schema" else " int"
    else:
        label = index.name if index.name is not None else name
        mode: Privacy = "schema" if looks_personal(name) else privacy
        told = _tell_column(label, index.dtype, dtype_text(index.dtype), index.array, mode).summary
        text = f" {rows} {told.dtype}{column_text(told, sampled=rows > SAMPLE_ROWS)}"
        size = _array_bytes(index.array, index.dtype, rows)
    return VariableSummary(
        name=name, type_name=kind, headline=f"{name}: {kind}{text}", size_bytes=size, copyable=True
    )


def describe_extension_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """A Categorical or another array of pandas' own."""
    rows, kind = len(array), safe(type_name(type(array)), 60)
    told = _tell_column(name, array.dtype, dtype_text(array.dtype), array, privacy).summary
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {told.dtype} {rows}{column_text(told, sampled=rows > SAMPLE_ROWS)}",
        size_bytes=int(array.nbytes),
        copyable=True,
    )


def describe_grouped(name: str, grouped: Any, privacy: Privacy) -> VariableSummary:
    """A GroupBy, Rolling or Resampler: of what; the groups are not computed."""
    kind = safe(type_name(type(grouped)), 60)
    shape = "x".join(map(str, grouped.obj.shape))
    keys = getattr(grouped, "keys", None)
    keys = [keys] if type(keys) is str else keys
    by = ", ".join(column_name(key) for key in keys) if type(keys) is list and all(map(is_plain, keys)) else ""
    return VariableSummary(
        name=name, type_name=kind, headline=f"{name}: {kind} of {shape}{f' by {by}' if by else ''} (not computed)"
    )


def dtype_text(dtype: Any) -> str:
    """``int``, ``float``, ``str``, ``bool``, ``datetime[UTC]``, ``category``; anything else by its own name."""
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


def _tell_column(
    label: object, dtype: Any, text: str, array: Any, privacy: Privacy, most: int = SAMPLE_ROWS
) -> ToldColumn:
    """`array` is the whole column; None if only its type is told."""
    if array is None or by_type_only(label, privacy):
        return ToldColumn(summary=ColumnSummary(name=column_name(label), dtype=text))
    return tell(label, text, privacy, _read(array, dtype, most))


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
    """Told only where it says something: several levels, labels that stand twice."""
    levels = ""
    if columns.nlevels > 1:
        names = [column_name(label) for label in columns.names if label is not None]
        levels = f", column levels {', '.join(names)}" if names else f", {columns.nlevels} column levels"
    return levels + (", duplicate column names" if len(set(labels)) < len(labels) else "")


def _index_text(index: Any, privacy: Privacy) -> str:
    """Told only where it says something: a name, several levels, dates."""
    if index.nlevels > 1:
        return f", MultiIndex {_levels_text(index)}"
    if type_name(type(index)) == "RangeIndex":
        return "" if index.name is None else f", index {column_name(index.name)} int"
    told = f", index {column_name(index.name)} {dtype_text(index.dtype)}"
    if by_type_only(index.name, privacy) or index.dtype.kind not in "mMiuf" or not len(index):
        return told
    sample = _read(index.array, index.dtype)
    freq = getattr(index, "freqstr", None)
    range_text = (
        f" {sample.low}..{sample.high}" if sample.low and not is_personal(index.name, sample.values) else ""
    )
    return told + (f" {safe(freq)}" if type(freq) is str else "") + range_text


def _levels_text(index: Any) -> str:
    levels = zip(index.names, index.levels, strict=True)
    return f"({', '.join(f'{column_name(label)} {dtype_text(level.dtype)}' for label, level in levels)})"


def _frame_bytes(arrays: Sequence[Any], dtypes: Sequence[Any], rows: int) -> int:
    """Exact for numbers; what objects hold is estimated.

    `arrays` are the first columns; further ones of a type are taken to be like the last of these.
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

    # Its own `[]` asks each object what it is.
    cells = np.asarray(array) if type_name(type(dtype)) == "ObjectDType" else array
    looked_at = [cells[at] for at in positions(rows, CHECKED_CELLS)]
    return size + sum(map(_cell_bytes, looked_at)) * rows // len(looked_at)


def _cell_bytes(value: object) -> int:
    """What Python itself says; a class of the user's is not asked."""
    return (
        type(value).__sizeof__(value) if type(value) in (str, bytes, int, float, list, dict, tuple) else CELL_BYTES
    )


def _rows(frame: Any, labels: Sequence[object], told: Sequence[ToldColumn]) -> str:
    """The first rows of the columns whose values may be shown, as CSV."""
    head = frame.iloc[:SHOWN_ROWS]
    return rows_text([(labels[at], head.iloc[:, at].tolist()) for at, c in enumerate(told) if c.may_be_shown])


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
