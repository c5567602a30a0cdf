"""Which columns join which tables: pandas, polars and pyarrow, from names, types and a bounded sample of values.

Precision before recall: a join that is none leads a model to wrong code, one that is not told it may still guess.
Values are looked at here and nowhere told; under the privacy mode `schema` they are not even looked at.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations
from typing import Any, Literal

from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.columns import column_name
from jupyter_codeagent.variables.render import column_label
from jupyter_codeagent.variables.text import looks_personal

MAX_RELATIONS = 6
MAX_TABLES = 8
MAX_COLUMNS = 100
"""Of one table; further ones are not looked at."""
SAMPLE_ROWS = 2000
KEY_ROWS = 50_000
"""Tables with more rows are not read as a whole, so that none of their columns is known to be a key."""
MAX_SAMPLED = 120
"""Columns that are sampled, all tables together."""
MAX_READ = 24
"""Columns that are read as a whole, all tables together."""
MIN_KEYS = 5
"""Distinct values that a key needs where names do not agree: three letters are soon contained in something."""
MIN_FOUND = 3
SAME_NAME_SHARE = 0.6
"""Of the sampled distinct values that must be among the keys, where the names agree, …"""
OTHER_NAME_SHARE = 0.9
"""… and where they do not."""
COMPOSITE_SHARE = 0.8
VERSION_SHARE = 0.8
"""Tables with so many column names in common are two states of one table: everything in them would join."""
MIN_VERSION_COLUMNS = 3

Kind = Literal["int", "float", "str", "date"]
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("int", re.compile(r"u?int\d")),
    ("float", re.compile(r"float|double|halffloat")),
    ("date", re.compile(r"date|timestamp")),
    ("str", re.compile(r"object|str|large_str|utf8|categor|enum|dictionary")),
)
_ID_WORDS = frozenset(
    ("id", "ids", "key", "code", "no", "nr", "num", "number", "sku", "ean", "isbn", "uuid", "guid", "zip")
)
_GLUED_ID = re.compile(r"[a-z]{3,}id")
_NO_IDS = frozenset(
    (
        "paid",
        "unpaid",
        "prepaid",
        "humid",
        "void",
        "valid",
        "invalid",
        "solid",
        "covid",
        "grid",
        "rapid",
        "liquid",
        "bid",
        "mid",
    )
)
_CAMEL = re.compile(r"([a-z0-9])([A-Z])")
_SPLIT = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, kw_only=True)
class Relation:
    """Columns of one table that hold the keys of another; labels are as `ColumnSummary.name` has them."""

    table: str
    columns: tuple[str, ...]
    key_table: str
    key_columns: tuple[str, ...]

    def is_among(self, summaries: Mapping[str, VariableSummary]) -> bool:
        """Whether all its columns are among those that may be told."""
        sides = ((self.table, self.columns), (self.key_table, self.key_columns))
        return all(
            table in summaries and {column.name for column in summaries[table].columns}.issuperset(columns)
            for table, columns in sides
        )

    def __str__(self) -> str:
        return f"{_side(self.table, self.columns)} = {_side(self.key_table, self.key_columns)}"


def joins_line(relations: Sequence[Relation]) -> str:
    """``tables join on: flights.carrier = airlines.carrier; …``; empty without relations."""
    return f"tables join on: {'; '.join(map(str, relations))}" if relations else ""


def find_relations(tables: Mapping[str, Any], *, look_at_values: bool) -> tuple[Relation, ...]:
    """Up to `MAX_RELATIONS` between the first `MAX_TABLES` tables, the surest first. On the main thread.

    `tables` has the user's variables in the order of telling; what is no table is passed over. Bounded in rows,
    columns and tables; columns that look personal are left out.
    """
    reads = _Reads()
    known: list[_Table] = []
    for name, value in tables.items():
        columns = _columns_of(value, reads)
        if columns:
            known.append(_Table(name, _rows_of(value), columns))
        if len(known) == MAX_TABLES:
            break
    found: list[tuple[int, Relation]] = []
    for one, other in combinations(known, 2):
        if _is_version(one, other):
            continue
        between = _by_values(one, other) if look_at_values else _by_names(one, other)
        found += list(between)
    return tuple(relation for _, relation in sorted(found, key=lambda pair: pair[0]))[:MAX_RELATIONS]


# --- tables and their columns -----------------------------------------------------------------------------------


@dataclass
class _Reads:
    """What was read so far: limits that do not depend on the clock, so that the same tables give the same line."""

    sampled: int = 0
    whole: int = 0


class _Column:
    """One column of a table; nothing is read before it is asked for, and nothing twice."""

    def __init__(
        self, label: object, dtype: str, rows: int, read: Callable[[list[int] | None], list[Any]], reads: _Reads
    ) -> None:
        self.name = column_name(label)
        self.words = tuple(word for word in _SPLIT.split(_CAMEL.sub(r"\1_\2", str(label)).lower()) if word)
        self.normal = "".join(self.words)
        self.kind: Kind | None = next((kind for kind, pattern in _KINDS if pattern.match(dtype.lower())), None)
        self.rows = rows
        self._read = read
        self._reads = reads

    @property
    def is_id(self) -> bool:
        """Whether its name says that it identifies something: ``tail_no``, ``customerId``, ``zip``."""
        last = self.words[-1] if self.words else ""
        return last in _ID_WORDS or bool(_GLUED_ID.fullmatch(last) and last not in _NO_IDS)

    @property
    def is_bare_id(self) -> bool:
        """``id`` alone: every table has one, and they say nothing about each other."""
        return len(self.words) == 1 and self.words[0] in _ID_WORDS

    def _values(self, positions: list[int] | None) -> list[Any]:
        try:
            return _plain(self._read(positions), self.kind)
        except Exception:  # noqa: BLE001 - a column type of whatever library: one that cannot be read joins nothing
            return []

    @cached_property
    def sample(self) -> list[Any]:
        """By row, None where a value is missing; empty where values are of no kind that joins."""
        if self.rows <= SAMPLE_ROWS:
            return self.all
        self._reads.sampled += 1
        if self._reads.sampled > MAX_SAMPLED:
            return []
        return self._values(_positions(self.rows))

    @cached_property
    def all(self) -> list[Any]:
        """As `sample`, of all rows; empty for a table that is too long."""
        if self.rows > KEY_ROWS:
            return []
        if self.rows > SAMPLE_ROWS:
            self._reads.whole += 1
        else:
            self._reads.sampled += 1
        if self._reads.whole > MAX_READ or self._reads.sampled > MAX_SAMPLED:
            return []
        return self._values(None)

    @cached_property
    def distinct(self) -> frozenset[Any]:
        return frozenset(value for value in self.sample if value is not None)

    @cached_property
    def keys(self) -> frozenset[Any]:
        """All values if each stands in one row only, else empty."""
        if not _is_unique(self.sample) or not _is_unique(self.all):
            return frozenset()
        return frozenset(value for value in self.all if value is not None)


@dataclass
class _Table:
    name: str
    rows: int
    columns: list[_Column]
    by_name: dict[str, _Column] = field(init=False)
    """Normalised name -> the first such column."""
    words: frozenset[str] = field(init=False)
    """Of the variable's name, in singular: ``customer`` for ``df_customers``."""

    def __post_init__(self) -> None:
        self.by_name = {column.normal: column for column in reversed(self.columns)}
        words = _SPLIT.split(_CAMEL.sub(r"\1_\2", self.name).lower())
        self.words = frozenset({"".join(words), *words} | {_singular(word) for word in words})


