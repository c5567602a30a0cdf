"""By which names a page may stop what is in progress."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

from jupyter_codeagent.session.current_run import CurrentRun


def recorder(run_id: str, cell_id: str | None = None) -> Any:
    request = SimpleNamespace(cell_id=cell_id)
    return SimpleNamespace(latest=SimpleNamespace(run=SimpleNamespace(id=run_id, request=request)))


def test_stop_on_a_finding_that_has_just_ended_means_the_exploration() -> None:
    current = CurrentRun()
    assert not current.is_called("first")
    current.start(Mock(), recorder("first"))
    current.follow(recorder("second"))
    assert current.is_called("first")
    assert current.is_called("second")
    assert cast("Any", current.recorder_of("first")) is None
    current.end()
    assert not current.is_called("second"), "never the next one"


def test_the_re_run_of_a_report_is_known_by_its_request() -> None:
    current, task = CurrentRun(), Mock()
    current.start_rerun(task, "request")
    assert current.is_called("request")
    assert current.stop()
    task.cancel.assert_called_once_with()
    current.end()
    current.start_rerun(task, None)
    assert not current.is_called("request")


def test_a_question_of_a_chat_that_was_stopped_does_not_begin_and_its_cell_may_be_run_later() -> None:
    current, task = CurrentRun(), Mock()
    current.stop_cell("cell")
    assert not current.take_stop(None)
    assert not current.take_stop("another")
    assert current.take_stop("cell")
    assert not current.take_stop("cell"), "once: a person may run the cell"
    current.stop_cell("cell")  # while it was being prepared
    current.start(task, recorder("run", "cell"))
    task.cancel.assert_called_once_with()
    assert not current.take_stop("cell")
