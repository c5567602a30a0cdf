"""Summaries as the lines of the prompt, within a token budget."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.types.variables import ColumnSummary, VariableSummary
from jupyter_codeagent.variables.mentions import RankedVariable, label_text, rank

CountTokens = Callable[[str], int]
"""At least one token for each text that is not empty."""
MAX_DETAILED = 40
"""Variables, the first in order, that are told with their columns; further ones get one line while room is left."""
FIRST_COLUMNS = 40
FEW_COLUMNS = 12
MAX_LEFT_OUT_NAMES = 8
MAX_LEFT_OUT_CHARS = 60
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_DIGITS = re.compile(r"\d+")
_FIGURE = r"(-?\d++(?:\.\d++)?(?:e[+-]?\d++)?)"
_RANGE = re.compile(rf"{_FIGURE}\.\.{_FIGURE}")


@dataclass(frozen=True, kw_only=True)
class ToldVariable:
    """One variable in the text."""

    name: str
    text: str
    tokens: int
    shortened: str = ""
    """What of it is told, where that is not everything."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the model is told of the variables."""

    tagged: TaggedText
    told: tuple[ToldVariable, ...] = ()
    """In the order of the text."""
    dropped: tuple[str, ...] = ()
    """Variables that did not fit."""
    joins_tokens: int = 0
    """Of the line of relations; 0 where there is none, or no room for it."""
    left_out_tokens: int = 0
    """Of the line that names what did not fit."""

    @property
    def text(self) -> str:
        return self.tagged.text

    @property
    def costs(self) -> tuple[tuple[str, int], ...]:
        """(variable, tokens) in the order of the text."""
        return tuple((told.name, told.tokens) for told in self.told)

    @property
    def is_shortened(self) -> bool:
        """Whether more room would tell more, the line of relations aside."""
        return bool(self.dropped) or any(told.shortened for told in self.told)

    @property
    def tokens(self) -> int:
        """Of the whole text, by the counter that it was fitted with."""
        return sum(told.tokens for told in self.told) + self.joins_tokens + self.left_out_tokens


def render(
    summaries: Sequence[VariableSummary],
    *,
    budget_tokens: int,
    mentioned: str,
    count_tokens: CountTokens,
    recent: Sequence[str] = (),
    joins: str = "",
) -> Context:
    """The most detailed form that fits.

    There is one fixed row of forms, from everything down to the first variable alone, and the first that fits is
    taken; so more room never tells less. Along this row each variable steps down the ladder before it is left out,
    the last in order first. Those that `mentioned`, the prompt, names are shortened last, and so are their columns.
    Variables behind the first `MAX_DETAILED` have one line, and are left out before those are shortened.
    """
    row = _Row(rank(summaries, mentioned, recent), budget_tokens, count_tokens, joins)
    row.fit()
    return row.context()


