"""Explore: a press of a button beside a table, and findings wait below as pending cells, each decided by itself."""

from __future__ import annotations

import pytest
from accessible import DARK, LIGHT, set_theme
from model_server import ModelServer
from notebook_page import OpenNotebook
from playwright.sync_api import expect
from run_cells import wait_for_record

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport numpy as np\nimport pandas as pd\n"
    "rng = np.random.default_rng(7)\nsales = rng.normal(100, 10, 600)\n"
    "shop = pd.DataFrame({'region': np.repeat(['north', 'south'], 300), 'sales': sales})\n"
    "shop.loc[300:, 'sales'] += 12"
)


def test_findings_of_a_table_are_decided_each_by_itself_and_the_two_cells_of_one_together_or_one_by_one(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    notebook = open_notebook([LOAD, "'mine'"])
    panel = notebook.open_panel("Context")
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.call("notebook.activeCellIndex = 0")
    panel.get_by_role("button", name="Explore shop").click()
    notebook.wait_for_states(["", "", "pending", "pending", "pending", "pending", ""])
    expect(notebook.cells.nth(1)).to_contain_text("%agent explore shop")
    expect(notebook.cells.nth(1)).to_contain_text("nothing sent, no model used")
    expect(notebook.cells.nth(3)).to_contain_text("shop has 600 rows and 2 columns.")
    expect(notebook.cells.nth(5)).to_contain_text("sales is highest for region south")
    expect(notebook.cells.nth(4).locator("img")).to_be_visible()
    notebook.picture("explored")

    # One bar and one card for the code and the words of a finding, also where they have changed places.
    panel = notebook.open_panel("Now")
    bars = notebook.page.locator(".jp-CodeAgent-cellBar")
    cards = panel.get_by_role("region", name="Pending cells").get_by_role("listitem")
    notebook.call("notebook.activeCellIndex = 2; notebook.mode = 'command'; notebook.activate()")
    notebook.command("notebook:move-cell-down")
    expect(notebook.cells.nth(2)).to_contain_text("shop has 600 rows and 2 columns.")
    expect(bars).to_have_count(2)
    expect(bars.first).to_contain_text("Pending: code and text")
    expect(cards).to_have_count(2)
    expect(cards.last).to_contain_text("explore shop: sales is highest for region south")
    expect(cards.last.locator(".jp-CodeAgent-answer")).to_contain_text("sales is highest for region south")
    notebook.picture("explored-panel")

    # What is decided there holds for both; undo brings both back.
    notebook.cells.nth(2).get_by_role("button", name="Discard", exact=True).click()
    notebook.wait_for_states(["", "", "pending", "pending", ""])
    notebook.command("notebook:undo-cell-action")
    notebook.wait_for_states(["", "", "pending", "pending", "pending", "pending", ""])
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", "accepted", "pending", "pending", ""])

    # One of them alone is edited or deleted, and the other waits.
    words = notebook.cells.nth(5)
    words.hover()
    words.get_by_role("button", name="Discard this cell").click()
    notebook.wait_for_states(["", "", "accepted", "accepted", "pending", ""])
    notebook.command("notebook:undo-cell-action")
    notebook.wait_for_states(["", "", "accepted", "accepted", "pending", "pending", ""])
    words.hover()
    words.get_by_role("button", name="Edit", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", "accepted", "pending", "edited", ""])
    notebook.cells.nth(4).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", "accepted", "accepted", "edited", ""])
    wait_for_record(notebook.lab, "explore shop: sales is highest for region south and lowest for north", "edited")
    assert shared_model.requests == []


@pytest.mark.parametrize(
    ("charts", "mark", "texts"),
    [
        pytest.param(
            *("altair", ".mark-symbol path", ".mark-text text"),
            marks=pytest.mark.long("test_interactive_charts.py draws one of Altair, test_charts_drawn.py all"),
        ),
        ("plotly", ".scatterlayer .point", ".gtitle, .gtitle-subtitle, .xtitle, .ytitle, .ytick text, .xtick text"),
    ],
)
def test_a_finding_is_drawn_by_altair_or_plotly_in_its_closed_frame_and_can_be_read_in_a_dark_page(
    open_notebook: OpenNotebook, charts: str, mark: str, texts: str
) -> None:
    notebook = open_notebook([f"{LOAD}\n%config CodeAgent.charts = '{charts}'", "%agent explore shop"])
    notebook.run_all()
    notebook.wait_for_states(["", "", "pending", "pending", "pending", "pending"])
    cell = notebook.cells.nth(4)
    cell.get_by_role("button", name="Show interactive chart").click()
    content = cell.locator(".jp-CodeAgent-interactiveHost > iframe").content_frame.frame_locator("iframe")
    expect(content.locator(mark)).to_have_count(2)
    shown = " ".join(content.locator(texts).all_text_contents())
    for text in ("sales is highest for region south and lowest for north", "n = 600", "north", "region"):
        assert text in shown
    background = content.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert background == "rgb(255, 255, 255)", "its texts are dark, whatever the theme"
    for theme in (LIGHT, DARK):
        set_theme(notebook.page, theme)
        content.locator(mark).first.scroll_into_view_if_needed()
        notebook.picture(f"explored-{charts}-{theme.split()[-1].lower()}")
    set_theme(notebook.page, LIGHT)
