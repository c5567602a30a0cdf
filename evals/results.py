"""One JSON line for each task and system, written as soon as it is there: a stopped measurement goes on."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.systems.answer import Spent
from jupyter_codeagent.agent.verdict.signals import Signals
from jupyter_codeagent.types.run_json import value_from_json

FOLDER = Path("build/evals")


@dataclass(frozen=True, kw_only=True)
class TurnResult:
    right: bool
    complaint: str
    """Of the judge; empty if right."""
    error: str
    spent: Spent
    ran_at_once: bool
    parse_failures: int
    retyped: bool
    programs: tuple[str, ...]
    text: str
    """What was shown, shortened."""
    rules: tuple[str, ...] = ()
    """The rules of ours that fired, in order; empty in results of older versions."""
    signals: Signals | None = None
    """What our verdict was made of; None where there is no result, and in results of older versions."""


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """All turns of one task by one system."""

    suite: str
    system: str
    task: str
    topic: str
    level: str
    turns: tuple[TurnResult, ...]
    commit: str
    """What was measured, as `git describe` writes it."""
    at: str

    @property
    def right(self) -> bool:
        """Every turn."""
        return all(turn.right for turn in self.turns)

    @property
    def spent(self) -> Spent:
        return sum((turn.spent for turn in self.turns), Spent())


class ResultFile:
    """`build/evals/LABEL.jsonl`. A line that was cut short by a crash is not read."""

    def __init__(self, label: str) -> None:
        self.path = FOLDER / f"{label}.jsonl"

    def read(self) -> list[TaskResult]:
        """The latest result of each system and task."""
        latest = {(found.suite, found.system, found.task): found for found in self._lines()}
        return list(latest.values())

    def append(self, result: TaskResult) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        cut = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(("\n" if cut else "") + json.dumps(dataclasses.asdict(result)) + "\n")

    def _lines(self) -> Iterator[TaskResult]:
        if not self.path.exists():
            return
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                found = json.loads(line)
            except json.JSONDecodeError:
                continue  # the task is measured again
            turns = tuple(_turn(turn) for turn in found.pop("turns"))
            yield TaskResult(**found, turns=turns)


def _turn(found: dict[str, Any]) -> TurnResult:
    tuples = {name: tuple(found.get(name, ())) for name in ("programs", "rules")}
    signals = found.get("signals")
    return TurnResult(
        **{
            **found,
            **tuples,
            "spent": Spent(**found["spent"]),
            "signals": value_from_json(Signals, signals) if signals is not None else None,
        }
    )


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")
