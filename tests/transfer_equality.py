"""Whether two values are the same: type by type, down to labels, categories and the order in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa


def assert_same(left: Any, right: Any) -> None:
    assert type(left) is type(right), (type(left), type(right))
    for kind, check in CHECKS.items():
        if isinstance(left, kind):
            check(left, right)
            return
    if isinstance(left, list | tuple):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_same(one, other)
    elif isinstance(left, dict):
        assert_same(list(left), list(right))
        assert_same(list(left.values()), list(right.values()))
    else:
        assert left is right or left == right or (is_nan(left) and is_nan(right)), (left, right)


def is_nan(value: Any) -> bool:
    return bool(value != value)  # noqa: PLR0124  (true of NaN and NaT of every library)


def same_frame(left: pd.DataFrame, right: pd.DataFrame) -> None:
    assert left.shape == right.shape
    same_labels(left.columns, right.columns)
    same_pandas(left, right)
    for position in range(left.shape[1]):
        same_values(left.iloc[:, position].array, right.iloc[:, position].array)


def same_series(left: pd.Series[Any], right: pd.Series[Any]) -> None:
    assert_same(left.name, right.name)
    same_pandas(left, right)
    same_values(left.array, right.array)


def same_pandas(left: Any, right: Any) -> None:
    same_labels(left.index, right.index)
    assert_same(left.attrs, right.attrs)
    assert left.flags.allows_duplicate_labels == right.flags.allows_duplicate_labels


def same_labels(left: pd.Index[Any], right: pd.Index[Any]) -> None:
    assert type(left) is type(right)
    assert_same(list(left.names), list(right.names))
    assert getattr(left, "freq", None) == getattr(right, "freq", None)
    if isinstance(left, pd.MultiIndex):
        assert isinstance(right, pd.MultiIndex)
        left = left.remove_unused_levels()  # values of rows that were cut off do not travel
        for one, other in zip(left.levels, right.levels, strict=True):
            same_labels(one, other)
        for codes, others in zip(left.codes, right.codes, strict=True):
            same_array(codes, others)
    else:
        same_values(left.array, right.array)


def same_values(left: Any, right: Any) -> None:
    assert type(left) is type(right)
    assert left.dtype == right.dtype
    assert repr(left.dtype) == repr(right.dtype)
    if isinstance(left.dtype, pd.CategoricalDtype):
        same_labels(left.categories, right.categories)
        same_array(left.codes, right.codes)
    elif isinstance(left.dtype, pd.SparseDtype):
        assert_same(left.fill_value, right.fill_value)
        same_array(left.sp_values, right.sp_values)
        assert left.sp_index.equals(right.sp_index)
    else:
        assert_same(list(left), list(right))


def same_array(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> None:
    assert (left.dtype, left.shape) == (right.dtype, right.shape)
    assert left.dtype.byteorder == right.dtype.byteorder
    assert left.flags.writeable == right.flags.writeable
    if left.flags.contiguous:
        assert right.flags.contiguous
        assert left.flags.f_contiguous == right.flags.f_contiguous
    if left.dtype.hasobject or left.dtype.names is not None:  # between fields anything may lie
        # A masked array of fields that are arrays of fields cannot write itself as a list.
        assert_same(np.ma.filled(left).tolist(), np.ma.filled(right).tolist())
    else:
        assert left.tobytes() == right.tobytes()
    if isinstance(left, np.ma.MaskedArray) and isinstance(right, np.ma.MaskedArray):
        same_array(np.ma.getmaskarray(left), np.ma.getmaskarray(right))
        assert left.fill_value == right.fill_value or left.fill_value != left.fill_value


def same_polars(left: Any, right: Any) -> None:
    if isinstance(left, pl.DataFrame):
        assert left.schema == right.schema
        assert left.equals(right)
    else:
        assert (left.name, left.dtype) == (right.name, right.dtype)
        assert left.equals(right, check_names=True)


def same_arrow(left: Any, right: Any) -> None:
    right.validate(full=True)
    if hasattr(left, "schema"):
        assert left.schema.equals(right.schema, check_metadata=True)
    else:
        assert left.type == right.type
    assert left.to_pylist() == right.to_pylist()


CHECKS: dict[Any, Callable[[Any, Any], None]] = {
    pd.DataFrame: same_frame,
    pd.Series: same_series,
    pd.Index: same_labels,
    np.ndarray: same_array,
    (pl.DataFrame, pl.Series): same_polars,
    (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array): same_arrow,
}
