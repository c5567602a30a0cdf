"""REST under ``/jupyter-codeagent/``: runs listed, read, exported, decided over and deleted.

Every request is authenticated, authorized and, where it changes something, protected against XSRF by Jupyter
Server. SQLite runs in a thread. Errors are JSON with the one-line `message`, status 400, 404 or 500.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar, get_args

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

import jupyter_codeagent
from jupyter_codeagent.cells import cells_from_run, export_notebook, export_script
from jupyter_codeagent.config import read_caps
from jupyter_codeagent.errors import CodeAgentError, UnknownRunError, UsageError
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.record import run_to_json
from jupyter_codeagent.server.libraries import PlotlyHandler
from jupyter_codeagent.values import CellState, RunStatus

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[None]])


def routes(base_url: str, history: HistoryStore) -> list[tuple[str, type[APIHandler], dict[str, HistoryStore]]]:
    run = r"runs/([\w-]+)"
    handlers: tuple[tuple[str, type[APIHandler]], ...] = (
        ("status", StatusHandler),
        ("runs", RunsHandler),
        (run, RunHandler),
        (f"{run}/cells", CellsHandler),
        (f"{run}/export", ExportHandler),
        (f"{run}/state", StateHandler),
        ("libraries/plotly", PlotlyHandler),
    )
    return [
        (url_path_join(base_url, "jupyter-codeagent", path), handler, {"history": history})
        for path, handler in handlers
    ]


def reported(method: Handler) -> Handler:
    """Our own errors become an answer; any other is Jupyter Server's to log and to answer with 500."""

    @functools.wraps(method)
    async def inner(self: HistoryHandler, *args: str) -> None:
        try:
            await method(self, *args)
        except CodeAgentError as error:
            self.set_status(_http_status(error))
            self.finish(json.dumps({"message": str(error)}))

    return inner  # type: ignore[return-value]


def _http_status(error: CodeAgentError) -> int:
    if isinstance(error, UnknownRunError):
        return 404
    return 400 if isinstance(error, UsageError) else 500


class HistoryHandler(APIHandler):
    """What all of them share."""

    auth_resource = "jupyter-codeagent"
    """For an authorizer that tells users apart; Jupyter Server's own lets every authenticated user."""

    def initialize(self, history: HistoryStore) -> None:
        self.history = history

    def answer(self, value: dict[str, Any]) -> None:
        try:
            self.finish(json.dumps(value, allow_nan=False))
        except ValueError:  # NaN in an output's JSON; a browser refuses the whole answer for it
            self.finish(json.dumps(_without_nan(value)))

    def number(self, name: str, default: int) -> int:
        text = self.get_query_argument(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise UsageError(f"{name}={text[:20]!r} is not a number from 0 to 999999999.")
        return int(text)

    def choice(self, name: str, value: Any, choices: tuple[str, ...]) -> Any:
        if value not in choices:
            raise UsageError(f"{name}={str(value)[:40]!r} is not one of {', '.join(choices)}.")
        return value


class StatusHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        try:
            policy = await asyncio.to_thread(read_caps)
        except UsageError as error:  # the file is at fault, not the request
            raise CodeAgentError(str(error)) from error
        self.answer({"version": jupyter_codeagent.__version__, "policy": policy})


class RunsHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        status = self.get_query_argument("status", "")
        total, rows = await asyncio.to_thread(
            self.history.search,
            text=self.get_query_argument("search", ""),
            notebook=self.get_query_argument("notebook", "") or None,
            status=self.choice("status", status, get_args(RunStatus)) if status else None,
            limit=self.number("limit", 50),
            offset=self.number("offset", 0),
        )
        self.answer({"total": total, "runs": [asdict(row) for row in rows]})


class RunHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self, run_id: str) -> None:
        self.answer(run_to_json(await asyncio.to_thread(self.history.load, run_id)))

    @web.authenticated
    @authorized
    @reported
    async def delete(self, run_id: str) -> None:
        await asyncio.to_thread(self.history.delete, run_id)
        self.set_status(204)
        self.finish()


class CellsHandler(HistoryHandler):
    """Cells to insert again: pending, unless the run was accepted as it is."""

    @web.authenticated
    @authorized
    @reported
    async def get(self, run_id: str) -> None:
        run = await asyncio.to_thread(self.history.load, run_id)
        state: CellState = "accepted" if run.cell_state == "accepted" else "pending"
        self.answer({"cells": list(cells_from_run(run, state=state))})


class ExportHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self, run_id: str) -> None:
        form = self.choice("format", self.get_query_argument("format", "ipynb"), ("ipynb", "py"))
        run = await asyncio.to_thread(self.history.load, run_id)
        self.set_header("Content-Disposition", f'attachment; filename="codeagent-{run_id}.{form}"')
        if form == "ipynb":
            text, content_type = json.dumps(export_notebook(run), indent=1), "application/x-ipynb+json"
        else:
            text, content_type = export_script(run), "text/x-python; charset=utf-8"
        self.finish(text, set_content_type=content_type)


class StateHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def post(self, run_id: str) -> None:
        body = self.get_json_body()
        state = self.choice("state", body.get("state") if isinstance(body, dict) else None, get_args(CellState))
        await asyncio.to_thread(self.history.set_cell_state, run_id, state, "panel")
        self.answer({"id": run_id, "cell_state": state})


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