def _columns_of(value: Any, reads: _Reads) -> list[_Column]:
    """Of a table of a known library, which is known by its type's name; nothing is imported."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind in PANDAS:
        labels = [
            (label, str(dtype)) for label, dtype in zip(value.columns[:MAX_COLUMNS], value.dtypes, strict=False)
        ]
        readers: list[Callable[[list[int] | None], list[Any]]] = [
            _pandas_reader(value, at) for at in range(len(labels))
        ]
    elif kind == "polars.dataframe.frame.DataFrame":
        labels = [(label, str(dtype)) for label, dtype in value.schema.items()][:MAX_COLUMNS]
        readers = [_polars_reader(value, label) for label, _ in labels]
    elif kind == "pyarrow.lib.Table":
        labels = [(one.name, str(one.type)) for one in value.schema][:MAX_COLUMNS]
        readers = [_arrow_reader(value, at) for at in range(len(labels))]
    else:
        return []
    rows = _rows_of(value)
    columns = [
        _Column(label, dtype, rows, read, reads)
        for (label, dtype), read in zip(labels, readers, strict=True)
        if isinstance(label, str) and not looks_personal(label)
    ]
    names = [column.name for column in columns]
    return [column for column in columns if column.kind is not None and names.count(column.name) == 1]


PANDAS = ("pandas.DataFrame", "pandas.core.frame.DataFrame", "geopandas.geodataframe.GeoDataFrame")


def _rows_of(value: Any) -> int:
    return int(value.shape[0])


def _pandas_reader(frame: Any, at: int) -> Callable[[list[int] | None], list[Any]]:
    def read(positions: list[int] | None) -> list[Any]:
        column = frame.iloc[:, at]
        chosen = column if positions is None else column.iloc[positions]
        missing = chosen.isna()
        values: list[Any] = chosen.tolist()
        return [None if gone else value for value, gone in zip(values, missing.tolist(), strict=True)]

    return read


def _polars_reader(frame: Any, label: str) -> Callable[[list[int] | None], list[Any]]:
    def read(positions: list[int] | None) -> list[Any]:
        column = frame.get_column(label)
        values: list[Any] = (column if positions is None else column.gather(positions)).to_list()
        return values

    return read


def _arrow_reader(table: Any, at: int) -> Callable[[list[int] | None], list[Any]]:
    def read(positions: list[int] | None) -> list[Any]:
        column = table.column(at)
        values: list[Any] = (column if positions is None else column.take(positions)).to_pylist()
        return values

    return read


@cache
def _positions(rows: int) -> list[int]:
    """The same for all columns of a table, so that rows stay together; by chance, so that no period hides."""
    return sorted(random.Random(rows).sample(range(rows), SAMPLE_ROWS))  # noqa: S311


def _plain(values: list[Any], kind: Kind | None) -> list[Any]:
    """Values of exactly the types that a key has: to compare others could run code of the user's."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {str} or types <= {int} or (kind == "date" and len(types) == 1):
        return values
    if types == {float} and all(value is None or value.is_integer() for value in values):
        return [None if value is None else int(value) for value in values]
    return []


