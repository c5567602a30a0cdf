"""Questions that go on from a finding or a result, each with the program that answers it: templates, no model.

A question has names of tables and columns, and no value of the data. The programs are those of the findings where
there is one for what is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from jupyter_codeagent.explore.figures import digits_for
from jupyter_codeagent.explore.names import MAX_NAME_CHARS, bare, name_in_words
from jupyter_codeagent.explore.programs import groups, pairs, quality, questions, strata, times
from jupyter_codeagent.explore.programs.draft import MOST_ROWS, Draft
from jupyter_codeagent.explore.words import ROUNDED
from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.exploration import (
    ColumnOverview,
    Exploration,
    FactValue,
    Finding,
    FindingKind,
    TableOverview,
)

QuestionKind = Literal[
    "means",
    "means_within",
    "within",
    "over_time",
    "cycle",
    "together",
    "distribution",
    "shares",
    "counts",
    "rows",
    "missing",
    "missing_within",
]

MOST_CANDIDATES = 6
MAX_LEVELS = 50
MAX_WHOLE_LEVELS = 12
"""Different whole numbers up to which a column of them is grouped by rather than averaged, as the search has it."""
FEWEST_ROWS = 20
"""Rows below which nothing is asked: whoever has so few sees them all."""
USUAL_DIGITS = 4
"""Of means of floats whose size nobody knows."""
WHOLE_DIGITS = 2
DATE_PARTS = frozenset(
    {"year", "quarter", "month", "week", "weekday", "dow", "dayofweek", "day", "hour", "minute", "second"}
)
"""Names of numbers that nobody averages."""
PERIOD_OF_DAYS = ((60, "D"), (366, "W"), (6 * 366, "M"), (20 * 366, "Q"))
"""Longest time covered in days, and the period of which a line has a handful to some dozens of points."""
FEWEST_DAYS = 5
_SHORT_TYPES = ("int", "uint", "float", "bool")
"""Of columns whose values fit beside an axis."""
CYCLES = {"hour": "hours of the day", "weekday": "days of the week", "month": "months of the year"}

Answered = tuple[QuestionKind, frozenset[str]]
"""What is shown already: a kind of question and its columns."""


Idea = tuple[QuestionKind, tuple[str, ...]]
"""A kind of question and its columns, in the order of the kind; ``""`` stands for the number of rows."""


@dataclass(frozen=True, kw_only=True)
class NextQuestion:
    """A question that the data can answer, before its program has run."""

    text: str
    """What the button says, and the prompt that it asks."""
    code: str
    kind: QuestionKind
    table: str
    columns: tuple[str, ...]
    """In the order of the kind; ``""`` in the place of a value stands for the number of rows."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a result is about: the questions go on from there."""

    table: str
    columns: tuple[str, ...] = ()
    """Its columns, the most important first; ``""`` stands for the number of rows."""
    answered: frozenset[Answered] = frozenset()


def next_questions(
    exploration: Exploration,
    shown: Shown,
    *,
    taken: Collection[str] = (),
    personal: Mapping[str, Collection[str]] | None = None,
    charts: ChartLibrary = "matplotlib",
) -> tuple[NextQuestion, ...]:
    """Return at most `MOST_CANDIDATES` questions, the most useful first; none on a small or unknown table.

    Parameters
    ----------
    taken
        Names of the user's, which no program assigns to.
    personal
        Columns by table that no question is about and of which no value is shown.
    charts
        The library that draws charts.
    """
    overview = exploration.overview(shown.table)
    if overview is None or overview.rows < FEWEST_ROWS:
        return ()
    hidden = personal or {}
    table = _Table(exploration, overview, frozenset(hidden.get(shown.table, ())))
    ideas = [one for one in dict.fromkeys(_ideas(table, shown)) if _key(*one) not in shown.answered]
    ideas.sort(key=lambda one: not table.was_found(*one))  # stable: what the data shows comes first
    questions = {
        one.text: one for one in (_question(table, *idea, taken, hidden, charts) for idea in _varied(ideas))
    }
    return tuple(questions.values())


