"""Which levels of the index of a pandas frame are looked at as columns. Used on both sides, without pandas."""

from __future__ import annotations

from typing import Any

UNNAMED = "date"
"""What an index of dates or periods without a name is called."""


def index_columns(frame: Any) -> tuple[str, ...]:
    """Return the names of the levels: of an index that has names, or of times; none where a column has one of them.

    Whatever has no index has none.
    """
    index: Any = getattr(frame, "index", None)
    columns: Any = getattr(frame, "columns", None)
    names = tuple(getattr(index, "names", ()))
    if not hasattr(columns, "nlevels") or columns.nlevels > 1 or type(columns).__name__ == "CategoricalIndex":
        return ()  # polars, a Series, or labels that another cannot stand beside
    if names == (None,) and type(index).__name__ in ("DatetimeIndex", "PeriodIndex"):
        names = (UNNAMED,)
    usable = all(type(name) is str and name not in columns for name in names) and len({*names}) == len(names)
    return names if usable else ()
