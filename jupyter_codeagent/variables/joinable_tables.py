"""Read the columns of tables in bounded samples, to find out which of them join: pandas, polars and pyarrow."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

from jupyter_codeagent.variables.columns import column_name
from jupyter_codeagent.variables.introspection import type_path
from jupyter_codeagent.variables.text import looks_personal
from jupyter_codeagent.variables.type_names import ARROW_TABLE, GEOPANDAS_FRAME, PANDAS_FRAME, POLARS_FRAME

MAX_COLUMNS = 100
"""Columns of one table that are considered."""
SAMPLE_ROWS = 2000
KEY_ROWS = 50_000
"""Tables with more rows are not read as a whole, so that none of their columns is known to be a key."""
MAX_SAMPLED = 120
"""Columns that are sampled, all tables together."""
MAX_READ = 24
"""Columns that are read as a whole, all tables together."""

MAX_REPEATED_SHARE = 0.2
"""Rows of a key's column that may repeat an earlier one."""

Kind = Literal["int", "float", "str", "date"]
_KINDS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("int", re.compile(r"u?int\d")),
    ("float", re.compile(r"float|double|halffloat")),
    ("date", re.compile(r"date|timestamp")),
    ("str", re.compile(r"object|str|large_str|utf8|categor|enum|dictionary")),
)
ID_WORDS = frozenset(
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
_PANDAS_FRAMES = (*PANDAS_FRAME, GEOPANDAS_FRAME)
_SPLIT = re.compile(r"[^a-z0-9]+")


@dataclass
class ReadCount:
    """Columns read so far. Limits by count, not by time, give the same result for the same tables."""

    sampled: int = 0
    whole: int = 0


class JoinColumn:
    """One column of a table; values are read when they are needed, and once."""

    def __init__(
        self, label: object, dtype: str, rows: int, read: Callable[[list[int] | None], list[Any]], reads: ReadCount
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
        """Whether the name says that it identifies something: ``tail_no``, ``customerId``, ``zip``."""
        last = self.words[-1] if self.words else ""
        return last in ID_WORDS or bool(_GLUED_ID.fullmatch(last) and last not in _NO_IDS)

    @property
    def is_bare_id(self) -> bool:
        """Whether the name is ``id`` alone: most tables have one, unrelated to those of others."""
        return len(self.words) == 1 and self.words[0] in ID_WORDS

    def _values(self, positions: list[int] | None) -> list[Any]:
        try:
            return _plain(self._read(positions), self.kind)
        except Exception:  # noqa: BLE001 - columns may have any type of any library: one that cannot be read joins nothing
            return []

    @cached_property
    def sample(self) -> list[Any]:
        """Values by row, None where one is missing; empty where their type is never a key."""
        if self.rows <= SAMPLE_ROWS:
            return self.all
        self._reads.sampled += 1
        if self._reads.sampled > MAX_SAMPLED:
            return []
        return self._values(_positions(self.rows))

    @cached_property
    def all(self) -> list[Any]:
        """Like `sample`, for all rows; empty for a table that is too long."""
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
        """Distinct values of the sample."""
        return frozenset(value for value in self.sample if value is not None)

    @cached_property
    def keys(self) -> frozenset[Any]:
        """All values if each occurs in one row only, else empty."""
        return self.distinct_of_all if self.repeats == 0 else frozenset()

    @cached_property
    def repeated_keys(self) -> frozenset[Any]:
        """All values if most occur in one row only, as where some customers stand twice; else empty."""
        return self.distinct_of_all if self.repeats is not None else frozenset()

    @cached_property
    def distinct_of_all(self) -> frozenset[Any]:
        """Distinct values of the whole column."""
        return frozenset(value for value in self.all if value is not None)

    @cached_property
    def repeats(self) -> int | None:
        """Rows whose value stands in another row before; None where these are too many for a key."""
        if _repeats(self.sample) is None:
            return None  # a sample usually shows it, so that few columns are read as a whole
        return _repeats(self.all)


@dataclass
class JoinTable:
    """A table with the columns that may join another."""

    name: str
    rows: int
    columns: list[JoinColumn]
    by_name: dict[str, JoinColumn] = field(init=False)
    """Normalised name -> the first column that has it."""
    words: frozenset[str] = field(init=False)
    """Words of the variable's name, in singular: ``customer`` for ``df_customers``."""

    def __post_init__(self) -> None:
        self.by_name = {column.normal: column for column in reversed(self.columns)}
        words = _SPLIT.split(_CAMEL.sub(r"\1_\2", self.name).lower())
        self.words = frozenset({"".join(words), *words} | {_singular(word) for word in words})


def find_table(name: str, value: Any, reads: ReadCount) -> JoinTable | None:
    """Return a table of a known library; None for other values, and for tables without a column that may join."""
    columns = _columns_of(value, reads)
    return JoinTable(name, int(value.shape[0]), columns) if columns else None


def _columns_of(value: Any, reads: ReadCount) -> list[JoinColumn]:
    kind = type_path(type(value))
    if kind in _PANDAS_FRAMES:
        labels = [
            (label, str(dtype)) for label, dtype in zip(value.columns[:MAX_COLUMNS], value.dtypes, strict=False)
        ]
        readers: list[Callable[[list[int] | None], list[Any]]] = [
            _pandas_reader(value, at) for at in range(len(labels))
        ]
    elif kind == POLARS_FRAME:
        labels = [(label, str(dtype)) for label, dtype in value.schema.items()][:MAX_COLUMNS]
        readers = [_polars_reader(value, label) for label, _ in labels]
    elif kind == ARROW_TABLE:
        labels = [(one.name, str(one.type)) for one in value.schema][:MAX_COLUMNS]
        readers = [_arrow_reader(value, at) for at in range(len(labels))]
    else:
        return []
    rows = int(value.shape[0])
    columns = [
        JoinColumn(label, dtype, rows, read, reads)
        for (label, dtype), read in zip(labels, readers, strict=True)
        if isinstance(label, str) and not looks_personal(label)
    ]
    names = [column.name for column in columns]
    return [column for column in columns if column.kind is not None and names.count(column.name) == 1]


def _pandas_reader(frame: Any, at: int) -> Callable[[list[int] | None], list[Any]]:
    def read(positions: list[int] | None) -> list[Any]:
        column = frame.iloc[:, at]
        taken = column if positions is None else column.iloc[positions]
        missing = taken.isna()
        values: list[Any] = taken.tolist()
        return [None if is_missing else value for value, is_missing in zip(values, missing.tolist(), strict=True)]

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
    """Return the same random rows for all columns of a table: pairs stay together, and no period is missed."""
    return sorted(random.Random(rows).sample(range(rows), SAMPLE_ROWS))  # noqa: S311


def _plain(values: list[Any], kind: Kind | None) -> list[Any]:
    """Return values of exactly the types that keys have: comparing others could run the user's code."""
    types = {type(value) for value in values} - {type(None)}
    if types <= {str} or types <= {int} or (kind == "date" and len(types) == 1):
        return values
    if types == {float} and all(value is None or value.is_integer() for value in values):
        return [None if value is None else int(value) for value in values]
    return []


def _repeats(values: Sequence[Any]) -> int | None:
    present = [value for value in values if value is not None]
    repeats = len(present) - len(set(present))
    return repeats if len(present) > 1 and repeats <= MAX_REPEATED_SHARE * len(present) else None


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")
