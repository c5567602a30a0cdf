"""The variable lines of the prompt, fitted into their token budget, and what they cost; pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.models.tokens import TokenCount, TokenCounter, Tokenizer, estimate_tokens
from jupyter_codeagent.notebook.cells import sha256_of
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.messages import ContentKind, Span
from jupyter_codeagent.types.tagged_text import kinds_of
from jupyter_codeagent.types.variables import ColumnSummary, TextColumn, VariableSummary
from jupyter_codeagent.variables.mentions import label_text
from jupyter_codeagent.variables.render import RenderedVariables, render

MAX_FITTINGS = 4
"""Most requests to a tokenizer for one text; one is enough if the text is like the last."""
TIGHTER = 0.95
MAX_LISTED = 30
"""Most names of variables left out that are listed."""
DATE_PARTS = frozenset({"year", "quarter", "month", "week", "day", "date", "weekday", "hour"})
_NAME = re.compile(r"(['\"])(?:(?!\*\*\*|…).)*\1")
"""`repr()` of a text label that is neither masked nor shortened: code can name such a column."""
WELL_USED = 0.9
"""Share of the budget from which on a shortened text is not fitted again."""


@dataclass(frozen=True, kw_only=True)
class PromptContext:
    """The variable lines and what they cost."""

    context: RenderedVariables
    count: TokenCount
    """Tokens of the whole text; the shares of the variables are always estimated."""
    budget_tokens: int
    counted_kinds: tuple[ContentKind, ...] = ()
    """Kinds of content whose tokens the model's tokenizer was asked to count."""


def render_context(summaries: Sequence[VariableSummary], settings: Settings, prompt: str) -> RenderedVariables:
    """Return the variable lines within the budget, by the estimate alone."""
    return render(summaries, budget_tokens=settings.context_tokens, mentioned=prompt, count_tokens=estimate_tokens)


def fit_context(
    summaries: Sequence[VariableSummary],
    settings: Settings,
    prompt: str,
    *,
    counter: TokenCounter,
    tokenizer: Tokenizer | None = None,
    recent: Sequence[str] = (),
    joins: str = "",
) -> PromptContext:
    """Return the variable lines within the budget.

    They are fitted by the estimate. The count of a tokenizer that answers is final, and corrects the estimate.
    """
    limit = budget = settings.context_tokens
    fitting: PromptContext | None = None
    counted: tuple[Span, ...] = ()
    for _ in range(MAX_FITTINGS):
        context = render(
            summaries,
            budget_tokens=budget,
            mentioned=prompt,
            count_tokens=counter.estimator(tokenizer),
            recent=recent,
            joins=joins,
        )
        count = counter.count(context.text, tokenizer, calibrate=True)
        counted += context.tagged.spans if count.asked else ()
        fitted = PromptContext(context=context, count=count, budget_tokens=limit, counted_kinds=kinds_of(counted))
        if not fitted.count.counted:
            return replace(fitting or fitted, counted_kinds=fitted.counted_kinds)
        if fitted.count.tokens > limit:
            budget = int(budget * TIGHTER)
        elif not context.is_shortened or fitted.count.tokens >= limit * WELL_USED or fitting is not None:
            return fitted
        else:
            fitting = fitted
    return replace(fitting or fitted, counted_kinds=fitted.counted_kinds)


def text_columns(summaries: Sequence[VariableSummary]) -> dict[str, dict[str, TextColumn]]:
    """Return variable -> label -> how the column's text is read, of pandas frames that have such columns."""
    found = {summary.name: _text_columns(summary) for summary in summaries if summary.type_name == "DataFrame"}
    return {name: columns for name, columns in found.items() if columns}


def _text_columns(summary: VariableSummary) -> dict[str, TextColumn]:
    when = [column.name for column in summary.columns if _says_when(column)]
    return {
        label_text(column.name): TextColumn(reading=column.reading, is_only_date=when == [column.name])
        for column in summary.columns
        if column.reading and _NAME.fullmatch(column.name) is not None
    }


def _says_when(column: ColumnSummary) -> bool:
    is_part = label_text(column.name).lower() in DATE_PARTS
    return is_part or column.dtype.startswith("datetime") or "to_datetime(" in column.reading


def question_digest(summaries: Sequence[VariableSummary], settings: Settings, prompt: str, more: str = "") -> str:
    """Return a digest of what the prompt has of the variables, and of `more` lines.

    Unlike the text that is sent it depends neither on which cells ran last nor on whether a tokenizer answered: the
    same question on the same data is replayed from the record.
    """
    text = f"{render_context(summaries, settings, prompt).text}\n{more}"
    return sha256_of(text)


def cost_lines(prompt: PromptContext) -> list[str]:
    """Return a line with the sum, and below it a table of what each variable costs and how it was shortened."""
    context = prompt.context
    rows = [(one.name, str(one.tokens), one.shortened) for one in context.variables]
    if context.joins_tokens:
        rows.append(("(joins)", str(context.joins_tokens), ""))
    if context.dropped:
        names = ", ".join(context.dropped[:MAX_LISTED])
        more = f", … +{len(context.dropped) - MAX_LISTED}" if len(context.dropped) > MAX_LISTED else ""
        rows.append(("(left out)", str(context.left_out_tokens), f"{names}{more}"))
    lines = [f"variables: {prompt.count}; the budget is {prompt.budget_tokens}"]
    if rows:
        width = max(len(row[0]) for row in (*rows, ("variable",)))
        table = [("variable", "tokens", "shortened to" if context.is_shortened else ""), *rows]
        lines += [f"  {name:<{width}}  {tokens:>6}  {note}".rstrip() for name, tokens, note in table]
    return lines
