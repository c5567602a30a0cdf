"""A scripted conversation: its turns, what the user changes between them, and the branch that each stands in."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from evals.suites.analysts import check_of, text_of, without_leftovers
from evals.task import Task, Turn

FOLDER = Path(__file__).parent
Kind = Literal["count", "mean", "group", "top", "share", "join", "month", "derive"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FIRST_LATE_TURN = 8


@dataclass(frozen=True, kw_only=True)
class SessionTurn:
    """One question of a session. Turns have numbers, from 1."""

    number: int
    kind: Kind
    turn: Turn
    update: str = ""
    """Program that the user runs in the live kernel before asking; empty without one."""
    asked_from: int = 0
    """Turn from whose result the question goes on (``--from``); 0 for the turn before it."""
    uses: tuple[int, ...] = ()
    """Turns whose results are needed for the right answer."""
    heeds: tuple[int, ...] = ()
    """Turns whose updates are needed for the right answer, its own included."""

    @property
    def is_late(self) -> bool:
        return self.number >= FIRST_LATE_TURN


@dataclass(frozen=True, kw_only=True)
class Session:
    """Turns over one set of tables."""

    task: Task
    turns: tuple[SessionTurn, ...]

    @property
    def id(self) -> str:
        return self.task.id

    def branch_of(self, number: int) -> tuple[int, ...]:
        """The turns that a turn goes on from, the oldest first."""
        turn = self.turns[number - 1]
        before = turn.asked_from or number - 1
        return (*self.branch_of(before), before) if before else ()

    def updates_before(self, number: int) -> tuple[int, ...]:
        """The turns up to this one that have an update: whatever their branch, it is made in the user's kernel."""
        return tuple(turn.number for turn in self.turns[:number] if turn.update)

    def state(self, updates: Collection[int], results: Collection[int]) -> Iterator[str]:
        """The programs that make a state: updates of the user and references, in the order of their turns."""
        for turn in self.turns:
            if turn.number in updates:
                yield turn.update
            if turn.number in results:
                yield turn.turn.reference


def read_sessions(folder: Path = FOLDER) -> list[Session]:
    """Return all sessions of the folder, by the names of their files."""
    return [_session(json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob("*.json"))]


def _session(found: Mapping[str, Any]) -> Session:
    turns = tuple(_turn(number, turn) for number, turn in enumerate(found["turns"], 1))
    task = Task(
        id=found["id"],
        topic="follow-up",
        source="made up",
        setup=without_leftovers(text_of(found["setup"]), found["variables"]),
        variables=tuple(found["variables"]),
        turns=tuple(turn.turn for turn in turns),
    )
    return Session(task=task, turns=turns)


def _turn(number: int, found: Mapping[str, Any]) -> SessionTurn:
    asked = Turn(
        prompt=found["question"], check=check_of(found["check"]), reference=text_of(found["reference"]), wrong=()
    )
    return SessionTurn(
        number=number,
        kind=found["kind"],
        turn=asked,
        update=text_of(found.get("update", "")),
        asked_from=found.get("from", 0),
        uses=tuple(found.get("uses", ())),
        heeds=tuple(found.get("heeds", ())),
    )
