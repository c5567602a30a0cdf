"""Five times the rounds in one session: nothing grows with the number of runs but the history, and that by little.

Each bound is per run and holds for the second half: the first one fills caches, pools and the conversation.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from endurance.questions import assert_answers, kernel_in, pid_of, read_history, settled_files, slow_model
from endurance.traces import (
    Quarters,
    deleted_maps,
    inner_processes,
    owned,
    resident_bytes,
    threads,
    tree,
)
from kernel_client import Kernel
from model_server import ModelServer, code

KIB = 1 << 10
MIB = 1 << 20
RUNS_PER_ROUND = 4
"""And one with a new sandbox: five in all."""
KERNEL_BYTES_PER_RUN = 128 * KIB
"""A run of this test is a record of about 10 KiB, kept for the conversation and the panel; its cell is kept too."""
SANDBOX_BYTES_PER_RUN = 32 * KIB
"""IPython keeps what it compiled of each cell, for tracebacks."""
SLACK_BYTES = 12 * MIB
"""Between two readings of a process that does not grow: collector and allocator give memory back when they like."""
HISTORY_BYTES_PER_RUN = 48 * KIB
"""The record tells the conversation as it was sent, at most 6000 characters, for each call of the model."""
LOG_BYTES = 8 * MIB
"""SQLite empties its write-ahead log when it has 1000 pages of 4 KiB; a reader may put that off for a while."""
FILES_SLACK = 3
THREADS_SLACK = 2
"""Connections and threads that wait for work are kept, and counted while one more is on its way out."""
ROWS = 50_000
FRAME_BYTES = 8 * ROWS


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What there is between two runs, with one sandbox in use and one to spare."""

    kernel_bytes: int
    sandbox_bytes: int
    history_bytes: int
    log_bytes: int
    files: int
    kernel_threads: int
    sandbox_threads: int
    processes: int
    directories: int
    copies: int
    copies_bytes: int
    stale_maps: int


def read(kernel: Kernel, data: Path) -> Reading:
    files = settled_files(kernel)
    pid = pid_of(kernel)
    in_use = inner_processes(pid)[0]
    directories = owned(pid)
    copies = [file for directory in directories for file in directory.glob("*.piece")]
    return Reading(
        kernel_bytes=resident_bytes(pid),
        sandbox_bytes=resident_bytes(in_use),
        history_bytes=stored_bytes(data / "codeagent" / "history.sqlite"),
        log_bytes=(data / "codeagent" / "history.sqlite-wal").stat().st_size,
        files=files,
        kernel_threads=threads(pid),
        sandbox_threads=threads(in_use),
        processes=len(tree(pid)),
        directories=len(directories),
        copies=len(copies),
        copies_bytes=sum(file.stat().st_size for file in copies),
        stale_maps=deleted_maps(in_use, ".piece"),
    )


def stored_bytes(database: Path) -> int:
    """What the pages of a database take, whether they are still in its write-ahead log or not."""
    with closing(sqlite3.connect(database)) as connection:
        (pages,), (page_bytes,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
    return int(pages) * int(page_bytes)


def ask(kernel: Kernel, server: ModelServer, number: int) -> None:
    """In turn: of a frame that is another one now, of the same again, and one whose code fails."""
    first = number - number % 3
    if number == first:
        made = kernel.run(f"big = pd.DataFrame({{'x': np.full({ROWS}, {number})}})")
        assert made.error == ""
    fails = number % 3 == 2
    server.script(code(f"big['x'].sum() / {0 if fails else 1} + big['y' if {fails} else 'x'].sum()"))
    ran = kernel.ask(f"question {number}", "--vars big --max-steps 1")
    if fails:
        assert ran.error.startswith("RunFailedError")
        assert "KeyError" in ran.error
    else:
        assert ran.error == ""
        assert str(2 * ROWS * first) in ran.text


@pytest.mark.long("takes its time")
def test_many_runs_in_one_session_grow_nothing_but_the_history(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, rounds: int
) -> None:
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    half = 3 * max(1, RUNS_PER_ROUND * rounds // 6)
    with kernel_in(tmp_path, environment) as kernel:
        kernel.run("import numpy as np")
        readings = []
        for number in range(6 + 2 * half):
            ask(kernel, model_server, number)
            if number in (5, 5 + half, 5 + 2 * half):
                readings.append(read(kernel, tmp_path / "data"))
                print(json.dumps(asdict(readings[-1])))
    quarters.assert_empty()
    warm, middle, end = readings
    assert (end.processes, end.directories, end.copies) == (warm.processes, 3, 1)
    assert end.copies_bytes < 2 * FRAME_BYTES
    assert end.stale_maps <= warm.stale_maps <= 1
    assert end.files <= middle.files + FILES_SLACK
    assert end.kernel_threads <= middle.kernel_threads + THREADS_SLACK
    assert end.sandbox_threads <= middle.sandbox_threads + THREADS_SLACK
    assert end.kernel_bytes - middle.kernel_bytes < SLACK_BYTES + half * KERNEL_BYTES_PER_RUN
    assert end.sandbox_bytes - middle.sandbox_bytes < SLACK_BYTES + half * SANDBOX_BYTES_PER_RUN
    assert end.history_bytes - middle.history_bytes < half * HISTORY_BYTES_PER_RUN
    assert end.log_bytes < LOG_BYTES
    assert len(read_history(tmp_path / "data")) == 6 + 2 * half


@pytest.mark.long("takes its time")
def test_many_new_sandboxes_leave_nothing_of_the_old_ones(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, rounds: int
) -> None:
    slow_model(model_server)
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    with kernel_in(tmp_path, environment) as kernel:
        assert_answers(kernel, "warm up")
        readings = []
        for number in range(1 + rounds):
            assert_answers(kernel, f"question {number}", "--new")
            readings.append(read(kernel, tmp_path / "data"))
            assert len(quarters.directories()) == 2
        print(*(json.dumps(asdict(reading)) for reading in (readings[0], readings[-1])), sep="\n")
    quarters.assert_empty()
    first, last = readings[0], readings[-1]
    assert (last.processes, last.directories, last.copies) == (first.processes, 3, 1)
    assert last.files <= first.files + FILES_SLACK
    assert last.kernel_threads <= first.kernel_threads + THREADS_SLACK
    assert last.kernel_bytes - first.kernel_bytes < SLACK_BYTES + rounds * KERNEL_BYTES_PER_RUN
