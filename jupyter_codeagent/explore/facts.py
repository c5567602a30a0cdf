"""Which facts a finding of each kind has, and which values they may take: what else stands there leaves it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from jupyter_codeagent.types.exploration import FactValue, FindingKind

MAX_LEVEL_CHARS = 200
"""Longest category that may stand in code; one that is cut would match no row."""
MAX_OTHERS = 3
MAX_COUNT = 1 << 53
MAX_FIGURE = 1e15
"""Larger figures cannot be told from their rounding, and are written as powers of ten."""
_FORMAT = re.compile(r"(?:%[aAbBdmYyHIMSfpjzZ]|[\w\s.,:/+-]){0,60}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?")


class NotAFactError(ValueError):
    """The value is not what the fact may be."""


Check = Callable[[object], FactValue]


def figure(value: object) -> float:
    """Return a finite number.

    Raises
    ------
    NotAFactError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotAFactError("not a number")
    if not abs(value) <= MAX_FIGURE:  # nor is NaN; `isfinite` fails for a whole number beyond all floats
        raise NotAFactError("not a usual number")
    return value


def count(value: object) -> int:
    """Return a number of rows or levels.

    Raises
    ------
    NotAFactError
        If it is none.
    """
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise NotAFactError("not a count")
    return value


def share(value: object) -> float:
    """Return a number between 0 and 1.

    Raises
    ------
    NotAFactError
        If it is none.
    """
    if not 0 <= (one := figure(value)) <= 1:
        raise NotAFactError("not a share")
    return one


def _signed_share(value: object) -> float:
    if not -1 <= (one := figure(value)) <= 1:
        raise NotAFactError("not a correlation")
    return one


