"""One line for each finding, in plain English, and the title of its chart, which has no figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jupyter_codeagent.explore.figures import are_duplicates, digits_for, percent, rounded, whole
from jupyter_codeagent.explore.names import bare, level_in_words, listed, name_in_words
from jupyter_codeagent.types.exploration import Finding, FindingKind
from jupyter_codeagent.types.sizes import counted

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
PERIODS = {"D": "day", "W": "week", "M": "month", "Q": "quarter", "Y": "year"}
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, kw_only=True)
class Words:
    """What is said of a finding."""

    line: str
    """With figures: ``dep_delay is highest for carrier F9 (mean 20.2, n 682) …``."""
    figures: tuple[str, ...] = ()
    """The figures of the line, each of which the output of the program has to show (see `figures.are_shown`)."""
    title: str
    """Without figures, and without backticks: for the chart, and where the figures are not those of the output."""


def words(finding: Finding) -> Words:
    """Return what is said of the finding."""
    return _WORDS[finding.kind](finding)


def digits_of(finding: Finding) -> int:
    """Return the digits to which words and program round the figures of this finding."""
    return digits_for(*(finding.number(fact) for fact in ROUNDED.get(finding.kind, ()) if finding.has(fact)))


ROUNDED: Mapping[FindingKind, tuple[str, ...]] = {
    "outliers": ("median",),
    "ratio": ("median",),
    "skew": ("mean", "median"),
    "group_difference": ("highest_mean", "lowest_mean"),
    "trend": ("first", "last"),
    "group_trend": ("first_high", "last_high", "first_low", "last_low"),
    "season": ("highest_mean", "lowest_mean"),
    "break": ("before", "after"),
    "reversal": ("overall", "within"),
    "interaction": ("difference_high", "difference_low"),
    "correlation": ("peak",),
    "same": ("factor",),
}
"""The facts that are figures of the data's own scale."""


