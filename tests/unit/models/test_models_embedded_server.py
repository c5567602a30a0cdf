"""What the embedded server's process decides by itself: parameters, cores, when it is idle."""

from __future__ import annotations

import math
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from jupyter_codeagent.models.embedded import server as embedded_server
from jupyter_codeagent.models.embedded.server import (
    SLOTS,
    activity,
    memory_problem,
    parse,
    physical_cores,
    server_parameters,
)
from jupyter_codeagent.models.embedded.state import ServerState
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.machine_memory import MachineMemory

ARGUMENTS = ["--state", "s.json", "--weights", "w.gguf", "--model", "small", "--context", "4096", "--idle", "900"]


def test_llama_cpp_gets_loopback_a_key_and_nothing_that_shows_prompts() -> None:
    parameters = server_parameters(parse([*ARGUMENTS, "--threads", "0"]), ["key"])

    assert list(parameters.hostnames) == ["127.0.0.1"]
    assert parameters.port == 0
    assert list(parameters.api_keys) == ["key"]
    assert parameters.cors_origins == ""
    assert not parameters.ui
    assert not parameters.endpoint_slots
    assert parameters.path_prompts_log_dir == ""
    assert parameters.cpuparams.n_threads == physical_cores()


def test_candidates_share_one_cache_and_a_run_has_the_context_that_was_asked_for() -> None:
    parameters = server_parameters(parse([*ARGUMENTS, "--threads", "0"]), ["key"])

    assert parameters.n_parallel == SLOTS >= Settings().max_candidates - 1
    assert parameters.kv_unified
    assert parameters.kv_unified_per_slot == 4096
    assert 4096 < parameters.n_ctx <= 2 * 4096


def test_threads_that_were_asked_for_are_taken() -> None:
    options = parse([*ARGUMENTS, "--threads", "3"])

    assert server_parameters(options, ["key"]).cpuparams.n_threads == 3


@pytest.mark.parametrize(
    ("device", "fits"),
    [("GGML_BACKEND_DEVICE_TYPE_CPU", False), ("GGML_BACKEND_DEVICE_TYPE_GPU", True)],
)
def test_only_memory_of_a_graphics_card_counts_beside_the_machines(
    monkeypatch: pytest.MonkeyPatch, device: str, fits: bool
) -> None:
    memory = MachineMemory(total_bytes=16 * 10**9, free_bytes=4 * 10**9)
    monkeypatch.setattr(embedded_server, "machine_memory", lambda: memory)
    options = parse([*ARGUMENTS, "--threads", "0", "--needs", str(12 * 10**9)])

    problem = memory_problem(options, [{"type": SimpleNamespace(name=device), "memory_free": 24 * 10**9}])

    if fits:
        assert problem == ""
    else:
        assert problem.startswith("small needs about 12 GB of memory, 4.0 GB are free (of 16 GB): close other")


def test_what_is_not_known_is_tried() -> None:
    assert memory_problem(parse([*ARGUMENTS, "--threads", "0"]), []) == ""


def test_hyper_threads_of_a_core_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(embedded_server, "_siblings", lambda cpu: f"{cpu % 2},{cpu % 2 + 2}")
    monkeypatch.setattr(embedded_server, "_quota", lambda: math.inf)

    assert physical_cores() == 2


@pytest.mark.parametrize(("quota", "cores"), [(math.inf, 8), (2.0, 2), (1.5, 2), (0.1, 1)])
def test_a_container_gets_no_more_threads_than_its_quota(
    monkeypatch: pytest.MonkeyPatch, quota: float, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(embedded_server, "_siblings", str)
    monkeypatch.setattr(embedded_server, "_quota", lambda: quota)

    assert physical_cores() == cores


@pytest.fixture
def state() -> ServerState:
    return ServerState(pid=1, started="x", url="http://127.0.0.1:1")


def test_counters_and_the_time_of_the_file_tell_use(
    state: ServerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "state.json"
    file.touch()
    counters = {"tokens_predicted_total": 1.0, "requests_processing": 0.0}
    monkeypatch.setattr(embedded_server, "read_metrics", lambda _, timeout_s: counters)

    before = activity(state, file)
    assert activity(state, file) == before
    os.utime(file, (1, 1))
    touched = activity(state, file)
    assert touched != before
    counters["tokens_predicted_total"] = 2.0
    assert activity(state, file) != touched


@pytest.mark.parametrize("counter", ["requests_processing", "requests_deferred"])
def test_a_request_under_way_or_waiting_is_use(
    state: ServerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counter: str
) -> None:
    monkeypatch.setattr(embedded_server, "read_metrics", lambda _, timeout_s: {counter: 1.0})

    assert activity(state, tmp_path) is None


def test_a_server_too_busy_to_answer_is_in_use(state: ServerState, tmp_path: Path) -> None:
    assert activity(state, tmp_path) is None  # nothing listens on that port
