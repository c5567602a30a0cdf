"""Describers of xarray: dimensions and types of all variables, ranges of those in memory."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.columns import MAX_STAT_COLUMNS, Sample, column_name, column_text, describe_column
from jupyter_codeagent.variables.describers.arrays import SAMPLE_VALUES, dtype_text, read_array
from jupyter_codeagent.variables.introspection import type_path
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import safe

UNIT_CHARS = 12


def describe_dataset(name: str, dataset: Any, privacy: Privacy) -> VariableSummary:
    """Describe a Dataset with coordinates, then data variables, as columns; nothing is loaded or computed."""
    variables = dataset.variables
    labels = [*dataset.coords, *dataset.data_vars]
    in_memory = all(_in_memory(variables[label]) for label in labels)
    return VariableSummary(
        name=name,
        type_name="xarray.Dataset",
        headline=f"{name}: xarray.Dataset {_sizes(dataset.sizes)}{'' if in_memory else ' (not loaded)'}",
        columns=tuple(_describe_column(label, variables[label], privacy, at) for at, label in enumerate(labels)),
        size_bytes=int(dataset.nbytes),
        copyable=in_memory,
        frame_like=in_memory,
        sampled=any(variables[label].size > SAMPLE_VALUES for label in labels),
    )


def describe_array(name: str, array: Any, privacy: Privacy) -> VariableSummary:
    """Describe a DataArray with its own values in the headline and its coordinates as columns."""
    in_memory = _in_memory(array.variable)
    own = _describe_column(array.name if array.name is not None else name, array.variable, privacy, 0)
    return VariableSummary(
        name=name,
        type_name="xarray.DataArray",
        headline=f"{name}: xarray.DataArray {own.name} {dtype_text(array.dtype)} {_sizes(array.sizes)}"
        f"{column_text(own, sampled=array.size > SAMPLE_VALUES) if in_memory else ' (not loaded)'}",
        columns=tuple(
            _describe_column(label, array.coords[label].variable, privacy, at)
            for at, label in enumerate(array.coords)
        ),
        size_bytes=int(array.nbytes),
        copyable=in_memory,
        frame_like=in_memory,
        sampled=array.size > SAMPLE_VALUES,
    )


def _describe_column(label: object, variable: Any, privacy: Privacy, at: int) -> ColumnSummary:
    dims = ", ".join(column_name(dim).strip("'\"") for dim in variable.dims)
    unit = variable.attrs.get("units")
    has_unit = type(unit) is str and privacy != "schema" and not private_text(unit)
    of = f" ({dims})" if dims else ""
    dtype = safe(f"{dtype_text(variable.dtype)}{of}{f' in {safe(unit, UNIT_CHARS)}' if has_unit else ''}", 80)
    read = privacy != "schema" and at < MAX_STAT_COLUMNS and _in_memory(variable)
    return describe_column(label, dtype, privacy, _read(variable) if read else Sample()).summary


def _read(variable: Any) -> Sample:
    data = variable._data
    return read_array(data if type_path(type(data)) == "numpy.ndarray" else variable.values)


def _in_memory(variable: Any) -> bool:
    """Check for a plain array or the index of a dimension; anything else may be a file or a task graph."""
    path = type_path(type(variable._data))
    return path in ("numpy.ndarray", "xarray.core.indexing.PandasIndexingAdapter")


def _sizes(sizes: Any) -> str:
    return f"({', '.join(f'{column_name(dim)} {length}' for dim, length in sizes.items())})"


DESCRIBERS = {
    "xarray.core.dataset.Dataset": describe_dataset,
    "xarray.core.dataarray.DataArray": describe_array,
}
