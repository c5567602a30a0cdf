"""What is decided over cells is the same in the history, the panel, the cells and the file, by whichever way."""

from __future__ import annotations

import pytest
from browser_console import BrowserConsole
from model_server import ModelServer, code
from notebook_page import OpenNotebook
from playwright.sync_api import expect
from run_cells import agree, asked, on_cell, shows, wait_for_record

pytestmark = pytest.mark.browser


@pytest.mark.long("another situation of what a test beside it proves")
def test_accepted_on_the_cell_in_the_panel_by_key_and_by_command(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A heron?", "A stork?", "A crane?", "An ibis?")
    agree(notebook, "A heron?", "pending", ["", "", "pending", "", "pending", "", "pending", "", "pending"])
    on_cell(notebook, 2, "Accept").click()
    agree(notebook, "A heron?", "accepted", ["", "", "accepted", "", "pending", "", "pending", "", "pending"])

    panel = notebook.open_panel()
    panel.locator(".jp-CodeAgent-pendingList > li").first.get_by_role("button", name="Accept", exact=True).click()
    agree(notebook, "A stork?", "accepted", ["", "", "accepted", "", "accepted", "", "pending", "", "pending"])

    notebook.call("notebook.activeCellIndex = 6; notebook.mode = 'command'; notebook.activate()")
    notebook.page.keyboard.press("Control+F8")
    agree(notebook, "A crane?", "accepted", ["", "", "accepted", "", "accepted", "", "accepted", "", "pending"])

    notebook.call(
        "notebook.activeCellIndex = 8; shared.insertCell(9, {cell_type: 'code', source: '%agent accept'})"
    )
    notebook.run_cell(9)
    agree(notebook, "An ibis?", "accepted", ["", "", *(["accepted", ""] * 4)])


@pytest.mark.long("another situation of what a test beside it proves")
def test_accepted_and_run_in_the_kernel(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    notebook = asked(open_notebook, shared_model, "A kite?")
    on_cell(notebook, 2, "Accept & run").click()
    notebook.page.get_by_role("dialog").get_by_role("button", name="Run").click()
    notebook.wait_until_ran(2)
    agree(notebook, "A kite?", "accepted", ["", "", "accepted"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_applied_by_a_command(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    notebook = asked(open_notebook, shared_model, "A merlin?")
    notebook.call("shared.insertCell(3, {cell_type: 'code', source: '%agent apply'})")
    notebook.run_cell(3)
    panel = notebook.open_panel()
    panel.get_by_role("button", name="Approve", exact=False).first.click()
    notebook.wait_until_ran(3)
    agree(notebook, "A merlin?", "accepted", ["", "", "accepted", ""])


@pytest.mark.long("another situation of what a test beside it proves")
def test_discarded_brought_back_undone_and_done_again(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A finch?")
    on_cell(notebook, 2, "Discard").click()
    agree(notebook, "A finch?", "discarded", ["", ""])
    notebook.command("notebook:undo-cell-action")
    agree(notebook, "A finch?", "pending", ["", "", "pending"])
    notebook.command("notebook:undo-cell-action")  # the insertion
    agree(notebook, "A finch?", "discarded", ["", ""])
    notebook.command("notebook:redo-cell-action")
    agree(notebook, "A finch?", "pending", ["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_discarded_by_a_command_and_brought_back(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    notebook = asked(open_notebook, shared_model, "A raven?")
    notebook.call("shared.insertCell(3, {cell_type: 'code', source: '%agent discard'})")
    notebook.run_cell(3)
    agree(notebook, "A raven?", "discarded", ["", "", ""])
    notebook.command("notebook:undo-cell-action")
    agree(notebook, "A raven?", "pending", ["", "", "pending", ""])


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_pending_cell_that_the_user_deletes_is_discarded_and_one_that_is_moved_is_not(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A robin?")
    notebook.call("notebook.activeCellIndex = 2; notebook.mode = 'command'; notebook.activate()")
    notebook.command("notebook:move-cell-up")
    agree(notebook, "A robin?", "pending", ["", "pending", ""])
    notebook.call("notebook.activeCellIndex = 1")
    notebook.command("notebook:cut-cell")
    agree(notebook, "A robin?", "discarded", ["", ""])
    notebook.command("notebook:paste-cell-below")
    agree(notebook, "A robin?", "pending", ["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_edited_by_the_button_and_by_typing(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    notebook = asked(open_notebook, shared_model, "A swift?", "A swallow?")
    on_cell(notebook, 4, "Edit").click()
    expect(notebook.cells.nth(4).locator(".cm-content")).to_be_focused()
    notebook.wait_for_states(["", "", "pending", "", "edited"])
    wait_for_record(notebook.lab, "A swallow?", "edited")
    shows(notebook.open_panel(), "A swallow?", "edited")
    notebook.cells.nth(2).locator(".cm-content").click()
    notebook.page.keyboard.type("# mine")
    agree(notebook, "A swift?", "edited", ["", "", "edited", "", "edited"])


def test_all_at_once_accepted_or_discarded(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    notebook = asked(open_notebook, shared_model, "A gull?", "A tern?")
    panel = notebook.open_panel()
    panel.get_by_role("button", name="Discard all").click()
    for question in ("A gull?", "A tern?"):
        agree(notebook, question, "discarded", ["", "", ""])
    notebook.command("notebook:undo-cell-action")
    for question in ("A gull?", "A tern?"):
        agree(notebook, question, "pending", ["", "", "pending", "", "pending"])
    panel.get_by_role("button", name="Accept all").click()
    for question in ("A gull?", "A tern?"):
        agree(notebook, question, "accepted", ["", "", "accepted", "", "accepted"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_replaced_by_another_run_of_the_same_question(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "An auk?")
    notebook.call("shared.cells[1].setSource('%%agent\\nA puffin?')")
    shared_model.script(code("'puffin'"))
    notebook.run_cell(1)
    notebook.wait_until_run_ended("A puffin?")
    agree(notebook, "A puffin?", "pending", ["", "", "pending"])
    agree(notebook, "An auk?", "discarded", ["", "", "pending"])


@pytest.mark.long("another situation of what a test beside it proves")
def test_decided_in_one_page_the_other_page_of_the_notebook_shows_it_and_does_not_want_to_be_saved(
    open_notebook: OpenNotebook, shared_model: ModelServer, quiet_console: BrowserConsole
) -> None:
    # JupyterLab's word for a kernel's `comm_close` that is meant for the other tab.
    quiet_console.tolerated.append("Comm not found for comm id")
    first = asked(open_notebook, shared_model, "A wren?", "A dunnock?")
    first.saved()
    second = open_notebook([], name=first.name)
    both = ["", "", "pending", "", "pending"]
    second.wait_for_states(both)
    for question in ("A wren?", "A dunnock?"):
        shows(second.open_panel(), question, "cells pending")
    first.page.bring_to_front()
    on_cell(first, 2, "Accept").click()
    on_cell(first, 4, "Discard").click()
    agree(first, "A wren?", "accepted", ["", "", "accepted", ""])
    second.page.bring_to_front()
    second.wait_for_states(["", "", "accepted", ""])
    assert second.call("return panel.context.model.dirty") is False
    shows(second.open_panel(), "A wren?", "accepted")
    shows(second.open_panel(), "A dunnock?", "discarded")


@pytest.mark.long("another situation of what a test beside it proves")
def test_decided_without_a_kernel_the_next_kernel_and_the_history_know_it(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A bittern?", "A coot?")
    notebook.saved()
    notebook.call("await panel.sessionContext.shutdown()")
    panel = notebook.open_panel()
    expect(panel).to_contain_text("This notebook has no kernel")
    on_cell(notebook, 2, "Accept").click()
    wait_for_record(notebook.lab, "A bittern?", "accepted")
    panel.get_by_role("tab", name="History").click()
    expect(panel.get_by_role("option").filter(has_text="A bittern?")).to_contain_text("accepted")
    on_cell(notebook, 4, "Discard").click()
    wait_for_record(notebook.lab, "A coot?", "discarded")
    expect(panel.get_by_role("option").filter(has_text="A coot?")).to_contain_text("discarded")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_decision_outlives_a_reload_before_the_notebook_was_saved(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = asked(open_notebook, shared_model, "A quail?", "A snipe?")
    notebook.saved()
    on_cell(notebook, 2, "Accept").click()
    on_cell(notebook, 4, "Discard").click()
    wait_for_record(notebook.lab, "A quail?", "accepted")
    wait_for_record(notebook.lab, "A snipe?", "discarded")
    notebook.reload()
    # What was accepted is accepted; what was discarded has come back with the file, and waits again.
    agree(notebook, "A quail?", "accepted", ["", "", "accepted", "", "pending"])
    agree(notebook, "A snipe?", "pending", ["", "", "accepted", "", "pending"])
