"""Each task is asked of each system; every answer is judged at once and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.origin import commit
from evals.results import ResultFile, TaskResult, TurnResult, now
from evals.systems.answer import Answer, System, retypes_data
from evals.task import Task, Turn

KEPT_CHARS = 4000


def measure(
    suite: str, tasks: Sequence[Task], system: System, results: ResultFile, tell: Callable[[TaskResult], None]
) -> None:
    """What is in `results` already is not asked again."""
    known = {(found.suite, found.system, found.task) for found in results.read()}
    measured = commit()
    for task in tasks:
        if (suite, system.name, task.id) in known:
            continue
        system.begin(task)
        turns = tuple(judged(turn, system.ask(turn.question)) for turn in task.turns)
        result = TaskResult(
            suite=suite,
            system=system.name,
            task=task.id,
            topic=task.topic,
            level=task.level,
            turns=turns,
            commit=measured,
            at=now(),
        )
        results.append(result)
        tell(result)


def judged(turn: Turn, answer: Answer) -> TurnResult:
    """The answer to one turn, as it is kept."""
    complaint = turn.check(answer.evidence) or (f"no result: {answer.error}" if _is_nothing(answer) else "")
    return TurnResult(
        right=not complaint,
        complaint=complaint,
        error=answer.error[:KEPT_CHARS],
        spent=answer.spent,
        ran_at_once=answer.ran_at_once,
        parse_failures=answer.parse_failures,
        retyped=retypes_data(answer.programs),
        programs=tuple(answer.programs),
        text=answer.evidence.text[:KEPT_CHARS],
        rules=tuple(answer.rules),
        signals=answer.signals,
    )


def _is_nothing(answer: Answer) -> bool:
    """It failed and left nothing to judge: a judge that forbids something only would be content."""
    return bool(answer.error) and not answer.evidence.text and not answer.evidence.figures
