"""Leave hidden columns out of a value: the one place where that is done.

A value is narrowed before it is described and before it is copied, so that neither step can forget it. Nothing is
copied and the user's own object is not changed. Hidden labels are given as ``str(label)``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from jupyter_codeagent.types.errors import UsageError, VariableError
from jupyter_codeagent.variables.introspection import lookup_by_type
from jupyter_codeagent.variables.privacy.column_lists import list_columns, value_type
from jupyter_codeagent.variables.type_names import (
    ARROW_BATCH,
    ARROW_TABLE,
    GEOPANDAS_FRAME,
    GEOPANDAS_SERIES,
    PANDAS_FRAME,
    PANDAS_INDEX,
    PANDAS_SERIES,
    POLARS_FRAME,
    POLARS_SERIES,
    XARRAY_DATASET,
)

Labels = frozenset[str]


class NotNarrowableError(VariableError):
    """Raised for a value whose columns cannot be left out without a copy; it is hidden as a whole."""


def without_columns(value: Any, hidden: Labels) -> Any:
    """Return the value without the columns, index levels, fields or keys of these labels; itself if it has none.

    Raises
    ------
    NotNarrowableError
        For a kind of value that has no columns to leave out, or none that can be left out.
    """
    if not hidden:
        return value
    narrow = lookup_by_type(value, _NARROW)
    if narrow is None:
        raise NotNarrowableError(f"columns of {value_type(value)} values cannot be left out")
    try:
        return narrow(value, hidden)
    except NotNarrowableError:
        raise
    except Exception as problem:  # labels and subclasses are the user's, and may raise anything
        raise NotNarrowableError(
            f"columns of this {value_type(value)} cannot be left out ({type(problem).__name__})"
        ) from problem


def check_columns(name: str, value: Any, labels: Labels) -> None:
    """Check that these columns of a variable can be hidden.

    Raises
    ------
    UsageError
        The value does not have one of the labels.
    VariableError
        No column of this kind of value can be hidden.
    """
    if not labels:
        return
    try:
        without_columns(value, labels)
    except NotNarrowableError as problem:
        raise VariableError(f"{name!r}: {problem}. `%agent hide {name}` hides it as a whole.") from problem
    known = {column.label for column in list_columns(value)}
    known |= {str(label[0]) for label in getattr(value, "columns", ()) if isinstance(label, tuple) and label}
    for label in sorted(labels - known):
        near = difflib.get_close_matches(label, known, n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise UsageError(f"{name} has no column {label!r}{hint}")


def can_be_narrowed(value: object) -> bool:
    """Check that the value has columns of its own, and is no plan over another value or derived from one."""
    return lookup_by_type(value, _NARROW) is not None


def _is_hidden(label: Any, hidden: Labels) -> bool:
    """Check the label itself, or its first level where columns have several."""
    return str(label) in hidden or (isinstance(label, tuple) and bool(label) and str(label[0]) in hidden)


# --- pandas ---------------------------------------------------------------------------------------


def _pandas_frame(frame: Any, hidden: Labels) -> Any:
    import pandas as pd

    _require_kind(frame, _PLAIN_FRAMES)
    if any(name is not None and _is_hidden(name, hidden) for name in frame.columns.names):
        raise NotNarrowableError("its column labels are values of a hidden column")
    kept = [at for at, label in enumerate(frame.columns) if not _is_hidden(label, hidden)]
    index = _index_of_rows(frame.index, hidden)
    if len(kept) == frame.shape[1] and index is frame.index and not frame.attrs:
        return frame
    # GeoDataFrame has its own rules for each of these steps, so it is made again at the end.
    plain = pd.DataFrame(frame, copy=False)
    narrowed = _side_by_side([plain.iloc[:, start:stop] for start, stop in _runs(kept)] or [plain.iloc[:, :0]])
    narrowed.columns = _labels_taken(frame.columns, kept)
    narrowed.index = index
    result = frame._constructor(narrowed)
    geometry = getattr(frame, "_geometry_column_name", None)
    if geometry is not None and geometry in result.columns:
        object.__setattr__(result, "_geometry_column_name", geometry)
    return _with_flags_of(frame, result)


def _pandas_series(series: Any, hidden: Labels) -> Any:
    _require_kind(series, _PLAIN_SERIES)
    if series.name is not None and _is_hidden(series.name, hidden):
        raise NotNarrowableError("its only column is hidden")
    index = _index_of_rows(series.index, hidden)
    if index is series.index and not series.attrs:
        return series
    narrowed = series.copy(deep=False)
    narrowed.index = index
    return _with_flags_of(series, narrowed)


def _require_kind(value: object, known: frozenset[str]) -> None:
    """Refuse subclasses, which may keep what is hidden in their own attributes."""
    if f"{type(value).__module__}.{type(value).__qualname__}" not in known:
        raise NotNarrowableError(f"columns of {value_type(value)} values cannot be left out")


def _pandas_index(index: Any, hidden: Labels) -> Any:
    levels = _hidden_levels(index, hidden)
    if not levels:
        return index
    if len(levels) == index.nlevels:
        raise NotNarrowableError("its only column is hidden")
    return index.droplevel(levels)


def _index_of_rows(index: Any, hidden: Labels) -> Any:
    """Return the index itself if none of it is hidden, and numbers of rows if all of it is."""
    import pandas as pd

    levels = _hidden_levels(index, hidden)
    if not levels:
        return index
    return pd.RangeIndex(len(index)) if len(levels) == index.nlevels else index.droplevel(levels)


def _hidden_levels(index: Any, hidden: Labels) -> list[int]:
    return [at for at, name in enumerate(index.names) if name is not None and _is_hidden(name, hidden)]


def _labels_taken(labels: Any, kept: Sequence[int]) -> Any:
    """Take labels without unused levels and categories: an index keeps them, hidden names among them."""
    taken = labels.take(kept)
    if hasattr(taken, "remove_unused_levels"):
        return taken.remove_unused_levels()
    return taken.remove_unused_categories() if hasattr(taken, "remove_unused_categories") else taken


def _side_by_side(views: Sequence[Any]) -> Any:
    import pandas as pd

    if len(views) == 1:
        return views[0]
    if int(pd.__version__.split(".")[0]) >= 3:
        return pd.concat(views, axis=1)  # copy-on-write: no copy here
    concat: Any = pd.concat
    return concat(views, axis=1, copy=False)


def _with_flags_of(value: Any, result: Any) -> Any:
    """Keep flags, and drop `attrs`: those may hold anything, hidden values and whole frames included."""
    result.attrs = {}
    result.flags.allows_duplicate_labels = value.flags.allows_duplicate_labels
    return result


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Return adjacent positions as (start, stop): slices of columns are views, lists of columns are copies."""
    groups = [list(group) for _, group in groupby(enumerate(positions), key=lambda pair: pair[1] - pair[0])]
    return [(group[0][1], group[-1][1] + 1) for group in groups]