def _level(value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_LEVEL_CHARS:
        raise NotAFactError("not a category")
    return value


def _others(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise NotAFactError("not a list")
    return tuple(item[:MAX_LEVEL_CHARS] for item in value[:MAX_OTHERS] if isinstance(item, str))


def iso_date(value: object) -> str:
    """Return a date as it stands in ISO text.

    Raises
    ------
    NotAFactError
        If it is none.
    """
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        raise NotAFactError("not a date")
    try:
        datetime.fromisoformat(value[:10])
    except ValueError as problem:
        raise NotAFactError("no such date") from problem
    return value


def _format(value: object) -> str:
    if not isinstance(value, str) or not _FORMAT.fullmatch(value) or not value.isprintable():
        raise NotAFactError("not a format")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise NotAFactError("not true or false")
    return value


def _one_of(*words: str) -> Check:
    def check(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise NotAFactError("not one of the words")
        return value

    return check


def _or_none(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def _figure_or_level(value: object) -> FactValue:
    return _level(value) if isinstance(value, str) else figure(value)


_PERIOD = _one_of("D", "W", "M", "Q", "Y")


@dataclass(frozen=True)
class Shape:
    """What a finding of one kind consists of."""

    facts: Mapping[str, Check]
    columns: tuple[int, int]
    """Fewest and most columns."""
    may_count_rows: bool = False
    """Whether the first column may be ``""``: the number of rows."""


SHAPES: Mapping[FindingKind, Shape] = {
    "duplicates": Shape({"repeated": count, "rows": count}, (0, 4)),
    "text_type": Shape(
        {
            "meant": _one_of("number", "date"),
            "share": share,
            "other": _others,
            "format": _format,
            "decimal": _one_of(".", ","),
        },
        (1, 1),
    ),
    "missing": Shape({"missing": count, "rows": count}, (1, 1)),
    "missing_by_group": Shape({"level": _level, "rate_in": share, "rate_out": share, "levels": count}, (2, 2)),
    "missing_together": Shape({"missing": count}, (2, 12)),
    "gap": Shape({"start": iso_date, "end": iso_date, "days": figure, "usual_days": figure}, (1, 1)),
    "outliers": Shape(
        {
            "count": count,
            "low": _or_none(figure),
            "high": _or_none(figure),
            "lowest": figure,
            "highest": figure,
            "median": figure,
        },
        (1, 1),
    ),
    "impossible": Shape(
        {
            "count": count,
            "why": _one_of("negative", "only negative", "sentinel"),
            "value": _or_none(_figure_or_level),
        },
        (1, 1),
    ),
    "ratio": Shape({"count": count, "limit": figure, "highest": figure, "median": figure}, (2, 2)),
    "spelling": Shape({"count": count, "spelling": _or_none(_level), "usual": _or_none(_level)}, (1, 1)),
    "key_spelling": Shape({"left": _level, "right": _level, "count": count}, (2, 2)),
    "skew": Shape(
        {
            "mean": figure,
            "median": figure,
            "skewness": figure,
            "lowest": _or_none(figure),
            "highest": _or_none(figure),
        },
        (1, 1),
    ),
    "group_difference": Shape(
        {
            "highest": _level,
            "lowest": _level,
            "highest_mean": figure,
            "lowest_mean": figure,
            "highest_n": count,
            "lowest_n": count,
            "levels": count,
        },
        (2, 2),
    ),
    "correlation": Shape({"r": _signed_share, "form": _one_of("line", "curve"), "peak": _or_none(figure)}, (2, 2)),
    "association": Shape(
        {
            "a_level": _level,
            "b_level": _level,
            "share_in": share,
            "share_all": share,
            "levels_a": count,
            "levels_b": count,
        },
        (2, 2),
    ),
    "trend": Shape(
        {"period": _PERIOD, "periods": count, "first": figure, "last": figure, "r": _signed_share}, (2, 2), True
    ),
    "group_trend": Shape(
        {
            "period": _PERIOD,
            "level_high": _level,
            "first_high": figure,
            "last_high": figure,
            "level_low": _level,
            "first_low": figure,
            "last_low": figure,
        },
        (3, 3),
    ),
    "season": Shape(
        {
            "cycle": _one_of("hour", "weekday", "month"),
            "highest": count,
            "lowest": count,
            "highest_mean": figure,
            "lowest_mean": figure,
        },
        (2, 2),
        True,
    ),
    "break": Shape({"at": iso_date, "before": figure, "after": figure, "period": _PERIOD}, (2, 2), True),
    "reversal": Shape(
        {"a": _level, "b": _level, "overall": figure, "within": figure, "strata": count, "agreeing": count},
        (3, 3),
    ),
    "interaction": Shape(
        {
            "a": _level,
            "b": _level,
            "level_high": _level,
            "difference_high": figure,
            "level_low": _level,
            "difference_low": figure,
        },
        (3, 3),
    ),
    "same": Shape({"share": share, "factor": _or_none(figure)}, (2, 2)),
    "join": Shape(
        {"left": _level, "right": _level, "matched": share, "right_unique": _flag, "repeats": count}, (2, 6)
    ),
}
CYCLES = {"hour": range(24), "weekday": range(7), "month": range(1, 13)}
OPTIONAL = frozenset(
    {"low", "high", "peak", "factor", "value", "format", "decimal", "other", "repeats", "spelling", "usual"}
)
"""Facts that may be absent, which is as None."""


def read_facts(kind: FindingKind, facts: Mapping[str, object]) -> dict[str, FactValue]:
    """Return the facts of a kind; those that it does not have are left out.

    Raises
    ------
    NotAFactError
        If one is missing or cannot be.
    """
    read: dict[str, FactValue] = {"n": count(facts.get("n", 0))}
    for name, check in SHAPES[kind].facts.items():
        if name in OPTIONAL and facts.get(name) is None:
            read[name] = None
        else:
            read[name] = check(facts.get(name))
    if kind == "season" and not {read["highest"], read["lowest"]} <= set(CYCLES[str(read["cycle"])]):
        raise NotAFactError("not in the cycle")
    return read
