"""The runs of one kernel: in memory for the panel and the next question, in the history for good."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.history import HistoryStore, RunRow
from jupyter_codeagent.session.turns import displayed_text, may_include, turn_of
from jupyter_codeagent.types.errors import HistoryError, UnknownRunError, UsageError
from jupyter_codeagent.types.messages import Usage
from jupyter_codeagent.types.run import KEPT_STATES, NO_MODEL, AgentRun, CellState
from jupyter_codeagent.types.sandbox import StreamOutput
from jupyter_codeagent.types.variables import Manifest

KEPT_RUNS = 50
"""Runs that a page gets at once; older ones come from the history."""


class RunLog:
    """Requests and their results, newest last."""

    def __init__(self, history: HistoryStore, session_id: str) -> None:
        self.history = history
        self._session_id = session_id
        self._runs: dict[str, AgentRun] = {}
        self._forgotten: dict[str, str] = {}
        """Runs that left the conversation, with the variable that was hidden; empty for a new conversation."""
        self._slim: set[str] = set()
        """Older runs, of which only what the conversation needs is kept here: outputs are megabytes."""

    def write(self, run: AgentRun) -> None:
        """Write a run, into the history first: what is displayed is always on disk.

        Raises
        ------
        HistoryError
        """
        self.history.save(run, session=self._session_id)
        self._runs[run.id] = run
        self._refresh([run.id])  # its cells may have been accepted or discarded while the run was still ending
        for old in list(self._runs)[:-KEPT_RUNS]:
            if old not in self._slim:
                self._runs[old] = _slim(self._runs[old])
                self._slim.add(old)

    @property
    def recent(self) -> list[AgentRun]:
        """The last runs of this kernel, oldest first, with the present state of their cells."""
        with suppress(HistoryError):  # a page links all the same; whoever runs or decides something gets the error
            self._refresh(list(self._runs)[-KEPT_RUNS:])
        return list(self._runs.values())[-KEPT_RUNS:]

    def _refresh(self, run_ids: Sequence[str]) -> None:
        """Take cell states from the history: a page without a link to this kernel writes decisions only there."""
        for run_id, state in self.history.cell_states(run_ids).items():
            if self._runs[run_id].cell_state != state:
                self._runs[run_id] = replace(self._runs[run_id], cell_state=state)

    @property
    def last(self) -> AgentRun | None:
        """The last run of the user's."""
        return next((run for run in reversed(self._runs.values()) if not run.request.client), None)

    def of_client(self, client: str) -> list[AgentRun]:
        """Return the runs of an MCP client, the newest first; without those whose data was hidden since."""
        self._refresh(list(self._runs))
        runs = reversed(self._runs.values())
        return [run for run in runs if run.request.client == client and run.id not in self._forgotten]

    @property
    def usage(self) -> Usage:
        """Tokens of all runs of this kernel."""
        return sum((run.usage for run in self._runs.values()), Usage())

    def turns_before(self, run: AgentRun, defined: Collection[str] = ()) -> tuple[Turn, ...]:
        """Return the conversation: runs that gave a result, without discarded ones and those of the same cell.

        What was sent to one server is not sent to another one that is remote. Code and results are sent only if
        this run's privacy is not stricter than the one under which they were made. `defined` are the variables that
        the sandbox has now: of those that the runs made only these are mentioned.
        """
        return tuple(
            turn_of(run, known, defined)
            for known in self.conversation(run.request.cell_id, run.request.follows)
            if known.id != run.request.refines and may_include(run, known)
        )

    def data_before(self, cell_id: str | None, refines: str = "", follows: str = "") -> Manifest:
        """Return what the run had that is refined, else the question before this cell's."""
        refined = self._runs.get(refines)
        conversation = self.conversation(cell_id, follows) if refined is None else [refined]
        return conversation[-1].manifest if conversation else Manifest()

    def conversation(self, cell_id: str | None, last: str = "") -> list[AgentRun]:
        """Return the runs that a question in this cell follows, the oldest first.

        `last` is the run from which it goes on; empty for the newest result.
        """
        self._refresh(list(self._runs))
        return [
            known
            for known in self._thread(last)
            if self._may_be_followed(known) and (cell_id is None or known.request.cell_id != cell_id)
        ]

    def _thread(self, last: str) -> list[AgentRun]:
        """Return the results up to the run `last`, or the newest; before each stands the one it went on from."""
        thread: list[AgentRun] = []
        wanted = last
        for known in reversed(self._runs.values()):
            # Nobody asked for the findings of an exploration one by one, and a dozen of them fill the context.
            # What an MCP client ran is no question of the user's, and ran in another sandbox.
            is_aside = known.request.exploration or known.request.client
            if known.id == wanted or (not wanted and known.status == "ok" and not is_aside):
                thread.append(known)
                wanted = known.request.follows
        return thread[::-1]

    def _may_be_followed(self, run: AgentRun) -> bool:
        return run.status == "ok" and run.cell_state != "discarded" and run.id not in self._forgotten

    @property
    def newest_result(self) -> str:
        """The run from which a question goes on that names none, discarded or not; empty without one."""
        thread = self._thread("")
        return thread[-1].id if thread else ""

    def result_before(self, run: AgentRun) -> str:
        """Return the run from which this one went on; empty for the first, and in the newest conversation."""
        thread = self._thread(run.id)
        on_newest = any(known.id == run.id for known in self._thread(""))
        return "" if on_newest or len(thread) < 2 else thread[-2].id

    def followed(self, run_id: str) -> str:
        """Return the run that ``--from RUN`` means: this one, or the result that its cell has in this kernel.

        Raises
        ------
        UsageError, HistoryError
            There is no such run, or nothing of it is left in this kernel.
        """
        named = self.find(run_id)
        self._refresh(list(self._runs))
        left = [
            known
            for known in reversed(self._runs.values())
            if self._may_be_followed(known) and (known.id == named.id or _is_same_question(known, named))
        ]
        if not left and (hidden := self.hidden_since(named.id)):
            raise UsageError(
                f"--from {run_id}: run {named.id} was forgotten when {hidden} or columns of it were hidden. Run "
                "the cell of its question again, or leave --from out."
            )
        if not left:
            raise UsageError(
                f"--from {run_id}: this kernel has no result of run {named.id} to continue from. Run the cell of "
                "its question first, or leave --from out."
            )
        return min(left, key=lambda known: known.id != named.id).id

    def hidden_since(self, run_id: str) -> str:
        """Return the variable because of which a run was forgotten; empty if it was not for that."""
        return self._forgotten.get(run_id, "")

    @property
    def forgotten(self) -> list[str]:
        """The runs that a page may display and no question can go on from."""
        return [run_id for run_id in list(self._runs)[-KEPT_RUNS:] if run_id in self._forgotten]

    def with_unchanged(self, manifest: Manifest) -> Manifest:
        """Return the manifest with those variables marked whose copy an earlier run of this kernel had already."""
        known = {(copied.name, copied.version) for run in self._runs.values() for copied in run.manifest.copied}
        unchanged = (copied.name for copied in manifest.copied if (copied.name, copied.version) in known)
        return replace(manifest, unchanged=tuple(unchanged))

    def refined_turn(self, run: AgentRun) -> tuple[Turn, ...]:
        """Return the version that `run` is to change, whatever was decided about it; empty if it refines none.

        The variables that it made are left out: the code that replaces it must do without them.
        """
        known = self._runs.get(run.request.refines)
        return (turn_of(run, known),) if known is not None and may_include(run, known) else ()

    def changed_by_cell(self, cell_id: str | None) -> frozenset[str]:
        """Return the copies that earlier runs of a `%%agent` cell changed, for a run of it that starts afresh."""
        return frozenset(
            change.name
            for known in self._runs.values()
            if cell_id is not None and known.request.cell_id == cell_id
            for change in known.changes
            if not change.earlier
        )

    def made_by_cell(self, cell_id: str | None) -> frozenset[str]:
        """Return the variables that earlier runs of a `%%agent` cell made, which were not the user's before."""
        return frozenset(
            entry.name
            for known in self._runs.values()
            if cell_id is not None and known.request.cell_id == cell_id
            for entry in known.made
            if all(entry.name != copied.name for copied in known.manifest.copied)
        )

    def forget_conversation(self) -> None:
        """Start the conversation afresh with the next question; the runs stay in the history."""
        for run in self._runs.values():
            if not run.request.client:
                self._forgotten.setdefault(run.id, "")

    def programs_without_model(self) -> frozenset[str]:
        """Return the programs of findings and next questions."""
        return frozenset(run.code for run in self._runs.values() if run.request.model == NO_MODEL and run.code)

    def find(self, run_id: str) -> AgentRun:
        """Return the run whose id begins so; the last one of this kernel when empty.

        Raises
        ------
        UsageError, HistoryError
        """
        if not run_id:
            if self.last is None:
                raise UsageError(
                    "There are no runs in this kernel yet; `%agent history` lists those of other kernels."
                )
            return self.last
        known = [key for key in self._runs if key.startswith(run_id)]
        if len(known) == 1 and known[0] not in self._slim:
            self._refresh(known)
            return self._runs[known[0]]
        return self.history.load(run_id)

    def of_same_cell(self, run_id: str) -> list[AgentRun]:
        """Return the run and the others of its cell, in full: later ones may have been replayed from it."""
        cell_id = self.find(run_id).request.cell_id
        known = [key for key, run in self._runs.items() if cell_id is not None and run.request.cell_id == cell_id]
        return [self.find(key) for key in dict.fromkeys((run_id, *known))]

    def known_ids(self) -> list[str]:
        """Return the ids of all recorded runs, those of this kernel first."""
        return list(dict.fromkeys((*reversed(self._runs), *self.history.ids())))

    def earlier_versions(self, run: AgentRun) -> list[str]:
        """Return the runs whose pending cells this run replaces: the refined one, and those of its cell."""
        return [row.id for row in self._earlier_versions(run)]

    def replaced_by(self, run: AgentRun) -> list[str]:
        """Return those of `earlier_versions` that were pending and that this run discards.

        A copy of the notebook has a cell of the same id: results in a file that still exists stay pending, unless
        the run refines them.
        """
        return [
            row.id
            for row in self._earlier_versions(run)
            if row.cell_state == "pending" and (row.id == run.request.refines or not _is_in_other_file(row, run))
        ]

    def runs_displaying(self, run: AgentRun) -> list[str]:
        """Return the runs whose cells display this result: its own, or those present when it was replayed."""
        run_ids = [run.id]
        while run.replayed_from and run.placed in ("kept", ""):  # older records do not have it
            run_ids.append(run.replayed_from)
            try:
                run = self.history.load(run.replayed_from)
            except UnknownRunError:
                break
        return run_ids

    def _earlier_versions(self, run: AgentRun) -> list[RunRow]:
        refined = self.history.rows([run.request.refines]) if run.request.refines else ()
        return [*refined, *(row for row in self._earlier_of_cell(run) if row.id != run.request.refines)]

    def _earlier_of_cell(self, run: AgentRun) -> list[RunRow]:
        # By the cell's id alone: the notebook may have been renamed since.
        cell_id = run.request.cell_id
        rows = [] if cell_id is None else self.history.runs_of_cell(cell_id)
        return [row for row in rows if row.id != run.id and not self._is_of_same_exploration(row.id, run)]

    def _is_of_same_exploration(self, run_id: str, run: AgentRun) -> bool:
        known = self._runs.get(run_id)
        if known is None or not run.request.exploration or known.request.prompt == run.request.prompt:
            return False
        return known.request.exploration == run.request.exploration

    def last_of_exploration(self, exploration: str) -> AgentRun | None:
        """Return the newest run of an exploration whose cells nobody has taken out of the notebook."""
        of_it = [run.id for run in self._runs.values() if run.request.exploration == exploration]
        self._refresh(of_it)
        newest_first = (self._runs[run_id] for run_id in reversed(of_it))
        return next(
            (run for run in newest_first if run.status == "ok" and run.code and run.cell_state != "discarded"), None
        )

    def kept_prompts_of_cell(self, cell_id: str | None) -> frozenset[str]:
        """Return the prompts of a cell's runs whose cells the user has kept."""
        rows = [] if cell_id is None else self.history.runs_of_cell(cell_id)
        return frozenset(row.prompt for row in rows if row.cell_state in KEPT_STATES)

    def last_result_of_cell(self, run: AgentRun) -> AgentRun | None:
        """Return the newest run of the same `%%agent` cell whose result was not discarded."""
        kept = (row for row in self._earlier_of_cell(run) if row.status == "ok" and row.cell_state != "discarded")
        last = next(kept, None)
        return None if last is None else self.history.load(last.id)

    def last_of_cell(self, cell_id: str) -> AgentRun | None:
        """Return the newest run of this kernel that a cell has asked for."""
        return next((run for run in reversed(self._runs.values()) if run.request.cell_id == cell_id), None)

    def forget_variable(self, name: str) -> None:
        """Leave runs that had a copy of the variable, or asked it, out of the conversation."""
        for run in self._runs.values():
            if name in run.manifest.databases or any(copied.name == name for copied in run.manifest.copied):
                self._forgotten[run.id] = name

    def set_cell_state(self, run_id: str, state: CellState, *, decided_by: str) -> bool:
        """Record that the user accepted, edited or discarded a run's cells; return whether the state changed."""
        changed = self.history.set_cell_state(run_id, state, decided_by)
        if run_id in self._runs:
            self._refresh([run_id])
        return changed


def _is_same_question(run: AgentRun, named: AgentRun) -> bool:
    """Check whether both are of one cell; the findings of an exploration are told apart by their prompts."""
    asked, other = run.request, named.request
    if asked.cell_id is None or asked.cell_id != other.cell_id:
        return False
    return not other.exploration or asked.prompt == other.prompt


def _is_in_other_file(row: RunRow, run: AgentRun) -> bool:
    return row.notebook not in (run.request.notebook, None) and os.path.exists(str(row.notebook))


def _slim(run: AgentRun) -> AgentRun:
    displayed = StreamOutput(output_type="stream", name="stdout", text=displayed_text(run))
    return replace(run, steps=(), outputs=(displayed,))
