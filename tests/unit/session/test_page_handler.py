"""What a page says reaches who acts on it; Stop is meant for the run that the user saw there."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_codeagent.session.page_handler import PageHandler
from jupyter_codeagent.session.recorder import RunRecorder


class Pages:
    """The messages of a page to a kernel in which the run `this` is under way."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.sent: list[Any] = []
        recorder = cast("RunRecorder", SimpleNamespace(whole_progress=lambda: {"type": "progress"}))
        current_run = SimpleNamespace(
            recorder_of=lambda run_id: recorder if run_id == "this" else None,
            is_called=lambda name: name in ("this", "its request"),
            stop=lambda: self.done.append(("stop",)),
            stop_early=lambda request: self.done.append(("stop early", request)),
        )
        self._messages = PageHandler(
            settings=self._noted("settings", "handle_message", quiet=True),
            sharing=self._noted("sharing", "share", "share_columns", "adopt_page"),
            variables=self._noted("variables", "switched", "look_soon", found={"type": "columns"}),
            effects=self._noted("effects"),
            grants=self._noted("grants", "take_back"),
            results=lambda: self._noted("results"),
            decisions=lambda: self._noted("decisions", "set_cell_state", "note_applied"),
            send=self.sent.append,
            current_run=cast("Any", current_run),
            client_runs=lambda: cast("Any", SimpleNamespace(stop=lambda run_id: run_id == "of a client")),
            chat_questions=lambda: self._noted("chat_questions", "ended"),
            submit=lambda coroutine: coroutine.close(),
        )

    def _noted(self, who: str, *names: str, quiet: bool = False, **answers: object) -> Any:
        def note(name: str) -> Any:
            return lambda *args, **_: None if quiet else self.done.append((f"{who}.{name}", *args))

        fixed = {name: lambda *_, answer=answer: answer for name, answer in answers.items()}
        return SimpleNamespace(**{name: note(name) for name in names}, **fixed)

    def say(self, **message: object) -> list[Any]:
        self._messages.handle_message(message)
        return self.done


@pytest.mark.parametrize(
    ("message", "stops"),
    [
        ({"type": "stop", "run_id": "this"}, [("stop",)]),
        ({"type": "stop", "run_id": "its request"}, [("stop",)]),
        ({"type": "stop", "run_id": "the one before"}, [("stop early", "the one before")]),
        ({"type": "stop"}, []),
    ],
)
def test_stop_stops_only_the_run_it_names_or_the_request_that_has_not_begun(
    message: dict[str, Any], stops: list[Any]
) -> None:
    assert Pages().say(**message) == stops


def test_a_missed_part_is_answered_for_the_run_under_way_only() -> None:
    pages = Pages()
    pages.say(type="missed", run_id="the one before")
    assert pages.sent == []
    pages.say(type="missed", run_id="this")
    assert pages.sent == [{"type": "progress"}]


def test_a_switch_is_set_and_then_told_with_the_id_it_came_with() -> None:
    assert Pages().say(type="share", id="7", name="df", shared="hidden") == [
        ("sharing.share", "df", "hidden"),
        ("variables.switched", "7"),
    ]
    assert Pages().say(type="share_columns", id="8", name="df", columns=["a"], hidden=True) == [
        ("sharing.share_columns", "df", frozenset({"a"}), "hidden"),
        ("variables.switched", "8"),
    ]


def test_lists_of_a_notebook_are_taken_before_anybody_looks() -> None:
    lists = {"shared": {"df": "hidden"}, "hidden_columns": {}}
    assert Pages().say(type="hello", sharing=lists) == [("sharing.adopt_page", lists), ("variables.look_soon",)]
    assert Pages().say(type="sharing", sharing=lists) == [("sharing.adopt_page", lists), ("variables.switched",)]


def test_a_decision_in_the_notebook_is_recorded_with_the_page_that_made_it() -> None:
    calls: list[tuple[Any, ...]] = []
    pages = Pages()
    decisions = SimpleNamespace(set_cell_state=lambda *args, **named: calls.append((*args, named)))
    pages._messages = replace(pages._messages, decisions=lambda: cast("Any", decisions))
    pages.say(type="cell_state", run_id="r", state="accepted", session="page-1")
    assert calls == [("r", "accepted", {"decided_by": "panel", "session": "page-1"})]


def test_code_that_the_page_runs_in_the_kernel_is_recorded() -> None:
    assert Pages().say(type="applied", run_id="r", code="x = 1") == [("decisions.note_applied", "r", "x = 1")]


def test_the_end_of_a_question_of_a_chat_is_noted() -> None:
    assert Pages().say(type="ask_ended", id="q1") == [("chat_questions.ended", "q1")]
    assert Pages().say(type="ask_ended", id=7) == []


def test_a_yes_that_lasts_is_taken_back() -> None:
    assert Pages().say(type="take_back", kind="call", subject="send") == [("grants.take_back", "call", "send")]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "take_back", "kind": "call"},
        {"type": "share", "name": "df", "shared": "everything"},
        {"type": "share_columns", "name": "df", "columns": "a", "hidden": True},
        {"type": "cell_state", "run_id": "r", "state": "executed"},
        {"type": "applied", "run_id": "r"},
        {"type": "of a later version"},
        {},
    ],
)
def test_what_is_not_understood_changes_nothing(message: dict[str, Any]) -> None:
    pages = Pages()
    assert pages.say(**message) == []
    assert pages.sent == []
