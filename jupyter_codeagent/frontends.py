"""What a run needs of the front end it was started from: who decides, where the cells go."""

from __future__ import annotations

import re

from jupyter_codeagent.approvals.approvers import FirstAvailableApprover, NobodyApprover, StdinApprover
from jupyter_codeagent.approvals.gate import ApprovalGate
from jupyter_codeagent.approvals.protocol import Approver
from jupyter_codeagent.background import Background
from jupyter_codeagent.frontend.link import PanelLink
from jupyter_codeagent.place import Place
from jupyter_codeagent.placement import HeadlessPlacement, InPlacePlacement, PanelPlacement, Placement

FIRST_HELLO_S = 2.0
LAB_HELLO_S = 6.0
LATER_HELLO_S = 0.3
"""How long a run waits for a page to say hello: once, longest where the cell came from a page that is likely to be
ours and brings the lists of what is hidden; then a moment if a page was there before."""

CELL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""By the schema of nbformat 4.5, as JupyterLab sends it; VS Code sends an address."""


class FrontEnds:
    """Panel where a page is open; else the terminal or the notebook's input line; headless nobody."""

    def __init__(self, background: Background, link: PanelLink | None) -> None:
        self._background = background
        self._link = link
        self._gates: dict[bool, ApprovalGate] = {}
        self._waited = False

    def gate(self, place: Place, *, timeout_s: float) -> ApprovalGate:
        """Remembers what was granted for the notebook, so there is one per kind of front end."""
        if place.headless not in self._gates:
            self._gates[place.headless] = ApprovalGate(self._approver(place), timeout_s=timeout_s)
        return self._gates[place.headless]

    def placement(self, place: Place) -> Placement:
        """Where the cells go."""
        if place.headless:
            return HeadlessPlacement(self._background.on_main_thread)
        if self._link is not None and self._link.was_open:
            return PanelPlacement(self._link, place.session)
        return InPlacePlacement(self._background.on_main_thread)

    def wait_for_page(self, place: Place) -> None:
        """Give a page that was just opened the moment it needs to say hello. Main thread."""
        link = self._link
        if link is None or place.headless or link.is_open:
            return
        link.announce()
        if not self._waited or link.was_open:
            first_s = LAB_HELLO_S if CELL_ID.fullmatch(place.cell_id or "") else FIRST_HELLO_S
            self._background.run(link.wait_for_page(LATER_HELLO_S if self._waited else first_s))
        self._waited = True

    def _approver(self, place: Place) -> Approver:
        asker: Approver = NobodyApprover() if place.headless else StdinApprover(self._background.on_main_thread)
        link = self._link
        return asker if link is None else FirstAvailableApprover(link, asker, lambda: link.is_open)
