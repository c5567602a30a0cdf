"""What the README promises of a run in JupyterLab, in a real browser with the real sandbox."""

from __future__ import annotations

import re

import pytest
from model_server import ModelServer, Reply, code
from notebook_page import OpenNotebook
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
ASK = "%%agent\nWhat is the sum of n by city?"
SUM = code("df.groupby('city')['n'].sum()")


def test_questions_become_pending_cells_below_them_that_are_decided_on_the_cell_and_in_the_panel(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM, code("df['n'].max()"), code("df['n'].min()"))
    notebook = open_notebook(
        [LOAD, ASK, "%%agent\nThe largest?", "%%agent\nThe smallest?", "'the user’s own cell'"]
    )
    panel = notebook.open_panel()
    notebook.run_all()
    notebook.wait_for_states(["", *(["", "pending"] * 3), ""])
    inserted = notebook.cells.nth(2)
    expect(inserted).to_contain_text("df.groupby('city')['n'].sum()")
    expect(inserted.locator(".jp-OutputArea-output")).to_contain_text("Oslo    5")
    expect(notebook.cells.nth(1)).to_contain_text(" · copied df · statistics → this machine")
    expect(panel.get_by_role("article", name="Run").first).to_contain_text("The smallest?")
    saved = notebook.saved()
    assert saved.cells[2].metadata.codeagent.role == "code"
    assert saved.cells[2].metadata.tags == ["codeagent"]
    assert saved.cells[2].execution_count is None

    inserted.get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", *(["", "pending"] * 2), ""])
    largest = panel.get_by_role("listitem").filter(has_text="df['n'].max()")
    largest.get_by_role("button", name="Edit").click()
    expect(notebook.cells.nth(4).locator(".cm-content")).to_be_focused()
    assert notebook.states()[4] == "edited"
    panel.get_by_role("listitem").filter(has_text="df['n'].min()").get_by_role("button", name="Discard").click()
    expect(notebook.sources.filter(has_text="df['n'].min()")).to_have_count(0)


def test_under_ask_the_cell_waits_and_the_edited_code_runs_while_it_is_still_running(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM)
    notebook = open_notebook([LOAD, ASK.replace("%%agent", "%%agent --approve ask"), "1"])
    panel = notebook.open_panel()
    notebook.run_all()
    card = panel.get_by_role("group", name="Run this in the sandbox?")
    expect(card).to_be_visible()
    assert notebook.cell_metadata()[1] == {}  # nothing is inserted while it waits
    editor = card.locator(".cm-content")
    editor.click()
    notebook.page.keyboard.press("Control+A")
    notebook.page.keyboard.type("df['n'].sum() * 100")
    card.get_by_role("button", name="Approve").click()
    notebook.wait_for_states(["", "", "pending", ""])
    expect(notebook.cells.nth(2)).to_contain_text("700")


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_rejected_proposal_runs_and_inserts_nothing(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM)
    notebook = open_notebook([LOAD, ASK.replace("%%agent", "%%agent --approve ask")])
    panel = notebook.open_panel()
    notebook.run_all()
    panel.get_by_role("button", name="Reject").click()
    expect(notebook.cells.nth(1)).to_contain_text("Rejected by you")
    expect(notebook.cells.nth(1).locator("[data-mime-type='application/vnd.jupyter.stderr']")).to_have_count(0)
    assert notebook.states() == ["", ""]


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_receipt_is_one_line_and_a_click_tells_each_request(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM)
    notebook = open_notebook([LOAD, ASK])
    notebook.page.set_viewport_size({"width": 1000, "height": 900})
    notebook.command("application:toggle-left-area")
    notebook.open_panel()
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    receipt = notebook.cells.nth(1).locator(".jp-CodeAgent-receipt")
    expect(receipt.locator("summary")).to_be_visible()
    box = receipt.bounding_box()
    assert box is not None
    assert box["height"] < 30
    request = receipt.get_by_text("for a program: the question, names and types of variables")
    expect(request).to_be_hidden()
    receipt.locator("summary").click()
    expect(request).to_be_visible()


