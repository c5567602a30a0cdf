"""Find columns of text in the user's values, in any library or container, to search them for values.

Frames and series of pandas and polars, tables of Arrow, variables of xarray, and plain containers: a dict of lists,
a list of dicts. Labels of a pandas frame are a column, too, where their axis has a name: in a pivot table they are
values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from jupyter_codeagent.variables.introspection import lookup_by_type
from jupyter_codeagent.variables.type_names import (
    ARROW_BATCH,
    ARROW_TABLE,
    PANDAS_FRAME,
    PANDAS_INDEX,
    PANDAS_SERIES,
    POLARS_FRAME,
    POLARS_SERIES,
    XARRAY_ARRAY,
    XARRAY_DATASET,
)

SAMPLED_ROWS = 2000
MAX_SAMPLE = 200
"""Distinct values of a sample."""
MAX_ITEMS = 1_000_000
"""Items of a list that are searched; further ones are not."""
MAX_KEYS = 100
"""Keys of a dict that is searched; one with more is no table."""


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """One column or index level, read lazily."""

    label: object
    first: Callable[[int], Iterable[Any]]
    """(count) -> that many values from the start."""
    among: Callable[[Collection[str]], Iterable[Any]]
    """(values) -> those of them that the column has."""
    starting: Callable[[Collection[str], int], Iterable[Any]]
    """(starts, chars) -> the column's values whose first `chars` characters are among `starts`."""

    def sample(self) -> list[str]:
        """Return up to `MAX_SAMPLE` distinct texts from the first `SAMPLED_ROWS` rows."""
        texts = (value for value in self.first(SAMPLED_ROWS) if isinstance(value, str))
        return list(islice(dict.fromkeys(texts), MAX_SAMPLE))


def text_columns(value: Any) -> Iterator[TextColumn]:
    """Yield the columns of text of a variable; none for unknown types."""
    columns = lookup_by_type(value, _KINDS)
    if columns is not None:
        yield from columns(value)


# --- pandas and polars --------------------------------------------------------------------------------


def _of_pandas_frame(frame: Any) -> Iterator[TextColumn]:
    yield from _of_pandas((label, frame.iloc[:, at]) for at, label in enumerate(frame.columns))
    for axis in (frame.index, frame.columns):
        yield from _of_levels(axis)


def _of_pandas_series(series: Any) -> Iterator[TextColumn]:
    yield from _of_pandas([(series.name, series)])
    yield from _of_levels(series.index)


def _of_levels(axis: Any) -> Iterator[TextColumn]:
    """Yield the values of each level, including those that no row has."""
    levels = axis.levels if axis.nlevels > 1 else [axis]
    return _of_pandas((name, level.to_series()) for name, level in zip(axis.names, levels, strict=True) if name)


def _of_pandas(columns: Iterable[tuple[object, Any]]) -> Iterator[TextColumn]:
    from pandas.api.types import is_object_dtype, is_string_dtype

    for label, column in columns:
        texts = column.cat.categories.to_series() if str(column.dtype) == "category" else column
        if is_object_dtype(texts.dtype) or is_string_dtype(texts.dtype):
            yield TextColumn(
                label=label,
                first=partial(_first_pandas, texts),
                among=partial(_among_pandas, texts),
                starting=partial(_starting_pandas, texts),
            )


def _first_pandas(column: Any, rows: int) -> Iterable[Any]:
    found: list[Any] = column.head(rows).dropna().tolist()
    return found


def _among_pandas(column: Any, values: Collection[str]) -> Iterable[Any]:
    try:
        found: Iterable[Any] = column[column.isin(values)].unique()
    except TypeError:  # lists or dicts among the texts are not hashable
        return _among_items(column, values)
    return found


def _starting_pandas(column: Any, starts: Collection[str], chars: int) -> Iterable[Any]:
    if str(column.dtype) == "object":
        return _starting_items(column, starts, chars)
    found: Iterable[Any] = column[column.str[:chars].isin(starts)]
    return found


def _of_polars(columns: Iterable[Any]) -> Iterator[TextColumn]:
    import polars as pl

    for column in columns:
        if column.dtype == pl.Enum:
            yield _of_items(column.name, column.dtype.categories.to_list())
        elif column.dtype in (pl.String, pl.Categorical):
            yield TextColumn(
                label=column.name,
                first=partial(_first_polars, column),
                among=partial(_among_polars, column),
                starting=partial(_starting_polars, column),
            )


def _first_polars(column: Any, rows: int) -> Iterable[Any]:
    found: list[Any] = column.head(rows).drop_nulls().to_list()
    return found


