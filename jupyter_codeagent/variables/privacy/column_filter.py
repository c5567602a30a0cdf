"""What is left of a value without its hidden columns: the one place where they are taken away.

A value is narrowed before it is described and before it is copied, so that neither can forget it. Nothing is
copied and the user's own object is not changed. Hidden labels are given as ``str(label)``.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from jupyter_codeagent.types.errors import UsageError, VariableError

Labels = frozenset[str]
Found = TypeVar("Found")


class NotNarrowableError(VariableError):
    """Columns of this value cannot be left out without reading or copying it: it is hidden as a whole."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column, index level, field or key as a person finds it in a list."""

    label: str
    dtype: str


def visible(value: Any, hidden: Labels) -> Any:
    """The value without the columns, index levels, fields or keys of these labels; itself if it has none of them.

    Raises
    ------
    NotNarrowableError
        For a kind of value that has no columns to leave out, or none that can be left out.
    """
    if not hidden:
        return value
    narrow = known_kind(value, _NARROW)
    if narrow is None:
        raise NotNarrowableError(f"columns of a {_type_text(value)} cannot be left out")
    try:
        return narrow(value, hidden)
    except NotNarrowableError:
        raise
    except Exception as problem:  # labels and subclasses are the user's, and may raise anything
        raise NotNarrowableError(
            f"columns of this {_type_text(value)} cannot be left out ({type(problem).__name__})"
        ) from problem


