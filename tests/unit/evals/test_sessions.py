"""Sessions: each judge accepts its reference in the state of its branch and rejects it in a wrong one."""

from __future__ import annotations

import contextlib
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evals import results as results_module
from evals.sessions import results as session_results
from evals.sessions.asking import ask_alone, ask_sessions, continuation
from evals.sessions.results import AskedTurn, SessionResults, counts
from evals.sessions.session import FOLDER, KINDS, Session, read_sessions
from evals.systems.answer import Answer
from evals.task import Evidence, Task
from evals.worker import execute

SESSIONS = read_sessions()
SECOND = read_sessions(FOLDER / "second")
each_session = pytest.mark.parametrize("session", [pytest.param(one, id=one.id) for one in (*SESSIONS, *SECOND)])
each_folder = pytest.mark.parametrize("sessions", [SESSIONS, SECOND], ids=["first", "second"])


@pytest.fixture(autouse=True)
def wide_frames() -> Iterator[None]:
    with pd.option_context("display.max_columns", 20):
        yield


@dataclass
class States:
    """States of one session, each made anew of copies of its tables."""

    session: Session
    tables: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        exec(self.session.task.setup, self.tables)

    def after(self, programs: Iterable[str]) -> dict[str, Any]:
        names = {
            name: value.copy() if isinstance(value, pd.DataFrame) else value for name, value in self.tables.items()
        }
        for program in programs:
            with contextlib.suppress(NameError):  # it needs what was left out
                shown(program, names)
        return names

    def complaint(self, number: int, updates: Collection[int], results: Collection[int]) -> str:
        """What the judge of a turn has against its reference there; a variable that is missing is a complaint."""
        turn = self.session.turns[number - 1].turn
        try:
            text = shown(turn.reference, self.after(self.session.state(updates, results)))
        except NameError as error:
            return str(error)
        return turn.check(Evidence(text=text))


def shown(program: str, names: dict[str, Any]) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        execute(program, names)
    return output.getvalue()


@each_session
def test_each_judge_accepts_the_reference_in_the_state_of_its_branch(session: Session) -> None:
    states = States(session)
    for turn in session.turns:
        updates, branch = session.updates_before(turn.number), session.branch_of(turn.number)
        assert not states.complaint(turn.number, updates, branch), turn.turn.question


@each_session
def test_the_answer_is_the_same_where_a_branch_is_run_again_after_all_updates(session: Session) -> None:
    states = States(session)
    for turn in session.turns:
        updates = states.after(session.state(session.updates_before(turn.number), ()))
        for program in session.state((), session.branch_of(turn.number)):
            execute(program, updates)
        assert not turn.turn.check(Evidence(text=shown(turn.turn.reference, updates))), turn.turn.question


@each_session
def test_each_judge_rejects_the_reference_where_an_update_or_a_result_is_missing(session: Session) -> None:
    states = States(session)
    for turn in session.turns:
        updates, branch = session.updates_before(turn.number), session.branch_of(turn.number)
        assert set(turn.heeds) <= set(updates)
        assert bool(turn.update) == (turn.number in turn.heeds), f"{turn.number}: its own update changes nothing"
        assert set(turn.uses) <= set(branch)
        for missing in turn.heeds:
            stale = set(updates) - {missing}
            assert states.complaint(turn.number, stale, branch), f"{turn.number} without the update of {missing}"
        for missing in turn.uses:
            left = set(branch) - {missing}
            assert states.complaint(turn.number, updates, left), f"{turn.number} without the result of {missing}"


@each_session
def test_each_judge_of_a_branch_rejects_the_reference_in_the_branch_that_was_left(session: Session) -> None:
    states = States(session)
    branched = [turn for turn in session.turns if turn.asked_from]
    assert len(branched) >= 2
    for turn in branched:
        left = (*session.branch_of(turn.number - 1), turn.number - 1)
        assert states.complaint(turn.number, session.updates_before(turn.number), left), turn.turn.question


@each_session
def test_no_reference_changes_a_table_of_the_user(session: Session) -> None:
    states = States(session)
    everything = states.after(session.state(range(1, 11), range(1, 11)))
    updated = states.after(session.state(range(1, 11), ()))
    for name, table in updated.items():
        if isinstance(table, pd.DataFrame):
            pd.testing.assert_frame_equal(everything[name], table)


def test_there_are_twelve_sessions_and_ten_others() -> None:
    assert (len(SESSIONS), len(SECOND)) == (12, 10)
    assert len({session.id for session in (*SESSIONS, *SECOND)}) == 22


@each_folder
def test_sessions_have_ten_turns_with_updates_and_results_that_are_used(sessions: list[Session]) -> None:
    for session in sessions:
        assert len(session.turns) == 10
        assert len(session.updates_before(10)) >= 2
        assert sum(bool(turn.uses) for turn in session.turns) >= 4
        assert any(turn.uses for turn in session.turns if turn.is_late)
        assert not session.turns[0].update


@each_folder
def test_first_and_late_turns_have_the_same_mix_of_kinds(sessions: list[Session]) -> None:
    first = Counter(session.turns[0].kind for session in sessions)
    late = Counter(turn.kind for session in sessions for turn in session.turns if turn.is_late)
    assert {kind: 3 * first[kind] for kind in KINDS} == {kind: late[kind] for kind in KINDS}


