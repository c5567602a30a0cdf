"""Describer of scipy's sparse matrices and arrays, by what is stored."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.describers.arrays import SAMPLE_VALUES, shape_text
from jupyter_codeagent.variables.describers.numbers import read_numbers, row_array
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.text import looks_personal, safe

_BUFFERS = ("data", "indices", "indptr", "row", "col", "coords", "offsets")


def describe_sparse(name: str, matrix: Any, privacy: Privacy) -> VariableSummary:
    """Describe format, shape, number of stored values and, if they are in one array, the range of a sample."""
    kind, cells = type_name(type(matrix)), 1
    for length in matrix.shape:
        cells *= length
    stored = int(matrix.nnz)
    size = sum(_bytes(getattr(matrix, buffer, None)) for buffer in _BUFFERS)
    share = f" ({stored / cells:.2g} of all)" if cells else ""
    text, sampled = "", False
    data: Any = getattr(matrix, "data", None)
    if (
        privacy != "schema"
        and not looks_personal(name)
        and getattr(data, "ndim", 0) == 1
        and data.dtype.kind in "iuf"
    ):
        sampled = len(data) > SAMPLE_VALUES
        found = read_numbers(data[row_array(len(data), SAMPLE_VALUES)] if sampled else data, sampled=sampled)
        text = f", {found.low}..{found.high}{' (from a sample)' if sampled else ''}" if found.low else ""
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} {shape_text(matrix.shape)} {safe(str(matrix.dtype))}, "
        f"{stored} stored{share}{text}",
        size_bytes=size,
        copyable=True,
        frame_like=True,
        sampled=sampled,
    )


def _bytes(buffer: Any) -> int:
    parts = buffer if type(buffer) is tuple else (buffer,)
    return sum(int(part.nbytes) for part in parts if hasattr(part, "nbytes"))


DESCRIBERS = {"scipy.sparse._base._spbase": describe_sparse}
