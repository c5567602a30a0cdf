"""Find the columns by which tables join, from names, types and a bounded sample of values.

Precision before recall: a wrong join leads a model to wrong code, a missing one it may still guess. Values are
read, but never part of the prompt; under the privacy mode `schema` they are not even read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.detail_levels import column_label
from jupyter_codeagent.variables.joinable_tables import ID_WORDS, JoinColumn, JoinTable, ReadCount, find_table

MAX_RELATIONS = 6
MAX_TABLES = 8
MIN_KEYS = 5
"""Distinct values that a key needs where names differ: a few short values occur in any column by chance."""
MIN_FOUND = 3
SAME_NAME_SHARE = 0.6
"""Share of the sampled distinct values that must be among the keys, where the names agree, …"""
OTHER_NAME_SHARE = 0.9
"""… and where they differ."""
COMPOSITE_SHARE = 0.8
VERSION_SHARE = 0.8
"""Tables that share this part of their column names are two states of one table: every column would join."""
MIN_VERSION_COLUMNS = 3


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Columns of one table that hold the keys of another; labels are as `ColumnSummary.name` has them."""

    table: str
    columns: tuple[str, ...]
    key_table: str
    key_columns: tuple[str, ...]
    repeats: int = 0
    """Rows of the key's table that repeat a key: a join would multiply rows."""

    def is_among(self, summaries: Mapping[str, VariableSummary]) -> bool:
        """Check that the summaries have all columns of the relation."""
        sides = ((self.table, self.columns), (self.key_table, self.key_columns))
        return all(
            table in summaries and {column.name for column in summaries[table].columns}.issuperset(columns)
            for table, columns in sides
        )

    def __str__(self) -> str:
        repeated = f" ({self.repeats} repeated: drop_duplicates first)" if self.repeats else ""
        return f"{_side(self.table, self.columns)} = {_side(self.key_table, self.key_columns)}{repeated}"


def joins_line(relations: Sequence[Relation]) -> str:
    """Return ``tables join on: flights.carrier = airlines.carrier; …``; empty without relations."""
    return f"tables join on: {'; '.join(map(str, relations))}" if relations else ""


def find_relations(tables: Mapping[str, Any], *, read_values: bool) -> tuple[Relation, ...]:
    """Return up to `MAX_RELATIONS` between the first `MAX_TABLES` tables, the surest first. On the main thread.

    `tables` has the user's variables in the order of the prompt; values that are no tables are skipped. Bounded in
    rows, columns and tables; columns that look personal are left out.
    """
    reads = ReadCount()
    candidates = (find_table(name, value, reads) for name, value in tables.items())
    known = list(islice((table for table in candidates if table is not None), MAX_TABLES))
    found: list[tuple[int, Relation]] = []
    for one, other in combinations(known, 2):
        if _is_version(one, other):
            continue
        between = _by_values(one, other) if read_values else _by_names(one, other)
        found += list(between)
    return tuple(relation for _, relation in sorted(found, key=lambda pair: pair[0]))[:MAX_RELATIONS]


def _by_names(one: JoinTable, other: JoinTable) -> Iterator[tuple[int, Relation]]:
    """Find joins by names of identifiers alone: ``sales.store_id = stores.store_id``, or ``= stores.id``."""
    for column in one.columns:
        same = other.by_name.get(column.normal)
        if same is not None and _compatible(column, same) and column.is_id and not column.is_bare_id:
            yield 0, _relation(one, (column,), other, (same,))
    for table, keys in ((one, other), (other, one)):
        for column in table.columns:
            key = _referred(column, keys)
            if key is not None:
                yield 1, _relation(table, (column,), keys, (key,))


def _by_values(one: JoinTable, other: JoinTable) -> list[tuple[int, Relation]]:
    found: list[tuple[int, Relation]] = []
    for column in one.columns:
        same = other.by_name.get(column.normal)
        if same is not None and _compatible(column, same) and _may_join_alone(column):
            relation = _either_way(one, column, other, same)
            if relation is not None:
                found.append((0, relation))
    if not found:
        found += _composite(one, other)
    for table, keys in ((one, other), (other, one)):
        for column in table.columns:
            key = _referred(column, keys)
            if key is not None and _share(column, key.repeated_keys) >= COMPOSITE_SHARE:
                found.append((1, _relation(table, (column,), keys, (key,))))
    joined = {
        (relation.table, name) for _, relation in found for name in relation.columns if len(relation.columns) == 1
    }
    joined |= {(relation.key_table, name) for _, relation in found for name in relation.key_columns}
    for table, keys in ((one, other), (other, one)):
        found += [(3, relation) for relation in _by_contents(table, keys, joined)]
    return found


def _either_way(one: JoinTable, column: JoinColumn, other: JoinTable, same: JoinColumn) -> Relation | None:
    """Find a join in either direction: the side with unique values is the key, and has the values of the other."""
    sides = [(one, column, other, same), (other, same, one, column)]
    if other.rows > one.rows:
        sides.reverse()  # the longer table refers to the shorter one
    for table, referring, keys, key in sides:
        if _share(referring, key.keys) >= SAME_NAME_SHARE:
            return _relation(table, (referring,), keys, (key,))
    table, referring, keys, key = sides[0]
    if _share(referring, key.repeated_keys) >= SAME_NAME_SHARE and len(key.repeated_keys) >= MIN_KEYS:
        return _relation(table, (referring,), keys, (key,))
    return None


