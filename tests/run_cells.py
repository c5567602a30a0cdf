"""What becomes of a run's cells, as the history, the panel, the notebook and its file say it."""

from __future__ import annotations

import time
from collections.abc import Sequence

from lab_server import Lab
from model_server import ModelServer, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect

LOAD = "%load_ext jupyter_codeagent\n'loaded'"
WORDS = {"pending": "cells pending", "accepted": "accepted", "edited": "edited", "discarded": "discarded"}


def wait_for_record(lab: Lab, question: str, state: str, timeout_s: float = 60) -> None:
    """Until the history says so of the newest run of this question."""
    deadline = time.monotonic() + timeout_s
    while (found := recorded(lab, question)) != state:
        assert time.monotonic() < deadline, f"{question!r} is {found} in the history, not {state}"
        time.sleep(0.1)


def recorded(lab: Lab, question: str) -> str | None:
    runs = lab.request("/jupyter-codeagent/runs?limit=50")["runs"]
    return next((run["cell_state"] for run in runs if run["prompt"].strip() == question), None)


def run_in(panel: Locator, question: str) -> Locator:
    """The run under way or the last one, else one of the earlier ones, opened."""
    runs = panel.get_by_role("article", name="Run")
    expect(runs.first).to_be_visible()
    run = runs.filter(has_text=question)
    if run.count() == 0:
        earlier = panel.locator(".jp-CodeAgent-earlier")
        if earlier.get_attribute("open") is None:
            earlier.locator("> summary").click()
        earlier.locator("summary").filter(has_text=question).click()
    return run


def shows(panel: Locator, question: str, word: str) -> None:
    """The run's chip and the last line of its steps."""
    run = run_in(panel, question)
    expect(run.locator("> .jp-CodeAgent-line > .jp-CodeAgent-chip").last).to_have_text(word)
    steps = run.get_by_role("list", name="Steps of this run")
    expect(steps.locator("> li[data-kind=cells]")).to_have_text(word)


def agree(notebook: NotebookPage, question: str, state: str, cells: Sequence[str]) -> None:
    """History, chip, steps, marks on cells, metadata and file; `cells` are the states of all cells."""
    notebook.wait_for_states(list(cells))
    panel = notebook.open_panel()
    shows(panel, question, WORDS[state])
    wait_for_record(notebook.lab, question, state)
    bars = notebook.page.locator(".jp-CodeAgent-cellBar")
    expect(bars).to_have_count(list(cells).count("pending"))
    expect(panel.locator(".jp-CodeAgent-pendingList > li")).to_have_count(list(cells).count("pending"))
    saved = [cell.metadata.get("codeagent", {}).get("state", "") for cell in notebook.saved().cells]
    assert saved == list(cells)
    panel.get_by_role("tab", name="History").click()
    line = panel.get_by_role("option").filter(has_text=question).first
    expect(line).to_contain_text(WORDS[state])
    panel.get_by_role("tab", name="Now").click()


def ask(notebook: NotebookPage, model: ModelServer, question: str, index: int) -> None:
    """Run the question in this cell, and return when its cell is there and the run has ended."""
    model.script(code(f"len({question!r})"))
    before = notebook.states()
    notebook.run_cell(index)
    notebook.wait_for_states([*before[: index + 1], "pending", *before[index + 1 :]])
    notebook.wait_until_run_ended(question)


def asked(open_notebook: OpenNotebook, model: ModelServer, *questions: str) -> NotebookPage:
    """A notebook with the results of these questions below them, and the panel open."""
    notebook = open_notebook([LOAD, *(f"%%agent\n{question}" for question in questions)])
    notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    for number, question in enumerate(questions):
        ask(notebook, model, question, 1 + 2 * number)
    return notebook


def on_cell(notebook: NotebookPage, index: int, name: str) -> Locator:
    return notebook.cells.nth(index).get_by_role("button", name=name, exact=True)
