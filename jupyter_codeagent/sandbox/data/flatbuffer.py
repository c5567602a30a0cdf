"""Tables of a flatbuffer, taken for hostile: no position is read before it is known to lie within the data.

Layout: "FlatBuffer internals". A table begins with the distance back to its vtable, which has the position of each
field; a field that is left out has its default.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

FORMS = {form: struct.Struct(f"<{form}") for form in "bhiqHI"}


class MalformedError(ValueError):
    """It is no flatbuffer, or one that points outside of itself."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `slot` is the number of a field in its schema (`Schema.fbs`, `Message.fbs`)."""

    data: bytes
    at: int

    def has(self, slot: int) -> bool:
        """Whether the field was written."""
        return self._field(slot) != 0

    def number(self, slot: int, form: str, default: int = 0) -> int:
        """A number of the `struct` form ``b``, ``h``, ``i`` or ``q``."""
        at = self._field(slot)
        return _number(self.data, at, form) if at else default

    def table(self, slot: int) -> Table | None:
        at = self._field(slot)
        return Table(self.data, _follow(self.data, at)) if at else None

    def text(self, slot: int, max_bytes: int) -> bytes | None:
        """The bytes of a string; raises `MalformedError` where it is longer than that."""
        start, count = self.vector(slot, 1)
        if count > max_bytes:
            raise MalformedError(f"a text of {count:,} bytes")
        return self.data[start : start + count] if self.has(slot) else None

    def tables(self, slot: int) -> Iterator[Table]:
        start, count = self.vector(slot, 4)
        for at in range(start, start + 4 * count, 4):
            yield Table(self.data, _follow(self.data, at))

    def structs(self, slot: int, form: str) -> Iterator[tuple[int, ...]]:
        """The items of a vector of structs of that `struct` form."""
        start, count = self.vector(slot, struct.calcsize(form))
        return struct.iter_unpack(form, self.data[start : start + count * struct.calcsize(form)])

    def vector(self, slot: int, item_bytes: int) -> tuple[int, int]:
        """Where its items begin and how many there are; all of them lie within the data."""
        at = self._field(slot)
        if not at:
            return 0, 0
        at = _follow(self.data, at)
        count = _number(self.data, at, "I")
        if at + 4 + count * item_bytes > len(self.data):
            raise MalformedError("a vector ends outside of the data")
        return at + 4, count

    def _field(self, slot: int) -> int:
        """Its position; 0 where it is left out."""
        vtable = self.at - _number(self.data, self.at, "i")
        entry = 4 + 2 * slot
        if entry + 2 > _number(self.data, vtable, "H"):
            return 0
        offset = _number(self.data, vtable + entry, "H")
        return self.at + offset if offset else 0


def root(data: bytes) -> Table:
    return Table(data, _follow(data, 0))


def _follow(data: bytes, at: int) -> int:
    """The position that an offset field points to."""
    return at + _number(data, at, "I")


def _number(data: bytes, at: int, form: str) -> int:
    """Raises `MalformedError`, or `struct.error` for a position behind the data."""
    if at < 0:  # which `struct` would count from the end
        raise MalformedError("a position before the data")
    return int(FORMS[form].unpack_from(data, at)[0])
