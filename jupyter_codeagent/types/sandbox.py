"""The sandbox: its limits, its status and the result of one execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from jupyter_codeagent.types.approvals import DecidedBy
from jupyter_codeagent.types.operations import Operation
from jupyter_codeagent.types.variables import LocalFile, StubKind


@dataclass(frozen=True, kw_only=True)
class PackedValue:
    """One value on its way out of the sandbox, untrusted until `data.unpack` has validated it."""

    kind: Literal["arrow", "npy", "json", "png", "parts"]
    meta_json: str
    """Metadata of `arrow` (labels, tags), the value itself (`json`), or the layout of the `parts`."""
    data: bytes
    """Arrow stream, .npy bytes, PNG, or concatenated .npy arrays; empty for `json`."""


SandboxLevel = Literal[
    "bubblewrap", "namespaces", "landlock", "seatbelt", "container", "command", "gateway", "none"
]
REMOTE_LEVELS: tuple[SandboxLevel, ...] = ("container", "command", "gateway")
"""Levels whose sandbox is not a process of this machine's own operating system kernel."""


@dataclass(frozen=True, kw_only=True)
class SandboxPolicy:
    """Isolation and limits of a sandbox."""

    memory_bytes: int = 2 << 30
    wall_s: float = 120.0
    """Seconds for one execution; then it is interrupted, and killed after `grace_s`."""
    grace_s: float = 5.0
    processors: float = 4.0
    """CPU time of one execution, as a multiple of its time limit; then it is interrupted, and killed after
    `grace_s`."""
    processes: int = 64
    threads: int = 512
    disk_bytes: int = 512 << 20
    files: int = 20_000
    output_bytes: int = 4 << 20
    output_messages: int = 500
    message_bytes: int = 32 << 20
    """Size limit of one message from the sandbox; a larger one closes the channel for good (ZMQ_MAXMSGSIZE)."""
    subprocess: bool = False
    levels: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")
    """Levels in the order in which they are tried. `none` must be the only one and set in the session."""
    image: str = ""
    """Docker or Podman image of the level `container`."""
    engine: str = ""
    """``docker`` or ``podman``; empty for the installed one."""
    command: tuple[str, ...] = ()
    """Command of the level `command`, which starts the remote relay: ``("ssh", "host", "python", "-m", …)``."""
    gateway: str = ""
    """Address of the Jupyter kernel gateway of the level `gateway`."""
    gateway_kernel: str = "codeagent-sandbox-relay"
    read_files: tuple[LocalFile, ...] = ()
    """Files of the user that the sandbox sees read-only, each after an approval; on this machine only."""


@dataclass(frozen=True, kw_only=True)
class SandboxStatus:
    """Isolation in force, as measured from inside the sandbox."""

    level: SandboxLevel
    where: str = ""
    """The other machine or the container: ``docker image …``, ``ssh host``; empty for this machine."""
    layers: tuple[str, ...] = ()
    """Each layer of isolation as text: ``Landlock ABI 7: …``."""
    closed: tuple[str, ...]
    """Probes that were blocked: ``read outside``, ``tcp`` …"""
    open: tuple[str, ...]
    """Probes that succeeded; this level does not promise to block them."""
    limits: tuple[str, ...]
    """Limits as text: ``memory 2 GiB (watchdog, 50 ms)`` …"""
    hint: str = ""
    """How to get the next better level; empty at the best one."""

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
"""A cleaned output: it has passed `jupyter_codeagent.notebook.outputs`, so it may be rendered as trusted."""


@dataclass(frozen=True, kw_only=True)
class ExecutionError:
    """An exception of the model's code, reduced to what helps to repair it."""

    ename: str
    evalue: str
    line: int | None = None
    """Line of the executed code, from 1; None if the traceback does not contain it."""
    source: str = ""
    """Source of that line."""


ReturnForm = Literal["", "data", "image", "specification"]
"""How a value can be brought back: not at all · as itself · a figure as a PNG · a chart as a dict."""


@dataclass(frozen=True, kw_only=True)
class NamespaceEntry:
    """A variable of the sandbox, for hints and for the panel. Its texts are untrusted and capped."""

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
    """Difference between the copy of a live variable and what was loaded. Its texts are untrusted and capped."""

    name: str
    kind: ChangeKind
    """Changed in place · rebound to another object · deleted."""
    added: tuple[str, ...] = ()
    """`repr` of the new columns or keys."""
    removed: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """`repr` of the columns or keys with changed values."""
    notes: tuple[str, ...] = ()
    """``10 → 7 rows``, ``order of rows``, ``'n' int64 → float64``."""
    earlier: bool = False
    """Whether an earlier run made the change, not this code."""


ToolCallStatus = Literal["ok", "failed", "denied", "refused", "stopped", "undone"]
"""It returned · it raised · a person or its policy denied it · it is not possible · it started and never returned ·
its effect was undone."""


@dataclass(frozen=True, kw_only=True)
class RecordedValue:
    """A `PackedValue` in text form."""

    kind: Literal["arrow", "npy", "json", "png", "parts"]
    meta_json: str
    data: str
    """The data, compressed with zlib and encoded as base64."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One tool call by code in the sandbox, and its outcome."""

    tool: str
    call: str
    """Call as shortened Python, with a person's edits: ``weather('JFK', day='2013-01-01')``."""
    status: ToolCallStatus
    kind: StubKind = "function"
    """What was called; ``function`` in records of older versions, also for queries of a database."""
    line: int | None = None
    """Line of the program, as reported by the sandbox."""
    result: str = ""
    """Return value in brief (``DataFrame 24x5``), or the line of the error."""
    decided_by: DecidedBy = "policy"
    earlier: bool = False
    """Whether the result comes from an identical earlier call in this run."""
    duration_s: float = 0.0
    """Time in the function alone, in seconds."""
    id: str = ""
    """Identifier; a repeated call has that of the first. Empty in records of older versions."""
    key: str = ""
    """Digest of the function and its arguments as the code passed them; a replay finds the call by it."""
    value: RecordedValue | None = None
    """Return value for a replay; None where it is large, no data, or looks private."""


ExecutionStatus = Literal["ok", "error", "timeout", "killed", "interrupted"]


@dataclass(frozen=True, kw_only=True)
class ExecutionResult:
    """Result of one piece of code in the sandbox."""

    status: ExecutionStatus
    outputs: tuple[Output, ...] = ()
    error: ExecutionError | None = None
    reason: str = ""
    """Why it was killed or cut short, with the limit; displayed to the user and part of the prompt."""
    duration_s: float = 0.0
    peak_memory_bytes: int = 0
    namespace: tuple[NamespaceEntry, ...] = ()
    """Variables of the sandbox after the execution; empty when it died."""
    changes: tuple[CopyChange, ...] = ()
    """Copies that differ from what was loaded."""
    operations: tuple[Operation, ...] = ()
    """What the code did to rows and columns, in the order in which the calls ended."""
    not_observed: str = ""
    """Why operations are missing; empty if none is."""
    notes: tuple[str, ...] = ()
    """Outputs that the guard dropped: ``2 outputs of type application/javascript``."""
    calls: tuple[ToolCall, ...] = ()
    """Tool calls, in the order in which they ended."""
