"""The values that travel between the rooms: frozen, without behaviour beyond what they are.

Everything here can be written as JSON (`jupyter_codeagent.record` does that for whole runs); nothing here
imports IPython, traitlets or a dataframe library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

# --- messages to and from the model ---------------------------------------------------------------

Role = Literal["system", "user", "assistant"]

ContentKind = Literal[
    "names",
    "statistics",
    "rows",
    "functions",
    "earlier_code",
    "earlier_results",
    "output",
    "error",
    "error_kind",
    "doubt",
    "calls",
    "reason",
    "edited_code",
    "texts",
]
"""What a part of a message holds of the user's, beside the question:

names and types of variables · figures of them, categories, values · sample rows · signatures of functions ·
earlier questions with their code · results of these · what the code printed and showed · its error · only the kind
and place of the error · what looks wrong with its result · calls that it made · a person's reason for a no · code
that a person has changed · texts that code asks the model about.
"""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of a text, in characters, and what it holds."""

    kind: ContentKind
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message, exactly as it is sent."""

    role: Role
    content: str
    spans: tuple[Span, ...] = field(default=(), compare=False)
    """Parts of `content` that hold something of the user's. Not sent. Empty in records of older versions."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Part of `prompt_tokens` that the server answered from its prefix cache."""
    calls: int = 0
    estimated: bool = False
    """Some of it we have estimated: the server counts nothing, or was stopped before it told its counts."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            calls=self.calls + other.calls,
            estimated=self.estimated or other.estimated,
        )


ModelCallPurpose = Literal["program", "sentence", "text", "count"]
"""What was asked for: a program · one sentence on its result · an answer on a text, by `ask_model` · the number of
tokens of the lines on variables."""


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """A request to the model's server, or several that hold the same kinds of things."""

    purpose: ModelCallPurpose
    kinds: tuple[ContentKind, ...]
    """Of all that its messages hold."""
    sent: bool
    """Whether its text has left for the server; not where there was no connection."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """What is asked of a model in one call."""

    messages: tuple[Message, ...]
    purpose: ModelCallPurpose = "program"
    prefill: str = ""
    """Beginning of the reply, written by us; used only where `Model.supports_prefill`."""
    prefill_spans: tuple[Span, ...] = field(default=(), compare=False)
    stop: tuple[str, ...] = ()
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    grammar: str = ""
    """GBNF for what the model writes, behind the prefill; used only with servers that are known to take it."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One reply, whole."""

    text: str
    """The reply, with the prefill in front where one was used."""
    finish_reason: Literal["stop", "length", "closed"]
    """`closed`: we closed the stream ourselves because the code block was complete."""
    usage: Usage
    model: str
    duration_s: float


# --- variables ------------------------------------------------------------------------------------

Privacy = Literal["schema", "stats", "samples"]
PRIVACY_ORDER: tuple[Privacy, ...] = ("schema", "stats", "samples")
"""The strictest first."""


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """One column of a frame, as the model may be told of it."""

    name: str
    """`repr()` of the label, so that blanks and case can be seen."""
    dtype: str
    """Short: ``int``, ``float``, ``str``, ``bool``, ``datetime``, ``category``, else the dtype's own name."""
    stats: str = ""
    """``0..512.3``, ``{male, female}``, ``135u``; empty under the privacy mode ``schema``."""
    example: str = ""
    missing: str = ""
    """``11 missing``, ``2.7% missing`` where only a sample was looked at; empty if none is."""


@dataclass(frozen=True, kw_only=True)
class VariableSummary:
    """What is worth telling about one live variable, found without scanning its rows."""

    name: str
    type_name: str
    """``DataFrame``, ``ndarray``, ``LinearRegression`` …"""
    headline: str
    """The one line that says most: ``df: DataFrame 715x14``."""
    bare_headline: str = field(default="", compare=False)
    """The same under the privacy mode ``schema``: without a value."""
    columns: tuple[ColumnSummary, ...] = ()
    size_bytes: int | None = None
    """Estimated without a scan; None if unknown."""
    copyable: bool = False
    """A frame, series, array, scalar or plain container: can be copied into the sandbox."""
    frame_like: bool = False
    """Is copied by default when the prompt names no variable."""
    sampled: bool = False
    """Statistics come from a sample of the rows, not from all."""
    rows: str = ""
    """Sample rows as CSV; only under the privacy mode ``samples``."""


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """A regular file of the user's that a sandbox may read, as it was when it was looked at."""

    path: str
    """Absolute, without links."""
    device: int
    inode: int
    """Another file under the same path is another inode: a sandbox that was shown the old one does not see it."""
    size_bytes: int = field(default=0, compare=False)
    modified_ns: int = field(default=0, compare=False)
    """Size and time are told apart by the digest of what was copied; a file that grew needs no other sandbox."""


