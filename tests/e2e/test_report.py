"""Report: a press of a button, and a page of what was accepted that reads on a phone, on paper, in the dark."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from accessible import AXE
from model_server import ModelServer, code
from notebook_page import OpenNotebook
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = pytest.mark.browser

LOAD = (
    "%load_ext jupyter_codeagent\nimport numpy as np\nimport pandas as pd\n"
    "rng = np.random.default_rng(7)\nsales = rng.normal(100, 10, 600)\n"
    "shop = pd.DataFrame({'region': np.repeat(['north', 'south'], 300), 'sales': sales})\n"
    "shop.loc[300:, 'sales'] += 12\nwait = 0"
)
WIDE = "pd.DataFrame([range(100, 140)] * 3).rename(columns='column_{}'.format)"
SLOW = "import time\ntime.sleep(wait)\nprint('waited')"
PHONE, PAPER, DESK = 360, 700, 1280
"""Widths in pixels: of a phone, of A4 within its margins, of a window."""
VIOLATIONS = """async () => {
  // Tables of pandas have headers without a text; results are below the headings of the notebook, if it has some.
  const rules = { 'empty-table-header': { enabled: false }, 'heading-order': { enabled: false } };
  const found = await axe.run(document, { rules });
  return found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`));
}"""
FOLDED = """() => [...document.querySelectorAll('details > :not(summary)')]
  .map(node => node.getBoundingClientRect().height)"""


@pytest.fixture
def reader(profile: BrowserContext) -> Iterator[Page]:
    """Whoever was sent the page: a tab that knows nothing of JupyterLab."""
    page = profile.new_page()
    yield page
    page.close()


def sideways(page: Page) -> int:
    """How many pixels the page is wider than its window."""
    return int(page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth"))


def picture(page: Page, name: str) -> None:
    """To look at, where CODEAGENT_SCREENSHOTS names a folder."""
    if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def test_what_was_accepted_becomes_a_page_that_reads_on_a_phone_on_paper_and_in_the_dark(
    open_notebook: OpenNotebook, shared_model: ModelServer, reader: Page
) -> None:
    shared_model.script(code(WIDE))
    notebook = open_notebook([LOAD, "%%agent\nA *wide* table of shop, please <b>now</b>?"])
    panel = notebook.open_panel("Context")
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    notebook.wait_for_states(["", "", "pending"])
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    panel.get_by_role("button", name="Explore shop").click()
    notebook.wait_for_states(["", "", "accepted", "", *["pending"] * 4])
    for finding in (4, 6):
        notebook.cells.nth(finding).get_by_role("button", name="Accept", exact=True).click()
    notebook.wait_for_states(["", "", "accepted", "", *["accepted"] * 4])

    panel = notebook.open_panel("Now")
    panel.get_by_role("button", name="Report", exact=True).click()
    made = notebook.cells.filter(has_text="%agent report")
    expect(made).to_contain_text("Reproduced: all 3 results came out the same on")
    name = notebook.name.replace(".ipynb", "-report.html")
    expect(made).to_contain_text(f"wrote {notebook.lab.root / name}")
    expect(panel.get_by_role("button", name="Report", exact=True)).to_be_visible()
    notebook.picture("report-made")

    reader.goto((notebook.lab.root / name).as_uri())
    expect(reader.get_by_role("heading", level=1)).to_have_text(notebook.name.removesuffix(".ipynb"))
    expect(reader.get_by_text("Reproduced: all 3 results")).to_be_visible()
    expect(reader.get_by_role("navigation").get_by_role("listitem")).to_have_count(3)
    expect(reader.get_by_role("img")).to_be_visible()
    expect(reader.get_by_text("code: no model (template)")).to_have_count(2)
    assert "cell-id=" in str(reader.get_by_role("link", name="cell 3").first.get_attribute("href"))
    reader.get_by_text("Code", exact=True).first.click()
    expect(reader.locator("details pre").first).to_be_visible()

    reader.evaluate(AXE.read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        for width in (PHONE, DESK):
            reader.set_viewport_size({"width": width, "height": 800})
            reader.emulate_media(color_scheme=scheme)
            picture(reader, f"report-{scheme}-{width}")
            assert sideways(reader) == 0, (scheme, width)
            assert reader.evaluate(VIOLATIONS) == [], (scheme, width)
    reader.set_viewport_size({"width": PAPER, "height": 1000})
    reader.emulate_media(media="print", color_scheme="dark")
    picture(reader, "report-print")
    assert sideways(reader) == 0, "no table is wider than the paper"
    assert min(reader.evaluate(FOLDED)) > 0, "what is folded on the screen is open on paper"
    assert reader.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
        reader.pdf(path=f"{folder}/report.pdf", format="A4")


def test_a_report_is_stopped_from_the_panel_and_nothing_is_written(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    shared_model.script(code(SLOW))
    notebook = open_notebook([LOAD, "%%agent\nHow long is wait?"])
    notebook.run_cell(0)
    notebook.wait_until_ran(0)
    notebook.run_cell(1)
    notebook.wait_for_states(["", "", "pending"])
    notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
    notebook.call("shared.cells[0].setSource('wait = 600')")
    notebook.run_cell(0)
    notebook.wait_for_idle()

    panel = notebook.open_panel("Now")
    panel.get_by_role("button", name="Report", exact=True).click()
    made = notebook.cells.filter(has_text="%agent report")
    expect(made).to_contain_text("running in the sandbox")
    notebook.picture("report-under-way")
    panel.get_by_role("button", name="Stop the report").click()
    expect(made).to_contain_text("Stopped by you; no report was written.")
    expect(panel.get_by_role("button", name="Report", exact=True)).to_be_visible()
    notebook.picture("report-stopped")
    stem = notebook.name.removesuffix(".ipynb")
    assert [path.name for path in notebook.lab.root.iterdir() if stem in path.name] == [notebook.name]
