"""What a case is: one table, or two that belong together, and the findings planted in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

EFFECT_KINDS = (
    "group_difference",
    "correlation",
    "association",
    "trend",
    "group_trend",
    "season",
    "break",
    "reversal",
    "interaction",
)
QUALITY_KINDS = (
    "duplicates",
    "text_type",
    "missing_by_group",
    "missing_together",
    "gap",
    "outliers",
    "impossible",
    "same",
    "spelling",
    "key_spelling",
)
KINDS = (*EFFECT_KINDS, *QUALITY_KINDS, "join")
TIME_KINDS = ("trend", "group_trend", "season", "break")

ALSO: Mapping[str, tuple[str, ...]] = {
    "group_difference": ("association", "interaction"),
    "correlation": ("association",),
    "association": ("group_difference",),
    "trend": ("break",),
    "break": ("trend",),
    "reversal": ("interaction",),
    "interaction": ("reversal",),
    "outliers": ("impossible",),
    "impossible": ("outliers",),
    "same": ("correlation",),
}
"""The other kinds that a fair reader accepts for the same columns."""


@dataclass(frozen=True)
class Planted:
    """A finding that is in a table because it was put there.

    A finding names it if it has all of `columns`; where `extra`, up to two others beside them. Trends, seasons and
    breaks need not name the column of time. No columns means whole rows. A join may stand at either of its two
    tables and has to name the key of one.
    """

    kind: str
    table: str
    columns: frozenset[str]
    also: tuple[str, ...] = ()
    extra: bool = True
    other: str = ""  # the second table of a join


@dataclass(frozen=True)
class Case:
    """One table, or two that belong together, with everything that was planted in them."""

    name: str
    tables: Mapping[str, pd.DataFrame]
    planted: tuple[Planted, ...] = ()
    time: Mapping[str, str] = field(default_factory=dict)  # the column of time of a table that has one
    held_back: bool = False


def plant(kind: str, table: str, *columns: str, also: tuple[str, ...] = (), other: str = "") -> Planted:
    """Return a planted finding with the other kinds that are accepted for it."""
    assert kind in KINDS, kind
    return Planted(kind, table, frozenset(columns), (*ALSO.get(kind, ()), *also), other=other)
