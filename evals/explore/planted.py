"""All cases with planted findings: `planted_cases("development")` or `planted_cases("held_back")`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias

from evals.explore import development_tables, held_back_tables
from evals.explore.case import Case, Planted

Half: TypeAlias = Literal["development", "held_back"]

MAKERS = {"development": development_tables.MAKERS, "held_back": held_back_tables.MAKERS}


def planted_cases(half: Half) -> list[Case]:
    """Return the ten cases of a half, the same ones at every call."""
    return [make() for make in MAKERS[half]]


def planted_in(cases: Iterable[Case]) -> list[Planted]:
    """Return the planted findings of the cases."""
    return [planted for case in cases for planted in case.planted]


def count_by_kind(cases: Iterable[Case]) -> Counter[str]:
    """Return how many findings of each kind are planted."""
    return Counter(planted.kind for planted in planted_in(cases))
