"""One sees what one accepts: the result comes into view, and the panel's card shows what it found."""

from __future__ import annotations

import threading

import pytest
from browser_console import BrowserConsole
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect
from run_cells import LOAD, ask

pytestmark = pytest.mark.browser

LONG = [f"'cell {number}'" + "\n#" * 12 for number in range(12)]
TABLE = "import pandas as pd\npd.DataFrame({'n': range(30)})"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nplt.show()"


def question(panel: Locator) -> Locator:
    return panel.get_by_role("textbox", name="Your question")


def scroll_top(notebook: NotebookPage) -> float:
    return float(notebook.call("return notebook.outerNode.scrollTop"))


def wait_until_in_view(notebook: NotebookPage, index: int) -> None:
    """Until all of the cell can be seen, or its beginning if it is too high."""
    notebook.page.wait_for_function(
        """index => {
          const { content } = window.jupyterapp.shell.currentWidget;
          const seen = content.outerNode.getBoundingClientRect();
          const { top, bottom } = content.widgets[index].node.getBoundingClientRect();
          const fits = bottom - top <= seen.height;
          return top >= seen.top - 1 && (fits ? bottom <= seen.bottom + 1 : top < seen.top + 40);
        }""",
        arg=index,
    )


def ask_in_panel(notebook: NotebookPage, text: str) -> None:
    panel = notebook.open_panel()
    question(panel).fill(text)
    question(panel).press("Control+Enter")


def long_notebook(open_notebook: OpenNotebook, width: int, height: int) -> NotebookPage:
    notebook = open_notebook([LOAD, *LONG])
    notebook.page.set_viewport_size({"width": width, "height": height})
    notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    return notebook


@pytest.mark.parametrize(("width", "height"), [(1000, 700), (1400, 900)])
@pytest.mark.long("another situation of what a test beside it proves")
def test_the_result_of_a_question_asked_in_the_panel_comes_into_view_and_the_keyboard_stays_in_the_box(
    open_notebook: OpenNotebook, shared_model: ModelServer, width: int, height: int
) -> None:
    notebook = long_notebook(open_notebook, width, height)
    notebook.call("notebook.activeCellIndex = 5")
    shared_model.script(code(PLOT))
    ask_in_panel(notebook, "How does it grow?")
    notebook.wait_for_states([""] * 7 + ["pending"] + [""] * 7)
    notebook.wait_until_run_ended("How does it grow?")
    expect(notebook.cells.nth(6)).to_contain_text("this machine")
    wait_until_in_view(notebook, 7)
    expect(question(notebook.page.get_by_role("region", name="Code agent"))).to_be_focused()
    notebook.picture(f"reveal-{width}")


@pytest.mark.parametrize("how", ["wheel", "typing", "another cell"])
@pytest.mark.long("another situation of what a test beside it proves")
def test_who_has_scrolled_typed_or_gone_elsewhere_meanwhile_stays_there(
    open_notebook: OpenNotebook, shared_model: ModelServer, how: str
) -> None:
    notebook = long_notebook(open_notebook, 1400, 900)
    notebook.call("notebook.activeCellIndex = 1")
    gate = threading.Event()
    shared_model.script(Reply(text=code(TABLE), until=gate))
    ask_in_panel(notebook, "Which numbers?")
    shared_model.wait_until_asked()
    last = notebook.cells.nth(13)
    if how == "wheel":
        notebook.cells.nth(3).hover()
        notebook.page.mouse.wheel(0, 3000)
        expect(last).to_be_in_viewport()
    else:
        notebook.call("await notebook.scrollToItem(13, 'end')")
        expect(last).to_be_in_viewport()
        last.locator(".cm-content").click()
        if how == "typing":
            notebook.page.keyboard.type("# mine")
    before = scroll_top(notebook)
    gate.set()
    notebook.wait_for_states(["", "", "", "pending", *[""] * 11])
    notebook.wait_until_run_ended("Which numbers?")
    expect(notebook.open_panel().locator(".jp-CodeAgent-pendingList > li")).to_have_count(1)
    # Where the browser keeps what is seen in its place, it moves as far as cells above have grown.
    seen = notebook.cells.nth(14)
    expect(seen).to_be_in_viewport()
    assert scroll_top(notebook) >= before


