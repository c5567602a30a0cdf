"""One run: its request, its steps and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from jupyter_codeagent.types.approvals import ApprovalPolicy, Decision
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.messages import Message, ModelCall, Span, Usage
from jupyter_codeagent.types.operations import Operation
from jupyter_codeagent.types.sandbox import CopyChange, ExecutionResult, NamespaceEntry, Output
from jupyter_codeagent.types.variables import Manifest, Privacy


@dataclass(frozen=True, kw_only=True)
class Step:
    """One model call with its program, decision and result."""

    index: int
    """Number of the step, from 1."""
    messages: tuple[Message, ...]
    """Messages exactly as they were sent."""
    prefill: str = ""
    prefill_spans: tuple[Span, ...] = field(default=(), compare=False)
    reply: str = ""
    code: str = ""
    """Program that runs, with automatic corrections, some of which depend on values of the data."""
    written: str = ""
    """Program as later prompts have it: as the model wrote it, with the names of copies that it works on, or as a
    person replaced it."""
    decision: Decision | None = None
    result: ExecutionResult | None = None
    usage: Usage = field(default_factory=Usage)
    duration_s: float = 0.0
    """Time of the model and the sandbox together, in seconds."""
    note: str = ""
    """Why the step ended, where no result explains it: ``no code in the reply``."""
    rules: tuple[str, ...] = ()
    """Names of the rules that corrected the code, found an issue or gave a hint; empty in older records."""
    left_out: str = ""
    """Parts of the prompt that were omitted because they did not fit the model's context window."""


RunStatus = Literal["running", "waiting", "ok", "failed", "stopped", "rejected", "interrupted"]
"""History reports `interrupted` for a run whose kernel ended first."""
Phase = Literal["context", "loading", "model", "waiting", "sandbox", "inserting", "ended"]
"""What a run is currently doing."""
CellState = Literal["pending", "accepted", "discarded", "edited"]
NO_MODEL = "no model"
"""`AgentRequest.model` of what was asked of none."""
KEPT_STATES: tuple[CellState, ...] = ("accepted", "edited")
"""States of cells that the user kept."""
Placed = Literal["", "inserting", "cells", "kept", "undelivered", "output", "nowhere"]
"""Where a result was placed: unknown (records of older versions) · being inserted · cells of the notebook ·
existing cells of the run that it was `replayed_from` · not inserted by any page yet · the output of the prompt's
cell · nowhere, as the user asked (``--json``)."""


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """One `%%agent` cell, parsed and resolved."""

    prompt: str
    model: str
    server: str = ""
    """Host and port of the model server, or `embedded`; never a key."""
    remote: bool = False
    """Whether that server is on another machine."""
    approve: ApprovalPolicy = "review"
    privacy: Privacy = "stats"
    max_steps: int = 4
    timeout_s: float = 120.0
    candidates: int = 1
    charts: ChartLibrary = "matplotlib"
    """Library that the model was told to draw with."""
    selection: str = ""
    """Selected variables, columns and rows, as options: ``--vars df[a] --where 'a > 1'``."""
    follows: str = ""
    """Run from which the question goes on (``--from``); empty for the result before it."""
    refines: str = ""
    """Run that this one refines (`%agent refine`); `prompt` is the whole prompt nevertheless."""
    refinement: str = ""
    """The refinement as it was typed: the end of the prompt, with its ``{{expressions}}`` not evaluated."""
    exploration: str = ""
    """Id that the runs of one `%agent explore` share; empty for a question."""
    client: str = ""
    """Name of the MCP client that sent the program; empty for what a person asked."""
    cell_id: str | None = None
    notebook: str | None = None
    """Path of the notebook in the front end; None in a terminal."""


VerdictLevel = Literal["checked", "look", "doubtful"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How far the result of a run can be believed (`agent/verdict`)."""

    level: VerdictLevel
    reason: str
    """One line: ``the join repeats 3 % of the rows``; what was looked at where it is `checked`."""


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """Something that the program decided and nobody asked for."""

    text: str
    """``8,255 missing values skipped``."""
    refinement: str
    """What asks for the other choice, as the text of `%agent refine`; empty where there is none."""
    line: int
    """Line of the program."""


@dataclass(frozen=True, kw_only=True)
class AgentRun:
    """Complete record of a run, for the history, the panel and `--json`."""

    id: str
    request: AgentRequest
    status: RunStatus
    started_at: float
    """Seconds since the epoch."""
    ended_at: float | None = None
    steps: tuple[Step, ...] = ()
    manifest: Manifest = field(default_factory=Manifest)
    context: str = ""
    """The variable lines, as far as they fit the context window."""
    context_spans: tuple[Span, ...] = field(default=(), compare=False)
    house_rules: str = ""
    """House rules, as far as they fit the context window. Empty in records of older versions."""
    data_sha256: str = ""
    """Digest of the copies, to check whether a replay would see the same data; empty if not computed."""
    described_sha256: str = ""
    """Digest of the complete description of the variables, and of the house rules; `context` also depends on the
    cells that ran before."""
    sandbox: str = ""
    """`SandboxStatus.label` at the time."""
    code: str = ""
    """Code for the notebook cell; empty unless status is `ok`."""
    written: str = ""
    """`code` as the model wrote it, see `Step.written`; empty in records of older versions."""
    outputs: tuple[Output, ...] = ()
    changes: tuple[CopyChange, ...] = ()
    """Copies that differ from the live variables at the end of the run."""
    made: tuple[NamespaceEntry, ...] = ()
    """Variables that the run assigned in the sandbox; they can be brought back while the sandbox has them."""
    operations: tuple[Operation, ...] = ()
    """What the code did to rows and columns. Empty in records of older versions."""
    not_observed: str = ""
    """Why operations are missing; empty if none is."""
    assumptions: tuple[Assumption, ...] = ()
    verdict: Verdict | None = None
    """None where there is no result, and in records of older versions."""
    answer: str = ""
    """What a finding of explore says, made of its figures; empty for a question."""
    error: str = ""
    """Error in one line; empty unless the run failed."""
    model_calls: tuple[ModelCall, ...] = ()
    """Every request to the model's server, in order. Empty in records of older versions."""
    usage: Usage = field(default_factory=Usage)
    """Sum over all `model_calls`."""
    notes: tuple[str, ...] = ()
    """Notes for the user: corrections, dropped outputs, a replaced sandbox."""
    replayed_from: str = ""
    """Run whose code was executed again without a model."""
    next_questions: tuple[str, ...] = ()
    """Questions that go on from the result; in its session their programs are known and were tried."""
    cell_state: CellState = "pending"
    placed: Placed = ""

    @property
    def ended(self) -> bool:
        return self.status not in ("running", "waiting")
