"""Notebook 7: the same panel, the same marks, and a way to find them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab
from model_server import ModelServer, Reply, code
from notebook_page import OpenNotebook
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})"
NOT_OURS = "reading 'schema'"
"""Notebook 7.6.5 says this by itself, without any extension."""


@pytest.fixture(autouse=True)
def _its_own_noise(quiet_console: BrowserConsole) -> None:
    quiet_console.tolerated.append(NOT_OURS)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    with running_lab(tmp_path_factory.mktemp("notebook"), environment, "notebook") as running:
        yield running


@pytest.mark.long("another situation of what a test beside it proves")
def test_notebook_7_has_the_panel_decisions_while_a_cell_runs_marks_and_history(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    slow = Reply(text=code("df['n'].sum()"), piece_s=0.05)
    shared_model.script(slow, code("df['n'].max()"))
    notebook = open_notebook([LOAD, "%%agent --approve ask\nsum?", "%%agent\nlargest?"])
    page = notebook.page
    panel = page.get_by_role("region", name="Code agent")
    expect(panel).to_be_hidden()

    # The first run opens the panel by itself, and the decision is made there while the cell is running.
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    panel.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "", "pending", ""])
    expect(notebook.cells.nth(2)).to_contain_text("7")
    bar = notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)
    expect(bar).to_be_visible()
    bar.click()
    notebook.wait_for_states(["", "", "accepted", ""])

    # Closed, it is found again: by the button of the toolbar and in the View menu.
    page.locator(".jp-SidePanel-collapse:visible").click()
    expect(panel).to_be_hidden()
    page.locator(".jp-NotebookPanel-toolbar [data-jp-item-name='code-agent']").get_by_role("button").click()
    expect(panel).to_be_visible()
    page.locator(".jp-SidePanel-collapse:visible").click()
    page.get_by_role("menuitem", name="View").click()
    page.get_by_role("menuitem", name="Show the Code Agent").click()
    expect(panel).to_be_visible()

    panel.get_by_role("tab", name="History").click()
    expect(panel).to_contain_text("sum?")

    # What a page says of pending cells survives its reload.
    notebook.run_cell(3)
    notebook.wait_for_states(["", "", "accepted", "", "pending"])
    notebook.saved()
    notebook.reload()
    notebook.wait_for_states(["", "", "accepted", "", "pending"])
    expect(notebook.cells.nth(4).get_by_role("button", name="Discard")).to_be_visible()


@pytest.mark.long("another situation of what a test beside it proves")
def test_notebook_7s_page_of_files_has_no_panel_and_no_error_of_ours(lab: Lab, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{lab.url}/tree")
    page.wait_for_function("() => Boolean(window.jupyterapp?.commands.hasCommand('filebrowser:open'))")
    plugin = "() => window.jupyterapp.isPluginActivated('jupyter-codeagent:plugin')"
    page.wait_for_function(plugin)
    assert page.locator("[id^=jupyter-codeagent]").count() == 0
    assert not page.evaluate("() => window.jupyterapp.commands.hasCommand('jupyter-codeagent:open')")
    context.close()
