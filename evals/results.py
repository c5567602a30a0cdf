"""One JSON line for each task and system, written as soon as it is there: a stopped measurement goes on."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Mapping
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
        append_line(self.path, dataclasses.asdict(result))

    def _lines(self) -> Iterator[TaskResult]:
        for found in lines_in(self.path):
            turns = tuple(turn_from_json(turn) for turn in found.pop("turns"))
            yield TaskResult(**found, turns=turns)


def append_line(path: Path, found: Mapping[str, Any]) -> None:
    """One JSON line more; behind one that was cut short it begins anew."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cut = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut else "") + json.dumps(found) + "\n")


def lines_in(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a file, none if there is no file; what was cut short is left out, and measured again."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue


def turn_from_json(found: Mapping[str, Any]) -> TurnResult:
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