def _composite(one: JoinTable, other: JoinTable) -> list[tuple[int, Relation]]:
    """Find two columns that are a key together, as (station, hour); at least one of them is no plain number."""
    shared = [
        (column, other.by_name[column.normal])
        for column in one.columns
        if column.normal in other.by_name and _compatible(column, other.by_name[column.normal])
    ]
    sides = [(one, other, shared), (other, one, [(there, here) for here, there in shared])]
    if other.rows > one.rows:
        sides.reverse()
    for table, keys, pairs in sides:
        for first, second in combinations(pairs, 2):
            if all(column.kind in ("int", "float") and not column.is_id for column in (first[0], second[0])):
                continue
            if _pairs_found(first, second) >= COMPOSITE_SHARE:
                columns, key_columns = (first[0], second[0]), (first[1], second[1])
                return [(2, _relation(table, columns, keys, key_columns))]
    return []


def _pairs_found(first: tuple[JoinColumn, JoinColumn], second: tuple[JoinColumn, JoinColumn]) -> float:
    """Return the share of sampled distinct pairs that are in the other table; 0 where its pairs are no key."""
    if not _unique_pairs(first[1].sample, second[1].sample):
        return 0.0  # a sample usually shows it, so that few columns are read as a whole
    keys = _unique_pairs(first[1].all, second[1].all)
    pairs = {pair for pair in zip(first[0].sample, second[0].sample, strict=False) if None not in pair}
    return len(pairs & keys) / len(pairs) if len(pairs) >= MIN_KEYS else 0.0


def _unique_pairs(first: Sequence[Any], second: Sequence[Any]) -> set[tuple[Any, Any]]:
    """Return the pairs if each occurs in one row only, and neither column is constant; else nothing."""
    if len(first) != len(second) or len(first) < MIN_KEYS:
        return set()
    pairs = set(zip(first, second, strict=True))
    return pairs if len(pairs) == len(first) and len(set(first)) > 1 and len(set(second)) > 1 else set()


def _by_contents(table: JoinTable, keys: JoinTable, joined: set[tuple[str, str]]) -> Iterator[Relation]:
    """Find joins of texts with different names: ``flights.dest = airports.faa``; numbers agree by chance."""
    candidates = [column for column in keys.columns if column.kind == "str" and len(column.keys) >= MIN_KEYS]
    for column in table.columns:
        if not candidates or column.kind != "str" or (table.name, column.name) in joined:
            continue
        found = column.distinct
        if len(found) < MIN_FOUND or max(map(len, map(str, found))) < 2:
            continue
        shares = [(_share(column, key.keys), key) for key in candidates if key.normal != column.normal]
        best = max(shares, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= OTHER_NAME_SHARE:
            yield _relation(table, (column,), keys, (best[1],))


def _share(column: JoinColumn, keys: frozenset[Any]) -> float:
    """Return the share of the sampled distinct values that are among the keys."""
    found = column.distinct
    return len(found & keys) / len(found) if found else 0.0


def _referred(column: JoinColumn, keys: JoinTable) -> JoinColumn | None:
    """Return the column ``id`` of a table named ``customers`` for ``customer_id``; None if there is none.

    For ``customer`` it is the only identifier of that table, as ``cust_no``.
    """
    if column.normal in keys.words:
        named = [key for key in keys.columns if key.is_id and _compatible(column, key)]
        return named[0] if len(named) == 1 else None
    if len(column.words) < 2 or column.words[-1] not in ID_WORDS or "".join(column.words[:-1]) not in keys.words:
        return None
    key = keys.by_name.get(column.words[-1])
    return key if key is not None and _compatible(column, key) else None


def _may_join_alone(column: JoinColumn) -> bool:
    """Check a column's name: numbers need that of an identifier, not ``id`` alone, since row numbers agree."""
    if column.kind in ("int", "float"):
        return column.is_id and not column.is_bare_id
    return True


def _compatible(one: JoinColumn, other: JoinColumn) -> bool:
    numbers = ("int", "float")  # an identifier with missing values is a float in pandas
    return one.kind == other.kind or (one.kind in numbers and other.kind in numbers)


def _is_version(one: JoinTable, other: JoinTable) -> bool:
    shared = one.by_name.keys() & other.by_name.keys()
    smaller = min(len(one.by_name), len(other.by_name))
    return len(shared) >= MIN_VERSION_COLUMNS and len(shared) >= VERSION_SHARE * smaller


def _relation(
    table: JoinTable, columns: Sequence[JoinColumn], keys: JoinTable, key_columns: Sequence[JoinColumn]
) -> Relation:
    return Relation(
        table=table.name,
        columns=tuple(column.name for column in columns),
        key_table=keys.name,
        key_columns=tuple(column.name for column in key_columns),
        repeats=(key_columns[0].repeats or 0) if len(key_columns) == 1 else 0,
    )


def _side(table: str, columns: Sequence[str]) -> str:
    labels = [column_label(name) for name in columns]
    if len(labels) > 1:
        return f"{table}.({', '.join(labels)})"
    return f"{table}.{labels[0]}" if labels[0] != columns[0] else f"{table}[{labels[0]}]"
