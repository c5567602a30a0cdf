"""The hours of the day, the days of the week and the months of the year, on an axis."""

from __future__ import annotations

import json
from dataclasses import dataclass

from jupyter_codeagent.explore.words import MONTHS, WEEKDAYS

SIZES = {"hour": 24, "weekday": 7, "month": 12}


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """Where an axis has marks, and what they are called."""

    places: str
    """Expression."""
    names: str = ""
    """Literal of a list; empty where the places are their names."""


def axis_ticks(cycle: str) -> Ticks:
    """Return the marks of an axis along a cycle."""
    match cycle:
        case "weekday":
            return Ticks(places="range(7)", names=json.dumps([name[:3] for name in WEEKDAYS]))
        case "month":
            return Ticks(places="range(1, 13)", names=json.dumps([name[:3] for name in MONTHS]))
    return Ticks(places="range(0, 24, 3)")
