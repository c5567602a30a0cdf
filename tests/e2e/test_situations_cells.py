"""The notebook changes while a question is answered: each answer finds its place, once, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent\n'loaded'"


@contextmanager
def held_answer(model: ModelServer, source: str = "sum([1, 2, 4])") -> Iterator[None]:
    """The model has been asked when the block begins to wait, and answers when the block ends."""
    gate = threading.Event()
    model.script(Reply(text=code(source), until=gate))
    try:
        yield
    finally:
        gate.set()


def ask_at(notebook: NotebookPage, model: ModelServer, index: int) -> None:
    """Run the question and return when the model has it."""
    notebook.run_cell(index)
    model.wait_until_asked()


def first_lines(notebook: NotebookPage) -> list[str]:
    """What stands where: the question's words, or the state of an inserted cell."""
    return list(
        notebook.call(
            "return shared.cells.map(cell => cell.getMetadata('codeagent')?.state"
            " ?? cell.getSource().split('\\n').pop())"
        )
    )


def wait_for_order(notebook: NotebookPage, order: list[str]) -> None:
    notebook.wait_for_states([line if line == "pending" else "" for line in order])
    assert first_lines(notebook) == order


@pytest.mark.long("another situation of what a test beside it proves")
def test_cells_land_below_their_question_wherever_it_or_a_copy_of_it_went_meanwhile(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nmoved", "%%agent\ncut", "%%agent\nturned", "%%agent\ngone", "'end'"])
    notebook.run_cell(0)
    load = LOAD.split("\n")[1]
    with held_answer(shared_model):
        ask_at(notebook, shared_model, 1)
        notebook.command("notebook:move-cell-down")
        notebook.command("notebook:copy-cell")
        notebook.command("notebook:paste-cell-above")  # the same question, above the one that is being answered
    wait_for_order(notebook, [load, "cut", "moved", "moved", "pending", "turned", "gone", "'end'"])
    notebook.wait_until_ran(3)
    notebook.call("shared.deleteCell(2)")

    with held_answer(shared_model, "max([1, 2, 4])"):
        ask_at(notebook, shared_model, 1)
        notebook.command("notebook:cut-cell")
        notebook.call("notebook.activeCellIndex = notebook.widgets.length - 1")
        notebook.command("notebook:paste-cell-below")
    wait_for_order(notebook, [load, "moved", "pending", "turned", "gone", "'end'", "cut", "pending"])
    notebook.wait_for_idle()

    with held_answer(shared_model, "min([1, 2, 4])"):
        ask_at(notebook, shared_model, 3)
        notebook.command("notebook:change-cell-to-markdown")
    wait_for_order(notebook, [load, "moved", "pending", "turned", "pending", "gone", "'end'", "cut", "pending"])

    with held_answer(shared_model, "len([1, 2, 4])"):
        ask_at(notebook, shared_model, 5)
        notebook.call("shared.deleteCell(5)")
    at_end = [load, "moved", "pending", "turned", "pending", "'end'", "cut", "pending", "pending"]
    wait_for_order(notebook, at_end)

    saved = notebook.saved()
    inserted = [cell.source for cell in saved.cells if cell.metadata.get("codeagent", {}).get("role") == "code"]
    assert [source.split("(")[0] for source in inserted] == ["sum", "min", "max", "len"]
    panel = notebook.open_panel()
    panel.get_by_role("button", name="Discard all").click()
    notebook.wait_for_states([""] * 5)


@pytest.mark.long("another situation of what a test beside it proves")
def test_in_a_split_view_cells_arrive_once_and_both_views_show_them_and_what_is_decided(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nsum?", "%%agent\nmax?"])
    notebook.run_cell(0)
    with held_answer(shared_model):
        ask_at(notebook, shared_model, 1)
        notebook.command("docmanager:clone")
    notebook.wait_for_states(["", "", "pending", ""])
    bars = notebook.page.get_by_role("toolbar", name="Pending cell of the code agent")
    expect(bars).to_have_count(2)  # one in each view
    assert len(notebook.saved().cells) == 4
    bars.first.get_by_role("button", name="Accept", exact=True).click()
    expect(bars).to_have_count(0)
    notebook.wait_for_states(["", "", "accepted", ""])


@pytest.mark.long("another situation of what a test beside it proves")
def test_run_all_with_ten_questions_puts_each_answer_below_its_own(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    def answer(request: dict[str, object]) -> Reply:
        asked = str(request["messages"][-1])  # type: ignore[index]
        return Reply(text=code(f"0 + {asked.rpartition('number ')[2].split('.')[0]}"))

    shared_model.script("not used")
    shared_model.choose = answer
    try:
        notebook = open_notebook([LOAD, *(f"%%agent\nQuestion number {i}." for i in range(10))])
        notebook.run_all()
        notebook.wait_for_states(["", *(["", "pending"] * 10)])
    finally:
        shared_model.choose = None
    sources = [cell.source.strip().split("\n")[-1] for cell in notebook.saved().cells]
    expected = [line for i in range(10) for line in (f"Question number {i}.", f"0 + {i}")]
    assert sources[1:] == expected


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_read_only_notebook_shows_the_result_in_its_cell_and_says_why_nothing_was_inserted(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("sum([1, 2, 4])"))
    notebook = open_notebook([LOAD, "%%agent\nsum?"])
    notebook.call("Object.defineProperty(notebook.model, 'readOnly', { get: () => true })")
    notebook.run_all()
    question = notebook.cells.nth(1)
    expect(question).to_contain_text("is read-only")
    expect(question.locator(".jp-OutputArea")).to_contain_text("sum([1, 2, 4])")
    expect(question.locator(".jp-OutputArea")).to_contain_text("7")
    assert notebook.states() == ["", ""]
    notebook.reload()  # now it may be written to: what was kept arrives
    notebook.wait_for_states(["", "", "pending"])
