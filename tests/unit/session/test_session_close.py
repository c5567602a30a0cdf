"""The end of a session: everything that it holds is given back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_codeagent.session.wiring import new_session
from jupyter_codeagent.settings.config import CodeAgent


def test_where_one_step_of_the_end_fails_the_others_are_done_and_the_error_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(cast("Any", SimpleNamespace(user_ns={}, user_ns_hidden={})), CodeAgent())
    assert session.background.run(_one()) == 1
    thread = session.background._thread
    closed: list[str] = []

    async def fail() -> None:
        raise OSError("no sandbox to end")

    monkeypatch.setattr(session.workspace, "close", fail)
    monkeypatch.setattr(session.run_log.history, "close", lambda: closed.append("history"))
    with pytest.raises(OSError, match="no sandbox to end"):
        session.close()
    assert closed == ["history"]
    assert thread is not None
    assert not thread.is_alive()


async def _one() -> int:
    return 1
