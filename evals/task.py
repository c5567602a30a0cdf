"""What is asked, of which data, and how an answer is judged. Data only; nothing here runs anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Topic = Literal[
    "cleaning", "join", "group", "time", "outliers", "test", "plot", "follow-up", "table", "kpi", "tools"
]


@dataclass(frozen=True, kw_only=True)
class FigureFacts:
    """What a matplotlib axes shows, read from its artists."""

    title: str
    x_label: str
    y_label: str
    x_ticks: tuple[str, ...]
    """Texts of the tick labels."""
    y_ticks: tuple[str, ...]
    bars: tuple[float, ...]
    """Length of each bar, in drawing order; of horizontal ones the width."""
    lines: tuple[tuple[float, ...], ...]
    """The y values of each line."""
    point_count: int
    """Of all scatter collections."""
    patch_count: int
    """Bars, boxes, wedges, histogram bins."""
    legend: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What a system's answer to one turn left to judge."""

    text: str
    """All that was shown: printed text, the value of the last expression, the answer in words."""
    namespace: Mapping[str, Any] = field(default_factory=dict)
    """Variables after the turn: tables as pandas frames, scalars, lists; what else there is is left out."""
    figures: Sequence[FigureFacts] = ()
    """Of this turn."""


Check = Callable[[Evidence], str]
"""Why the answer is wrong; empty if it is right."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One question, its judge, and programs that prove the judge."""

    prompt: str
    check: Check
    reference: str
    """A program that answers rightly; it may be indented as a whole."""
    wrong: tuple[str, ...]
    """Programs that run and answer wrongly, in a way analysts get wrong."""

    verbatim: bool = False
    """The prompt's line breaks are meant; else they are those of the file that it stands in."""

    @property
    def question(self) -> str:
        """The prompt as it is asked."""
        return self.prompt if self.verbatim else " ".join(self.prompt.split())


@dataclass(frozen=True, kw_only=True)
class Task:
    id: str
    topic: Topic
    source: str
    """Where the data comes from: a package and its table."""
    setup: str
    """Python that makes the variables; run in the user's kernel, never shown to a model."""
    variables: tuple[str, ...]
    """Those of `setup` that the question is about."""
    turns: tuple[Turn, ...]
    level: str = ""
    """As the public benchmark says; empty for our own tasks."""
