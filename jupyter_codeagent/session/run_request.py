"""The request of a run and the beginning of its record, from options and settings; pure functions."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace

from jupyter_codeagent.agent.prompt.context_window import ContextWindow
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.messages import ContentKind, ModelCall
from jupyter_codeagent.types.options import RunOptions, selection_line
from jupyter_codeagent.types.run import AgentRequest, AgentRun
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import Manifest

SETTINGS_BY_OPTION = ("model", "base_url", "privacy", "approve", "max_steps", "timeout_s", "context_tokens")
"""Options that are settings for one run."""


def with_options(settings: Settings, options: RunOptions) -> Settings:
    """Return the settings with the options of one magic applied."""
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


def asked_by(options: RunOptions) -> frozenset[str]:
    """Return the names of the settings that these options change."""
    return frozenset(name for name in SETTINGS_BY_OPTION if getattr(options, name) is not None)


def check_options(options: RunOptions, settings: Settings) -> None:
    """Raise UsageError for more candidates than allowed."""
    if options.candidates <= settings.max_candidates:
        return
    asked = f"--candidates {options.candidates}"
    if settings.policy.rules.get("candidates") == settings.max_candidates:
        raise UsageError(settings.policy.line(asked, "candidates"))
    raise UsageError(f"{asked}: at most {settings.max_candidates} are allowed.")


def build_request(
    prompt: str, options: RunOptions, origin: CellOrigin, settings: Settings, endpoint: ModelEndpoint | None
) -> AgentRequest:
    """Build the record of a request: the prompt, the model (None: none was found), the limits and the origin."""
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
        charts=settings.charts,
        selection=selection_line(options),
        follows=options.follows,
        refines=options.refines,
        refinement=options.refinement,
        client=origin.client,
        cell_id=origin.cell_id,
        notebook=origin.notebook,
    )


def new_run(
    request: AgentRequest, manifest: Manifest, context: TaggedText, *, counted_kinds: Sequence[ContentKind] = ()
) -> AgentRun:
    """Create the record of a run that begins; `counted_kinds` were sent to the model's tokenizer."""
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
    """Return the model's context window as its server states it, else one as large as the embedded model's."""
    if endpoint.kind == "embedded":
        return ContextWindow(context_tokens=settings.model.context_tokens, certain=True, count=estimate_tokens)
    stated = endpoint.context_tokens
    return ContextWindow(
        context_tokens=stated or settings.model.context_tokens, certain=stated > 0, count=estimate_tokens
    )
