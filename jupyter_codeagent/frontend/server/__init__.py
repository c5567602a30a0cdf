"""Jupyter Server extension: the history for the panel, also when no kernel runs; the administrator's policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Register the handlers at the start of Jupyter Server; the first request opens the history."""
    from jupyter_codeagent.frontend.server.handlers import routes
    from jupyter_codeagent.history import HistoryStore

    handlers = routes(app.web_app.settings["base_url"], HistoryStore())
    app.web_app.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]
