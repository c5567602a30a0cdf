"""A page that answers late has inserted the cells all the same, and the kernel learns of it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from jupyter_codeagent.frontend import delivery as delivery_module
from jupyter_codeagent.frontend import pages as pages_module
from jupyter_codeagent.frontend.delivery import Delivery
from jupyter_codeagent.frontend.messages import InsertMessage
from jupyter_codeagent.frontend.pages import Page, Pages
from jupyter_codeagent.types.errors import InsertError

MESSAGE = InsertMessage(
    type="insert", id="m", run_id="abc", anchor="cell", replace=[], unless=[], cells=[{"id": "abc-code"}]
)
DONE = {"type": "inserted", "id": "m", "ok": True, "cell_ids": ["abc-code"], "problem": ""}


class FakeComm:
    """A page's comm that keeps what was sent."""

    def __init__(self, comm_id: str) -> None:
        self.comm_id = comm_id
        self._sent: asyncio.Queue[str] = asyncio.Queue()

    def send(self, message: dict[str, Any]) -> None:
        self._sent.put_nowait(message["type"])

    async def got(self, kind: str) -> None:
        """Wait until one more message of this kind was sent."""
        while await self._sent.get() != kind:
            pass


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_module, "ACK_S", 0.01)
    monkeypatch.setattr(pages_module, "ALIVE_S", 0.01)


def with_pages(*names: str) -> tuple[Delivery, list[FakeComm], list[tuple[str, str]]]:
    pages, late = Pages(), list[tuple[str, str]]()
    delivery = Delivery(asyncio.get_running_loop(), pages)
    delivery.on_late = lambda message, text: late.append((message["id"], text))
    comms = [FakeComm(name) for name in names]
    for comm in comms:
        pages.add(Page(comm=cast("Any", comm), session=comm.comm_id, notebook=None))
    return delivery, comms, late


def test_what_a_page_inserts_after_it_was_given_up_is_told_once_with_what_was_said_of_it() -> None:
    async def main() -> None:
        delivery, _, late = with_pages("page")
        with pytest.raises(InsertError, match="the page did not answer") as failed:
            await delivery.insert(MESSAGE, "page")
        delivery.acknowledge({**DONE, "ok": False, "problem": "read-only"})
        assert late == []
        delivery.acknowledge(DONE)
        delivery.acknowledge(DONE)
        assert late == [("m", str(failed.value))]

    asyncio.run(main())


def test_what_a_page_inserts_that_has_come_back_is_told_too() -> None:
    async def main() -> None:
        delivery, comms, late = with_pages("page")
        with pytest.raises(InsertError):
            await delivery.insert(MESSAGE, "page")
        for _ in range(delivery_module.TRIES):
            await comms[0].got("insert")
        delivery.retry("page")
        await comms[0].got("insert")
        delivery.acknowledge(DONE)
        assert [message_id for message_id, _ in late] == ["m"]
        await asyncio.sleep(0.05)
        assert len(late) == 1

    asyncio.run(main())


def test_an_answer_that_comes_while_the_next_page_is_looked_for_counts() -> None:
    async def main() -> None:
        delivery, comms, late = with_pages("first", "second")
        inserting = asyncio.create_task(delivery.insert(MESSAGE, "first"))
        await comms[1].got("ping")
        await comms[1].got("ping")  # before the second page is tried
        delivery.acknowledge(DONE)
        assert (await inserting)["cell_ids"] == ["abc-code"]
        assert late == []

    asyncio.run(main())
