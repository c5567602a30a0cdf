"""One page of JupyterLab that browser tests use one after the other: to load it is a third of what a test costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playwright.sync_api import Page, ViewportSize

EMPTY = """async () => {
  const { shell } = window.jupyterapp;
  for (const widget of [...shell.widgets('main')]) widget.dispose();
  // The panel keeps which run was opened and what was searched for.
  const panel = document.getElementById('jupyter-codeagent-panel');
  const press = async what => {
    panel?.querySelector(what)?.click();
    await new Promise(requestAnimationFrame);
  };
  await press('[data-tab=history]');
  await press('[aria-label="All runs"]');
  const isSearched = Boolean(panel?.querySelector('input[type=search]')?.value);
  await press('[data-tab=now]');
  shell.collapseRight();
  shell.collapseLeft();
  shell.activateById('filebrowser');
  sessionStorage.clear();
  // A page that was reloaded restores its tabs, some of them late.
  const [navigation] = performance.getEntriesByType('navigation');
  const isOpen = document.querySelector('.jp-Dialog, .lm-Menu-itemLabel') !== null;
  return navigation.type !== 'reload' && !isSearched && !isOpen;
}"""
HAS_NO_NOTEBOOK = "() => document.querySelector('.jp-NotebookPanel') === null"


@dataclass
class SharedPage:
    """Of one browser; what is not as new when a test is over is closed, and the next test loads another."""

    viewport: ViewportSize
    _page: Page | None = None

    def take(self, server_url: str) -> Page | None:
        """The page that was kept, with no notebook in it, if it is of this server."""
        page = self._page
        if page is not None and not (page.url.startswith(f"{server_url}/") and page.evaluate(HAS_NO_NOTEBOOK)):
            self.close()
        page, self._page = self._page, None
        return page

    def keep_first(self, pages: Sequence[Page], is_as_new: bool) -> None:
        """Keep the first of a test's pages for the next one if nothing went wrong with it; close the others."""
        for page in pages[1 if is_as_new else 0 :]:
            page.close()
        if pages and not pages[0].is_closed():
            self._keep(pages[0])

    def _keep(self, page: Page) -> None:
        page.unroute_all()
        page.set_viewport_size(self.viewport)
        page.emulate_media(media="screen")
        page.mouse.move(0, 0)
        if page.evaluate("() => Boolean(window.jupyterapp)") and page.evaluate(EMPTY):
            self._page = page
        else:
            page.close()

    def close(self) -> None:
        """Nothing of the page is for the next test."""
        if self._page is not None:
            self._page.close()
            self._page = None
