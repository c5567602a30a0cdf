"""`jupyter_codeagent.history.store` and `jupyter_codeagent.history.database`, in real files and real processes."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from run_examples import CODE, example_run

from jupyter_codeagent.history import HistoryStore, RunFilter
from jupyter_codeagent.history.store import INTERRUPTED, MAX_INTEGER, default_history_path
from jupyter_codeagent.types.errors import HistoryError, UnknownRunError
from jupyter_codeagent.types.messages import Usage

SCHEMA_1 = Path(__file__).parents[2] / "history_schema_1.sql"
"""Written by the program of that schema; never to be changed."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "codeagent" / "history.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[HistoryStore]:
    store = HistoryStore(path)
    yield store
    store.close()


def ids(found: tuple[int, tuple[object, ...]]) -> list[str]:
    return [row.id for row in found[1]]  # type: ignore[attr-defined]


def in_another_process(script: str, path: Path) -> subprocess.Popen[str]:
    """A Python process with a store `s` at `path` and `example_run`; its stdin and stdout are pipes."""
    head = (
        "import os, sys; from pathlib import Path; from run_examples import example_run\n"
        "from jupyter_codeagent.history import HistoryStore\n"
        "s = HistoryStore(Path(sys.argv[1]))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", head + script, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def close(process: subprocess.Popen[str]) -> int:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return process.wait(30)


# --- in and out ---------------------------------------------------------------------------------------


def test_a_run_comes_back_whole(store: HistoryStore) -> None:
    store.save(example_run(), session="k")

    assert store.load(example_run().id) == example_run()


def test_saving_again_replaces_the_record(store: HistoryStore) -> None:
    run = example_run()
    store.save(replace(run, status="running", steps=run.steps[:1], code="", answer=""), session="k")
    store.save(run, session="k")

    assert store.load(run.id) == run
    assert store.search()[0] == 1


def test_any_unicode_comes_back_as_it_was(store: HistoryStore) -> None:
    run = example_run(request__prompt="half a pair \ud83d, zero \x00, quotes '\"; DROP TABLE runs; --")
    store.save(run, session="k")

    assert store.load(run.id) == run
    assert store.search(RunFilter(text="drop table"))[0] == 1


@pytest.mark.parametrize("tokens", [10**30, -(10**30), 1 << 63, float("nan"), float("inf")])
def test_no_count_of_tokens_whoever_made_it_up_loses_a_run(store: HistoryStore, tokens: int) -> None:
    run = replace(example_run(), usage=Usage(prompt_tokens=tokens, completion_tokens=7))
    store.save(run, session="k")

    assert store.load(run.id).code == run.code
    [row] = store.search()[1]
    assert -MAX_INTEGER <= row.prompt_tokens <= MAX_INTEGER
    assert row.completion_tokens == 7


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(store: HistoryStore) -> None:
    for run_id in ("abc1", "abc2", "abc", "b"):
        store.save(example_run(id=run_id), session="k")

    assert store.load("abc1").id == "abc1"
    assert store.load("abc").id == "abc"
    with pytest.raises(UnknownRunError, match="More than one run begins with 'ab'"):
        store.load("ab")


@pytest.mark.parametrize("run_id", ["nothing", "", "%"])
def test_an_unknown_run_is_an_error_that_says_where_to_look(store: HistoryStore, run_id: str) -> None:
    store.save(example_run(), session="k")

    with pytest.raises(UnknownRunError, match="%agent history"):
        store.load(run_id)


def test_rows_hold_what_a_list_shows(store: HistoryStore) -> None:
    store.save(example_run(), session="k")
    _, (row,) = store.search()

    assert (row.id, row.prompt, row.model) == (example_run().id, example_run().request.prompt, "qwen-coder")
    assert (row.notebook, row.cell_id, row.status, row.cell_state) == ("work/eda.ipynb", "agent", "ok", "pending")
    assert (row.started_at, row.ended_at, row.steps) == (1_700_000_000.0, 1_700_000_003.5, 2)
    assert (row.prompt_tokens, row.completion_tokens, row.error) == (250, 27, "")


# --- search -------------------------------------------------------------------------------------------


def test_lists_are_newest_first_and_come_in_pages(store: HistoryStore) -> None:
    for number in range(5):
        store.save(example_run(id=f"r{number}", started_at=100.0 + number), session="k")

    assert ids(store.search(limit=2)) == ["r4", "r3"]
    assert ids(store.search(limit=2, offset=4)) == ["r0"]
    assert store.search(limit=2)[0] == 5
    assert store.search(limit=-1) == (5, ())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("WHICH CARRIER", True),
        ("arr_delay.mean", True),
        ("flights.delay", True),  # only in the code of a failed attempt
        ("frontier (f9)", True),
        ("late which", True),
        ("arri", True),
        ("r", True),
        ("penguin", False),
        ("carrier penguin", False),
        ("ÜBER ДЛЯ", True),
    ],
)
def test_search_finds_every_word_in_prompt_code_and_answer_in_any_case(
    store: HistoryStore, text: str, found: bool
) -> None:
    base = example_run()
    store.save(
        example_run(request__prompt=f"{base.request.prompt} über для arrivals", answer=base.answer), session="k"
    )

    assert (store.search(RunFilter(text=text))[0] == 1) is found


