"""The button beside a result: what the sandbox has comes into the user's kernel as data, asking where it must."""

from __future__ import annotations

import pytest
from model_server import ModelServer, code
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\nby_city = 'my own'\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
SUM = code("df['twice'] = df['n'] * 2\nby_city = df.groupby('city', as_index=False)['n'].sum()\nby_city")


def test_the_button_brings_a_result_back_and_asks_before_it_overwrites_a_variable(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM)
    notebook = open_notebook([LOAD, "%%agent\nSum of n by city? With\ndf['twice'] = df['n'] * 2", "print(by_city)"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    button = panel.get_by_role("button", name="Bring back by_city")
    expect(button.locator("..")).to_have_text("Bring back by_city DataFrame 2x2")
    expect(panel.get_by_label("Copies that differ from your variables")).to_contain_text("+ 'twice'")
    expect(notebook.cells.nth(1)).to_contain_text("changed its copy of df (+ 'twice')")
    button.click()
    card = panel.get_by_role("group", name="Overwrite your variable?")
    expect(card).to_contain_text("by_city: str of 6 → DataFrame 2x2")
    card.get_by_role("button", name="Reject").click()
    expect(panel.get_by_role("alert")).to_contain_text("Not done")
    button.click()
    card.get_by_role("button", name="Approve").click()
    expect(panel.get_by_text("by_city is now DataFrame 2x2")).to_be_visible()
    notebook.run_cell(len(notebook.states()) - 1)
    expect(notebook.cells.last).to_contain_text("Rome  2")


@pytest.mark.long("another situation of what a test beside it proves")
def test_while_a_cell_runs_the_button_waits_until_the_kernel_is_free(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("total = int(df['n'].sum())\nprint(total)"))
    notebook = open_notebook(
        [
            LOAD,
            "%%agent\nSum of n?",
            "import time\nfor _ in range(100): time.sleep(0.1)\n'total' in globals()",
            "total",
        ]
    )
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    button = panel.get_by_role("button", name="Bring back total")
    expect(button).to_be_visible()
    # The receipt comes when the cell is in its place.
    expect(notebook.cells.nth(1)).to_contain_text("✓ ")
    states = len(notebook.states())
    notebook.run_cell(states - 2)
    button.click()
    expect(panel.get_by_text("waiting until your kernel is free")).to_be_visible()
    expect(panel.get_by_text("total is now int")).to_be_visible()
    expect(notebook.cells.nth(states - 2).locator(".jp-OutputArea-output")).to_contain_text("False")
    notebook.run_cell(states - 1)
    expect(notebook.cells.last.locator(".jp-OutputArea-output")).to_contain_text("7")
