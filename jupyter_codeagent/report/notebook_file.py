"""The saved notebook, and what the history knows of its runs: all that a report is made of is read here."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_codeagent.history import HistoryStore, RunFilter, RunRow
from jupyter_codeagent.notebook.cells import cell_state, provenance, run_id_of
from jupyter_codeagent.types.errors import UnknownRunError, UsageError
from jupyter_codeagent.types.run import KEPT_STATES, AgentRun, CellState

MAX_RUNS = 1000
"""Runs of one notebook that are looked at, the newest first."""
REPLACED_BY = ("refined", "rerun")
"""Who discards a run without a person's decision over it."""


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A run of this notebook with the last decision over its cells."""

    run_id: str
    state: CellState
    at: float
    """Seconds since the epoch: when it was decided, or when the run ended."""
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class SavedNotebook:
    """A notebook as it is on the disk, with the runs that it shows."""

    path: Path
    cells: tuple[Any, ...]
    language_version: str = ""
    saved_at: float = 0.0
    """Time of the file, in seconds since the epoch."""
    runs: Mapping[str, AgentRun] = field(default_factory=dict)
    """Id -> record, of those of its runs that the history has."""
    decided: tuple[Decided, ...] = ()
    """What the history knows of runs that were made in this notebook."""


def read_saved(path: Path, history: HistoryStore, *, also_named: Collection[str] = ()) -> SavedNotebook:
    """Read a notebook from its file, and its runs from the history.

    `also_named` are other names under which the history may have it.

    Raises
    ------
    UsageError
        There is no such notebook, or it cannot be read.
    HistoryError
    """
    try:
        saved_at = path.stat().st_mtime
        notebook = _notebook(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a notebook: {error}") from error
    cells = tuple(notebook["cells"])
    ids = {run_id for cell in cells if (run_id := run_id_of(cell)) is not None}
    rows = _rows(history, {str(path), str(path.resolve()), os.path.abspath(path), *also_named})
    return SavedNotebook(
        path=path,
        cells=cells,
        language_version=_language_version(notebook),
        saved_at=saved_at,
        runs={run_id: run for run_id in sorted(ids) if (run := _load(history, run_id)) is not None},
        decided=tuple(_decided(history, row) for row in rows),
    )


def _notebook(text: str) -> Any:
    """Return a notebook of format 4 from its JSON; raise ValueError for anything else."""
    import nbformat

    raw = json.loads(text)
    if not _has_form(raw):
        raise ValueError("it has not the form of notebooks of format 4")
    return nbformat.reads(text, as_version=4)


def _has_form(raw: Any) -> bool:
    """Check the types of what nbformat and everything here relies on."""
    if not isinstance(raw, dict) or raw.get("nbformat") != 4 or type(raw.get("nbformat_minor")) is not int:
        return False
    cells = raw.get("cells")
    if not isinstance(raw.get("metadata"), dict) or not isinstance(cells, list):
        return False
    return all(
        isinstance(cell, dict)
        and isinstance(cell.get("metadata"), dict)
        and isinstance(cell.get("source"), str | list)
        and isinstance(outputs := cell.get("outputs", []), list)
        and all(isinstance(output, dict) for output in outputs)
        for cell in cells
    )


def _language_version(notebook: Any) -> str:
    info = notebook["metadata"].get("language_info")
    version = info.get("version") if isinstance(info, dict) else None
    return version[:20] if isinstance(version, str) else ""


def _rows(history: HistoryStore, names: Collection[str]) -> tuple[RunRow, ...]:
    _, rows = history.search(RunFilter(notebooks=tuple(sorted(names)), status="ok"), limit=MAX_RUNS)
    return rows


def _load(history: HistoryStore, run_id: str) -> AgentRun | None:
    """Return the run of exactly this id; the notebook may come from another computer."""
    try:
        run = history.load(run_id)
    except UnknownRunError:
        return None
    return run if run.id == run_id else None


def _decided(history: HistoryStore, row: RunRow) -> Decided:
    decisions = [one for one in history.decisions(row.id) if one.what == row.cell_state]
    if decisions:
        return Decided(run_id=row.id, state=row.cell_state, at=decisions[-1].at, by=decisions[-1].by)
    return Decided(run_id=row.id, state=row.cell_state, at=row.ended_at or row.started_at)


def with_decisions(saved: SavedNotebook) -> SavedNotebook:
    """Return the notebook with decisions that were taken before it was saved and that no page has marked.

    Raises
    ------
    UsageError
        Decisions are newer than the file: the report would not be of what the user sees.
    """
    states = {run_id: cell_state(cell) for cell in saved.cells if (run_id := run_id_of(cell)) is not None}
    newer = [
        one.run_id
        for one in saved.decided
        if one.at > saved.saved_at and _is_missing(one, states.get(one.run_id, ""))
    ]
    if newer:
        what = f"run {newer[0]}" if len(newer) == 1 else f"{len(newer)} runs ({', '.join(newer[:3])}…)"
        raise UsageError(
            f"Save the notebook first: what you decided about {what} is not in {saved.path.name} on disk yet."
        )
    decided = {one.run_id: one.state for one in saved.decided if one.state != "pending"}
    return replace(saved, cells=tuple(_with_state(cell, decided) for cell in saved.cells))


def _is_missing(decided: Decided, in_file: str) -> bool:
    """Check whether a decision cannot be seen in the file: a kept result, or one that is no longer there."""
    if decided.state in KEPT_STATES:
        return in_file not in KEPT_STATES
    return decided.state == "discarded" and in_file in KEPT_STATES


def _with_state(cell: Any, decided: Mapping[str, CellState]) -> Any:
    run_id = run_id_of(cell)
    if run_id is None or run_id not in decided or cell_state(cell) != "pending":
        return cell
    marked = cell.copy()
    marked["metadata"] = {**cell["metadata"], "codeagent": {**provenance(cell), "state": decided[run_id]}}
    return marked


def pending_runs(saved: SavedNotebook) -> frozenset[str]:
    """Return the runs whose cells wait for a decision."""
    return frozenset(
        run_id for cell in saved.cells if (run_id := run_id_of(cell)) is not None and cell_state(cell) == "pending"
    )


def discarded_runs(saved: SavedNotebook) -> frozenset[str]:
    """Return the results of this notebook that a person has discarded; not those that a newer one replaced."""
    return frozenset(one.run_id for one in saved.decided if one.state == "discarded" and one.by not in REPLACED_BY)
