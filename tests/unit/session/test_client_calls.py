"""Calls of MCP clients that are made several times at once, and cancelled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session.client_calls import ClientCalls
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run import AgentRequest, AgentRun


def test_the_cells_of_a_run_are_inserted_once_however_often_they_are_asked_for_at_once(tmp_path: Path) -> None:
    inserted: list[object] = []

    async def insert(message: Any, *, session: object) -> dict[str, Any]:
        inserted.append(message)
        await asyncio.sleep(0.01)
        return {"cell_ids": ["c"]}

    run_log = RunLog(HistoryStore(tmp_path / "history.sqlite"), session_id="s")
    request = AgentRequest(prompt="editor (MCP): 1", model="", server="", client="editor")
    run_log.write(AgentRun(id="abc", request=request, status="ok", started_at=1.0, code="1"))
    parts: dict[str, Any] = {
        "settings": lambda: SimpleNamespace(clients=True),
        "live_context": None,
        "runs": None,
        "run_log": run_log,
        "link": SimpleNamespace(is_open=True, insert=insert, send=lambda _: None),
    }

    async def asked() -> list[object]:
        calls = ClientCalls(**parts)
        cancelled = asyncio.create_task(calls.answer("editor", "insert_cells", {"run_id": "abc"}))
        await asyncio.sleep(0.005)
        cancelled.cancel()
        several = (calls.answer("editor", "insert_cells", {"run_id": "abc"}) for _ in range(5))
        return await asyncio.gather(*several, return_exceptions=True)

    answers = asyncio.run(asked())
    assert len(inserted) == 1
    assert sum(isinstance(answer, UsageError) for answer in answers) == 5