class _Row:
    """Walks along the row of forms; only what changes is written and counted."""

    def __init__(
        self, ranked: Sequence[RankedVariable], budget_tokens: int, count_tokens: CountTokens, joins: str
    ) -> None:
        self._budget = budget_tokens
        self._count = count_tokens
        self._names = [one.summary.name for one in ranked]
        self._named = sum(one.named for one in ranked[:MAX_DETAILED])  # they come first
        self._detailed = [_Variable(one, budget_tokens, count_tokens) for one in ranked[:MAX_DETAILED]]
        self._brief = [one.summary for one in ranked[MAX_DETAILED:]]
        self._levels = [0] * len(self._detailed)
        self._kept = len(ranked)
        self._joins = joins
        self._left_out_form = _left_out_names

    def fit(self) -> None:
        """Stop at the first form within the budget, or at the last."""
        total = sum(variable.cost(0) for variable in self._detailed) + self._cost_of(self._joins)
        if self._fits_without_some(total):
            return
        self._kept = len(self._detailed)
        for at, level in self._steps():
            if at is None:
                total -= self._cost_of(self._joins)
                self._joins = ""
            elif level is None:
                total -= self._detailed[at].cost(self._levels[at])
                self._kept = at
            else:
                variable = self._detailed[at]
                total += variable.cost(level) - variable.cost(self._levels[at])
                self._levels[at] = level
            if self._fits(total):
                return
        for form in (_left_out_count, _left_out_nothing):
            self._left_out_form = form
            if self._fits(total):
                return

    def context(self) -> Context:
        told, pieces = [], []
        for variable, level in zip(self._detailed[: self._kept], self._levels, strict=False):
            told.append(variable.told(level))
            pieces.append((variable.tagged(level), variable.is_short(level)))
        for summary in self._brief[: max(self._kept - len(self._detailed), 0)]:
            shortened = "kind and size" if summary.columns else ""
            told.append(
                ToldVariable(
                    name=summary.name,
                    text=summary.headline,
                    tokens=self._cost_of(summary.headline),
                    shortened=shortened,
                )
            )
            pieces.append((_tagged(summary, summary.headline, summary.bare_headline), False))
        left_out = self._left_out()
        return Context(
            tagged=_joined(
                [*pieces, *((tagged(line, "names"), False) for line in (self._joins, left_out) if line)]
            ),
            told=tuple(told),
            dropped=tuple(self._names[self._kept :]),
            joins_tokens=self._cost_of(self._joins),
            left_out_tokens=self._cost_of(left_out),
        )

    def _fits_without_some(self, total: int) -> bool:
        """Leave out as few as possible of those behind the detailed ones, counting no more than there is room for.

        `total` is the cost of the others in full. Keeps nothing and returns False where no such form fits.
        """
        best = -1
        for at in range(len(self._brief) + 1):
            if total > self._budget:
                break
            self._kept = len(self._detailed) + at
            if self._fits(total):
                best = at
            if at < len(self._brief):
                total += self._cost_of(self._brief[at].headline)
        self._kept = len(self._detailed) + max(best, 0)
        return best >= 0

    def _steps(self) -> Iterable[tuple[int | None, int | None]]:
        """(variable, its next level) in the order of the row; no level: left out, no variable: the joins are."""
        others = range(len(self._detailed) - 1, self._named - 1, -1)
        named = range(self._named - 1, -1, -1)
        levels = range(1, len(LADDER))
        yield from ((at, level) for level in levels for at in others)
        yield (None, None)
        wide = [at for at in named if self._detailed[at].is_wide]  # all others are not left out for their width
        yield from ((at, level) for level in levels[:2] for at in named)
        yield from ((at, level) for level in levels[2:] for at in wide)
        yield from ((at, None) for at in others if at)  # the first is told in any case: it is what is asked about
        yield from ((at, level) for level in levels[2:] for at in named if at not in wide)
        yield from ((at, None) for at in named if at)

    def _fits(self, total: int) -> bool:
        return total <= self._budget and total + self._cost_of(self._left_out()) <= self._budget

    def _left_out(self) -> str:
        count = len(self._names) - self._kept
        return self._left_out_form(self._names[self._kept : self._kept + MAX_LEFT_OUT_NAMES], count)

    def _cost_of(self, line: str) -> int:
        return self._count(f"{line}\n") if line else 0


class _Variable:
    """The forms of one variable and what they cost; each is written when it is asked for."""

    def __init__(self, ranked: RankedVariable, budget_tokens: int, count_tokens: CountTokens) -> None:
        self._summary = ranked.summary
        self._asked = frozenset(ranked.columns)
        self._budget = budget_tokens
        self._count = count_tokens
        self._texts: dict[int, str] = {}
        self._costs: dict[int, int] = {}

    def text(self, level: int) -> str:
        return self._written(self._form(level))

    def tagged(self, level: int) -> TaggedText:
        form = LADDER[self._form(level)][0]
        return _tagged(self._summary, self.text(level), form(_bare(self._summary), self._asked))

    def _written(self, form: int) -> str:
        if form not in self._texts:
            self._texts[form] = LADDER[form][0](self._summary, self._asked)
        return self._texts[form]

    def _form(self, level: int) -> int:
        """The level above that says as much for no more: of a narrow table all names, of no table its headline."""
        if not self._summary.columns:
            return min(level, 1) if level < BRIEF else BRIEF
        if level <= BRIEF or self.is_wide:
            return level
        return min(range(BRIEF, level + 1), key=lambda form: self._count(f"{self._written(form)}\n"))

    def cost(self, level: int) -> int:
        """At least one for each name that is told: of wide tables that is enough to know that there is no room."""
        names = len(self._summary.columns)
        if names > self._budget and level <= BRIEF:
            least = names if level < COLLAPSED else self._run_count
            if least > self._budget:
                return least
        level = self._form(level)
        if level not in self._costs:
            self._costs[level] = self._count(f"{self.text(level)}\n")
        return self._costs[level]

    @cached_property
    def _run_count(self) -> int:
        return len(_runs(self._summary.columns, self._asked))

    @property
    def is_wide(self) -> bool:
        return len(self._summary.columns) > FIRST_COLUMNS

    def is_short(self, level: int) -> bool:
        """So short that several can share a line."""
        return level >= BRIEF and not self._summary.columns

    def told(self, level: int) -> ToldVariable:
        is_less = level and self.text(level) != self.text(0)
        shortened = LADDER[self._form(level)][1] if is_less else ""
        return ToldVariable(
            name=self._summary.name, text=self.text(level), tokens=self.cost(level), shortened=shortened
        )


