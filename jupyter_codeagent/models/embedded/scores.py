"""Measured scores of the catalogue's models (`python -m evals`), as committed in `scores.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, kw_only=True)
class Score:
    """One measurement of one model."""

    suite: str
    """Name of the evaluation suite: ``DABench``, ``own``."""
    right: int
    of: int
    version: str
    """Version of jupyter-codeagent."""
    date: str
    """``2026-11-22``."""


def measured_scores() -> dict[str, Score]:
    """Return the scores by model; models without a measurement are missing."""
    entries = json.loads(files("jupyter_codeagent.models.embedded").joinpath("scores.json").read_text("utf-8"))
    return {model: Score(**entry) for model, entry in entries.items() if entry is not None}


def format_score(score: Score | None, this: str) -> str:
    """Return ``87 of 132 DABench``, with the version if it is not `this`."""
    if score is None:
        return "untested"
    text = f"{score.right} of {score.of} {score.suite}"
    return text if score.version == this else f"{text} ({score.version})"
