"""Names that say that two columns of different tables mean the same."""

from __future__ import annotations

import re

from .roles import Column

MIN_WORD_CHARS = 2
MIN_MATCHED = 0.5
MIN_MATCHED_OTHER_NAME = 0.9
"""Share of the rows that have to find a partner by columns whose names say the same, and by others."""


def mean_the_same(one: Column, table: str, key: Column) -> bool:
    """Check that the names of a column, and of one of another table, say that both mean the same."""
    return (
        _is_spelled_alike(one.name, key.name)
        or (bool(one.part) and one.part == key.part)
        or is_reference(one.name, table, key.name)
        or names_the_same(one.name, table, key.name)
    )


def _is_spelled_alike(name: str, other: str) -> bool:
    """Check for ``TimeHour`` and ``time_hour``."""
    letters = re.sub(r"[\W_]+", "", name).lower()
    return name == other or (bool(letters) and letters == re.sub(r"[\W_]+", "", other).lower())


def is_reference(name: str, table: str, key: str) -> bool:
    """Check for names such as customer_id for the column id of customers."""
    plain = name.lower().replace("_", "")
    owner = table.lower().replace("_", "")
    return any(
        plain == stem + key.lower().replace("_", "") for stem in (owner, owner.rstrip("s"), owner[:-2]) if stem
    )


def names_the_same(name: str, table: str, key: str) -> bool:
    """Check for ``from_station`` and the key ``station_no`` of ``stations``: both names have the table's word."""
    owner = table.lower().rstrip("s")
    both = owner in re.split(r"[^a-z]+", name.lower()) and owner in re.split(r"[^a-z]+", key.lower())
    return both and len(owner) > MIN_WORD_CHARS