def _is_unique(values: Sequence[Any]) -> bool:
    present = [value for value in values if value is not None]
    return len(present) > 1 and len(set(present)) == len(present)


# --- relations of two tables --------------------------------------------------------------------------------------


def _by_names(one: _Table, other: _Table) -> Iterator[tuple[int, Relation]]:
    """Without values, what names of identifiers say: ``sales.store_id = stores.store_id``, or ``stores.id``."""
    for column in one.columns:
        same = other.by_name.get(column.normal)
        if same is not None and _compatible(column, same) and column.is_id and not column.is_bare_id:
            yield 0, _relation(one, (column,), other, (same,))
    for table, keys in ((one, other), (other, one)):
        for column in table.columns:
            key = _referred(column, keys)
            if key is not None:
                yield 1, _relation(table, (column,), keys, (key,))


def _by_values(one: _Table, other: _Table) -> list[tuple[int, Relation]]:
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
            if key is not None and _share(column, key) >= COMPOSITE_SHARE:
                found.append((1, _relation(table, (column,), keys, (key,))))
    told = {
        (relation.table, name) for _, relation in found for name in relation.columns if len(relation.columns) == 1
    }
    told |= {(relation.key_table, name) for _, relation in found for name in relation.key_columns}
    for table, keys in ((one, other), (other, one)):
        found += [(3, relation) for relation in _by_contents(table, keys, told)]
    return found


def _either_way(one: _Table, column: _Column, other: _Table, same: _Column) -> Relation | None:
    """The side whose values are unique is the key; the other's are looked for in it."""
    sides = [(one, column, other, same), (other, same, one, column)]
    if other.rows > one.rows:
        sides.reverse()  # the longer table refers to the shorter one
    for table, referring, keys, key in sides:
        if _share(referring, key) >= SAME_NAME_SHARE:
            return _relation(table, (referring,), keys, (key,))
    return None


