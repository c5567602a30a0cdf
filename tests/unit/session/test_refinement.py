"""Under which options another version of a result is asked for, and for how long they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from run_examples import example_run

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session.refinement import KEPT_OPTIONS, NOTHING_NEW, Refinements
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions


@pytest.fixture
def run_log(tmp_path: Path) -> Iterator[RunLog]:
    history = HistoryStore(tmp_path / "history.sqlite")
    yield RunLog(history, session_id="k")
    history.close()


def test_another_version_is_asked_for_under_the_options_of_the_first(run_log: RunLog) -> None:
    refinements = Refinements(run_log)
    run_log.write(example_run(id="abc"))
    refinements.remember("abc", RunOptions(variables=("df",), new=True))
    run, options = refinements.run_and_options("a", "top 10")
    assert run.id == "abc"
    assert (options.variables, options.new, options.rerun) == (("df",), False, True)
    assert (options.refines, options.refinement) == ("abc", "top 10")


def test_the_options_of_the_last_runs_are_kept_and_no_more(run_log: RunLog) -> None:
    refinements = Refinements(run_log)
    for run_id in ("first", "second"):
        run_log.write(example_run(id=run_id))
        refinements.remember(run_id, RunOptions())
    for number in range(KEPT_OPTIONS - 1):
        refinements.remember(f"later {number}", RunOptions())
    assert refinements.run_and_options("second", "top 10")[0].id == "second"
    with pytest.raises(UsageError, match="is not among its last"):
        refinements.run_and_options("first", "top 10")


def test_a_run_of_another_kernel_cannot_be_refined(run_log: RunLog) -> None:
    run_log.history.save(example_run(id="abc"), session="other")
    with pytest.raises(UsageError, match="was not made in this session"):
        Refinements(run_log).run_and_options("abc", "top 10")


def test_a_version_with_the_same_code_and_result_says_so_and_any_other_does_not(run_log: RunLog) -> None:
    refinements = Refinements(run_log)
    text = example_run().outputs[:1]
    run_log.write(example_run(id="abc", outputs=text))
    again = example_run(id="new", request__refines="abc", notes=("a note",), outputs=text)
    assert refinements.compared(again).notes == ("a note", NOTHING_NEW)
    for other in (
        replace(again, code="1 + 1"),
        replace(again, outputs=()),
        example_run(id="new", notes=("a note",), outputs=text),
    ):
        assert refinements.compared(other).notes == ("a note",)


def test_a_result_whose_data_was_hidden_since_is_not_refined_and_the_reason_is_told(run_log: RunLog) -> None:
    refinements = Refinements(run_log)
    run_log.write(example_run(id="abc"))
    refinements.remember("abc", RunOptions())
    run_log.forget_variable("flights")
    with pytest.raises(UsageError, match="forgotten when flights or columns of it were hidden"):
        refinements.run_and_options("abc", "top 10")