def _varied(ideas: Sequence[Idea]) -> list[Idea]:
    """Return the ideas that become candidates: one of each kind before there are two of one."""
    first = {kind: (kind, columns) for kind, columns in reversed(ideas)}
    chosen = [one for one in ideas if one in first.values()]
    return [*chosen, *(one for one in ideas if one not in chosen)][:MOST_CANDIDATES]


def shown_by(table: str, finding: Finding | None, shown: Collection[Finding]) -> Shown:
    """Return what a cell of an exploration is about: its finding, or without one the table as a whole.

    All findings that are `shown` have answered their questions, and the overview which values are missing.
    """
    answers = (answered_by(one) for one in shown if one.table == table)
    return Shown(
        table=table,
        columns=finding.columns if finding is not None else (),
        answered=frozenset([_key("missing", ()), *(one for one in answers if one is not None)]),
    )


def answered_by(finding: Finding) -> Answered | None:
    """Return the question that a finding answers; None if there is none for its kind."""
    kind = _ANSWERS.get(finding.kind)
    if finding.kind in ("reversal", "interaction"):  # of two levels it shows less than the question asks
        kind = None if finding.text("a") or finding.text("b") else "within"
    return None if kind is None else _key(kind, finding.columns)


_ANSWERS: Mapping[FindingKind, QuestionKind] = {
    "group_difference": "means",
    "correlation": "together",
    "trend": "over_time",
    "break": "over_time",
    "season": "cycle",
    "skew": "distribution",
    "outliers": "distribution",
    "missing_by_group": "missing_within",
}


def _key(kind: QuestionKind, columns: tuple[str, ...]) -> Answered:
    return kind, frozenset(columns)


class _Table:
    """The columns of a table that questions may be about."""

    def __init__(self, exploration: Exploration, overview: TableOverview, personal: frozenset[str]) -> None:
        # A question is about all values: none that look impossible are left out of its answer.
        possible = tuple(one for one in exploration.findings if one.kind != "impossible")
        self.exploration = replace(exploration, findings=possible)
        self.overview = overview
        self.findings = [one for one in exploration.findings if one.table == overview.table]
        usable = [one for one in overview.columns if one.name not in personal and _is_sayable(one.name)]
        self.columns = {one.name: one for one in usable}
        self.numbers = tuple(one.name for one in usable if _is_number(one))
        self.groups = tuple(one.name for one in usable if _is_group(one))
        dates = overview.dates.column if overview.dates is not None else ""
        self.date = dates if dates in self.columns and self.columns[dates].role == "date" else ""

    def missing(self, name: str) -> int:
        return self.columns[name].missing if name in self.columns else 0

    def weight(self, *names: str) -> float:
        """Return the largest effect that was found among these columns."""
        wanted = {name for name in names if name}
        return max((one.effect for one in self.findings if wanted <= {*one.columns}), default=0.0)

    def was_found(self, kind: QuestionKind, columns: tuple[str, ...]) -> bool:
        return any(answered_by(one) == _key(kind, columns) for one in self.findings)

    def best_groups(self, value: str, without: Collection[str]) -> list[str]:
        """Return the categories to divide by, those that the value depends on first."""
        others = [name for name in self.groups if name not in without and name != value]
        most = MOST_ROWS[self.overview.library]
        return sorted(
            others,
            key=lambda name: (
                -self.weight(value, name),
                self.columns[name].distinct > most,
                self.missing(name),
                -self.columns[name].distinct,
            ),
        )

    def fits(self, name: str, most: int) -> bool:
        return self.columns[name].distinct <= most


def _is_sayable(name: str) -> bool:
    """Check that a name stands in a question as it is: cut or masked, it could mean another column.

    Braces would be evaluated where a question is asked.
    """
    whole = name == one_line(name, MAX_NAME_CHARS) and bool(name.strip())
    return whole and not {"`", "{", "}"} & {*name}


def _is_number(column: ColumnOverview) -> bool:
    return column.role == "number" and not _is_date_part(column.name) and column.distinct > 2


def _is_date_part(name: str) -> bool:
    return name.lower().replace("_", "").replace(" ", "") in DATE_PARTS