def _full(summary: VariableSummary, asked: frozenset[int]) -> str:
    # Indented: no text of the data stands where a line of ours begins.
    rows = "\n rows:" + "".join(f"\n  {row}" for row in summary.rows.split("\n")) if summary.rows else ""
    return _head(summary) + "".join(f"\n {_line(column)}" for column in summary.columns) + rows


def _without_examples(summary: VariableSummary, asked: frozenset[int]) -> str:
    return _head(summary) + "".join(f"\n {_line(replace(column, example=''))}" for column in summary.columns)


def _collapsed(summary: VariableSummary, asked: frozenset[int]) -> str:
    return _head(summary) + "".join(
        f"\n {_run_line(summary.columns, run)}" for run in _runs(summary.columns, asked)
    )


def _by_type(summary: VariableSummary, asked: frozenset[int]) -> str:
    """One line: the names of each type; columns that the prompt names keep their statistics."""
    named = _asked_lines(summary, asked)
    rest: dict[str, list[str]] = {}
    for run in _runs(summary.columns, asked):
        if run[0] not in asked:
            rest.setdefault(summary.columns[run[0]].dtype, []).append(_run_name(summary.columns, run))
    return _one_line(summary, [*named, *(f"{dtype} {', '.join(names)}" for dtype, names in rest.items())])


def _first(summary: VariableSummary, asked: frozenset[int]) -> str:
    return _first_names(summary, asked, FIRST_COLUMNS)


def _few(summary: VariableSummary, asked: frozenset[int]) -> str:
    return _first_names(summary, asked, FEW_COLUMNS)


def _size(summary: VariableSummary, asked: frozenset[int]) -> str:
    return _first_names(summary, asked, 0)


LADDER: tuple[tuple[Callable[[VariableSummary, frozenset[int]], str], str], ...] = (
    (_full, ""),
    (_without_examples, "no examples"),
    (_collapsed, "similar columns together"),
    (_by_type, "names and types"),
    (_first, f"names, {FIRST_COLUMNS} at most"),
    (_few, f"names, {FEW_COLUMNS} at most"),
    (_size, "kind and size"),
)
"""(form, what is told of a variable in it), the most detailed first."""
COLLAPSED, BRIEF = 2, 3
"""Levels from which similar columns share a line, and from which a variable has one line at the most."""


def _first_names(summary: VariableSummary, asked: frozenset[int], limit: int) -> str:
    """Names of so many columns, those that the prompt names before all others, and the number of the rest."""
    parts = _asked_lines(summary, frozenset(sorted(asked)[: max(limit, FEW_COLUMNS)]))
    others = [at for at in range(len(summary.columns)) if at not in asked][: max(limit - len(parts), 0)]
    if others:
        parts.append(", ".join(column_label(summary.columns[at].name) for at in others))
    told = len(others) + min(len(asked), max(limit, FEW_COLUMNS))
    more = len(summary.columns) - told
    if more:
        parts.append(f"… +{more}, see {summary.name}.columns" if told else f"see {summary.name}.columns")
    return _one_line(summary, parts)


def _one_line(summary: VariableSummary, parts: Sequence[str]) -> str:
    if not summary.columns:
        return f"{summary.name}: {summary.type_name}"
    return f"{summary.headline}: {'; '.join(parts)}"


def _asked_lines(summary: VariableSummary, asked: frozenset[int]) -> list[str]:
    return [_line(replace(summary.columns[at], example="")) for at in sorted(asked)]


