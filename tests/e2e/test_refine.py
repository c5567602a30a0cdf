"""Refine in place: another version of a pending result, the earlier one a click away; the mark on what was kept."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from accessible import rows
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
QUESTION = "%%agent --vars df\nWhat is the sum of n by city?"
SUM, TOP = code("df.groupby('city')['n'].sum()"), code("df.groupby('city')['n'].sum().nlargest(1)")
BAR = ".jp-Notebook .jp-CodeAgent-cellBar"
WAITS = ["", "", "pending", ""]


def asked(open_notebook: OpenNotebook, model: ModelServer) -> NotebookPage:
    """A notebook in which the result of a question waits."""
    model.script(SUM)
    notebook = open_notebook([LOAD, QUESTION, "'mine'"])
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    notebook.wait_for_states(WAITS)
    return notebook


def box(notebook: NotebookPage) -> Locator:
    return notebook.page.get_by_role("textbox", name="Refine this result")


def words(notebook: NotebookPage) -> Locator:
    """What is said beside the box."""
    return notebook.page.locator(".jp-CodeAgent-refineWords")


def source(notebook: NotebookPage, index: int) -> str:
    return str(notebook.call(f"return shared.cells[{index}].getSource()"))


def test_a_pending_result_is_refined_in_place_the_earlier_version_stays_a_click_away_and_the_accepted_is_replayed(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model)
    page = notebook.page
    expect(notebook.cells.nth(2)).to_contain_text("Rome")

    # With the keyboard alone: to the box, Enter; the result stays until the other one is there.
    answered = threading.Event()
    shared_model.script(Reply(TOP, until=answered))
    notebook.call("notebook.activeCellIndex = 2; notebook.mode = 'command'; notebook.activate()")
    page.keyboard.press("F2")
    page.keyboard.type("dd only the largest?")
    assert notebook.states() == WAITS, "what is typed there is no command of the notebook's"
    page.keyboard.press("Enter")
    expect(words(notebook)).to_have_text("The model is writing …")
    expect(notebook.cells.nth(2)).to_contain_text("Rome")
    answered.set()
    expect(notebook.cells.nth(2)).to_contain_text("nlargest")
    assert notebook.states() == WAITS
    assert source(notebook, 1) == f"{QUESTION}\ndd only the largest?"
    told = shared_model.requests[0]["messages"][-1]["content"]
    assert "Task: What is the sum of n by city?\ndd only the largest?" in told
    second = notebook.cell_metadata()[2]
    wait_for_receipt(notebook, second["run_id"])
    expect(notebook.cells.nth(2)).to_be_focused()
    first = second["refines"]
    assert [version["run_id"] for version in second["versions"]] == [first, second["run_id"]]

    # There and back; the question above says what was asked for what is shown.
    bar = notebook.cells.nth(2).get_by_role("toolbar", name="Pending cell of the code agent")
    bar.get_by_role("button", name="Show the earlier version").click()
    expect(notebook.cells.nth(2)).to_contain_text("Rome")
    wait_for_receipt(notebook, first)
    assert (source(notebook, 1), notebook.cell_metadata()[2]["run_id"]) == (QUESTION, first)
    assert states_on_record(notebook) == {first: "pending", second["run_id"]: "discarded"}
    bar.get_by_role("button", name="Show the later version").click()
    expect(notebook.cells.nth(2)).to_contain_text("nlargest")

    # Undo leads back, too, and the record follows.
    notebook.call("notebook.mode = 'command'; notebook.activate()")
    page.keyboard.press("z")
    expect(notebook.cells.nth(2)).to_contain_text("Rome")
    assert source(notebook, 1) == QUESTION
    page.keyboard.press("Shift+Z")
    expect(notebook.cells.nth(2)).to_contain_text("nlargest")
    wait_for_record(notebook, {first: "discarded", second["run_id"]: "pending"})

    bar.get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", ""])
    kept = notebook.saved().cells[2].metadata["codeagent"]
    assert (kept["run_id"], kept["refines"], "versions" in kept) == (second["run_id"], first, False)

    # The cell asks the model no more: what was accepted is replayed, and stays.
    shared_model.script("never asked")
    notebook.run_all()
    expect(notebook.cells.nth(1).locator(".jp-OutputArea")).to_contain_text("model not called")
    assert shared_model.requests == []
    assert notebook.states() == ["", "", "accepted", ""]


def states_on_record(notebook: NotebookPage) -> dict[str, str]:
    runs = notebook.lab.request("/jupyter-codeagent/runs?limit=20")["runs"]
    shown = {notebook.name}
    return {run["id"]: run["cell_state"] for run in runs if run["notebook"] in shown}


def wait_for_receipt(notebook: NotebookPage, run_id: str) -> None:
    """Until it is that of this run which stands below the question."""
    receipt = notebook.lab.request(f"/jupyter-codeagent/runs/{run_id}/cells")["receipt"]["text/html"]
    notebook.page.wait_for_function(
        "wanted => window.jupyterapp.shell.currentWidget.content.model.sharedModel.cells[1].getOutputs()"
        ".map(output => output.data?.['text/html']).join() === wanted",
        arg=receipt,
    )


def wait_for_record(notebook: NotebookPage, states: dict[str, str]) -> None:
    notebook.page.wait_for_function(
        """async wanted => {
          const { runs } = await (await fetch('/jupyter-codeagent/runs?limit=20')).json();
          return Object.entries(wanted).every(
            ([id, state]) => runs.some(run => run.id === id && run.cell_state === state));
        }""",
        arg=states,
    )


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_refinement_that_fails_or_is_stopped_leaves_the_result_and_the_words_in_the_box(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model)
    before = notebook.cell_metadata()
    shared_model.script(Reply(status=500, message="out of memory"))
    box(notebook).fill("in three dimensions")
    box(notebook).press("Enter")
    expect(words(notebook)).to_contain_text("out of memory")
    expect(words(notebook)).to_have_role("alert")
    expect(box(notebook)).to_have_value("in three dimensions")
    expect(box(notebook)).to_be_editable()
    assert (notebook.cell_metadata(), source(notebook, 1)) == (before, QUESTION)

    shared_model.script(Reply(TOP, hang=True))
    box(notebook).fill("only the largest")
    box(notebook).press("Enter")
    expect(words(notebook)).to_have_text("The model is writing …")
    notebook.page.get_by_role("button", name="Stop", exact=True).click()
    expect(words(notebook)).to_have_text("Stopped; the result is unchanged.")
    assert (notebook.cell_metadata(), source(notebook, 1)) == (before, QUESTION)
    box(notebook).press("Escape")
    expect(notebook.cells.nth(2)).to_be_focused()


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_refinement_waits_for_a_busy_kernel_gives_up_nothing_behind_it_and_can_be_stopped_before_it_begins(
    open_notebook: OpenNotebook, shared_model: ModelServer, tmp_path: Path
) -> None:
    notebook = asked(open_notebook, shared_model)
    go_on = tmp_path / "go on"
    waiting = f"import pathlib, time\nwhile not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.05)\n'over'"
    notebook.call(f"shared.cells[3].setSource({waiting!r})")
    notebook.run_cell(3)
    expect(notebook.page.locator(".jp-Notebook-ExecutionIndicator[data-status=busy]")).to_be_visible()
    shared_model.script(Reply(status=500, message="never asked"))
    box(notebook).fill("only the largest")
    box(notebook).press("Enter")
    expect(words(notebook)).to_have_text("Waiting for the kernel …")
    notebook.run_cell(0)  # queued behind it
    notebook.page.get_by_role("button", name="Stop", exact=True).click()
    expect(words(notebook)).to_have_text("Stopping …")
    go_on.touch()
    expect(words(notebook)).to_have_text("Stopped; the result is unchanged.")
    assert shared_model.requests == []
    expect(notebook.cells.nth(3)).to_contain_text("over")
    notebook.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget.content.widgets[0].model.executionCount > 2"
    )


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_page_that_is_reloaded_meanwhile_gets_the_refined_result_with_the_earlier_one_behind_it(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model)
    notebook.saved()
    answered = threading.Event()
    shared_model.script(Reply(TOP, until=answered))
    box(notebook).fill("only the largest")
    box(notebook).press("Enter")
    shared_model.wait_until_asked()
    notebook.reload()
    expect(words(notebook)).to_have_text("The model is writing …")
    expect(box(notebook)).to_have_value("only the largest")
    answered.set()
    expect(notebook.cells.nth(2)).to_contain_text("nlargest")
    assert source(notebook, 1) == f"{QUESTION}\nonly the largest"
    notebook.wait_for_idle()
    second = notebook.cell_metadata()[2]["run_id"]
    wait_for_receipt(notebook, second)
    notebook.page.get_by_role("button", name="Show the earlier version").click()
    expect(notebook.cells.nth(2)).to_contain_text("Rome")
    assert source(notebook, 1) == QUESTION


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_was_accepted_or_edited_keeps_a_mark_that_leads_to_its_run_also_after_a_reload_and_not_on_paper(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model)
    page = notebook.page
    mark = page.get_by_role("button", name="Written by the code agent; show its run")
    expect(mark).to_have_count(0)
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    expect(mark).to_have_count(1)
    notebook.call("shared.cells[2].setSource('my own')")
    notebook.saved()
    notebook.reload()
    expect(mark).to_have_count(1)
    mark.first.click()
    panel = page.get_by_role("region", name="Code agent")
    expect(panel.get_by_role("article", name="Run")).to_contain_text("What is the sum of n by city?")
    expect(panel.get_by_role("button", name="All runs")).to_be_focused()
    page.emulate_media(media="print")
    expect(mark.first).to_be_hidden()
    page.emulate_media(media="screen")
    expect(mark.first).to_be_visible()


@pytest.mark.parametrize("size", [(1000, 700), (1400, 900)], ids=["1000x700", "1400x900"])
@pytest.mark.long("another situation of what a test beside it proves")
def test_the_bar_of_a_pending_cell_and_the_top_of_a_runs_page_take_one_row(
    open_notebook: OpenNotebook, shared_model: ModelServer, size: tuple[int, int]
) -> None:
    notebook = asked(open_notebook, shared_model)
    page = notebook.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    panel = notebook.open_panel()
    shared_model.script(TOP)
    box(notebook).fill("only the largest")
    box(notebook).press("Enter")
    expect(notebook.cells.nth(2).get_by_role("group", name="Version 2 of 2")).to_be_visible()
    for name in ("Accept", "Accept & run", "Edit", "Discard"):
        button = notebook.cells.nth(2).get_by_role("button", name=name, exact=True)
        expect(button).to_be_visible()
        assert button.get_attribute("title")
    assert rows(page, BAR) == [1]
    assert rows(page, ".jp-CodeAgent-pendingList li > .jp-CodeAgent-buttons") == [1]
    panel.get_by_role("tab", name="History").click()
    # The list shows its last visit, another test's runs, until the server has answered.
    runs = panel.get_by_role("listbox", name="Runs, newest first").get_by_role("option")
    runs.filter(has_text=notebook.name).first.click()
    expect(panel.get_by_role("button", name="Insert again")).to_be_visible()
    assert rows(page, ".jp-CodeAgent-runTop") == [1]
