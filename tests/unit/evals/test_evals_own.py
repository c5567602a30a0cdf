"""Each judge of our own evaluation accepts a right answer and rejects wrong ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.programs import ProgramWorker
from evals.suites import kpi, tool_tasks
from evals.suites.own import fresh, own_tasks
from evals.task import Evidence, Task

TASKS = (*own_tasks(), *fresh.TASKS, *kpi.TASKS, *tool_tasks.TASKS)


@pytest.fixture(scope="module")
def worker() -> Iterator[ProgramWorker]:
    with ProgramWorker() as started:
        yield started


ALWAYS = {task.id for tasks in (own_tasks(), fresh.TASKS, kpi.TASKS, tool_tasks.TASKS) for task in tasks[::8]}
RARE = pytest.mark.rare("the tasks change with evals/, not with the product; every eighth is always tried")


@pytest.mark.parametrize(
    "task",
    [pytest.param(task, id=task.id, marks=() if task.id in ALWAYS else RARE) for task in TASKS],
)
def test_each_judge_of_our_own_tasks_accepts_the_reference_and_rejects_wrong_answers(
    task: Task, worker: ProgramWorker
) -> None:
    for at, turn in enumerate(task.turns):
        earlier = [before.reference for before in task.turns[:at]]
        assert turn.wrong, f"{task.id}, turn {at}: no wrong answer proves its judge"
        end = _answered(worker, task, earlier, turn.reference)
        assert not end[0], f"{task.id}, turn {at}: the reference fails: {end[0]}"
        assert not (complaint := turn.check(end[1])), (
            f"{task.id}, turn {at}: {complaint}; shown: {end[1].text[:500]}"
        )
        for wrong in turn.wrong:
            end = _answered(worker, task, earlier, wrong)
            assert not end[0], f"{task.id}, turn {at}: a wrong answer has to run: {end[0]}"
            assert turn.check(end[1]), f"{task.id}, turn {at}: accepted: {wrong}\n{end[1].text[:500]}"


def _answered(worker: ProgramWorker, task: Task, earlier: list[str], code: str) -> tuple[str, Evidence]:
    assert not worker.set_up(task.setup).error
    for program in earlier:
        worker.run(program)
    end = worker.run(code)
    return end.error, end.evidence


def test_our_own_tasks_have_ids_of_their_own() -> None:
    assert len({task.id for task in TASKS}) == len(TASKS)
