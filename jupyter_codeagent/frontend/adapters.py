"""The front end of a run: who decides there, and where the cells go."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.frontend.approvals.approvers import (
    FirstAvailableApprover,
    InformedApprover,
    NobodyApprover,
    StdinApprover,
)
from jupyter_codeagent.frontend.approvals.gate import ApprovalGate
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.approvals.policies import asked_each_time
from jupyter_codeagent.frontend.approvals.protocol import Approver
from jupyter_codeagent.frontend.approvals.widgets import WidgetApprover
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CELL_ID, CellOrigin, FrontEnd
from jupyter_codeagent.frontend.insertion import CellInserter, HeadlessInserter, InPlaceInserter, PanelInserter
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.settings.settings import Settings

FIRST_HELLO_S = 2.0
LAB_HELLO_S = 6.0
LATER_HELLO_S = 0.3
"""How long a run waits for the hello of a page: at first, longest if the cell came from a page that is likely to be
ours and brings the lists of hidden variables; later only a moment, if a page was there before."""


NAMES: dict[FrontEnd, str] = {
    "terminal": "A terminal",
    "vscode": "VS Code",
    "colab": "Colab",
    "program": "This notebook is run by a program",
}


class FrontEndAdapters:
    """Uses the panel if a page is open; else a card under the cell, or the input line; headless nobody decides."""

    def __init__(
        self,
        background: BackgroundLoop,
        link: PanelLink | None,
        grants: Grants,
        *,
        kernel: Any | None = None,
        effects: LiveEffects | None = None,
    ) -> None:
        self._kernel = kernel
        self._effects = effects
        self._was_displayed = False
        self._background = background
        self._link = link
        self._grants = grants
        self._approvers: dict[bool, Approver] = {}
        self._waited = False

    def gate(self, origin: CellOrigin, settings: Settings) -> ApprovalGate:
        """Return the gate for a cell: its approver, after the policy and earlier grants."""
        if origin.headless not in self._approvers:
            self._approvers[origin.headless] = self._approver(origin)
        return ApprovalGate(
            self._approvers[origin.headless],
            grants=self._grants,
            timeout_s=settings.approval_timeout_s,
            each_time=asked_each_time(settings.policy.rules),
        )

    def inserter(self, origin: CellOrigin) -> CellInserter:
        """Return the inserter for the cells of a run."""
        if origin.headless:
            return HeadlessInserter(self._background.on_main_thread)
        if self._link is not None and self._link.was_open:
            return PanelInserter(self._link, origin.session)
        line = "" if self._was_displayed else what_is_missing(origin)
        self._was_displayed = True
        return self.in_place(line)

    def in_place(self, line: str = "") -> CellInserter:
        """Return the inserter that uses the output of the `%%agent` cell, for where cells cannot be inserted."""
        return InPlaceInserter(self._background.on_main_thread, line)

    def wait_for_page(self, origin: CellOrigin) -> None:
        """Wait a moment for the hello of a page that was just opened. Main thread."""
        link = self._link
        if link is None or origin.headless or origin.front_end == "program" or link.is_open:
            return
        link.announce()
        if not self._waited or link.was_open:
            first_s = LAB_HELLO_S if CELL_ID.fullmatch(origin.cell_id or "") else FIRST_HELLO_S
            self._background.run(link.wait_for_page(LATER_HELLO_S if self._waited else first_s))
        self._waited = True

    def _approver(self, origin: CellOrigin) -> Approver:
        asker: Approver = NobodyApprover() if origin.headless else StdinApprover(self._background.on_main_thread)
        if self._kernel is not None and not origin.headless:
            asker = WidgetApprover(self._kernel, self._background.on_main_thread, asker)
        link = self._link
        if link is not None:
            asker = FirstAvailableApprover(link, asker, lambda: link.can_answer)
        return asker if self._effects is None else InformedApprover(asker, self._effects.of_proposal)


def what_is_missing(origin: CellOrigin) -> str:
    """Return a line for front ends that insert no cells; it is displayed once."""
    who = NAMES.get(origin.front_end, "This front end")
    if origin.front_end == "program":
        return (
            f"{who}: results appear here, and nobody can be asked. `jupyter codeagent run` inserts them as cells."
        )
    return (
        f"{who} has no code agent panel: results appear here instead of in cells. "
        "`%agent apply RUN` runs one in your kernel, `%agent history` lists all."
    )
