"""One notebook in one browser page, with the words of a person for what they do there."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat
from lab_server import Lab
from nbformat import NotebookNode
from playwright.sync_api import Locator, Page, expect

WAIT_S = 150
"""For whatever a page or a kernel shall do: a second or two alone, and half a minute on a machine with much else to
do. No test is about it; see `benchmarks`."""

READY = """() => {
  const widget = window.jupyterapp?.shell.currentWidget;
  const kernel = widget?.sessionContext?.session?.kernel;
  return Boolean(
    widget?.sessionContext?.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle'
  );
}"""


def chromium_path() -> str:
    """Return the browser's program; the first draws the same pages without windows: a sixth less work.

    Raises
    ------
    FileNotFoundError
    """
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise FileNotFoundError("No Chromium on PATH: apt-get install chromium, or run the tests with `make test`.")
    return path


@dataclass
class NotebookPage:
    """A page; waits are for something that happens, within WAIT_S."""

    page: Page
    lab: Lab
    name: str

    def open(self) -> None:
        """Load a page with this notebook."""
        # Collaboration asks over a document that loads slowly, and still does when it is there.
        slow = self.page.get_by_role("dialog").filter(has_text="taking some time to load")
        self.page.add_locator_handler(slow, lambda: slow.get_by_role("button", name="Continue waiting").click())
        self.page.goto(self.lab.page_url(self.name))
        self.page.wait_for_function(READY)

    def open_in_loaded_page(self) -> None:
        """Open the notebook in a page of JupyterLab that has none."""
        self.page.evaluate(
            "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }); }", self.name
        )
        self.page.wait_for_function(READY)

    def picture(self, name: str) -> None:
        """To look at, where CODEAGENT_SCREENSHOTS names a folder."""
        if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
            self.page.screenshot(path=f"{folder}/{name}.png")

    def reload(self) -> None:
        """As the browser's button, while a cell may be running."""
        self.page.reload()
        self.page.wait_for_function(
            "() => Boolean(window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel)"
        )

    def open_panel(self, tab: str = "Now") -> Locator:
        """The side panel, revealed, with one of its tabs selected."""
        panel = self.page.get_by_role("region", name="Code agent")
        if not panel.is_visible():
            self.page.get_by_role("tab", name="Code agent").click()
        expect(panel).to_be_visible()
        panel.get_by_role("tab", name=tab).click()
        return panel

    def choose(self, action: str) -> None:
        """From the menu of what is wanted less often, on the page of a run."""
        self.page.get_by_role("button", name="More actions").click()
        self.page.get_by_role("menuitem", name=action).click()

    def run_cell(self, index: int) -> None:
        """Select a cell and run it, with nothing in between that could select another; does not wait for it."""
        self.page.evaluate(
            """async (index) => {
              const { commands, shell } = window.jupyterapp;
              await commands.execute('notebook:enter-command-mode');
              shell.currentWidget.content.activeCellIndex = index;
              void commands.execute('notebook:run-cell');
            }""",
            index,
        )

    def run_all(self) -> None:
        self.command("notebook:run-all-cells", wait=False)

    def command(self, name: str, wait: bool = True) -> None:
        awaiting = "await" if wait else "void"
        self.page.evaluate(f"async () => {{ {awaiting} window.jupyterapp.commands.execute('{name}'); }}")

    def wait_for_idle(self) -> None:
        """Until the kernel is there, linked to, and free."""
        self.page.wait_for_function(READY)

    def call(self, expression: str) -> Any:
        """JavaScript with `panel` (the notebook), `notebook` (its widget) and `shared` (its model)."""
        names = "const panel = window.jupyterapp.shell.currentWidget, notebook = panel.content"
        return self.page.evaluate(f"async () => {{ {names}, shared = notebook.model.sharedModel; {expression} }}")

    def wait_until_ran(self, index: int) -> None:
        """Until the cell has an execution count: the kernel's status says idle too early."""
        self.page.wait_for_function(
            f"() => window.jupyterapp.shell.currentWidget.content.widgets[{index}].model.executionCount != null",
        )

    def wait_until_run_ended(self, prompt: str) -> None:
        """Until the history has a run of this prompt that is over, whoever hears of it."""
        deadline = time.monotonic() + WAIT_S
        while True:
            runs = self.lab.request("/jupyter-codeagent/runs?limit=20")["runs"]
            found = [run["status"] for run in runs if run["prompt"].strip() == prompt]
            if found and found[0] != "running":
                return
            assert time.monotonic() < deadline, f"{prompt!r} is {found or 'unknown'} after {WAIT_S} s"
            time.sleep(0.2)

    @property
    def cells(self) -> Locator:
        return self.page.locator(".jp-Notebook .jp-Cell")

    @property
    def sources(self) -> Locator:
        """The editors of the cells, without outputs."""
        return self.page.locator(".jp-Notebook .jp-Cell-inputArea")

    def cell_metadata(self) -> list[dict[str, Any]]:
        """The agent's metadata of each cell, empty for the user's own."""
        return list(
            self.page.evaluate(
                "() => window.jupyterapp.shell.currentWidget.content.widgets"
                ".map(cell => cell.model.getMetadata('codeagent') ?? {})"
            )
        )

    def states(self) -> list[str]:
        """State of each cell, empty for the user's own."""
        return [metadata.get("state", "") for metadata in self.cell_metadata()]

    def wait_for_states(self, states: list[str]) -> None:
        """Wait until the cells are so; pending ones until they are drawn, as only then their keys work."""
        expression = (
            "(wanted) => JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets"
            ".map(cell => cell.model.getMetadata('codeagent')?.state ?? '')) === wanted"
        )
        wanted = "[" + ",".join(f'"{state}"' for state in states) + "]"
        self.page.wait_for_function(expression, arg=wanted)
        if "pending" in states:
            self.page.locator(".jp-Notebook.jp-CodeAgent-review").first.wait_for(state="attached")

    def saved(self) -> NotebookNode:
        """Save, then read and validate the file."""
        self.command("docmanager:save")
        notebook: NotebookNode = nbformat.read(self.lab.root / self.name, as_version=4)
        nbformat.validate(notebook)
        return notebook


OpenNotebook = Callable[..., NotebookPage]
"""The fixture `open_notebook`: (sources, name=None) -> page."""
