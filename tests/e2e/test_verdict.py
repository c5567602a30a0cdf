"""How far a result can be believed: the verdict below it, the steps of its code, and what was assumed as chips."""

from __future__ import annotations

import pytest
from model_server import ModelServer, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "trips = pd.DataFrame({'city': ['Oslo', 'Rome', None, 'Oslo'], 'km': [3.0, None, 5.0, 9.0]})\n"
    "cities = pd.DataFrame({'city': ['Oslo', 'Oslo', 'Rome'], 'country': ['NO', 'NO', 'IT']})"
)
MEAN = code("per_city = trips.groupby('city')['km'].mean()\nper_city.sort_values()")
KEPT = code("per_city = trips.groupby('city', dropna=False)['km'].mean()\nper_city.sort_values()")
WRONG = code("both = trips.merge(cities, on='city')\nboth['km'].sum()")


def verdict(notebook: NotebookPage, index: int) -> Locator:
    return notebook.cells.nth(index).get_by_role("group", name="Verdict")


def asked(open_notebook: OpenNotebook, model: ModelServer, program: str, question: str) -> NotebookPage:
    model.script(program)
    notebook = open_notebook([LOAD, f"%%agent --vars trips,cities\n{question}", "'mine'"])
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    expect(verdict(notebook, 2)).to_be_visible()
    return notebook


def test_a_result_says_how_far_it_can_be_believed_each_step_leads_to_its_line_and_a_chip_asks_with_the_other_choice(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, MEAN, "What is the mean distance per city?")
    line = verdict(notebook, 2)
    expect(line).to_contain_text("Worth a look: 1 row without city left out (line 1)")
    notebook.picture("verdict")
    line.get_by_role("button", name="Steps of the code (1)").click()
    steps = line.get_by_role("list", name="Steps of the code")
    expect(steps).to_contain_text(
        "mean of km by city: 4 rows → 2; 1 row without city left out; 1 missing value of km skipped"
    )
    steps.get_by_role("button", name="line 1").click()
    selected = "return notebook.widgets[2].editor.getSelection()"
    assert notebook.call(selected)["start"] == {"line": 0, "column": 0}
    expect(steps.get_by_role("listitem")).to_have_attribute("aria-current", "true")
    notebook.cells.nth(2).locator(".cm-line").nth(1).click()
    expect(steps.locator("[aria-current]")).to_have_count(0)
    notebook.picture("verdict_steps")

    # The page of the run has the same, and its code marks the line.
    panel = notebook.open_panel()
    expect(panel.get_by_role("group", name="Verdict").first).to_contain_text("1 row without city left out")
    panel.get_by_role("tab", name="History").click()
    runs = panel.get_by_role("listbox", name="Runs, newest first").get_by_role("option")
    runs.filter(has_text=notebook.name).first.click()
    panel.get_by_role("button", name="Steps of the code (1)").click()
    panel.get_by_role("button", name="line 1", exact=True).click()
    expect(panel.locator(".jp-CodeAgent-codeLine[aria-current]")).to_have_text(
        "per_city = trips.groupby('city')['km'].mean()"
    )
    notebook.picture("verdict_panel")

    # A chip names what was assumed, and asks again with the other choice.
    shared_model.script(KEPT)
    chip = line.get_by_role("button", name="keep the rows without city as a group of their own")
    expect(chip).to_have_attribute("title", "Ask again: keep the rows without city as a group of their own")
    chip.click()
    expect(notebook.cells.nth(2)).to_contain_text("dropna=False")
    expect(line).to_contain_text("Rows checked")
    notebook.picture("verdict_after_chip")


def test_a_doubtful_result_is_not_accepted_together_with_others(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, WRONG, "How many kilometres are that in all?")
    notebook.wait_for_states(["", "", "pending", ""])
    expect(verdict(notebook, 2)).to_contain_text("Doubtful: a join repeated km in 2 rows")
    shared_model.script(KEPT)
    notebook.call("shared.cells[3].setSource('%%agent --vars trips\\nMean per city, missing ones too?')")
    notebook.run_cell(3)
    notebook.wait_for_states(["", "", "pending", "", "pending"])
    notebook.open_panel().get_by_role("button", name="Accept all").click()
    notebook.wait_for_states(["", "", "pending", "", "accepted"])
    expect(notebook.page.get_by_text("One doubtful result is still pending")).to_be_visible()
    notebook.picture("verdict_doubtful")
