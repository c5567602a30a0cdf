"""A question asked from the panel, and the settings that the panel shows and changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from model_server import ModelServer, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

DATA = "import pandas as pd\ndf = pd.DataFrame({'city': ['Oslo', 'Rome'], 'n': [1, 2]})\nother = df.head(1)"
ANSWER = code("print('asked', len(df))")
NASTY = "--model evil\n%%time\n\n'quotes' \"and\" {braces} 100 %s\\n — what is in df?"


def sources(notebook: NotebookPage) -> Any:
    return notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets"
        ".map(cell => cell.model.sharedModel.getSource())"
    )


def question(panel: Locator) -> Locator:
    return panel.get_by_role("textbox", name="Your question")


def test_a_question_typed_in_the_panel_loads_the_agent_when_told_to_and_runs_as_a_cell_below_the_active_one(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(ANSWER)
    notebook = open_notebook([DATA, "last = 1"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)

    expect(panel).to_contain_text("The agent is not loaded in this notebook.")
    question(panel).fill(NASTY)
    panel.get_by_role("button", name="Load the agent").click()
    expect(panel.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    assert sources(notebook) == [DATA, "%load_ext jupyter_codeagent", "last = 1"]

    # The draft outlives another tab and a reload of the page.
    panel.get_by_role("tab", name="History").click()
    notebook.page.wait_for_timeout(1500)  # the state database is written when the typing has paused
    notebook.saved()
    notebook.reload()
    panel = notebook.open_panel()
    expect(question(panel)).to_have_value(NASTY)
    expect(panel.get_by_role("button", name="Ask", exact=True)).to_be_enabled()
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")

    panel.get_by_text("Options", exact=True).click()
    panel.get_by_role("checkbox", name="df").check()
    panel.get_by_label("Privacy").select_option("schema")
    question(panel).press("Control+Enter")
    expect(question(panel)).to_have_value("")
    expect(notebook.cells.nth(3)).to_contain_text("asked 2")
    asked = f"%%agent --vars df --privacy schema\n{NASTY}"
    assert sources(notebook)[:3] == [DATA, "%load_ext jupyter_codeagent", asked]
    assert any(NASTY in message["content"] for message in shared_model.requests[0]["messages"])
    assert "evil" not in json.dumps(shared_model.requests[0]["model"])

    # What was asked last comes back with one key.
    question(panel).press("ArrowUp")
    expect(question(panel)).to_have_value(NASTY)


@pytest.mark.long("another situation of what a test beside it proves")
def test_privacy_and_model_changed_in_the_panel_hold_for_the_next_question(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.models.append({"id": "other", "object": "model"})
    shared_model.script(ANSWER)
    notebook = open_notebook([f"%load_ext jupyter_codeagent\n{DATA}", "%%agent --rerun --vars df\nWhat is in df?"])
    panel = notebook.open_panel("Context")
    notebook.run_cell(0)
    panel.get_by_label("Example rows").click()
    expect(panel).to_contain_text("set in this notebook’s kernel")
    panel.get_by_role("tab", name="Model").click()
    panel.get_by_role("button", name="Use other").click()
    expect(panel.locator("[aria-current=true]")).to_contain_text("other")
    notebook.run_cell(1)
    expect(notebook.cells.nth(2)).to_contain_text("asked 2")
    assert shared_model.requests[0]["model"] == "other"
    assert "Oslo" in json.dumps(shared_model.requests[0]["messages"])
    panel.get_by_role("combobox", name="Privacy").select_option("schema")
    panel.get_by_role("button", name="Use privacy in all notebooks").click()
    shared_model.script(ANSWER)
    notebook.run_cell(1)
    shared_model.wait_until_asked()
    assert "Oslo" not in json.dumps(shared_model.requests[0]["messages"][-1])
