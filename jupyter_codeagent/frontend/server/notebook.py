"""The record of the cells of one notebook."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import ensure_async
from tornado import web

from jupyter_codeagent.frontend.server.base import HistoryHandler, reported
from jupyter_codeagent.history import RunRow
from jupyter_codeagent.types.errors import UsageError


class NotebookHandler(HistoryHandler):
    """The record of the cells of one notebook, which the page has read from its file.

    The body has its path (`notebook`), the time of its file (`saved_at`, seconds since the epoch), the ids of its
    cells (`cell_ids`) and of the runs to which some of them belong (`run_ids`). The answer has the decisions over
    the runs that were made in this notebook, not in one that it is a copy of (`states`), which of the runs are in
    the history (`known`), and the results that belong into the notebook and are not there (`missing`).
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
            asdict(row) | {"notebook": self.paths.for_page(row.notebook)}
            for row in undecided
            # A question that was asked after the file was last saved was lost with its result; an older one that
            # has no cell here belonged to another notebook of this name.
            if row.id not in run_ids
            and (row.cell_id in cell_ids or row.started_at > saved_at)
            and await self._made_here(row, notebook)
        ]
        self.answer({"states": states, "known": [row.id for row in rows], "missing": missing})

    async def _made_here(self, row: RunRow, notebook: str) -> bool:
        """Check whether a run was made in the notebook of this path, or in one whose former path is gone."""
        where = self.paths.for_page(row.notebook)
        return where == notebook or (where is not None and not await self._is_there(where))

    async def _is_there(self, path: str) -> bool:
        if os.path.isabs(path):
            return await asyncio.to_thread(os.path.exists, path)
        return bool(await ensure_async(self.contents_manager.file_exists(path)))  # type: ignore[no-untyped-call]


def _texts(value: object) -> list[str]:
    """Return the value as a list of texts; raise UsageError if it is not one."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UsageError("Send the ids of the notebook's cells and runs as lists of text.")
    return value
