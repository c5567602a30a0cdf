"""Bringing results back into the live kernel: all or none, never over something unasked or under a wrong name."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest
from run_examples import example_run

from jupyter_codeagent.frontend.approvals.gate import ApprovalGate, reject
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.frontend.cell_origin import CellOrigin
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.sandbox.data import unpack as unpacking
from jupyter_codeagent.sandbox.data.stream import read_table
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.session.bring_back import ResultTransfer
from jupyter_codeagent.session.cell_decisions import CellDecisions
from jupyter_codeagent.session.consent import Consent
from jupyter_codeagent.session.run_log import RunLog
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.errors import (
    DeniedError,
    RejectedDataError,
    UnknownRunError,
    UsageError,
    VariableError,
)
from jupyter_codeagent.types.sandbox import PackedValue
from jupyter_codeagent.variables.user_namespace import UserNamespace

DAILY = pd.DataFrame({"day": [1, 2, 3], "n": [4, 5, 6]})


@dataclass
class Person:
    """Answers what is asked; `meanwhile` happens before the answer."""

    answer: str = "approve"
    asked: list[Proposal] = field(default_factory=list)
    meanwhile: Any = lambda: None
    edited: str = ""

    async def ask(self, proposal: Proposal) -> Decision:
        self.asked.append(proposal)
        self.meanwhile()
        if self.answer == "approve":
            return Decision(action="approve", code=self.edited or proposal.code, decided_by="panel")
        return reject(proposal, "panel", "no")


class Box:
    """The sandbox's variables."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        if isinstance(self._values[name], PackedValue):
            return cast("PackedValue", self._values[name])
        kind, meta, data = pack(self._values[name], max_bytes)
        if kind == "error":
            raise VariableError(meta)
        return PackedValue(kind=kind, meta_json=meta, data=data)  # type: ignore[arg-type]


@dataclass
class Scene:
    results: ResultTransfer
    decisions: CellDecisions
    live: dict[str, Any]
    person: Person


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    made = BackgroundLoop()
    yield made
    made.close()


def scene(
    background: BackgroundLoop,
    sandbox: dict[str, Any],
    live: dict[str, Any],
    answer: str = "approve",
    *,
    run_log: RunLog | None = None,
    run_cell: Any = None,
) -> Scene:
    person = Person(answer)
    gate = ApprovalGate(person, grants=Grants(), timeout_s=5)
    settings = Settings(max_return_bytes=1 << 20, approval_timeout_s=5, approve="auto")
    namespace = UserNamespace(cast("Any", SimpleNamespace(user_ns=live, user_ns_hidden={}, run_cell=run_cell)))
    workspace = cast("Any", SimpleNamespace(current=Box(sandbox)))
    front_ends = cast("Any", SimpleNamespace(gate=lambda origin, settings: gate))
    consent = Consent(background=background, front_ends=front_ends, settings=lambda: settings)
    results = ResultTransfer(
        live=namespace,
        background=background,
        workspace=workspace,
        consent=consent,
        settings=lambda: settings,
        shared={"secret": "hidden"},
    )
    decisions = CellDecisions(
        live=namespace,
        background=background,
        run_log=cast("Any", run_log),
        workspace=workspace,
        consent=consent,
        settings=lambda: settings,
        link=None,
    )
    return Scene(results, decisions, live, person)


def test_a_new_name_is_bound_without_a_question(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY}, {})
    [returned] = made.results.bring_back(["daily"], CellOrigin())
    assert returned.what == "DataFrame 3x2"
    pd.testing.assert_frame_equal(made.live["daily"], DAILY)
    assert made.person.asked == []


def test_a_live_name_is_overwritten_only_after_a_yes_that_names_both_types(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY}, {"daily": [1, 2]})
    made.results.bring_back(["daily"], CellOrigin())
    assert made.person.asked[0].code == "daily: list of 2 → DataFrame 3x2"
    assert isinstance(made.live["daily"], pd.DataFrame)


def test_after_a_no_nothing_is_bound_not_even_what_was_new(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY, "new": 1}, {"daily": [1, 2]}, answer="reject")
    with pytest.raises(DeniedError, match="Not done"):
        made.results.bring_back(["new", "daily"], CellOrigin())
    assert made.live == {"daily": [1, 2]}


@pytest.mark.parametrize("answer", ["approve", "reject"])
def test_nothing_is_decoded_before_the_yes_to_overwrite(
    background: BackgroundLoop, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    questions: list[int] = []
    """At each frame that is decoded, how many there had been."""

    def noted(data: bytes) -> Any:
        questions.append(len(made.person.asked))
        return read_table(data)

    monkeypatch.setattr(unpacking, "read_table", noted)
    made = scene(background, {"daily": DAILY, "new": DAILY}, {"daily": [1, 2]}, answer=answer)
    if answer == "approve":
        made.results.bring_back(["new", "daily"], CellOrigin())
        assert questions == [1, 1]
    else:
        with pytest.raises(DeniedError):
            made.results.bring_back(["new", "daily"], CellOrigin())
        assert questions == []


def test_if_one_of_several_cannot_come_back_none_does(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY, "model": object()}, {})
    with pytest.raises(VariableError, match=r"'model' was not brought back\..*`%agent apply`"):
        made.results.bring_back(["daily", "model"], CellOrigin())
    assert made.live == {}