# --- others ---------------------------------------------------------------------------------------


def _polars_frame(frame: Any, hidden: Labels) -> Any:
    return frame.drop([label for label in frame.columns if label in hidden])


def _polars_series(series: Any, hidden: Labels) -> Any:
    if series.name in hidden:
        raise NotNarrowableError("its only column is hidden")
    return series


def _arrow_table(table: Any, hidden: Labels) -> Any:
    """Narrow a pyarrow Table or RecordBatch, without the metadata of schema and fields, which may hold anything.

    The part that pandas needs to restore the same frame is kept.
    """
    import pyarrow as pa

    kept = [at for at, label in enumerate(table.schema.names) if label not in hidden]
    metadata = _pandas_metadata((table.schema.metadata or {}).get(b"pandas"), hidden)
    schema = pa.schema([table.schema.field(at).remove_metadata() for at in kept], metadata=metadata)
    if len(kept) == table.num_columns and schema.equals(table.schema, check_metadata=True):
        return table
    narrowed = table.select(kept)
    return type(table).from_arrays(narrowed.columns, schema=schema) if kept else narrowed.cast(schema)


def _pandas_metadata(text: bytes | None, hidden: Labels) -> dict[bytes, bytes] | None:
    """Return what pandas wrote about columns and index, without hidden ones and without `attrs`."""
    if text is None:
        return None
    known = {key: fact for key, fact in json.loads(text).items() if key in _PANDAS_FACTS}
    for key in ("columns", "column_indexes"):
        known[key] = [
            column
            for column in known.get(key, [])
            if str(column.get("name")) not in hidden and str(column.get("field_name")) not in hidden
        ]
    known["index_columns"] = [name for name in known.get("index_columns", []) if str(name) not in hidden]
    if known.get("attributes"):
        known["attributes"] = {}
    return {b"pandas": json.dumps(known).encode()}


def _structured_array(array: Any, hidden: Labels) -> Any:
    from numpy.lib import recfunctions

    if type(array).__module__ != "numpy" or type(array).__qualname__ != "ndarray" or array.dtype.names is None:
        raise NotNarrowableError(f"columns of {value_type(array)} values without fields cannot be left out")
    kept = [name for name in array.dtype.names if name not in hidden]
    if len(kept) == len(array.dtype.names):
        return array
    # The only copy: fields of a record are interleaved, so a view would still contain the hidden bytes.
    return recfunctions.repack_fields(array[kept])


def _dict(mapping: Any, hidden: Labels) -> Any:
    if type(mapping) is not dict:
        raise NotNarrowableError(f"keys of {value_type(mapping)} values cannot be left out")
    return _without_keys(mapping, hidden)


def _without_keys(value: Any, hidden: Labels) -> Any:
    """Leave the keys out of nested dicts, too, at any depth."""
    if type(value) is dict:
        return {key: _without_keys(one, hidden) for key, one in value.items() if not _is_hidden(key, hidden)}
    if type(value) in (list, tuple):
        return type(value)(_without_keys(one, hidden) for one in value)
    return value


def _xarray_dataset(dataset: Any, hidden: Labels) -> Any:
    """Drop attributes and encoding, which may hold anything; rename dimensions that have a hidden name."""
    gone = [name for name in dataset.variables if _is_hidden(name, hidden)]
    dims = {dim: f"dim_{at}" for at, dim in enumerate(dataset.dims) if _is_hidden(dim, hidden)}
    narrowed = dataset.drop_vars(gone).drop_attrs(deep=True).drop_encoding()
    return narrowed.rename_dims(dims) if dims else narrowed


_PANDAS_FACTS = frozenset({"index_columns", "column_indexes", "columns", "attributes", "creator", "pandas_version"})
_PLAIN_FRAMES = frozenset((*PANDAS_FRAME, GEOPANDAS_FRAME))
_PLAIN_SERIES = frozenset((*PANDAS_SERIES, GEOPANDAS_SERIES))

_NARROW: dict[str, Callable[[Any, Labels], Any]] = {
    **dict.fromkeys(PANDAS_FRAME, _pandas_frame),
    **dict.fromkeys(PANDAS_SERIES, _pandas_series),
    **dict.fromkeys(PANDAS_INDEX, _pandas_index),
    **dict.fromkeys((ARROW_TABLE, ARROW_BATCH), _arrow_table),
    POLARS_FRAME: _polars_frame,
    POLARS_SERIES: _polars_series,
    "numpy.ndarray": _structured_array,
    "builtins.dict": _dict,
    XARRAY_DATASET: _xarray_dataset,
}