class _Said:
    """Names, categories and figures of one finding as its words show them."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        self.digits = digits_of(finding)
        self.figures: list[str] = []

    def column(self, place: int) -> str:
        return name_in_words(self.finding.columns[place])

    def level(self, fact: str) -> str:
        return level_in_words(self.finding.text(fact))

    def figure(self, fact: str) -> str:
        return self._noted(rounded(self.finding.number(fact), self.digits))

    def size(self, fact: str) -> str:
        return self._noted(rounded(abs(self.finding.number(fact)), self.digits))

    def exact(self, fact: str, digits: int = 2) -> str:
        return self._noted(rounded(self.finding.number(fact), digits))

    def count(self, fact: str) -> str:
        return self._noted(whole(self.finding.count(fact)))

    def counted(self, fact: str, word: str) -> str:
        self.count(fact)
        return counted(self.finding.count(fact), word)

    def percent(self, fact: str) -> str:
        return f"{self._noted(percent(self.finding.number(fact)))} %"

    def date(self, fact: str) -> str:
        return self._noted(self.finding.text(fact)[:10])

    def moment(self) -> str:
        return ("in " if self.finding.text("period") == "Y" else "on ") + self._noted(moment_named(self.finding))

    def _noted(self, text: str) -> str:
        self.figures.append(text)
        return text

    def words(self, line: str, title: str) -> Words:
        return Words(line=line, figures=tuple(dict.fromkeys(self.figures)), title=title)


def _named(finding: Finding) -> list[str]:
    return [bare(name) for name in finding.columns]


def _duplicates(finding: Finding) -> Words:
    said = _Said(finding)
    if not finding.columns:
        are = are_duplicates(finding.count("repeated"))
        line = f"{said.counted('repeated', 'row')} of {finding.table} {are} of an earlier row."
        return said.words(line, f"{finding.table} has duplicate rows")
    keys = listed([name_in_words(name) for name in finding.columns])
    line = (
        f"{said.counted('repeated', 'row')} of {finding.table} repeat{_s(finding)} the {keys} of an earlier row; "
        f"otherwise {keys} {'is' if len(finding.columns) == 1 else 'are'} unique."
    )
    return said.words(line, f"{listed(_named(finding))} is not quite unique")


def _s(finding: Finding) -> str:
    return "s" if finding.count("repeated") == 1 else ""


def _text_type(finding: Finding) -> Words:
    said = _Said(finding)
    date, column = finding.text("meant") == "date", said.column(0)
    line = f"{column} holds {'dates' if date else 'numbers'} as text in {said.percent('share')} of its values"
    if finding.text("format") and date:
        line += f", written as `{finding.text('format')}`"
    if finding.texts("other"):
        line += f"; others hold {listed([level_in_words(one) for one in finding.texts('other')])}"
    return said.words(f"{line}.", f"{_named(finding)[0]} holds {'dates' if date else 'numbers'} as text")


def _missing(finding: Finding) -> Words:
    said = _Said(finding)
    share = finding.count("missing") / max(finding.count("rows"), 1)
    line = f"{said.column(0)} is missing in {said.counted('missing', 'row')} ({said._noted(percent(share))} %)."
    return said.words(line, f"{_named(finding)[0]} has missing values")


def _missing_by_group(finding: Finding) -> Words:
    said, (column, group) = _Said(finding), _named(finding)
    line = (
        f"{said.column(0)} is missing in {said.percent('rate_in')} of rows with {said.column(1)} "
        f"{said.level('level')}, but in {said.percent('rate_out')} of the others."
    )
    often = "often" if finding.number("rate_in") > finding.number("rate_out") else "rarely"
    return said.words(line, f"{column} is missing most {often} with {group} {bare(finding.text('level'))}")


def _missing_together(finding: Finding) -> Words:
    said = _Said(finding)
    names = [name_in_words(name) for name in finding.columns]
    more = len(names) - 4
    columns = listed(names) if more <= 0 else f"{', '.join(names[:4])} and {_number(more)} more"
    line = f"{columns} are missing together in {said.counted('missing', 'row')}."
    return said.words(line, f"{_number(len(names)).capitalize()} columns are missing in the same rows")


def _number(number: int) -> str:
    return _SMALL[number] if number < len(_SMALL) else f"{number}"


def _gap(finding: Finding) -> Words:
    said = _Said(finding)
    line = (
        f"{finding.table} has no rows between {said.date('start')} and {said.date('end')} ({said.column(0)}): "
        f"{said.exact('days', 1)} days are missing."
    )
    return said.words(line, f"{finding.table} has a gap in {_named(finding)[0]}")


def _outliers(finding: Finding) -> Words:
    said, column = _Said(finding), _named(finding)[0]
    sides = []
    if finding.has("low"):
        sides.append(f"down to {said.figure('lowest')}")
    if finding.has("high"):
        sides.append(f"up to {said.figure('highest')}")
    far = counted(finding.count("count"), "value")
    said.count("count")
    verb = "is" if finding.count("count") == 1 else "are"
    line = (
        f"{far} of {said.column(0)} {verb} far from all others, {listed(sides) or 'on both sides'}; "
        f"the median is {said.figure('median')}."
    )
    return said.words(line, f"{column} has a few extreme values")


def _impossible(finding: Finding) -> Words:
    said, column = _Said(finding), _named(finding)[0]
    rows = said.counted("count", "row")
    if finding.text("why") == "negative":
        return said.words(
            f"{said.column(0)} is negative in {rows} and 0 or more elsewhere.",
            f"{column} is negative in a few rows",
        )
    if finding.text("why") == "only negative":
        line = (
            f"{said.column(0)} is {said.exact('value', 6)} in {rows} and never negative elsewhere: "
            "it may stand for a missing value or for something else, such as a return."
        )
        return said.words(line, f"{column} has a single negative value")
    value = finding.facts.get("value")
    shown = level_in_words(value) if isinstance(value, str) else rounded(finding.number("value"), 6)
    if not isinstance(value, str):
        said._noted(shown)
    line = f"{said.column(0)} is {shown} in {rows}, far from all other values: it may stand for a missing value."
    return said.words(line, f"{column} has a value that may mean missing")


def _ratio(finding: Finding) -> Words:
    said, (large, small) = _Said(finding), _named(finding)
    line = (
        f"{said.column(0)} / {said.column(1)} is far from all others in {said.counted('count', 'row')}, "
        f"up to {said.figure('highest')}; the median is {said.figure('median')}. "
        "A comma may have slipped, or a unit may differ."
    )
    return said.words(line, f"{large} / {small} is far from all others in a few rows")


def _spelling(finding: Finding) -> Words:
    said, column = _Said(finding), _named(finding)[0]
    how = "by blanks around it only"
    if finding.has("spelling"):
        how = f"only by case or blanks around it, such as {said.level('spelling')} from {said.level('usual')}"
    line = (
        f"In {said.counted('count', 'row')} of {finding.table}, {said.column(0)} differs from another value {how}."
    )
    return said.words(line, f"{column} has values that differ only by case or blanks")


def _key_spelling(finding: Finding) -> Words:
    said = _Said(finding)
    left, right = finding.text("left"), finding.text("right")
    verb = "has" if finding.count("count") == 1 else "have"
    pair = said.column(0) if finding.columns[0] == finding.columns[1] else f"{said.column(0)} = {said.column(1)}"
    line = (
        f"{said.counted('count', 'row')} of {left} {verb} no match in {right} only because the keys are spelled "
        f"differently ({pair}): by case, blanks, dashes, dots or slashes."
    )
    return said.words(line, f"{left} and {right} spell the same keys differently")


def _skew(finding: Finding) -> Words:
    said = _Said(finding)
    line = (
        f"{said.column(0)} has a long tail: its mean is {said.figure('mean')}, its median {said.figure('median')}."
    )
    return said.words(line, f"{_named(finding)[0]} has a long tail")


def _group_difference(finding: Finding) -> Words:
    said, (value, group) = _Said(finding), _named(finding)
    line = (
        f"{said.column(0)} is highest for {said.column(1)} {said.level('highest')} "
        f"(mean {said.figure('highest_mean')}, n {said.count('highest_n')}) and lowest for {said.level('lowest')} "
        f"({said.figure('lowest_mean')}, n {said.count('lowest_n')})."
    )
    highest, lowest = bare(finding.text("highest")), bare(finding.text("lowest"))
    return said.words(line, f"{value} is highest for {group} {highest} and lowest for {lowest}")


def _correlation(finding: Finding) -> Words:
    said, (x, y) = _Said(finding), _named(finding)
    if finding.text("form") == "curve":
        turns = f"it turns near {said.figure('peak')}" if finding.has("peak") else "the means bend"
        line = f"{said.column(1)} follows {said.column(0)} along a curve, not a line: {turns}."
        return said.words(line, f"{y} follows {x} along a curve")
    verb = "rises" if finding.number("r") > 0 else "falls"
    line = f"{said.column(1)} {verb} with {said.column(0)} (Spearman r {said.exact('r')}, n {said.count('n')})."
    return said.words(line, f"{y} {verb} with {x}")


def _association(finding: Finding) -> Words:
    said, (a, b) = _Said(finding), _named(finding)
    line = (
        f"{said.column(1)} is {said.level('b_level')} in {said.percent('share_in')} of rows with {said.column(0)} "
        f"{said.level('a_level')}, compared with {said.percent('share_all')} of all rows."
    )
    often = "more" if finding.number("share_in") > finding.number("share_all") else "less"
    a_level, b_level = bare(finding.text("a_level")), bare(finding.text("b_level"))
    return said.words(line, f"{b} {b_level} is {often} frequent with {a} {a_level}")


def moment_named(finding: Finding) -> str:
    """Return when a level shift begins: a day, or a year of means by year."""
    return finding.text("at")[: 4 if finding.text("period") == "Y" else 10]


def value_in_words(finding: Finding, period: str = "") -> str:
    """Return the value over time: its name, or ``rows of flights per day``."""
    if finding.columns[0]:
        return name_in_words(finding.columns[0])
    return f"The number of rows of {finding.table}" + (f" per {period}" if period else "")


def bare_value(finding: Finding) -> str:
    """Return the value over time for a title."""
    return bare(finding.columns[0]) if finding.columns[0] else f"The number of rows of {finding.table}"


def _trend(finding: Finding) -> Words:
    said, period = _Said(finding), PERIODS[finding.text("period")]
    verb = "rises" if finding.number("last") > finding.number("first") else "falls"
    line = (
        f"{value_in_words(finding, period)} {verb} over {said.column(1)}: mean {said.figure('first')} "
        f"in the first quarter of the {period}s, {said.figure('last')} in the last."
    )
    return said.words(line, f"{bare_value(finding)} {verb} over time")


def _group_trend(finding: Finding) -> Words:
    said, (value, _, group) = _Said(finding), _named(finding)
    line = (
        f"How {said.column(0)} changes over {said.column(1)} depends on {said.column(2)}: mean "
        f"{said.figure('first_high')} in the first quarter of the {PERIODS[finding.text('period')]}s and "
        f"{said.figure('last_high')} in the last for {said.level('level_high')}, "
        f"{said.figure('first_low')} and {said.figure('last_low')} for {said.level('level_low')}."
    )
    return said.words(line, f"how {value} changes over time depends on {group}")


def cycle_level(cycle: str, level: int) -> str:
    """Return ``on Fridays``, ``in July`` or ``at 17:00``: the hour that begins then."""
    if cycle == "weekday":
        return f"on {WEEKDAYS[level]}s"
    return f"in {MONTHS[level - 1]}" if cycle == "month" else f"at {level}:00"


def _season(finding: Finding) -> Words:
    said, cycle = _Said(finding), finding.text("cycle")
    highest, lowest = (cycle_level(cycle, finding.count(fact)) for fact in ("highest", "lowest"))
    unit = {"hour": "hour", "weekday": "day", "month": "month"}[cycle]
    line = (
        f"{value_in_words(finding, unit)} is highest {highest} (mean {said.figure('highest_mean')}) "
        f"and lowest {lowest} ({said.figure('lowest_mean')})."
    )
    return said.words(line, f"{bare_value(finding)} is highest {highest} and lowest {lowest}")


def _break(finding: Finding) -> Words:
    said, period = _Said(finding), PERIODS[finding.text("period")]
    verb = "jumps" if finding.number("after") > finding.number("before") else "drops"
    line = (
        f"{value_in_words(finding, period)} {verb} {said.moment()} ({said.column(1)}): "
        f"mean {said.figure('before')} before, {said.figure('after')} after."
    )
    return said.words(line, f"{bare_value(finding)} {verb} to another level")


def strata_in_words(finding: Finding) -> str:
    """Return ``each of four levels`` or ``three of four levels``."""
    strata, agreeing = finding.count("strata"), finding.count("agreeing")
    if strata >= len(_SMALL):
        return "each of the levels" if agreeing >= strata else "most of the levels"
    return (
        f"each of {_number(strata)} levels"
        if agreeing >= strata
        else f"{_number(agreeing)} of {_number(strata)} levels"
    )


def _reversal(finding: Finding) -> Words:
    said, (value, group, stratum) = _Said(finding), _named(finding)
    overall, within = ("higher", "lower") if finding.number("overall") > 0 else ("lower", "higher")
    if finding.text("a") or finding.text("b"):
        line = (
            f"Overall, {said.column(0)} is {overall} for {said.column(1)} {said.level('a')} than for "
            f"{said.level('b')} by {said.size('overall')}, but {within} within {strata_in_words(finding)} "
            f"of {said.column(2)}."
        )
        a, b = bare(finding.text("a")), bare(finding.text("b"))
        return said.words(line, f"{value}: {a} is {overall} than {b} overall, but {within} within {stratum}")
    overall, within = ("rises", "falls") if finding.number("overall") > 0 else ("falls", "rises")
    line = (
        f"Overall, {said.column(0)} {overall} with {said.column(1)} "
        f"(Spearman r {said.exact('overall')}), "
        f"but {within} within {strata_in_words(finding)} of {said.column(2)}."
    )
    return said.words(line, f"{value} {overall} with {group} overall, but {within} within {stratum}")


def _interaction(finding: Finding) -> Words:
    said, (value, group, stratum) = _Said(finding), _named(finding)
    if not (finding.text("a") or finding.text("b")):
        line = (
            f"How {said.column(0)} relates to {said.column(1)} depends on {said.column(2)}: "
            f"Spearman r {said.exact('difference_high')} for {said.level('level_high')}, "
            f"{said.exact('difference_low')} for {said.level('level_low')}."
        )
        return said.words(line, f"how {value} relates to {group} depends on {stratum}")
    high, low = finding.number("difference_high"), finding.number("difference_low")
    line = (
        f"How {said.column(0)} of {said.column(1)} {said.level('a')} compares with {said.level('b')} "
        f"depends on {said.column(2)}: "
        f"{said.size('difference_high')} {_side(high)} for {said.level('level_high')}, "
        f"{said.size('difference_low')} {_side(low)} for {said.level('level_low')}."
    )
    a, b = bare(finding.text("a")), bare(finding.text("b"))
    return said.words(line, f"{value}: how {group} {a} and {b} differ depends on {stratum}")


def _side(difference: float) -> str:
    return "higher" if difference >= 0 else "lower"


def _same(finding: Finding) -> Words:
    said, (one, other) = _Said(finding), _named(finding)
    if finding.has("factor") and finding.number("factor") != 1:
        line = f"{said.column(1)} is {said.figure('factor')} times {said.column(0)} in nearly every row."
        return said.words(line, f"{other} is a multiple of {one}")
    if not finding.has("factor"):
        return said.words(
            f"{said.column(1)} carries the same information as {said.column(0)}.",
            f"{other} carries the same information as {one}",
        )
    line = f"{said.column(1)} repeats {said.column(0)} in {said.percent('share')} of the rows."
    return said.words(line, f"{other} repeats {one}")


def _join(finding: Finding) -> Words:
    said = _Said(finding)
    left, right = finding.text("left"), finding.text("right")
    many = len(finding.columns) // 2
    names = [name_in_words(name) for name in finding.columns]
    columns, key = names[:many], " with ".join(names[many:])
    pairs = [one if one == other else f"{one} = {other}" for one, other in zip(columns, names[many:], strict=True)]
    line = f"{said.percent('matched')} of the rows of {left} have a match in {right} ({listed(pairs)})"
    if finding.facts.get("right_unique"):
        line += f"; {key} is unique there, so a join keeps the number of rows."
    elif finding.has("repeats"):
        verb = "repeats" if finding.count("repeats") == 1 else "repeat"
        again = f"the {key} of another" if many == 1 else "such a combination"
        line += f"; {said.counted('repeats', 'row')} there {verb} {again}, so a join multiplies rows."
    else:
        line += f"; {key} repeats there, so a join multiplies rows."
    return said.words(line, f"{left} joins {right}")


_WORDS: Mapping[FindingKind, Callable[[Finding], Words]] = {
    "duplicates": _duplicates,
    "text_type": _text_type,
    "missing": _missing,
    "missing_by_group": _missing_by_group,
    "missing_together": _missing_together,
    "gap": _gap,
    "outliers": _outliers,
    "impossible": _impossible,
    "ratio": _ratio,
    "spelling": _spelling,
    "key_spelling": _key_spelling,
    "skew": _skew,
    "group_difference": _group_difference,
    "correlation": _correlation,
    "association": _association,
    "trend": _trend,
    "group_trend": _group_trend,
    "season": _season,
    "break": _break,
    "reversal": _reversal,
    "interaction": _interaction,
    "same": _same,
    "join": _join,
}
