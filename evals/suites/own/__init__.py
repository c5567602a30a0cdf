"""Our own questions, as analysts ask them. Each task proves its judges: `reference` passes, `wrong` fails."""

from __future__ import annotations

from evals.suites.own import (
    flights,
    flights_joined,
    fresh,
    measured,
    messy,
    penguins,
    polars_frames,
    series,
    small_tables,
)
from evals.task import Task

ROOMS = (flights, flights_joined, penguins, small_tables, messy, series, measured, polars_frames)


def own_tasks() -> tuple[Task, ...]:
    """All, in the order of their ids within a table; at the end those that were `fresh` once."""
    return (*(task for room in ROOMS for task in room.TASKS), *fresh.READ_TASKS)
