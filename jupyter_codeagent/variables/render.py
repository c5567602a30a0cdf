"""Summaries as the lines of the prompt, within a token budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.values import ColumnSummary, VariableSummary
from jupyter_codeagent.variables.mentions import mentioned_columns, order

CountTokens = Callable[[str], int]
FIRST_COLUMNS = 40


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the model is told of the variables."""

    text: str
    costs: tuple[tuple[str, int], ...]
    """(variable, tokens) in the order of the text."""
    dropped: tuple[str, ...]
    """Variables that did not fit."""


def render(
    summaries: Sequence[VariableSummary], *, budget_tokens: int, mentioned: str, count_tokens: CountTokens
) -> Context:
    """The most detailed form that fits: each variable steps down the ladder before one is left out.

    Ladder: full lines, without examples, runs of similar columns collapsed, names and types, the first columns.
    Those that the prompt names are shortened last.
    """
    ordered = order(summaries, mentioned)
    levels = [0] * len(ordered)
    texts = [LADDER[0](summary, mentioned) for summary in ordered]
    costs = [count_tokens(text) for text in texts]
    for level in range(1, len(LADDER)):
        for at in reversed(range(len(ordered))):
            if sum(costs) <= budget_tokens:
                break
            levels[at] = level
            texts[at] = LADDER[level](ordered[at], mentioned)
            costs[at] = count_tokens(texts[at])
    kept = _kept(costs, budget_tokens)
    return Context(
        text="\n".join(texts[:kept]),
        costs=tuple((ordered[at].name, costs[at]) for at in range(kept)),
        dropped=tuple(summary.name for summary in ordered[kept:]),
    )


def _kept(costs: Sequence[int], budget_tokens: int) -> int:
    total = 0
    for at, cost in enumerate(costs):
        total += cost
        if total > budget_tokens and at:  # the first is told in any case: it is what the prompt is about
            return at
    return len(costs)


def _full(summary: VariableSummary, mentioned: str) -> str:
    rows = f"\n  rows:\n{summary.rows}" if summary.rows else ""
    sampled = " (figures from a sample)" if summary.sampled and summary.columns else ""
    return f"{summary.headline}{sampled}" + "".join(f"\n  {_line(column)}" for column in summary.columns) + rows


def _without_examples(summary: VariableSummary, mentioned: str) -> str:
    columns = tuple(replace(column, example="") for column in summary.columns)
    return _full(replace(summary, columns=columns, rows=""), mentioned)


def _collapsed(summary: VariableSummary, mentioned: str) -> str:
    lines = [_line(replace(group[0], example=""), group[-1].name) for group in _runs(summary.columns)]
    return summary.headline + "".join(f"\n  {line}" for line in lines)


def _names(summary: VariableSummary, mentioned: str) -> str:
    """One line of names and types; columns that the prompt names keep their statistics."""
    asked = set(mentioned_columns(mentioned, summary))
    told = [_line(c) if at in asked else f"{c.name} {c.dtype}" for at, c in enumerate(summary.columns)]
    return f"{summary.headline}: {', '.join(told)}" if told else summary.headline


def _first(summary: VariableSummary, mentioned: str) -> str:
    asked = set(mentioned_columns(mentioned, summary))
    told = [c.name for at, c in enumerate(summary.columns) if at < FIRST_COLUMNS or at in asked]
    more = len(summary.columns) - len(told)
    rest = f", … +{more}, see {summary.name}.columns" if more > 0 else ""
    return f"{summary.headline}: {', '.join(told)}{rest}" if told else summary.headline


LADDER = (_full, _without_examples, _collapsed, _names, _first)


def _line(column: ColumnSummary, until: str | None = None) -> str:
    name = column.name if until in (None, column.name) else f"{column.name}..{until}"
    parts = [name, column.dtype, column.stats]
    if column.example:
        parts.append(f"e.g. {column.example}")
    parts.append(column.missing)
    return " ".join(part for part in parts if part)


def _runs(columns: Sequence[ColumnSummary]) -> list[list[ColumnSummary]]:
    """Neighbours of one type whose names differ in a number only: ``'m01'..'m12'``."""
    groups: list[list[ColumnSummary]] = []
    for column in columns:
        if groups and _pattern(groups[-1][-1]) == _pattern(column) and re.search(r"\d", column.name):
            groups[-1].append(column)
        else:
            groups.append([column])
    return groups


def _pattern(column: ColumnSummary) -> tuple[str, str]:
    return re.sub(r"\d+", "#", column.name), column.dtype