@pytest.mark.parametrize(
    "text", ['"', "'", "a OR b", "NEAR(", "*", "%", "_", "col:x", "-x", "\\", "\ud83d", "{}", "[1]"]
)
def test_user_text_is_never_search_syntax(store: HistoryStore, text: str) -> None:
    store.save(example_run(id="plain", request__prompt="a", code="", answer="", steps=()), session="k")
    store.save(example_run(id="with", request__prompt=f"x {text} y", code="", answer="", steps=()), session="k")

    assert ids(store.search(RunFilter(text=text))) == ["with"]


def test_a_search_of_thousands_of_words_is_only_a_search(store: HistoryStore) -> None:
    store.save(example_run(), session="k")

    assert store.search(RunFilter(text="late " * 20_000))[0] == 1


def test_notebook_and_status_narrow_a_list(store: HistoryStore) -> None:
    store.save(example_run(id="a", request__notebook="a.ipynb"), session="k")
    store.save(example_run(id="b", request__notebook="b.ipynb", status="failed", error="no"), session="k")

    assert ids(store.search(RunFilter(notebooks=("a.ipynb",)))) == ["a"]
    assert ids(store.search(RunFilter(status="failed"))) == ["b"]
    assert store.search(RunFilter(notebooks=("a.ipynb",), status="failed")) == (0, ())


def test_every_condition_narrows_a_list_and_all_together_hold(store: HistoryStore) -> None:
    store.save(example_run(id="a", request__model="small", started_at=100.0), session="k")
    store.save(example_run(id="b", request__model="large", started_at=200.0), session="k")
    store.save(example_run(id="c", request__model="large", started_at=300.0, status="failed"), session="k")
    store.set_cell_state("b", "accepted", "panel")

    assert ids(store.search(RunFilter(model="large"))) == ["c", "b"]
    assert ids(store.search(RunFilter(since=200.0))) == ["c", "b"]
    assert [ids(store.search(RunFilter(outcome=word))) for word in ("accepted", "failed", "pending")] == [
        ["b"],
        ["c"],
        ["a"],
    ]
    assert ids(store.search(RunFilter(model="large", since=250.0, outcome="accepted"))) == []
    assert ids(store.search(RunFilter(notebooks=("other.ipynb", "work/eda.ipynb"), model="small"))) == ["a"]


def test_an_overview_counts_what_each_choice_would_show_and_tells_when_the_runs_were(store: HistoryStore) -> None:
    for number, (notebook, model) in enumerate(
        (("a.ipynb", "m"), ("a.ipynb", "n"), ("b.ipynb", "m"), ("b.ipynb", "m"))
    ):
        run = example_run(
            id=f"r{number}", started_at=100.5 + number, request__notebook=notebook, request__model=model
        )
        store.save(run, session="k")
    store.save(
        example_run(id="last", status="failed", request__notebook="a.ipynb", request__model="m"), session="k"
    )
    store.set_cell_state("r0", "edited", "panel")

    of_a = store.overview(RunFilter(notebooks=("a.ipynb",)))
    assert of_a.times == (1_700_000_000, 101, 100)
    assert of_a.notebooks == (("a.ipynb", 3), ("b.ipynb", 2))  # so many would be there if it were chosen instead
    assert of_a.models == (("m", 2), ("n", 1))
    assert dict(of_a.outcomes) == {"failed": 1, "pending": 1, "edited": 1}
    assert store.overview(RunFilter(model="n", text="penguin")).times == ()
    assert store.overview(RunFilter(outcome="edited", text="FRONTIER")).times == (100,)


