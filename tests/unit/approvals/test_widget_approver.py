"""Whether a front end shows cards is learned from cards that were not seen, not from ones nobody answered."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_codeagent.approvals import widgets
from jupyter_codeagent.approvals.widgets import WidgetApprover


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
