"""Notebooks by the path that the pages of this server know: the history has them as their kernels did."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NotebookPaths:
    """Of a server whose notebooks lie below `root`; empty where they do not lie in files."""

    root: str

    def shown(self, notebook: str | None) -> str | None:
        """Relative to the root, as ``docmanager:open`` takes it; any other notebook as it was recorded."""
        if not self.root or notebook is None or not os.path.isabs(notebook):
            return notebook
        below = os.path.relpath(notebook, self.root)
        return notebook if below.startswith(os.pardir) else below.replace(os.sep, "/")

    def recorded(self, shown: str) -> tuple[str, ...]:
        """All that the history may call a notebook that is shown so."""
        if not self.root or os.path.isabs(shown):
            return (shown,)
        return (shown, os.path.join(self.root, *shown.split("/")))
