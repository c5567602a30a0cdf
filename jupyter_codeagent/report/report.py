"""What a report says, as values; all texts and outputs in it are cleaned."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from jupyter_codeagent.types.run import AgentRun, Verdict
from jupyter_codeagent.types.sandbox import Output
from jupyter_codeagent.types.sizes import counted, format_bytes

RerunOutcome = Literal["same", "differs", "failed", "not run"]
"""The same results came out · others did · the code could not be run again · nobody has run it again."""


@dataclass(frozen=True, kw_only=True)
class Rerun:
    """What came of running the code of one result again."""

    outcome: RerunOutcome = "not run"
    reason: str = ""
    """Why it could not be run, or what else explains a difference; one line."""
    recorded: str = ""
    """The result in the notebook as text; empty unless they differ."""
    again: str = ""
    """The result that came out now."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One accepted result: the cells of a run that the user has kept."""

    question: str
    """The prompt; the line of a finding; empty if nobody knows it any more."""
    code: str = ""
    """As it may be displayed."""
    source: str = field(default="", repr=False)
    """Exactly as it stands in the notebook: what is run again."""
    outputs: tuple[Output, ...] = ()
    answer: str = ""
    """Markdown."""
    is_finding: bool = False
    """Whether it comes from `%agent explore`."""
    is_edited: bool = False
    """Whether a person has changed the code."""
    model: str = ""
    """The model that wrote the code; empty if there was none."""
    run_id: str = ""
    started_at: float | None = None
    """Seconds since the epoch; None if the history does not have the run."""
    verdict: Verdict | None = None
    assumptions: tuple[str, ...] = ()
    """What the code decided and nobody asked for: ``61 missing values of order_id skipped``."""
    parts: tuple[str, ...] = ()
    """Of what only a part was copied: ``flights: random sample of 336776 rows``."""
    cell_id: str = ""
    cell_number: int = 0
    """Position in the notebook, from 1."""
    notes: tuple[str, ...] = ()
    """What was removed from the outputs as they stand in the notebook."""
    run: AgentRun | None = field(default=None, repr=False)
    """Its record, if the history has it."""
    rerun: Rerun = Rerun()


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A Markdown cell of the user's."""

    text: str


@dataclass(frozen=True, kw_only=True)
class DataUsed:
    """A variable that accepted code has read, as the runs knew it."""

    name: str
    type_name: str
    shape: str
    """``336,776 × 19``; empty if unknown."""
    size_bytes: int
    copies: int
    """In how many states it was copied: more than one if it changed between the results."""
    parts: tuple[str, ...] = ()

    @property
    def size(self) -> str:
        return format_bytes(self.size_bytes)


@dataclass(frozen=True, kw_only=True)
class Package:
    """A package that accepted code imports."""

    name: str
    version: str
    """Empty if it is not installed where the report was made."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """One report."""

    title: str
    created_at: float
    """Seconds since the epoch."""
    notebook: str
    """File name."""
    link: str
    """Relative address of the notebook, for links to its cells."""
    items: tuple[Result | Passage, ...]
    """In the order of the notebook."""
    data: tuple[DataUsed, ...] = ()
    python: str = ""
    packages: tuple[Package, ...] = ()
    pending: int = 0
    """Results of the notebook that wait for a decision."""
    discarded: int = 0
    not_rerun: str = ""
    """Why no result was run again; empty if they were."""

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(item for item in self.items if isinstance(item, Result))

    @property
    def is_reproduced(self) -> bool:
        """Whether every result was run again and came out the same."""
        return bool(self.results) and all(result.rerun.outcome == "same" for result in self.results)

    @property
    def is_doubted(self) -> bool:
        """Whether a result is doubtful or has to be looked at."""
        return any(result.verdict is not None and result.verdict.level != "checked" for result in self.results)

    def count(self, outcome: RerunOutcome) -> int:
        """Return the number of results with this outcome."""
        return sum(result.rerun.outcome == outcome for result in self.results)


SAME_IS_NOT_RIGHT = (
    "The same figures are not necessarily right ones: what was checked and assumed is below each result."
)


def summary(report: Report) -> str:
    """Return one sentence on whether the results came out the same again. Only if all did, they are reproduced."""
    total = len(report.results)
    if report.not_rerun:
        return f"Not re-run: {report.not_rerun}. The results are those in the notebook."
    day = day_of(report.created_at)
    if report.is_reproduced:
        what = f"all {total} results" if total > 1 else "the result"
        return f"Reproduced: {what} came out the same on {day}. {SAME_IS_NOT_RIGHT}"
    parts = [f"{report.count('same')} of {total} came out the same"]
    if differing := report.count("differs"):
        parts.append(f"{differing} differ{'s' if differing == 1 else ''}")
    if failed := report.count("failed") + report.count("not run"):
        parts.append(f"{failed} could not be re-run")
    return f"Re-run on {day}: {', '.join(parts)}. {SAME_IS_NOT_RIGHT}"


def day_of(seconds: float) -> str:
    """Return the local date of a time in seconds since the epoch."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def limits(report: Report) -> tuple[str, ...]:
    """Return what a reader has to keep in mind, a sentence each."""
    results = report.results
    lines = [f"Computed on part of the data: {part}." for part in _distinct(results)]
    for level, words in (("doubtful", "as doubtful"), ("look", "as worth a look")):
        count = sum(result.verdict is not None and result.verdict.level == level for result in results)
        if count:
            lines.append(f"{counted(count, 'result')} marked {words}: the reason is below the result.")
    if edited := sum(result.is_edited for result in results):
        lines.append(f"The code of {counted(edited, 'result')} was edited by a person: what is shown may be older.")
    if not report.not_rerun:
        lines.append(
            "Tables and text were compared word by word, pictures by number and size only, warnings not at all."
        )
    lines += [f"Not in this report: {note}." for note in dict.fromkeys(note for r in results for note in r.notes)]
    lines.append(
        "A result says what the data show, not why; whether the code answers the question is for readers to judge."
    )
    return tuple(lines)


def _distinct(results: Sequence[Result]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part for result in results for part in result.parts))
