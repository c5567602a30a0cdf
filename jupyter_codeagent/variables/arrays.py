"""Describers of numpy arrays and numbers."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.values import Privacy, VariableSummary
from jupyter_codeagent.variables.text import number, safe

SAMPLE_VALUES = 10_000


def describe_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Shape, dtype and the range of a strided sample."""
    shape = "x".join(map(str, array.shape)) or "scalar"
    sampled = array.size > SAMPLE_VALUES
    stats = _range(array) if privacy != "schema" and array.dtype.kind in "iuf" and array.size else ""
    return VariableSummary(
        name=name,
        type_name="ndarray",
        headline=f"{name}: ndarray {shape} {safe(str(array.dtype), 60)}{stats}",
        size_bytes=int(array.nbytes),
        copyable=not array.dtype.hasobject,
        frame_like=array.ndim > 0 and not array.dtype.hasobject,
        sampled=sampled,
    )


def describe_number(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """A numpy scalar."""
    kind = type(value).__name__
    shown = f" = {number(value)}" if privacy != "schema" else ""
    return VariableSummary(
        name=name, type_name=kind, headline=f"{name}: {kind}{shown}", size_bytes=int(value.nbytes), copyable=True
    )


def _range(array: Any) -> str:
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    sample = flat[:: max(1, array.size // SAMPLE_VALUES)]
    sample = sample[sample == sample]  # noqa: PLR0124 - drops NaN without importing numpy
    return f" {number(sample.min())}..{number(sample.max())}" if sample.size else ""


DESCRIBERS = {"numpy.ndarray": describe_array, "numpy.number": describe_number, "numpy.bool": describe_number}
