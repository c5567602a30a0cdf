"""Below a result: questions that go on from it; a press asks one, and its answer waits below."""

from __future__ import annotations

import pytest
from model_server import ModelServer
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\n%config CodeAgent.next_questions = True\n"
    "import numpy as np\nimport pandas as pd\n"
    "rng = np.random.default_rng(7)\nsales = rng.normal(100, 10, 600)\n"
    "shop = pd.DataFrame({'region': np.repeat(['north', 'south'], 300)})\n"
    "shop['size'] = np.tile(['small', 'large'], 300)\n"
    "shop['sales'] = sales + 12 * (shop['region'] == 'south')\n"
    "shop['day'] = pd.date_range('2025-01-01', periods=600, freq='12h')"
)


def test_a_press_of_a_next_question_runs_it_below_the_result_without_a_model_and_a_restart_takes_them_away(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script("```python\nshop.groupby('region')['sales'].mean()\n```")
    notebook = open_notebook([LOAD, "%%agent\nmean sales by region", "'mine'"])
    for cell in (0, 1):
        notebook.run_cell(cell)
        notebook.wait_until_ran(cell)
    notebook.wait_for_states(["", "", "pending", ""])
    line = notebook.cells.nth(2).get_by_role("toolbar", name="Next questions")
    expect(line).to_contain_text("Next:")
    buttons = line.get_by_role("button")
    assert 1 <= buttons.count() <= 3
    notebook.picture("next-questions")
    panel = notebook.open_panel("Now")
    expect(panel.get_by_role("group", name="Next questions").first).to_contain_text("Next:")
    notebook.picture("next-questions-panel")

    sent = len(shared_model.requests)
    question = buttons.first.text_content() or ""
    buttons.first.focus()
    notebook.page.keyboard.press("ArrowRight")
    notebook.page.keyboard.press("ArrowLeft")
    notebook.page.keyboard.press("Enter")
    notebook.wait_for_states(["", "", "pending", "", "pending", ""])
    expect(notebook.cells.nth(3)).to_contain_text(question)
    expect(notebook.cells.nth(3)).to_contain_text("nothing sent")
    expect(notebook.cells.nth(4).locator("table, img").first).to_be_visible()
    expect(notebook.cells.nth(4).get_by_role("toolbar", name="Next questions")).to_be_visible()
    notebook.picture("next-questions-answered")
    assert len(shared_model.requests) == sent

    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", "", "pending", ""])
    expect(line.get_by_role("button").first).to_be_visible()

    notebook.call("await panel.sessionContext.session.kernel.restart()")
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    expect(notebook.page.get_by_role("toolbar", name="Next questions")).to_have_count(0)
