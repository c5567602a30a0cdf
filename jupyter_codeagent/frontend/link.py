"""The link between one kernel and its pages: which pages there are, and who handles their messages.

Messages of the pages arrive on subshell threads, and are handled on the background loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from jupyter_codeagent.frontend import comm
from jupyter_codeagent.frontend.comm import AgentComm, KernelMessage, data_of
from jupyter_codeagent.frontend.delivery import Delivery, OnLate
from jupyter_codeagent.frontend.messages import (
    PROTOCOL,
    AskedMessage,
    AskMessage,
    DecidedMessage,
    InsertedMessage,
    InsertMessage,
    MarkedMessage,
    MarkMessage,
    ProposalView,
    StateMessage,
    ToPage,
)
from jupyter_codeagent.frontend.pages import Page, Pages
from jupyter_codeagent.frontend.panel_proposals import PanelProposals
from jupyter_codeagent.frontend.shell_queue import MainShell
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.errors import DeniedError, HistoryError, UnknownRunError
from jupyter_codeagent.types.run import CellState


def main_shell_of(kernel: Any) -> MainShell | None:
    """Return the main shell; None for a kernel that is not built as in ipykernel."""
    try:
        return MainShell(kernel)
    except AttributeError:
        return None


class PanelLink:
    """The kernel's side of the link, and the `Approver` that asks in the panel."""

    def __init__(
        self,
        kernel: Any,
        loop: asyncio.AbstractEventLoop,
        *,
        state: Callable[[], StateMessage],
        on_event: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._kernel = kernel
        self._loop = loop
        self._state = state
        self._on_event = on_event
        self._pages = Pages()
        self._delivery = Delivery(loop, self._pages)
        self._proposals = PanelProposals(send=self.send, send_state=self.send_state)
        self._beacon: AgentComm | None = None
        self._main_shell = main_shell_of(kernel)
        comm.register(self._opened)

    # --- pages come and go ------------------------------------------------------------------------

    def announce(self) -> None:
        """Announce the agent to every page. Called from the main thread and from the loop."""
        if self._beacon is not None:
            comm.forget(self._beacon)
        self._beacon = comm.open_beacon(self._kernel)

    @property
    def is_open(self) -> bool:
        return len(self._pages) > 0

    @property
    def can_answer(self) -> bool:
        """Whether a page is there, and its messages are handled while a cell is running."""
        return self.is_open and self._main_shell is not None

    def handle_main_shell(self) -> None:
        """Handle what pages send without a subshell while a cell is running. Main thread."""
        if self._main_shell is not None:
            self._main_shell.handle_waiting(comm.is_ours, comm.handle)

    @property
    def was_open(self) -> bool:
        """Whether a page was ever there: it may come back, and what it missed waits for it."""
        return self._pages.were_there

    async def wait_for_page(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` for the hello of a page; return whether one came."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self.is_open:
                    await self._pages.next_change()
        except TimeoutError:
            return False
        return True

    def close(self, *, tell_pages: bool) -> None:
        """End the link. A kernel that ends need not notify its pages: they notice, and forget its comms."""
        self._main_shell = None  # a kernel that ends has closed its channels; no message can be read any more
        comm.unregister(self._opened)
        self._delivery.close()
        comms = [page.comm for page in self._pages.all]
        if self._beacon is not None:
            self._beacon.on_close(lambda _: None)
            comms.append(self._beacon)
        for page_comm in comms:
            if tell_pages:
                page_comm.close()
            else:
                comm.forget(page_comm)
        self._pages.clear()

    # --- kernel -> pages --------------------------------------------------------------------------

    def send(self, message: ToPage) -> None:
        """Send a message to every page."""
        self._pages.send(message)

    def send_state(self) -> None:
        """Send the whole state to every page."""
        self.send(self._state())

    def decided(self, run_id: str, state: CellState, *, session: str) -> None:
        """Send all pages a decision over a run's cells; discarded cells are not inserted any more."""
        if state == "discarded":
            self._delivery.forget_run(run_id)
        self.send(DecidedMessage(type="decided", run_id=run_id, state=state, session=session))

    @property
    def proposals(self) -> list[ProposalView]:
        return self._proposals.views

    async def ask(self, proposal: Proposal) -> Decision:
        """Display the proposal in every page and wait; the first answer counts (`Approver`)."""
        return await self._proposals.ask(proposal)

    async def insert(self, message: InsertMessage, *, session: str | None) -> InsertedMessage:
        """Have one page insert the cells: the page that ran the cell if it is still there.

        Raises
        ------
        InsertError
            No page did. The message is kept and sent to the next page that connects.
        """
        return await self._delivery.insert(message, session)

    def on_late_insertion(self, act: OnLate) -> None:
        """Have `act` called when a page has inserted cells after `insert` gave them up."""
        self._delivery.on_late = act

    async def mark(self, message: MarkMessage, *, session: str | None) -> MarkedMessage:
        """Have one page set the state of a run's cells.

        Raises
        ------
        InsertError
            No page did.
        """
        return cast("MarkedMessage", await self._delivery.deliver(message, session))

    async def ask_in_cell(self, message: AskMessage, *, web_client: str) -> AskedMessage:
        """Have one page insert a question as a cell and run it if it `runs`: the page of the chat if it is there.

        Raises
        ------
        InsertError
            No page did.
        """
        named = (page.session for page in self._pages.all if web_client and page.web_client == web_client)
        return cast("AskedMessage", await self._delivery.deliver(message, next(named, None)))

    # --- pages -> kernel --------------------------------------------------------------------------

    def _opened(self, opened: Any, message: KernelMessage) -> None:
        """Take the comm over at once, on a subshell's thread; do the rest on the loop."""
        data = data_of(message)
        protocol = data.get("protocol")
        if protocol != PROTOCOL:
            raise ValueError(f"The page uses protocol {protocol!r}, the kernel {PROTOCOL}: reload the page.")
        client = comm.take_over(self._kernel, opened, message)
        page = Page(
            comm=client,
            session=str(data.get("session", "")),
            notebook=data.get("notebook"),
            web_client=str(data.get("web_client", "")),
        )

        def got(message: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(self._handle_message, page, data_of(message))

        def gone(_: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(self._pages.remove, page)

        client.on_msg(got)
        client.on_close(gone)
        self._loop.call_soon_threadsafe(self._welcome, page, data)

    def _welcome(self, page: Page, hello: Mapping[str, Any]) -> None:
        self._on_event(hello)  # before the page is announced: it brings the lists of what is hidden
        for other in [other for other in self._pages.all if other.session == page.session]:
            self._pages.remove(other)  # a page that reconnected replaces its old connection
            comm.forget(other.comm)
        self._pages.add(page)
        page.comm.send(dict(self._state()))
        self._delivery.retry(page.session)
        self._pages.note_change()

    def _handle_message(self, page: Page, data: Mapping[str, Any]) -> None:
        page.last_message_at = time.monotonic()
        match data.get("type"):
            case "pong":
                pass
            case "inserted" | "marked" | "asked":
                self._delivery.acknowledge(data)
            case "decision":
                self._proposals.decide(data)
            case "cell_state" | "applied":
                self._record(page, data)
            case _:
                self._on_event(data)
        self._pages.note_change()

    def _record(self, page: Page, data: Mapping[str, Any]) -> None:
        """Record a decision that the page has carried out already; report a failure to the page."""
        try:
            self._on_event({**data, "session": page.session})
        except (HistoryError, DeniedError) as error:
            if isinstance(error, UnknownRunError) and data["type"] == "cell_state":
                return  # cells of somebody else's notebook: this history does not have them
            page.comm.send(
                {
                    "type": "unrecorded",
                    "run_id": data.get("run_id"),
                    "what": data.get("state", "applied"),
                    "text": str(error),
                }
            )
