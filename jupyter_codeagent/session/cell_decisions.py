"""Decisions of a person over the cells of a run: accept, discard, run their code in the live kernel."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Literal

from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.frontend.messages import MarkMessage
from jupyter_codeagent.sandbox.workspace import SandboxWorkspace
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.run import AgentRun, CellState
from jupyter_codeagent.variables.user_namespace import UserNamespace


class CellDecisions:
    """Takes decisions: each is recorded first, then sent to all pages."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        background: BackgroundLoop,
        run_log: RunLog,
        workspace: SandboxWorkspace,
        consent: Consent,
        settings: Callable[[], Settings],
        link: PanelLink | None,
    ) -> None:
        self._live = live
        self._background = background
        self._run_log = run_log
        self._workspace = workspace
        self._consent = consent
        self._settings = settings
        self._link = link

    def apply(self, run: AgentRun, origin: CellOrigin) -> None:
        """Run a run's code in the LIVE kernel, after approval of the code itself. Main thread.

        Raises
        ------
        DeniedError
        """
        check_switched_on(self._settings(), "apply", f"%agent apply {run.id[:6]}")
        note = f"It is the code of run {run.id}; it acts on your own variables."
        decision = self._background.run(self._consent.decide("apply", run.code, note, origin, run_id=run.id))
        self.note_applied(run.id, decision.code, decided_by=decision.decided_by)
        self._live.run(decision.code)
        self.set_cell_state(run.id, "accepted", decided_by="magic")  # its pages mark the cells

    def mark(self, run: AgentRun, state: Literal["accepted", "discarded"], origin: CellOrigin) -> int:
        """Accept a run's cells or remove its pending ones, in notebook and record; return how many. Main thread."""
        count = 0
        if self._link is not None and self._link.is_open:
            message = MarkMessage(type="mark", id=uuid.uuid4().hex[:12], run_id=run.id, state=state)
            count = len(self._background.run(self._link.mark(message, session=origin.session))["cell_ids"])
        self.set_cell_state(run.id, state, decided_by="magic", session=origin.session or "")
        return count

    def note_applied(self, run_id: str, code: str, *, decided_by: str) -> None:
        """Record that somebody approved running this code in the live kernel; before it runs, with the time.

        Raises
        ------
        DeniedError
            No code of a result may run there.
        """
        check_switched_on(self._settings(), "apply", f"Running the code of run {run_id[:6]} in your kernel")
        self._run_log.history.note_applied(run_id, code, decided_by)

    def set_cell_state(self, run_id: str, state: CellState, *, decided_by: str, session: str = "") -> None:
        """Record the state of a run's cells; `session` is the page where it was decided.

        A discarded run leaves the conversation, and what it did to the copies is undone.
        """
        if not self._record(run_id, state, decided_by=decided_by, session=session):
            return
        if state == "discarded" and self._workspace.current is not None:
            self._workspace.current.reload()

    def replaced(self, run_ids: Sequence[str], session: str, *, decided_by: str) -> None:
        """Record that the cells of a newer run replaced these; the copies stay as the newer run left them."""
        for run_id in run_ids:
            self._record(run_id, "discarded", decided_by=decided_by, session=session)

    def _record(self, run_id: str, state: CellState, *, decided_by: str, session: str) -> bool:
        """Record the state; return whether it changed."""
        changed = self._run_log.set_cell_state(run_id, state, decided_by=decided_by)
        if changed and self._link is not None:
            self._link.decided(run_id, state, session=session)
        return changed
