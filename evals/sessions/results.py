"""One JSON line for each turn of a session, and what they say together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.explore.judge import Tally
from evals.results import FOLDER, TurnResult, append_line, lines_in, turn_from_json
from evals.sessions.session import FIRST_LATE_TURN


@dataclass(frozen=True, kw_only=True)
class AskedTurn:
    """One turn as it was asked, and what came of it."""

    session: str
    turn: int
    """Its number, from 1."""
    kind: str
    updated: bool
    """Whether the user changed the tables directly before it."""
    branched: bool
    """Whether its script names the result that it goes on from."""
    builds: bool
    """Whether its right answer needs an earlier result."""
    came_from: int
    """The turn that it went on from; 0 for none. Another than the script's if that one had no result."""
    alone: bool
    """Asked as the first of a conversation, whatever its number."""
    run: str
    """Id of the run in the history of the kernel."""
    notes: tuple[str, ...]
    """What the run says of itself: what was corrected, and what could not be brought back in a branch."""
    result: TurnResult
    commit: str
    at: str

    @property
    def is_late(self) -> bool:
        return self.turn >= FIRST_LATE_TURN


class SessionResults:
    """`build/evals/LABEL.jsonl`. A line that was cut short by a crash is not read."""

    def __init__(self, label: str) -> None:
        self.path = FOLDER / f"{label}.jsonl"

    def read(self) -> list[AskedTurn]:
        """The latest result of each turn."""
        latest = {(found.session, found.turn, found.alone): found for found in map(_asked, lines_in(self.path))}
        return list(latest.values())

    def append(self, asked: AskedTurn) -> None:
        append_line(self.path, dataclasses.asdict(asked))


def _asked(found: dict[str, Any]) -> AskedTurn:
    return AskedTurn(**{**found, "notes": tuple(found["notes"]), "result": turn_from_json(found["result"])})


PARTS: dict[str, Callable[[AskedTurn], bool]] = {
    "first turns": lambda asked: asked.turn == 1,
    "turns 2 to 7": lambda asked: 1 < asked.turn < FIRST_LATE_TURN,
    "turns 8 to 10": lambda asked: asked.is_late,
    "turns directly after an update": lambda asked: asked.updated,
    "turns that begin or go back to a branch": lambda asked: asked.branched,
    "turns that use an earlier result": lambda asked: asked.builds,
    "late turns that use none": lambda asked: asked.is_late and not asked.builds,
}
"""The turns that are counted together, by what is said of them."""


def tally(asked: Sequence[AskedTurn]) -> Tally:
    return Tally(sum(one.result.right for one in asked), len(asked))


def counts(found: Sequence[AskedTurn]) -> Iterator[str]:
    """How many turns are right, a line for each part, with the 95 % interval of the share."""
    asked = [one for one in found if not one.alone]
    for name, belongs in PARTS.items():
        yield f"{name}: {tally([one for one in asked if belongs(one)])}"
    if alone := [one for one in found if one.alone]:
        yield from _compared(alone, {(one.session, one.turn): one.result.right for one in asked})
    first, late = (tally([one for one in asked if PARTS[name](one)]) for name in ("first turns", "turns 8 to 10"))
    if first.found and late.of:
        ratio = (late.found / late.of) / (first.found / first.of)
        yield f"turns 8 to 10 are right {ratio:.2f} times as often as first turns"


def _compared(alone: Sequence[AskedTurn], in_place: Mapping[tuple[str, int], bool]) -> Iterator[str]:
    """The late turns without their conversation, and which of them are right with it."""
    yield f"late turns, asked first in a conversation of their own: {tally(alone)}"
    both = [
        (one.result.right, in_place[one.session, one.turn]) for one in alone if (one.session, one.turn) in in_place
    ]
    yield (
        f"of {len(both)} asked both ways: right only in their place {both.count((False, True))}, "
        f"only alone {both.count((True, False))}, both ways {both.count((True, True))}"
    )
