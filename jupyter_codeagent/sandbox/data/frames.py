"""Frames from an Arrow stream and their description by `guest.frames`, each checked against the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.pandas_columns import build_column, claims_cells, is_text
from jupyter_codeagent.sandbox.data.plain import decode
from jupyter_codeagent.sandbox.data.stream import MAX_ROWS
from jupyter_codeagent.types.errors import RejectedDataError

PANDAS_FORMS = ("frame", "series", "index")
MAX_CLAIMED_CELLS = 5_000_000
"""Limit for cells of object columns, over a whole frame."""
MAX_FREQ_ROWS = 5_000
"""Limit for rows of an index whose frequency pandas neither computes at once nor recognizes from the rows."""
MAX_STEPS = 100
"""Limit for different steps from row to row: no frequency has as many, with summer time and all months."""


@dataclass(frozen=True, kw_only=True)
class FrameDescription:
    """What an Arrow table does not tell about a frame; checked against the table."""

    form: str
    rows: int
    labels: tuple[Any, ...]
    tags: tuple[str, ...] = ()
    column_names: tuple[Any, ...] = (None,)
    many_column_levels: bool = False
    range: tuple[int, int, int] | None = None
    index_names: tuple[Any, ...] = (None,)
    freq: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def levels(self) -> int:
        """How many columns of the table, the last ones, belong to the index."""
        return len(self.index_names) if self.form in PANDAS_FORMS and self.range is None else 0


def read_frame_description(meta: Any) -> FrameDescription:
    """Read a description; raise ValueError or TypeError for what `guest.frames` would not have written."""
    if not isinstance(meta, dict):
        raise TypeError("the description is not an object")
    span = meta.get("range")
    return FrameDescription(
        form=_text(meta.get("form")),
        rows=_whole(meta.get("rows")),
        labels=tuple(_hashable(decode(label, 0, [])) for label in _items(meta.get("labels"))),
        tags=tuple(_text(tag) for tag in _items(meta.get("tags", []))),
        column_names=_names(meta.get("column_names", [None])),
        many_column_levels=meta.get("many_column_levels") is True,
        range=None if span is None else _three(span),
        index_names=_names(meta.get("index_names", [None])),
        freq=None if meta.get("freq") is None else _text(meta["freq"])[:20],
        notes=tuple(_text(note)[:200] for note in _items(meta.get("notes", []))[:20]),
    )


def check_description(description: FrameDescription, rows: int, columns: int) -> None:
    """Raise RejectedDataError where the description does not fit a table of this size."""
    tags = columns if description.form in PANDAS_FORMS else len(description.tags)
    if len(description.tags) != tags or len(description.labels) + description.levels != columns:
        raise RejectedDataError("A frame from the sandbox has another number of columns than its description.")
    if (columns and description.rows != rows) or description.rows > MAX_ROWS:
        raise RejectedDataError("A frame from the sandbox has another number of rows than its description.")


def build_pandas(table: Any, description: FrameDescription) -> Any:
    """Build the DataFrame, Series or Index.

    This and the other builders raise whatever the library raises for data that do not fit.
    """
    import pandas as pd

    claiming = [
        table.num_rows for at, tag in enumerate(description.tags) if claims_cells(table.column(at).type, tag)
    ]
    if sum(claiming) > MAX_CLAIMED_CELLS:
        raise RejectedDataError(
            f"{sum(claiming):,} objects that are None, True or False came out of the sandbox; the limit is "
            f"{MAX_CLAIMED_CELLS:,}."
        )
    arrays = [build_column(table.column(at).chunk(0), tag) for at, tag in enumerate(description.tags)]
    width = len(description.labels)
    index = _index(arrays[width:], description)
    if description.form == "index":
        return index
    # With its dtype, or pandas inspects each object to find a better one.
    columns = [pd.Series(values, index=index, dtype=values.dtype) for values in arrays[:width]]
    frame = pd.DataFrame(dict(enumerate(columns)), index=index)
    if description.form == "series":
        return frame.iloc[:, 0].rename(description.labels[0])
    if description.labels:
        frame.columns = _columns(description)
    return frame


def build_polars(table: Any, description: FrameDescription) -> Any:
    """Build the polars DataFrame or Series."""
    import polars as pl

    for field in table.schema:
        if not _is_of_polars(field.type):
            raise RejectedDataError(f"A polars frame with a column of {field.type!s:.60} came out of the sandbox.")
    frame = pl.from_arrow(_renamed(table, description))
    return frame if description.form == "polars_frame" or isinstance(frame, pl.Series) else frame.to_series()


def _is_of_polars(kind: Any) -> bool:
    """Check whether polars writes this type; for some others its import panics, or expands a dictionary."""
    import pyarrow as pa

    is_type = pa.types
    if is_type.is_dictionary(kind):
        return is_text(kind.value_type)
    if kind.num_fields:
        is_empty = is_type.is_fixed_size_list(kind) and kind.list_size == 0
        return not is_empty and all(_is_of_polars(kind.field(at).type) for at in range(kind.num_fields))
    numbers = is_type.is_integer(kind) or is_type.is_floating(kind) or is_type.is_decimal128(kind)
    times = is_type.is_timestamp(kind) or is_type.is_duration(kind) or kind in (pa.date32(), pa.time64("ns"))
    others = kind in (pa.null(), pa.bool_(), pa.binary(), pa.large_binary(), pa.struct([]))
    return bool(numbers or times or others or is_text(kind))


def build_arrow(table: Any, description: FrameDescription) -> Any:
    """Build the table, or its only column."""
    renamed = _renamed(table, description)
    return renamed if description.form == "arrow_table" else renamed.column(0).combine_chunks()


def _renamed(table: Any, description: FrameDescription) -> Any:
    return table.rename_columns([_text(label) for label in description.labels])


def _columns(description: FrameDescription) -> Any:
    import pandas as pd

    if description.many_column_levels:
        return pd.MultiIndex.from_tuples(description.labels, names=list(description.column_names))
    return pd.Index(list(description.labels), name=description.column_names[0], tupleize_cols=False)


def _index(levels: Sequence[Any], description: FrameDescription) -> Any:
    import pandas as pd

    if description.range is not None:
        index = pd.RangeIndex(*description.range, name=description.index_names[0])
        if len(index) != description.rows:
            raise RejectedDataError("A frame from the sandbox has another number of rows than its description.")
        return index
    if len(levels) != 1:
        sorted_levels, codes = zip(*map(_level, levels), strict=True)
        return pd.MultiIndex(sorted_levels, codes, names=list(description.index_names), verify_integrity=False)
    index = pd.Index(levels[0], name=description.index_names[0])
    if description.freq and isinstance(index, pd.DatetimeIndex):
        return _with_freq(index, description.freq)
    return index


def _level(values: Any) -> tuple[Any, Any]:
    """Return the different values in order, and the number of each row's value; -1 where it is missing.

    Values are sorted: pandas' own way is a hash table, and numbers that were made to collide in it take hours.
    """
    import numpy as np
    import pandas as pd

    index = pd.Index(values)
    present = np.flatnonzero(~index.isna())
    found = index[present]
    order = found.argsort()
    found = found[order]
    is_first = np.ones(len(found), dtype=bool)
    is_first[1:] = np.asarray(found[1:] != found[:-1], dtype=bool)
    codes = np.full(len(index), -1)
    codes[present[order]] = np.cumsum(is_first) - 1
    return found[is_first], codes


def _with_freq(index: Any, freq: str) -> Any:
    """Return the index with its frequency.

    pandas compares it with the rows that the frequency would give, which for some it creates one by one. To
    recognize a frequency it counts the steps in a hash table, where steps that were made to collide take seconds.
    """
    import numpy as np
    import pandas as pd
    from pandas.tseries.frequencies import to_offset

    if len(np.unique(np.diff(index.asi8))) > MAX_STEPS:
        raise ValueError(f"rows without a frequency are said to have {freq}")
    offset = to_offset(freq)
    recognized = pd.DatetimeIndex(index, freq="infer")
    if recognized.freq == offset:
        return recognized
    if len(index) > MAX_FREQ_ROWS and not isinstance(offset, pd.offsets.Tick | pd.offsets.Day):
        raise ValueError(f"{len(index):,} rows of the frequency {freq}")
    return pd.DatetimeIndex(index, freq=freq)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"not text: {str(value)[:40]}")
    return value


def _hashable(value: Any) -> Any:
    hash(value)
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"not a count: {str(value)[:40]}")
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"not a list: {str(value)[:40]}")
    return value


def _names(value: Any) -> tuple[Any, ...]:
    """Return one name for each level, of which there is at least one."""
    names = tuple(decode(name, 0, []) for name in _items(value))
    if not names:
        raise ValueError("no level has a name")
    return names


def _three(value: Any) -> tuple[int, int, int]:
    start, stop, step = _items(value)
    if not all(type(number) is int and abs(number) < 1 << 62 for number in (start, stop, step)):
        raise ValueError("not a range")
    return start, stop, step
