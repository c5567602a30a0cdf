"""Real-time collaboration: two people in one notebook; cells come once, decisions are seen by both."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import nbformat
import pytest
from browser_console import BrowserConsole
from lab_server import Lab, running_lab, with_collaboration
from model_server import ModelServer, Reply, code
from notebook_page import WAIT_S, NotebookPage, OpenNotebook
from playwright.sync_api import BrowserContext, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})"
PENDING = ["", "", "pending", ""]
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
    until = time.monotonic() + WAIT_S
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


@pytest.mark.long("another situation of what a test beside it proves")
def test_two_people_see_one_proposal_one_insertion_and_each_others_decisions(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'].sum()"), code("df['n'].max()"))
    first, second = two_people(open_notebook, "both.ipynb")
    first.run_cell(0)
    first.wait_until_ran(0)
    first.run_cell(1)
    for notebook in (first, second):
        notebook.page.bring_to_front()
        expect(notebook.open_panel().get_by_role("button", name="Approve")).to_be_visible()
    second.open_panel().get_by_role("button", name="Approve").click()
    expect(first.open_panel().get_by_role("button", name="Approve")).to_be_hidden()
    wait_for_both((first, second), PENDING)
    for notebook in (first, second):
        expect(notebook.cells.nth(2)).to_contain_text("7")
        expect(notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)).to_be_visible()

    first.command("jupyter-codeagent:undo-insertion")
    wait_for_both((first, second), ["", "", ""])
    first.run_cell(1)
    second.open_panel().get_by_role("button", name="Approve").click()
    wait_for_both((first, second), PENDING)
    second.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    wait_for_both((first, second), ["", "", "accepted", ""])
    wait_for_file(first, ["", "", "accepted", ""])


@pytest.mark.long("another situation of what a test beside it proves")
def test_cells_come_once_and_in_place_when_the_page_that_ran_them_is_gone(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply(text=code("import time\ntime.sleep(10)\ndf['n'].sum()")))
    first, second = two_people(open_notebook, "gone.ipynb")
    first.run_cell(0)
    first.wait_until_ran(0)
    first.run_cell(1)
    second.page.bring_to_front()
    panel = second.open_panel()
    panel.get_by_role("button", name="Approve").click()
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()
    first.page.close()
    wait_for_both((second,), PENDING)
    third = open_notebook([], name="gone.ipynb")
    wait_for_both((second, third), PENDING)
    third.cells.nth(2).get_by_role("button", name="Discard").click()
    wait_for_both((second, third), ["", "", ""])


WITHOUT_THE_AGENT = """
const parse = JSON.parse;
const ours = one => one?.name === 'jupyter-codeagent';
JSON.parse = (...args) => {
  const found = parse(...args);
  const list = found?.federated_extensions;
  return list?.some?.(ours) ? { ...found, federated_extensions: list.filter(one => !ours(one)) } : found;
};
"""
"""JupyterLab reads in its page which extensions to load."""


@pytest.fixture
def stranger(
    lab: Lab, profile: BrowserContext, quiet_console: BrowserConsole
) -> Iterator[Callable[[str], NotebookPage]]:
    """Somebody who may edit the notebook, in a page without the agent: any program can write into the document."""
    quiet_console.tolerated.append("Exception opening new comm")  # Lab: that page does not know the agent's
    pages: list[NotebookPage] = []

    def come(name: str) -> NotebookPage:
        page = profile.new_page()
        page.add_init_script(WITHOUT_THE_AGENT)
        pages.append(NotebookPage(page=page, lab=lab, name=name))
        pages[-1].open()
        assert page.evaluate(COLLABORATIVE)
        assert not page.evaluate("() => window.jupyterapp.hasPlugin('jupyter-codeagent:plugin')")
        return pages[-1]

    yield come
    for one in pages:
        one.page.close()


def source_of(notebook: NotebookPage, index: int) -> str:
    return str(notebook.call(f"return shared.cells[{index}].getSource()"))


def type_into(notebook: NotebookPage, index: int, source: str) -> None:
    notebook.call(f"shared.cells[{index}].setSource({json.dumps(source)})")


def wait_for_source(notebook: NotebookPage, index: int, source: str) -> None:
    until = time.monotonic() + WAIT_S
    while (found := source_of(notebook, index)) != source:
        assert time.monotonic() < until, found
        time.sleep(0.1)


def asked(open_notebook: OpenNotebook, model: ModelServer, name: str, program: str) -> NotebookPage:
    """A notebook with a pending cell of this program, the third."""
    model.script(code(program))
    notebook = open_notebook([LOAD, "%%agent\nsum?", "print('below')"], name=name)
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    wait_for_both((notebook,), PENDING)
    return notebook


@pytest.mark.long("another situation of what a test beside it proves")
def test_who_types_in_anothers_pending_cell_decides_nothing_for_them_and_run_all_does_not_run_it(
    open_notebook: OpenNotebook, stranger: Callable[[str], NotebookPage], shared_model: ModelServer
) -> None:
    program = "import builtins\nbuiltins.__dict__['was_run'] = True\nprint(df['n'].sum())"
    notebook = asked(open_notebook, shared_model, "typed.ipynb", program)
    other = stranger("typed.ipynb")
    pending = source_of(notebook, 2)
    buttons = notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)
    expect(buttons).to_be_visible()
    type_into(other, 2, "print('evil')")
    wait_for_source(notebook, 2, "print('evil')")
    expect(buttons).to_be_hidden()
    type_into(other, 2, pending)
    wait_for_source(notebook, 2, pending)
    expect(buttons).to_be_visible()
    assert notebook.states()[2] == "pending"
    runs = notebook.lab.request("/jupyter-codeagent/runs?limit=20")["runs"]
    assert next(run for run in runs if run["notebook"] == "typed.ipynb")["cell_state"] == "pending"
    notebook.run_cell(2)
    expect(notebook.cells.nth(2)).to_contain_text("the code did not run in your kernel")
    notebook.call("shared.cells[3].setSource(\"import builtins; print('was_run' in vars(builtins))\")")
    notebook.run_cell(3)
    notebook.wait_until_ran(3)
    expect(notebook.cells.nth(3)).to_contain_text("False")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_yes_to_a_pending_cell_that_another_changes_behind_the_dialog_runs_nothing(
    open_notebook: OpenNotebook, stranger: Callable[[str], NotebookPage], shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "behind.ipynb", "df['n'].sum()")
    other = stranger("behind.ipynb")
    notebook.page.bring_to_front()
    notebook.cells.nth(2).get_by_role("button", name="Accept & run").click()
    dialog = notebook.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("sum()")
    type_into(other, 2, "print('evil\u202e')")
    wait_for_source(notebook, 2, "print('evil\u202e')")
    dialog.get_by_role("button", name="Run in my kernel").click()
    expect(dialog).to_contain_text("has changed since you confirmed")
    expect(dialog).to_contain_text("print('evil<U+202E>')")
    expect(dialog).to_contain_text("There is no record that this exact code has run")
    notebook.picture("changed_behind_the_dialog")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert notebook.call("return notebook.widgets[2].model.executionCount") is None


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_run_that_a_forged_cell_names_is_not_decided_by_opening_the_notebook(
    open_notebook: OpenNotebook, stranger: Callable[[str], NotebookPage], shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "forged.ipynb", "df['n'].sum()")
    run_id = notebook.cell_metadata()[2]["run_id"]
    forged = {"run_id": run_id, "role": "code", "state": "pending", "code_sha256": "0" * 64}
    cell = {"cell_type": "code", "source": "print('evil')", "metadata": {"codeagent": forged}, "outputs": []}
    other = stranger("forged.ipynb")
    other.call(f"shared.insertCells(0, [{json.dumps(cell)}])")
    wait_for_both((notebook,), ["pending", *PENDING])
    expect(notebook.cells.nth(0).get_by_role("button", name="Accept", exact=True)).to_have_count(0)
    runs = notebook.lab.request("/jupyter-codeagent/runs?limit=20")["runs"]
    assert next(run for run in runs if run["id"] == run_id)["cell_state"] == "pending"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_column_that_another_takes_off_the_notebooks_list_stays_hidden_in_a_kernel_that_starts_anew(
    open_notebook: OpenNotebook, stranger: Callable[[str], NotebookPage]
) -> None:
    name = "hidden.ipynb"
    notebook = open_notebook([LOAD, "%agent hide df[n]", "%agent context"], name=name)
    for cell in (0, 1):
        notebook.run_cell(cell)
        notebook.wait_until_ran(cell)
    listed = "return JSON.stringify(shared.getMetadata('codeagent') ?? {})"
    until = time.monotonic() + WAIT_S
    while "hidden_columns" not in notebook.call(listed):
        assert time.monotonic() < until
        time.sleep(0.1)
    other = stranger(name)
    other.call("shared.deleteMetadata('codeagent')")
    while "hidden_columns" in notebook.call(listed):
        assert time.monotonic() < until
        time.sleep(0.1)
    notebook.page.bring_to_front()
    notebook.call("await panel.sessionContext.session.kernel.restart()")
    notebook.wait_for_idle()
    for cell in (0, 2):
        notebook.run_cell(cell)
        notebook.wait_until_ran(cell)
    panel = notebook.open_panel("Context")
    expect(panel).to_contain_text("1 column hidden")
