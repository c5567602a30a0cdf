"""Judges of results: figures and names that must be shown, tables that must exist, what a plot shows.

A judge looks at values, never at wording. A figure counts as shown if it stands in the text within the tolerance
of its rounding; one that stands in a table row counts only with the row's own name (`row`), so that a table of all
values does not answer a question for one of them by accident.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from evals.task import Check, Evidence, FigureFacts

_NUMBER = re.compile(
    r"(?<![\w.])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])|(?<![\w.])[-−]?\.\d+"
)


def all_of(*checks: Check) -> Check:
    """The first complaint of any."""

    def check(evidence: Evidence) -> str:
        return next((complaint for one in checks if (complaint := one(evidence))), "")

    return check


def any_of(*checks: Check) -> Check:
    """Right in one of several forms; else the complaint of the first."""

    def check(evidence: Evidence) -> str:
        complaints = [one(evidence) for one in checks]
        return "" if "" in complaints else complaints[0]

    return check


def numbers_in(text: str) -> list[float]:
    """Figures as they stand; thousands separators are read."""
    return [float(found.replace(",", "").replace("−", "-")) for found in _NUMBER.findall(text)]


def is_shown(value: float, text: str, *, digits: int = 2, either_sign: bool = False) -> bool:
    """Whether a figure stands in the text that is `value` when rounded to `digits`, or to fewer but at least one
    significant more than four."""
    tolerance = max(0.5000001 * 10**-digits, abs(value) * 5e-6)
    wanted = [value, -value] if either_sign else [value]
    return any(
        math.isclose(found, one, abs_tol=tolerance, rel_tol=0) for found in numbers_in(text) for one in wanted
    )


def number(value: float, *, digits: int = 2, percent: bool = False, either_sign: bool = False) -> Check:
    """The figure is shown. `percent`: of a share of 0 to 1, that one or a hundred times it."""

    def check(evidence: Evidence) -> str:
        if is_shown(value, evidence.text, digits=digits, either_sign=either_sign):
            return ""
        if percent and is_shown(value * 100, evidence.text, digits=min(digits, 2), either_sign=either_sign):
            return ""
        return f"{round(value, digits)} is not shown"

    return check


def numbers(values: Iterable[float], *, digits: int = 2) -> Check:
    return all_of(*(number(value, digits=digits) for value in values))


def at_most_numbers(limit: int) -> Check:
    """Against an answer that shows everything and so the right figure too."""

    def check(evidence: Evidence) -> str:
        count = len(numbers_in(evidence.text))
        return "" if count <= limit else f"{count} figures are shown where at most {limit} answer the question"

    return check


def row(name: str, *values: float, digits: int = 2) -> Check:
    """One line of the text holds the name as a word and all figures."""

    def check(evidence: Evidence) -> str:
        lines = [line for line in evidence.text.splitlines() if _has_word(name, line)]
        if any(all(is_shown(value, line, digits=digits) for value in values) for line in lines):
            return ""
        shown = ", ".join(str(round(value, digits)) for value in values)
        return f"no line holds {name!r} with {shown}"

    return check


def says(*names: str) -> Check:
    """Each name stands in the text as a word, whatever its case."""

    def check(evidence: Evidence) -> str:
        missing = [name for name in names if not _has_word(name, evidence.text)]
        return f"{missing[0]!r} is not named" if missing else ""

    return check


def says_not(*names: str) -> Check:
    def check(evidence: Evidence) -> str:
        wrong = [name for name in names if _has_word(name, evidence.text)]
        return f"{wrong[0]!r} is named" if wrong else ""

    return check


def in_order(*names: str) -> Check:
    """The names stand in the text, each first after the one before."""

    def check(evidence: Evidence) -> str:
        places = [_first(name, evidence.text) for name in names]
        if -1 in places:
            return f"{names[places.index(-1)]!r} is not named"
        return "" if places == sorted(places) else f"{', '.join(names)} are not in this order"

    return check


def matches(pattern: str) -> Check:
    def check(evidence: Evidence) -> str:
        return "" if re.search(pattern, evidence.text, re.IGNORECASE) else f"nothing shown matches {pattern!r}"

    return check


def frame(name: str, judge: Callable[[Any], str]) -> Check:
    """The variable is a pandas frame or series that the judge has nothing against."""

    def check(evidence: Evidence) -> str:
        value = evidence.namespace.get(name)
        if value is None:
            return f"there is no variable {name!r}"
        try:
            return judge(value)
        except Exception as error:  # noqa: BLE001  (a judge meets any shape of table)
            return f"{name!r} is not as asked: {type(error).__name__}: {error}"

    return check


def figure(*judges: Callable[[FigureFacts], str]) -> Check:
    """One axes of the turn passes all judges."""

    def check(evidence: Evidence) -> str:
        if not evidence.figures:
            return "no figure was made"
        complaints = [next((c for one in judges if (c := one(facts))), "") for facts in evidence.figures]
        return "" if "" in complaints else complaints[-1]

    return check


def labelled(facts: FigureFacts) -> str:
    """Both axes say what they show."""
    return "" if facts.x_label and facts.y_label else "an axis has no label"


def has_bars(values: Sequence[float], *, rel: float = 1e-3, ordered: bool = False) -> Callable[[FigureFacts], str]:
    """The bars' lengths, in any order unless `ordered`."""

    def judge(facts: FigureFacts) -> str:
        return "" if _same(facts.bars, values, rel, ordered) else f"the bars are {facts.bars[:8]}"

    return judge


def has_line(values: Sequence[float], *, rel: float = 1e-3) -> Callable[[FigureFacts], str]:
    """One line has just these y values."""

    def judge(facts: FigureFacts) -> str:
        found = any(_same(line, values, rel, ordered=True) for line in facts.lines)
        return "" if found else f"no line has the {len(values)} values; there are {len(facts.lines)} lines"

    return judge


def has_points(count: int) -> Callable[[FigureFacts], str]:
    def judge(facts: FigureFacts) -> str:
        lines = sum(map(len, facts.lines))
        return "" if count in (facts.point_count, lines) else f"{facts.point_count or lines} points are drawn"

    return judge


def close(found: Any, wanted: float, rel: float = 1e-4) -> bool:
    """For judges of frames: a number near enough, whatever its type."""
    try:
        return math.isclose(float(found), wanted, rel_tol=rel, abs_tol=1e-9)
    except (TypeError, ValueError):
        return False


def _same(found: Sequence[float], wanted: Sequence[float], rel: float, ordered: bool) -> bool:
    if len(found) != len(wanted):
        return False
    pairs = zip(found, wanted, strict=True) if ordered else zip(sorted(found), sorted(wanted), strict=True)
    return all(math.isclose(a, b, rel_tol=rel, abs_tol=1e-9) for a, b in pairs)


def _has_word(name: str, text: str) -> bool:
    return _first(name, text) >= 0


def _first(name: str, text: str) -> int:
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
    return match.start() if match else -1
