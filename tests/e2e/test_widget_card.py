"""JupyterLab with ipywidgets and without our labextension: the decision is made in a card under the cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab
from model_server import ModelServer, code
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    directory = tmp_path_factory.mktemp("bare")
    with running_lab(directory, environment, disabled_extensions=["jupyter-codeagent"]) as running:
        yield running


def test_without_the_panel_code_is_edited_and_approved_in_a_card_while_the_cell_runs(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    quiet_console.tolerated.append(
        "Exception opening new comm"
    )  # Lab: nobody here knows what the panel would be told
    shared_model.script(code("df['n'].sum()"))
    notebook = open_notebook([LOAD, "%%agent --approve ask\nsum?"])
    assert not notebook.page.evaluate("() => window.jupyterapp.commands.hasCommand('jupyter-codeagent:open')")
    notebook.run_all()
    output = notebook.cells.nth(1).locator(".jp-Cell-outputArea")
    expect(output.get_by_role("button", name="Reject")).to_be_visible()
    output.locator("textarea").fill("print('edited', df['n'].sum() * 2)")
    output.get_by_role("button", name="Approve").click()
    expect(output).to_contain_text("edited 14")
    expect(output).to_contain_text("Approved by you.")
    expect(output).to_contain_text("has no code agent panel")
    expect(output.get_by_role("button", name="Approve")).to_be_hidden()
    assert notebook.page.page_errors() == []