def test_a_hostile_packet_binds_nothing(background: BackgroundLoop) -> None:
    evil = PackedValue(kind="npy", meta_json="{}", data=b"\x80\x04.")
    made = scene(background, {"daily": evil}, {})
    with pytest.raises(RejectedDataError):
        made.results.bring_back(["daily"], CellOrigin())
    assert made.live == {}


def test_what_changed_while_the_question_was_open_is_not_overwritten(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY}, {"daily": [1, 2]})
    made.person.meanwhile = lambda: made.live.update(daily="newer")
    with pytest.raises(DeniedError, match="daily changed in your kernel in the meantime"):
        made.results.bring_back(["daily"], CellOrigin())
    assert made.live == {"daily": "newer"}


@pytest.mark.parametrize(
    "name", ["print", "sum", "In", "Out", "_", "_1", "__name__", "get_ipython", "class", "a b", ""]
)
def test_no_name_is_bound_that_means_something_else(background: BackgroundLoop, name: str) -> None:
    made = scene(background, {name: 1}, {})
    with pytest.raises(UsageError):
        made.results.bring_back([name], CellOrigin())
    assert made.live == {}


def test_a_hidden_variable_does_not_come_back(background: BackgroundLoop) -> None:
    made = scene(background, {"secret": 1}, {})
    with pytest.raises(UsageError, match="hidden from the agent"):
        made.results.bring_back(["secret"], CellOrigin())


def test_what_ran_in_the_live_kernel_is_on_record_as_the_person_edited_it_before_it_runs(
    background: BackgroundLoop, tmp_path: Path
) -> None:
    history = HistoryStore(tmp_path / "history.sqlite")
    run_log, run = RunLog(history, session_id="k"), example_run()
    run_log.write(run)
    on_record: list[str] = []

    def run_cell(code: str, **_: Any) -> Any:
        on_record.extend(made.code for made in history.decisions(run.id))
        assert code == "daily = 2"
        return SimpleNamespace(raise_error=lambda: None, success=True)

    made = scene(background, {}, {}, run_log=run_log, run_cell=run_cell)
    made.person.edited = "daily = 2"
    made.decisions.apply(run, CellOrigin())
    assert on_record == ["daily = 2"]
    decisions = history.decisions(run.id)
    assert [(one.what, one.by, one.code) for one in decisions] == [
        ("applied", "panel", "daily = 2"),
        ("accepted", "magic", ""),
    ]
    assert abs(decisions[0].at - time.time()) < 60
    history.close()


@dataclass
class Told:
    """A link that keeps what its pages are told of decisions."""

    said: list[tuple[str, str, str]] = field(default_factory=list)
    is_open: bool = True

    def decided(self, run_id: str, state: str, *, session: str) -> None:
        self.said.append((run_id, state, session))


def test_every_decision_is_told_to_all_pages_once_it_is_on_record(
    background: BackgroundLoop, tmp_path: Path
) -> None:
    history = HistoryStore(tmp_path / "history.sqlite")
    run_log, told = RunLog(history, session_id="k"), Told()
    loaded: list[str] = []
    for run_id in ("a", "b"):
        run_log.write(example_run(id=run_id, cell_state="pending"))
    made = scene(background, {}, {}, run_log=run_log).decisions
    made._link = cast("Any", told)
    made._workspace = cast("Any", SimpleNamespace(current=SimpleNamespace(reload=lambda: loaded.append("x"))))
    made.set_cell_state("a", "accepted", decided_by="panel", session="page-1")
    made.set_cell_state("a", "accepted", decided_by="panel", session="page-2")  # shared with page-1
    made.set_cell_state("a", "discarded", decided_by="magic")
    assert loaded == ["x"]
    made.replaced(["b"], "page-1", decided_by="rerun")
    assert loaded == ["x"], "the copies are as the newer run left them"
    assert told.said == [("a", "accepted", "page-1"), ("a", "discarded", ""), ("b", "discarded", "page-1")]
    assert history.cell_states(["a", "b"]) == {"a": "discarded", "b": "discarded"}
    assert [decision.by for decision in history.decisions("b")] == ["rerun"]
    with pytest.raises(UnknownRunError):
        made.set_cell_state("unknown", "accepted", decided_by="panel")
    assert len(told.said) == 3
    history.close()


def test_the_button_is_answered_whatever_goes_wrong(background: BackgroundLoop) -> None:
    made = scene(background, {"daily": DAILY, "model": object()}, {})
    answers = [background.run(made.results.answer_pull(name, "1", "r")) for name in ("daily", "model", "print")]
    assert [answer["ok"] for answer in answers] == [True, False, False]
    assert answers[0]["text"] == "daily is now DataFrame 3x2"


def test_calls_for_the_main_thread_are_served_when_no_cell_waits_for_them(background: BackgroundLoop) -> None:
    scheduled: list[Any] = []
    background.serve_when_idle(scheduled.append)
    task = background.submit(background.on_main_thread(lambda: "done"))
    assert not task.wait(0.1)
    scheduled[0]()
    assert task.wait(5)
    assert task.result() == "done"
