"""Describers of numpy arrays and numbers."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import MAX_STAT_COLUMNS, Sample, column_text, describe_column, instant
from jupyter_codeagent.variables.describers.numbers import read_numbers, row_array
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.privacy.secret import private_text, secret_name
from jupyter_codeagent.variables.text import looks_personal, number, safe

SAMPLE_VALUES = 10_000


def describe_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Describe an array by shape, dtype and the range of a sample; records by their fields."""
    kind = safe(type_name(type(array)), 60)
    summary = ColumnSummary(name=name, dtype=dtype_text(array.dtype))
    mapped = kind == "memmap"
    if not mapped and array.dtype.names is None:
        summary = describe_column(
            name, summary.dtype, privacy, read_array(array) if privacy != "schema" else Sample()
        ).summary
    sampled = array.size > SAMPLE_VALUES
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {shape_text(array.shape)} {summary.dtype}"
        f"{' in a file (not read)' if mapped else column_text(summary, sampled=sampled)}",
        columns=() if mapped else _fields(array, privacy),
        size_bytes=int(array.nbytes),
        copyable=not array.dtype.hasobject,
        frame_like=array.ndim > 0 and not array.dtype.hasobject,
        sampled=sampled and not mapped,
    )


def describe_number(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a numpy scalar by its value."""
    kind = type_name(type(value))
    text = number(value) if value.dtype.kind in "iuf" else safe(str(value), 40)
    hidden = privacy == "schema" or looks_personal(name) or secret_name(name, text) or private_text(text)
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind}{'' if hidden else f' = {text}'}",
        size_bytes=int(value.nbytes),
        copyable=not private_text(text),
    )


def shape_text(shape: tuple[int, ...]) -> str:
    """Return ``2x3``, or ``scalar``."""
    return "x".join(map(str, shape)) or "scalar"


def dtype_text(dtype: Any) -> str:
    """Return numpy's name for a dtype, or ``str``, ``bytes``, ``of records with 2 fields``."""
    if dtype.names is not None:
        return f"of records with {len(dtype.names)} fields"
    if dtype.kind in "SUTV":
        return {"S": "bytes", "V": "raw bytes"}.get(dtype.kind, "str")
    return safe(str(dtype), 60)


def _fields(array: Any, privacy: Privacy) -> tuple[ColumnSummary, ...]:
    return tuple(
        describe_column(
            label,
            dtype_text(array.dtype[label]),
            privacy,
            read_array(array[label]) if privacy != "schema" and at < MAX_STAT_COLUMNS else Sample(),
        ).summary
        for at, label in enumerate(array.dtype.names or ())
    )


def read_array(array: Any) -> Sample:
    """Read a sample of the elements; of a masked array, those that are not masked."""
    kind = array.dtype.kind
    if not array.size or kind not in "iufmMUTO":
        return Sample()
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    sampled = array.size > SAMPLE_VALUES
    values = flat[row_array(array.size, SAMPLE_VALUES)] if sampled else flat[:]
    masked = getattr(values, "mask", None)
    if masked is not None and type_name(type(values)) == "MaskedArray":
        values, hidden = values.compressed(), int(masked.sum())
        share = f"{max(hidden / (len(values) + hidden), 0.001):.1%}" if sampled else str(hidden)
        found = _of(values, kind, sampled=sampled) if len(values) else Sample()
        return Sample(
            values=found.values, low=found.low, high=found.high, missing=f"{share} masked" if hidden else ""
        )
    return _of(values, kind, sampled=sampled)


def _of(values: Any, kind: str, *, sampled: bool) -> Sample:
    if kind in "iuf":
        return read_numbers(values, sampled=sampled)
    if kind in "mM":
        present = values[values == values]  # noqa: PLR0124 - without NaT
        return Sample(low=instant(present.min()), high=instant(present.max())) if len(present) else Sample()
    return Sample(values=values.tolist())


DESCRIBERS = {
    "numpy.ndarray": describe_array,
    "numpy.generic": describe_number,
}
