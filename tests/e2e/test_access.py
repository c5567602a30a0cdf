"""Panel, cells and dialogs for everybody: axe's rules in all themes, and the keyboard alone."""

from __future__ import annotations

import pytest
from accessible import Inspector, focus
from model_server import ModelServer, Reply
from notebook_page import OpenNotebook
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)
LINES = "\n".join(f"total_{line} = df['n'].sum() + {line}  # line {line}" for line in range(80))
LONG = f"The cities are few.\n```python\n{LINES}\ntotal_79\n```\n"
WRONG = "```python\ndf.groupby('citty')['n'].sum()\n```"
RIGHT = "```python\ndf.groupby('city')['n'].sum()\n```"


@pytest.mark.long("another situation of what a test beside it proves")
def test_every_state_of_panel_cells_and_dialogs_passes_axe_in_light_dark_and_high_contrast(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply(WRONG), Reply(RIGHT))
    notebook = open_notebook(
        [LOAD, "%%agent --approve ask\nWhat is the sum of n by city?", "1 / 0", "%%agent\nAnd the mean?"]
    )
    page = notebook.page
    panel = notebook.open_panel()
    inspector = Inspector(page)
    expect(panel).to_contain_text("not loaded")
    inspector.look("not loaded")
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    expect(panel).to_contain_text("Ready.")
    notebook.run_cell(1)
    decision = panel.get_by_role("group", name="Run this in the sandbox?")
    approve = decision.get_by_role("button", name="Approve")
    approve.click()
    expect(panel.get_by_role("list", name="Steps of this run")).to_contain_text("KeyError")
    expect(decision).to_be_visible()
    panel.get_by_role("button", name="Sandbox:").click()
    inspector.look("decision")
    approve.click()
    expect(panel.get_by_role("button", name="Accept", exact=True)).to_be_visible()
    notebook.run_cell(len(notebook.states()) - 2)
    expect(page.get_by_role("button", name="Fix with agent")).to_be_visible()
    shared_model.script(Reply(status=500, message="out of memory"))
    refine = page.get_by_role("textbox", name="Refine this result")
    refine.fill("only the largest")
    refine.press("Enter")
    expect(page.locator(".jp-CodeAgent-refineWords")).to_contain_text("out of memory")
    inspector.look("pending and failed, not refined")
    page.locator(".jp-CodeAgent-cellBar").get_by_role("button", name="Accept & run").click()
    expect(page.locator(".jp-Dialog")).to_be_visible()
    inspector.look("yes to the own kernel")
    page.keyboard.press("Escape")
    page.locator(".jp-CodeAgent-cellBar").get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_role("button", name="Written by the code agent").first).to_be_visible()
    shared_model.script(Reply(LONG, piece_s=0.05))
    notebook.run_cell(len(notebook.states()) - 1)
    expect(panel.get_by_role("group", name="Code of the model so far")).to_contain_text("# line 3")
    inspector.look("streaming")
    panel.get_by_role("button", name="Stop this run").click()
    expect(panel.get_by_role("article", name="Run").first).to_contain_text("stopped")
    panel.get_by_text("Options", exact=True).click()
    inspector.look("stopped, options")
    panel.get_by_role("tab", name="Context").click()
    panel.locator(".jp-CodeAgent-variable summary").first.click()
    expect(panel.get_by_role("checkbox", name="city")).to_be_visible()
    inspector.look("context")
    panel.get_by_role("tab", name="Model").click()
    expect(panel).to_contain_text("in use")
    inspector.look("model")
    panel.get_by_role("tab", name="History").click()
    runs = panel.get_by_role("listbox", name="Runs, newest first")
    asked = runs.get_by_role("option").nth(2)  # those of other tests are below it
    expect(asked).to_contain_text("What is the sum of n by city?")
    inspector.look("history")
    asked.click()
    panel.get_by_role("button", name="More actions").wait_for()
    inspector.look("one run")
    panel.get_by_role("button", name="More actions").press("Enter")
    expect(page.get_by_role("menuitem", name="Delete")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel.get_by_role("button", name="More actions")).to_be_focused()
    notebook.choose("Delete")
    expect(page.locator(".jp-Dialog")).to_be_visible()
    inspector.look("delete")
    page.keyboard.press("Escape")
    notebook.choose("Compare with")
    runs.get_by_role("option").first.click()
    expect(page.get_by_role("region", name="Comparison of two runs")).to_be_visible()
    inspector.look("comparison")
    assert not inspector.complaints, "\n".join(inspector.complaints or [])


def test_a_run_is_approved_reviewed_and_accepted_with_the_keyboard_alone_and_the_focus_is_always_seen(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(Reply(RIGHT))
    notebook = open_notebook([LOAD, "%%agent --approve ask\nWhat is the sum of n by city?", "1 + 1"])
    page, keys = notebook.page, notebook.page.keyboard
    panel = notebook.open_panel()
    notebook.run_cell(0)
    expect(panel).to_contain_text("Ready.")
    notebook.call("notebook.activate(); notebook.activeCellIndex = 1; notebook.mode = 'command';")

    def stands() -> str:
        """Name of what has the focus, which can be seen and is not lost."""
        place = focus(page)
        assert not place["lost"], place
        assert place["ring"] or not place["ours"], place
        return str(place["name"])

    def walk_to(name: str, key: str = "Tab", limit: int = 40) -> None:
        for _ in range(limit):
            if stands() == name:
                return
            keys.press(key)
        raise AssertionError(f"{limit} times {key} did not lead to {name!r}, but to {stands()!r}")

    keys.press("Control+Enter")
    decision = panel.get_by_role("group", name="Run this in the sandbox?")
    expect(decision.get_by_role("button", name="Approve")).to_be_enabled()
    by_palette(page, "Show the Code Agent")
    expect(panel.get_by_role("tab", name="Now")).to_be_focused()
    # Along the tabs and back, then into the panel, to the decision.
    for tab in ("Context", "History", "Model"):
        keys.press("ArrowRight")
        assert stands().startswith(tab)
    keys.press("Home")
    assert stands().startswith("Now")
    expect(decision.get_by_role("button", name="Approve")).to_be_enabled()  # a moment after it is drawn
    walk_to("Approve")
    keys.press("Enter")
    expect(decision).to_be_hidden()
    expect(panel.get_by_role("button", name="Accept", exact=True)).to_be_visible()
    assert focus(page)["ours"], focus(page)
    stands()
    # To the cell that waits, along its bar, and back to the cell.
    keys.press("F8")
    expect(page.locator(".jp-Notebook .jp-mod-active.jp-CodeAgent-pending")).to_have_count(1)
    notebook.wait_for_states(["", "", "pending", ""])
    stands()
    walk_to("Discard")
    keys.press("ArrowRight")
    assert stands() == "Accept"
    keys.press("Enter")
    notebook.wait_for_states(["", "", "accepted", ""])
    stands()


def by_palette(page: Page, command: str) -> None:
    """As a person does who knows no shortcut but that of the palette."""
    page.keyboard.press("Control+Shift+C")
    page.keyboard.type(command)
    page.locator(".lm-CommandPalette-item.lm-mod-active", has_text=command).wait_for()
    page.keyboard.press("Enter")