def _among_polars(column: Any, values: Collection[str]) -> Iterable[Any]:
    import polars as pl

    texts = column.cast(pl.String)
    found: list[Any] = texts.filter(texts.is_in(list(values))).unique().to_list()
    return found


def _starting_polars(column: Any, starts: Collection[str], chars: int) -> Iterable[Any]:
    import polars as pl

    texts = column.cast(pl.String)
    found: list[Any] = texts.filter(texts.str.slice(0, chars).is_in(list(starts))).to_list()
    return found


# --- Arrow and xarray ---------------------------------------------------------------------------------


def _of_arrow(table: Any) -> Iterator[TextColumn]:
    import pyarrow as pa

    for field, column in zip(table.schema, table.columns, strict=True):
        chunks = getattr(column, "chunks", [column])
        if pa.types.is_dictionary(field.type) and _is_text(field.type.value_type):
            yield _of_items(field.name, [one for chunk in chunks for one in chunk.dictionary.to_pylist()])
        elif _is_text(field.type):
            yield TextColumn(
                label=field.name,
                first=partial(_first_arrow, column),
                among=partial(_among_arrow, column),
                starting=partial(_starting_arrow, column),
            )


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _first_arrow(column: Any, rows: int) -> Iterable[Any]:
    found: list[Any] = column.slice(0, rows).to_pylist()
    return found


def _among_arrow(column: Any, values: Collection[str]) -> Iterable[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.large_string())
    found: list[Any] = texts.filter(pc.is_in(texts, pa.array(list(values), pa.large_string()))).unique().to_pylist()
    return found


def _starting_arrow(column: Any, starts: Collection[str], chars: int) -> Iterable[Any]:
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.large_string())
    begins = pc.utf8_slice_codeunits(texts, 0, chars)
    found: list[Any] = texts.filter(pc.is_in(begins, pa.array(list(starts), pa.large_string()))).to_pylist()
    return found


def _of_xarray(data: Any) -> Iterator[TextColumn]:
    variables = getattr(data, "variables", None)
    named = dict(data.coords) if variables is None else dict(variables)
    if variables is None:
        named[data.name] = data
    for label, variable in named.items():
        if variable.dtype.kind in "UO" and variable.size <= MAX_ITEMS:
            yield _of_items(label, variable.values.ravel().tolist())


# --- plain containers ---------------------------------------------------------------------------------


def _of_dict(mapping: Mapping[Any, Any]) -> Iterator[TextColumn]:
    for label, items in islice(mapping.items(), MAX_KEYS):
        if type(items) in (list, tuple) and items and isinstance(items[0], str):
            yield _of_items(label, items)
        elif type(items) is str:
            yield _of_items(label, [items])


def _of_list(items: Sequence[Any]) -> Iterator[TextColumn]:
    """Yield the values of a list of records, by the keys of the first record."""
    if not items or type(items[0]) is not dict:
        return
    for label in islice(items[0], MAX_KEYS):
        yield _of_items(label, [one.get(label) for one in items[:MAX_ITEMS] if type(one) is dict])


def _of_items(label: object, items: Sequence[Any]) -> TextColumn:
    return TextColumn(
        label=label,
        first=partial(islice, items),
        among=partial(_among_items, items),
        starting=partial(_starting_items, items),
    )


def _among_items(items: Iterable[Any], values: Collection[str]) -> list[str]:
    wanted = frozenset(values)
    return [one for one in islice(items, MAX_ITEMS) if isinstance(one, str) and one in wanted]


def _starting_items(items: Iterable[Any], starts: Collection[str], chars: int) -> list[str]:
    wanted = frozenset(starts)
    return [one for one in islice(items, MAX_ITEMS) if isinstance(one, str) and one[:chars] in wanted]


_KINDS: dict[str, Callable[[Any], Iterator[TextColumn]]] = {
    **dict.fromkeys(PANDAS_FRAME, _of_pandas_frame),
    **dict.fromkeys(PANDAS_SERIES, _of_pandas_series),
    **dict.fromkeys(PANDAS_INDEX, _of_levels),
    POLARS_FRAME: lambda frame: _of_polars(frame.get_columns()),
    POLARS_SERIES: lambda series: _of_polars([series]),
    **dict.fromkeys((ARROW_TABLE, ARROW_BATCH), _of_arrow),
    **dict.fromkeys((XARRAY_DATASET, XARRAY_ARRAY), _of_xarray),
    "builtins.dict": _of_dict,
    "builtins.list": _of_list,
}
