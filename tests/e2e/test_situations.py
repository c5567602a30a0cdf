"""Nothing is lost and nothing lands in the wrong place: reloads, restarts, two notebooks, deleted cells."""

from __future__ import annotations

import pytest
from browser_console import BrowserConsole
from lab_server import Lab
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2, 4]})"
SLOW = Reply(text=code("import time\ntime.sleep(10)\ndf['n'].sum()"))


def run_into_the_sandbox(notebook: NotebookPage) -> None:
    """Run all cells and return when the panel says that the code is running."""
    panel = notebook.open_panel()
    notebook.run_all()
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()


@pytest.mark.long("test_lost_results.py reloads while the model writes")
def test_cells_arrive_after_the_page_was_reloaded_during_the_run(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SLOW)
    notebook = open_notebook([LOAD, "%%agent\nsum?"])
    run_into_the_sandbox(notebook)
    notebook.reload()
    notebook.wait_for_states(["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_proposal_is_shown_again_after_a_reload_and_can_be_approved(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'].sum()"))
    notebook = open_notebook([LOAD, "%%agent --approve ask\nsum?"])
    panel = notebook.open_panel()
    notebook.run_all()
    expect(panel.get_by_role("button", name="Approve")).to_be_visible()
    notebook.reload()
    panel = notebook.open_panel()
    panel.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_two_notebooks_each_get_their_own_cells(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.choose = lambda request: Reply(
        text=code("print('for the ' + 'first')" if "first one" in str(request) else "print('for the ' + 'second')")
    )
    try:
        first = open_notebook([LOAD, "%%agent\nthe first one"], name="first.ipynb")
        second = open_notebook([LOAD, "%%agent\nthe other"], name="second.ipynb")
        first.run_all()
        second.run_all()
        for notebook, text in ((first, "for the first"), (second, "for the second")):
            notebook.page.bring_to_front()
            expect(notebook.cells.nth(2)).to_contain_text(text)
    finally:
        shared_model.choose = None


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_deleted_question_cell_loses_nothing(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.script(SLOW)
    notebook = open_notebook([LOAD, "%%agent\nsum?", "1 + 1"])
    run_into_the_sandbox(notebook)
    notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.model.sharedModel.deleteCell(1)")
    notebook.wait_for_states(["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_notebook_renamed_during_the_run_gets_its_cells(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    quiet_console.tolerated.append("status of 404")  # a save that was under way asks for the old name
    shared_model.script(SLOW)
    notebook = open_notebook([LOAD, "%%agent\nsum?"])
    run_into_the_sandbox(notebook)
    notebook.page.evaluate(
        "async () => { await window.jupyterapp.shell.currentWidget.context.rename('other.ipynb'); }"
    )
    notebook.wait_for_states(["", "", "pending"])
    notebook.name = "other.ipynb"
    (cell,) = notebook.saved().cells[2:]
    assert cell.metadata["codeagent"]["state"] == "pending"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_notebook_closed_during_the_run_has_its_cells_when_it_is_opened_again(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SLOW)
    notebook = open_notebook([LOAD, "%%agent\nWho closed it?"])
    run_into_the_sandbox(notebook)
    notebook.saved()
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.dispose(); }")
    notebook.wait_until_run_ended("Who closed it?")
    notebook.open()
    notebook.wait_for_states(["", "", "pending"])
    expect(notebook.cells.nth(2)).to_contain_text("7")


@pytest.mark.long("another situation of what a test beside it proves")
def test_with_two_tabs_of_one_notebook_cells_are_inserted_once(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    # JupyterLab's word for a kernel's `comm_close` that is meant for the other tab.
    quiet_console.tolerated.append("Comm not found for comm id")
    shared_model.script(code("df['n'].sum()"))
    first = open_notebook([LOAD, "%%agent\nsum?"], name="tabs.ipynb")
    second = open_notebook([], name="tabs.ipynb")
    first.page.bring_to_front()
    first.run_all()
    first.wait_for_states(["", "", "pending"])
    assert len(first.saved().cells) == 3
    second.page.bring_to_front()
    assert second.states().count("pending") in (0, 1)  # with real-time collaboration it has it already


def test_run_all_does_not_run_pending_code_in_the_users_kernel(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'] = 0\nprint('changed' + ' it')"))
    notebook = open_notebook([LOAD, "%%agent\nset n to zero", "print('live', df['n'].tolist())"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.wait_until_ran(3)
    notebook.run_cell(2)
    expect(notebook.cells.nth(2)).to_contain_text("Pending: these outputs are from the sandbox")
    expect(notebook.cells.nth(2)).to_contain_text("changed it")
    notebook.run_cell(3)
    expect(notebook.cells.nth(3)).to_contain_text("live [1, 2, 4]")


@pytest.mark.long("another situation of what a test beside it proves")
def test_accept_and_run_runs_the_code_in_the_users_kernel(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'] = 0\nprint('changed' + ' it')"))
    notebook = open_notebook([LOAD, "%%agent\nset n to zero", "print('live', df['n'].tolist())"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2; }")
    notebook.command("jupyter-codeagent:accept-and-run", wait=False)
    dialog = notebook.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Run").click()
    notebook.wait_until_ran(2)
    notebook.run_cell(3)
    expect(notebook.cells.nth(3)).to_contain_text("live [0, 0, 0]")


@pytest.mark.long("another situation of what a test beside it proves")
def test_history_lists_and_searches_all_runs_with_no_kernel_running(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    shared_model.script(code("df['n'].sum() + 12345"))
    notebook = open_notebook([LOAD, "%%agent\nAn unmistakable question about zebras"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    notebook.saved()
    for session in lab.request("/api/sessions"):
        lab.request(f"/api/sessions/{session['id']}", method="DELETE")
    panel = notebook.open_panel()
    panel.get_by_role("tab", name="History").click()
    panel.get_by_label("Search the history").fill("zebras")
    found = panel.get_by_role("option").filter(has_text="An unmistakable question about zebras")
    expect(found).to_have_count(1)
    found.click()
    expect(panel.get_by_label("Final code")).to_contain_text("12345")


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_panel_links_again_after_a_kernel_restart(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['n'].sum()"))
    notebook = open_notebook([LOAD, "%%agent\nsum?"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    notebook.page.evaluate(
        "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart(); }"
    )
    _run_after_restart(notebook)
    expect(notebook.cells.nth(1)).to_contain_text("✓ ")
    assert notebook.states() == ["", "", "pending"]


def _run_after_restart(notebook: NotebookPage) -> None:
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'"
    )
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)


@pytest.mark.long("another situation of what a test beside it proves")
def test_pending_marks_survive_save_and_reload_and_the_notebook_stays_trusted(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df"))
    notebook = open_notebook([LOAD, "%%agent\nshow it", "df"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.wait_until_ran(3)
    notebook.saved()
    notebook.reload()
    notebook.wait_for_states(["", "", "pending", ""])
    expect(notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True)).to_be_visible()
    trusted = notebook.page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.content.widgets"
        ".filter(cell => cell.model.type === 'code').map(cell => cell.model.trusted)"
    )
    assert all(trusted)
