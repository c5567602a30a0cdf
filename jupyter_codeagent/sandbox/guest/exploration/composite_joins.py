"""Which two or three columns together join two tables, where no single column does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from .composite_keys import are_key, combined, levels_of, places_among, seem_key
from .join_names import MIN_MATCHED, MIN_MATCHED_OTHER_NAME, mean_the_same
from .roles import Column, is_measured
from .search import Search
from .table import SCREEN_ROWS, Table, spread_rows

MAX_COLUMNS = 8
"""Of a table that are combined."""
MAX_REPEATS = 0.1
"""Share of the rows that may repeat a key."""
MIN_LEVELS, MIN_SURE_LEVELS = 3, 20
"""Values of a column that have to be among those of one with another name; with many of them that is no chance."""
MIN_CHARS = 2
"""Single letters stand for anything."""
MAX_PARTNERS = 3
VERSION_SHARE, MIN_VERSION_COLUMNS = 0.8, 3
"""Tables with this part of their columns in common, and so many, are two states of one: all columns would join."""
_UNIT = re.compile(r"\b(?:ns|us|ms|s)\b")
"""In which moments are counted: libraries compare them across units, or the program casts them."""


@dataclass(frozen=True)
class Join:
    """Columns of one table that refer to the keys of another."""

    left: Table
    columns: tuple[str, ...]
    right: Table
    keys: tuple[str, ...]
    partners: int
    """Rows of the left table that find one."""
    repeats: int
    """Rows of the right table that repeat a key: a join multiplies rows."""

    @property
    def matched(self) -> float:
        """Share of the rows that find a partner."""
        return self.partners / self.left.rows


@dataclass(frozen=True)
class Partner:
    """A column of the left table that may mean the same as one of the right."""

    name: str
    is_sure: bool
    """Whether names or many values say so; else others have to."""
    is_named: bool


def find_composite_join(one: Table, other: Table, search: Search) -> Join | None:
    """Return the best join by as few columns as possible; None if there is none, or the time is over.

    Of two tables that have the same keys the later one is on the right.
    """
    shared = len(one.columns.keys() & other.columns.keys())
    if shared >= max(MIN_VERSION_COLUMNS, VERSION_SHARE * min(len(one.columns), len(other.columns))):
        return None
    sides = [Pairing(one, other), Pairing(other, one)]
    for size in (2, 3):
        joins = [join for side in sides for join in side.joins(size, search)]
        if joins or search.is_over():
            return max(joins, key=lambda join: (join.repeats == 0, join.matched), default=None)
    return None


class Pairing:
    """Two tables, of which the right one may have the keys; what is read of them is kept."""

    def __init__(self, left: Table, right: Table) -> None:
        self.left = left
        self.right = right
        self.named = {
            key.name: [
                Partner(one.name, True, True)
                for one in _candidates(left)
                if _are_comparable(one, key) and mean_the_same(one, right.name, key)
            ]
            for key in _candidates(right)
        }
        self._read: dict[tuple[str, str], tuple[Any, Any]] = {}
        self._found: dict[str, list[Partner]] = {}

    def joins(self, size: int, search: Search) -> Iterator[Join]:
        """Find joins by so many columns; three have to have the same names."""
        keys = _candidates(self.right)
        named = [key for key in keys if self.named[key.name]][:MAX_COLUMNS]
        others = [key for key in keys if key not in named and key.kind != "number"]
        for columns in combinations([*named, *others[:MAX_COLUMNS]] if size == 2 else named, size):
            if search.is_over():
                return
            if self._may_be_key(columns):
                yield from self._joins_by(columns)

    def _may_be_key(self, columns: tuple[Column, ...]) -> bool:
        """Check on some rows, as most columns are none."""
        present = [self.right.size * (1 - column.missing / self.right.rows) for column in columns]
        if any(column.distinct >= most for column, most in zip(columns, present, strict=True)):
            return False  # a single column suffices
        if math.prod(column.distinct for column in columns) < (1 - MAX_REPEATS) * min(present):
            return False
        return seem_key(self.right, [column.name for column in columns], MAX_REPEATS)

    def _joins_by(self, columns: tuple[Column, ...]) -> Iterator[Join]:
        partners = [self.named[column.name] or self._partners(column) for column in columns]
        pairings = [
            chosen
            for chosen in product(*partners)
            if len({one.name for one in chosen}) == len(chosen) and any(one.is_sure for one in chosen)
        ]
        if not pairings or not are_key(self._codes(columns)[0], MAX_REPEATS):
            return
        for chosen in pairings:
            join = self._match(columns, tuple(one.name for one in chosen))
            is_named = all(one.is_named for one in chosen)
            if join.matched >= (MIN_MATCHED if is_named else MIN_MATCHED_OTHER_NAME):
                yield join

    def _partners(self, key: Column) -> list[Partner]:
        """Return columns of other names, all of whose values, but for few, are among those of the right one."""
        if key.name not in self._found:
            taken = {partner.name for partners in self.named.values() for partner in partners}
            left = [one for one in _candidates(self.left) if one.name not in taken and one.distinct >= MIN_LEVELS]
            left = [one for one in left if _are_comparable(one, key) and one.kind != "number"]
            self._found[key.name] = [
                Partner(one.name, _is_sure(one, levels), False)
                for one in left
                if (levels := self._contained(one, key)) is not None
            ][:MAX_PARTNERS]
        return self._found[key.name]

    def _contained(self, one: Column, key: Column) -> Any:
        """Return the levels of the left column; None where too few rows have one of the right column."""
        codes, levels = levels_of(self.left, one.name, spread_rows(self.left.rows, SCREEN_ROWS))
        found = places_among(levels, self._levels(self.right, key.name)[1]) >= 0
        short = one.kind == "text" and max(map(len, levels), default=0) < MIN_CHARS
        codes = codes[codes >= 0]
        enough = len(codes) and found[codes].mean() >= MIN_MATCHED_OTHER_NAME
        return levels if enough and not short else None

    def _match(self, keys: tuple[Column, ...], columns: tuple[str, ...]) -> Join:
        right_codes, sizes = self._codes(keys)
        theirs = combined(right_codes, sizes)
        theirs = theirs[theirs >= 0]
        known = np.unique(theirs)
        codes = []
        for key, name in zip(keys, columns, strict=True):
            rows, levels = self._levels(self.left, name)
            places = places_among(levels, self._levels(self.right, key.name)[1])
            codes.append(np.append(places, -1)[rows])  # the last one is that of what is missing
        ours = combined(codes, sizes)
        partners = int(np.isin(ours[ours >= 0], known).sum())
        order = sorted(range(len(keys)), key=lambda at: list(self.left.columns).index(columns[at]))
        return Join(
            self.left,
            tuple(columns[at] for at in order),
            self.right,
            tuple(keys[at].name for at in order),
            partners,
            len(theirs) - len(known),
        )

    def _codes(self, keys: tuple[Column, ...]) -> tuple[list[Any], list[int]]:
        read = [self._levels(self.right, key.name) for key in keys]
        return [codes for codes, _ in read], [len(levels) for _, levels in read]

    def _levels(self, table: Table, name: str) -> tuple[Any, Any]:
        if (table.name, name) not in self._read:
            self._read[table.name, name] = levels_of(table, name, None)
        return self._read[table.name, name]


def _candidates(table: Table) -> list[Column]:
    """Return the columns that may be part of a key, measured numbers last."""
    columns = [
        column
        for column in table.columns.values()
        if column.name not in table.left_out
        and column.distinct > 1
        and (column.kind in ("text", "date") or (column.kind == "number" and column.whole))
    ]
    return sorted(columns, key=lambda column: (is_measured(column), -column.distinct))


def _are_comparable(one: Column, key: Column) -> bool:
    """Check that a join may compare the values: dates with dates of the same time zone, no text with numbers."""
    if one.kind == "number":
        return key.kind == "number"
    is_plain = one.kind == "text" and not (one.stored + key.stored).count("category[")
    return one.kind == key.kind and (is_plain or _UNIT.sub("", one.stored) == _UNIT.sub("", key.stored))


def _is_sure(one: Column, levels: Any) -> bool:
    """Check for so many texts or times of day that all of them are not among others by chance, as days are."""
    return len(levels) >= MIN_SURE_LEVELS and (one.kind == "text" or bool((levels % 1).any()))
