"""Delivery of messages that one page has to act on: sent again until it acknowledges them, then to the next page.

`insert`, `mark` and `ask` are idempotent: the Jupyter server drops messages while a flood of output exceeds its
rate limit.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from typing import Any, cast

from jupyter_codeagent.frontend.messages import (
    AskedMessage,
    AskMessage,
    InsertedMessage,
    InsertMessage,
    MarkedMessage,
    MarkMessage,
)
from jupyter_codeagent.frontend.pages import Page, Pages
from jupyter_codeagent.types.errors import InsertError

ACK_S = 2.0
TRIES = 3
Order = InsertMessage | MarkMessage | AskMessage
Ack = InsertedMessage | MarkedMessage | AskedMessage
OnLate = Callable[[InsertMessage, str], None]
"""Called with an `insert` that a page has carried out after it was given up, and the text of the InsertError."""


class Delivery:
    """Delivers the messages of a link. On the background loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pages: Pages) -> None:
        self._loop = loop
        self._pages = pages
        self.on_late: OnLate = lambda message, problem: None
        self._acknowledged: dict[str, Ack] = {}
        self._awaited: set[str] = set()
        self._undelivered: dict[str, tuple[InsertMessage, str]] = {}
        """What no page has inserted yet, and what was said of it, by the id of the message."""
        self._again: dict[str, asyncio.Task[None]] = {}
        """Retries in progress of undelivered messages, by the id of the message."""

    async def insert(self, message: InsertMessage, session: str | None) -> InsertedMessage:
        """Have one page insert cells; see `PanelLink.insert`."""
        try:
            return cast("InsertedMessage", await self.deliver(message, session))
        except InsertError as error:
            # Not earlier: two pages of a shared document would both insert it, if one has just connected.
            self._undelivered[message["id"]] = (message, str(error))
            raise
        except asyncio.CancelledError:
            # Stopped: nothing follows, and cells that a page has inserted without our knowledge are removed.
            self._pages.send(_discard_mark(message["run_id"]))
            raise

    async def deliver(self, message: Order, session: str | None) -> Ack:
        """Have one page act on a message, and return its acknowledgement.

        Raises
        ------
        InsertError
            No page acknowledged it.
        """
        problem = "no page with the side panel has this notebook open"
        refused = False
        tried: set[str] = set()
        self._awaited.add(message["id"])
        try:
            # Queried again each time: a page that came in the meantime is the next to try.
            while pages := await self._pages.alive(session, tried):
                tried.add(pages[0].comm.comm_id)
                answer = await self._request(message, pages[0])
                if answer is None:
                    problem = f"the page did not answer within {TRIES * ACK_S:.0f} s"
                elif answer["ok"]:
                    return answer
                else:
                    problem, refused = answer["problem"], True
            answer = self._acknowledged.get(message["id"])  # that of a page which was given up
            if answer is not None and answer["ok"]:
                return answer
        finally:
            self._awaited.discard(message["id"])
            self._acknowledged.pop(message["id"], None)
        raise InsertError(_not_done(message, problem), refused=refused)

    async def _request(self, message: Order, page: Page) -> Ack | None:
        for _ in range(TRIES):
            page.comm.send(dict(message))
            try:
                async with asyncio.timeout(ACK_S):
                    while message["id"] not in self._acknowledged:
                        if not self._pages.has(page):
                            return None  # the page left, or sent another hello
                        await self._pages.next_change()
            except TimeoutError:
                continue
            return self._acknowledged.pop(message["id"])
        return None

    def acknowledge(self, data: Mapping[str, Any]) -> None:
        """Take a page's acknowledgement, also of an order that was given up."""
        match data:
            case {"id": str(message_id), "ok": bool(ok), "cell_ids": list(), "problem": str()}:
                if message_id in self._awaited:
                    self._acknowledged[message_id] = cast("Ack", dict(data))
                late = self._undelivered.pop(message_id, None) if ok else None
                if late is not None:
                    self.on_late(*late)

    def retry(self, session: str) -> None:
        """Retry what no page has inserted, now that a page is there."""
        for message_id, (message, _) in self._undelivered.items():
            if message_id not in self._again:  # a delivery in progress tries this page, too
                self._again[message_id] = self._loop.create_task(self._insert_again(message, session))

    async def _insert_again(self, message: InsertMessage, session: str) -> None:
        """Deliver again, to one page at a time here, too."""
        try:
            await self.deliver(message, session)
        except InsertError:
            pass  # reported at the first attempt; it waits for the next page
        finally:
            del self._again[message["id"]]

    def forget_run(self, run_id: str) -> None:
        """Drop the cells of a run, which was discarded."""
        kept = ((key, one) for key, one in list(self._undelivered.items()) if one[0]["run_id"] != run_id)
        self._undelivered = dict(kept)

    def close(self) -> None:
        """Stop trying. Any thread."""
        for task in list(self._again.values()):
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(task.cancel)


def _not_done(message: Order, problem: str) -> str:
    match message["type"]:
        case "insert":
            return _not_inserted(message, problem)
        case "mark":
            return _not_marked(message, problem)
        case "ask":
            return f"The question could not be inserted into the notebook: {problem}. Open it, then ask again."


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


def _discard_mark(run_id: str) -> MarkMessage:
    return MarkMessage(type="mark", id=uuid.uuid4().hex[:12], run_id=run_id, state="discarded")
