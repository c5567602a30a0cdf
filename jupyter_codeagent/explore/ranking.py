"""Which findings are shown, and in which order: few, different from each other, what the user asked about first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from jupyter_codeagent.explore.wide_columns import are_of_one_variable, wide_columns
from jupyter_codeagent.types.exploration import OF_TWO_TABLES, Exploration, Finding, FindingKind

ALPHA = 0.01
MIN_EFFECT = 0.05
MOST_INSIGHTS = 8
MOST_OF_ONE_TABLE = 5
"""Where there are several."""
MORE_FOR_A_TABLE = 2
MOST_QUALITY = 6
MOST_JOINS = 5
MOST_OF_ONE_KIND = 3
MOST_OF_ONE_COLUMN = 3
NEARLY_THE_SAME = 0.8
"""Effect of a pair of columns from which on what both show of a third is told once."""
STRONG = 0.2
"""Effect from which on a reversal stands before everything else."""
DESCRIPTIVE: frozenset[FindingKind] = frozenset({"missing", "skew"})
"""Only told in the overview of the table."""
QUALITY: tuple[FindingKind, ...] = (
    "impossible",
    "duplicates",
    "ratio",
    "spelling",
    "same",
    "missing_by_group",
    "missing_together",
    "gap",
    "outliers",
    "text_type",
)
"""What should be known before anything is computed, the most important first; the overview names texts as well."""
BONUS: dict[FindingKind, float] = {"break": 0.2, "season": 0.1, "trend": 0.05, "group_trend": 0.05}
"""What surprises more than a difference of the same size."""
CURVE_BONUS = 0.2
NEARLY_CERTAIN, KNOWN_MALUS = 0.95, 0.7
"""Whoever has the table knows that distance goes with time in the air: such effects come last."""
ALMOST_THE_SAME = 0.98
"""Correlation from which on two numbers are told in the overview alone, as one that follows from the other."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The findings that are shown, each list in its order."""

    insights: tuple[Finding, ...] = ()
    quality: tuple[Finding, ...] = ()
    joins: tuple[Finding, ...] = ()


def choose(exploration: Exploration, mentioned: Collection[str] = ()) -> Chosen:
    """Return what is worth showing, by table; findings about `mentioned` columns come first."""
    wide = {one.table: wide_columns([column.name for column in one.columns]) for one in exploration.tables}
    certain = _without_repetitions(
        one
        for one in exploration.findings
        if _is_certain(one, exploration.tried) and not are_of_one_variable(one.columns, wide.get(one.table, ()))
    )
    quality = sorted(
        (one for one in certain if one.kind in QUALITY),
        key=lambda one: (not _is_about(one, mentioned), QUALITY.index(one.kind), -one.effect),
    )
    joins = sorted(
        (one for one in certain if one.kind in OF_TWO_TABLES),
        key=lambda one: (
            not _is_about(one, mentioned),
            one.kind == "join",
            not one.facts.get("right_unique"),
            -one.number("matched"),
        ),
    )
    insights = sorted(
        (
            one
            for one in certain
            if one.kind not in {*QUALITY, *DESCRIPTIVE, *OF_TWO_TABLES}
            and one.effect >= MIN_EFFECT
            and not (follows(one) and not _is_about(one, mentioned))
        ),
        key=lambda one: (not _is_about(one, mentioned), not _is_striking(one), -_weight(one)),
    )
    chosen = _varied(insights, _alike(certain), len(exploration.tables))
    more = MORE_FOR_A_TABLE * max(0, len(exploration.tables) - 1)
    places = {one.table: place for place, one in enumerate(exploration.tables)}
    return Chosen(
        insights=tuple(sorted(chosen, key=lambda one: places.get(one.table, len(places)))),
        quality=_few_of_each_kind(quality)[: MOST_QUALITY + more],
        joins=tuple(joins[:MOST_JOINS]),
    )


def follows(finding: Finding) -> bool:
    """Check for two numbers of which one says nearly all of the other, in a line."""
    is_line = finding.kind == "correlation" and finding.text("form") == "line"
    return is_line and abs(finding.number("r")) >= ALMOST_THE_SAME


def _is_certain(finding: Finding, tried: int) -> bool:
    """Check with Bonferroni's correction that it is no chance; the p-value of plain counts is 0."""
    return finding.p_value * max(tried, 1) <= ALPHA


def _is_about(finding: Finding, mentioned: Collection[str]) -> bool:
    return any(name in mentioned for name in finding.columns)


def _is_striking(finding: Finding) -> bool:
    return finding.kind == "reversal" and finding.effect >= STRONG


def _weight(finding: Finding) -> float:
    curve = CURVE_BONUS if finding.text("form") == "curve" else 0.0
    known = KNOWN_MALUS if finding.effect >= NEARLY_CERTAIN else 0.0
    return finding.effect + BONUS.get(finding.kind, 0.0) + curve - known


def _without_repetitions(findings: Iterable[Finding]) -> list[Finding]:
    first: dict[tuple[object, ...], Finding] = {}
    for one in findings:
        places = one.columns if one.kind in OF_TWO_TABLES else tuple(sorted(one.columns))
        first.setdefault((one.kind, one.table, one.text("right"), places, one.text("cycle")), one)
    return list(first.values())


Pair = tuple[str, frozenset[str]]


def _alike(findings: Iterable[Finding]) -> frozenset[Pair]:
    """Return the pairs of columns that nearly say the same, with their table."""
    return frozenset(
        (one.table, frozenset(one.columns))
        for one in findings
        if one.kind == "same" or (one.kind in {"correlation", "association"} and one.effect >= NEARLY_THE_SAME)
    )


def _varied(findings: Iterable[Finding], alike: frozenset[Pair], tables: int) -> tuple[Finding, ...]:
    """Leave out what repeats others, and what is too much of one kind, column or table."""
    most = MOST_INSIGHTS + MORE_FOR_A_TABLE * (tables - 1)
    of_one_table = MOST_INSIGHTS if tables == 1 else MOST_OF_ONE_TABLE
    kept: list[Finding] = []
    kinds: Counter[tuple[str, str]] = Counter()
    columns: Counter[tuple[str, str]] = Counter()
    for one in findings:
        places = [(one.table, name) for name in one.columns if name]
        if len(kept) >= most:
            break
        if sum(other.table == one.table for other in kept) >= of_one_table:
            continue
        if kinds[one.table, one.kind] >= MOST_OF_ONE_KIND or any(
            columns[place] >= MOST_OF_ONE_COLUMN for place in places
        ):
            continue
        if any(_says_the_same(one, other, alike) for other in kept):
            continue
        kept.append(one)
        kinds[one.table, one.kind] += 1
        columns.update(places)
    return tuple(kept)


def _says_the_same(one: Finding, other: Finding, alike: frozenset[Pair]) -> bool:
    if other.kind == "group_trend" and one.kind in ("trend", "break"):
        return one.table == other.table and one.columns == other.columns[:2]
    return (
        one.kind == other.kind
        and one.table == other.table
        and (one.table, frozenset(one.columns) ^ frozenset(other.columns)) in alike
    )


def _few_of_each_kind(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    kinds: Counter[str] = Counter()
    kept = []
    for one in findings:
        if kinds[one.kind] < MOST_OF_ONE_KIND:
            kept.append(one)
            kinds[one.kind] += 1
    return tuple(kept)
