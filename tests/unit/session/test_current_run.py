"""By which names a page may stop what is in progress."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

from jupyter_codeagent.session.current_run import CurrentRun


def recorder(run_id: str) -> Any:
    return SimpleNamespace(latest=SimpleNamespace(run=SimpleNamespace(id=run_id)))


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
