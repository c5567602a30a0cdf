"""REST under ``/jupyter-codeagent/``: lists, reads, exports, decides over and deletes runs.

Every request is authenticated, authorized and, where it changes something, protected against XSRF by Jupyter
Server. SQLite runs in a thread. Errors are JSON with the one-line `message`, status 400, 404 or 500.

"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, get_args

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import url_path_join
from tornado import web

from jupyter_codeagent.frontend.display import receipt_bundle
from jupyter_codeagent.frontend.server.base import HistoryHandler, reported
from jupyter_codeagent.frontend.server.libraries import PlotlyHandler
from jupyter_codeagent.frontend.server.notebook import NotebookHandler
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.notebook.export import export_notebook, export_script
from jupyter_codeagent.settings.enforcement import refusal_of
from jupyter_codeagent.settings.policy import Policy, read_policy
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.types.run import CellState
from jupyter_codeagent.types.run_json import run_with_messages
from jupyter_codeagent.types.version import installed_version


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


class StatusHandler(HistoryHandler):
    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        policy = await _policy()
        refusal = refusal_of(policy, "apply", "Running the code of a result in your kernel")
        self.answer({"version": installed_version(), "policy": dict(policy.rules), "apply_refusal": refusal})


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
        for_page = self.paths.for_page
        self.answer({"total": total, "runs": [asdict(row) | {"notebook": for_page(row.notebook)} for row in rows]})

    @web.authenticated
    @authorized
    @reported
    async def delete(self) -> None:
        """Delete all runs of `notebook`, or with ``all=yes`` all; a request that names neither deletes nothing."""
        notebook, everything = self.get_query_argument("notebook", ""), self.get_query_argument("all", "")
        if bool(notebook) == (everything == "yes"):
            raise UsageError("Say which runs to delete: notebook=PATH, or all=yes for those of all notebooks.")
        if notebook:
            deleted = await asyncio.to_thread(self.history.delete_notebook, *self.paths.recorded(notebook))
        else:
            deleted = await asyncio.to_thread(self.history.forget)
        self.answer({"deleted": deleted})


class OverviewHandler(HistoryHandler):
    """An overview of the matching runs before the list is read, and the values that the filters offer."""

    @web.authenticated
    @authorized
    @reported
    async def get(self) -> None:
        found = await asyncio.to_thread(self.history.overview, self.wanted())
        self.answer(
            {
                "times": found.times,
                "notebooks": _counted((self.paths.for_page(name), count) for name, count in found.notebooks),
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
        record["request"]["notebook"] = self.paths.for_page(run.request.notebook)
        self.answer(record | {"decisions": [asdict(decision) for decision in decisions]})

    @web.authenticated
    @authorized
    @reported
    async def delete(self, run_id: str) -> None:
        await asyncio.to_thread(self.history.delete, run_id)
        self.set_status(204)
        self.finish()


class CellsHandler(HistoryHandler):
    """Cells to insert again (pending, unless the run was accepted unedited), and the receipt of the run."""

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
    """A record that the page runs this code in the live kernel, which has no agent to record it."""

    @web.authenticated
    @authorized
    @reported
    async def post(self, run_id: str) -> None:
        body = self.get_json_body()
        code = body.get("code") if isinstance(body, dict) else None
        if not isinstance(code, str):
            raise UsageError("Send the code that is run in the kernel, as text.")
        if refusal := refusal_of(await _policy(), "apply", f"Running the code of run {run_id[:6]} in your kernel"):
            raise UsageError(refusal)
        await asyncio.to_thread(self.history.note_applied, run_id, code, "panel")
        self.answer({"id": run_id})


async def _policy() -> Policy:
    try:
        return await asyncio.to_thread(read_policy)
    except UsageError as error:  # the file is at fault, not the request
        raise CodeAgentError(str(error)) from error


def _counted(values: Iterable[tuple[str | None, int]]) -> list[dict[str, Any]]:
    """Count values by the name that is displayed for them, the most frequent first."""
    together: Counter[str | None] = Counter()
    for name, count in values:
        together[name] += count
    return [{"name": name, "count": count} for name, count in together.most_common() if name is not None]
