"""One notebook in one browser page, with the words of a person for what they do there."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nbformat
from lab_server import Lab
from nbformat import NotebookNode
from playwright.sync_api import Locator, Page, expect

READY = """() => {
  const widget = window.jupyterapp?.shell.currentWidget;
  const kernel = widget?.sessionContext?.session?.kernel;
  return Boolean(
    widget?.sessionContext?.isReady && kernel?.connectionStatus === 'connected' && kernel.status === 'idle'
  );
}"""


@dataclass
class NotebookPage:
    """A page; times are limits, nothing sleeps."""

    page: Page
    lab: Lab
    name: str

    def open(self) -> None:
        """Load Lab on this notebook, in a workspace of its own."""
        self.page.goto(f"{self.lab.url}/lab/workspaces/{uuid.uuid4().hex[:8]}/tree/{self.name}")
        self.page.wait_for_function(READY, timeout=60_000)

    def reload(self) -> None:
        """As the browser's button, while a cell may be running."""
        self.page.reload()
        self.page.wait_for_function(
            "() => Boolean(window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel)"
        )

    def open_panel(self) -> Locator:
        """The side panel, revealed."""
        panel = self.page.get_by_role("region", name="Code agent")
        if not panel.is_visible():
            self.page.get_by_role("tab", name="Code agent").click()
        expect(panel).to_be_visible()
        return panel

    def run_cell(self, index: int) -> None:
        """Select a cell and run it; does not wait."""
        self.command("notebook:enter-command-mode")
        self.page.evaluate(f"() => {{ window.jupyterapp.shell.currentWidget.content.activeCellIndex = {index}; }}")
        self.command("notebook:run-cell", wait=False)

    def run_all(self) -> None:
        self.command("notebook:run-all-cells", wait=False)

    def command(self, name: str, wait: bool = True) -> None:
        awaiting = "await" if wait else "void"
        self.page.evaluate(f"async () => {{ {awaiting} window.jupyterapp.commands.execute('{name}'); }}")

    def wait_until_ran(self, index: int, timeout_s: float = 60) -> None:
        """Until the cell has an execution count: the kernel's status says idle too early."""
        self.page.wait_for_function(
            f"() => window.jupyterapp.shell.currentWidget.content.widgets[{index}].model.executionCount != null",
            timeout=timeout_s * 1000,
        )

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

    def wait_for_states(self, states: list[str], timeout_s: float = 60) -> None:
        expression = (
            "(wanted) => JSON.stringify(window.jupyterapp.shell.currentWidget.content.widgets"
            ".map(cell => cell.model.getMetadata('codeagent')?.state ?? '')) === wanted"
        )
        wanted = "[" + ",".join(f'"{state}"' for state in states) + "]"
        self.page.wait_for_function(expression, arg=wanted, timeout=timeout_s * 1000)

    def saved(self) -> NotebookNode:
        """Save, then read and validate the file."""
        self.command("docmanager:save")
        notebook: NotebookNode = nbformat.read(self.lab.root / self.name, as_version=4)
        nbformat.validate(notebook)
        return notebook


OpenNotebook = Callable[..., NotebookPage]
"""The fixture `open_notebook`: (sources, name=None) -> page."""
