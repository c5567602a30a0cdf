"""What a table is: its columns with their roles, its keys, its repeated rows, the dates that it covers."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .composite_keys import are_key, levels_of, seem_key
from .roles import is_measured
from .table import Table

MAX_KEYS = 2
MAX_KEY_COLUMNS = 8


def describe(table: Table, repeated_rows: int) -> dict[str, Any]:
    """Return the overview of a table as plain values."""
    columns = [
        {
            "name": column.name,
            "type": column.stored,
            "role": column.role,
            "missing": column.missing,
            "distinct": column.distinct,
            "infinite": column.infinite,
        }
        for column in table.columns.values()
    ]
    return {
        "table": table.name,
        "library": table.source.library,
        "rows": table.rows,
        "columns": columns,
        "labels": table.labels,
        "labelled": table.source.labelled,
        "index": list(table.source.levels),
        "keys": find_keys(table) if table.rows > 1 else [],
        "repeated_rows": repeated_rows,
        "dates": _dates(table),
        "sampled": table.sampled,
    }


def find_keys(table: Table) -> list[list[str]]:
    """Return up to two columns, or else pairs of columns, that tell all rows apart."""
    candidates = [
        column
        for column in table.columns.values()
        if column.missing == 0 and column.distinct > 1 and (column.whole or column.kind in ("text", "date"))
    ]
    single = [[one.name] for one in candidates if one.distinct == table.size and not is_measured(one)]
    single.sort(key=lambda names: table.columns[names[0]].role != "identifier")
    if single:
        return single[:MAX_KEYS]
    candidates.sort(key=lambda column: (is_measured(column), -column.distinct))
    keys: list[list[str]] = []
    for first, second in combinations(candidates[:MAX_KEY_COLUMNS], 2):
        possible = first.distinct * second.distinct >= table.size
        if possible and len(keys) < MAX_KEYS and _tell_apart(table, [first.name, second.name]):
            keys.append([first.name, second.name])
    return keys


def _tell_apart(table: Table, names: list[str]) -> bool:
    return seem_key(table, names) and are_key([levels_of(table, name, None)[0] for name in names])


def _dates(table: Table) -> dict[str, str] | None:
    if not table.time or table.columns[table.time].part:
        return None
    days = table.numbers(table.time)
    days = days[~np.isnan(days)]
    return {"column": table.time, "first": iso_day(float(days.min())), "last": iso_day(float(days.max()))}


def iso_day(days: float) -> str:
    """Return days since 1970 as an ISO date."""
    return str(np.datetime64(int(np.floor(days)), "D"))
