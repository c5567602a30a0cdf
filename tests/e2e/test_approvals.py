"""A person decides: what they are told before, with the keyboard, and what is recorded of it."""

from __future__ import annotations

import re

import pytest
from model_server import ModelServer, code, serving
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\ntotals = [1, 2]\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_no_with_a_reason_brings_another_attempt_whose_changes_are_shown_and_that_is_edited_and_approved(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    first = code("totals = df['n'].mean()\nprint(totals)")
    second = code("totals = df['n'].median()\nprint(totals)")
    shared_model.script(first, second)
    notebook = open_notebook([LOAD, "%%agent --approve ask\nOverwrite totals with the middle of n.", "1"])
    panel = notebook.open_panel()
    notebook.run_all()
    card = panel.get_by_role("group", name="Run this in the sandbox?")
    expect(card).to_be_visible()
    assert not card.evaluate("card => card.contains(document.activeElement)")
    expect(card).to_contain_text("Would overwrite")
    expect(card).to_contain_text("list of 2")
    expect(card).to_contain_text("DataFrame 3x2")
    notebook.picture("approval_first")

    notebook.command("jupyter-codeagent:review")
    expect(card.get_by_role("heading")).to_be_focused()
    notebook.page.keyboard.press("Enter")
    card.get_by_label("Why not?").fill("use the median")
    notebook.page.keyboard.press("Enter")
    expect(card.get_by_role("button", name="Approve")).to_be_visible()  # nothing was decided by Enter
    assert len(shared_model.requests) == 1
    card.get_by_role("button", name="Reject").click()

    expect(card).to_contain_text("You rejected the previous attempt: use the median")
    assert "use the median" in shared_model.requests[1]["messages"][-1]["content"]
    card.get_by_role("button", name="Changes since the last attempt").click()
    difference = card.get_by_label("Changes since the last attempt")
    expect(difference).to_contain_text("- totals = df['n'].mean()")
    expect(difference).to_contain_text("+ totals = df['n'].median()")
    notebook.picture("approval_second")
    card.get_by_role("button", name="Code", exact=True).click()
    editor = card.locator(".cm-content")
    editor.click()
    notebook.page.keyboard.press("Control+End")
    notebook.page.keyboard.press("Shift+Enter")  # a new line, and neither a yes nor the next cell
    notebook.page.keyboard.type("print(totals * 100)")
    expect(card).to_contain_text("your version will run")
    expect(editor).to_contain_text("print(totals * 100)")
    notebook.picture("approval_edited")
    card.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "", "pending", ""])
    expect(notebook.cells.nth(2)).to_contain_text("200")
    panel.get_by_text("Step 2").click()
    expect(panel).to_contain_text(re.compile(r"Approved by you in the panel · .+ · edited by you"))


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_is_allowed_for_longer_than_once_is_listed_in_words_and_each_is_taken_back_by_a_press(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("print(send('Oslo'), len(trips.collect()))"))
    declare = (
        "import pathlib, polars as pl\nfrom jupyter_codeagent import agent_tool\n"
        "pathlib.Path('trips-of-the-north.csv').write_text('km,min\\n1,2\\n')\n"
        "trips = pl.scan_csv('trips-of-the-north.csv')\n"
        "@agent_tool\ndef send(to: str) -> str:\n    return 'sent'"
    )
    question = "%%agent --approve ask --vars trips\nHow many trips?"
    notebook = open_notebook([LOAD, declare, question, f"{question} Again."])
    panel = notebook.open_panel()
    notebook.run_all()
    approve = panel.get_by_role("button", name="Approve")
    files = panel.get_by_role("group", name="Let the sandbox read your files?")
    expect(files).to_contain_text("An approval lasts until you revoke it or the kernel shuts down.")
    approve.click()
    run = panel.get_by_role("group", name="Run this in the sandbox?")
    run.get_by_label("all further code from this notebook in the sandbox").check()
    notebook.picture("allow_all_further_code")
    approve.click()
    call = panel.get_by_role("group", name="Call your function in YOUR kernel?")
    call.get_by_label("all calls to send() in this notebook").check()
    approve.click()
    notebook.wait_for_states(["", "", "", "pending", "", "pending"])  # nothing was asked for the second
    allowed = panel.get_by_role("region", name="Allowed until you revoke it")
    items = allowed.get_by_role("listitem")
    expect(items).to_have_count(3)
    expect(items.nth(0)).to_contain_text("reading trips-of-the-north.csv in the sandbox")
    expect(items.nth(1)).to_contain_text("all further code from this notebook in the sandbox")
    expect(items.nth(2)).to_contain_text("all calls to send() in this notebook")
    allowed.scroll_into_view_if_needed()
    notebook.picture("allowed_light")
    notebook.page.evaluate(
        "() => window.jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    notebook.picture("allowed_dark")

    allowed.get_by_role("button", name="Revoke: all further code").click()
    allowed.get_by_role("button", name="Revoke: all calls to send()").click()
    expect(items).to_have_count(1)
    notebook.run_cell(4)
    expect(run).to_be_visible()
    run.get_by_role("button", name="Reject").click()
    allowed.get_by_role("button", name="Revoke: reading").click()
    expect(allowed).to_have_count(0)


def test_before_apply_the_dialog_lists_the_live_names_it_would_create_or_overwrite_and_the_focus_is_on_cancel(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("df['double'] = df['n'] * 2\ntotals = df['n'].sum()\nfresh = 1\nprint(totals)"))
    notebook = open_notebook([LOAD, "%%agent\nThe sum of n, as in\ntotals = df['n'].sum()"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    notebook.cells.nth(2).get_by_role("button", name="Accept & run").click()
    dialog = notebook.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text(re.compile("Would create.*fresh"))
    expect(dialog).to_contain_text(re.compile("Would overwrite.*totals.*list of 2"))
    expect(dialog).to_contain_text(re.compile("Would change in place.*df.*DataFrame 3x2"))
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    notebook.picture("apply_dialog")
    notebook.page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    assert notebook.states()[2] == "pending"

    notebook.cells.nth(2).get_by_role("button", name="Accept & run").click()
    dialog.get_by_role("button", name="Run in my kernel").click()
    notebook.wait_for_states(["", "", "accepted"])
    notebook.wait_until_ran(2)
    expect(notebook.cells.nth(2)).to_contain_text("7")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_server_that_a_cell_names_is_asked_for_in_the_panel_and_gets_nothing_before_the_yes(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    with serving() as other:
        other.script(code("print(df['n'].sum())"))
        elsewhere = other.url.replace("127.0.0.1", "127.1")  # taken for the address of another machine
        notebook = open_notebook([LOAD, f"%%agent --base-url {elsewhere}\nThe sum of n?"])
        panel = notebook.open_panel()
        notebook.run_all()
        card = panel.get_by_role("group", name="Send your prompts to this model server?")
        expect(card).to_be_visible()
        expect(card).to_contain_text(elsewhere.removesuffix("/v1"))
        expect(card).to_contain_text("this notebook names it")
        expect(card).to_contain_text("An approval lasts until you revoke it or the kernel shuts down.")
        notebook.picture("approval_server")
        assert other.headers == []
        card.get_by_role("button", name="Approve").click()
        notebook.wait_for_states(["", "", "pending"])
        expect(notebook.cells.nth(1)).to_contain_text("Sent to another machine: 127.1:")
        assert other.requests
