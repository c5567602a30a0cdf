"""Texts that are the same but for how they are written: values of one column, keys of two tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from .composite_keys import places_among
from .join_names import MIN_MATCHED, MIN_MATCHED_OTHER_NAME
from .joins import KeyReader, Keys
from .roles import Column
from .search import Search
from .table import Table
from .texts import stand_for_values

MAX_VALUES = 200_000
"""Different texts of a column that are compared."""
MIN_COMPARED = 10
"""Rows of a level from which on it is compared with others."""
MIN_NEAR = 3
MIN_NEAR_SHARE = 0.001
MIN_UNIQUE = 0.5
MIN_NAME_CHARS = 3
_SEPARATORS = re.compile(r"[\s_./-]+")
_DIGITS = re.compile(r"\d+")


def find_spellings(table: Table, search: Search) -> None:
    """Find values of a column that differ by case or by blanks around them only."""
    for column in table.used:
        if search.is_over():
            return
        if column.kind == "text" and column.role in ("category", "text") and _repeats(column, table):
            _find_spellings_of(table, column.name, search)


def _repeats(column: Column, table: Table) -> bool:
    return column.distinct <= min(MAX_VALUES, _present(column, table) / 2)


def _present(column: Column, table: Table) -> float:
    """Return how many of the rows looked at have a value, by the share of all rows."""
    return table.size * (1 - column.missing / table.rows)


def _find_spellings_of(table: Table, name: str, search: Search) -> None:
    levels = table.levels(name)[1]
    if len({_folded(level) for level in levels}) == len(levels):
        return
    codes, levels = table.source.codes(name, None) if table.sampled else table.levels(name)
    counts = np.bincount(codes[codes >= 0], minlength=len(levels))
    usual: dict[str, int] = {}
    others: list[tuple[int, int]] = []
    for place in np.argsort(-counts, kind="stable"):
        if counts[place]:  # categories of pandas may have no row
            first = usual.setdefault(_folded(levels[place]), int(place))
            others += [(int(place), first)] if first != place else []
    visible = [pair for pair in others if levels[pair[0]].strip() != levels[pair[1]].strip()]
    if others:
        rows = int(sum(counts[place] for place, _ in others))
        search.add(
            "spelling",
            (name,),
            rows / table.rows,
            0.0,
            n=int(counts.sum()),
            count=rows,
            spelling=levels[visible[0][0]].strip() if visible else None,
            usual=levels[visible[0][1]].strip() if visible else None,
        )
        if max(counts[place] for place, _ in others) >= MIN_COMPARED:
            # Else *Crema* would be compared with *CREMA*: a difference that is gone once the spellings are merged.
            table.hide(name)


def _folded(text: str) -> str:
    return text.strip().lower()


@dataclass(frozen=True)
class Side:
    """A column of a table that may have keys."""

    table: Table
    column: Column
    unique: float
    """Share of its rows that different values would suffice for."""


def find_key_spellings(tables: list[Table], reader: KeyReader, search: Search) -> None:
    """Find rows of which the key stands in another table but for case, blanks, dashes, dots and slashes."""
    for one, other in combinations(tables, 2):
        best: tuple[int, Side, Side] | None = None
        for pair in product(_sides(one), _sides(other)):
            if search.is_over():
                return
            left, right = sorted(pair, key=lambda side: side.unique)  # of two alike the later table is on the right
            near = _count_near(left, right, reader) if right.unique >= MIN_UNIQUE else 0
            if near and (best is None or near > best[0]):
                best = near, left, right
        if best is not None:
            _add(*best, search)


def _add(near: int, left: Side, right: Side, search: Search) -> None:
    search.table = left.table.name
    names, rows = (left.column.name, right.column.name), left.table.rows
    tables = {"left": left.table.name, "right": right.table.name}
    search.add("key_spelling", names, near / rows, 0.0, n=rows, count=near, **tables)


def _sides(table: Table) -> list[Side]:
    columns = [
        column
        for column in table.columns.values()
        if column.name not in table.left_out and column.kind == "text" and 3 <= column.distinct <= MAX_VALUES
    ]
    return [Side(table, column, column.distinct / max(_present(column, table), 1)) for column in columns]


def _count_near(left: Side, right: Side, reader: KeyReader) -> int:
    """Return how many rows of the left table find no key, but would in another spelling; 0 if keys do not fit."""
    ours, theirs = (reader.read(side.table, side.column.name) for side in (left, right))
    if max(len(ours.values), len(theirs.values)) > MAX_VALUES:
        return 0
    lacking = places_among(ours.values, theirs.values) < 0
    rows = int(ours.counts.sum())
    matched = rows - int(ours.counts[lacking].sum())
    if rows - matched < max(MIN_NEAR, MIN_NEAR_SHARE * rows) or _are_values(ours, theirs):
        return 0
    numbers: dict[str, set[tuple[str, ...]]] = {}
    for key in theirs.values:
        numbers.setdefault(plain(key), set()).add(tuple(_DIGITS.findall(key)))
    near = 0
    for key, count in zip(ours.values[lacking], ours.counts[lacking], strict=True):
        spelled = plain(key)
        if spelled and spelled in numbers:
            if numbers[spelled] != {tuple(_DIGITS.findall(key))}:
                return 0  # 1-23 may be another thing than 12-3
            near += int(count)
    least = MIN_MATCHED if _are_named_alike(left.column.name, right.column.name) else MIN_MATCHED_OTHER_NAME
    fits = matched + near >= least * rows
    return near if fits and near >= max(MIN_NEAR, MIN_NEAR_SHARE * rows) else 0


def _are_values(*sides: Keys) -> bool:
    return any(stand_for_values(list(side.values[:100])) for side in sides)


def _are_named_alike(name: str, other: str) -> bool:
    """Check for ``customer`` and ``Customer ID``."""
    short, long = sorted((plain(name), plain(other)), key=len)
    return len(short) >= MIN_NAME_CHARS and short in long


def plain(text: Any) -> str:
    """Return a text without case, blanks, dashes, dots and slashes, as the program of the finding compares it."""
    return _SEPARATORS.sub("", str(text).lower())
