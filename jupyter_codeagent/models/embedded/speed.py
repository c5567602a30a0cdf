"""Generation speed of the embedded model on this machine, from its server or the record of the last one."""

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
"""With fewer tokens the start dominates the measurement."""
ASK_TIMEOUT_S = 0.5
"""A server that processes a long prompt answers later; then the last record is used."""


def measured_speed() -> MeasuredSpeed | None:
    """Return the speed of a model of the catalogue; None until one has answered here. Starts nothing."""
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
    """Return the speed in llama.cpp's counters, which count since the start of the server."""
    tokens, seconds = counters.get("tokens_predicted_total", 0), counters.get("tokens_predicted_seconds_total", 0)
    if tokens < ENOUGH_TOKENS or seconds <= 0:
        return None
    return MeasuredSpeed(model=model, tokens_per_s=tokens / seconds)


def record_speed(directory: Path, speed: MeasuredSpeed) -> None:
    """Record the speed for the time after the server has ended; called by the server."""
    partial = _record(directory).with_suffix(".new")
    partial.write_text(json.dumps(asdict(speed)), encoding="utf-8")
    os.replace(partial, _record(directory))


def recorded_speed(directory: Path) -> MeasuredSpeed | None:
    """Return the recorded speed; None without a record, or for one that this version cannot use."""
    try:
        speed = MeasuredSpeed(**json.loads(_record(directory).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return speed if speed.model in catalogue() else None


def _record(directory: Path) -> Path:
    """Return the file of this machine, because machines may share a home directory."""
    return directory / f"speed-{os.uname().nodename}.json"


def read_metrics(state: ServerState, *, timeout_s: float) -> dict[str, float]:
    """Return the ``llamacpp:NAME VALUE`` lines of the server's metrics; other lines are ignored.

    Raises
    ------
    OSError, http.client.HTTPException
        The server does not answer in time.
    """
    url = f"{state.url}/metrics"
    answer = http_request(url, api_key=state.key, timeout_s=timeout_s, socket_path=state.socket_path)
    lines = answer.body.decode("utf-8", "replace").splitlines()
    return {found[1]: float(found[2]) for line in lines if (found := _METRIC.fullmatch(line))}
