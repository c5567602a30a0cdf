"""The History tab in a real JupyterLab, on runs that were written to its history directly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lab_server import Lab
from notebook_page import OpenNotebook
from playwright.sync_api import expect
from run_examples import example_run

from jupyter_codeagent.history import HistoryStore

pytestmark = pytest.mark.browser

NOTEBOOK = "history_story.ipynb"
RUNS = 400


def test_the_history_is_searched_walked_through_compared_and_deleted_by_keyboard(
    open_notebook: OpenNotebook, lab: Lab
) -> None:
    page = open_notebook(["flights = 1", "print(2)"], NOTEBOOK)
    cell_id = json.loads((lab.root / NOTEBOOK).read_text())["cells"][1]["id"]
    seed(lab, cell_id)
    panel = page.open_panel()
    panel.get_by_role("tab", name="History").click()
    box = panel.get_by_role("listbox", name="Runs, newest first")
    panel.get_by_label("Only this notebook").check()
    expect(panel.get_by_text(f"{RUNS} runs", exact=True)).to_be_visible()

    # Only what is in sight is drawn, and the keyboard reaches all of it.
    box.focus()
    box.press("End")
    expect(box.get_by_role("option", name="Question number 0,")).to_be_visible()
    assert box.get_by_role("option").count() < 60
    assert box.get_by_role("option", name="Question number 0,").get_attribute("aria-posinset") == str(RUNS)

    # A word of the code is found, shown and marked; the run opens and leads back to its line.
    panel.get_by_role("searchbox").fill("column_17.mean")
    expect(box.get_by_role("option")).to_have_count(1)
    expect(box.locator("mark")).to_have_text("Column_17.mean")
    box.focus()
    box.press("Enter")
    expect(panel.get_by_role("button", name="Insert again")).to_be_visible()
    page.page.keyboard.press("Escape")
    expect(box).to_be_focused()

    # Its notebook opens at the cell that asked; both answers to one prompt stand beside each other.
    panel.get_by_role("searchbox").fill("asked twice")
    expect(box.get_by_role("option")).to_have_count(2)
    box.get_by_role("option").first.click()
    panel.get_by_role("button", name="Open notebook").click()
    page.page.wait_for_function("() => window.jupyterapp.shell.currentWidget.content.activeCellIndex === 1")
    panel.get_by_role("button", name="Compare with the answer of small").click()
    comparison = page.page.get_by_role("region", name="Comparison of two runs")
    expect(comparison.get_by_label("Code of the second run")).to_contain_text("y = 1")
    assert comparison.locator("[data-only]:visible").all_inner_texts() == ["x = 1\n", "y = 1\n"]

    # Asked again of another model: a new cell below, with the prompt as it was.
    page.choose("Ask another model")
    panel.get_by_label("Ask the same question of").fill("third")
    panel.get_by_role("button", name="Insert and run").click()
    expect(page.sources.nth(2)).to_contain_text("%%agent --model third --new")
    expect(page.sources.nth(2)).to_contain_text("This was asked twice.")

    # Nothing is deleted without a yes, and then only what was named.
    panel.get_by_role("button", name="All runs").click()
    panel.get_by_role("searchbox").fill("")
    panel.get_by_role("button", name="Delete this notebook’s runs").click()
    dialog = page.page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Delete all {RUNS} runs of this notebook?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.page.keyboard.press("Enter")
    expect(panel.get_by_text(f"{RUNS} runs", exact=True)).to_be_visible()
    panel.get_by_role("button", name="Delete this notebook’s runs").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(panel.get_by_text("No runs match.")).to_be_visible()


def seed(lab: Lab, cell_id: str) -> None:
    """Runs of the notebook, recorded under its path on the disk as a kernel does."""
    store = HistoryStore(Path(lab.environment["JUPYTER_DATA_DIR"]) / "codeagent" / "history.sqlite")
    of_notebook = {"request__notebook": str(lab.root / NOTEBOOK), "request__cell_id": cell_id}
    for number in range(RUNS - 2):
        changes = {"request__prompt": f"Question number {number}", "code": f"df.Column_{number}.mean()"}
        store.save(
            example_run(id=f"story{number:04}", started_at=1_790_000_000.0 + number, **changes, **of_notebook),
            session="seed",
        )
    for model, code in (("small", "y = 1\nprint(2)"), ("large", "x = 1\nprint(2)")):
        changes = {"request__prompt": "This was asked twice.", "request__model": model, "code": code}
        store.save(
            example_run(id=f"story-{model}", started_at=1_790_009_000.0, **changes, **of_notebook), session="seed"
        )
    store.close()
