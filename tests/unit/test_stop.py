"""Stop in a page is meant for the run that the user saw there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyter_codeagent.session import AgentSession


@pytest.mark.parametrize(
    ("message", "stops"),
    [
        ({"type": "stop", "run_id": "this"}, True),
        ({"type": "stop", "run_id": "the one before"}, False),
        ({"type": "stop", "run_id": ""}, False),
        ({"type": "stop"}, False),
    ],
)
def test_stop_stops_only_the_run_it_names(message: dict[str, Any], stops: bool) -> None:
    stopped: list[str] = []
    settings = SimpleNamespace(heard=lambda _: None)
    session = SimpleNamespace(_running_id="this", session_settings=settings, _on_running=stopped.append)
    AgentSession._on_event(cast("AgentSession", session), message)
    assert bool(stopped) is stops
