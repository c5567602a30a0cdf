"""What a list of runs is narrowed by, and what it says of itself: pure, over rows that were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jupyter_codeagent.types.run import CellState, RunStatus

Outcome = Literal[RunStatus, CellState]
"""What came of a run, in one word: of one that gave cells what was decided over them, else how it ended."""
OUTCOMES: tuple[Outcome, ...] = (
    *get_args(CellState),
    *(status for status in get_args(RunStatus) if status != "ok"),
)
EXCERPT_CHARS = 120
BEFORE_CHARS = 24
"""How much of its line stands before a word that was found."""


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """Conditions that a run must meet; None and empty ask for nothing."""

    text: str = ""
    """Each of its words must occur in prompt, code or answer, anywhere and in any case."""
    notebooks: tuple[str, ...] = ()
    """Any of these paths."""
    model: str | None = None
    status: RunStatus | None = None
    outcome: Outcome | None = None
    since: float | None = None
    """Started then or later; seconds since the epoch."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.text.casefold().split()))


@dataclass(frozen=True, kw_only=True)
class Overview:
    """All runs that match, without reading them: when they were, and what else could be chosen."""

    times: tuple[int, ...]
    """When each was started, newest first; whole seconds since the epoch."""
    notebooks: tuple[tuple[str | None, int], ...]
    """(value, how many runs) under all conditions but that on the notebook itself; the most frequent first."""
    models: tuple[tuple[str, int], ...]
    outcomes: tuple[tuple[str, int], ...]


def overview_of(rows: Iterable[tuple[str | None, str, str, float]], wanted: RunFilter) -> Overview:
    """`rows` are (notebook, model, outcome, started_at), newest first, of the runs that meet all else."""
    times: list[int] = []
    notebooks: Counter[str | None] = Counter()
    models: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for notebook, model, outcome, started_at in rows:
        here = not wanted.notebooks or notebook in wanted.notebooks
        of_model = wanted.model is None or model == wanted.model
        so = wanted.outcome is None or outcome == wanted.outcome
        if of_model and so:
            notebooks[notebook] += 1
        if here and so:
            models[model] += 1
        if here and of_model:
            outcomes[outcome] += 1
            if so:
                times.append(int(started_at))
    return Overview(
        times=tuple(times),
        notebooks=tuple(notebooks.most_common()),
        models=tuple(models.most_common()),
        outcomes=tuple(outcomes.most_common()),
    )


def excerpt(words: Iterable[str], prompt: str, texts: Iterable[Any]) -> str:
    """Where a word was found that the prompt does not have: part of its line, as it was written; else empty."""
    missing = [word for word in words if word not in prompt.casefold()]
    lines = [line.strip() for text in texts if isinstance(text, str) for line in text.splitlines()]
    for word in missing:
        for line in lines:
            at = line.casefold().find(word)
            if at >= 0:
                start = max(0, at - BEFORE_CHARS)
                end = start + EXCERPT_CHARS
                return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
    return ""