def test_a_word_that_only_the_code_has_is_shown_where_it_stands_as_it_was_written(store: HistoryStore) -> None:
    line = "x = 1; " * 10 + "Late = flights.groupby('carrier')['ARR_Delay'].mean().sort_values()" + " # end" * 40
    store.save(example_run(code=f"import pandas\n    {line}", request__prompt="late \ud83d"), session="k")
    (found,) = store.search(RunFilter(text="late arr_delay"))[1]
    (of_prompt,) = store.search(RunFilter(text="late"))[1]
    (of_failed,) = store.search(RunFilter(text="flights.delay"))[1]

    assert "['ARR_Delay'].mean()" in found.excerpt
    assert (found.excerpt[0], found.excerpt[-1], "\n" in found.excerpt) == ("…", "…", False)
    assert of_prompt.excerpt == store.search()[1][0].excerpt == ""
    assert of_failed.excerpt == "flights.delay"


def test_the_runs_of_a_cell_are_found_newest_first_also_after_a_rename(store: HistoryStore) -> None:
    store.save(example_run(id="old", started_at=1.0, request__notebook="before.ipynb"), session="k")
    store.save(example_run(id="new", started_at=2.0), session="k")
    store.save(example_run(id="other", started_at=3.0, request__cell_id="other"), session="k")

    assert [(row.id, row.notebook) for row in store.runs_of_cell("agent")] == [
        ("new", "work/eda.ipynb"),
        ("old", "before.ipynb"),
    ]


def test_undecided_results_are_found_by_notebook_and_by_question_if_they_were_put_there_as_cells(
    store: HistoryStore,
) -> None:
    here = {"cell_state": "pending", "placed": "cells", "request__notebook": "eda.ipynb"}
    runs = {
        "lost": {},
        "decided": {"cell_state": "accepted"},
        "failed": {"status": "failed"},
        "printed": {"placed": "nowhere"},
        "in VS Code": {"placed": "output"},
        "of an older version": {"placed": ""},
        "elsewhere": {"request__notebook": "other.ipynb", "request__cell_id": "unknown"},
        "renamed since": {"request__notebook": "before.ipynb"},
        "the kernel died": {"placed": "inserting", "request__cell_id": "another"},
        "never arrived": {"placed": "undelivered"},
        "discarded later": {},
    }
    for number, (run_id, changes) in enumerate(runs.items()):
        store.save(example_run(id=run_id, started_at=float(number), **{**here, **changes}), session="k")
    store.set_cell_state("discarded later", "discarded", "panel")

    found = [row.id for row in store.undecided(["eda.ipynb"], ["agent"])]
    assert found == ["never arrived", "the kernel died", "renamed since", "lost"]
    assert [row.id for row in store.undecided(["eda.ipynb"], [])] == ["never arrived", "the kernel died", "lost"]
    assert store.undecided([], []) == ()


def test_a_damaged_record_does_not_hide_the_other_undecided_results(store: HistoryStore, path: Path) -> None:
    for run_id in ("good", "bad"):
        store.save(example_run(id=run_id, cell_state="pending", placed="cells"), session="k")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET record = '{' WHERE n = (SELECT n FROM runs WHERE id = 'bad')")
    connection.close()

    assert [row.id for row in store.undecided([], ["agent"])] == ["good"]


# --- decisions ----------------------------------------------------------------------------------------


def test_a_decision_wins_over_the_record_and_over_later_saves(store: HistoryStore) -> None:
    run = example_run()
    store.save(run, session="k")
    store.set_cell_state(run.id, "accepted", "panel")
    store.save(run, session="k")

    assert store.load(run.id).cell_state == "accepted"
    assert store.search()[1][0].cell_state == "accepted"


def test_running_code_in_the_live_kernel_is_on_record_as_its_own_decision_and_leaves_the_cells_state(
    store: HistoryStore,
) -> None:
    run = example_run()
    store.save(run, session="k")
    store.set_cell_state(run.id, "edited", "panel")
    store.note_applied(run.id, "daily = 'as edited'", "stdin")

    assert [(decision.what, decision.by, decision.code) for decision in store.decisions(run.id)] == [
        ("edited", "panel", ""),
        ("applied", "stdin", "daily = 'as edited'"),
    ]
    assert store.load(run.id).cell_state == "edited"
    assert store.search()[1][0].cell_state == "edited"


