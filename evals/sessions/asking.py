"""Sessions are asked turn by turn, as their scripts say; every answer is judged at once and kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from benchmarks.origin import commit
from evals.measure import judged
from evals.results import now
from evals.sessions.results import AskedTurn, SessionResults
from evals.sessions.session import Session, SessionTurn
from evals.systems.answer import Answer
from evals.task import Task


class Notebook(Protocol):
    """A live kernel with the agent, as `evals.systems.ours.Ours` drives it."""

    def begin(self, task: Task) -> None: ...

    def run_user_code(self, code: str) -> None: ...

    def ask(self, question: str, options: str = "") -> Answer: ...


Tell = Callable[[AskedTurn], None]


def ask_sessions(sessions: Sequence[Session], notebook: Notebook, results: SessionResults, tell: Tell) -> None:
    """Ask what is not in `results` yet; a session that was stopped begins again, since its kernel is gone."""
    known = {(found.session, found.turn) for found in results.read() if not found.alone}
    for session in sessions:
        if {(session.id, turn.number) for turn in session.turns} <= known:
            continue
        notebook.begin(session.task)
        runs: dict[int, str] = {}
        for turn in session.turns:
            if turn.update:
                notebook.run_user_code(turn.update)
            came_from, options = continuation(session, turn.number, runs)
            answer = notebook.ask(turn.turn.question, options)
            if answer.run_id and not answer.error:
                runs[turn.number] = answer.run_id
            _keep(_asked(session, turn, answer, came_from=came_from), results, tell)


def ask_alone(sessions: Sequence[Session], notebook: Notebook, results: SessionResults, tell: Tell) -> None:
    """Ask late turns as the first of a conversation, of the tables as they are then.

    The earlier results that a turn uses are right there, and the user's own variables.
    """
    known = {(found.session, found.turn) for found in results.read() if found.alone}
    for session in sessions:
        for turn in session.turns:
            if not turn.is_late or (session.id, turn.number) in known:
                continue
            notebook.begin(session.task)
            for code in session.state(session.updates_before(turn.number), turn.uses):
                notebook.run_user_code(code)
            _keep(_asked(session, turn, notebook.ask(turn.turn.question), alone=True), results, tell)


def continuation(session: Session, number: int, runs: Mapping[int, str]) -> tuple[int, str]:
    """The turn that a question goes on from, 0 for none, and the options that say so.

    A turn without a result cannot be gone on from: the nearest before it in the branch takes its place. `runs` are
    the ids of those that have one, in the order in which they were asked.
    """
    before = next((turn for turn in reversed(session.branch_of(number)) if turn in runs), 0)
    named = session.turns[number - 1].asked_from
    if not before or (not named and before == _newest(runs)):
        return before, ""
    return before, f" --from {runs[before]}"


def _newest(runs: Collection[int]) -> int:
    return max(runs, default=0)


def _asked(
    session: Session, turn: SessionTurn, answer: Answer, *, came_from: int = 0, alone: bool = False
) -> AskedTurn:
    return AskedTurn(
        session=session.id,
        turn=turn.number,
        kind=turn.kind,
        updated=bool(turn.update),
        branched=bool(turn.asked_from),
        builds=bool(turn.uses),
        came_from=came_from,
        alone=alone,
        run=answer.run_id,
        notes=tuple(answer.notes),
        result=judged(turn.turn, answer),
        commit=commit(),
        at=now(),
    )


def _keep(asked: AskedTurn, results: SessionResults, tell: Tell) -> None:
    results.append(asked)
    tell(asked)
