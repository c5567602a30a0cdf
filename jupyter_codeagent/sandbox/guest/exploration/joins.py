"""Which columns join two tables, how many rows find a partner, and which keys are repeated."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .composite_joins import Join, find_composite_join
from .composite_keys import levels_of, places_among
from .join_names import MIN_MATCHED, MIN_MATCHED_OTHER_NAME, is_reference, names_the_same
from .roles import Column, is_code_name, is_key_name
from .search import Search
from .table import Table

MIN_UNIQUE = 0.5
MAX_PER_PAIR = 4


@dataclass(frozen=True)
class Keys:
    """The values of a column that may be a key, over all rows."""

    values: Any
    """Different ones, sorted."""
    counts: Any


class KeyReader:
    """Keys of columns, each read once."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Keys] = {}

    def read(self, table: Table, name: str) -> Keys:
        """Return the different values of a column and how often each occurs."""
        if (table.name, name) not in self.kept:
            self.kept[table.name, name] = _read(table, name)
        return self.kept[table.name, name]


def _read(table: Table, name: str) -> Keys:
    codes, values = levels_of(table, name, None)
    return Keys(values, np.bincount(codes[codes >= 0], minlength=len(values)))


def find_joins(tables: list[Table], reader: KeyReader, search: Search) -> None:
    """Find columns of different tables of which those of one identify rows that those of the other refer to."""
    for one, other in combinations(tables, 2):
        found = [
            *_single(reader, one, other, tables, search),
            *_single(reader, other, one, tables, search),
        ]
        if not any(join.repeats == 0 for join in found) and not search.is_over():
            together = find_composite_join(one, other, search)
            found = found if together is None else [together]  # the others would multiply rows
        for join in found:
            _add(join, search)


def _single(reader: KeyReader, left: Table, right: Table, tables: list[Table], search: Search) -> list[Join]:
    """Return the joins by one column of which the right side is the key, the best first."""
    found: list[tuple[float, Join]] = []
    for a in _candidates(left):
        for b in _candidates(right):
            if search.is_over():
                return []
            if _may_join(a, right, b) and _leads(left, a, right, b, tables):
                found += _match(reader, (left, a), (right, b))
    found.sort(key=lambda ranked: -ranked[0])
    return [join for _, join in found[:MAX_PER_PAIR]]


def _candidates(table: Table) -> list[Column]:
    return [
        column
        for column in table.columns.values()
        if column.name not in table.left_out
        and (column.kind == "text" or (column.kind == "number" and column.whole))
        and column.distinct >= 3
        and not column.part
    ]


def _may_join(a: Column, right: Table, b: Column) -> bool:
    """Check that the right column may identify rows, and that the names or the texts make a relation likely."""
    if a.kind != b.kind or b.distinct < MIN_UNIQUE * max(1, right.size - _missing(right, b)):
        return False
    if a.kind == "text":
        return True
    is_named_so = is_key_name(a.name) or is_code_name(a.name)
    same = a.name == b.name and (is_named_so or b.role == "identifier")
    return same or is_reference(a.name, right.name, b.name) or names_the_same(a.name, right.name, b.name)


def _missing(table: Table, column: Column) -> int:
    return int(column.missing * table.size / max(table.rows, 1))


def _leads(left: Table, a: Column, right: Table, b: Column, tables: list[Table]) -> bool:
    """Check that the right side is the one with the more unique values; of two alike the later table."""
    ours = a.distinct / max(1, left.size - _missing(left, a))
    theirs = b.distinct / max(1, right.size - _missing(right, b))
    return theirs > ours or (theirs == ours and tables.index(left) < tables.index(right))


def _match(reader: KeyReader, left: tuple[Table, Column], right: tuple[Table, Column]) -> list[tuple[float, Join]]:
    ours, theirs = reader.read(left[0], left[1].name), reader.read(right[0], right[1].name)
    if not len(ours.values) or not len(theirs.values):
        return []
    partners = int(ours.counts[places_among(ours.values, theirs.values) >= 0].sum())
    matched = float(partners / ours.counts.sum())
    same_name = left[1].name.lower() == right[1].name.lower() or left[1].kind == "number"
    unique = len(theirs.values) >= 0.9 * theirs.counts.sum()
    if matched < (MIN_MATCHED if same_name else MIN_MATCHED_OTHER_NAME) or not (same_name or unique):
        return []
    repeats = int((theirs.counts - 1).sum())
    join = Join(left[0], (left[1].name,), right[0], (right[1].name,), partners, repeats)
    return [(matched + same_name, join)]


def _add(join: Join, search: Search) -> None:
    search.table = join.left.name
    search.add(
        "join",
        (*join.columns, *join.keys),
        join.matched,
        0.0,
        n=join.left.rows,
        left=join.left.name,
        right=join.right.name,
        matched=join.matched,
        right_unique=join.repeats == 0,
        repeats=join.repeats,
    )
