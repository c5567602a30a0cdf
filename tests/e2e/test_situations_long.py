"""Long notebooks and long outputs: each answer is found at its place, and the page stays quick."""

from __future__ import annotations

import threading

import pytest
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\n'loaded'"
LONG = "import pandas as pd\nprint('x' * 2_000_000)\npd.DataFrame({'n': range(5000), 'm': range(5000)})"


def bars_of(notebook: NotebookPage) -> Locator:
    return notebook.page.get_by_role("toolbar", name="Pending cell of the code agent")


@pytest.mark.long("another situation of what a test beside it proves")
def test_in_a_notebook_of_500_cells_a_very_long_answer_is_found_at_its_place_and_capped(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    cells = [LOAD, *(f"# {i}" for i in range(1, 500))]
    cells[250] = cells[480] = "%%agent\nlong?"
    notebook = open_notebook(cells)
    panel = notebook.open_panel()
    notebook.run_cell(0)
    states = [""] * 500
    for index in (480, 250):
        gate = threading.Event()
        shared_model.script(Reply(text=code(LONG if index == 250 else "7"), until=gate))
        notebook.run_cell(index)
        shared_model.wait_until_asked()
        notebook.call("notebook.activeCellIndex = 0; await notebook.scrollToItem(0)")
        gate.set()
        states.insert(index + 1, "pending")
        notebook.wait_for_states(states)
    notebook.saved()
    assert (notebook.lab.root / notebook.name).stat().st_size < 1_500_000

    # Opened again, JupyterLab draws 500 cells one after another for many seconds.
    notebook.open()
    panel = notebook.open_panel()
    step = {name: panel.get_by_role("button", name=f"{name} pending cell") for name in ("Next", "Previous")}
    shown = [("Next", 251), ("Next", 482), ("Previous", 251)]
    for direction, index in shown:
        step[direction].click()
        expect(notebook.page.locator(f'[data-windowed-list-index="{index}"]')).to_be_in_viewport()
        assert notebook.call("return notebook.activeCellIndex") == index
    notebook.call("notebook.activeCellIndex = 0; await notebook.scrollToItem(0)")
    bar = bars_of(notebook).first
    expect(bar).not_to_be_in_viewport()
    panel.get_by_title("Show in the notebook").first.click()
    expect(bar).to_be_in_viewport()
    bar.get_by_role("button", name="Accept", exact=True).click()
    states[251] = "accepted"
    notebook.wait_for_states(states)
    panel.get_by_role("tab", name="History").click()
    panel.get_by_role("option").filter(has_text="long?").first.click()
    expect(panel.locator(".jp-CodeAgent-outputs").first).to_contain_text("more characters")
