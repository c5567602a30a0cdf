"""Approvals before something is done: overwriting a variable, code in the live kernel, a file, a server."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence

from jupyter_codeagent.frontend.adapters import FrontEndAdapters
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import Decision, Grant, Proposal, ProposalKind
from jupyter_codeagent.types.errors import DeniedError


class Consent:
    """Asks wherever the front end of a cell can ask."""

    def __init__(
        self, *, background: BackgroundLoop, front_ends: FrontEndAdapters, settings: Callable[[], Settings]
    ) -> None:
        self._background = background
        self._front_ends = front_ends
        self._settings = settings

    def require(
        self, kind: ProposalKind, subject: str, note: str, lasting: Sequence[Grant], origin: CellOrigin
    ) -> None:
        """Have a person allow files or a server; the approval lasts. Main thread.

        Raises
        ------
        DeniedError
        """
        self._background.run(self.decide(kind, subject, note, origin, lasting=tuple(lasting)))

    async def decide(
        self,
        kind: ProposalKind,
        code: str,
        note: str,
        origin: CellOrigin,
        *,
        run_id: str = "",
        lasting: tuple[Grant, ...] = (),
    ) -> Decision:
        """Have a person decide; return the approval. On the background loop.

        Raises
        ------
        DeniedError
            The answer was no, or nobody answered.
        """
        settings = self._settings()
        gate = self._front_ends.gate(origin, settings)
        proposal = Proposal(
            id=uuid.uuid4().hex[:12], run_id=run_id, kind=kind, code=code, note=note, lasting=lasting
        )
        decision = await gate.decide(proposal, settings.approve)
        if decision.action != "approve":
            denied = DeniedError(f"Not done: {decision.reason or 'the answer was no'}.")
            denied.neutral_text = str(denied) if decision.decided_by != "nobody" else None
            raise denied
        return decision
