"""What is decided before the model is asked; pure functions. `--dry-run` shows their result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.options import RunOptions
from jupyter_codeagent.place import Place
from jupyter_codeagent.prompts.conversation import Turn
from jupyter_codeagent.settings import Settings
from jupyter_codeagent.values import AgentRequest, AgentRun, Manifest, Message, VariableSummary
from jupyter_codeagent.variables.render import Context, render


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """One run, ready to be sent."""

    run: AgentRun
    settings: Settings
    endpoint: ModelEndpoint
    turns: tuple[Turn, ...]
    """The conversation it follows."""
    messages: tuple[Message, ...]
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
    )


def check_options(options: RunOptions, settings: Settings) -> None:
    """Raises UsageError for more candidates than allowed."""
    if options.candidates > settings.max_candidates:
        raise UsageError(f"--candidates {options.candidates}: at most {settings.max_candidates} are allowed.")


def build_request(
    prompt: str, options: RunOptions, place: Place, settings: Settings, endpoint: ModelEndpoint | None
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
        cell_id=place.cell_id,
        notebook=place.notebook,
    )


def new_run(request: AgentRequest, manifest: Manifest, context: str) -> AgentRun:
    """The record at its beginning."""
    return AgentRun(
        id=uuid.uuid4().hex[:12],
        request=request,
        status="running",
        started_at=time.time(),
        manifest=manifest,
        context=context,
    )


def estimate_tokens(text: str) -> int:
    """Tokens of a text without its tokenizer; 3.6 characters each, measured on schema lines."""
    return -(-len(text) * 10 // 36)


def render_context(summaries: Sequence[VariableSummary], settings: Settings, prompt: str) -> Context:
    """The variable lines within the budget."""
    return render(summaries, budget_tokens=settings.context_tokens, mentioned=prompt, count_tokens=estimate_tokens)
