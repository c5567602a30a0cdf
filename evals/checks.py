"""Judges of results: figures and names that must be shown, tables that must exist, what a plot shows.

A judge looks at values, never at wording. A figure counts as shown if it stands in the text within the tolerance
of its rounding; one that stands in a table row counts only with the row's own name (`row`), so that a table of all
values does not answer a question for one of them by accident.
"""

from __future__ import annotations

import calendar
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

from evals.task import Check, Evidence, FigureFacts

_NUMBER = re.compile(
    r"(?<![\w.])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])|(?<![\w.])[-−]?\.\d+"
)

Name = str | tuple[str, ...]
"""A name, or several of which one will do: ``("AA", "American Airlines Inc.")``."""


def later(make: Callable[[], Check]) -> Check:
    """A check that is made when the first answer is judged: its truth may take seconds to compute."""
    made = cache(make)

    def check(evidence: Evidence) -> str:
        return made()(evidence)

    return check


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
        if percent and is_shown(value * 100, evidence.text, digits=_of_percent(digits), either_sign=either_sign):
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
        lines = [line for line in lines_of(evidence.text) if _has_word(name, line)]
        if any(all(is_shown(value, line, digits=digits) for value in values) for line in lines):
            return ""
        shown = ", ".join(str(round(value, digits)) for value in values)
        return f"no line holds {name!r} with {shown}"

    return check


def cell(*names: Name, value: float, digits: int = 2, percent: bool = False, either_sign: bool = False) -> Check:
    """The figure stands where the names meet: in their line, below a name in the head of a table, or in a group of
    rows whose name stands only in the first of them. `percent`: of a share of 0 to 1, that one, or a
    hundred times it with two places less but one."""

    def check(evidence: Evidence) -> str:
        lines = lines_of(evidence.text)
        wanted = [(value, digits), (value * 100, _of_percent(digits))] if percent else [(value, digits)]
        for at, line in enumerate(lines):
            for found in _NUMBER.finditer(line):
                shown = found.group()
                if any(is_shown(one, shown, digits=n, either_sign=either_sign) for one, n in wanted) and all(
                    _belongs(name, lines, at, found.span()) for name in names
                ):
                    return ""
        return f"{round(value, digits)} is not shown for {', '.join(_first_form(name) for name in names)}"

    return check


def each(values: Mapping[Any, float], *, digits: int = 2, percent: bool = False) -> Check:
    """Each name with its own figure."""
    return all_of(*(cell(name, value=value, digits=digits, percent=percent) for name, value in values.items()))


def _of_percent(digits: int) -> int:
    """Decimals of a percentage that has a share's precision; one at least, as percentages are commonly rounded."""
    return max(digits - 2, 1)


def lines_of(text: str) -> list[str]:
    """Lines of the text; those of a frame too wide for the page, which pandas prints in blocks, are joined."""
    lines: list[str] = []
    rest = text.splitlines()
    while rest:
        blocks, rest = _blocks(rest)
        lines += ["".join(parts) for parts in zip(*blocks, strict=True)]
    return lines


def _blocks(lines: list[str]) -> tuple[list[list[str]], list[str]]:
    """The blocks of the frame that starts in the first line, and what follows; any other line is one by itself."""
    if not lines[0].endswith("\\"):
        return [lines[:1]], lines[1:]
    height = next((at for at, line in enumerate(lines) if not line.strip()), len(lines))
    blocks, rest = [[line.removesuffix("\\") for line in lines[:height]]], lines[height + 1 :]
    while len(rest) >= height:
        goes_on = rest[0].endswith("\\")
        blocks.append([line.removesuffix("\\") for line in rest[:height]])
        rest = rest[height:]
        if not goes_on:
            return blocks, rest
        rest = rest[1:]
    return blocks, rest


def _belongs(name: Name, lines: Sequence[str], at: int, span: tuple[int, int]) -> bool:
    """Whether the figure at `span` of a line is one of the name's."""
    if next(_places(name, lines[at], other_than=span), None):
        return True
    group = at
    while group > 0 and lines[group][:1].isspace() and lines[group].strip():
        group -= 1
    if group != at and next(_places(name, lines[group]), (len(lines[group]), 0))[0] < span[0]:
        return True
    for above in range(at - 1, -1, -1):
        if not lines[above].strip():
            return False
        if any(start < span[1] and span[0] < end for start, end in _places(name, lines[above])):
            return True
    return False


def singled_out(name: Name, others: Iterable[Name]) -> Check:
    """The name stands before all others, or more often than each: it heads a sorted table, or a sentence about an
    unsorted one repeats it."""
    rivals = [other for other in others if other != name]

    def check(evidence: Evidence) -> str:
        places = [start for start, _ in _places(name, evidence.text)]
        if not places:
            return f"{_first_form(name)!r} is not named"
        for other in rivals:
            found = [start for start, _ in _places(other, evidence.text)]
            if found and found[0] < places[0] and len(found) >= len(places):
                return f"{_first_form(other)!r} is named before {_first_form(name)!r}"
        return ""

    return check


def shown_first(value: float, *others: float, digits: int = 2) -> Check:
    """The figure stands before all others, as it does in a sorted table, whatever labels its rows have."""

    def check(evidence: Evidence) -> str:
        shown = [found.group() for found in _NUMBER.finditer(evidence.text)]
        places = [
            next((at for at, text in enumerate(shown) if is_shown(one, text, digits=digits)), len(shown))
            for one in (value, *others)
        ]
        return (
            "" if places[0] < min(places[1:], default=len(shown)) else f"{round(value, digits)} is not shown first"
        )

    return check


