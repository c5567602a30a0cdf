"""Which program is kept: a majority of results, then fewer warnings, then the earliest."""

from __future__ import annotations

from runner_double import failed, shown

from jupyter_codeagent.agent.candidate_vote import Vote, vote
from jupyter_codeagent.types.run import Step
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput


def step(result: ExecutionResult | str | None, code: str = "print(x)") -> Step:
    return Step(index=1, messages=(), code=code, result=shown(result) if isinstance(result, str) else result)


def warned(text: str) -> Step:
    warning = StreamOutput(output_type="stream", name="stderr", text="FutureWarning: soon\n")
    return step(ExecutionResult(status="ok", outputs=(warning, *shown(text).outputs)))


FAILED = step(failed("KeyError", "'Age'"))
EMPTY = step("")


def test_the_result_that_most_found_wins_however_it_is_worded() -> None:
    result = vote([step("mean: 1.5"), step("n: 2.0"), step("The n is 2.00001"), FAILED])
    assert result == Vote(groups=((1, 2), (0,)))
    assert result.chosen == 1


def test_a_tie_goes_to_fewer_warnings_then_to_the_earliest() -> None:
    assert vote([step("1"), step("2")]).chosen == 0
    assert vote([warned("1"), step("2")]).chosen == 1
    assert vote([warned("1"), step("2"), step("1")]).groups == ((2, 0), (1,))


def test_what_agrees_with_both_sides_is_kept_before_either() -> None:
    """`0.38` may be 0.384 or 0.376; these two are not the same."""
    assert vote([step("0.3838"), step("0.38"), step("0.3757")]).groups == ((1, 0, 2),)


def test_errors_and_doubtful_results_have_no_vote_unless_there_is_nothing_else() -> None:
    assert vote([EMPTY, EMPTY, step("3")]).groups == ((2,),)
    assert vote([FAILED, EMPTY]) == Vote(groups=((1,),), all_look_wrong=True)
    assert vote([FAILED, step(None)]) == Vote()
    assert vote([FAILED]).chosen is None


def test_it_is_decided_when_those_that_wait_can_change_nothing() -> None:
    assert not vote([step("1")]).is_decided(2)
    assert vote([step("1"), step("1")]).is_decided(1)
    assert not vote([step("1"), step("2")]).is_decided(1)
    assert not vote([step("1"), step("1"), step("2")]).is_decided(2)
    assert vote([step("1"), step("1"), step("1")]).is_decided(2)
    assert not vote([EMPTY, EMPTY]).is_decided(1)  # a sound result would win against both
    assert not vote([]).is_decided(3)
    assert vote([FAILED]).is_decided(0)