def _is_group(column: ColumnOverview) -> bool:
    if column.role in ("category", "flag"):
        return 2 <= column.distinct <= MAX_LEVELS
    is_whole = column.type.lower().startswith(("int", "uint"))
    return column.role == "number" and is_whole and 3 <= column.distinct <= MAX_WHOLE_LEVELS


def _ideas(table: _Table, shown: Shown) -> Iterator[Idea]:
    """Yield what could be asked next: within groups, over time, the same by something else, the shape, the rows."""
    named = [name for name in shown.columns if name in table.columns]
    numbers = [name for name in named if name in table.numbers]
    by = [name for name in named if name in table.groups and name not in numbers[:2]]
    value = numbers[0] if numbers else _best_number(table, shown, by)
    others = table.best_groups(value, {*by, *numbers[:2]})
    few, most = questions.MOST_ACROSS, MOST_ROWS[table.overview.library]
    if len(numbers) > 1:
        yield from (("within", (numbers[1], numbers[0], name)) for name in [*others, *by][:1])
    if value and by and table.fits(by[0], most):
        yield from (("means_within", (value, by[0], name)) for name in others if table.fits(name, few))
    categories = [*by, *others]
    if len(by) > 1 or not value:
        pair = [name for name in categories if table.fits(name, most)][:2]
        if len(pair) == 2 and table.fits(pair[1], few):
            yield "shares", (pair[0], pair[1])
    if value:
        yield from (("means", (value, name)) for name in [*others[:1], *by[:1], *others[1:2]])
    if table.date and _period(table.overview):
        yield "over_time", (value, table.date)
    yield from _shape(table, value, numbers)
    lacking = [name for name in named if table.missing(name)]
    if lacking and (divided := [name for name in categories if name != lacking[0]]):
        yield "missing_within", (lacking[0], divided[0])
    if value:
        yield "rows", (value,)
    yield from (("counts", (name,)) for name in categories[:1])
    if any(one.missing for one in table.overview.columns):
        yield "missing", ()


def _shape(table: _Table, value: str, numbers: list[str]) -> Iterator[Idea]:
    """Yield what was found of the value: repetitions over time, what it goes with; and how it is spread."""
    for one in table.findings:
        if one.kind == "season" and one.columns == (value, table.date):
            yield "cycle", (value, table.date)
        goes_with = one.kind == "correlation" and value in one.columns and table.numbers
        if goes_with and all(name in table.numbers for name in one.columns):
            yield "together", one.columns
    for name in dict.fromkeys([*([value] if value else []), *numbers[:2]]):
        yield "distribution", (name,)


def _best_number(table: _Table, shown: Shown, by: list[str]) -> str:
    """Return the number to ask about where the result has none; empty where it counts rows, or there is none."""
    if "" in shown.columns:
        return ""
    return max(table.numbers, key=lambda name: table.weight(name, *by[:1]), default="")


def _period(overview: TableOverview) -> str:
    """Return the period of a line over all dates; empty if they cover too few days."""
    if overview.dates is None:
        return ""
    first, last = (datetime.fromisoformat(text[:10]) for text in (overview.dates.first, overview.dates.last))
    days = (last - first).days
    return "" if days < FEWEST_DAYS else next((code for most, code in PERIOD_OF_DAYS if days <= most), "Y")


# --- words and programs -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Template:
    """How a kind of question is asked and answered."""

    text: str
    """With places for the columns, and for the table."""
    title: str
    finding: FindingKind
    """Kind of the finding whose facts the writer reads."""
    write: Callable[[Draft], None]


