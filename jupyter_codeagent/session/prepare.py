"""What is decided before the model is asked; pure functions. `--dry-run` shows their result."""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from jupyter_codeagent.agent.prompt.context_window import ContextWindow
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.tokens import TokenCount, TokenCounter, Tokenizer, estimate_tokens
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.messages import ContentKind, Message, ModelCall, Span
from jupyter_codeagent.types.options import RunOptions, selection_line
from jupyter_codeagent.types.run import AgentRequest, AgentRun
from jupyter_codeagent.types.tagged_text import TaggedText, kinds_of
from jupyter_codeagent.types.variables import Manifest, VariableSummary
from jupyter_codeagent.variables.render import Context, render

MAX_FITTINGS = 4
"""Requests to a tokenizer for one text; one is enough when the text is like the last."""
TIGHTER = 0.95
MAX_LISTED = 30
"""Names of variables that were left out."""
WELL_USED = 0.9
"""Share of the budget from which on a text that was shortened is not fitted again."""


@dataclass(frozen=True, kw_only=True)
class PromptContext:
    """The variable lines and what they cost."""

    context: Context
    count: TokenCount
    """Of the whole text; the shares of the variables are always estimated."""
    budget_tokens: int
    counted_kinds: tuple[ContentKind, ...] = ()
    """What the model's tokenizer was asked to count the tokens of."""


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """One run, ready to be sent."""

    run: AgentRun
    settings: Settings
    endpoint: ModelEndpoint
    turns: tuple[Turn, ...]
    """The conversation it follows."""
    messages: tuple[Message, ...]
    told: PromptContext
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """Functions that its code may call, by name."""
    incomplete: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Columns with missing values, see `incomplete_columns`."""
    room: ContextWindow | None = None
    """What the model takes at once."""
    inserts: bool = True
    """Whether cells are placed; not with ``--json``, which shows the record and nothing else."""


def with_options(settings: Settings, options: RunOptions) -> Settings:
    """Settings under the options of one magic."""
    model, sandbox = settings.model, settings.sandbox
    if options.model is not None:
        model = replace(model, model=options.model)
    if options.base_url is not None:
        model = replace(model, base_url=options.base_url)
    if options.timeout_s is not None:
        sandbox = replace(sandbox, wall_s=options.timeout_s)
    return replace(
        settings,
        model=model,
        sandbox=sandbox,
        privacy=options.privacy or settings.privacy,
        approve=options.approve or settings.approve,
        max_steps=options.max_steps or settings.max_steps,
        context_tokens=options.context_tokens or settings.context_tokens,
    )


def check_options(options: RunOptions, settings: Settings) -> None:
    """Raises UsageError for more candidates than allowed."""
    if options.candidates > settings.max_candidates:
        raise UsageError(f"--candidates {options.candidates}: at most {settings.max_candidates} are allowed.")


def build_request(
    prompt: str, options: RunOptions, place: CellOrigin, settings: Settings, endpoint: ModelEndpoint | None
) -> AgentRequest:
    """What was asked, of whom (None: no model was found), under which limits, from where."""
    return AgentRequest(
        prompt=prompt,
        model=endpoint.model if endpoint is not None else settings.model.model,
        server=endpoint.label if endpoint is not None else "",
        remote=endpoint is not None and endpoint.remote,
        approve=settings.approve,
        privacy=settings.privacy,
        max_steps=settings.max_steps,
        timeout_s=settings.sandbox.wall_s,
        candidates=options.candidates,
        selection=selection_line(options),
        refines=options.refines,
        refinement=options.refinement,
        cell_id=place.cell_id,
        notebook=place.notebook,
    )


def new_run(
    request: AgentRequest, manifest: Manifest, context: TaggedText, *, counted_kinds: Sequence[ContentKind] = ()
) -> AgentRun:
    """The record at its beginning. `counted_kinds` were sent to the model's tokenizer."""
    counting = ModelCall(purpose="count", kinds=tuple(counted_kinds), sent=True)
    return AgentRun(
        id=uuid.uuid4().hex[:12],
        request=request,
        status="running",
        started_at=time.time(),
        manifest=manifest,
        context=context.text,
        context_spans=context.spans,
        model_calls=(counting,) if counted_kinds else (),
    )


def context_window_of(endpoint: ModelEndpoint, settings: Settings) -> ContextWindow:
    """The context of the model behind it: as its server tells it, else as large as that of the embedded one."""
    if endpoint.kind == "embedded":
        return ContextWindow(context_tokens=settings.model.context_tokens, certain=True, count=estimate_tokens)
    told = endpoint.context_tokens
    return ContextWindow(
        context_tokens=told or settings.model.context_tokens, certain=told > 0, count=estimate_tokens
    )


def render_context(summaries: Sequence[VariableSummary], settings: Settings, prompt: str) -> Context:
    """The variable lines within the budget, by the estimate alone."""
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
    """The variable lines within the budget.

    Fitted by the estimate; where a tokenizer answers it has the last word, and what it says corrects the estimate.
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
        told = PromptContext(context=context, count=count, budget_tokens=limit, counted_kinds=kinds_of(counted))
        if not told.count.counted:
            return replace(fitting or told, counted_kinds=told.counted_kinds)
        if told.count.tokens > limit:
            budget = int(budget * TIGHTER)
        elif not context.is_shortened or told.count.tokens >= limit * WELL_USED or fitting is not None:
            return told
        else:
            fitting = told
    return replace(fitting or told, counted_kinds=told.counted_kinds)


def incomplete_columns(summaries: Sequence[VariableSummary]) -> dict[str, frozenset[str]]:
    """Variable -> `repr()` of its columns with missing values, as far as the summary tells of pandas frames."""
    return {
        summary.name: missing
        for summary in summaries
        if summary.type_name.endswith("DataFrame") and "." not in summary.type_name  # not polars.DataFrame
        if (missing := frozenset(column.name for column in summary.columns if column.missing))
    }


def question_digest(summaries: Sequence[VariableSummary], settings: Settings, prompt: str, more: str = "") -> str:
    """Of what there is to tell of the variables for this prompt, and of `more` lines that are told.

    Unlike the text that is sent it does not depend on which cells ran last, nor on whether a tokenizer was there:
    the same question on the same data is replayed from the record.
    """
    text = f"{render_context(summaries, settings, prompt).text}\n{more}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def cost_lines(told: PromptContext) -> list[str]:
    """What each variable costs and how it was shortened: a table of plain text below the one line with the sum."""
    context = told.context
    rows = [(one.name, str(one.tokens), one.shortened) for one in context.told]
    if context.joins_tokens:
        rows.append(("(joins)", str(context.joins_tokens), ""))
    if context.dropped:
        names = ", ".join(context.dropped[:MAX_LISTED])
        more = f", … +{len(context.dropped) - MAX_LISTED}" if len(context.dropped) > MAX_LISTED else ""
        rows.append(("(left out)", str(context.left_out_tokens), f"{names}{more}"))
    lines = [f"variables: {told.count}; the budget is {told.budget_tokens}"]
    if rows:
        width = max(len(row[0]) for row in (*rows, ("variable",)))
        table = [("variable", "tokens", "shortened to" if context.is_shortened else ""), *rows]
        lines += [f"  {name:<{width}}  {tokens:>6}  {note}".rstrip() for name, tokens, note in table]
    return lines
