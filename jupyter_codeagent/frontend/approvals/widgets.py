"""A card under the cell, made of ipywidgets: for front ends that display widgets and lack our panel.

A front end cannot be asked whether it displays widgets, so it is tried: an invisible `Play` widget in the card is
started until its view answers, on the channel that the decision will use. Without an answer within
`DISPLAY_TIMEOUT_S` the card is removed, and no card is tried again for this front end.
"""

from __future__ import annotations

import html
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

from IPython.display import display, update_display

from jupyter_codeagent.frontend.approvals.approvers import question_of
from jupyter_codeagent.frontend.approvals.gate import reject
from jupyter_codeagent.frontend.approvals.protocol import Approver
from jupyter_codeagent.frontend.shell_queue import MainShell
from jupyter_codeagent.notebook.outputs import visible_code
from jupyter_codeagent.types.approvals import Decision, Proposal

DISPLAY_TIMEOUT_S = 5.0
"""The first widget of a page may have to load its library."""
PROBE_EVERY_S = 0.4
POLL_S = 0.05

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
CardOnMainThread = Callable[[Callable[[], Decision | None]], Awaitable[Decision | None]]


class WidgetApprover:
    """Asks by a card if the front end displays it, else by the fallback."""

    def __init__(self, kernel: Any, on_main_thread: CardOnMainThread, fallback: Approver) -> None:
        self._kernel = kernel
        self._on_main_thread = on_main_thread
        self._fallback = fallback
        self._without_widgets: set[str] = set()
        """Sessions of front ends that displayed no card."""

    async def ask(self, proposal: Proposal) -> Decision:
        over = threading.Event()
        try:
            decision = await self._on_main_thread(lambda: self._show_card(proposal, over))
        finally:
            over.set()
        return decision or await self._fallback.ask(proposal)

    def _show_card(self, proposal: Proposal, over: threading.Event) -> Decision | None:
        """Display a card and return its decision; None if it was not displayed. Main thread."""
        session = str((self._kernel.get_parent() or {}).get("header", {}).get("session", ""))
        # A front end that cannot answer `input()` (nbclient, papermill) has no person who could answer a card.
        if session in self._without_widgets or not getattr(self._kernel, "_allow_stdin", False):
            return None
        try:
            shell = MainShell(self._kernel)
            card = Card(proposal)
        except (AttributeError, ImportError):
            return None  # another kernel, or one without ipywidgets
        decision = card.decided(shell, over)
        if not card.was_seen:
            self._without_widgets.add(session)
        return decision


class Card:
    """Code to edit, a reason, two buttons. Nothing has the focus, so no key decides by accident."""

    def __init__(self, proposal: Proposal) -> None:
        import ipywidgets

        wide = ipywidgets.Layout(width="auto")
        rows = min(max(proposal.code.count("\n") + 2, 3), 20)
        question = question_of(proposal)
        lines = (*question.head, *question.effects)
        heading = "<b>The code agent needs your approval.</b> " + "<br>".join(html.escape(line) for line in lines)
        self._proposal = proposal
        self._code = ipywidgets.Textarea(
            value=visible_code(proposal.code), rows=rows, layout=wide, tooltip="Code (editable)"
        )
        self._reason = ipywidgets.Text(placeholder="Why not? (optional, sent to the model)", layout=wide)
        self._approve = ipywidgets.Button(description="Approve", tooltip="Run it")
        self._reject = ipywidgets.Button(description="Reject", tooltip="Do not run it")
        self._probe = ipywidgets.Play(min=0, max=1, value=0, interval=50)
        self._probe.layout.display = "none"
        buttons = ipywidgets.HBox([self._reject, self._approve])
        self._box = ipywidgets.VBox(
            [ipywidgets.HTML(heading), self._code, self._reason, buttons, self._probe],
            layout=ipywidgets.Layout(border="1px solid var(--jp-border-color2, #bbb)", padding="8px"),
        )
        self._decision: Decision | None = None
        self.was_seen = False
        self._approve.on_click(lambda _: self._decide("approve"))
        self._reject.on_click(lambda _: self._decide("reject"))

    def decided(self, shell: MainShell, over: threading.Event) -> Decision | None:
        """Display the card and wait for a sign that it is seen, then for the decision; None if it is not seen."""
        display_id = f"codeagent-{uuid.uuid4().hex[:12]}"
        view = {"model_id": self._box.model_id, "version_major": 2, "version_minor": 0}
        waiting = "The code agent is waiting for your decision."
        display({WIDGET_MIME: view, "text/plain": waiting}, raw=True, display_id=display_id)
        try:
            self.was_seen = self._is_seen(shell, over)
            if self.was_seen:
                while self._decision is None and not over.is_set():
                    self._handle_messages(shell)
            return self._decision
        finally:
            nothing = "Not answered in time." if self.was_seen else "Not shown as a card."
            text = nothing if self._decision is None else decision_text(self._decision)
            update_display({"text/plain": text}, raw=True, display_id=display_id)
            self._close()

    def _is_seen(self, shell: MainShell, over: threading.Event) -> bool:
        """Check whether the widget is displayed: only a view of `Play` counts up when it is started."""
        until, probe_at = time.monotonic() + DISPLAY_TIMEOUT_S, 0.0
        while self._probe.value == 0 and not over.is_set():
            if (now := time.monotonic()) > until:
                return False
            if now >= probe_at:
                self._probe.playing = False
                self._probe.playing = True
                probe_at = now + PROBE_EVERY_S
            self._handle_messages(shell)
        return True

    def _handle_messages(self, shell: MainShell) -> None:
        """Handle messages to the widgets; `comm.handle_msg` would run the user's hooks in the middle of a cell."""
        comms = {widget.comm.comm_id: widget for widget in self._widgets() if widget.comm is not None}
        shell.handle_waiting(
            lambda kind, content: kind == "comm_msg" and content.get("comm_id") in comms,
            lambda message: comms[message["content"]["comm_id"]]._handle_msg(message),
        )
        time.sleep(POLL_S)

    def _decide(self, action: str) -> None:
        code = self._code.value
        if code == visible_code(self._proposal.code):
            code = self._proposal.code
        if action == "approve":
            self._decision = Decision(action="approve", code=code, decided_by="widget", decided_at=time.time())
        else:
            self._decision = reject(self._proposal, "widget", self._reason.value.strip())

    def _widgets(self) -> list[Any]:
        return [self._box, self._code, self._reason, self._approve, self._reject, self._probe]

    def _close(self) -> None:
        for widget in (*self._box.children, *self._box.children[3].children, self._box):
            widget.layout.close()
            widget.close()


def decision_text(decision: Decision) -> str:
    """Return the text that remains under the cell."""
    if decision.action == "approve":
        return "Approved by you."
    return f"Rejected by you: {decision.reason}" if decision.reason else "Rejected by you."
