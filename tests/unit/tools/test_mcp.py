"""A connection to an MCP server that never comes about."""

from __future__ import annotations

import asyncio
import sys
import time

import pytest

from jupyter_codeagent.errors import CodeAgentError
from jupyter_codeagent.tools import mcp
from jupyter_codeagent.tools.mcp import McpServer


def test_a_server_that_never_answers_is_given_up_and_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "START_TIMEOUT_S", 1.0)
    monkeypatch.setattr(mcp, "STOP_TIMEOUT_S", 4.0)  # the SDK gives the program two seconds to end
    server = McpServer("mute", [sys.executable, "-c", "import time; time.sleep(60)"], "ask", lambda _: None)
    started = time.monotonic()
    with pytest.raises(CodeAgentError, match="did not answer within 1 s"):
        asyncio.run(server.start())
    assert time.monotonic() - started < 20
    assert not server.is_there