def check_columns(name: str, value: Any, labels: Labels) -> None:
    """Raises UsageError for a label that the value does not have, VariableError if none of it can be hidden."""
    if not labels:
        return
    try:
        visible(value, labels)
    except NotNarrowableError as problem:
        raise VariableError(f"{name!r}: {problem}. `%agent hide {name}` hides it as a whole.") from problem
    known = {column.label for column in columns(value)}
    known |= {str(label[0]) for label in getattr(value, "columns", ()) if isinstance(label, tuple) and label}
    for label in sorted(labels - known):
        near = difflib.get_close_matches(label, known, n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise UsageError(f"{name} has no column {label!r}{hint}")


def columns(value: Any) -> Iterator[Column]:
    """The labels that can be hidden, in their order. Lazy: whoever lists them stops where it is enough."""
    listed = known_kind(value, _COLUMNS)
    return listed(value) if listed is not None else iter(())


def can_be_narrowed(value: object) -> bool:
    """Whether it is a kind of value with columns of its own, not one that stands for another or is made of one."""
    return known_kind(value, _NARROW) is not None


def _type_text(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"


def known_kind(value: object, known: dict[str, Found]) -> Found | None:
    """By the names of the value's types, like `registry.find_describer`: no library is imported for it."""
    for kind in type(value).__mro__:
        if (found := known.get(f"{kind.__module__}.{kind.__qualname__}")) is not None:
            return found
    return None


def _is_hidden(label: Any, hidden: Labels) -> bool:
    """By its own label, or by the top one where columns have several levels."""
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
    # GeoDataFrame has rules of its own for each step: it comes back in the end.
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
    """A subclass may keep what is hidden in attributes of its own."""
    if f"{type(value).__module__}.{type(value).__qualname__}" not in known:
        raise NotNarrowableError(f"columns of a {_type_text(value)} cannot be left out")


def _pandas_index(index: Any, hidden: Labels) -> Any:
    levels = _hidden_levels(index, hidden)
    if not levels:
        return index
    if len(levels) == index.nlevels:
        raise NotNarrowableError("its only column is hidden")
    return index.droplevel(levels)


def _index_of_rows(index: Any, hidden: Labels) -> Any:
    """The same object if nothing of it is hidden; rows are numbered if all of it is."""
    import pandas as pd

    levels = _hidden_levels(index, hidden)
    if not levels:
        return index
    return pd.RangeIndex(len(index)) if len(levels) == index.nlevels else index.droplevel(levels)


def _hidden_levels(index: Any, hidden: Labels) -> list[int]:
    return [at for at, name in enumerate(index.names) if name is not None and _is_hidden(name, hidden)]


def _labels_taken(labels: Any, kept: Sequence[int]) -> Any:
    """An index of labels remembers values that it no longer has: the hidden names would travel with it."""
    taken = labels.take(kept)
    if hasattr(taken, "remove_unused_levels"):
        return taken.remove_unused_levels()
    return taken.remove_unused_categories() if hasattr(taken, "remove_unused_categories") else taken


def _side_by_side(views: Sequence[Any]) -> Any:
    import pandas as pd

    if len(views) == 1:
        return views[0]
    if int(pd.__version__.split(".")[0]) >= 3:
        return pd.concat(views, axis=1)  # copies on write only
    concat: Any = pd.concat
    return concat(views, axis=1, copy=False)


def _with_flags_of(value: Any, result: Any) -> Any:
    """Without attributes: anybody may have put anything there, hidden values and whole frames as well."""
    result.attrs = {}
    result.flags.allows_duplicate_labels = value.flags.allows_duplicate_labels
    return result


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbours as (start, stop): slices of columns are views, lists of columns are copies."""
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
    """A pyarrow Table or RecordBatch, without the metadata of its schema and fields, which may hold anything.

    What pandas needs of it to make the same frame again is kept.
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
    """What pandas wrote about its columns and index, without hidden ones and without attributes of the frame."""
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
        raise NotNarrowableError(f"columns of a {_type_text(array)} without fields cannot be left out")
    kept = [name for name in array.dtype.names if name not in hidden]
    if len(kept) == len(array.dtype.names):
        return array
    # The one copy: the fields of a record lie between each other, a view would carry the hidden bytes along.
    return recfunctions.repack_fields(array[kept])


def _dict(mapping: Any, hidden: Labels) -> Any:
    if type(mapping) is not dict:
        raise NotNarrowableError(f"keys of a {_type_text(mapping)} cannot be left out")
    return _without_keys(mapping, hidden)


def _without_keys(value: Any, hidden: Labels) -> Any:
    """Also of dicts in it, of any depth."""
    if type(value) is dict:
        return {key: _without_keys(one, hidden) for key, one in value.items() if not _is_hidden(key, hidden)}
    if type(value) in (list, tuple):
        return type(value)(_without_keys(one, hidden) for one in value)
    return value


def _xarray_dataset(dataset: Any, hidden: Labels) -> Any:
    """Without attributes and encoding, which may hold anything; dimensions of a hidden name are renamed."""
    gone = [name for name in dataset.variables if _is_hidden(name, hidden)]
    dims = {dim: f"dim_{at}" for at, dim in enumerate(dataset.dims) if _is_hidden(dim, hidden)}
    narrowed = dataset.drop_vars(gone).drop_attrs(deep=True).drop_encoding()
    return narrowed.rename_dims(dims) if dims else narrowed


_PANDAS_FACTS = frozenset({"index_columns", "column_indexes", "columns", "attributes", "creator", "pandas_version"})
_PANDAS_FRAME = ("pandas.DataFrame", "pandas.core.frame.DataFrame")
_PANDAS_SERIES = ("pandas.Series", "pandas.core.series.Series")
_PLAIN_FRAMES = frozenset((*_PANDAS_FRAME, "geopandas.geodataframe.GeoDataFrame"))
_PLAIN_SERIES = frozenset((*_PANDAS_SERIES, "geopandas.geoseries.GeoSeries"))
_PANDAS_INDEX = ("pandas.Index", "pandas.core.indexes.base.Index")
_ARROW = ("pyarrow.lib.Table", "pyarrow.lib.RecordBatch")
_POLARS_FRAME = "polars.dataframe.frame.DataFrame"
_POLARS_SERIES = "polars.series.series.Series"
_XARRAY = "xarray.core.dataset.Dataset"

_NARROW: dict[str, Callable[[Any, Labels], Any]] = {
    **dict.fromkeys(_PANDAS_FRAME, _pandas_frame),
    **dict.fromkeys(_PANDAS_SERIES, _pandas_series),
    **dict.fromkeys(_PANDAS_INDEX, _pandas_index),
    **dict.fromkeys(_ARROW, _arrow_table),
    _POLARS_FRAME: _polars_frame,
    _POLARS_SERIES: _polars_series,
    "numpy.ndarray": _structured_array,
    "builtins.dict": _dict,
    _XARRAY: _xarray_dataset,
}


# --- what there is to hide ------------------------------------------------------------------------


def _levels(index: Any) -> Iterator[Column]:
    dtypes = index.dtypes.tolist() if index.nlevels > 1 else [index.dtype]
    for name, dtype in zip(index.names, dtypes, strict=True):
        if name is not None:
            yield Column(label=str(name), dtype=f"index {dtype}")


def _pandas_frame_columns(frame: Any) -> Iterator[Column]:
    yield from _levels(frame.index)
    texts: dict[int, str] = {}  # thousands of columns share a few types, whose text costs most of all
    for label, dtype in zip(frame.columns, dtypes := frame.dtypes.tolist(), strict=True):
        if id(dtype) not in texts:
            texts[id(dtype)] = str(dtype)
        yield Column(label=str(label), dtype=texts[id(dtype)])
    del dtypes  # until here, so that no other type takes an id


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
            yield Column(label=str(key), dtype=_type_text(value))


def _xarray_columns(dataset: Any) -> Iterator[Column]:
    for name, variable in dataset.variables.items():
        yield Column(label=str(name), dtype=str(variable.dtype))


_COLUMNS: dict[str, Callable[[Any], Iterator[Column]]] = {
    **dict.fromkeys(_PANDAS_FRAME, _pandas_frame_columns),
    **dict.fromkeys(_PANDAS_SERIES, _pandas_series_columns),
    **dict.fromkeys(_PANDAS_INDEX, _levels),
    **dict.fromkeys(_ARROW, _arrow_columns),
    _POLARS_FRAME: _polars_columns,
    "numpy.ndarray": _array_fields,
    "builtins.dict": _keys,
    _XARRAY: _xarray_columns,
}
