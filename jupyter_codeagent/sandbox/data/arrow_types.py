"""Column types from an Arrow schema of the sandbox: only types whose values are as large as their bytes.

With views and runs a few bytes can claim any length; extension types would run the code that registered them.
Metadata of the schema and its fields are never read. Type numbers: Schema.fbs, ``union Type``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.data.flatbuffer import MalformedError, Table
from jupyter_codeagent.sandbox.data.rejection import rejecting_errors
from jupyter_codeagent.sandbox.data.zones import is_zone
from jupyter_codeagent.types.errors import RejectedDataError

MAX_COLUMNS = 20_000
MAX_FIELDS = 50_000
"""Limit for columns and the parts of nested ones: a flatbuffer can use one part in many places."""
MAX_DEPTH = 20
MAX_ZONE_BYTES = 64
CLAIMING = {
    14: "union",
    22: "run_end_encoded",
    23: "binary_view",
    24: "string_view",
    25: "list_view",
    26: "large_list_view",
}
UNITS = ("s", "ms", "us", "ns")
TYPE_TEXTS = {
    "double": "float64",
    "float": "float32",
    "string": "text",
    "large_string": "text",
    "date32[day]": "date",
}


@dataclass(frozen=True, kw_only=True)
class Dictionary:
    """The encoding of a column whose values are numbers of entries in a dictionary."""

    number: int
    index: Any
    """`pyarrow.DataType` of the numbers."""
    is_ordered: bool


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column, or a part of one."""

    name: str
    type: Any
    """`pyarrow.DataType`; the type of the entries where there is a dictionary."""
    is_nullable: bool
    parts: tuple[Column, ...] = ()
    dictionary: Dictionary | None = None

    @property
    def whole_type(self) -> Any:
        """`pyarrow.DataType` of the column."""
        if self.dictionary is None:
            return self.type
        return _arrow("dictionary", self.dictionary.index, self.type, self.dictionary.is_ordered)

    @property
    def type_text(self) -> str:
        """Name of the type for people: ``int64``, ``text``, ``category``."""
        if self.dictionary is not None:
            return "category"
        return TYPE_TEXTS.get(name := str(self.type), name)


def read_columns(schema: Table) -> tuple[Column, ...]:
    """Read the columns of a schema message.

    Raises
    ------
    RejectedDataError
    """
    with rejecting_errors("Arrow data from the sandbox has a malformed schema"):
        count = schema.vector(1, 4)[1]
        if count > MAX_COLUMNS:
            raise RejectedDataError(
                f"A frame of {count:,} columns came out of the sandbox; the limit is {MAX_COLUMNS:,}."
            )
        reader = _Reader(names_left_bytes=len(schema.data), fields_left=MAX_FIELDS)
        return tuple(reader.column(one, 0) for one in schema.tables(1))


@dataclass
class _Reader:
    """Reads columns and counts them, since offsets may lead to the same place again and again."""

    names_left_bytes: int
    fields_left: int

    def column(self, described: Table, depth: int) -> Column:
        self.fields_left -= 1
        if depth > MAX_DEPTH:
            raise RejectedDataError(f"A column that is nested deeper than {MAX_DEPTH} came out of the sandbox.")
        if self.fields_left < 0:
            raise RejectedDataError(f"A frame with more than {MAX_FIELDS:,} fields came out of the sandbox.")
        parts = tuple(self.column(part, depth + 1) for part in described.tables(5))
        encoding = described.table(4)
        if encoding is not None and depth:
            raise RejectedDataError("A column with a dictionary inside came out of the sandbox.")
        return Column(
            name=self._name(described) if depth else "",  # the frame's description has the names of columns
            type=_type(described, parts),
            is_nullable=bool(described.number(1, "b")),
            parts=parts,
            dictionary=None if encoding is None else _dictionary(encoding),
        )

    def _name(self, described: Table) -> str:
        name = described.text(0, self.names_left_bytes) or b""
        self.names_left_bytes -= len(name)
        return name.decode("utf-8")


def _dictionary(encoding: Table) -> Dictionary:
    index = encoding.table(1)
    return Dictionary(
        number=encoding.number(0, "q"),
        index=_integer(index, ()) if index is not None else _arrow("int32"),
        is_ordered=bool(encoding.number(2, "b")),
    )


def _type(described: Table, parts: tuple[Column, ...]) -> Any:
    number, kind = described.number(2, "b"), described.table(3)
    if number in CLAIMING:
        raise RejectedDataError(
            f"A column of type {CLAIMING[number]} came out of the sandbox; it can claim any length."
        )
    if number not in TYPES or kind is None:
        raise MalformedError(f"type {number}")
    read, part_count = TYPES[number]
    if part_count is not None and len(parts) != part_count:
        raise MalformedError(f"{len(parts)} parts of type {number}")
    return read(kind, parts)


