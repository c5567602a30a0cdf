"""``/jupyter-codeagent/libraries/plotly``: the script that Plotly's Python package brings, as text.

A chart is drawn with it inside the labextension's closed frame. It is read from the server's own environment:
nothing is downloaded, and nothing but this one file can be asked for.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from jupyter_codeagent.history import HistoryStore

SCRIPT = Path("package_data", "plotly.min.js")
MAX_SCRIPT_BYTES = 32 << 20
NOT_INSTALLED = (
    "Plotly is not installed where the Jupyter server runs, so its charts cannot be drawn. "
    "Run there: pip install plotly. Then click again."
)


def plotly_script() -> str | None:
    """Return the text of the installed script, or None; the package is found without an import of it."""
    spec = importlib.util.find_spec("plotly")
    for directory in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(directory) / SCRIPT
        if path.is_file() and path.stat().st_size <= MAX_SCRIPT_BYTES:
            return path.read_text(encoding="utf-8")
    return None


class PlotlyHandler(APIHandler):
    """The script as plain text, so that no page can load it as a script."""

    auth_resource = "jupyter-codeagent"

    def initialize(self, history: HistoryStore) -> None:
        """Drop the history, which all routes are given and this one does not read."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        text = await asyncio.to_thread(plotly_script)
        if text is None:
            self.set_status(404)
            self.finish(json.dumps({"message": NOT_INSTALLED}))
            return
        self.set_header("X-Content-Type-Options", "nosniff")
        self.finish(text, set_content_type="text/plain; charset=utf-8")
