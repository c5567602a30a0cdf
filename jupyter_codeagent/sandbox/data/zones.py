"""Check of time zone names from the sandbox: looking one up reads a file, so only existing names are looked up."""

from __future__ import annotations

import re
import zoneinfo
from functools import cache

OFFSET = re.compile(r"[+-]\d\d:\d\d")


def is_zone(name: str) -> bool:
    """Check for a distance from UTC, or the name of a time zone that this machine knows."""
    is_distance = OFFSET.fullmatch(name) is not None
    return is_distance or name == "UTC" or name.removeprefix("posix/").removeprefix("right/") in _known()


@cache
def _known() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
