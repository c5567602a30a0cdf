"""Real-time collaboration: two people in one notebook; cells come once, decisions are seen by both."""

from __future__ import annotations

import time
from collections.abc import Iterator

import nbformat
import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab, with_collaboration
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})"
PENDING = ["", "", "pending", "pending", ""]
COLLABORATIVE = "() => window.jupyterapp.shell.currentWidget.context.model.collaborative"


@pytest.fixture(autouse=True)
def _heard_by_both(quiet_console: BrowserConsole) -> None:
    """JupyterLab's word for a kernel's `comm_close` that is meant for the other page."""
    quiet_console.tolerated.append("Comm not found for comm id")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    environment = with_collaboration({"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"})
    with running_lab(tmp_path_factory.mktemp("collaboration"), environment) as running:
        yield running


def two_people(open_notebook: OpenNotebook, name: str) -> tuple[NotebookPage, NotebookPage]:
    """Two browsers on one notebook."""
    sources = [LOAD, "%%agent --approve ask\nsum?", "print('below')"]
    first = open_notebook(sources, name=name)
    second = open_notebook(sources, name=name)
    for notebook in (first, second):
        assert notebook.page.evaluate(COLLABORATIVE), "jupyter-collaboration is not on in this page"
    return first, second


def ids(notebook: NotebookPage) -> list[str]:
    return list(
        notebook.page.evaluate(
            "() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells.map(cell => cell.id)"
        )
    )


def wait_for_both(notebooks: tuple[NotebookPage, ...], states: list[str]) -> None:
    for notebook in notebooks:
        notebook.page.bring_to_front()
        notebook.wait_for_states(states)
    first, *others = (ids(notebook) for notebook in notebooks)
    assert len(set(first)) == len(first)
    assert all(other == first for other in others)


def wait_for_file(notebook: NotebookPage, states: list[str]) -> None:
    """The server saves the shared document; Lab's command for it can wait for ever if that is under way already."""
    until = time.monotonic() + 60
    while (found := states_in_file(notebook)) != states:
        assert time.monotonic() < until, found
        time.sleep(0.5)


def states_in_file(notebook: NotebookPage) -> list[str]:
    try:
        saved = nbformat.read(notebook.lab.root / notebook.name, as_version=4)
    except (nbformat.reader.NotJSONError, OSError):
        return []  # it is being written
    nbformat.validate(saved)
    return [cell.metadata.get("codeagent", {}).get("state", "") for cell in saved.cells]


def test_two_people_see_one_proposal_one_insertion_and_each_others_decisions(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'].sum()"), "no figures", code("df['n'].max()"), "no figures")
    first, second = two_people(open_notebook, "both.ipynb")
    first.run_cell(0)
    first.wait_until_ran(0)
    first.run_cell(1)
    for notebook in (first, second):
        notebook.page.bring_to_front()
        expect(notebook.open_panel().get_by_role("button", name="Approve")).to_be_visible(timeout=90_000)
    second.open_panel().get_by_role("button", name="Approve").click()
    expect(first.open_panel().get_by_role("button", name="Approve")).to_be_hidden()
    wait_for_both((first, second), PENDING)
    for notebook in (first, second):
        expect(notebook.cells.nth(2)).to_contain_text("7")
        expect(notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)).to_be_visible()

    first.command("jupyter-codeagent:undo-insertion")
    wait_for_both((first, second), ["", "", ""])
    first.run_cell(1)
    second.open_panel().get_by_role("button", name="Approve").click(timeout=90_000)
    wait_for_both((first, second), PENDING)
    second.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    wait_for_both((first, second), ["", "", "accepted", "accepted", ""])
    wait_for_file(first, ["", "", "accepted", "accepted", ""])


def test_cells_come_once_and_in_place_when_the_page_that_ran_them_is_gone(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply(text=code("import time\ntime.sleep(3)\ndf['n'].sum()")), "no figures")
    first, second = two_people(open_notebook, "gone.ipynb")
    first.run_cell(0)
    first.wait_until_ran(0)
    first.run_cell(1)
    second.page.bring_to_front()
    panel = second.open_panel()
    panel.get_by_role("button", name="Approve").click(timeout=90_000)
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible(timeout=90_000)
    first.page.close()
    wait_for_both((second,), PENDING)
    third = open_notebook([], name="gone.ipynb")
    wait_for_both((second, third), PENDING)
    third.cells.nth(2).get_by_role("button", name="Discard").click()
    wait_for_both((second, third), ["", "", ""])
