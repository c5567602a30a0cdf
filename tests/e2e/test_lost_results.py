"""What is in the history and not in the notebook is offered in the panel, and one press brings it back."""

from __future__ import annotations

import shutil
import threading

import pytest
from browser_console import BrowserConsole
from lab_server import Lab
from model_server import ModelServer, Reply, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Locator, expect
from run_cells import LOAD, ask, asked, on_cell, shows, wait_for_record

pytestmark = pytest.mark.browser


def offered(panel: Locator) -> Locator:
    """The section of results that are not in the notebook."""
    return panel.get_by_role("region", name="Not in the notebook")


def reloaded(notebook: NotebookPage, *questions: str) -> Locator:
    """The page loaded again, unsaved; its panel, once it offers these."""
    notebook.reload()
    panel = notebook.open_panel()
    for question in questions:
        expect(offered(panel)).to_contain_text(question)
    return panel


def test_a_result_that_a_reload_took_is_offered_with_what_it_found_and_comes_back_below_its_question(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA lynx?", "'below'"])
    notebook.saved()
    notebook.run_cell(0)
    ask(notebook, shared_model, "A lynx?", 1)
    panel = reloaded(notebook, "A lynx?")
    assert notebook.states() == ["", "", ""]
    shows(panel, "A lynx?", "not in the notebook")
    expect(offered(panel).get_by_role("group", name="Beginning of the result")).to_have_text("7")
    offered(panel).get_by_role("button", name="Insert again").click()
    notebook.wait_for_states(["", "", "pending", ""])
    expect(notebook.cells.nth(2)).to_contain_text("len('A lynx?')")
    expect(offered(panel)).to_have_count(0)
    shows(panel, "A lynx?", "cells pending")
    wait_for_record(notebook.lab, "A lynx?", "pending")
    notebook.saved()
    notebook.reload()
    notebook.wait_for_states(["", "", "pending", ""])
    panel = notebook.open_panel()
    shows(panel, "A lynx?", "cells pending")
    expect(offered(panel)).to_have_count(0)


def test_a_question_whose_page_was_reloaded_during_its_run_gets_the_receipt_when_the_run_has_ended(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA marten?"])
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    gate = threading.Event()
    shared_model.script(Reply(text=code("len('A marten?')"), until=gate))
    notebook.run_cell(1)
    shared_model.wait_until_asked()
    question = notebook.cells.nth(1)
    expect(question).to_contain_text("the model is writing")
    notebook.saved()
    notebook.reload()
    notebook.open_panel()
    expect(question).to_contain_text("the model is writing")
    gate.set()
    notebook.wait_for_states(["", "", "pending"])
    expect(question.locator(".jp-CodeAgent-receipt")).to_contain_text("✓")
    expect(question).not_to_contain_text("the model is writing")
    notebook.picture("receipt-after-reload")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_result_whose_kernel_and_question_are_gone_too_comes_back_below_the_active_cell(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    notebook = open_notebook([LOAD, "'below'"])
    notebook.saved()
    panel = notebook.open_panel()
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    shared_model.script(code("len('wolf')"))
    panel.get_by_role("textbox", name="Your question").fill("A wolf?")
    panel.get_by_role("button", name="Ask", exact=True).click()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.wait_until_run_ended("A wolf?")
    for session in lab.request("/api/sessions"):
        lab.request(f"/api/sessions/{session['id']}", method="DELETE")
    lab.start_session(notebook.name)
    panel = reloaded(notebook, "A wolf?")
    assert notebook.states() == ["", ""]
    offered(panel).get_by_role("button", name="Insert again").click()
    notebook.wait_for_states(["", "pending", ""])
    expect(offered(panel)).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_several_lost_results_come_back_at_once_each_below_its_question_or_are_not_offered_any_more(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA bear?", "%%agent\nA boar?", "%%agent\nA deer?"])
    notebook.saved()
    notebook.run_cell(0)
    for number, question in enumerate(("A bear?", "A boar?", "A deer?")):
        ask(notebook, shared_model, question, 1 + 2 * number)
    panel = reloaded(notebook, "A bear?", "A boar?", "A deer?")
    boar = offered(panel).get_by_role("listitem").filter(has_text="A boar?")
    boar.get_by_role("button", name="Discard", exact=True).click()
    expect(boar).to_have_count(0)
    wait_for_record(notebook.lab, "A boar?", "discarded")
    offered(panel).get_by_role("button", name="Insert all again").click()
    notebook.wait_for_states(["", "", "pending", "", "", "pending"])
    expect(offered(panel)).to_have_count(0)
    notebook.reload()  # what was discarded is not offered by another page either
    panel = notebook.open_panel()
    expect(offered(panel)).to_contain_text("A bear?")
    expect(offered(panel)).not_to_contain_text("A boar?")


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_the_user_deleted_is_not_offered_but_can_be_had_at_its_run(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A fox?")
    notebook.call("notebook.activeCellIndex = 2")
    notebook.command("notebook:delete-cell")
    notebook.wait_for_states(["", ""])
    panel = notebook.open_panel()
    shows(panel, "A fox?", "discarded")
    expect(offered(panel)).to_have_count(0)
    panel.get_by_role("article", name="Run").get_by_role("button", name="Insert again").click()
    notebook.wait_for_states(["", "", "pending"])
    shows(panel, "A fox?", "cells pending")
    wait_for_record(notebook.lab, "A fox?", "pending")
    expect(panel.get_by_role("article", name="Run").get_by_role("button", name="Insert again")).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_accepted_result_that_was_lost_comes_back_accepted_by_one_press_or_when_its_question_runs_again(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nAn otter?"])
    notebook.saved()
    notebook.run_cell(0)
    ask(notebook, shared_model, "An otter?", 1)
    on_cell(notebook, 2, "Accept").click()
    wait_for_record(notebook.lab, "An otter?", "accepted")
    notebook.reload()
    panel = notebook.open_panel()
    shows(panel, "An otter?", "accepted")
    expect(offered(panel)).to_have_count(0)
    notebook.run_cell(1)  # from the record: the model is not asked
    notebook.wait_for_states(["", "", "accepted"])
    expect(notebook.cells.nth(1)).to_contain_text("replayed, model not called")
    notebook.run_cell(1)
    expect(notebook.cells.nth(1)).to_contain_text("its cells are already in the notebook")
    assert notebook.states() == ["", "", "accepted"]
    shows(panel, "An otter?", "accepted")
    notebook.call("notebook.activeCellIndex = 2")
    notebook.command("notebook:delete-cell")
    panel.get_by_role("article", name="Run").get_by_role("button", name="Insert again").click()
    notebook.wait_for_states(["", "", "accepted"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_notebook_that_is_put_back_to_its_file_is_offered_what_it_lost(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA badger?"])
    notebook.saved()
    panel = notebook.open_panel()
    notebook.run_cell(0)
    ask(notebook, shared_model, "A badger?", 1)
    notebook.call("await panel.context.revert()")
    notebook.wait_for_states(["", ""])
    expect(offered(panel)).to_contain_text("A badger?")
    shows(panel, "A badger?", "not in the notebook")
    offered(panel).get_by_role("button", name="Insert again").click()
    notebook.wait_for_states(["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_notebook_closed_while_a_question_runs_has_its_result_when_it_is_opened_in_the_same_page(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    gate = threading.Event()
    notebook = open_notebook([LOAD, "%%agent\nA hedgehog?"])
    notebook.saved()
    notebook.run_cell(0)
    shared_model.script(Reply(text=code("len('hedgehog')"), until=gate))
    notebook.run_cell(1)
    shared_model.wait_until_asked()
    notebook.saved()
    notebook.call("panel.dispose()")
    gate.set()
    notebook.wait_until_run_ended("A hedgehog?")
    notebook.page.evaluate(
        "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }); }", notebook.name
    )
    notebook.wait_for_states(["", "", "pending"])
    panel = notebook.open_panel()
    shows(panel, "A hedgehog?", "cells pending")
    expect(offered(panel)).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_other_page_of_a_notebook_does_not_offer_what_came_into_the_first(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    quiet_console.tolerated.append("Comm not found for comm id")
    first = open_notebook([LOAD, "%%agent\nA mole?"])
    first.saved()
    second = open_notebook([], name=first.name)
    panel = second.open_panel()
    first.page.bring_to_front()
    first.run_cell(0)
    ask(first, shared_model, "A mole?", 1)
    second.page.bring_to_front()
    shows(panel, "A mole?", "not in the notebook")
    expect(offered(panel)).to_have_count(0)
    # Whoever wants it here has it, with the same id, so that the one does not become two.
    panel.get_by_role("article", name="Run").get_by_role("button", name="Insert again").click()
    second.wait_for_states(["", "", "pending"])
    ids = "return shared.cells.map(cell => cell.id)"
    assert second.call(ids) == first.call(ids)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_renamed_notebook_is_offered_its_result_and_a_copy_is_not(
    open_notebook: OpenNotebook, shared_model: ModelServer, lab: Lab
) -> None:
    notebook = open_notebook([LOAD, "%%agent\nA vole?"])
    notebook.saved()
    copy = notebook.name.replace(".ipynb", "-copy.ipynb")
    shutil.copy(lab.root / notebook.name, lab.root / copy)
    notebook.run_cell(0)
    ask(notebook, shared_model, "A vole?", 1)

    copied = open_notebook([], name=copy)
    panel = copied.open_panel()
    copied.run_cell(0)
    expect(panel).to_contain_text("Ready. Write a question about your data")
    expect(offered(panel)).to_have_count(0)

    renamed = notebook.name.replace(".ipynb", "-renamed.ipynb")
    (lab.root / notebook.name).rename(lab.root / renamed)
    notebook.page.close()
    again = open_notebook([], name=renamed)
    panel = again.open_panel()
    expect(offered(panel)).to_contain_text("A vole?")
    offered(panel).get_by_role("button", name="Insert again").click()
    again.wait_for_states(["", "", "pending"])