_TEMPLATES: Mapping[QuestionKind, _Template] = {
    "means": _Template(
        text="How does {0} differ by {1} in {table}?",
        title="{0} by {1}",
        finding="group_difference",
        write=groups.group_difference,
    ),
    "means_within": _Template(
        text="How does {0} differ by {1} within each {2} in {table}?",
        title="mean {0} by {1} and {2}",
        finding="group_difference",
        write=questions.means_within,
    ),
    "within": _Template(
        text="How is {0} related to {1} within each {2} in {table}?",
        title="{0} and {1} within each {2}",
        finding="reversal",
        write=strata.reversal,
    ),
    "over_time": _Template(
        text="How does {0} change over {1} in {table}?",
        title="{0} over {1}",
        finding="trend",
        write=times.trend,
    ),
    "cycle": _Template(
        text="How does {0} vary over the {cycle} ({1}) in {table}?",
        title="{0} over the {cycle}",
        finding="season",
        write=times.season,
    ),
    "together": _Template(
        text="How is {1} related to {0} in {table}?",
        title="{1} and {0}",
        finding="correlation",
        write=pairs.correlation,
    ),
    "distribution": _Template(
        text="How is {0} distributed in {table}?",
        title="distribution of {0}",
        finding="skew",
        write=quality.skew,
    ),
    "shares": _Template(
        text="What share does each {1} have within each {0} in {table}?",
        title="share of each {1} within each {0}",
        finding="association",
        write=questions.shares,
    ),
    "counts": _Template(
        text="How many rows of {table} does each {0} have?",
        title="rows of {table} by {0}",
        finding="missing",
        write=questions.counts,
    ),
    "rows": _Template(
        text="Which rows of {table} have the highest {0}?",
        title="rows of {table} with the highest {0}",
        finding="missing",
        write=questions.highest_rows,
    ),
    "missing": _Template(
        text="Which columns of {table} have missing values?",
        title="missing values of {table}",
        finding="missing",
        write=quality.missing,
    ),
    "missing_within": _Template(
        text="How often is {0} missing within each {1} in {table}?",
        title="missing {0} by {1}",
        finding="missing_by_group",
        write=questions.missing_within,
    ),
}


def _question(
    table: _Table,
    kind: QuestionKind,
    columns: tuple[str, ...],
    taken: Collection[str],
    personal: Mapping[str, Collection[str]],
    charts: ChartLibrary,
) -> NextQuestion:
    template, name = _TEMPLATES[kind], table.overview.table
    facts = _facts(table, kind, columns)
    cycle = CYCLES.get(str(facts.get("cycle")), "")
    finding = Finding(
        kind=template.finding,
        table=name,
        columns=columns or ("",),
        effect=0.0,
        p_value=0.0,
        facts=facts,
    )
    rows = f"the number of rows of {name}"
    title = template.title.format(*(bare(one) if one else rows for one in columns), table=name, cycle=cycle)
    draft = Draft(finding, table.exploration, taken, personal, title, charts=charts)
    draft.digits = _digits(table, columns)
    draft.knows_levels = all(draft.overview.column(one).type.lower().startswith(_SHORT_TYPES) for one in columns)
    template.write(draft)
    said = [name_in_words(one) if one else "the number of rows" for one in columns]
    text = template.text.format(*said, table=name, cycle=cycle)
    return NextQuestion(text=text, code=draft.text().strip(), kind=kind, table=name, columns=columns)


def _facts(table: _Table, kind: QuestionKind, columns: tuple[str, ...]) -> dict[str, FactValue]:
    """Return what the writers need to know of the data: sizes, and how time is divided."""
    facts: dict[str, FactValue] = {"n": table.overview.rows}
    match kind:
        case "means":
            facts["levels"] = table.columns[columns[1]].distinct
        case "over_time":
            facts["period"] = _period(table.overview)
        case "cycle":
            found = (one for one in table.findings if one.kind == "season" and one.columns == columns)
            facts["cycle"] = next(one.text("cycle") for one in found)
        case "together":
            facts["form"] = "line"
    return facts


def _digits(table: _Table, columns: tuple[str, ...]) -> int:
    """Return the digits behind the point of a mean: as many as a finding needs, else the usual ones."""
    value = columns[0] if columns else ""
    for one in table.findings:
        names = ROUNDED.get(one.kind, ())
        if names and one.columns[0] == value and one.kind not in ("same", "correlation"):
            return max(digits_for(*(one.number(fact) for fact in names if one.has(fact))), WHOLE_DIGITS)
    column = table.columns.get(value)
    return WHOLE_DIGITS if column is not None and column.type.lower().startswith(("int", "uint")) else USUAL_DIGITS
