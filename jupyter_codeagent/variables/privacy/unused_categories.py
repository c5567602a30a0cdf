"""Leave unused categories of personal columns out of copies: people whose rows the user has filtered out.

Categories belong to a column's type and are copied with it, used or not. Columns of names and addresses are the
exception: the copy has only the categories of its rows, and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_codeagent.variables.columns import by_type_only, column_name, is_personal
from jupyter_codeagent.variables.introspection import lookup_by_type
from jupyter_codeagent.variables.type_names import (
    ARROW_TABLE,
    PANDAS_CATEGORICAL,
    PANDAS_FRAME,
    PANDAS_INDEX,
    PANDAS_SERIES,
)


def without_unused(name: str, value: Any) -> tuple[Any, str]:
    """Return the value of the variable `name`, and a note on what was left out; itself and '' if nothing was.

    The user's own object is not changed. Costs a pass over each categorical column.
    """
    without = lookup_by_type(value, _KINDS)
    made, labels = without(name, value) if without is not None else (value, [])
    return made, f"without unused categories of {', '.join(map(column_name, labels))}" if labels else ""


Left = tuple[Any, list[object]]
"""(value, labels of the columns that lost categories)."""


def _frame(name: str, frame: Any) -> Left:
    index, labels = _index(name, frame.index)
    made = frame
    if labels:
        made = frame.copy(deep=False)
        made.index = index
    for at, (label, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if str(dtype) == "category" and _has_personal(label, array := frame.iloc[:, at].array):
            made = frame.copy(deep=False) if made is frame else made
            made.isetitem(at, array.remove_unused_categories())
            labels.append(label)
    return made, labels


def _series(name: str, series: Any) -> Left:
    index, labels = _index(name, series.index)
    label = series.name if series.name is not None else name
    array = series.array
    if str(series.dtype) == "category" and _has_personal(label, array):
        array = array.remove_unused_categories()
        labels.append(label)
    if not labels:
        return series, labels
    made = type(series)(array, index=index, name=series.name, copy=False)
    return made.__finalize__(series), labels


def _index(name: str, index: Any) -> Left:
    if index.nlevels > 1:
        return _levels(index)
    label = index.name if index.name is not None else name
    if str(index.dtype) == "category" and _has_personal(label, index.array):
        return index.remove_unused_categories(), [label]
    return index, []


def _levels(index: Any) -> Left:
    labels: list[object] = []
    made = index.remove_unused_levels()
    for at, (label, level) in enumerate(zip(index.names, made.levels, strict=True)):
        if str(level.dtype) == "category" and _has_personal(label, level.array):
            made = made.set_levels(level.remove_unused_categories(), level=at)
            labels.append(label)
    return (made, labels) if labels else (index, labels)


def _array(name: str, array: Any) -> Left:
    return (array.remove_unused_categories(), [name]) if _has_personal(name, array) else (array, [])


def _table(name: str, table: Any) -> Left:
    import pyarrow as pa

    made, labels = table, list[object]()
    for at, field in enumerate(table.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        chunks = table.column(at).chunks
        used = [_used(chunk) for chunk in chunks]
        values = [value for chunk in chunks for value in chunk.dictionary.to_pylist()]
        if any(map(_is_less, used, chunks)) and _is_personal(field.name, values):
            made = made.set_column(at, field, pa.chunked_array(used, field.type))
            labels.append(field.name)
    return made, labels


def _used(chunk: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    codes = chunk.indices.fill_null(0).to_numpy()
    missing = chunk.indices.is_null()
    used = np.unique(codes[~missing.to_numpy(zero_copy_only=False)])
    places = np.zeros(len(chunk.dictionary), codes.dtype)
    places[used] = np.arange(len(used))
    indices = pa.array(places[codes] if len(places) else codes, chunk.indices.type, mask=missing.to_numpy(False))
    return pa.DictionaryArray.from_arrays(
        indices, chunk.dictionary.take(pa.array(used)), ordered=chunk.type.ordered
    )


def _is_less(used: Any, chunk: Any) -> bool:
    return len(used.dictionary) < len(chunk.dictionary)


def _has_personal(label: object, array: Any) -> bool:
    """Check that some category occurs in no row, and that the column looks personal."""
    import numpy as np

    codes = array.codes
    if len(np.unique(codes[codes >= 0])) == len(array.categories):
        return False
    return _is_personal(label, array.categories.tolist())


def _is_personal(label: object, values: Sequence[Any]) -> bool:
    return by_type_only(label, "stats") or is_personal(label, values)


_KINDS = {
    **dict.fromkeys(PANDAS_FRAME, _frame),
    **dict.fromkeys(PANDAS_SERIES, _series),
    **dict.fromkeys(PANDAS_INDEX, _index),
    **dict.fromkeys(PANDAS_CATEGORICAL, _array),
    ARROW_TABLE: _table,
}
