"""Cells that were given up and that a page has inserted all the same: their run says so no longer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from run_examples import example_run

from jupyter_codeagent.frontend.messages import InsertMessage
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.session import notebook_writer
from jupyter_codeagent.session.notebook_writer import NotebookWriter
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.types.run import AgentRun

PROBLEM = "The cells of run abc were not inserted: the page did not answer within 6 s."
GIVEN_UP = example_run(id="abc", placed="undelivered", notes=("another note", PROBLEM), cell_state="pending")


@pytest.fixture
def run_log(tmp_path: Path) -> Iterator[RunLog]:
    history = HistoryStore(tmp_path / "history.sqlite")
    yield RunLog(history, session_id="k")
    history.close()


class Decisions:
    """Keeps which runs were replaced."""

    def __init__(self) -> None:
        self.discarded: list[str] = []

    def replaced(self, run_ids: Sequence[str], session: str, *, decided_by: str) -> None:
        self.discarded += run_ids


def writer(run_log: RunLog) -> tuple[NotebookWriter, Decisions, list[AgentRun]]:
    decisions, told = Decisions(), list[AgentRun]()
    made = NotebookWriter(
        front_ends=cast("Any", None), run_log=run_log, decisions=cast("Any", decisions), changed=told.append
    )
    return made, decisions, told


def message(*replaces: str) -> InsertMessage:
    return InsertMessage(
        type="insert", id="m", run_id="abc", anchor="cell", replace=list(replaces), unless=[], cells=[]
    )


def test_the_note_that_cells_were_not_inserted_goes_when_they_are_there(run_log: RunLog) -> None:
    run_log.write(GIVEN_UP)
    made, _, told = writer(run_log)
    made.inserted_late(message(), PROBLEM)
    recorded = run_log.history.load("abc")
    assert (recorded.placed, recorded.notes) == ("cells", ("another note",))
    assert [(run.placed, run.notes) for run in told] == [("cells", ("another note",))]


def test_an_answer_that_comes_before_the_run_is_recorded_waits_for_the_record(
    run_log: RunLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notebook_writer, "RECORDED_S", 0.01)

    async def main() -> list[str]:
        run_log.write(replace(GIVEN_UP, placed="inserting", notes=()))
        made, _, told = writer(run_log)
        made.inserted_late(message(), PROBLEM)
        assert told == []
        run_log.write(GIVEN_UP)
        await asyncio.sleep(0.1)
        return [run.placed for run in told]

    assert asyncio.run(main()) == ["cells"]


def test_the_pending_cells_that_made_way_are_recorded_as_replaced(run_log: RunLog) -> None:
    for run_id in ("before", "later"):
        run_log.write(replace(GIVEN_UP, id=run_id, placed="cells", notes=()))
    run_log.write(GIVEN_UP)
    made, decisions, _ = writer(run_log)
    made.inserted_late(message("before"), PROBLEM)
    assert decisions.discarded == ["before"]
