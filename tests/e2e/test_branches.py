"""Branches: a question asked from an earlier result, in the notebook and in the panel."""

from __future__ import annotations

import re

import pytest
from model_server import ModelServer, code
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)


def test_ask_from_here_goes_on_from_an_earlier_result_and_the_panel_shows_from_which(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    totals = code("totals = df.groupby('city')['n'].sum()\ntotals")
    shared_model.script(totals, code("ranked = totals.rank()\nranked"))
    notebook = open_notebook([LOAD, "%%agent --vars df\nsum by city", "%%agent --vars df\nranked please", "'mine'"])
    page = notebook.page
    for index in (0, 1):
        notebook.run_cell(index)
        notebook.wait_until_ran(index)
    notebook.wait_for_states(["", "", "pending", "", ""])
    notebook.run_cell(3)
    notebook.wait_for_states(["", "", "pending", "", "pending", ""])

    notebook.cells.nth(2).hover()
    notebook.cells.nth(2).get_by_role("button", name="Ask from here").click()
    expect(notebook.cells.nth(3).locator(".cm-content")).to_be_focused()
    source = str(notebook.call("return shared.cells[3].getSource()"))
    assert re.fullmatch(r"%%agent --from \w+\n", source)
    shared_model.script(code("print('ranked' in globals())\ntotals.nlargest(1)"))
    page.keyboard.type("only the largest")
    page.keyboard.press("Control+Enter")
    notebook.wait_for_states(["", "", "pending", "", "pending", "", "pending", ""])
    expect(notebook.cells.nth(4)).to_contain_text("False")
    told = str(shared_model.requests[0]["messages"])
    assert "sum by city" in told
    assert "ranked please" not in told

    panel = notebook.open_panel("Now")
    expect(panel).to_contain_text("↳ from “sum by city”")
    notebook.picture("asked-from-here")
    panel = notebook.open_panel("History")
    panel.get_by_text("sum by city").first.click()
    panel.get_by_text("About this run").scroll_into_view_if_needed()
    expect(panel).to_contain_text("Asked from here")
    notebook.picture("asked-from-here-history")
