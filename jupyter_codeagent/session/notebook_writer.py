"""From a result to its cells: whether they are inserted, where, and which ones they replace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.insertion import CellInserter
from jupyter_codeagent.frontend.messages import InsertMessage
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.session.cell_decisions import CellDecisions
from jupyter_codeagent.session.recorder import RunRecorder
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import InsertError
from jupyter_codeagent.types.run import KEPT_STATES, AgentRun

RECORDED_S = 1.0
"""After an insertion was given up, its run is recorded within this time, in seconds."""


@dataclass(frozen=True, kw_only=True)
class NotebookWriter:
    """Inserts the cells of a session's runs. On the background loop."""

    front_ends: FrontEndAdapters
    run_log: RunLog
    decisions: CellDecisions
    changed: Callable[[AgentRun], object]
    """Called with a record that is changed after its run."""

    async def insert_cells(
        self,
        run: AgentRun,
        recorder: RunRecorder,
        origin: CellOrigin,
        known: AgentRun | None,
        *,
        below: str | None = None,
    ) -> AgentRun:
        """Return the run with where its cells are; `known` is the earlier run of its cell, if it has the same code.

        They are inserted below the run's cell, or below the one with the id `below`.
        Cells that could not be inserted are no error: they are in the history, and a note is added.
        """
        kept = known if known is not None and run.replayed_from and known.cell_state in KEPT_STATES else None
        inserter = self.front_ends.inserter(origin)
        if kept is not None and not inserter.knows_cells and origin.has_cells_below:
            return _with_cells_of(run, kept)
        as_kept = kept is not None and kept.cell_state == "accepted"  # otherwise they lack the user's changes
        accepted = as_kept or run.request.approve == "auto"
        run = replace(run, cell_state="accepted" if accepted else "pending", placed="inserting")
        # Recorded before its cells are inserted: whoever finds them after a crash can look up what they are.
        recorder.changed(run)
        recorder.progress(run, "inserting")
        anchor = run.request.cell_id if below is None else below
        return await self._insert(replace(run, placed=inserter.placed), inserter, kept, origin, anchor)

    async def _insert(
        self, run: AgentRun, inserter: CellInserter, kept: AgentRun | None, origin: CellOrigin, anchor: str | None
    ) -> AgentRun:
        """Insert the cells unless those of `kept` are there; they may have gone from the notebook since."""
        cells = [dict(cell) for cell in cells_from_run(run, state=run.cell_state)]
        replaced = self.run_log.replaced_by(run)
        try:
            is_there = await inserter.insert(
                run.id,
                cells,
                anchor=anchor,
                replace=self.run_log.earlier_versions(run),
                unless=self.run_log.runs_displaying(kept) if kept is not None else (),
            )
        except InsertError as error:
            if error.refused:
                await self.front_ends.in_place().insert(run.id, cells, anchor=None, replace=())
            return replace(run, placed="undelivered", notes=(*run.notes, str(error)))
        decided_by = "refined" if run.request.refines else "rerun"
        self.decisions.replaced(replaced, origin.session or "", decided_by=decided_by)
        return run if is_there or kept is None else _with_cells_of(run, kept)

    def inserted_late(self, message: InsertMessage, problem: str) -> None:
        """Withdraw the note on cells that were given up: a page has inserted them after all."""
        run = self.run_log.find(message["run_id"])
        if run.placed == "inserting":  # the run is still ending: that they were given up is not recorded yet
            asyncio.get_running_loop().call_later(RECORDED_S, self.inserted_late, message, problem)
        if run.placed != "undelivered":
            return
        run = replace(run, placed="cells", notes=tuple(note for note in run.notes if note != problem))
        self.run_log.write(run)
        replaced = [run_id for run_id in self.run_log.replaced_by(run) if run_id in message["replace"]]
        self.decisions.replaced(replaced, "", decided_by="refined" if run.request.refines else "rerun")
        self.changed(run)


def _with_cells_of(run: AgentRun, kept: AgentRun) -> AgentRun:
    """Return the record of a run whose result is already in the cells of an earlier one."""
    notes = (*run.notes, "its cells are already in the notebook")
    return replace(run, cell_state=kept.cell_state, placed="kept", notes=notes)
