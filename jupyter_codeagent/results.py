"""What a person decides about results: take a value, run code in the own kernel, accept or discard cells."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Literal

from jupyter_codeagent.background import Background
from jupyter_codeagent.errors import DeniedError, UsageError
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import MarkMessage, Shared
from jupyter_codeagent.frontends import FrontEnds
from jupyter_codeagent.live import LiveKernel
from jupyter_codeagent.place import Place
from jupyter_codeagent.runbook import RunBook
from jupyter_codeagent.settings import Settings
from jupyter_codeagent.sidecar import Sidecar
from jupyter_codeagent.transfer.unpack import unpack
from jupyter_codeagent.values import AgentRun, CellState, Proposal, ProposalKind


class ResultDecisions:
    """The only way by which anything of the sandbox reaches the live kernel. Main thread, save `set_cell_state`."""

    def __init__(
        self,
        *,
        live: LiveKernel,
        background: Background,
        book: RunBook,
        sidecar: Sidecar,
        front_ends: FrontEnds,
        link: PanelLink | None,
        settings: Callable[[], Settings],
        shared: Mapping[str, Shared],
    ) -> None:
        self._shared = shared
        self._live = live
        self._background = background
        self._book = book
        self._sidecar = sidecar
        self._front_ends = front_ends
        self._link = link
        self._settings = settings

    def bring_back(self, name: str) -> tuple[str, ...]:
        """Copy one variable of the sandbox into the live kernel, as data; asks before it overwrites.

        Returns what was changed on the way. Raises DeniedError, RejectedDataError, VariableError, SandboxDiedError.
        """
        seat = self._sidecar.present
        if self._shared.get(name) == "hidden":
            raise UsageError(f"{name!r} is hidden from the agent; `%agent share {name}` first.")
        if seat is None:
            raise UsageError(f"There is no sandbox yet that could hold {name!r}: run `%%agent` first.")
        limit = self._settings().max_return_bytes
        value, notes = unpack(self._background.run(seat.fetch(name, max_bytes=limit)), max_bytes=limit)
        if self._live.has(name):
            code = f"{name} = <{type(value).__name__} from the sandbox>"
            self._ask("overwrite", code, f"Overwrite your variable {name!r} with the sandbox's?", Place())
        self._live.assign(name, value)
        return notes

    def apply(self, run: AgentRun, place: Place) -> None:
        """Run a run's code in the LIVE kernel, after a yes to the code itself."""
        note = f"Run the code of run {run.id} in YOUR kernel, on your own variables?"
        self._live.run(self._ask("apply", run.code, note, place))
        self.set_cell_state(run.id, "accepted", decided_by="magic")

    def mark(self, run: AgentRun, state: Literal["accepted", "discarded"], place: Place) -> int:
        """Accept a run's cells or remove its pending ones, in the notebook and in the record; how many cells."""
        count = 0
        if self._link is not None and self._link.is_open:
            message = MarkMessage(type="mark", id=uuid.uuid4().hex[:12], run_id=run.id, state=state)
            count = len(self._background.run(self._link.mark(message, session=place.session))["cell_ids"])
        self.set_cell_state(run.id, state, decided_by="magic")
        return count

    def set_cell_state(self, run_id: str, state: CellState, *, decided_by: str) -> None:
        """A discarded run is out of the conversation, and what it did to the copies is undone."""
        self._book.set_cell_state(run_id, state, decided_by=decided_by)
        if state == "discarded" and self._sidecar.present is not None:
            self._sidecar.present.load_again()

    def _ask(self, kind: ProposalKind, code: str, note: str, place: Place) -> str:
        """Have a person decide; the code as approved. Raises DeniedError."""
        settings = self._settings()
        gate = self._front_ends.gate(place, timeout_s=settings.approval_timeout_s)
        proposal = Proposal(id=uuid.uuid4().hex[:12], run_id="", kind=kind, code=code, note=note)
        decision = self._background.run(gate.decide(proposal, settings.approve))
        if decision.action != "approve":
            raise DeniedError(f"Not done: {decision.reason or 'the answer was no'}.")
        return decision.code