@pytest.mark.long("another situation of what a test beside it proves")
def test_of_questions_that_were_started_together_the_last_result_comes_into_view(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, *LONG[:3], "%%agent\nA first?", *LONG[3:8], "%%agent\nA second?", *LONG[8:]])
    shared_model.script(code("1 + 1"), code("2 + 2"))
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.call("notebook.activeCellIndex = 4; notebook.select(notebook.widgets[10])")
    notebook.command("notebook:run-cell", wait=False)
    notebook.wait_for_states([""] * 5 + ["pending"] + [""] * 6 + ["pending"] + [""] * 4)
    wait_until_in_view(notebook, 12)


def test_the_card_of_a_pending_result_shows_its_first_output_and_its_code_before_it_is_accepted(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA table?", "%%agent\nA picture?"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    cards = panel.get_by_role("region", name="Pending cells").get_by_role("listitem")

    shared_model.script(code(TABLE))
    notebook.run_cell(1)
    notebook.wait_for_states(["", "", "pending", ""])
    card = cards.filter(has_text="A table?")
    table = card.get_by_role("group", name="Beginning of the result")
    expect(table).to_have_text("     n\n0    0\n1    1\n2    2\n3    3\n4    4\n5    5")
    expect(card).to_contain_text("more lines")
    code_of_it = card.get_by_role("group", name="Code of this result")
    expect(code_of_it).to_have_count(0)
    card.locator("summary").click()
    expect(code_of_it).to_contain_text("pd.DataFrame({'n': range(30)})")

    shared_model.script(code(PLOT))
    notebook.run_cell(3)
    notebook.wait_for_states(["", "", "pending", "", "pending"])
    picture = cards.filter(has_text="A picture?").get_by_role("img", name="First picture of the result")
    expect(picture).to_be_visible()
    assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }") > 100

    notebook.picture("cards")

    # In another kernel the history tells what was found.
    notebook.saved()
    notebook.call("await panel.sessionContext.restartKernel()")
    expect(panel).to_contain_text("The code agent is not loaded")
    expect(picture).to_be_visible()
    expect(table).to_contain_text("5    5")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_card_of_somebody_elses_cell_shows_its_code_and_no_output_of_the_notebook(
    open_notebook: OpenNotebook, quiet_console: BrowserConsole
) -> None:
    quiet_console.tolerated.append("status of 404")  # the history is asked for its verdict, and has no such run
    notebook = open_notebook([LOAD])
    notebook.call(
        """const html = '<b onclick="window.pwned = 1">bold</b>';
        shared.insertCell(1, { cell_type: 'code', id: 'strange', source: 'strange()',
          metadata: { codeagent: { version: 1, run_id: 'fedcba987654', role: 'code', state: 'pending' } },
          outputs: [{ output_type: 'display_data', data: { 'text/html': html }, metadata: {} }] });"""
    )
    panel = notebook.open_panel()
    card = panel.get_by_role("region", name="Pending cells").get_by_role("listitem")
    expect(card).to_contain_text("strange()")
    expect(card.locator("b, .jp-CodeAgent-preview")).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_box_says_below_which_cell_the_question_will_stand(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "numbers = [1, 2]", "%%agent\nA total?", "'last'"])
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    ask(notebook, shared_model, "A total?", 2)
    says = panel.locator(".jp-CodeAgent-landing")
    notebook.call("notebook.activeCellIndex = 1")
    expect(says).to_have_text("below cell [ ]: numbers = [1, 2]")
    notebook.run_cell(1)
    expect(says).to_have_text("below cell [3]: numbers = [1, 2]")
    notebook.call("notebook.activeCellIndex = 2")
    expect(says).to_have_text("below cell [2] and its result: A total?")
    shared_model.script(code("3"))
    ask_in_panel(notebook, "And now?")
    notebook.wait_for_states(["", "", "", "pending", "", "pending", ""])
    assert notebook.call("return shared.cells[4].getSource()") == "%%agent\nAnd now?"
    expect(says).to_have_text("below cell [4] and its result: And now?")
