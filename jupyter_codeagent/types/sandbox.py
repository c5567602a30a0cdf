"""The sandbox: its limits and its status, and what came of one execution in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from jupyter_codeagent.types.approvals import DecidedBy
from jupyter_codeagent.types.variables import LocalFile


@dataclass(frozen=True, kw_only=True)
class PackedValue:
    """One value on its way out of the sandbox: hostile until `data.unpack` has validated it."""

    kind: Literal["arrow", "npy", "json", "png", "parts"]
    meta_json: str
    """Side-car of `arrow` (labels, tags), the value itself (`json`), or what the `parts` are."""
    data: bytes
    """Arrow stream, .npy bytes, PNG, or .npy arrays one after the other; empty for `json`."""


SandboxLevel = Literal[
    "bubblewrap", "namespaces", "landlock", "seatbelt", "container", "command", "gateway", "none"
]
REMOTE_LEVELS: tuple[SandboxLevel, ...] = ("container", "command", "gateway")
"""Those whose sandbox is not a process of this machine's own kernel."""


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
"""A cleaned output: it has passed `jupyter_codeagent.notebook.outputs`, so it may be shown with trust."""


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
