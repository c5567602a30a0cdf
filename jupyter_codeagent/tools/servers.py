"""The MCP servers of one notebook, and all tools together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jupyter_codeagent.tools.mcp import LIST_TIMEOUT_S, McpServer, Run
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.text import safe

MAX_REASON_CHARS = 120
MAX_NAMED = 5


class McpServers:
    """The servers of a notebook; async methods belong to one event loop."""

    def __init__(self, run: Run) -> None:
        """`run` waits on the main thread for a coroutine of the loop."""
        self._run = run
        self._servers: dict[str, McpServer] = {}

    @property
    def servers(self) -> Mapping[str, McpServer]:
        return dict(self._servers)

    def functions(self, name: str) -> dict[str, Callable[..., Any]]:
        """Return the functions of a server, as the live kernel can call them; none if there is no such server."""
        server = self._servers.get(name)
        return {tool.name: tool.function for tool in server.tools.values()} if server is not None else {}

    async def add(self, name: str, target: Sequence[str], policy: ToolPolicy) -> McpServer:
        """Start a server, in place of one of the same name; raise CodeAgentError if that fails."""
        if not name.isidentifier():
            raise UsageError(f"{name!r} is not a valid server name: use a name like that of a variable.")
        server = McpServer(name, target, policy, self._run)
        await server.start()
        before = self._servers.get(name)
        self._servers[name] = server  # in the same position: which server's function has a name does not change
        if before is not None:
            await before.stop()
        return server

    async def remove(self, name: str) -> None:
        """Stop and remove a server; raise UsageError if none has this name."""
        server = self._servers.pop(name, None)
        if server is None:
            known = f"running: {', '.join(self._servers)}" if self._servers else "none are running"
            raise UsageError(f"No MCP server named {name!r}; {known}.")
        await server.stop()

    async def refresh(self) -> tuple[str, ...]:
        """Ask each server for its tools; return a note for each that does not answer or has changed tools."""
        notes = []
        for name, server in self._servers.items():
            if not server.is_there:
                notes.append(f"the MCP server {name} has ended: its functions are not available")
                continue
            try:
                async with asyncio.timeout(LIST_TIMEOUT_S):
                    await server.refresh()
            except Exception as problem:  # noqa: BLE001  (whatever a foreign program answers: the run goes on without)
                server.tools, server.changed = {}, ()
                reason = safe(str(problem), MAX_REASON_CHARS) or type(problem).__name__
                notes.append(
                    f"the MCP server {name} does not list its functions, which are not available: {reason}"
                )
            if server.changed:
                names = ", ".join(server.changed[:MAX_NAMED])
                more = f" and {len(server.changed) - MAX_NAMED} more" if len(server.changed) > MAX_NAMED else ""
                notes.append(
                    f"the MCP server {name} now describes {names}{more} differently than when you added it: each "
                    "call needs your approval until you add it again"
                )
        return tuple(notes)

    async def close(self) -> None:
        servers, self._servers = list(self._servers.values()), {}
        await asyncio.gather(*(server.stop() for server in servers))


def merged(
    own: Mapping[str, Tool], servers: Mapping[str, McpServer], taken: Collection[str] = ()
) -> dict[str, Tool]:
    """Return all tools by name, sorted. A server's tool whose name is taken is called ``server_name``.

    `taken` are names with another meaning. Servers that came first keep their names, so that a later one cannot
    change the meaning of a name.
    """
    found = dict(own)
    for server_name, server in servers.items():
        for name, tool in server.tools.items():
            free = name if name not in found and name not in taken else f"{server_name}_{name}"
            if free not in found and free not in taken:
                found[free] = replace(tool, stub=replace(tool.stub, name=free))
    return dict(sorted(found.items()))
