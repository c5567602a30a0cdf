"""Variables as the prompt describes them, and as the sandbox gets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Privacy = Literal["schema", "stats", "samples"]
PRIVACY_ORDER: tuple[Privacy, ...] = ("schema", "stats", "samples")
"""Privacy modes, the strictest first."""


@dataclass(frozen=True, kw_only=True)
class ColumnSummary:
    """One column of a frame, as a prompt may describe it."""

    name: str
    """`repr()` of the label, so that blanks and case are visible."""
    dtype: str
    """Short: ``int``, ``float``, ``str``, ``bool``, ``datetime``, ``category``, else the dtype's own name."""
    stats: str = ""
    """``0..512.3``, ``{male, female}``, ``135u``; empty under the privacy mode ``schema``."""
    reading: str = ""
    """Call of pandas that turns text `x` into what it means: ``pd.to_datetime(x, format='%d.%m.%Y')``."""
    example: str = ""
    missing: str = ""
    """``11 missing``, or ``2.7% missing`` where only a sample was read; empty if no value is missing."""

    @property
    def statistics(self) -> str:
        """`stats` with the call that reads them."""
        return f"{self.stats}: {self.reading}" if self.reading else self.stats


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """A column of a pandas frame whose text means something else."""

    reading: str
    """See `ColumnSummary.reading`."""
    is_only_date: bool = False
    """Whether it holds dates, and no other column of its table says when."""


@dataclass(frozen=True, kw_only=True)
class VariableSummary:
    """Description of one live variable, made without scanning its rows."""

    name: str
    type_name: str
    """``DataFrame``, ``ndarray``, ``LinearRegression`` …"""
    headline: str
    """The most informative line: ``df: DataFrame 715x14``."""
    bare_headline: str = field(default="", compare=False)
    """The headline for the privacy mode ``schema``, without values."""
    columns: tuple[ColumnSummary, ...] = ()
    size_bytes: int | None = None
    """Size estimated without a scan; None if unknown."""
    copyable: bool = False
    """Whether it can be copied into the sandbox: a frame, series, array, scalar or plain container."""
    frame_like: bool = False
    """Whether it is copied by default when the prompt names no variable."""
    sampled: bool = False
    """Whether statistics come from a sample of the rows."""
    rows: str = ""
    """Sample rows as CSV; only under the privacy mode ``samples``."""


@dataclass(frozen=True, kw_only=True)
class LocalFile:
    """A regular file of the user that a sandbox may read, with its state at the time of the check."""

    path: str
    """Absolute path without symbolic links."""
    device: int
    inode: int
    """Another file at the same path has another inode; a sandbox with access to the old one does not see it."""
    size_bytes: int = field(default=0, compare=False)
    modified_ns: int = field(default=0, compare=False)
    """Not compared, like the size: the digest of the copies covers both, and a larger file needs no new sandbox."""


@dataclass(frozen=True, kw_only=True)
class CopiedVariable:
    """One variable in the spool, ready for the sandbox to load."""

    name: str
    type_name: str
    size_bytes: int
    """Size of the pickle stream and its buffers."""
    files: tuple[tuple[str, int, int], ...] = ()
    """(name in the spool directory, never a path; offset, length) of each piece of one image of the value."""
    buffers: tuple[tuple[int, int], ...] = ()
    """(offset, length) in the image of each out-of-band pickle buffer."""
    head: tuple[int, int] = (0, 0)
    """(offset, length) in the image of the pickle stream."""
    version: int = 1
    """Incremented when the live value has changed since it was last written."""
    note: str = ""
    """Part of the live value that was copied: ``random sample of 336776 rows; 2 of 19 columns``; empty for all."""
    reads: tuple[LocalFile, ...] = ()
    """Files that a lazy value reads in the sandbox, after the user's approval."""


@dataclass(frozen=True, kw_only=True)
class SkippedVariable:
    """A variable that was selected but not copied."""

    name: str
    reason: str


ToolPolicy = Literal["auto", "ask", "deny"]
"""Policy for calls of one tool: run at once · run after an approval · never run."""
TOOL_ORDER: tuple[ToolPolicy, ...] = ("deny", "ask", "auto")
"""The strictest first."""


StubKind = Literal[
    "function",
    "duckdb",
    "sqlite3",
    "sqlalchemy",
    "sqlalchemy_percent",
    "spark",
    "spark_frame",
    "polars",
    "duckdb_relation",
    "ibis_duckdb",
    "ibis_sqlite",
]
"""A function, or a database of the live kernel by the library of its connection; also a frame that it queries."""


@dataclass(frozen=True, kw_only=True)
class ToolStub:
    """A function of the live kernel that the sandbox may call, as the prompt describes it.

    Or a database that it may query: it has the methods of its connection there, and each query is a call.
    """

    name: str
    signature: str
    """Python signature: ``(origin: str, day: str = 'today') -> DataFrame``, with ``...`` for complex defaults."""
    doc: str = ""
    policy: ToolPolicy = "ask"
    kind: StubKind = "function"
    columns: tuple[tuple[str, str], ...] = ()
    """Of an Ibis table, (name, type as Ibis has it): the sandbox has such a table, and sends what it compiles."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """All that the sandbox gets in one run."""

    copied: tuple[CopiedVariable, ...] = ()
    skipped: tuple[SkippedVariable, ...] = ()
    modules: tuple[str, ...] = ()
    """Import lines of the user's module aliases: ``import pandas as pd``."""
    tools: tuple[ToolStub, ...] = ()
    unchanged: tuple[str, ...] = ()
    """Variables among `copied` whose copy comes from an earlier run of this kernel."""

    @property
    def databases(self) -> tuple[str, ...]:
        """Return the databases of the live kernel that code may query."""
        return tuple(stub.name for stub in self.tools if stub.kind != "function")


@dataclass(frozen=True, kw_only=True)
class LiveNames:
    """The names of the user's kernel when a run began."""

    data: Mapping[str, str] = field(default_factory=dict)
    """The variables that code leaves as they are unless the prompt asks for a change -> their types."""
    columns: frozenset[str] = frozenset()
    """Their columns."""
    taken: frozenset[str] = frozenset()
    """All names that are bound."""
