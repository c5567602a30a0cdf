"""How many planted findings were found, and how much was found that is not there. Pure functions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evals.explore.case import EFFECT_KINDS, KINDS, QUALITY_KINDS, TIME_KINDS, Case, Planted

SHOWN = 8  # insights of a table that somebody sees
EXTRA = 2  # columns that a finding may name beside those planted


class Found(NamedTuple):
    """A finding that was shown; a kind that is not among `KINDS` only describes."""

    kind: str
    table: str
    columns: frozenset[str]


@dataclass(frozen=True)
class Tally:
    """Some of several, with the 95 % interval of the share."""

    found: int
    of: int

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.found, self.of)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.found} of {self.of} ({low:.0%} to {high:.0%})"


@dataclass(frozen=True)
class Verdict:
    """What was found in cases with planted findings.

    Of the insights shown, `planted` are planted ones, `related` lie among columns that planted effects connect
    (such as A and C where A–B and B–C are planted), and `unrelated` have no planted effect at all. `describing` are
    of other kinds. Flaws and joins that were found and not planted may still be there: somebody has to look.
    """

    recall: Tally
    by_kind: Mapping[str, Tally]
    missed: tuple[Planted, ...]
    planted: int
    related: int
    unrelated: tuple[Found, ...]
    describing: int
    quality_not_planted: tuple[Found, ...]


@dataclass(frozen=True)
class NoiseVerdict:
    """What was found in tables of noise: each effect, flaw or join is false."""

    false_effects: tuple[Found, ...]
    false_quality: tuple[Found, ...]
    tables_with_false_effects: Tally


def wilson(found: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    if not of:
        return 0.0, 1.0
    share, square = found / of, z * z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def shown(found: Iterable[Found]) -> list[Found]:
    """Return what somebody sees: the first eight insights of each table, and every flaw and join."""
    insights: Counter[str] = Counter()
    seen = []
    for one in found:
        if one.kind not in (*QUALITY_KINDS, "join"):
            insights[one.table] += 1
            if insights[one.table] > SHOWN:
                continue
        seen.append(one)
    return seen


def names(found: Found, planted: Planted) -> bool:
    """Whether a finding says what was planted."""
    if found.kind not in (planted.kind, *planted.also):
        return False
    if planted.kind == "join":
        return found.table in (planted.table, planted.other) and bool(found.columns & planted.columns)
    if found.table != planted.table:
        return False
    if not planted.columns:
        return True
    more = len(found.columns - planted.columns)
    return planted.columns <= found.columns and more <= (EXTRA if planted.extra else 0)


def judge(cases: Sequence[Case], found: Iterable[Found]) -> Verdict:
    """Return how many planted findings were found, and what else was."""
    seen = shown(found)
    planted = [one for case in cases for one in case.planted]
    hits = [any(names(one, what) for one in seen) for what in planted]
    of_kind = Counter(what.kind for what in planted)
    hit_kind = Counter(what.kind for what, hit in zip(planted, hits, strict=True) if hit)
    connected = [group for case in cases for group in connections(case)]
    insights = [one for one in seen if one.kind in EFFECT_KINDS]
    right = [one for one in insights if any(names(one, what) for what in planted)]
    others = [one for one in insights if one not in right]
    related = [one for one in others if _within(_with_time(one, cases), connected)]
    flaws = [one for one in seen if one.kind in (*QUALITY_KINDS, "join")]
    return Verdict(
        recall=Tally(sum(hits), len(planted)),
        by_kind={kind: Tally(hit_kind[kind], of_kind[kind]) for kind in KINDS if of_kind[kind]},
        missed=tuple(what for what, hit in zip(planted, hits, strict=True) if not hit),
        planted=len(right),
        related=len(related),
        unrelated=tuple(one for one in others if one not in related),
        describing=sum(one.kind not in KINDS for one in seen),
        quality_not_planted=tuple(one for one in flaws if not any(names(one, what) for what in planted)),
    )


def judge_noise(cases: Sequence[Case], found: Iterable[Found]) -> NoiseVerdict:
    """Return what was found where nothing is."""
    seen = shown(found)
    effects = tuple(one for one in seen if one.kind in EFFECT_KINDS)
    tables = [table for case in cases for table in case.tables]
    bad = {one.table for one in effects}
    return NoiseVerdict(
        false_effects=effects,
        false_quality=tuple(one for one in seen if one.kind in (*QUALITY_KINDS, "join")),
        tables_with_false_effects=Tally(len(bad.intersection(tables)), len(tables)),
    )


def connections(case: Case) -> list[tuple[str, frozenset[str]]]:
    """Return, by table, the sets of columns that planted effects connect, directly or through others."""
    groups: list[tuple[str, frozenset[str]]] = []
    for what in case.planted:
        columns = what.columns
        if what.kind in TIME_KINDS and what.table in case.time:
            columns |= {case.time[what.table]}
        if what.kind not in (*EFFECT_KINDS, "same"):
            continue
        for table, group in [*groups]:
            if table == what.table and group & columns:
                groups.remove((table, group))
                columns |= group
        groups.append((what.table, columns))
    return groups


def _with_time(found: Found, cases: Sequence[Case]) -> Found:
    """Add the column of time to what only time can show."""
    times = {case.time[found.table] for case in cases if found.kind in TIME_KINDS and found.table in case.time}
    return found._replace(columns=found.columns | times)


def _within(found: Found, connected: list[tuple[str, frozenset[str]]]) -> bool:
    return any(table == found.table and found.columns <= group for table, group in connected)
