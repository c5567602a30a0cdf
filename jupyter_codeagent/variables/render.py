"""Write the summaries of variables as lines of the prompt, within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from jupyter_codeagent.types.tagged_text import TaggedText, join, tagged
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.detail_levels import (
    BRIEF,
    COLLAPSED,
    DETAIL_LEVELS,
    FIRST_COLUMNS,
    column_runs,
    without_values,
)
from jupyter_codeagent.variables.mentions import RankedVariable, rank

CountTokens = Callable[[str], int]
"""Counts at least one token for each text that is not empty."""
MAX_DETAILED = 40
"""Variables that appear with their columns, the first in order; further ones have one line while they fit."""
MAX_LEFT_OUT_NAMES = 8
MAX_LEFT_OUT_CHARS = 60


@dataclass(frozen=True, kw_only=True)
class RenderedVariable:
    """One variable in the text."""

    name: str
    text: str
    tokens: int
    shortened: str = ""
    """What the prompt has of it, where that is not everything."""


@dataclass(frozen=True, kw_only=True)
class RenderedVariables:
    """The part of the prompt that describes the variables."""

    tagged: TaggedText
    variables: tuple[RenderedVariable, ...] = ()
    """In the order of the text."""
    dropped: tuple[str, ...] = ()
    """Variables that did not fit."""
    joins_tokens: int = 0
    """Tokens of the line with joins; 0 where there is none, or it does not fit."""
    left_out_tokens: int = 0
    """Tokens of the line that names what did not fit."""

    @property
    def text(self) -> str:
        """The lines without tags."""
        return self.tagged.text

    @property
    def is_shortened(self) -> bool:
        """Whether a larger budget would allow more, the line with joins aside."""
        return bool(self.dropped) or any(variable.shortened for variable in self.variables)

    @property
    def tokens(self) -> int:
        """Tokens of the whole text, by the counter that it was fitted with."""
        return sum(variable.tokens for variable in self.variables) + self.joins_tokens + self.left_out_tokens


def render(
    summaries: Sequence[VariableSummary],
    *,
    budget_tokens: int,
    mentioned: str,
    count_tokens: CountTokens,
    recent: Sequence[str] = (),
    joins: str = "",
) -> RenderedVariables:
    """Return the most detailed text that fits into the budget.

    There is one fixed sequence of texts, from everything down to the first variable alone, and the first that fits
    is taken; so a larger budget never gives less. Along this sequence each variable steps down its levels of detail
    before it is left out, the last in order first. Variables and columns that `mentioned`, the prompt, names are
    shortened last. Variables behind the first `MAX_DETAILED` have one line, and are left out before those are
    shortened.
    """
    fitting = _Fitting(rank(summaries, mentioned, recent), budget_tokens, count_tokens, joins)
    fitting.fit()
    return fitting.result()


class _Fitting:
    """A walk along the sequence of texts; only what changes is written and counted."""

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
        """Stop at the first text within the budget, or at the last."""
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

    def result(self) -> RenderedVariables:
        """Return the text at which `fit` has stopped."""
        rendered, pieces = [], []
        for variable, level in zip(self._detailed[: self._kept], self._levels, strict=False):
            rendered.append(variable.rendered(level))
            pieces.append((variable.tagged(level), variable.is_short(level)))
        for summary in self._brief[: max(self._kept - len(self._detailed), 0)]:
            shortened = "kind and size" if summary.columns else ""
            rendered.append(
                RenderedVariable(
                    name=summary.name,
                    text=summary.headline,
                    tokens=self._cost_of(summary.headline),
                    shortened=shortened,
                )
            )
            pieces.append((_tagged(summary, summary.headline, summary.bare_headline), False))
        left_out = self._left_out()
        return RenderedVariables(
            tagged=_joined(
                [*pieces, *((tagged(line, "names"), False) for line in (self._joins, left_out) if line)]
            ),
            variables=tuple(rendered),
            dropped=tuple(self._names[self._kept :]),
            joins_tokens=self._cost_of(self._joins),
            left_out_tokens=self._cost_of(left_out),
        )

    def _fits_without_some(self, total: int) -> bool:
        """Leave out as few as possible of those behind the detailed ones, counting no more than can fit.

        `total` is the cost of the detailed ones in full. Keep none and return False where no such text fits.
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
        """Yield (variable, its next level) in order; no level: it is left out, no variable: the joins are."""
        others = range(len(self._detailed) - 1, self._named - 1, -1)
        named = range(self._named - 1, -1, -1)
        levels = range(1, len(DETAIL_LEVELS))
        yield from ((at, level) for level in levels for at in others)
        yield (None, None)
        wide = [
            at for at in named if self._detailed[at].is_wide
        ]  # narrow variables are not shortened that far before others are left out
        yield from ((at, level) for level in levels[:2] for at in named)
        yield from ((at, level) for level in levels[2:] for at in wide)
        yield from ((at, None) for at in others if at)  # the first always stays: the question is about it
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
    """The forms of one variable and their costs; each form is written when it is needed."""

    def __init__(self, ranked: RankedVariable, budget_tokens: int, count_tokens: CountTokens) -> None:
        self._summary = ranked.summary
        self._mentioned = frozenset(ranked.columns)
        self._budget = budget_tokens
        self._count = count_tokens
        self._texts: dict[int, str] = {}
        self._costs: dict[int, int] = {}

    def text(self, level: int) -> str:
        """Return the text of a level."""
        return self._written(self._form(level))

    def tagged(self, level: int) -> TaggedText:
        """Return the text of a level with the kinds of data in each line."""
        form = DETAIL_LEVELS[self._form(level)][0]
        return _tagged(self._summary, self.text(level), form(without_values(self._summary), self._mentioned))

    def _written(self, form: int) -> str:
        if form not in self._texts:
            self._texts[form] = DETAIL_LEVELS[form][0](self._summary, self._mentioned)
        return self._texts[form]

    def _form(self, level: int) -> int:
        """Return a level above that costs no more: for a narrow table all names, for other values the headline."""
        if not self._summary.columns:
            return min(level, 1) if level < BRIEF else BRIEF
        if level <= BRIEF or self.is_wide:
            return level
        return min(range(BRIEF, level + 1), key=lambda form: self._count(f"{self._written(form)}\n"))

    def cost(self, level: int) -> int:
        """Return the tokens of a level; for wide tables a lower bound, one per name, if that exceeds the budget."""
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
        return len(column_runs(self._summary.columns, self._mentioned))

    @property
    def is_wide(self) -> bool:
        """Whether a line of names cannot have all columns."""
        return len(self._summary.columns) > FIRST_COLUMNS

    def is_short(self, level: int) -> bool:
        """Check whether a level is so short that several variables can share a line."""
        return level >= BRIEF and not self._summary.columns

    def rendered(self, level: int) -> RenderedVariable:
        """Return the text of a level with its cost and its label."""
        is_less = level and self.text(level) != self.text(0)
        shortened = DETAIL_LEVELS[self._form(level)][1] if is_less else ""
        return RenderedVariable(
            name=self._summary.name, text=self.text(level), tokens=self.cost(level), shortened=shortened
        )


