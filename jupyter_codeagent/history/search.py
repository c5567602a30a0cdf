"""Filters for a list of runs, and its overview: pure functions over rows from the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jupyter_codeagent.types.run import CellState, RunStatus

Outcome = Literal[RunStatus, CellState]
"""Outcome of a run: the decision about its cells if it gave any, else how it ended."""
OUTCOMES: tuple[Outcome, ...] = (
    *get_args(CellState),
    *(status for status in get_args(RunStatus) if status != "ok"),
)
EXCERPT_CHARS = 120
BEFORE_CHARS = 24
"""Length of the text before a match in an excerpt."""


@dataclass(frozen=True, kw_only=True)
class RunFilter:
    """Conditions that a run must meet; None and empty are no condition."""

    text: str = ""
    """Words that must all occur in prompt, code or answer, in any case."""
    notebooks: tuple[str, ...] = ()
    """Paths, of which the run's notebook must have one."""
    model: str | None = None
    status: RunStatus | None = None
    outcome: Outcome | None = None
    since: float | None = None
    """Earliest start; seconds since the epoch."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.text.casefold().split()))


@dataclass(frozen=True, kw_only=True)
class Overview:
    """Start times of all matching runs, and the other values to filter by."""

    times: tuple[int, ...]
    """Start times, newest first; whole seconds since the epoch."""
    notebooks: tuple[tuple[str | None, int], ...]
    """(value, number of runs) under all other conditions, the most frequent first; likewise the next two."""
    models: tuple[tuple[str, int], ...]
    outcomes: tuple[tuple[str, int], ...]


def build_overview(rows: Iterable[tuple[str | None, str, str, float]], wanted: RunFilter) -> Overview:
    """Return the overview of the runs that meet all conditions on other fields than notebook, model and outcome.

    Parameters
    ----------
    rows
        (notebook, model, outcome, started_at) of each run, newest first.
    wanted
        The filter; its conditions on notebook, model and outcome are applied here.
    """
    times: list[int] = []
    notebooks: Counter[str | None] = Counter()
    models: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    for notebook, model, outcome, started_at in rows:
        notebook_fits = not wanted.notebooks or notebook in wanted.notebooks
        model_fits = wanted.model is None or model == wanted.model
        outcome_fits = wanted.outcome is None or outcome == wanted.outcome
        if model_fits and outcome_fits:
            notebooks[notebook] += 1
        if notebook_fits and outcome_fits:
            models[model] += 1
        if notebook_fits and model_fits:
            outcomes[outcome] += 1
            if outcome_fits:
                times.append(int(started_at))
    return Overview(
        times=tuple(times),
        notebooks=tuple(notebooks.most_common()),
        models=tuple(models.most_common()),
        outcomes=tuple(outcomes.most_common()),
    )


def find_excerpt(words: Iterable[str], prompt: str, texts: Iterable[Any]) -> str:
    """Return part of the first line with a word that the prompt does not contain; empty if there is none."""
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
