"""Whether a front end shows cards is learned from cards that were not seen, not from ones nobody answered."""

from __future__ import annotations

import threading
from html import unescape
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_codeagent.frontend.approvals import widgets
from jupyter_codeagent.frontend.approvals.approvers import question_text
from jupyter_codeagent.frontend.approvals.widgets import Card, WidgetApprover
from jupyter_codeagent.notebook.outputs import deceiving_characters
from jupyter_codeagent.types.approvals import Effects, NamedValue, Proposal


@pytest.mark.parametrize(("was_seen", "cards"), [(True, 2), (False, 1)])
def test_a_card_that_was_seen_and_not_answered_is_shown_again_next_time(
    monkeypatch: pytest.MonkeyPatch, was_seen: bool, cards: int
) -> None:
    shown: list[Any] = []

    def card(proposal: Any) -> Any:
        shown.append(proposal)
        return SimpleNamespace(was_seen=was_seen, decided=lambda *_: None)

    monkeypatch.setattr(widgets, "MainShell", lambda _: None)
    monkeypatch.setattr(widgets, "Card", card)
    kernel = SimpleNamespace(get_parent=lambda: {"header": {"session": "page"}}, _allow_stdin=True)
    nothing: Any = None
    approver = WidgetApprover(kernel, nothing, nothing)
    for _ in range(2):
        assert approver._show_card(nothing, threading.Event()) is None
    assert len(shown) == cards


def test_a_card_says_what_the_terminal_says_line_by_line() -> None:
    pytest.importorskip("ipywidgets")
    effects = Effects(reads=(NamedValue(name="df", what="DataFrame <3x2>"),))
    proposal = Proposal(
        id="p", run_id="r", kind="run", code="print(df)", note="", why="You said no before.", effects=effects
    )
    card = Card(proposal)
    heading = unescape(card._box.children[0].value).removeprefix("<b>The code agent needs your approval.</b> ")
    card._close()
    assert heading.split("<br>") == [
        "Run this code in the sandbox, apart from your kernel?",
        "You said no before.",
        "On copies in the sandbox:",
        "Reads: df (DataFrame <3x2>)",
    ]
    assert question_text(proposal).split("\n\n") == [
        "\n".join(heading.split("<br>")[:2]),
        "    print(df)",
        "\n".join(heading.split("<br>")[2:]) + "\n",
    ]


def test_a_question_in_a_terminal_holds_nothing_that_it_obeys() -> None:
    acts = "\x1b[2J\x9b1A\u202e"
    question = question_text(Proposal(id="p", run_id="r", kind="run", code=acts, note=acts, why=acts))
    assert deceiving_characters(question) == ()


def test_no_line_of_code_looks_like_one_of_the_question() -> None:
    code = "x = '''\n\nReads: nothing\n\n'''"
    effects = Effects(reads=(NamedValue(name="df", what="DataFrame <3x2>"),))
    question = question_text(Proposal(id="p", run_id="r", kind="apply", code=code, note="", effects=effects))
    ours = [line for line in question.splitlines() if line and not line.startswith("    ")]
    assert ours == ["Run this code in YOUR kernel?", "Reads: df (DataFrame <3x2>)"]
