"""All the pages that listen to this kernel's agent, and how to be sure that one of them did what it was told.

Messages of the pages arrive on subshell threads; everything here happens on the background loop, where they are
handed over. `insert` and `mark` are sent again until they are acknowledged: the Jupyter server drops messages
while a flood of output exceeds its rate limit.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from jupyter_codeagent.frontend import comm
from jupyter_codeagent.frontend.approvals.gate import reject
from jupyter_codeagent.frontend.comm import AgentComm, KernelMessage
from jupyter_codeagent.frontend.messages import (
    PROTOCOL,
    DecidedMessage,
    InsertedMessage,
    InsertMessage,
    MarkedMessage,
    MarkMessage,
    ProposalView,
    ResolvedMessage,
    StateMessage,
    ToPage,
    proposal_view,
)
from jupyter_codeagent.frontend.shell_queue import MainShell
from jupyter_codeagent.types.approvals import Decision, DecisionScope, Proposal
from jupyter_codeagent.types.errors import HistoryError, InsertError, UnknownRunError
from jupyter_codeagent.types.run import CellState

HEARTBEAT_S = 5.0
ACK_S = 2.0
TRIES = 3
ALIVE_S = 1.0
"""A page that closed never says so: before one is chosen all are pinged, and these many seconds waited."""


def main_shell_of(kernel: Any) -> MainShell | None:
    """None in a kernel that is built otherwise than ipykernel."""
    try:
        return MainShell(kernel)
    except AttributeError:
        return None


@dataclass(eq=False)
class Page:
    """One kernel connection of one browser page."""

    comm: AgentComm
    session: str
    notebook: str | None
    heard_at: float = field(default_factory=time.monotonic)


class PanelLink:
    """The kernel's side of the link. Also the `Approver` that asks in the panel."""

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
        self._pages: dict[str, Page] = {}
        self._was_open = False
        self._changed = asyncio.Event()
        self._acknowledged: dict[str, InsertedMessage | MarkedMessage] = {}
        self._awaited: set[str] = set()
        self._undelivered: dict[str, InsertMessage] = {}
        self._again: dict[str, asyncio.Task[None]] = {}
        """Of the undelivered, what is being tried again, by the id of the message."""
        self._proposals: dict[str, Proposal] = {}
        self._decisions: dict[str, asyncio.Future[Decision]] = {}
        self._beacon: AgentComm | None = None
        self._main_shell = main_shell_of(kernel)
        comm.register(self._opened)

    # --- pages come and go ------------------------------------------------------------------------

    def announce(self) -> None:
        """Tell every page that the agent is here. Called from the main thread and from the loop."""
        if self._beacon is not None:
            comm.forget(self._beacon)
        self._beacon = comm.open_beacon(self._kernel)

    @property
    def is_open(self) -> bool:
        return bool(self._pages)

    @property
    def can_answer(self) -> bool:
        """Whether a page is there, and what it says is heard while a cell is running."""
        return self.is_open and self._main_shell is not None

    def handle_main_shell(self) -> None:
        """Handle what pages send without a subshell while a cell is running. Main thread."""
        if self._main_shell is not None:
            self._main_shell.handle_waiting(comm.is_ours, comm.handle)

    @property
    def was_open(self) -> bool:
        """Whether a page was ever there: then it may come back, and what it missed waits for it."""
        return self._was_open

    async def wait_for_page(self, timeout_s: float) -> bool:
        """Whether a page said hello within `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                while not self._pages:
                    await self._next_change()
        except TimeoutError:
            return False
        return True

    def close(self, *, tell_pages: bool) -> None:
        """Pages need not be told by a kernel that ends: they see it, and know its comms no more."""
        comm.unregister(self._opened)
        for task in list(self._again.values()):
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(task.cancel)
        comms = [page.comm for page in self._pages.values()]
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
        for page in list(self._pages.values()):
            page.comm.send(dict(message))

    def send_state(self) -> None:
        self.send(self._state())

    def decided(self, run_id: str, state: CellState, *, session: str) -> None:
        """Tell all pages what was decided over a run's cells; what was discarded is not inserted any more."""
        if state == "discarded":
            self._undelivered = {
                key: one for key, one in list(self._undelivered.items()) if one["run_id"] != run_id
            }
        self.send(DecidedMessage(type="decided", run_id=run_id, state=state, session=session))

    @property
    def proposals(self) -> list[ProposalView]:
        return [proposal_view(proposal) for proposal in self._proposals.values()]

    async def ask(self, proposal: Proposal) -> Decision:
        """Show the proposal in every page and wait; the first answer counts (`Approver`)."""
        future: asyncio.Future[Decision] = self._loop.create_future()
        self._proposals[proposal.id] = proposal
        self._decisions[proposal.id] = future
        action = "reject"
        try:
            self.send({"type": "proposal", "proposal": self.proposals[-1]})
            while not future.done():
                await asyncio.wait([future], timeout=HEARTBEAT_S)
                if not future.done():
                    self.send_state()  # for a page whose messages were dropped
            action = future.result().action
            return future.result()
        finally:
            del self._proposals[proposal.id], self._decisions[proposal.id]
            self.send(
                ResolvedMessage(
                    type="resolved",
                    proposal_id=proposal.id,
                    action="approve" if action == "approve" else "reject",
                )
            )

    async def insert(self, message: InsertMessage, *, session: str | None) -> InsertedMessage:
        """Have one page insert the cells: the page that ran the cell if it is still there.

        Raises
        ------
        InsertError
            No page did. The message stays and is sent to the next page that says hello.
        """
        try:
            return cast("InsertedMessage", await self._deliver(message, session))
        except InsertError:
            # Not earlier: two pages of a shared document would both insert it, the one that just came as well.
            self._undelivered[message["id"]] = message
            raise
        except asyncio.CancelledError:
            # Stopped: nothing comes later, and what a page has inserted without our knowing goes again.
            self.send(discard_mark(message["run_id"]))
            raise

    async def mark(self, message: MarkMessage, *, session: str | None) -> MarkedMessage:
        """Have one page set the state of a run's cells.

        Raises
        ------
        InsertError
            No page did.
        """
        return cast("MarkedMessage", await self._deliver(message, session))

    async def _deliver(
        self, message: InsertMessage | MarkMessage, session: str | None
    ) -> InsertedMessage | MarkedMessage:
        problem = "no page with the side panel has this notebook open"
        refused = False
        tried: set[str] = set()
        # Asked again each time: a page that came in the meantime is the next to try.
        while pages := await self._alive(session, tried):
            tried.add(pages[0].comm.comm_id)
            answer = await self._request(message, pages[0])
            if answer is None:
                problem = f"the page did not answer within {TRIES * ACK_S:.0f} s"
            elif answer["ok"]:
                return answer
            else:
                problem, refused = answer["problem"], True
        raise InsertError(
            _not_inserted(message, problem) if message["type"] == "insert" else _not_marked(message, problem),
            refused=refused,
        )

    async def _alive(self, session: str | None, tried: Collection[str]) -> list[Page]:
        """Pages that answer, the one that ran the cell first, then the one heard of last; without those `tried`."""
        started = time.monotonic()
        self.send({"type": "ping"})

        def candidates() -> list[Page]:
            return [page for page in self._pages.values() if page.comm.comm_id not in tried]

        ran = [page for page in candidates() if page.session == session]
        try:
            async with asyncio.timeout(ALIVE_S):
                while candidates() and not any(page.heard_at > started for page in ran or candidates()):
                    await self._next_change()
        except TimeoutError:
            pass  # then whoever was heard of last is tried all the same
        pages = sorted(candidates(), key=lambda page: -page.heard_at)
        answered = [page for page in pages if page.heard_at > started] or pages
        return sorted(answered, key=lambda page: page.session != session)

    async def _request(
        self, message: InsertMessage | MarkMessage, page: Page
    ) -> InsertedMessage | MarkedMessage | None:
        self._awaited.add(message["id"])
        try:
            for _ in range(TRIES):
                page.comm.send(dict(message))
                try:
                    async with asyncio.timeout(ACK_S):
                        while message["id"] not in self._acknowledged:
                            if page.comm.comm_id not in self._pages:
                                return None  # it went, or said hello anew
                            await self._next_change()
                except TimeoutError:
                    continue
                return self._acknowledged.pop(message["id"])
            return None
        finally:
            self._awaited.discard(message["id"])

    async def _next_change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    # --- pages -> kernel --------------------------------------------------------------------------

    def _opened(self, opened: Any, message: KernelMessage) -> None:
        """On a subshell's thread: take the comm over at once, the rest on the loop."""
        data = _data_of(message)
        protocol = data.get("protocol")
        if protocol != PROTOCOL:
            raise ValueError(f"The page speaks protocol {protocol!r}, the kernel {PROTOCOL}: reload it.")
        client = comm.take_over(self._kernel, opened, message)
        page = Page(comm=client, session=str(data.get("session", "")), notebook=data.get("notebook"))

        def got(message: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(self._got, page, _data_of(message))

        def gone(_: KernelMessage) -> None:
            self._loop.call_soon_threadsafe(self._gone, page)

        client.on_msg(got)
        client.on_close(gone)
        self._loop.call_soon_threadsafe(self._welcome, page, data)

    def _welcome(self, page: Page, hello: Mapping[str, Any]) -> None:
        self._on_event(hello)  # before anyone is told that a page is there: it brings lists of what is hidden
        for other in [p for p in self._pages.values() if p.session == page.session]:
            self._gone(other)  # a page that came back replaces its former self
            comm.forget(other.comm)
        self._was_open = True
        self._pages[page.comm.comm_id] = page
        page.comm.send(dict(self._state()))
        for message_id, message in self._undelivered.items():
            if message_id not in self._again:  # what is under way tries this page, too
                self._again[message_id] = self._loop.create_task(self._insert_again(message, page.session))
        self._changed.set()

    async def _insert_again(self, message: InsertMessage, session: str) -> None:
        """What no page inserted: one page at a time here, too."""
        try:
            await self._deliver(message, session)
        except InsertError:
            pass  # told when it was first tried; it stays for the next page
        finally:
            del self._again[message["id"]]

    def _gone(self, page: Page) -> None:
        self._pages.pop(page.comm.comm_id, None)
        self._changed.set()

    def _got(self, page: Page, data: Mapping[str, Any]) -> None:
        page.heard_at = time.monotonic()
        match data.get("type"):
            case "pong":
                pass
            case "inserted" | "marked":
                self._acknowledge(data)
            case "decision":
                self._decided(data)
            case "cell_state" | "applied":
                self._record(page, data)
            case _:
                self._on_event(data)
        self._changed.set()

    def _record(self, page: Page, data: Mapping[str, Any]) -> None:
        """A decision that the page has carried out already: it is told if there is no record of it."""
        try:
            self._on_event({**data, "session": page.session})
        except HistoryError as error:
            if isinstance(error, UnknownRunError) and data["type"] == "cell_state":
                return  # cells of somebody else's notebook: no line of this history tells of them
            page.comm.send(
                {
                    "type": "unrecorded",
                    "run_id": data.get("run_id"),
                    "what": data.get("state", "applied"),
                    "text": str(error),
                }
            )

    def _acknowledge(self, data: Mapping[str, Any]) -> None:
        match data:
            case {"id": str(message_id), "ok": bool(ok), "cell_ids": list(), "problem": str()}:
                if message_id in self._awaited:
                    self._acknowledged[message_id] = cast("InsertedMessage | MarkedMessage", dict(data))
                if ok:
                    self._undelivered.pop(message_id, None)

    def _decided(self, data: Mapping[str, Any]) -> None:
        proposal_id = str(data.get("proposal_id"))
        future = self._decisions.get(proposal_id)
        if future is None or future.done():
            self.send_state()  # the page did not hear that it is decided
            return
        future.set_result(_decision(self._proposals[proposal_id], data))


def _data_of(message: KernelMessage) -> Mapping[str, Any]:
    """Empty for what is no message of a page of ours."""
    data = message["content"].get("data")
    return data if isinstance(data, dict) else {}


def _decision(proposal: Proposal, data: Mapping[str, Any]) -> Decision:
    """What is no clear yes is a no."""
    code, reason = data.get("code", proposal.code), data.get("reason", "")
    if data.get("action") != "approve" or not isinstance(code, str):
        return reject(proposal, "panel", reason if isinstance(reason, str) else "")
    scope, calls = _scope(data)
    return Decision(
        action="approve", code=code, decided_by="panel", scope=scope, calls=calls, decided_at=time.time()
    )


def _scope(data: Mapping[str, Any]) -> tuple[DecisionScope, int]:
    """What a yes is for; for this once, where that cannot be read."""
    if data.get("scope") == "notebook":
        return "notebook", 0
    calls = data.get("calls")
    if data.get("scope") == "run" and type(calls) is int and calls > 0:
        return "run", calls
    return "once", 0


def _not_inserted(message: InsertMessage, problem: str) -> str:
    return (
        f"The cells of run {message['run_id']} were not inserted: {problem}. They are kept in the history: "
        f"open the notebook again, or insert them from the side panel."
    )


def _not_marked(message: MarkMessage, problem: str) -> str:
    return (
        f"The cells of run {message['run_id']} in the notebook were not set to {message['state']}: {problem}. "
        f"Open the notebook, then ask again."
    )


def new_message_id() -> str:
    return uuid.uuid4().hex[:12]


def discard_mark(run_id: str) -> MarkMessage:
    return MarkMessage(type="mark", id=new_message_id(), run_id=run_id, state="discarded")
