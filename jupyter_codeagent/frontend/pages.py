"""The pages that are linked to one kernel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass, field

from jupyter_codeagent.frontend.comm import AgentComm
from jupyter_codeagent.frontend.messages import ToPage

ALIVE_S = 1.0
"""A page that closed sends nothing: before one is selected all are pinged, and these many seconds waited."""


@dataclass(eq=False)
class Page:
    """One kernel connection of one browser page."""

    comm: AgentComm
    session: str
    notebook: str | None
    web_client: str = ""
    """The name under which Jupyter AI knows the browser page; empty without Jupyter AI."""
    last_message_at: float = field(default_factory=time.monotonic)
    """Time of the last message on the monotonic clock, in seconds."""


class Pages:
    """The linked pages; changed on the background loop, read from any thread."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}
        self._changed = asyncio.Event()
        self.were_there = False
        """Whether a page was ever there: it may come back, and what it missed waits for it."""

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def all(self) -> list[Page]:
        return list(self._pages.values())

    def add(self, page: Page) -> None:
        self.were_there = True
        self._pages[page.comm.comm_id] = page

    def remove(self, page: Page) -> None:
        self._pages.pop(page.comm.comm_id, None)
        self.note_change()

    def clear(self) -> None:
        self._pages.clear()

    def has(self, page: Page) -> bool:
        return page.comm.comm_id in self._pages

    def send(self, message: ToPage) -> None:
        """Send a message to every page."""
        for page in self.all:
            page.comm.send(dict(message))

    def note_change(self) -> None:
        """Wake up whoever waits for a page or for one of its messages."""
        self._changed.set()

    async def next_change(self) -> None:
        """Wait until a page comes, goes, or sends something."""
        self._changed.clear()
        await self._changed.wait()

    async def alive(self, session: str | None, tried: Collection[str]) -> list[Page]:
        """Return the pages that answer a ping, the one that ran the cell first, then that of the latest message.

        Pages whose comms are `tried` are left out. If none answers in time, all others are returned all the same.
        """
        started = time.monotonic()
        self.send({"type": "ping"})

        def candidates() -> list[Page]:
            return [page for page in self.all if page.comm.comm_id not in tried]

        ran = [page for page in candidates() if page.session == session]
        try:
            async with asyncio.timeout(ALIVE_S):
                while candidates() and not any(page.last_message_at > started for page in ran or candidates()):
                    await self.next_change()
        except TimeoutError:
            pass
        pages = sorted(candidates(), key=lambda page: -page.last_message_at)
        answered = [page for page in pages if page.last_message_at > started] or pages
        return sorted(answered, key=lambda page: page.session != session)