def _composite(one: _Table, other: _Table) -> list[tuple[int, Relation]]:
    """Two columns that are a key together, as (station, hour); one of them at least is no plain number."""
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


def _pairs_found(first: tuple[_Column, _Column], second: tuple[_Column, _Column]) -> float:
    """Share of the sampled distinct pairs of the one table that are in the other, where they are a key; else 0."""
    if not _unique_pairs(first[1].sample, second[1].sample):
        return 0.0  # told from a sample mostly, so that few columns are read as a whole
    keys = _unique_pairs(first[1].all, second[1].all)
    pairs = {pair for pair in zip(first[0].sample, second[0].sample, strict=False) if None not in pair}
    return len(pairs & keys) / len(pairs) if len(pairs) >= MIN_KEYS else 0.0


def _unique_pairs(first: Sequence[Any], second: Sequence[Any]) -> set[tuple[Any, Any]]:
    """The pairs if each stands in one row only, and neither column is constant; else empty."""
    if len(first) != len(second) or len(first) < MIN_KEYS:
        return set()
    pairs = set(zip(first, second, strict=True))
    return pairs if len(pairs) == len(first) and len(set(first)) > 1 and len(set(second)) > 1 else set()


def _by_contents(table: _Table, keys: _Table, told: set[tuple[str, str]]) -> Iterator[Relation]:
    """Texts under another name: ``flights.dest = airports.faa``. Numbers agree by chance, so never those."""
    candidates = [column for column in keys.columns if column.kind == "str" and len(column.keys) >= MIN_KEYS]
    for column in table.columns:
        if not candidates or column.kind != "str" or (table.name, column.name) in told:
            continue
        found = column.distinct
        if len(found) < MIN_FOUND or max(map(len, map(str, found))) < 2:
            continue
        shares = [(_share(column, key), key) for key in candidates if key.normal != column.normal]
        best = max(shares, key=lambda pair: pair[0], default=None)
        if best is not None and best[0] >= OTHER_NAME_SHARE:
            yield _relation(table, (column,), keys, (best[1],))


def _share(column: _Column, key: _Column) -> float:
    """Of the sampled distinct values, those that are among the keys; 0 where `key` is none."""
    found = column.distinct
    return len(found & key.keys) / len(found) if found else 0.0


def _referred(column: _Column, keys: _Table) -> _Column | None:
    """``customer_id`` refers to the column ``id`` of a table named ``customers``."""
    if len(column.words) < 2 or column.words[-1] not in _ID_WORDS or "".join(column.words[:-1]) not in keys.words:
        return None
    key = keys.by_name.get(column.words[-1])
    return key if key is not None and _compatible(column, key) else None


def _may_join_alone(column: _Column) -> bool:
    """Numbers only by the name of an identifier, and not by ``id`` alone: row numbers agree by chance."""
    if column.kind in ("int", "float"):
        return column.is_id and not column.is_bare_id
    return True


def _compatible(one: _Column, other: _Column) -> bool:
    numbers = ("int", "float")  # an identifier with missing values is a float in pandas
    return one.kind == other.kind or (one.kind in numbers and other.kind in numbers)


def _is_version(one: _Table, other: _Table) -> bool:
    shared = one.by_name.keys() & other.by_name.keys()
    smaller = min(len(one.by_name), len(other.by_name))
    return len(shared) >= MIN_VERSION_COLUMNS and len(shared) >= VERSION_SHARE * smaller


def _relation(table: _Table, columns: Sequence[_Column], keys: _Table, key_columns: Sequence[_Column]) -> Relation:
    return Relation(
        table=table.name,
        columns=tuple(column.name for column in columns),
        key_table=keys.name,
        key_columns=tuple(column.name for column in key_columns),
    )


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def _side(table: str, columns: Sequence[str]) -> str:
    labels = [column_label(name) for name in columns]
    if len(labels) > 1:
        return f"{table}.({', '.join(labels)})"
    return f"{table}.{labels[0]}" if labels[0] != columns[0] else f"{table}[{labels[0]}]"