@dataclass
class ScriptedNotebook:
    """Answers as the references would; the questions in `fails` have no result."""

    fails: Collection[str] = ()
    cells: list[tuple[str, str]] = field(default_factory=list)

    def begin(self, task: Task) -> None:
        self.cells.append(("begin", task.id))

    def run_user_code(self, code: str) -> None:
        self.cells.append(("user", code))

    def ask(self, question: str, options: str = "") -> Answer:
        self.cells.append(("ask", options.strip()))
        asked = sum(kind == "ask" for kind, _ in self.cells)
        error = "no program" if question in self.fails else ""
        return Answer(evidence=Evidence(text="" if error else "7"), error=error, run_id=f"run-{asked}")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionResults:
    monkeypatch.setattr(session_results, "FOLDER", tmp_path)
    return SessionResults("some")


def ignored(_: AskedTurn) -> None:
    pass


def branches(session: Session) -> dict[int, int]:
    return {turn.number: turn.asked_from for turn in session.turns if turn.asked_from}


def test_updates_are_cells_of_the_user_and_branches_name_the_run_of_their_turn(kept: SessionResults) -> None:
    session, notebook = SESSIONS[0], ScriptedNotebook()
    ask_sessions([session], notebook, kept, ignored)
    assert notebook.cells[0] == ("begin", session.id)
    options = [cell for kind, cell in notebook.cells if kind == "ask"]
    named = branches(session)
    assert options == [f"--from run-{named[number]}" if number in named else "" for number in range(1, 11)]
    updates = [turn for turn in session.turns if turn.update]
    for turn in updates:
        at = notebook.cells.index(("user", turn.update))
        assert sum(kind == "ask" for kind, _ in notebook.cells[:at]) == turn.number - 1


def test_what_is_asked_already_is_not_asked_again_and_a_session_that_was_stopped_begins_anew(
    kept: SessionResults,
) -> None:
    first, second = SESSIONS[:2]
    ask_sessions([first, second], ScriptedNotebook(), kept, ignored)
    lines = kept.path.read_text("utf-8").splitlines()
    kept.path.write_text("\n".join([*lines[:-1], lines[-1][:40]]), "utf-8")
    notebook = ScriptedNotebook()
    ask_sessions([first, second], notebook, kept, ignored)
    assert [cell for kind, cell in notebook.cells if kind == "begin"] == [second.id]
    assert len(kept.read()) == 20


def test_a_turn_without_a_result_is_asked_from_the_nearest_before_it_in_its_branch() -> None:
    session = next(one for one in SESSIONS if one.id == "bakery")
    assert branches(session) == {7: 4, 9: 6}
    runs = {1: "a", 2: "b", 3: "c", 5: "e", 6: "f"}
    assert continuation(session, 7, runs) == (3, " --from c"), "turn 4 failed"
    assert continuation(session, 8, runs) == (3, " --from c"), (
        "turn 7 failed: the newest result is of the other branch"
    )
    assert continuation(session, 8, runs | {7: "g"}) == (7, ""), "the newest result"
    assert continuation(session, 6, {1: "a"}) == (1, ""), "the newest result, though not of the turn before"
    assert continuation(session, 7, {5: "e"}) == (0, "")
    assert continuation(session, 1, {}) == (0, "")


def test_a_turn_without_a_result_is_wrong_and_is_no_place_to_go_on_from(kept: SessionResults) -> None:
    session = next(one for one in SESSIONS if one.id == "bakery")
    notebook = ScriptedNotebook(fails=[session.turns[3].turn.question])
    ask_sessions([session], notebook, kept, ignored)
    found = {asked.turn: asked for asked in kept.read()}
    assert not found[4].result.right
    assert found[7].came_from == 3
    assert [cell for kind, cell in notebook.cells if kind == "ask"][6] == "--from run-3"


def test_late_turns_are_asked_alone_with_the_results_they_use_as_variables_of_the_user(
    kept: SessionResults,
) -> None:
    session, notebook = SESSIONS[0], ScriptedNotebook()
    late = [turn for turn in session.turns if turn.is_late]
    ask_alone([session], notebook, kept, ignored)
    assert [asked.turn for asked in kept.read()] == [turn.number for turn in late]
    assert late[0].uses
    state = list(session.state(session.updates_before(late[0].number), late[0].uses))
    assert notebook.cells[1 : 1 + len(state)] == [("user", code) for code in state]
    assert notebook.cells[1 + len(state)][0] == "ask"
    before = len(notebook.cells)
    ask_alone([session], notebook, kept, ignored)
    assert len(notebook.cells) == before


def test_late_turns_in_their_place_and_alone_are_compared(kept: SessionResults) -> None:
    ask_sessions([SESSIONS[0]], ScriptedNotebook(), kept, ignored)
    ask_alone([SESSIONS[0]], ScriptedNotebook(), kept, ignored)
    rights = {(8, False), (8, True), (9, True)}
    found = [
        replace(asked, result=replace(asked.result, right=(asked.turn, asked.alone) in rights))
        for asked in kept.read()
    ]
    assert "of 3 asked both ways: right only in their place 0, only alone 1, both ways 1" in list(counts(found))


def test_right_turns_are_counted_by_their_place_with_intervals(kept: SessionResults) -> None:
    ask_sessions([SESSIONS[0]], ScriptedNotebook(), kept, ignored)
    found = kept.read()
    rights: Mapping[int, bool] = {1: True, 2: True, 8: True}
    found = [replace(asked, result=replace(asked.result, right=rights.get(asked.turn, False))) for asked in found]
    text = "\n".join(counts(found))
    assert "first turns: 1 of 1 (21% to 100%)" in text
    assert "turns 2 to 7: 1 of 6" in text
    assert "turns 8 to 10: 1 of 3" in text
    assert "turns directly after an update: 0 of 2" in text
    assert "turns that begin or go back to a branch: 0 of 2" in text
    assert "turns 8 to 10 are right 0.33 times as often as first turns" in text


def test_the_results_stand_where_all_results_stand() -> None:
    assert SessionResults("some").path.parent == results_module.FOLDER
