"""REST under ``/jupyter-codeagent/``: runs listed, read, exported, decided over and deleted.

Every request is authenticated, authorized and, where it changes something, protected against XSRF by Jupyter
Server. SQLite runs in a thread. Errors are JSON with the one-line `message`, status 400, 404 or 500.
"""

from __future__ import annotations

import asyncio
import functools
import json
import math
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict
from typing import Any, TypeVar, get_args

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from jupyter_codeagent.frontend.display import receipt_bundle
from jupyter_codeagent.frontend.server.libraries import PlotlyHandler
from jupyter_codeagent.frontend.server.notebook_paths import NotebookPaths
from jupyter_codeagent.history import OUTCOMES, HistoryStore, RunFilter, RunRow
from jupyter_codeagent.notebook.cells import cells_from_run, export_notebook, export_script
from jupyter_codeagent.settings.config import read_caps
from jupyter_codeagent.types.errors import CodeAgentError, UnknownRunError, UsageError
from jupyter_codeagent.types.run import CellState, RunStatus
from jupyter_codeagent.types.run_json import run_with_messages
from jupyter_codeagent.types.version import installed_version

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[None]])


def routes(base_url: str, history: HistoryStore) -> list[tuple[str, type[APIHandler], dict[str, HistoryStore]]]:
    run = r"runs/([\w-]+)"
    handlers: tuple[tuple[str, type[APIHandler]], ...] = (
        ("status", StatusHandler),
        ("runs", RunsHandler),
        ("overview", OverviewHandler),
        (run, RunHandler),
        (f"{run}/cells", CellsHandler),
        (f"{run}/export", ExportHandler),
        (f"{run}/state", StateHandler),
        (f"{run}/applied", AppliedHandler),
        ("notebook", NotebookHandler),
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

    @property
    def paths(self) -> NotebookPaths:
        return NotebookPaths(root=os.path.abspath(os.path.expanduser(root)) if (root := self._root()) else "")

    def _root(self) -> str:
        return str(getattr(self.contents_manager, "root_dir", "") or "")

    def wanted(self) -> RunFilter:
        """The conditions in the query.

        Raises
        ------
        UsageError
            A value that no run can have.
        """
        status, outcome = self.get_query_argument("status", ""), self.get_query_argument("outcome", "")
        notebook = self.get_query_argument("notebook", "")
        return RunFilter(
            text=self.get_query_argument("search", ""),
            notebooks=self.paths.recorded(notebook) if notebook else (),
            model=self.get_query_argument("model", "") or None,
            status=self.choice("status", status, get_args(RunStatus)) if status else None,
            outcome=self.choice("outcome", outcome, OUTCOMES) if outcome else None,
            since=self.number("since", 0, digits=12) or None,
        )

    def number(self, name: str, default: int, *, digits: int = 9) -> int:
        text = self.get_query_argument(name, str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= digits):
            raise UsageError(f"{name}={text[:20]!r} is not a number from 0 to {'9' * digits}.")
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
        self.answer({"version": installed_version(), "policy": policy})


class RunsHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        total, rows = await asyncio.to_thread(
            self.history.search,
            self.wanted(),
            limit=self.number("limit", 50),
            offset=self.number("offset", 0),
        )
        shown = self.paths.shown
        self.answer({"total": total, "runs": [asdict(row) | {"notebook": shown(row.notebook)} for row in rows]})

    @web.authenticated
    @authorized
    @reported
    async def delete(self) -> None:
        """All runs of `notebook`, or with ``all=yes`` all; a request that names neither deletes nothing."""
        notebook, everything = self.get_query_argument("notebook", ""), self.get_query_argument("all", "")
        if bool(notebook) == (everything == "yes"):
            raise UsageError("Say which runs to delete: notebook=PATH, or all=yes for all of all notebooks.")
        if notebook:
            deleted = await asyncio.to_thread(self.history.delete_notebook, *self.paths.recorded(notebook))
        else:
            deleted = await asyncio.to_thread(self.history.forget)
        self.answer({"deleted": deleted})


class OverviewHandler(HistoryHandler):
    """What the list of matching runs looks like before its lines are read, and what can be chosen from."""

    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        found = await asyncio.to_thread(self.history.overview, self.wanted())
        self.answer(
            {
                "times": found.times,
                "notebooks": _counted((self.paths.shown(name), count) for name, count in found.notebooks),
                "models": _counted(found.models),
                "outcomes": _counted(found.outcomes),
            }
        )


class RunHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self, run_id: str) -> None:
        run = await asyncio.to_thread(self.history.load, run_id)
        decisions = await asyncio.to_thread(self.history.decisions, run.id)
        record = run_with_messages(run)
        record["request"]["notebook"] = self.paths.shown(run.request.notebook)
        self.answer(record | {"decisions": [asdict(decision) for decision in decisions]})

    @web.authenticated
    @authorized
    @reported
    async def delete(self, run_id: str) -> None:
        await asyncio.to_thread(self.history.delete, run_id)
        self.set_status(204)
        self.finish()