def test_all_decisions_stay_on_record_and_the_newest_holds(store: HistoryStore) -> None:
    run = example_run()
    store.save(run, session="k")
    store.set_cell_state(run.id, "accepted", "panel")
    store.set_cell_state(run.id, "edited", "magic")

    assert [(made.what, made.by) for made in store.decisions(run.id)] == [
        ("accepted", "panel"),
        ("edited", "magic"),
    ]
    assert store.decisions(run.id)[0].at <= store.decisions(run.id)[1].at
    assert store.load(run.id).cell_state == "edited"


def test_a_decision_that_two_pages_report_is_on_record_once(store: HistoryStore) -> None:
    run = example_run(cell_state="pending")
    store.save(run, session="k")

    assert not store.set_cell_state(run.id, "pending", "panel"), "nobody has decided anything"
    assert [store.set_cell_state(run.id, "accepted", "panel") for _ in range(2)] == [True, False]
    assert [store.set_cell_state(run.id, "pending", "panel") for _ in range(2)] == [True, False]
    assert [made.what for made in store.decisions(run.id)] == ["accepted", "pending"]


def test_the_states_of_runs_are_those_of_the_newest_decision(store: HistoryStore) -> None:
    for run_id in ("a", "b"):
        store.save(example_run(id=run_id, cell_state="pending"), session="k")
    store.set_cell_state("a", "discarded", "panel")
    store.note_applied("b", "x", "panel")

    assert store.cell_states(["a", "b", "unknown"]) == {"a": "discarded", "b": "pending"}
    assert {row.id: row.cell_state for row in store.rows(["a", "b", "unknown"])} == {
        "a": "discarded",
        "b": "pending",
    }


def test_a_decision_over_an_unknown_run_is_an_error(store: HistoryStore) -> None:
    with pytest.raises(UnknownRunError, match="no run 'x'"):
        store.set_cell_state("x", "accepted", "panel")


# --- runs whose kernel is gone ------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["running", "waiting"])
def test_a_run_whose_kernel_was_killed_is_interrupted_and_that_of_a_living_one_is_not(
    store: HistoryStore, path: Path, status: Literal["running", "waiting"]
) -> None:
    process = in_another_process(
        f"s.save(example_run(status={status!r}, ended_at=None), session='k')\n"
        "print('saved', flush=True); sys.stdin.read()",
        path,
    )
    assert first_line(process) == "saved"
    alive, row_alive = store.load(example_run().id), store.search()[1][0]
    process.kill()
    close(process)
    dead, row_dead = store.load(example_run().id), store.search()[1][0]

    assert (alive.status, row_alive.status, alive.ended_at, alive.error) == (status, status, None, "")
    assert (dead.status, row_dead.status, dead.error) == ("interrupted", "interrupted", INTERRUPTED)
    assert dead.ended_at == row_dead.ended_at is not None
    assert store.search(RunFilter(status="interrupted"))[0] == 1
    assert store.search(RunFilter(status=status))[0] == 0


def test_looking_does_not_change_the_record_of_a_run(store: HistoryStore, path: Path) -> None:
    store.save(example_run(status="running", ended_at=None), session="k")
    reader = HistoryStore(path)
    reader.search()
    reader.load(example_run().id)
    reader.close()

    assert store.load(example_run().id).status == "running"


def test_a_run_that_ended_well_stays_so_when_its_kernel_is_gone(store: HistoryStore, path: Path) -> None:
    store.save(example_run(), session="k")
    store.close()
    with_reader = HistoryStore(path)

    assert with_reader.load(example_run().id).status == "ok"
    with_reader.close()


def test_a_closed_store_leaves_its_open_runs_interrupted(store: HistoryStore, path: Path) -> None:
    store.save(example_run(status="running", ended_at=None), session="k")
    store.close()

    assert store.load(example_run().id).status == "interrupted"


# --- forgetting ---------------------------------------------------------------------------------------


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def test_what_is_deleted_is_gone_from_the_disk_too(store: HistoryStore, path: Path) -> None:
    store.save(example_run(id="keep"), session="k")
    for answer in ("first", "second" * 5000, "third"):
        store.save(example_run(id="secret", request__prompt="my salary is 4711", answer=answer), session="k")
    store.set_cell_state("secret", "accepted", "salary panel")
    assert b"salary" in bytes_on_disk(path)

    store.delete("secret")

    assert b"salary" not in bytes_on_disk(path)
    assert ids(store.search()) == ["keep"]
    assert store.decisions("secret") == ()
    with pytest.raises(UnknownRunError):
        store.delete("secret")


