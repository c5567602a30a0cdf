"""How fast the embedded model has written on this machine: asked of its server, else as the last one left it."""

from __future__ import annotations

import http.client
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from jupyter_codeagent.models.embedded.catalogue import catalogue
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed
from jupyter_codeagent.models.embedded.state import ServerState, all_states, is_alive, state_directory
from jupyter_codeagent.models.simple_http import http_request

_METRIC = re.compile(r"llamacpp:(\w{1,100}) (\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,2})?)")

ENOUGH_TOKENS = 20
"""Fewer tell more of the first moments than of the speed."""
ASK_TIMEOUT_S = 0.5
"""A server that computes a long prompt answers later; then the last record does."""


def measured_speed() -> MeasuredSpeed | None:
    """Of a model of the catalogue; None as long as none has answered here. Starts nothing."""
    directory = state_directory()
    for _, state in all_states(directory):
        if state.model in catalogue() and state.url and is_alive(state):
            try:
                speed = speed_from_counters(read_metrics(state, timeout_s=ASK_TIMEOUT_S), state.model)
            except (OSError, http.client.HTTPException):
                continue
            if speed is not None:
                return speed
    return recorded_speed(directory)


def speed_from_counters(counters: Mapping[str, float], model: str) -> MeasuredSpeed | None:
    """From llama.cpp's own counters, which count since the server was started."""
    tokens, seconds = counters.get("tokens_predicted_total", 0), counters.get("tokens_predicted_seconds_total", 0)
    if tokens < ENOUGH_TOKENS or seconds <= 0:
        return None
    return MeasuredSpeed(model=model, tokens_per_s=tokens / seconds)


def record_speed(directory: Path, speed: MeasuredSpeed) -> None:
    """For the time after the server has ended itself; called by it."""
    partial = _record(directory).with_suffix(".new")
    partial.write_text(json.dumps(asdict(speed)), encoding="utf-8")
    os.replace(partial, _record(directory))


def recorded_speed(directory: Path) -> MeasuredSpeed | None:
    """None where there is no record, or one that this version cannot use."""
    try:
        speed = MeasuredSpeed(**json.loads(_record(directory).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return speed if speed.model in catalogue() else None


def _record(directory: Path) -> Path:
    """A file for each machine: homes can be shared."""
    return directory / f"speed-{os.uname().nodename}.json"


def read_metrics(state: ServerState, *, timeout_s: float) -> dict[str, float]:
    """``llamacpp:NAME VALUE`` lines of the server's own metrics; what is no such line is left out.

    Raises
    ------
    OSError, http.client.HTTPException
        It does not answer in time.
    """
    answer = http_request(f"{state.url}/metrics", api_key=state.key, timeout_s=timeout_s)
    lines = answer.body.decode("utf-8", "replace").splitlines()
    return {found[1]: float(found[2]) for line in lines if (found := _METRIC.fullmatch(line))}
