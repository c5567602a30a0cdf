"""List what a person can hide of a value: its columns, index levels, fields or keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.variables.introspection import lookup_by_type
from jupyter_codeagent.variables.type_names import (
    ARROW_BATCH,
    ARROW_TABLE,
    PANDAS_FRAME,
    PANDAS_INDEX,
    PANDAS_SERIES,
    POLARS_FRAME,
    XARRAY_DATASET,
)


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column, index level, field or key, as the panel lists it."""

    label: str
    dtype: str


def list_columns(value: Any) -> Iterator[Column]:
    """Yield the columns that can be hidden, in their order; lazily, so that a caller can stop early."""
    columns_of = lookup_by_type(value, _COLUMNS)
    return columns_of(value) if columns_of is not None else iter(())


def value_type(value: object) -> str:
    """Return the type of a value as a person writes it: ``int``, ``polars.lazyframe.frame.LazyFrame``."""
    kind = type(value)
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"


def _levels(index: Any) -> Iterator[Column]:
    dtypes = index.dtypes.tolist() if index.nlevels > 1 else [index.dtype]
    for name, dtype in zip(index.names, dtypes, strict=True):
        if name is not None:
            yield Column(label=str(name), dtype=f"index {dtype}")


def _pandas_frame_columns(frame: Any) -> Iterator[Column]:
    yield from _levels(frame.index)
    texts: dict[
        int, str
    ] = {}  # thousands of columns share a few types, and the text of a type is the costliest part
    for label, dtype in zip(frame.columns, dtypes := frame.dtypes.tolist(), strict=True):
        if id(dtype) not in texts:
            texts[id(dtype)] = str(dtype)
        yield Column(label=str(label), dtype=texts[id(dtype)])
    del dtypes  # kept until here, so that no other dtype can reuse an id


def _pandas_series_columns(series: Any) -> Iterator[Column]:
    yield from _levels(series.index)


def _polars_columns(frame: Any) -> Iterator[Column]:
    for label, dtype in frame.schema.items():
        yield Column(label=label, dtype=str(dtype))


def _arrow_columns(table: Any) -> Iterator[Column]:
    for field in table.schema:
        yield Column(label=field.name, dtype=str(field.type))


def _array_fields(array: Any) -> Iterator[Column]:
    for name in array.dtype.names or ():
        yield Column(label=name, dtype=str(array.dtype[name]))


def _keys(mapping: Any) -> Iterator[Column]:
    for key, value in mapping.items():
        if isinstance(key, str | int):
            yield Column(label=str(key), dtype=value_type(value))


def _xarray_columns(dataset: Any) -> Iterator[Column]:
    for name, variable in dataset.variables.items():
        yield Column(label=str(name), dtype=str(variable.dtype))


_COLUMNS: dict[str, Callable[[Any], Iterator[Column]]] = {
    **dict.fromkeys(PANDAS_FRAME, _pandas_frame_columns),
    **dict.fromkeys(PANDAS_SERIES, _pandas_series_columns),
    **dict.fromkeys(PANDAS_INDEX, _levels),
    **dict.fromkeys((ARROW_TABLE, ARROW_BATCH), _arrow_columns),
    POLARS_FRAME: _polars_columns,
    "numpy.ndarray": _array_fields,
    "builtins.dict": _keys,
    XARRAY_DATASET: _xarray_columns,
}