def test_deleting_takes_a_whole_id_not_the_beginning_of_one(store: HistoryStore) -> None:
    store.save(example_run(id="abc"), session="k")

    with pytest.raises(UnknownRunError):
        store.delete("ab")


def test_a_run_under_way_cannot_be_deleted_and_an_interrupted_one_can(store: HistoryStore) -> None:
    run = example_run(status="running", ended_at=None)
    store.save(run, session="k")
    with pytest.raises(HistoryError, match="still running: stop it"):
        store.delete(run.id)
    assert store.forget() == 0

    store.close()
    store.delete(run.id)
    assert store.search()[0] == 0


def test_a_notebook_or_everything_can_be_forgotten(store: HistoryStore) -> None:
    for number, notebook in enumerate(("a.ipynb", "a.ipynb", "b.ipynb", "c.ipynb")):
        store.save(example_run(id=f"r{number}", started_at=100.0 + number, request__notebook=notebook), session="k")

    assert store.delete_notebook("a.ipynb", "also/a.ipynb") == 2
    assert store.forget() == 2
    assert store.search() == (0, ())


def test_the_file_shrinks_when_runs_are_forgotten(store: HistoryStore, path: Path) -> None:
    store.save(example_run(context="x" * 3_000_000), session="k")
    store.forget()

    assert path.stat().st_size < 200_000


# --- many at once ---------------------------------------------------------------------------------------


def test_threads_share_one_store(store: HistoryStore) -> None:
    failures: list[BaseException] = []

    def work(thread: int) -> None:
        try:
            for number in range(20):
                store.save(example_run(id=f"{thread}-{number}"), session="k")
                store.search(limit=1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert store.search()[0] == 80


def test_processes_create_and_write_one_file_at_once_without_losing_a_run(store: HistoryStore, path: Path) -> None:
    script = (
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for number in range(50): s.save(example_run(id=f'{os.getpid()}-{number}'), session='k')\n"
        "s.close()\n"
    )
    processes = [in_another_process(script, path) for _ in range(3)]
    for process in processes:
        assert first_line(process) == "ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()

    assert [process.wait(60) for process in processes] == [0, 0, 0]
    for process in processes:
        close(process)
    assert store.search()[0] == 150


def test_kill_9_in_the_middle_of_writing_loses_at_most_the_step_under_way(store: HistoryStore, path: Path) -> None:
    script = (
        "step = example_run().steps[0]\n"
        "for number in range(1, 100_000):\n"
        "    steps, context = (step,) * (number % 50), str(number) * 2000\n"
        "    s.save(example_run(status='running', steps=steps, context=context), session='k')\n"
        "    print(number, flush=True)\n"
    )
    process = in_another_process(script, path)
    assert process.stdout is not None
    for _ in range(40):
        acknowledged = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.wait(30)
    acknowledged = max([acknowledged, *(int(line) for line in process.stdout.read().split("\n")[:-1])])
    close(process)

    run = store.load(example_run().id)
    number = int(run.context[: len(run.context) // 2000])
    assert number in (acknowledged, acknowledged + 1)
    assert len(run.steps) == number % 50
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


# --- files ------------------------------------------------------------------------------------------------


def test_the_files_are_for_the_user_alone(store: HistoryStore, path: Path) -> None:
    store.save(example_run(status="running"), session="k")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.rglob("*")}

    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert modes.pop("history.sqlite-writers") == 0o700
    assert set(modes.values()) == {0o600}
    assert {"history.sqlite", "history.sqlite-wal"} < set(modes)


def test_the_default_place_is_the_jupyter_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))

    assert default_history_path() == tmp_path / "codeagent" / "history.sqlite"
    assert HistoryStore().path == default_history_path()


def test_making_a_store_touches_nothing(path: Path) -> None:
    HistoryStore(path).close()

    assert not path.parent.exists()


