"""Remember values of hidden names, so that they stay hidden under other names and when the name is rebound."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

SAME_BY_CHANCE = frozenset({type(None), bool, int, float, complex, str, bytes, tuple, frozenset})
"""Types of which unrelated variables may share one object."""

MAX_SEARCHED = 100_000
"""Entries of a list, tuple or dict; longer ones are rows of data and are not searched."""


class HiddenValues:
    """Weak references to values of hidden names: they keep nothing alive, and a reused address is not mistaken."""

    def __init__(self) -> None:
        self._seen: dict[str, list[weakref.ref[Any]]] = {}

    def note(self, name: str, value: Any) -> None:
        """Remember that this value has a name of which something is hidden."""
        if type(value) in SAME_BY_CHANCE:
            return
        known = [ref for ref in self._seen.get(name, []) if ref() is not None]
        if not any(ref() is value for ref in known):
            with suppress(TypeError):  # a list or dict has no weak references: it is found while it has that name
                known.append(weakref.ref(value))
        self._seen[name] = known

    def ids(self, name: str, everything: Mapping[str, Any]) -> Iterator[int]:
        """Yield the ids of all values that this name has or had."""
        if name in everything and type(everything[name]) not in SAME_BY_CHANCE:
            yield id(everything[name])
        yield from (id(value) for ref in self._seen.get(name, ()) if (value := ref()) is not None)


def holds(value: Any, ids: set[int]) -> bool:
    """Check whether a list, tuple or dict has one of these values as an entry; other types are not searched."""
    if type(value) is dict:
        entries = value.values()
    elif type(value) in (list, tuple):
        entries = value
    else:
        return False
    return bool(ids) and len(value) <= MAX_SEARCHED and any(id(entry) in ids for entry in entries)
