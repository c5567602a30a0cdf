"""Which columns join two tables, how many rows find a partner, and which keys are repeated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from .roles import Column, is_key_name
from .search import Search
from .table import Table

MIN_MATCHED = 0.5
MIN_MATCHED_OTHER_NAME = 0.9
MIN_UNIQUE = 0.5
MAX_PER_PAIR = 4
MIN_WORD_CHARS = 2


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
    if table.columns[name].kind == "text":
        codes, levels = table.source.codes(name, None)
        values, counts = np.array(levels, dtype=object), np.bincount(codes[codes >= 0], minlength=len(levels))
        order = np.argsort(values)
        return Keys(values[order], counts[order])
    numbers = table.source.numbers(name, None)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    return Keys(values, counts)


def find_joins(tables: list[Table], search: Search) -> None:
    """Find pairs of columns of different tables of which one identifies rows that the other refers to."""
    reader = KeyReader()
    for left, right in permutations(tables, 2):
        found: list[tuple[float, str, str, Keys, Keys]] = []
        for a in _candidates(left):
            for b in _candidates(right):
                if search.is_over():
                    return
                if _may_join(left, a, right, b) and _leads(left, a, right, b, tables):
                    found += _match(reader, (left, a), (right, b))
        found.sort(key=lambda entry: -entry[0])
        for entry in found[:MAX_PER_PAIR]:
            _add(left, right, entry, search)


def _candidates(table: Table) -> list[Column]:
    return [
        column
        for column in table.columns.values()
        if column.name not in table.left_out
        and (column.kind == "text" or (column.kind == "number" and column.whole))
        and column.distinct >= 3
        and not column.part
    ]


def _may_join(left: Table, a: Column, right: Table, b: Column) -> bool:
    """Check that the right column may identify rows, and that the names or the texts make a relation likely."""
    if a.kind != b.kind or b.distinct < MIN_UNIQUE * max(1, right.size - _missing(right, b)):
        return False
    if a.kind == "text":
        return True
    same = a.name == b.name and (is_key_name(a.name) or b.role == "identifier")
    return same or _is_reference(a.name, right.name, b.name) or _names_the_same(a.name, right.name, b.name)


def _missing(table: Table, column: Column) -> int:
    return int(column.missing * table.size / max(table.rows, 1))


def _is_reference(name: str, table: str, key: str) -> bool:
    """Check for names such as customer_id for the column id of customers."""
    plain = name.lower().replace("_", "")
    owner = table.lower().replace("_", "")
    return any(
        plain == stem + key.lower().replace("_", "") for stem in (owner, owner.rstrip("s"), owner[:-2]) if stem
    )


def _names_the_same(name: str, table: str, key: str) -> bool:
    """Check for ``from_station`` and the key ``station_no`` of ``stations``: both names have the table's word."""
    owner = table.lower().rstrip("s")
    both = owner in re.split(r"[^a-z]+", name.lower()) and owner in re.split(r"[^a-z]+", key.lower())
    return both and len(owner) > MIN_WORD_CHARS


def _leads(left: Table, a: Column, right: Table, b: Column, tables: list[Table]) -> bool:
    """Check that the right side is the one with the more unique values; of two alike the later table."""
    ours = a.distinct / max(1, left.size - _missing(left, a))
    theirs = b.distinct / max(1, right.size - _missing(right, b))
    return theirs > ours or (theirs == ours and tables.index(left) < tables.index(right))


def _match(
    reader: KeyReader, left: tuple[Table, Column], right: tuple[Table, Column]
) -> list[tuple[float, str, str, Keys, Keys]]:
    ours, theirs = reader.read(left[0], left[1].name), reader.read(right[0], right[1].name)
    if not len(ours.values) or not len(theirs.values):
        return []
    matched = float(ours.counts[np.isin(ours.values, theirs.values)].sum() / ours.counts.sum())
    same_name = left[1].name.lower() == right[1].name.lower() or left[1].kind == "number"
    unique = len(theirs.values) >= 0.9 * theirs.counts.sum()
    if matched < (MIN_MATCHED if same_name else MIN_MATCHED_OTHER_NAME) or not (same_name or unique):
        return []
    return [(matched + same_name, left[1].name, right[1].name, ours, theirs)]


def _add(left: Table, right: Table, entry: tuple[float, str, str, Keys, Keys], search: Search) -> None:
    _, a, b, ours, theirs = entry
    repeats = int((theirs.counts - 1).sum())
    partners = int(ours.counts[np.isin(ours.values, theirs.values)].sum())
    search.table = left.name
    search.add(
        "join",
        (a, b),
        partners / left.rows,
        0.0,
        n=left.rows,
        left=left.name,
        right=right.name,
        matched=partners / left.rows,
        right_unique=repeats == 0,
        repeats=repeats,
    )