def test_a_file_of_the_first_schema_opens_with_all_that_it_has_and_takes_what_came_since(
    store: HistoryStore, path: Path
) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.executescript(SCHEMA_1.read_text(encoding="utf-8"))
    connection.close()
    run = example_run()

    assert store.load(run.id).code == run.code
    assert store.load(run.id).cell_state == "edited", "what ran in the live kernel is no state of cells"
    store.note_applied(run.id, "daily", "panel")
    store.close()
    assert [(made.what, made.by, made.code) for made in store.decisions(run.id)] == [
        ("edited", "panel", ""),
        ("applied", "stdin", ""),
        ("applied", "panel", "daily"),
    ]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    connection.close()


def test_a_file_of_a_newer_version_is_refused_and_not_touched(store: HistoryStore, path: Path) -> None:
    store.save(example_run(), session="k")
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()

    for action in (store.search, lambda: store.save(example_run(), session="k"), store.forget):
        with pytest.raises(HistoryError, match=r"schema version 99.* Upgrade jupyter-codeagent"):
            action()
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all, " * 200, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_named_and_never_deleted(store: HistoryStore, path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)

    with pytest.raises(HistoryError, match=r"history.sqlite is damaged .* move it away"):
        store.save(example_run(), session="k")
    store.close()
    assert path.read_bytes() == content


def test_a_damaged_page_in_the_middle_is_an_error_of_the_run_that_it_hits(store: HistoryStore, path: Path) -> None:
    for number in range(200):
        store.save(example_run(id=f"r{number}"), session="k")
    store.close()
    content = bytearray(path.read_bytes())
    content[len(content) // 4 : -4096] = b"\xff" * (len(content) * 3 // 4 - 4096)
    path.write_bytes(content)

    with pytest.raises(HistoryError, match=r"history.sqlite is damaged"):
        list(map(store.load, (f"r{number}" for number in range(200))))


def test_an_unreadable_record_is_an_error_of_that_run_alone(store: HistoryStore, path: Path) -> None:
    for run_id in ("good", "bad"):
        store.save(example_run(id=run_id), session="k")
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE records SET record = '{\"id\": 1' WHERE n = (SELECT n FROM runs WHERE id = 'bad')"
        )
    connection.close()

    assert store.load("good").id == "good"
    with pytest.raises(HistoryError, match="record of run bad"):
        store.load("bad")


def test_a_place_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = HistoryStore(tmp_path / "file" / "history.sqlite")

    with pytest.raises(HistoryError, match=r"cannot be opened .* JUPYTER_DATA_DIR"):
        store.save(example_run(), session="k")


def test_a_full_disk_is_an_error_and_keeps_what_was_written(store: HistoryStore, path: Path) -> None:
    script = (
        "import resource\n"
        "from jupyter_codeagent.types.errors import HistoryError\n"
        "s.save(example_run(id='before'), session='k')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try: s.save(example_run(id='big', context='x' * 2_000_000), session='k')\n"
        "except HistoryError as error: print(error, flush=True)\n"
    )
    process = in_another_process(script, path)
    line = first_line(process)
    assert close(process) == 0

    assert "Is the disk full?" in line
    assert str(path) in line
    assert ids(store.search()) == ["before"]


def test_no_key_is_in_the_file(store: HistoryStore, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEAGENT_API_KEY", "sk-very-secret")
    store.save(example_run(), session="k")

    assert b"sk-very-secret" not in bytes_on_disk(path)
    assert json.dumps(CODE)[1:-1].encode() in bytes_on_disk(path)


def test_ten_thousand_runs_are_listed_and_searched_in_less_than_300_ms_of_a_processor(
    store: HistoryStore, path: Path
) -> None:
    store.save(example_run(id="r", code="x = flights.mean()\n" * 100), session="k")
    with sqlite3.connect(path) as connection:
        names = [name for _, name, *_ in connection.execute("PRAGMA table_info(runs)") if name not in ("n", "id")]
        numbers = "WITH RECURSIVE numbers(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM numbers WHERE i < 10000)"
        for table, columns in (("runs", ["id", *names]), ("records", ["record"]), ("texts", ["text"])):
            values = ", ".join("'r' || i" if column == "id" else column for column in columns)
            connection.execute(
                f"{numbers} INSERT INTO {table} (n, {', '.join(columns)}) SELECT i, {values} FROM {table}, numbers"
            )
    connection.close()
    started = time.thread_time()
    listed = store.search()
    middle = time.thread_time()
    found = store.search(RunFilter(text="flights penguins"))
    ended = time.thread_time()

    assert (listed[0], found[0]) == (10_000, 0)
    assert middle - started < 0.3
    assert ended - middle < 0.3