class CellsHandler(HistoryHandler):
    """Cells to insert again: pending, unless the run was accepted as it is; and the receipt of the run."""

    @web.authenticated
    @authorized
    @reported
    async def get(self, run_id: str) -> None:
        run = await asyncio.to_thread(self.history.load, run_id)
        state: CellState = "accepted" if run.cell_state == "accepted" else "pending"
        self.answer({"cells": list(cells_from_run(run, state=state)), "receipt": receipt_bundle(run)})


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


class AppliedHandler(HistoryHandler):
    """The page has this code run in the live kernel, where no agent listens."""

    @web.authenticated
    @authorized
    @reported
    async def post(self, run_id: str) -> None:
        body = self.get_json_body()
        code = body.get("code") if isinstance(body, dict) else None
        if not isinstance(code, str):
            raise UsageError("Send the code that is run in the kernel, as text.")
        await asyncio.to_thread(self.history.note_applied, run_id, code, "panel")
        self.answer({"id": run_id})


class NotebookHandler(HistoryHandler):
    """What the record says of the cells of one notebook, which the page has read from its file.

    The body has its path (`notebook`), the time of its file (`saved_at`, seconds since the epoch), the ids of its
    cells (`cell_ids`) and of the runs to which some of them belong (`run_ids`). The answer has what was decided
    over the runs that were made in this notebook, not in one that it is a copy of (`states`), which of the runs
    are in the history (`known`), and the results that belong into the notebook and are not there (`missing`).
    """

    @web.authenticated
    @authorized
    @reported
    async def post(self) -> None:
        body = self.get_json_body()
        asked = body if isinstance(body, dict) else {}
        notebook, saved_at = asked.get("notebook"), asked.get("saved_at")
        if not isinstance(notebook, str) or not isinstance(saved_at, int | float):
            raise UsageError("Send the path of the notebook, and the time of its file.")
        cell_ids, run_ids = (_texts(asked.get(name)) for name in ("cell_ids", "run_ids"))
        rows = await asyncio.to_thread(self.history.rows, run_ids)
        states = {row.id: row.cell_state for row in rows if await self._made_here(row, notebook)}
        undecided = await asyncio.to_thread(self.history.undecided, self.paths.recorded(notebook), cell_ids)
        missing = [
            asdict(row) | {"notebook": self.paths.shown(row.notebook)}
            for row in undecided
            # A question that was asked after the file was last saved went with its result; what is older and has
            # no cell here belonged to another notebook of this name.
            if row.id not in run_ids
            and (row.cell_id in cell_ids or row.started_at > saved_at)
            and await self._made_here(row, notebook)
        ]
        self.answer({"states": states, "known": [row.id for row in rows], "missing": missing})

    async def _made_here(self, row: RunRow, notebook: str) -> bool:
        """In the notebook of this path, or in one that had another path and is there no more."""
        where = self.paths.shown(row.notebook)
        return where == notebook or (where is not None and not await self._is_there(where))

    async def _is_there(self, path: str) -> bool:
        if os.path.isabs(path):
            return await asyncio.to_thread(os.path.exists, path)
        return bool(await ensure_async(self.contents_manager.file_exists(path)))  # type: ignore[no-untyped-call]


def _texts(value: object) -> list[str]:
    """Raises UsageError for what is no list of texts."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError("Send the ids of the notebook's cells and runs as lists of text.")
    return value


def _counted(values: Iterable[tuple[str | None, int]]) -> list[dict[str, Any]]:
    """The most frequent first; what is shown by the same name counts together."""
    together: Counter[str | None] = Counter()
    for name, count in values:
        together[name] += count
    return [{"name": name, "count": count} for name, count in together.most_common() if name is not None]


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