def _head(summary: VariableSummary) -> str:
    return (
        f"{summary.headline} (figures from a sample)" if summary.sampled and summary.columns else summary.headline
    )


def _line(column: ColumnSummary) -> str:
    parts = [column_label(column.name), column.dtype, column.stats]
    if column.example:
        parts.append(f"e.g. {column.example}")
    parts.append(column.missing)
    return " ".join(part for part in parts if part)


def column_label(quoted: str) -> str:
    """A plain word is bare, which saves two tokens; any other is the label's `repr`, so that data reads as data."""
    text = label_text(quoted)
    bare = quoted == f"'{text}'" and _BARE.fullmatch(text) and not keyword.iskeyword(text)
    return text if bare else quoted


def _runs(columns: Sequence[ColumnSummary], asked: frozenset[int]) -> list[list[int]]:
    """Positions of neighbours of one type whose names differ in a number only: ``m01..m12``.

    A column that the prompt names stands alone.
    """
    runs: list[list[int]] = []
    last: tuple[str, str] | None = None
    for at, column in enumerate(columns):
        pattern = (_DIGITS.sub("#", column.name), column.dtype) if at not in asked else None
        if pattern is not None and pattern == last and pattern[0] != column.name:
            runs[-1].append(at)
        else:
            runs.append([at])
        last = pattern
    return runs


def _run_name(columns: Sequence[ColumnSummary], run: Sequence[int]) -> str:
    first = column_label(columns[run[0]].name)
    return first if len(run) == 1 else f"{first}..{column_label(columns[run[-1]].name)} ({len(run)})"


def _run_line(columns: Sequence[ColumnSummary], run: Sequence[int]) -> str:
    """What is true of all columns of the run."""
    together = [columns[at] for at in run]
    if len(together) == 1:
        return _line(replace(together[0], example=""))
    missing = {column.missing for column in together}
    parts = [_run_name(columns, run), together[0].dtype, _together([column.stats for column in together])]
    parts.append(missing.pop() if len(missing) == 1 else "some missing")
    return " ".join(part for part in parts if part)


def _together(stats: Sequence[str]) -> str:
    """The range over all ranges; other statistics only where they are the same."""
    if len(set(stats)) == 1:
        return stats[0]
    ranges = [_RANGE.fullmatch(text) for text in stats]
    found = [one.groups() for one in ranges if one is not None]
    if len(found) < len(stats):
        return ""
    low = min((low for low, _ in found), key=float)
    return f"{low}..{max((high for _, high in found), key=float)}"


def _bare(summary: VariableSummary) -> VariableSummary:
    """Names and types of it, as under the privacy mode ``schema``."""
    columns = tuple(replace(column, stats="", example="", missing="") for column in summary.columns)
    return replace(summary, headline=summary.bare_headline, columns=columns, rows="")


def _tagged(summary: VariableSummary, text: str, bare: str) -> TaggedText:
    """A form of a variable. What it says beyond the same form of `_bare` is statistics; what is below it, rows."""
    lines, bare_lines = text.split("\n"), bare.split("\n")
    told = [
        tagged(line, "names") if line == without else tagged(line, "names", "statistics")
        for line, without in zip(lines, bare_lines, strict=False)
    ]
    return join("\n", [*told, *(tagged(line, "rows") for line in lines[len(bare_lines) :])])


def _left_out_names(names: Sequence[str], count: int) -> str:
    """``and 23 more variables: a, b, c, …``; `names` are the first of `count`."""
    if not count:
        return ""
    told = [
        name for at, name in enumerate(names) if at == 0 or len(", ".join(names[: at + 1])) <= MAX_LEFT_OUT_CHARS
    ]
    rest = ", …" if len(told) < count else ""
    return f"{_left_out_count(names, count)}: {', '.join(told)}{rest}"


def _left_out_count(names: Sequence[str], count: int) -> str:
    return f"and {count} more variable{'s' if count > 1 else ''}" if count else ""


def _left_out_nothing(names: Sequence[str], count: int) -> str:
    return ""


def _joined(pieces: Sequence[tuple[TaggedText, bool]]) -> TaggedText:
    """One line each; short ones that follow each other share a line."""
    lines: list[TaggedText] = []
    before = False
    for piece, short in pieces:
        if short and before:
            lines[-1] = join("; ", (lines[-1], piece))
        else:
            lines.append(piece)
        before = short
    return join("\n", lines)
