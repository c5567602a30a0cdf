"""Tables of a flatbuffer that may be hostile: no position is read before it is known to lie within the data.

Layout: "FlatBuffer internals". A table begins with the distance back to its vtable, which has the position of each
field; a field that is left out has its default value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

FORMS = {form: struct.Struct(f"<{form}") for form in "bhiqHI"}


class MalformedError(ValueError):
    """The data are not a flatbuffer, or one that points outside of itself."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table; `slot` is the number of a field in its schema (`Schema.fbs`, `Message.fbs`)."""

    data: bytes
    at: int

    def has(self, slot: int) -> bool:
        """Check whether the field was written."""
        return self._field(slot) != 0

    def number(self, slot: int, form: str, default: int = 0) -> int:
        """Return a number of the `struct` form ``b``, ``h``, ``i`` or ``q``."""
        at = self._field(slot)
        return _number(self.data, at, form) if at else default

    def table(self, slot: int) -> Table | None:
        """Return the table that a field refers to; None where it is left out."""
        at = self._field(slot)
        return Table(self.data, _follow(self.data, at)) if at else None

    def text(self, slot: int, max_bytes: int) -> bytes | None:
        """Return the bytes of a string; raise `MalformedError` if it is longer than `max_bytes`."""
        start, count = self.vector(slot, 1)
        if count > max_bytes:
            raise MalformedError(f"a text of {count:,} bytes")
        return self.data[start : start + count] if self.has(slot) else None

    def tables(self, slot: int) -> Iterator[Table]:
        """Yield the tables of a vector."""
        start, count = self.vector(slot, 4)
        for at in range(start, start + 4 * count, 4):
            yield Table(self.data, _follow(self.data, at))

    def structs(self, slot: int, form: str) -> Iterator[tuple[int, ...]]:
        """Yield the items of a vector of structs of that `struct` form."""
        start, count = self.vector(slot, struct.calcsize(form))
        return struct.iter_unpack(form, self.data[start : start + count * struct.calcsize(form)])

    def vector(self, slot: int, item_bytes: int) -> tuple[int, int]:
        """Return where the items of a vector begin and how many there are; all of them lie within the data."""
        at = self._field(slot)
        if not at:
            return 0, 0
        at = _follow(self.data, at)
        count = _number(self.data, at, "I")
        if at + 4 + count * item_bytes > len(self.data):
            raise MalformedError("a vector ends outside of the data")
        return at + 4, count

    def _field(self, slot: int) -> int:
        """Return the position of a field; 0 where it is left out."""
        vtable = self.at - _number(self.data, self.at, "i")
        entry = 4 + 2 * slot
        if entry + 2 > _number(self.data, vtable, "H"):
            return 0
        offset = _number(self.data, vtable + entry, "H")
        return self.at + offset if offset else 0


def root(data: bytes) -> Table:
    """Return the root table of a flatbuffer."""
    return Table(data, _follow(data, 0))


def _follow(data: bytes, at: int) -> int:
    """Return the position that an offset field points to."""
    return at + _number(data, at, "I")


def _number(data: bytes, at: int, form: str) -> int:
    """Return a number; raise `MalformedError`, or `struct.error` for a position behind the data."""
    if at < 0:  # `struct` would count from the end
        raise MalformedError("a position before the data")
    return int(FORMS[form].unpack_from(data, at)[0])
