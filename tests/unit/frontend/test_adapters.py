"""How long a run waits for a page, by the front end that its cell came from."""

from __future__ import annotations

from typing import Any, cast

import pytest

from jupyter_codeagent.frontend.adapters import FIRST_HELLO_S, LAB_HELLO_S, LATER_HELLO_S, FrontEndAdapters
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.frontend.link import PanelLink


class NoPage:
    """A kernel to which no page says hello; notes how long one was waited for."""

    is_open = was_open = False

    def __init__(self) -> None:
        self.waits_s: list[float] = []

    def announce(self) -> None:
        pass

    def wait_for_page(self, wait_s: float) -> float:
        return wait_s

    def run(self, wait_s: float) -> None:
        self.waits_s.append(wait_s)


def waits_s(*places: CellOrigin) -> list[float]:
    double: Any = NoPage()
    front_ends = FrontEndAdapters(cast("BackgroundLoop", double), cast("PanelLink", double), Grants())
    for place in places:
        front_ends.wait_for_page(place)
    return cast("list[float]", double.waits_s)


@pytest.mark.parametrize(
    ("cell_id", "wait_s"),
    [
        ("b3c7d1e0-5b8f-4c57", LAB_HELLO_S),
        ("vscode-notebook-cell:/home/me/a.ipynb#W0sZmlsZQ==", FIRST_HELLO_S),
        (None, FIRST_HELLO_S),
    ],
)
def test_a_page_that_brings_the_lists_is_waited_for_longest_and_only_once(
    cell_id: str | None, wait_s: float
) -> None:
    place = CellOrigin(cell_id=cell_id, has_kernel=True)
    assert waits_s(place, place) == [wait_s]


def test_headless_and_in_a_terminal_nothing_is_waited_for() -> None:
    assert waits_s(CellOrigin(headless=True)) == []
    FrontEndAdapters(cast("BackgroundLoop", NoPage()), None, Grants()).wait_for_page(CellOrigin())


def test_a_page_that_has_gone_gets_a_moment_to_come_back() -> None:
    double: Any = NoPage()
    front_ends = FrontEndAdapters(cast("BackgroundLoop", double), cast("PanelLink", double), Grants())
    front_ends.wait_for_page(CellOrigin(cell_id="a"))
    double.was_open = True
    front_ends.wait_for_page(CellOrigin(cell_id="a"))
    assert double.waits_s == [LAB_HELLO_S, LATER_HELLO_S]