@pytest.mark.long("another situation of what a test beside it proves")
def test_stop_in_the_panel_ends_the_run_at_once(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.script(Reply(text=code("x = 1\n" * 2000), piece_s=0.05))
    notebook = open_notebook([LOAD, ASK])
    panel = notebook.open_panel()
    notebook.run_all()
    expect(panel.get_by_role("group", name="Code of the model so far")).to_contain_text("x = 1")
    panel.get_by_role("button", name="Stop this run").click()
    expect(notebook.cells.nth(1)).to_contain_text("Stopped by you")
    assert notebook.states() == ["", ""]


@pytest.mark.long("another situation of what a test beside it proves")
def test_stop_in_the_panel_ends_code_that_loops(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.script(code("while True:\n    pass"))
    notebook = open_notebook([LOAD, ASK])
    panel = notebook.open_panel()
    notebook.run_all()
    expect(panel.get_by_text("Running in the sandbox")).to_be_visible()
    panel.get_by_role("button", name="Stop this run").click()
    expect(notebook.cells.nth(1)).to_contain_text("Stopped by you")


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_error_is_repaired_without_the_user_seeing_anything_but_the_final_cell(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("1 / 0"), SUM)
    notebook = open_notebook([LOAD, ASK])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    expect(notebook.cells.nth(1)).to_contain_text("1 failed attempt repaired in the sandbox")
    expect(notebook.cells.filter(has_text="ZeroDivisionError").filter(has_not_text="Sent to")).to_have_count(0)


@pytest.mark.long("another situation of what a test beside it proves")
def test_running_a_cell_again_replaces_its_pending_cell_and_keeps_an_accepted_one(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(SUM, code("df['n'].max()"), code("df['n'].min()"))
    notebook = open_notebook([LOAD, "%%agent --rerun\nSomething about n?"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    notebook.run_cell(1)
    expect(notebook.sources.filter(has_text="df['n'].max()")).to_have_count(1)
    assert notebook.states() == ["", "", "pending"]
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted"])
    notebook.run_cell(1)
    expect(notebook.sources.filter(has_text="df['n'].min()")).to_have_count(1)
    assert sorted(notebook.states()) == ["", "", "accepted", "pending"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_live_kernel_is_not_changed_by_a_run(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.script(code("df['n'] = 0\nnew_name = 5\ndf"))
    check = "print('live', df['n'].tolist(), 'new_name' in globals())"
    notebook = open_notebook([LOAD, ASK, check])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", ""])
    notebook.wait_until_ran(3)
    expect(notebook.cells.nth(3)).to_contain_text("live [1, 2, 4] False")


@pytest.mark.long("test_hostile_outputs.py has these payloads among a hundred others")
def test_scripts_in_sandbox_output_never_run_in_the_browser(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    html = "<b>kept</b><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    shared_model.script(
        code(
            "from IPython.display import HTML, Javascript, display\n"
            f"display(HTML({html!r}))\ndisplay(Javascript('window.pwned = 1'))\nprint('end')"
        )
    )
    notebook = open_notebook([LOAD, ASK])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    expect(notebook.cells.nth(2)).to_contain_text("kept")
    assert notebook.page.evaluate("() => window.pwned") is None


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_plot_is_shown_as_an_image(open_notebook: OpenNotebook, shared_model: ModelServer) -> None:
    shared_model.script(code("import matplotlib.pyplot as plt\nplt.bar(df['city'], df['n'])\nplt.show()"))
    notebook = open_notebook([LOAD, ASK])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending"])
    expect(notebook.cells.nth(2).locator("img")).to_have_attribute("src", re.compile("^data:image/png"))


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_follow_up_builds_on_the_variables_of_the_run_before(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code("totals = df.groupby('city')['n'].sum()\ntotals"), code("totals.max()"))
    notebook = open_notebook([LOAD, ASK, "%%agent\nand the largest of them?"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", "", "pending"])
    expect(notebook.cells.nth(4)).to_contain_text("5")
    told = [message["content"] for message in shared_model.requests[1]["messages"]]
    assert any("totals = df.groupby" in text for text in told)
