"""A program that goes on from a failed attempt works without it."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.reply.self_contained import NOTE, make_self_contained
from jupyter_codeagent.types.run import Step
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult

FAILED = "late = df[df.d > 60]\nprint(len(late))\nn = len(late)\nlate.nothing()\nnever = 1"


def attempt(code: str, line: int | None = 4) -> Step:
    error = ExecutionError(ename="AttributeError", evalue="nothing", line=line)
    return Step(index=1, messages=(), code=code, result=ExecutionResult(status="error", error=error))


def test_lines_that_made_what_is_used_come_first() -> None:
    alone = make_self_contained("print(n / len(late))", [attempt(FAILED)], ["df"])
    assert alone.code == "late = df[df.d > 60]\nn = len(late)\nprint(n / len(late))"
    assert alone.notes == (NOTE,)


def test_an_attempt_that_only_looked_wrong_gives_all_it_made() -> None:
    looked_wrong = Step(index=1, messages=(), code="a = df.head(0)\na", result=ExecutionResult(status="ok"))
    assert make_self_contained("print(a.shape)", [looked_wrong], ["df"]).code == "a = df.head(0)\nprint(a.shape)"


def test_a_variable_of_an_earlier_question_does_not_prevent_the_lines_that_are_needed() -> None:
    alone = make_self_contained("print(totals[n])", [attempt(FAILED)], ["df"])
    assert alone.code == "late = df[df.d > 60]\nn = len(late)\nprint(totals[n])"


@pytest.mark.parametrize(
    "code",
    [
        "late = df.head()\nprint(late)",
        "print(len(df))",
        "print(never)",
        "print(unknown)",
        "not python",
    ],
)
def test_a_program_that_stands_alone_or_cannot_be_helped_stays(code: str) -> None:
    alone = make_self_contained(code, [attempt(FAILED)], ["df"])
    assert (alone.code, alone.notes) == (code, ())


def test_of_an_attempt_that_does_not_say_where_it_failed_nothing_is_taken() -> None:
    assert make_self_contained("print(n)", [attempt(FAILED, line=None)], ["df"]).code == "print(n)"