@dataclass(frozen=True, kw_only=True)
class CopiedVariable:
    """One variable that lies in the spool for the sandbox to load."""

    name: str
    type_name: str
    size_bytes: int
    """Bytes of the pickle stream and its buffers."""
    files: tuple[tuple[str, int, int], ...] = ()
    """(name in the spool directory, never a path; offset, length) of each piece of one image of the value."""
    buffers: tuple[tuple[int, int], ...] = ()
    """(offset, length) in the image of each out-of-band pickle buffer."""
    head: tuple[int, int] = (0, 0)
    """(offset, length) in the image of the pickle stream."""
    version: int = 1
    """Grows when the live value has changed since it was last written."""
    note: str = ""
    """What part of the live value it is: ``random sample of 336776 rows; 2 of 19 columns``; empty for all of it."""
    reads: tuple[LocalFile, ...] = ()
    """Files that a lazy value reads in the sandbox, after the user's yes."""


@dataclass(frozen=True, kw_only=True)
class SkippedVariable:
    """A variable that was asked for or fits by default, but was not copied."""

    name: str
    reason: str


ToolPolicy = Literal["auto", "ask", "deny"]
"""Of calls of one tool: made at once · made after a person's yes · never made."""


@dataclass(frozen=True, kw_only=True)
class ToolStub:
    """A function of the live kernel that the sandbox may call: what the model is told of it."""

    name: str
    signature: str
    """``(origin: str, day: str = 'today') -> DataFrame``: Python; ``...`` for a default that is no literal."""
    doc: str = ""
    policy: ToolPolicy = "ask"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What the sandbox gets in one run."""

    copied: tuple[CopiedVariable, ...] = ()
    skipped: tuple[SkippedVariable, ...] = ()
    modules: tuple[str, ...] = ()
    """Import lines that the user's aliases stand for: ``import pandas as pd``."""
    tools: tuple[ToolStub, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Variables among `copied` whose copy an earlier run of this kernel has made; nothing was copied again."""


@dataclass(frozen=True, kw_only=True)
class PackedValue:
    """One value on its way out of the sandbox: hostile until `transfer.unpack` has validated it."""

    kind: Literal["arrow", "npy", "json", "png", "parts"]
    meta_json: str
    """Side-car of `arrow` (labels, tags), the value itself (`json`), or what the `parts` are."""
    data: bytes
    """Arrow stream, .npy bytes, PNG, or .npy arrays one after the other; empty for `json`."""


# --- the sandbox ----------------------------------------------------------------------------------

SandboxLevel = Literal[
    "bubblewrap", "namespaces", "landlock", "seatbelt", "container", "command", "gateway", "none"
]


@dataclass(frozen=True, kw_only=True)
class SandboxPolicy:
    """What a sandbox must hold and at which limits it is stopped."""

    memory_bytes: int = 2 << 30
    wall_s: float = 120.0
    """Seconds for one execution; then interrupt, after `grace_s` kill."""
    grace_s: float = 2.0
    processors: float = 4.0
    """Processor time of one execution, as a multiple of its time limit; then interrupt, after `grace_s` kill."""
    processes: int = 64
    threads: int = 512
    disk_bytes: int = 512 << 20
    files: int = 20_000
    output_bytes: int = 4 << 20
    output_messages: int = 500
    message_bytes: int = 32 << 20
    """One message from the sandbox; a larger one closes the channel for good (ZMQ_MAXMSGSIZE)."""
    subprocess: bool = False
    levels: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")
    """Tried in this order. `none` is never tried, it must be the only one and set in the session."""
    image: str = ""
    """Of the level `container`, as Docker or Podman name it."""
    engine: str = ""
    """``docker`` or ``podman``; empty: the one that is there."""
    command: tuple[str, ...] = ()
    """Of the level `command`: starts the relay elsewhere, ``("ssh", "host", "python", "-m", …)``."""
    gateway: str = ""
    """Of the level `gateway`: the address of a Jupyter kernel gateway."""
    gateway_kernel: str = "codeagent-sandbox-relay"
    read_files: tuple[LocalFile, ...] = ()
    """The user's own files that it sees read-only, each after a yes; on this machine only."""


@dataclass(frozen=True, kw_only=True)
class SandboxStatus:
    """What is in force now, as measured from inside."""

    level: SandboxLevel
    where: str = ""
    """Which machine, where it is not this one, or which container: ``docker image …``, ``ssh host``."""
    layers: tuple[str, ...] = ()
    """In plain words, what each layer is and does: ``Landlock ABI 7: …``."""
    closed: tuple[str, ...]
    """Probes that failed as they must: ``read outside``, ``tcp`` …"""
    open: tuple[str, ...]
    """Probes that got through although this level does not promise to close them."""
    limits: tuple[str, ...]
    """In plain words: ``memory 2 GiB (watchdog, 50 ms)`` …"""
    hint: str = ""
    """How to get the next better level; empty at the best."""

    @property
    def label(self) -> str:
        """Short name for receipts: ``bubblewrap, no network``."""
        if self.level == "none":
            return "NOT ISOLATED"
        return f"{self.level}{f' ({self.where})' if self.where else ''}, no network"


class StreamOutput(TypedDict):
    """nbformat 4 stream output."""

    output_type: Literal["stream"]
    name: Literal["stdout", "stderr"]
    text: str


class DisplayOutput(TypedDict):
    """nbformat 4 display_data."""

    output_type: Literal["display_data"]
    data: dict[str, Any]
    metadata: dict[str, Any]


class ResultOutput(TypedDict):
    """nbformat 4 execute_result; the count is always None, nothing ran in the user's kernel."""

    output_type: Literal["execute_result"]
    data: dict[str, Any]
    metadata: dict[str, Any]
    execution_count: None


class ErrorOutput(TypedDict):
    """nbformat 4 error."""

    output_type: Literal["error"]
    ename: str
    evalue: str
    traceback: list[str]


Output = StreamOutput | DisplayOutput | ResultOutput | ErrorOutput
"""A cleaned output: it has passed `jupyter_codeagent.outputs`, so it may be shown with trust."""


@dataclass(frozen=True, kw_only=True)
class ExecutionError:
    """An exception of the model's code, shortened to what helps to repair it."""

    ename: str
    evalue: str
    line: int | None = None
    """Line of the executed code, from 1; None if the traceback does not say."""
    source: str = ""
    """Text of that line."""


ReturnForm = Literal["", "data", "image", "specification"]
"""How a value can be brought back: not at all, as what it is, a figure as a PNG, a chart as a dict."""


@dataclass(frozen=True, kw_only=True)
class NamespaceEntry:
    """A variable of the sandbox, for hints and for the panel. Text from the sandbox: untrusted, capped."""

    name: str
    type_name: str
    shape: tuple[int, ...] = ()
    columns: tuple[str, ...] = ()
    """`str()` of each column label, at most 200."""
    dtypes: tuple[str, ...] = ()
    returns_as: ReturnForm = ""


ChangeKind = Literal["changed", "rebound", "deleted"]


@dataclass(frozen=True, kw_only=True)
class CopyChange:
    """How the copy of a live variable differs from what was loaded. Text from the sandbox: untrusted, capped."""

    name: str
    kind: ChangeKind
    """changed: in place · rebound: the name stands for another object · deleted."""
    added: tuple[str, ...] = ()
    """Columns or keys, as `repr` shows them."""
    removed: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """Columns or keys with other values."""
    notes: tuple[str, ...] = ()
    """``10 → 7 rows``, ``order of rows``, ``'n' int64 → float64``."""
    earlier: bool = False
    """Not by this code: an earlier run had left it so."""


DecidedBy = Literal["policy", "panel", "widget", "stdin", "nobody"]
ToolCallStatus = Literal["ok", "failed", "denied", "refused", "stopped", "undone"]
"""It returned · it raised · a person or its policy said no · it cannot be made · it began and never returned · what
it did was taken back."""


@dataclass(frozen=True, kw_only=True)
class RecordedValue:
    """A `PackedValue` as text."""

    kind: Literal["arrow", "npy", "json", "png", "parts"]
    meta_json: str
    data: str
    """zlib, then base64."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call of a tool by code of the sandbox, and what became of it."""

    tool: str
    call: str
    """As Python, shortened: ``weather('JFK', day='2013-01-01')``; with a person's changes."""
    status: ToolCallStatus
    line: int | None = None
    """Of the program, as the sandbox says."""
    result: str = ""
    """What it returned, in brief (``DataFrame 24x5``), or the error's line."""
    decided_by: DecidedBy = "policy"
    earlier: bool = False
    """The same call had been made in this run; what it had returned was given again."""
    duration_s: float = 0.0
    """Of the function alone."""
    id: str = ""
    """The same for a call whose result was given again. Empty in records of older versions."""
    key: str = ""
    """A digest of function and arguments as the code gave them: a replay finds the call by it."""
    value: RecordedValue | None = None
    """What it returned, for a replay; None where that is large, no data, or looks private."""


ExecutionStatus = Literal["ok", "error", "timeout", "killed", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class ExecutionResult:
    """What came of one piece of code in the sandbox."""

    status: ExecutionStatus
    outputs: tuple[Output, ...] = ()
    error: ExecutionError | None = None
    reason: str = ""
    """Why it was killed or cut short, with the limit; shown to the user and to the model."""
    duration_s: float = 0.0
    peak_memory_bytes: int = 0
    namespace: tuple[NamespaceEntry, ...] = ()
    """The sandbox's variables afterwards; empty when it died."""
    changes: tuple[CopyChange, ...] = ()
    """Copies that are no longer what was loaded."""
    notes: tuple[str, ...] = ()
    """What the guard dropped: ``2 outputs of type application/javascript``."""
    calls: tuple[ToolCall, ...] = ()
    """Of the user's functions, in the order in which they ended."""


# --- approvals ------------------------------------------------------------------------------------

ApprovalPolicy = Literal["review", "ask", "auto"]
ProposalKind = Literal["run", "apply", "overwrite", "mount", "call", "server"]
"""run code in the sandbox · in the live kernel · overwrite a live variable · show files to it · call a tool · send
prompts to a server."""
GrantKind = Literal["run", "mount", "call", "server"]
"""Those to which a yes can last."""


@dataclass(frozen=True, kw_only=True)
class NamedValue:
    """A name, and what it stands for: ``DataFrame 1000x4``, empty if that is not known."""

    name: str
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class Effects:
    """What code would do to the user's names, as far as its text tells. For the user's own eyes only."""

    reads: tuple[NamedValue, ...] = ()
    creates: tuple[NamedValue, ...] = ()
    overwrites: tuple[NamedValue, ...] = ()
    changes: tuple[NamedValue, ...] = ()
    """In place."""
    deletes: tuple[NamedValue, ...] = ()
    missing: tuple[str, ...] = ()
    """Read, but not there."""
    writes: tuple[str, ...] = ()
    """Files, as the code names them."""
    unclear: tuple[str, ...] = ()
    """Why more may happen than is listed; empty if nothing says so."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A yes that lasts: until the user takes it back, or the kernel ends."""

    kind: GrantKind
    subject: str = ""
    """The function, the file or the server that it is for; empty where the kind says all."""
    of: object = None
    """Equal as long as what the subject names is what was asked about: a function may be replaced by another."""


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Something that waits for a person."""

    id: str
    run_id: str
    kind: ProposalKind
    code: str
    note: str
    """What the question of its kind (`QUESTIONS`) does not say yet; may be empty."""
    step: int = 0
    why: str = ""
    """What led to it: the error or the no before."""
    previous_code: str = ""
    """Of the attempt before in this run."""
    effects: Effects | None = None
    """None where there is no code to look at, or it has not been looked at as yet."""
    calls: int = 1
    """Calls of this function that the program makes in one go, as it says; a yes may be for all of them."""
    lasting: tuple[Grant, ...] = ()
    """What a yes for the notebook would grant; empty where each is asked for."""


DecisionScope = Literal["once", "run", "notebook"]
"""``run`` is for calls of functions, with their number; ``notebook`` grants what the proposal names as lasting."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The answer to a proposal."""

    action: Literal["approve", "reject"]
    code: str
    """What may run: the proposal's code, or what the person made of it."""
    decided_by: DecidedBy
    reason: str = ""
    scope: DecisionScope = "once"
    calls: int = 0
    """With the scope ``run``: of so many calls of the function, this one included."""
    decided_at: float = 0.0
    """Seconds since the epoch."""
    edited: bool = False
    """The person changed the code: what runs is their text."""


# --- a run ----------------------------------------------------------------------------------------


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