def _tagged(summary: VariableSummary, text: str, bare: str) -> TaggedText:
    """Tag a form: what it has beyond the same form without values is statistics; lines below are rows."""
    lines, bare_lines = text.split("\n"), bare.split("\n")
    tagged_lines = [
        tagged(line, "names") if line == without else tagged(line, "names", "statistics")
        for line, without in zip(lines, bare_lines, strict=False)
    ]
    return join("\n", [*tagged_lines, *(tagged(line, "rows") for line in lines[len(bare_lines) :])])


def _left_out_names(names: Sequence[str], count: int) -> str:
    """Write ``and 23 more variables: a, b, c, …``; `names` are the first of `count`."""
    if not count:
        return ""
    listed = [
        name for at, name in enumerate(names) if at == 0 or len(", ".join(names[: at + 1])) <= MAX_LEFT_OUT_CHARS
    ]
    rest = ", …" if len(listed) < count else ""
    return f"{_left_out_count(names, count)}: {', '.join(listed)}{rest}"


def _left_out_count(names: Sequence[str], count: int) -> str:
    return f"and {count} more variable{'s' if count > 1 else ''}" if count else ""


def _left_out_nothing(names: Sequence[str], count: int) -> str:
    return ""


def _joined(pieces: Sequence[tuple[TaggedText, bool]]) -> TaggedText:
    """Join pieces, each on its own line; adjacent short ones share a line."""
    lines: list[TaggedText] = []
    before = False
    for piece, short in pieces:
        if short and before:
            lines[-1] = join("; ", (lines[-1], piece))
        else:
            lines.append(piece)
        before = short
    return join("\n", lines)
