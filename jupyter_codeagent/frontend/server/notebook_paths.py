"""Notebooks by the path that the pages of this server know; the history has the paths of their kernels."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NotebookPaths:
    """Paths of a server whose notebooks are files below `root`; it is empty if they are not files."""

    root: str

    def for_page(self, notebook: str | None) -> str | None:
        """Return the path relative to the root, as ``docmanager:open`` takes it; any other notebook as recorded."""
        if not self.root or notebook is None or not os.path.isabs(notebook):
            return notebook
        below = os.path.relpath(notebook, self.root)
        return notebook if below.startswith(os.pardir) else below.replace(os.sep, "/")

    def recorded(self, page_path: str) -> tuple[str, ...]:
        """Return all names that the history may have for a notebook that is displayed so."""
        if not self.root or os.path.isabs(page_path):
            return (page_path,)
        return (page_path, os.path.join(self.root, *page_path.split("/")))
