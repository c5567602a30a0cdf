"""Pending cells, the tools on cells and the `%%agent` editor, as a person uses them."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest
from browser_console import BrowserConsole
from model_server import ModelServer, Reply, code
from nbconvert import HTMLExporter, MarkdownExporter
from nbformat import NotebookNode
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4], 'dep delay': [7, 8, 9]})"
)
SUM = code("df.groupby('city')['n'].sum()")
MAX = code("df['n'].max() * 1000")
FOUND = "No values are missing."
WHOLE = 'it\'s :( "so" [n'
ALL_TRUSTED = (
    "return notebook.widgets.filter(c => c.model.type === 'code' && !c.model.trusted).map(c => c.model.id)"
)

WITHOUT_THE_EXTENSION = [
    r"ERR_FAILED \(\S+/jupyter-codeagent/static/",
    r"error: Event \(",
    r"Failed to create module: package: jupyter-codeagent",
    r"reading 'get'\)",
]
"""What JupyterLab says where the files of an extension do not come."""


def active(notebook: NotebookPage) -> int:
    return int(notebook.call("return notebook.activeCellIndex"))


def wait_for_focus(notebook: NotebookPage, index: int | None = None) -> None:
    """Until the notebook has the keyboard, in this cell if one is named: that comes a moment after a key."""
    notebook.page.wait_for_function(
        "(index) => { const notebook = window.jupyterapp.shell.currentWidget.content;"
        " return (index ?? notebook.activeCellIndex) === notebook.activeCellIndex"
        " && notebook.node.contains(document.activeElement)"
        " && (notebook.mode === 'command' || notebook.activeCell.editor?.hasFocus()); }",
        arg=index,
    )


def press(notebook: NotebookPage, keys: str) -> None:
    wait_for_focus(notebook)
    notebook.page.keyboard.press(keys)


def walk(notebook: NotebookPage, keys: str, to: int) -> None:
    """Press keys that lead to another cell, and wait until it has the focus."""
    press(notebook, keys)
    wait_for_focus(notebook, to)


def source_of(notebook: NotebookPage, index: int) -> str:
    return str(notebook.call(f"return shared.cells[{index}].getSource()"))


def test_with_the_keyboard_alone_pending_cells_are_found_accepted_discarded_and_brought_back(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    typed = threading.Event()
    shared_model.script(SUM, Reply(MAX, until=typed))
    notebook = open_notebook([LOAD, "%%agent\nWhat is the sum of n by city?", "'between'", ""])
    # As for those who have switched it on: brackets and quotes close themselves.
    notebook.call(
        "const { code, ...others } = notebook.editorConfig;"
        " notebook.editorConfig = { ...others, code: { ...code, autoClosingBrackets: true } };"
    )
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    notebook.wait_for_states(["", "", "pending", "", ""])

    # A question in the last cell, and text below it while the question runs.
    notebook.call("notebook.activeCellIndex = 3; notebook.mode = 'command'; notebook.activate()")
    walk(notebook, "ArrowDown", to=4)
    press(notebook, "Enter")
    wait_for_focus(notebook)
    notebook.page.keyboard.type("%%agent")
    press(notebook, "Enter")
    expect(notebook.cells.nth(4)).to_have_class(re.compile("jp-CodeAgent-prompt"))
    notebook.page.keyboard.type(WHOLE)
    assert source_of(notebook, 4) == f"%%agent\n{WHOLE}"
    press(notebook, "Shift+Enter")
    wait_for_focus(notebook, 5)
    notebook.page.keyboard.type("typed = (1")
    typed.set()
    notebook.wait_for_states(["", "", "pending", "", "", "pending", ""])
    assert source_of(notebook, 6) == "typed = (1)"  # in Python they do close

    press(notebook, "Escape")
    walk(notebook, "F8", to=2)  # around the end
    walk(notebook, "F8", to=5)
    walk(notebook, "Shift+F8", to=2)
    press(notebook, "Control+F8")
    notebook.wait_for_states(["", "", "accepted", "", "", "pending", ""])

    walk(notebook, "F8", to=5)
    press(notebook, "Control+Shift+F8")
    notebook.wait_for_states(["", "", "accepted", "", "", ""])
    assert active(notebook) in (4, 5)
    press(notebook, "z")
    notebook.wait_for_states(["", "", "accepted", "", "", "pending", ""])
    expect(notebook.cells.nth(5)).to_contain_text("4000")
    expect(notebook.cells.nth(5).get_by_role("button", name="Accept", exact=True)).to_be_visible()

    # Undo once more takes the insertion back and nothing else.
    press(notebook, "z")
    notebook.wait_for_states(["", "", "accepted", "", "", ""])
    assert [source_of(notebook, 4), source_of(notebook, 5)] == [f"%%agent\n{WHOLE}", "typed = (1)"]


def tool(cell: Locator, name: str) -> Locator:
    return cell.get_by_role("button", name=name, exact=True)


def completed(notebook: NotebookPage, index: int, typed: str, offer: str, expected: str) -> None:
    """Type in the cell that has the focus, press Tab, take the first offer, and look at the source."""
    notebook.page.keyboard.type(typed)
    press(notebook, "Tab")
    first = notebook.page.locator(".jp-Completer-item").first
    expect(first).to_contain_text(offer)
    press(notebook, "Enter")
    expect(first).to_be_hidden()
    assert source_of(notebook, index) == expected


@pytest.mark.long("another situation of what a test beside it proves")
def test_fix_with_agent_on_an_older_failure_explain_and_continue_on_its_result_with_names_completed(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM, MAX)
    notebook = open_notebook([LOAD, "df['older']", "df['newer']"])
    for index in range(3):
        notebook.run_cell(index)
        notebook.wait_until_ran(index)
    expect(tool(notebook.cells.nth(2), "Fix with agent")).to_be_visible()
    tool(notebook.cells.nth(1), "Fix with agent").click()
    notebook.wait_for_states(["", "", "", "pending", ""])
    told = shared_model.requests[0]["messages"][-1]["content"]
    assert "df['older']" in told
    assert "df['newer']" not in told
    assert source_of(notebook, 1) == "df['older']"

    notebook.cells.nth(3).hover()
    tool(notebook.cells.nth(3), "Explain").click()
    notebook.wait_for_states(["", "", "", "pending", "", "pending", ""])
    assert "Explain the result of" in shared_model.requests[1]["messages"][-1]["content"]

    notebook.cells.nth(5).hover()
    tool(notebook.cells.nth(5), "Ask from here").click()
    expect(notebook.cells).to_have_count(8)
    expect(notebook.cells.nth(6).locator(".cm-content")).to_be_focused()
    before = source_of(notebook, 6)
    options = before.removesuffix("\n")
    assert re.fullmatch(r"%%agent --from \w+", options)
    notebook.wait_for_idle()
    completed(
        notebook, 6, "dep d", "column of df", f"{before}dep delay"
    )  # at the end of the question, a name of two words
    press(notebook, "Control+Home")
    press(notebook, "End")
    completed(notebook, 6, " --priv", "--privacy", f"{options} --privacy\ndep delay")
    completed(notebook, 6, " stats --vars d", "df", f"{options} --privacy stats --vars df\ndep delay")
    completed(notebook, 6, "['dep", "dep delay", f"{options} --privacy stats --vars df['dep delay'\ndep delay")
    assert notebook.call(ALL_TRUSTED) == []
    notebook.saved()
    notebook.reload()
    expect(notebook.cells).to_have_count(8)
    assert notebook.call(ALL_TRUSTED) == []


def exported(exporter: Any, notebook: NotebookNode) -> str:
    text, _ = exporter().from_notebook_node(notebook)
    return str(text)


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_saved_notebook_is_valid_readable_without_the_extension_and_stays_trusted(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    shared_model.script(MAX)
    notebook = open_notebook([LOAD, "%agent explore df", "%%agent\nthe maximum?", "df.head(1)"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", "pending", "", "pending", ""])
    notebook.wait_until_ran(6)
    tool(notebook.cells.nth(2), "Accept").click()
    mixed = ["", "", "accepted", "accepted", "", "pending", ""]
    notebook.wait_for_states(mixed)
    saved = notebook.saved()
    html, markdown = exported(HTMLExporter, saved), exported(MarkdownExporter, saved)
    for page in (html, markdown):
        assert "the maximum?" in page
        assert page.count(FOUND) == 2  # of the cell that explores, and in words below its table
        assert "4000" in page
        assert "run_id" not in page

    # The same page without the extension: nothing but cells, all of them trusted, and nothing is lost by saving.
    quiet_console.tolerated += WITHOUT_THE_EXTENSION
    notebook.page.route("**/jupyter-codeagent/static/**", lambda route: route.abort())
    notebook.reload()
    expect(notebook.cells.nth(2).locator(".jp-OutputArea-output")).to_contain_text("dep delay")
    assert notebook.states() == mixed
    expect(notebook.page.locator(".jp-CodeAgent-cellBar, .jp-CodeAgent-prompt")).to_have_count(0)
    expect(notebook.cells.nth(3).locator(".jp-MarkdownOutput")).to_contain_text(FOUND)
    expect(notebook.cells.nth(5)).to_contain_text("4000")
    assert notebook.call(ALL_TRUSTED) == []
    notebook.call("shared.cells[6].setSource('df.tail(1)')")
    again = notebook.saved()
    assert [json.dumps(cell.metadata) for cell in again.cells] == [
        json.dumps(cell.metadata) for cell in saved.cells
    ]

    notebook.page.unroute("**/jupyter-codeagent/static/**")
    notebook.reload()
    expect(tool(notebook.cells.nth(5), "Accept")).to_be_visible()
    assert notebook.states() == mixed
    assert notebook.call(ALL_TRUSTED) == []
