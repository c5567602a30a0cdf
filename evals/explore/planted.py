"""All cases with planted findings: `planted_cases("development")`, `"held_back"` or `"group_trends"`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from evals.explore import development_tables, group_trend_tables, held_back_tables
from evals.explore.case import Case, Planted

Half: TypeAlias = Literal["development", "held_back"]
CaseSet: TypeAlias = Literal[Half, "group_trends"]

MAKERS = {
    "development": development_tables.MAKERS,
    "held_back": held_back_tables.MAKERS,
    "group_trends": group_trend_tables.MAKERS,
}


def planted_cases(wanted: CaseSet) -> list[Case]:
    """Return the cases of a half or of the further set, the same ones at every call."""
    return [make() for make in MAKERS[wanted]]


def planted_in(cases: Iterable[Case]) -> list[Planted]:
    """Return the planted findings of the cases."""
    return [planted for case in cases for planted in case.planted]


def count_by_kind(cases: Iterable[Case]) -> Counter[str]:
    """Return how many findings of each kind are planted."""
    return Counter(planted.kind for planted in planted_in(cases))
