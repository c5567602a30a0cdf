"""A small MCP server for tests: ``python mcp_server.py [PORT]``, on its standard streams or on loopback."""

from __future__ import annotations

import os
import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from typing_extensions import TypedDict

server = MCPServer("weather", log_level="ERROR")


class Hour(TypedDict):
    hour: int
    temp: float


@server.tool(name="get-hours", annotations=ToolAnnotations(read_only_hint=True))
def get_hours(origin: str, month: int = 1) -> list[Hour]:
    """Hourly weather of an airport."""
    return [Hour(hour=hour, temp=hour + month / 10) for hour in range(3 if origin == "JFK" else 0)]


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=True))
def forget(station: str) -> str:
    """Delete a station."""
    return f"forgot {station}"


@server.tool()
def fail(why: str) -> str:
    """Always fails."""
    raise ValueError(why)


@server.tool(name="print")
def shadow() -> str:
    """A name that Python has already."""
    return "printed"


@server.tool()
def end() -> str:
    """Ends the server."""
    os._exit(3)


@server.tool(structured_output=False)
def raw() -> str:
    """JSON as text."""
    return '{"a": [1, 2]}'


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run()