def year_names(year: int) -> tuple[str, ...]:
    """``2013`` and the days by which resampled tables name it."""
    return (str(year), f"{year}-12-31", f"{year}-01-01")


def month_names(month: int, year: int | None = None) -> tuple[str, ...]:
    """``7``, ``July``, ``Jul`` and, with a year, ``2013-07``."""
    of_year = (f"{year}-{month:02}",) if year else ()
    return (str(month), calendar.month_name[month], calendar.month_abbr[month], *of_year)


def day_names(day: date) -> tuple[str, ...]:
    """A date as it is commonly written, and as the columns year, month, day of a table."""
    long, short, ordinal = calendar.month_name[day.month], calendar.month_abbr[day.month], _ordinal(day.day)
    spelled = [f"{m} {d}" for m in (long, short) for d in (day.day, f"{day.day:02}", ordinal)]
    spelled += [f"{d} {m}" for m in (long, short) for d in (day.day, f"{day.day:02}", ordinal)]
    iso = day.isoformat()
    columns = (f"{day.year} {day.month} {day.day}", f"{day.year}, {day.month}, {day.day}")
    slashes = (f"{day:%m/%d/%Y}", f"{day.month}/{day.day}/{day.year}")
    return (iso, f"{iso}T00", f"{day:%Y%m%d}", *columns, *slashes, *spelled)


def on_day(day: date) -> Check:
    """The date stands in the text in a common form, or as year, month and day one after the other, in one line or
    below each other."""
    between = r"(?:\.0+)?(?:int64|\D){1,40}?"
    parts = rf"(?<!\d){day.year}{between}0*{day.month}{between}0*{day.day}(?!\d)"
    return any_of(says(day_names(day)), matches(parts))


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def says(*names: Name) -> Check:
    """Each name stands in the text as a word, whatever its case."""

    def check(evidence: Evidence) -> str:
        missing = [_first_form(name) for name in names if not _has_word(name, evidence.text)]
        return f"{missing[0]!r} is not named" if missing else ""

    return check


def says_not(*names: str) -> Check:
    def check(evidence: Evidence) -> str:
        wrong = [name for name in names if _has_word(name, evidence.text)]
        return f"{wrong[0]!r} is named" if wrong else ""

    return check


def in_order(*names: Name) -> Check:
    """The names stand in the text, each first after the one before."""

    def check(evidence: Evidence) -> str:
        places = [_first(name, evidence.text) for name in names]
        if -1 in places:
            return f"{_first_form(names[places.index(-1)])!r} is not named"
        return "" if places == sorted(places) else f"{', '.join(map(_first_form, names))} are not in this order"

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


def holds(values: Mapping[Any, float], *, ordered: bool = False, rel: float = 1e-4) -> Callable[[Any], str]:
    """For `frame`: one row for each key (a name or number, or a tuple of several) that holds it and its value,
    whatever the columns are called, and no other rows; in the order of `values` if `ordered`."""

    def judge(found: Any) -> str:
        rows = [list(cells) for cells in found.reset_index().itertuples(index=False)]
        if len(rows) != len(values):
            return f"there are {len(rows)} rows, not {len(values)}"
        for at, (key, value) in enumerate(values.items()):
            parts = key if isinstance(key, tuple) else (key,)
            candidates = [rows[at]] if ordered else rows
            if not any(
                _has_parts(cells, parts) and any(close(one, value, rel) for one in cells) for cells in candidates
            ):
                return f"no row holds {key} with {value:g}" + (f" in place {at}" if ordered else "")
        return ""

    return judge


def _has_parts(cells: Sequence[Any], parts: Iterable[Any]) -> bool:
    return all(
        any(close(one, part) if isinstance(part, int) else str(one) == part for one in cells) for part in parts
    )


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


def has_points(count: int, *, or_rows: int | None = None) -> Callable[[FigureFacts], str]:
    """`or_rows`: of a table with missing values, which some ways of drawing count as points too."""

    def judge(facts: FigureFacts) -> str:
        drawn = (facts.point_count, sum(map(len, facts.lines)))
        return "" if {count, or_rows} & set(drawn) else f"{drawn[0] or drawn[1]} points are drawn"

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


def _has_word(name: Name, text: str) -> bool:
    return _first(name, text) >= 0


def _first(name: Name, text: str) -> int:
    return min((start for start, _ in _places(name, text)), default=-1)


def _places(name: Name, text: str, other_than: tuple[int, int] | None = None) -> Iterator[tuple[int, int]]:
    """Where the name, in any of its forms, stands as a word, in the order of the text."""
    forms = (name,) if isinstance(name, str) else name
    for found in re.finditer("|".join(map(_pattern, forms)), text, re.IGNORECASE):
        if found.span() != other_than:
            yield found.span()


def _pattern(name: str) -> str:
    """A name that is a whole number is no part of another figure, and 7 may stand as 7.0 or 07."""
    if name.isdigit():
        return rf"(?<![\w.,−-])0*{name}(?:\.0+)?(?![\w-]|[.,:]\d)"
    return r"(?<!\w)" + r"\s+".join(map(re.escape, name.split())) + r"(?!\w)"


def _first_form(name: Name) -> str:
    return name if isinstance(name, str) else name[0]
