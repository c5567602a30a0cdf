"""MCP servers that never answer and that change what they say; what means harm is in test_mcp_hostile.py."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest
from mcp.types import ListToolsResult, Tool, ToolAnnotations

from jupyter_codeagent.tools import mcp
from jupyter_codeagent.tools.mcp import McpServer
from jupyter_codeagent.types.errors import CodeAgentError


def test_a_server_that_never_answers_is_given_up_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "START_TIMEOUT_S", 1.0)
    monkeypatch.setattr(mcp, "STOP_TIMEOUT_S", 4.0)  # the SDK gives the program two seconds to end
    server = McpServer("mute", [sys.executable, "-c", "import time; time.sleep(60)"], "ask", lambda _: None)
    started = time.monotonic()
    with pytest.raises(CodeAgentError, match="did not answer within 1 s"):
        asyncio.run(server.start())
    assert time.monotonic() - started < 20
    assert not server.is_there


class Client:
    """Lists one tool, with the hints that it has now."""

    def __init__(self) -> None:
        self.is_read_only = False

    async def list_tools(self, *, cursor: str | None) -> ListToolsResult:
        hints = ToolAnnotations(read_only_hint=self.is_read_only)
        described = Tool(name="query", input_schema={"type": "object", "properties": {}}, annotations=hints)
        return ListToolsResult(tools=[described])


def test_a_server_that_changes_its_hints_never_loosens_a_policy_and_is_another_function() -> None:
    async def policies() -> list[tuple[str, int]]:
        server, client = McpServer("weather", ["nothing"], "auto", lambda _: None), Client()
        server._client = client  # type: ignore[assignment]
        server._task = asyncio.create_task(asyncio.sleep(60))
        found: list[tuple[str, int]] = []
        for is_read_only in (False, False, True, True):
            client.is_read_only = is_read_only
            await server.refresh()
            found.append((server.tools["query"].stub.policy, id(server.tools["query"].function)))
        server._task.cancel()
        return found

    found = asyncio.run(policies())
    assert [policy for policy, _ in found] == ["ask"] * 4
    assert found[0] == found[1]
    assert found[1] != found[2]
    assert found[2] == found[3]
