"""What a look at whole tables has found. Its values come from the sandbox: validated, capped, still untrusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from jupyter_codeagent.types.run import AgentRun

FindingKind = Literal[
    "duplicates",
    "text_type",
    "missing",
    "missing_by_group",
    "missing_together",
    "gap",
    "outliers",
    "impossible",
    "ratio",
    "spelling",
    "skew",
    "group_difference",
    "correlation",
    "association",
    "trend",
    "group_trend",
    "season",
    "break",
    "reversal",
    "interaction",
    "same",
    "key_spelling",
    "join",
]
OF_TWO_TABLES: frozenset[FindingKind] = frozenset({"key_spelling", "join"})
"""Kinds of findings whose columns are those of one table, then those of another."""
ColumnRole = Literal["number", "category", "text", "date", "flag", "identifier", "constant", "other"]
Library = Literal["pandas", "polars"]
FactValue = str | int | float | bool | tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a table shows, with the figures that say it."""

    kind: FindingKind
    table: str
    """Name of the variable."""
    columns: tuple[str, ...]
    """In the order of the kind's roles; ``""`` in the place of a value stands for the number of rows."""
    effect: float
    """Between 0 and 1, comparable between kinds."""
    p_value: float
    """Before any correction; 0 for plain counts."""
    facts: Mapping[str, FactValue] = field(default_factory=dict)

    def text(self, fact: str) -> str:
        """Return a fact that is text; empty if it is none."""
        value = self.facts.get(fact)
        return value if isinstance(value, str) else ""

    def texts(self, fact: str) -> tuple[str, ...]:
        """Return a fact that is several texts."""
        value = self.facts.get(fact)
        return value if isinstance(value, tuple) else ()

    def number(self, fact: str) -> float:
        """Return a fact that is a number; 0 if it is none."""
        value = self.facts.get(fact)
        return value if isinstance(value, int | float) else 0.0

    def count(self, fact: str) -> int:
        """Return a fact that is a whole number; 0 if it is none."""
        value = self.facts.get(fact)
        return value if isinstance(value, int) else 0

    def has(self, fact: str) -> bool:
        """Check whether the fact is there and not None."""
        return self.facts.get(fact) is not None


@dataclass(frozen=True, kw_only=True)
class ColumnOverview:
    """One column of a table."""

    name: str
    type: str
    """As the library stores it: ``int64``, ``String``."""
    role: ColumnRole = "other"
    missing: int = 0
    distinct: int = 0
    infinite: int = 0
    """Infinite numbers, which were looked at as missing."""


@dataclass(frozen=True, kw_only=True)
class DatesCovered:
    """First and last date of a column, as ISO texts."""

    column: str
    first: str
    last: str


@dataclass(frozen=True, kw_only=True)
class TableOverview:
    """A table as a whole."""

    table: str
    library: Library
    rows: int
    columns: tuple[ColumnOverview, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    """Columns whose values, together, occur once each."""
    repeated_rows: int = 0
    dates: DatesCovered | None = None
    sampled: int = 0
    """Rows that were looked at, if fewer than all; else 0."""
    labels: int = 0
    """Columns of the table, those included that were not looked at."""
    labelled: bool = False
    """Whether the index of a pandas table says more than numbers of rows."""
    index: tuple[str, ...] = ()
    """All levels of the index if they were looked at as columns; else nobody has looked at it."""

    def column(self, name: str) -> ColumnOverview:
        """Return the column of this name; one of unknown type if the report left it out."""
        return next((one for one in self.columns if one.name == name), ColumnOverview(name=name, type=""))


@dataclass(frozen=True, kw_only=True)
class SkippedTable:
    """A table that was not looked at, and why."""

    table: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Exploration:
    """All that one look at the tables has found."""

    tables: tuple[TableOverview, ...] = ()
    findings: tuple[Finding, ...] = ()
    tried: int = 0
    """Number of questions that were put to the tables, for the correction of p-values."""
    skipped: tuple[SkippedTable, ...] = ()

    def overview(self, table: str) -> TableOverview | None:
        """Return the overview of a table; None if there is none."""
        return next((one for one in self.tables if one.table == table), None)


@dataclass(frozen=True, kw_only=True)
class ExplorationRequest:
    """What the sandbox is to look at (`sandbox/guest/exploration`)."""

    names: tuple[str, ...]
    """Tables."""
    leave_out: Mapping[str, tuple[str, ...]]
    """Table -> columns that are not looked at."""
    seconds: float
    """Time limit."""
    max_rows: int
    """Rows of a larger table that are looked at."""


@dataclass(frozen=True, kw_only=True)
class ExplorationResult:
    """What an exploration has brought into the notebook."""

    runs: tuple[AgentRun, ...]
    """The overview of each table, then the findings, as their cells stand in the notebook."""
    failed: tuple[AgentRun, ...] = ()
    """Those whose program did not run; they have no cells."""
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""