def _arrow(name: str, *parameters: Any) -> Any:
    import pyarrow as pa

    return getattr(pa, name)(*parameters)


def _field(part: Column) -> Any:
    return _arrow("field", part.name, part.type, part.is_nullable)


def _plain(name: str) -> Callable[[Table, tuple[Column, ...]], Any]:
    return lambda _kind, _parts: _arrow(name)


def _integer(kind: Table, _parts: tuple[Column, ...]) -> Any:
    bits = _one_of((8, 16, 32, 64), kind.number(0, "i"))
    return _arrow(f"{'' if kind.number(1, 'b') else 'u'}int{bits}")


def _float(kind: Table, _parts: tuple[Column, ...]) -> Any:
    return _arrow(_at(("float16", "float32", "float64"), kind.number(0, "h")))


def _decimal(kind: Table, _parts: tuple[Column, ...]) -> Any:
    precision, scale, bits = kind.number(0, "i"), kind.number(1, "i"), kind.number(2, "i", 128)
    if not 0 <= scale <= precision:  # else one value could have a text of gigabytes
        raise MalformedError(f"a decimal of precision {precision} and scale {scale}")
    return _arrow(f"decimal{_one_of((32, 64, 128, 256), bits)}", precision, scale)


def _date(kind: Table, _parts: tuple[Column, ...]) -> Any:
    return _arrow(_at(("date32", "date64"), kind.number(0, "h", 1)))


def _time(kind: Table, _parts: tuple[Column, ...]) -> Any:
    unit, bits = _at(UNITS, kind.number(0, "h", 1)), kind.number(1, "i", 32)
    return _arrow(f"time{_one_of((32, 64), bits)}", unit)


def _timestamp(kind: Table, _parts: tuple[Column, ...]) -> Any:
    unit, zone = _at(UNITS, kind.number(0, "h")), (kind.text(1, MAX_ZONE_BYTES) or b"").decode("utf-8")
    if zone and not is_zone(zone):
        raise RejectedDataError(f"A column with the time zone {zone[:40]!r} came out of the sandbox.")
    return _arrow("timestamp", unit, zone or None)


def _interval(kind: Table, _parts: tuple[Column, ...]) -> Any:
    _one_of((2,), kind.number(0, "h"))
    return _arrow("month_day_nano_interval")


def _duration(kind: Table, _parts: tuple[Column, ...]) -> Any:
    return _arrow("duration", _at(UNITS, kind.number(0, "h", 1)))


def _binary(kind: Table, _parts: tuple[Column, ...]) -> Any:
    return _arrow("binary", _not_negative(kind.number(0, "i")))


def _list(name: str) -> Callable[[Table, tuple[Column, ...]], Any]:
    return lambda _kind, parts: _arrow(name, _field(parts[0]))


def _fixed_list(kind: Table, parts: tuple[Column, ...]) -> Any:
    return _arrow("list_", _field(parts[0]), _not_negative(kind.number(0, "i")))


def _struct(_kind: Table, parts: tuple[Column, ...]) -> Any:
    return _arrow("struct", [_field(part) for part in parts])


def _map(kind: Table, parts: tuple[Column, ...]) -> Any:
    key, item = parts[0].parts
    return _arrow("map_", _field(key), _field(item), bool(kind.number(0, "b")))


def _one_of(allowed: tuple[int, ...], value: int) -> int:
    if value not in allowed:
        raise MalformedError(f"{value} in place of one of {allowed}")
    return value


def _at(names: tuple[str, ...], number: int) -> str:
    return names[_one_of(tuple(range(len(names))), number)]


def _not_negative(value: int) -> int:
    if value < 0:
        raise MalformedError(f"a width of {value}")
    return value


TYPES: dict[int, tuple[Callable[[Table, tuple[Column, ...]], Any], int | None]] = {
    1: (_plain("null"), 0),
    2: (_integer, 0),
    3: (_float, 0),
    4: (_plain("binary"), 0),
    5: (_plain("string"), 0),
    6: (_plain("bool_"), 0),
    7: (_decimal, 0),
    8: (_date, 0),
    9: (_time, 0),
    10: (_timestamp, 0),
    11: (_interval, 0),
    12: (_list("list_"), 1),
    13: (_struct, None),
    15: (_binary, 0),
    16: (_fixed_list, 1),
    17: (_map, 1),
    18: (_duration, 0),
    19: (_plain("large_binary"), 0),
    20: (_plain("large_string"), 0),
    21: (_list("large_list"), 1),
}
"""How to read each type, and how many parts it has; any number where None."""
