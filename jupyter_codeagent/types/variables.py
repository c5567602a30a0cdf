"""Variables as the model is told of them, and what the sandbox gets of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

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
