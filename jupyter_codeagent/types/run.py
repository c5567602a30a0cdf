"""One run: what was asked, each step, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from jupyter_codeagent.types.approvals import ApprovalPolicy, Decision
from jupyter_codeagent.types.messages import Message, ModelCall, Span, Usage
from jupyter_codeagent.types.sandbox import CopyChange, ExecutionResult, NamespaceEntry, Output
from jupyter_codeagent.types.variables import Manifest, Privacy


@dataclass(frozen=True, kw_only=True)
class Step:
    """One model call and what became of it."""

    index: int
    """From 1."""
    messages: tuple[Message, ...]
    """Exactly what was sent in this call."""
    prefill: str = ""
    prefill_spans: tuple[Span, ...] = field(default=(), compare=False)
    reply: str = ""
    code: str = ""
    """What runs: with the corrections that are certain, some of which are made by values of the data."""
    written: str = ""
    """What the model is told of it: the program as it wrote it, or as a person wrote it in its place."""
    decision: Decision | None = None
    result: ExecutionResult | None = None
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    """Model and sandbox together."""
    note: str = ""
    """Why this step ended as it did where no result says so: ``no code in the reply``."""
    rules: tuple[str, ...] = ()
    """Names of the rules that corrected the code, found an issue or gave a hint; empty in older records."""
    left_out: str = ""
    """What there was to tell and was not sent, because the model's context has no room for it."""


RunStatus = Literal["running", "waiting", "ok", "failed", "stopped", "rejected", "interrupted"]
"""`interrupted` is given by history to a run whose kernel went away before it ended."""
Phase = Literal["context", "loading", "model", "waiting", "sandbox", "answer", "inserting", "ended"]
"""What a run is doing right now."""
CellState = Literal["pending", "accepted", "discarded", "edited"]
KEPT_STATES: tuple[CellState, ...] = ("accepted", "edited")
"""The user said yes to these cells."""
Placed = Literal["", "inserting", "cells", "kept", "undelivered", "output", "nowhere"]
"""Where a result was put: not known (records of older versions) · on its way into the notebook · cells of the
notebook · cells that were there already, of the run that it was `replayed_from` · no page has inserted it yet · the
output of the question's cell · nowhere, as the user wished (``--json``)."""


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """One `%%agent` cell, parsed and resolved."""

    prompt: str
    model: str
    server: str = ""
    """Host and port that was asked, or `embedded`; never a key."""
    remote: bool = False
    """Whether that server is on another machine."""
    approve: ApprovalPolicy = "review"
    privacy: Privacy = "stats"
    max_steps: int = 4
    timeout_s: float = 120.0
    candidates: int = 1
    selection: str = ""
    """Variables, columns and rows that were named, as options: ``--vars df[a] --where 'a > 1'``."""
    refines: str = ""
    """Run of which this is another version, see `%agent refine`; `prompt` is the whole question all the same."""
    refinement: str = ""
    """What was to be different, as it was typed: the end of the prompt, its ``{{expressions}}`` not filled in."""
    cell_id: str | None = None
    notebook: str | None = None
    """Path as the front end knows it; None in a terminal."""


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """The whole record of a run: what history keeps, the panel shows and `--json` prints."""

    id: str
    request: AgentRequest
    status: RunStatus
    started_at: float
    """Seconds since the epoch."""
    ended_at: float | None = None
    steps: tuple[Step, ...] = ()
    manifest: Manifest = field(default_factory=Manifest)
    context: str = ""
    """The variable lines, as far as there is room for them in a message."""
    context_spans: tuple[Span, ...] = field(default=(), compare=False)
    data_sha256: str = ""
    """Digest of what was copied, to tell whether a replay would see the same data; empty if not computed."""
    described_sha256: str = ""
    """Digest of what there was to tell of the variables; `context` also depends on the cells that ran before."""
    sandbox: str = ""
    """`SandboxStatus.label` at the time."""
    code: str = ""
    """The code that is offered as a cell; empty unless status is `ok`."""
    written: str = ""
    """The same as the model wrote it, see `Step.written`; empty in records of older versions."""
    outputs: tuple[Output, ...] = ()
    changes: tuple[CopyChange, ...] = ()
    """Copies that differ from the live variables at the end of the run."""
    made: tuple[NamespaceEntry, ...] = ()
    """Variables that the run made or assigned in the sandbox; can be brought back as long as it has them."""
    answer: str = ""
    error: str = ""
    """One line; empty unless it failed."""
    model_calls: tuple[ModelCall, ...] = ()
    """Every request to the model's server, in order. Empty in records of older versions."""
    usage: Usage = field(default_factory=Usage)
    """Of all `model_calls`."""
    notes: tuple[str, ...] = ()
    """What the user should know of this run: corrections, dropped outputs, a replaced sandbox."""
    replayed_from: str = ""
    """Run whose code was executed again without asking a model."""
    cell_state: CellState = "pending"
    placed: Placed = ""

    @property
    def ended(self) -> bool:
        return self.status not in ("running", "waiting")
