"""Each judge of the analysts' questions accepts its reference and rejects wrong answers; no answer is displayed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evals.programs import ProgramWorker
from evals.suites.analysts import THIRDS, WORDINGS, analyst_tasks, check_of
from evals.task import Evidence, Task

TASKS = [task for third in THIRDS for task in analyst_tasks(third, "careful")]


@pytest.fixture(scope="module")
def worker() -> Iterator[ProgramWorker]:
    with ProgramWorker() as started:
        yield started


ALWAYS = {task.id for third in THIRDS for task in analyst_tasks(third, "careful")[::8]}
RARE = pytest.mark.rare("the tasks change with evals/, not with the product; every eighth is always tried")


@pytest.mark.parametrize(
    "task", [pytest.param(task, id=task.id, marks=() if task.id in ALWAYS else RARE) for task in TASKS]
)
def test_each_judge_accepts_the_reference_and_rejects_wrong_answers(task: Task, worker: ProgramWorker) -> None:
    for at, turn in enumerate(task.turns):
        assert turn.wrong, f"{task.id}, turn {at}: no wrong answer proves its judge"
        for program in (turn.reference, *turn.wrong):
            assert not worker.set_up(task.setup).error
            for earlier in task.turns[:at]:
                worker.run(earlier.reference)
            end = worker.run(program)
            assert not end.error, f"{task.id}, turn {at}: a program fails"
            is_right = not turn.check(end.evidence)
            assert is_right == (program == turn.reference), f"{task.id}, turn {at}: judged wrongly"


@pytest.mark.filterwarnings("ignore")  # of pandas, about the programs that make the tables
def test_the_arrays_and_loops_that_made_the_tables_are_not_left_among_them() -> None:
    for task in TASKS:
        names: dict[str, object] = {}
        exec(task.setup, names)
        left = {type(value).__name__ for name, value in names.items() if not name.startswith("_")}
        assert left <= {"DataFrame", "module", "type", "function"}, task.id


@pytest.mark.parametrize("third", THIRDS)
def test_each_third_has_tasks_of_three_hands_in_two_wordings(third: str) -> None:
    careful, colloquial = (analyst_tasks(third, wording) for wording in WORDINGS)  # type: ignore[arg-type]
    assert {task.id[0] for task in careful} == {"a", "b", "c"}
    assert [task.setup for task in careful] == [task.setup for task in colloquial]
    for one, other in zip(careful, colloquial, strict=True):
        assert [turn.question for turn in one.turns] != [turn.question for turn in other.turns]


def test_no_table_and_no_id_comes_twice() -> None:
    assert len({task.id for task in TASKS}) == len(TASKS)
    setups = {third: {task.setup for task in analyst_tasks(third, "careful")} for third in THIRDS}
    assert not setups["dev"] & setups["test"]
    assert not setups["test"] & setups["sealed"]
    assert not setups["dev"] & setups["sealed"]


def test_a_check_that_says_nothing_or_something_unknown_is_an_error() -> None:
    for spec in ({}, {"digits": 1}, {"numbers": [1], "colour": "red"}):
        with pytest.raises(ValueError, match="a check has"):
            check_of(spec)


def test_a_check_holds_all_its_parts() -> None:
    check = check_of({"cells": [["Oslo", 2.5]], "names": ["Oslo"], "order": ["Oslo", "Rome"], "most_numbers": 2})
    assert not check(Evidence(text="Oslo  2.5\nRome  3"))
    assert check(Evidence(text="Oslo  3\nRome  2.5"))
    assert check(Evidence(text="Rome  3\nOslo  2.5"))
    assert check(Evidence(text="Oslo  2.5\nRome  3\nBonn  4"))
