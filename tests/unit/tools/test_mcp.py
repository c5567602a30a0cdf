"""MCP servers that never answer, that change what they say, and whose schemas reach for more."""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from pathlib import Path

import pytest
from mcp.types import ListToolsResult, Tool, ToolAnnotations

from jupyter_codeagent.errors import CodeAgentError
from jupyter_codeagent.tools import mcp
from jupyter_codeagent.tools.mcp import McpServer, checker_of


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


def test_a_schema_of_a_server_fetches_nothing_and_takes_no_time(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"enum": ["the-secret"]}')
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.3)
        for reference in (f"http://127.0.0.1:{listening.getsockname()[1]}/x", (tmp_path / "secret.json").as_uri()):
            checker_of({"type": "object", "properties": {"v": {"$ref": reference}}})({"v": "x"})
        with pytest.raises(TimeoutError):
            listening.accept()
    started = time.monotonic()
    checker_of({"properties": {"v": {"pattern": "^(a+)+$"}}})({"v": "a" * 60 + "!"})
    checker_of({"properties": {"v": {"patternProperties": {"^(a+)+$": {}}}}})({"v": "a" * 60 + "!"})
    checker_of({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False})({"a" * 60 + "!": 1})
    assert time.monotonic() - started < 2


def test_what_a_schema_says_of_itself_is_still_checked() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"n": {"$ref": "#/$defs/count"}},
        "$defs": {"count": {"type": "integer", "minimum": 1}},
    }
    checker_of(schema)({"n": 1})
    with pytest.raises(TypeError, match="less than the minimum"):
        checker_of(schema)({"n": 0})
