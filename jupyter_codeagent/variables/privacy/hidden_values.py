"""What was seen under a hidden name: it stays hidden under other names, also when that one has moved on."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

SAME_BY_CHANCE = frozenset({type(None), bool, int, float, complex, str, bytes, tuple, frozenset})
"""Types of which two variables may be one object without having anything to do with each other."""

MAX_SEARCHED = 100_000
"""Entries of a list, tuple or dict; longer ones are rows of data and are not searched."""


class HiddenValues:
    """Remembers by weak references: it keeps nothing alive, and an address is never taken for another value's."""

    def __init__(self) -> None:
        self._seen: dict[str, list[weakref.ref[Any]]] = {}

    def note(self, name: str, value: Any) -> None:
        """This value has a name of which something is hidden."""
        if type(value) in SAME_BY_CHANCE:
            return
        known = [ref for ref in self._seen.get(name, []) if ref() is not None]
        if not any(ref() is value for ref in known):
            with suppress(TypeError):  # a list or dict: found as long as it has that name
                known.append(weakref.ref(value))
        self._seen[name] = known

    def ids(self, name: str, everything: Mapping[str, Any]) -> Iterator[int]:
        """Of all values that this name stands for or has stood for."""
        if name in everything and type(everything[name]) not in SAME_BY_CHANCE:
            yield id(everything[name])
        yield from (id(value) for ref in self._seen.get(name, ()) if (value := ref()) is not None)


def holds(value: Any, ids: set[int]) -> bool:
    """Whether a list, tuple or dict has one of these values among its entries. Others are not looked into."""
    if type(value) is dict:
        entries = value.values()
    elif type(value) in (list, tuple):
        entries = value
    else:
        return False
    return bool(ids) and len(value) <= MAX_SEARCHED and any(id(entry) in ids for entry in entries)
