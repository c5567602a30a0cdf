"""`models.offer`, `sizing`, `memory`, `speed`: what a person reads of the catalogue, on machines of any size."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_codeagent.models.embedded import catalogue_text
from jupyter_codeagent.models.embedded.catalogue import DEFAULT_MODEL, published_weights
from jupyter_codeagent.models.embedded.catalogue_text import (
    Machine,
    download_warnings,
    format_catalogue,
    format_details,
    format_models,
    format_state,
)
from jupyter_codeagent.models.embedded.scores import Score, format_score
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed, expected_tokens_per_s, needed_bytes
from jupyter_codeagent.models.embedded.speed import record_speed, recorded_speed, speed_from_counters
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.machine_memory import MachineMemory, apply_cgroup_limit, machine_memory, read_meminfo
from jupyter_codeagent.types.sizes import gigabytes

GB = 10**9
SMALL, SEVEN, EXPERTS = map(
    published_weights, (DEFAULT_MODEL, "qwen2.5-coder-7b-instruct", "qwen3-coder-30b-a3b-instruct")
)
MEASURED = MeasuredSpeed(model=DEFAULT_MODEL, tokens_per_s=28.0)
SCORE = Score(suite="DABench", right=87, of=132, version="0.1.0", date="2026-11-22")


def machine(total_gb: float, free_gb: float) -> Machine:
    return Machine(
        memory=MachineMemory(total_bytes=int(total_gb * GB), free_bytes=int(free_gb * GB)),
        speed=None,
        scores={},
        fetched=frozenset(),
        version="0.1.0",
        context_tokens=8192,
    )


# --- cost -----------------------------------------------------------------------------------------


def test_memory_is_weights_context_and_room_to_work() -> None:
    assert needed_bytes(SMALL, 8192) == round(1.1 * 1_117_320_768) + 2 * 28 * 2 * 128 * 2 * 8192 + (350 << 20)
    assert needed_bytes(SMALL, 16384) - needed_bytes(SMALL, 8192) == 234_881_024


def test_a_model_writes_slower_the_more_it_reads_for_a_token() -> None:
    assert expected_tokens_per_s(SMALL, MEASURED, SMALL) == 28.0
    assert expected_tokens_per_s(SEVEN, MEASURED, SMALL) == pytest.approx(28.0 * 1_117_320_768 / 4_683_073_536)
    assert expected_tokens_per_s(EXPERTS, MEASURED, SMALL) > 2 * expected_tokens_per_s(SEVEN, MEASURED, SMALL)


@pytest.mark.parametrize(("amount", "text"), [(491_400_064, "0.5 GB"), (9.96 * GB, "10 GB"), (22.1 * GB, "22 GB")])
def test_amounts_are_told_as_precisely_as_they_are_known(amount: float, text: str) -> None:
    assert gigabytes(amount) == text


# --- the machine ----------------------------------------------------------------------------------


def test_what_the_system_would_give_up_at_once_is_free() -> None:
    assert read_meminfo("MemTotal:  16 kB\nMemAvailable:   3 kB\nHugePages_Total:  0\n") == {
        "MemTotal": 16 << 10,
        "MemAvailable": 3 << 10,
    }


def test_a_container_has_no_more_than_its_limit() -> None:
    files = {"memory.max": "8000\n", "memory.current": "5000\n", "memory.stat": "anon 1\ninactive_file 1000\n"}
    host = MachineMemory(total_bytes=64_000, free_bytes=60_000)

    assert apply_cgroup_limit(host, files.__getitem__) == MachineMemory(total_bytes=8000, free_bytes=4000)
    assert apply_cgroup_limit(replace(host, free_bytes=100), files.__getitem__).free_bytes == 100


@pytest.mark.parametrize("limit", ["max\n", ""])
def test_without_a_limit_the_machine_is_what_it_is(limit: str) -> None:
    host = MachineMemory(total_bytes=64_000, free_bytes=60_000)
    files = {"memory.max": limit, "memory.current": "1\n", "memory.stat": ""}

    assert apply_cgroup_limit(host, files.__getitem__) == host


def test_this_machine_has_memory() -> None:
    memory = machine_memory()

    assert 0 <= memory.free_bytes <= memory.total_bytes
    assert memory.total_bytes > 100 << 20


# --- speed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("counters", [{}, {"tokens_predicted_total": 19.0, "tokens_predicted_seconds_total": 1.0}])
def test_few_tokens_tell_no_speed(counters: dict[str, float]) -> None:
    assert speed_from_counters(counters, DEFAULT_MODEL) is None


def test_the_speed_is_that_of_all_answers_since_the_start() -> None:
    counters = {
        "tokens_predicted_total": 200.0,
        "tokens_predicted_seconds_total": 8.0,
        "prompt_seconds_total": 99.0,
    }

    assert speed_from_counters(counters, DEFAULT_MODEL) == MeasuredSpeed(model=DEFAULT_MODEL, tokens_per_s=25.0)


def test_a_recorded_speed_is_read_again(tmp_path: Path) -> None:
    assert recorded_speed(tmp_path) is None
    record_speed(tmp_path, MEASURED)

    assert recorded_speed(tmp_path) == MEASURED


@pytest.mark.parametrize("record", ["", "{}", "[1]", json.dumps({"model": "gone", "tokens_per_s": 3})])
def test_a_record_that_cannot_be_used_is_none(tmp_path: Path, record: str) -> None:
    record_speed(tmp_path, MEASURED)
    [file] = tmp_path.iterdir()
    file.write_text(record)

    assert recorded_speed(tmp_path) is None


# --- what is read ---------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [None, MEASURED])
@pytest.mark.parametrize("total_gb", [8, 16, 32, 64])
def test_the_catalogue_is_twelve_lines_wherever_it_is_read(total_gb: float, speed: MeasuredSpeed | None) -> None:
    lines = format_catalogue(replace(machine(total_gb, total_gb / 2), speed=speed)).splitlines()

    assert len(lines) == 12
    assert max(map(len, lines)) <= 140
    assert lines[-1].startswith("get one: jupyter codeagent models fetch NAME · use it: %agent use embedded:NAME")


@pytest.mark.parametrize(
    ("total_gb", "largest"),
    [
        (8, "qwen2.5-coder-7b-instruct"),
        (16, "qwen2.5-coder-14b-instruct"),
        (24, "qwen3-coder-30b-a3b-instruct"),
        (32, "qwen2.5-coder-32b-instruct"),
    ],
)
def test_what_is_too_large_for_the_machine_says_so(total_gb: float, largest: str) -> None:
    lines = format_catalogue(machine(total_gb, total_gb)).splitlines()[1:-1]

    fitting = [line.split()[0] for line in lines if "too large" not in line]
    assert fitting[-1] == largest
    assert all(f"this machine has {gigabytes(total_gb * GB)}" in line for line in lines if "too large" in line)


def test_whether_it_is_there_and_fits_now_is_told() -> None:
    roomy, full = machine(16, 12), machine(16, 2)

    assert format_state(SEVEN, roomy) == "to fetch: 4.7 GB"
    assert format_state(SEVEN, replace(roomy, fetched=frozenset({SEVEN.model}))) == "fetched"
    assert format_state(SEVEN, full) == "to fetch: 4.7 GB; memory free now: 2.0 GB"
    assert format_state(EXPERTS, full) == "too large: this machine has 16 GB"


def row(here: Machine, model: str) -> str:
    return next(line for line in format_catalogue(here).splitlines() if line.startswith(model))


def test_an_estimated_speed_is_marked_and_a_measured_one_is_not() -> None:
    here = replace(machine(16, 12), speed=MEASURED)

    assert "tokens/s (≈ estimated)" in format_catalogue(here)
    assert "  28  " in row(here, DEFAULT_MODEL)
    assert "  ≈ 6.7  " in row(here, SEVEN.model)
    assert "6.7 tokens/s, estimated from the 28 of qwen2.5-coder-1.5b-instruct here" in format_details(SEVEN, here)
    assert "28 tokens/s, measured here" in format_details(SMALL, here)


def test_before_the_first_answer_no_speed_is_made_up() -> None:
    text = format_catalogue(machine(16, 12))

    assert "tokens/s (after a first run)" in text
    assert "≈" not in text
    assert "unknown until an embedded model has answered here" in format_details(SMALL, machine(16, 12))


def test_a_score_names_what_was_asked_and_another_version() -> None:
    here = replace(machine(16, 12), scores={DEFAULT_MODEL: SCORE})

    assert "87 of 132 DABench" in row(here, DEFAULT_MODEL)
    assert "untested" in row(here, SEVEN.model)
    assert "87 of 132 DABench, 2026-11-22, 0.1.0" in format_details(SMALL, here)
    assert format_score(SCORE, "0.2.0") == "87 of 132 DABench (0.1.0)"


def test_a_licence_that_forbids_paid_work_is_told_wherever_the_model_is() -> None:
    weights = published_weights("qwen2.5-coder-3b-instruct")

    assert "research only" in row(machine(16, 12), weights.model)
    assert "no commercial use" in format_details(weights, machine(16, 12))
    assert any("no commercial use" in note for note in download_warnings(weights, ModelSettings()))


def test_before_gigabytes_are_fetched_it_is_told_that_they_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = MachineMemory(total_bytes=8 * GB, free_bytes=8 * GB)
    monkeypatch.setattr(catalogue_text, "machine_memory", lambda: memory)

    assert download_warnings(SEVEN, ModelSettings()) == []
    assert download_warnings(EXPERTS, ModelSettings()) == [
        f"{EXPERTS.model} needs about 22 GB of memory, this machine has 8.0 GB: it will not be loaded here"
    ]


def test_all_about_one_model_has_its_source_and_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    text = format_models(ModelSettings(), f"embedded:{SEVEN.model}")

    assert SEVEN.sha256 in text
    assert SEVEN.repository in text
    assert "jupyter codeagent models fetch qwen2.5-coder-7b-instruct" in text
    assert "%agent use embedded:qwen2.5-coder-7b-instruct" in text
    assert format_models(ModelSettings()).count("\n") == 11
    with pytest.raises(UsageError, match="has no model 'nothing'"):
        format_models(ModelSettings(), "nothing")
