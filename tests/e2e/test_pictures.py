"""The story that docs/panel.md tells, in a real JupyterLab; its pictures are taken here (`make pictures`)."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_server import Lab, running_lab
from model_server import ModelServer, Reply, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage
from pictures import Picture
from playwright.sync_api import Browser, Locator, Page, expect
from run_examples import example_run

from jupyter_codeagent.history import HistoryStore

pytestmark = pytest.mark.browser

SMALL, LARGE = "qwen2.5-coder:7b", "mistral-small:24b"
LOAD = "%load_ext jupyter_codeagent\nfrom palmerpenguins import load_penguins\npenguins = load_penguins()"
HEAVIEST = "Which species is the heaviest, and by how much?"
TOGETHER = "How strongly do flipper length and body mass go together?"
WRONG = code('penguins.groupby("species")["body_mass"].mean().sort_values(ascending=False)')
RIGHT = code(
    'by_species = penguins.groupby("species")["body_mass_g"]\n'
    'summary = by_species.agg(["count", "mean", "std"]).round(1)\n'
    'summary = summary.sort_values("mean", ascending=False)\n'
    'summary["ahead by"] = summary["mean"].diff(-1).round(1)\n'
    "summary",
    "The column is called `body_mass_g`, in grams.",
)
ONE_FIGURE = code('r = penguins["flipper_length_mm"].corr(penguins["body_mass_g"])\nprint(f"r = {r:.2f}")')
PER_SPECIES = code(
    'for species, group in penguins.groupby("species"):\n'
    '    r = group["flipper_length_mm"].corr(group["body_mass_g"])\n    print(f"{species}: r = {r:.2f}")'
)
OTHER = code(
    'summary = penguins.groupby("species")["body_mass_g"].mean().round(1)\nsummary.sort_values(ascending=False)'
)
EARLIER = (
    ("flights.ipynb", "Join the weather and show delays by visibility.", "failed", 1.0),
    ("flights.ipynb", "Now only for flights from JFK.", "ok", 1.1),
    ("flights.ipynb", "Which 5 carriers have the highest mean departure delay?", "ok", 1.2),
    ("survey_2026.ipynb", "How many answers are missing per question?", "ok", 6.0),
    ("survey_2026.ipynb", "Compare the age groups with a test that fits.", "stopped", 5.9),
    ("flights.ipynb", "Plot the mean arrival delay per month as a bar chart.", "ok", 9.0),
)
"""Notebook, prompt, status, days ago."""
NAME = "penguins.ipynb"


@pytest.fixture
def penguins(tmp_path: Path, browser: Browser, shared_model: ModelServer) -> Iterator[NotebookPage]:
    """A notebook in a JupyterLab with a history of its own, in a window as wide as the pictures."""
    shared_model.models[:] = [{"id": name, "object": "model"} for name in (SMALL, LARGE)]
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": SMALL}
    with running_lab(tmp_path / "lab", environment) as lab:
        written = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        written.cells = [new_code_cell(LOAD)]
        (lab.root / NAME).write_text(json.dumps(written), encoding="utf-8")
        write_history(lab)
        lab.start_session(NAME)
        context = browser.new_context(viewport={"width": 1240, "height": 800}, device_scale_factor=1.5)
        notebook = NotebookPage(page=context.new_page(), lab=lab, name=NAME)
        notebook.open()
        yield notebook
        context.close()
        for session in lab.request("/api/sessions"):
            lab.request(f"/api/sessions/{session['id']}", method="DELETE")


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_the_guide_to_the_panel_tells_and_shows_can_be_done_and_seen(
    penguins: NotebookPage, shared_model: ModelServer
) -> None:
    notebook, page = penguins, penguins.page
    notebook.command("application:toggle-left-area")
    choose_theme(page, "JupyterLab Dark")
    panel = notebook.open_panel()
    widen(page, panel, 380)
    notebook.run_cell(0)
    notebook.wait_until_ran(0)

    ask_and_watch(notebook, panel, shared_model)
    review(notebook, panel, shared_model)
    apply(notebook)
    approve(notebook, panel, shared_model)
    look_back(notebook, panel, shared_model)
    what_the_model_sees(panel)
    explore(notebook, panel)


def ask_and_watch(notebook: NotebookPage, panel: Locator, model: ModelServer) -> None:
    more = threading.Event()
    model.script(WRONG, Reply(RIGHT, piece_s=0.04, until=more, hold_at=30))
    panel.get_by_role("textbox", name="Your question").fill(HEAVIEST)
    ask = panel.get_by_role("button", name="Ask", exact=True)
    expect(ask).to_be_enabled()
    ask.click()
    now = panel.get_by_role("list", name="Steps of this run").locator("> li[aria-current=step]")
    expect(now).to_contain_text("Step 2")
    expect(now).to_contain_text("summary")
    expect(panel.get_by_role("button", name="Stop this run")).to_be_visible()
    Picture("watch").show(panel)
    choose_theme(notebook.page, "JupyterLab Light")
    more.set()
    notebook.wait_for_states(["", "", "pending"])


def review(notebook: NotebookPage, panel: Locator, model: ModelServer) -> None:
    table = notebook.cells.nth(2)
    expect(table).to_contain_text("5076.0")
    expect(panel.get_by_role("button", name="Accept", exact=True)).to_be_visible()
    expect(table.get_by_role("button", name="Accept & run")).to_be_visible()
    bars = notebook.page.get_by_role("toolbar", name="Pending cell of the code agent").all()
    Picture("review").show(panel, *bars, around=notebook.page.locator("#main"))


def apply(notebook: NotebookPage) -> None:
    notebook.cells.nth(2).get_by_role("button", name="Accept & run").click()
    dialog = notebook.page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile("Would create.*by_species.*summary"))
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    Picture("apply").show(dialog.locator(".jp-Dialog-content"))
    dialog.get_by_role("button", name="Run in my kernel").click()
    notebook.wait_for_states(["", "", "accepted"])


def approve(notebook: NotebookPage, panel: Locator, model: ModelServer) -> None:
    model.script(ONE_FIGURE, PER_SPECIES)
    panel.get_by_text("Options", exact=True).click()
    panel.get_by_label("Approval").select_option("ask")
    question = panel.get_by_role("textbox", name="Your question")
    question.fill(TOGETHER)
    Picture("ask").show(panel.get_by_role("form", name="Ask"))
    question.press("Control+Enter")
    card = panel.get_by_role("group", name="Run this in the sandbox?")
    expect(card).to_be_visible()
    card.get_by_label("Why not?").fill("per species, please")
    card.get_by_role("button", name="Reject").click()
    expect(card).to_contain_text("You rejected the previous attempt: per species, please")
    card.get_by_role("button", name="Changes since the last attempt").click()
    expect(card.get_by_role("button", name="Approve")).to_be_enabled()
    Picture("approve").show(card, margin_px=8)
    card.get_by_role("button", name="Approve").click()
    expect(notebook.cells.nth(4)).to_contain_text("Gentoo: r = 0.70")


def look_back(notebook: NotebookPage, panel: Locator, model: ModelServer) -> None:
    page = notebook.page
    panel.get_by_role("tab", name="History").click()
    box = panel.get_by_role("listbox", name="Runs, newest first")
    expect(box.get_by_role("option")).to_have_count(len(EARLIER) + 2)
    Picture("history").show(panel)
    panel.get_by_role("searchbox").fill("heaviest")
    expect(box.get_by_role("option")).to_have_count(1)
    box.get_by_role("option").click()
    expect(panel.get_by_role("button", name="Insert again")).to_be_visible()
    model.script(OTHER)
    notebook.choose("Ask another model")
    panel.get_by_label("Ask the same question of").fill(LARGE)
    panel.get_by_role("button", name="Insert and run").click()
    notebook.wait_for_states(["", "", "accepted", *["", "pending"] * 2])
    panel.get_by_role("button", name=f"Compare with the answer of {LARGE}").click()
    comparison = page.get_by_role("region", name="Comparison of two runs")
    expect(comparison.get_by_label("Code of the second run")).to_contain_text("ascending=False")
    Picture("compare").show(comparison)
    page.get_by_role("tab", name=NAME).click()
    panel.get_by_role("button", name="All runs").scroll_into_view_if_needed()
    Picture("run").show(panel)


def what_the_model_sees(panel: Locator) -> None:
    panel.get_by_role("tab", name="Context").click()
    expect(panel.get_by_label("Statistics")).to_be_checked()
    Picture("context").show(panel)
    panel.get_by_role("tab", name="Model").click()
    expect(panel.get_by_role("button", name=f"Use {LARGE}")).to_be_visible()
    Picture("model").show(panel)


def explore(notebook: NotebookPage, panel: Locator) -> None:
    panel.get_by_role("tab", name="Context").click()
    notebook.call("notebook.activeCellIndex = notebook.widgets.length - 1")
    panel.get_by_role("button", name="Explore penguins").click()
    asked = notebook.cells.filter(has_text="%agent explore penguins")
    expect(asked).to_contain_text("nothing sent, no model used")
    turned = notebook.cells.filter(has_text="import numpy").filter(has_text="body_mass_g falls with bill_depth_mm")
    chart = turned.locator("img")
    chart.scroll_into_view_if_needed()
    expect(chart).to_be_visible()
    Picture("explore").show(turned, around=chart)


def choose_theme(page: Page, name: str) -> None:
    page.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", name)
    light = "true" if name.endswith("Light") else "false"
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", light)


def widen(page: Page, panel: Locator, width_px: int) -> None:
    """Drag the left edge of the panel."""
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] - 2, 400)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - width_px - 2, 400, steps=3)
    page.mouse.up()


def write_history(lab: Lab) -> None:
    """Runs of the days before, recorded as kernels record them."""
    store = HistoryStore(Path(lab.environment["JUPYTER_DATA_DIR"]) / "codeagent" / "history.sqlite")
    for number, (notebook, prompt, status, days) in enumerate(reversed(EARLIER)):
        started = time.time() - days * 86_400
        of = {"request__prompt": prompt, "request__notebook": str(lab.root / notebook), "request__model": SMALL}
        run = example_run(
            id=f"earlier{number:05}", started_at=started, ended_at=started + 4 + number, status=status, **of
        )
        store.save(run, session="earlier")
    store.close()
