"""The store of runs. All methods may be called from any thread and by several processes at once."""

from __future__ import annotations

import json
import math
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from jupyter_codeagent.history.database import Database
from jupyter_codeagent.history.search import Overview, RunFilter, build_overview, find_excerpt
from jupyter_codeagent.history.writers import WriterLock, dead_writers
from jupyter_codeagent.notebook.cells import without_surrogates
from jupyter_codeagent.types.errors import HistoryError, UnknownRunError
from jupyter_codeagent.types.run import AgentRun, CellState, Placed, RunStatus
from jupyter_codeagent.types.run_json import run_from_json, run_to_json

MAX_SEARCHED_CHARS = 200_000
"""Limit for prompt, code and answer of one run together."""
MAX_ROWS = 1000
MAX_INTEGER = (1 << 63) - 1
"""SQLite's limit."""
MAX_UNDECIDED = 50
"""Limit for undecided results that are returned at once."""
IN_NOTEBOOK: tuple[Placed, ...] = ("cells", "undelivered", "inserting")
"""Placements in the notebook; `inserting` stays where the kernel ended during the insertion."""
EVERYTHING = RunFilter()
INTERRUPTED = "The kernel went away before the run ended."

# The newest decision overrides the record; a run whose process is gone is reported as interrupted.
_VIEW = """
    SELECT n, id, prompt, notebook, cell_id, model, started_at, saved_at, steps, prompt_tokens, completion_tokens,
        error, writer,
        CASE WHEN status IN ('running', 'waiting') AND writer IN (SELECT value FROM json_each(:dead))
            THEN 'interrupted' ELSE status END AS status,
        CASE WHEN status IN ('running', 'waiting') AND writer IN (SELECT value FROM json_each(:dead))
            THEN saved_at ELSE ended_at END AS ended_at,
        coalesce((SELECT what FROM decisions WHERE run_id = runs.id AND what <> 'applied'
            ORDER BY decisions.n DESC LIMIT 1), cell_state)
            AS cell_state
    FROM runs
"""
_FOUND = f"(SELECT *, CASE status WHEN 'ok' THEN cell_state ELSE status END AS outcome FROM ({_VIEW}))"  # noqa: S608
_MATCHES = """
    (:notebooks = '[]' OR notebook IN (SELECT value FROM json_each(:notebooks)))
    AND (:model IS NULL OR model = :model) AND (:status IS NULL OR status = :status)
    AND (:outcome IS NULL OR outcome = :outcome) AND (:since IS NULL OR started_at >= :since)
    AND (:words = '[]' OR n IN (
        SELECT n FROM texts
        WHERE NOT EXISTS (SELECT 1 FROM json_each(:words) AS word WHERE NOT instr(texts.text, word.value))
    ))
"""
_COLUMNS = (
    "id, prompt, notebook, cell_id, model, status, started_at, ended_at, steps, prompt_tokens, completion_tokens, "
    "cell_state, error"
)


@dataclass(frozen=True, kw_only=True)
class RunRow:
    """One run in a list."""

    id: str
    prompt: str
    notebook: str | None
    cell_id: str | None
    model: str
    status: RunStatus
    started_at: float
    """Seconds since the epoch."""
    ended_at: float | None
    steps: int
    prompt_tokens: int
    completion_tokens: int
    cell_state: CellState
    error: str
    excerpt: str = ""
    """Part of a line of code or answer with a search word that the prompt does not contain."""

    @property
    def line(self) -> str:
        """The run as a line of a list in a terminal."""
        return f"{self.id}  {self.status:<11} {self.cell_state:<9} {self.model}  {self.prompt[:80]!r}"


@dataclass(frozen=True, kw_only=True)
class CellDecision:
    """A decision about the cells of a run."""

    run_id: str
    at: float
    """Seconds since the epoch."""
    what: CellState | Literal["applied"]
    """`applied`: its code was run in the live kernel; the state of its cells is a separate decision."""
    by: str
    code: str
    """Code exactly as it ran in the live kernel, with the person's edits; empty for other decisions, and for those
    of schema version 1."""


class HistoryStore:
    """The history at `path`, by default in the Jupyter data directory; opened at first use.

    Every method raises `HistoryError` if the file is damaged, newer than this version or not writable, or if the
    disk is full; its contents stay.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path if path is not None else default_history_path()
        self._database = Database(self.path)
        self._writers = self.path.with_name(f"{self.path.name}-writers")
        self._writer_lock: WriterLock | None = None
        self._writer_lock_guard = threading.Lock()

    def close(self) -> None:
        """Close the history; runs of this store that have not ended count as interrupted. Idempotent."""
        with self._writer_lock_guard:
            if self._writer_lock is not None:
                self._writer_lock.release()
            self._writer_lock = None
        self._database.close()

    # --- writing --------------------------------------------------------------------------------------

    def save(self, run: AgentRun, *, session: str) -> None:
        """Write the whole record of a run, replacing its earlier one; decisions about its cells stay.

        Takes less than 1 ms for a run of 10 kB, 10 ms for one with 1 MB of outputs. After it returns, the run
        survives a kill of this process.
        """
        record = json.dumps(run_to_json(run))
        with self._database.transaction(write=True) as connection:
            row = _row(run, session=session, writer=self._token())
            names, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
            updates = ", ".join(f"{name} = excluded.{name}" for name in row)
            connection.execute(
                f"INSERT INTO runs ({names}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {updates}",  # noqa: S608 - our names
                row,
            )
            (number,) = connection.execute("SELECT n FROM runs WHERE id = ?", (row["id"],)).fetchone()
            connection.execute("REPLACE INTO records (n, record) VALUES (?, ?)", (number, record))
            connection.execute("REPLACE INTO texts (n, text) VALUES (?, ?)", (number, _searched_text(run)))

    def set_cell_state(self, run_id: str, state: CellState, decided_by: str) -> bool:
        """Record a decision about a run's cells, and return whether it differs from the previous one.

        Earlier decisions stay on record; the newest is valid. Several pages that share a notebook may report the
        same decision: it is recorded once.

        Raises
        ------
        UnknownRunError
        """
        with self._database.transaction(write=True) as connection:
            _require(connection, run_id)
            if _cell_states(connection, [run_id]) == {run_id: state}:
                return False
            connection.execute(
                "INSERT INTO decisions (run_id, at, what, by) VALUES (?, ?, ?, ?)",
                (run_id, time.time(), state, decided_by),
            )
        return True

    def note_applied(self, run_id: str, code: str, decided_by: str) -> None:
        """Record that a person ran this code of a run, with their edits, in the live kernel.

        The state of the run's cells does not change.

        Raises
        ------
        UnknownRunError
        """
        with self._database.transaction(write=True) as connection:
            _require(connection, run_id)
            connection.execute(
                "INSERT INTO decisions (run_id, at, what, by, code) VALUES (?, ?, 'applied', ?, ?)",
                (run_id, time.time(), decided_by, without_surrogates(code)),
            )

    def delete(self, run_id: str) -> None:
        """Delete one run with its decisions, and overwrite it on the disk.

        Raises
        ------
        UnknownRunError
        HistoryError
            The run has not ended: its kernel would write it again.
        """
        with self._database.transaction() as connection:
            _require(connection, run_id)
        if not self._delete("id = :id", {"id": run_id}):
            raise HistoryError(f"Run {run_id} is still running: stop it, then delete it.")

    def delete_notebook(self, *paths: str) -> int:
        """Delete all ended runs of a notebook, by any of its paths, and return their number."""
        given = json.dumps([without_surrogates(path) for path in paths])
        return self._delete("notebook IN (SELECT value FROM json_each(:paths))", {"paths": given})

    def forget(self) -> int:
        """Delete all ended runs, and return their number."""
        return self._delete("TRUE", {})

    def _delete(self, condition: str, values: dict[str, Any]) -> int:
        with self._database.transaction(write=True) as connection:
            rows = connection.execute(
                f"SELECT n, id FROM ({_VIEW}) WHERE status NOT IN ('running', 'waiting') AND ({condition})",  # noqa: S608 - ours
                {**values, "dead": self._dead(connection)},
            ).fetchall()
            for table in ("runs", "records", "texts"):
                connection.executemany(f"DELETE FROM {table} WHERE n = ?", [(number,) for number, _ in rows])  # noqa: S608
            connection.executemany("DELETE FROM decisions WHERE run_id = ?", [(run_id,) for _, run_id in rows])
        self._database.shrink()
        return len(rows)

    # --- reading --------------------------------------------------------------------------------------

    def load(self, run_id: str) -> AgentRun:
        """Return one run by its id, or by a prefix of it that no other run shares.

        Raises
        ------
        UnknownRunError
        """
        with self._database.transaction() as connection:
            known = _find(connection, run_id)
            status, cell_state, ended_at, record = connection.execute(
                f"SELECT status, cell_state, ended_at, record FROM ({_VIEW}) JOIN records USING (n) WHERE id = :id",  # noqa: S608
                {"id": known, "dead": self._dead(connection)},
            ).fetchone()
        try:
            run = run_from_json(json.loads(record))
        except (TypeError, ValueError) as error:
            raise HistoryError(f"The record of run {known} in {self.path} cannot be read ({error}).") from error
        if status == "interrupted":
            run = replace(run, status="interrupted", ended_at=ended_at, error=run.error or INTERRUPTED)
        return replace(run, cell_state=cell_state)

    def search(
        self, wanted: RunFilter = EVERYTHING, *, limit: int = 50, offset: int = 0
    ) -> tuple[int, tuple[RunRow, ...]]:
        """Return the number of matching runs, and a page of them, newest first."""
        with self._database.transaction() as connection:
            values = self._values(connection, wanted)
            numbers = connection.execute(
                f"SELECT n FROM {_FOUND} WHERE {_MATCHES} ORDER BY n DESC",  # noqa: S608 - ours
                values,
            ).fetchall()
            first = max(0, offset)
            page = [number for (number,) in numbers[first : first + max(0, min(limit, MAX_ROWS))]]
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM ({_VIEW}) WHERE n IN (SELECT value FROM json_each(:page)) "  # noqa: S608
                "ORDER BY n DESC",
                {"page": json.dumps(page), "dead": values["dead"]},
            ).fetchall()
            excerpts = self._excerpts(connection, wanted, page)
        return len(numbers), tuple(_run_row(row, excerpt=found) for row, found in zip(rows, excerpts, strict=True))

    def overview(self, wanted: RunFilter) -> Overview:
        """Return the start times of the matching runs, and the numbers of runs by notebook, model and outcome."""
        others = replace(wanted, notebooks=(), model=None, outcome=None)
        with self._database.transaction() as connection:
            rows = connection.execute(
                f"SELECT notebook, model, outcome, started_at FROM {_FOUND} WHERE {_MATCHES} ORDER BY n DESC",  # noqa: S608
                self._values(connection, others),
            ).fetchall()
        return build_overview(rows, wanted)

    def _values(self, connection: sqlite3.Connection, wanted: RunFilter) -> dict[str, Any]:
        return _storable_values(
            {
                "words": json.dumps([without_surrogates(word) for word in wanted.words]),
                "notebooks": json.dumps([without_surrogates(path) for path in wanted.notebooks]),
                "model": wanted.model,
                "status": wanted.status,
                "outcome": wanted.outcome,
                "since": wanted.since,
                "dead": self._dead(connection),
            }
        )

    def _excerpts(self, connection: sqlite3.Connection, wanted: RunFilter, page: list[int]) -> list[str]:
        """Return the excerpts for one page of runs, from the records: the search index is case-folded."""
        if not wanted.words:
            return [""] * len(page)
        found = []
        for number in page:
            # SQLite's JSON functions would return half a surrogate pair, which Python cannot decode.
            prompt, record = connection.execute(
                "SELECT prompt, record FROM runs JOIN records USING (n) WHERE n = ?", (number,)
            ).fetchone()
            found.append(find_excerpt(wanted.words, prompt, _searched_parts(record)))
        return found

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all runs, newest first."""
        with self._database.transaction() as connection:
            rows = connection.execute("SELECT id FROM runs ORDER BY n DESC").fetchall()
        return tuple(run_id for (run_id,) in rows)

    def runs_of_cell(self, cell_id: str) -> tuple[RunRow, ...]:
        """Return the runs of one `%%agent` cell, newest first, under any name of its notebook."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM ({_VIEW}) WHERE cell_id = :cell_id ORDER BY n DESC",  # noqa: S608 - ours
                _storable_values({"cell_id": cell_id, "dead": self._dead(connection)}),
            ).fetchall()
        return tuple(_run_row(row) for row in rows)

    def cell_states(self, run_ids: Sequence[str]) -> dict[str, CellState]:
        """Return the current cell state of each of these runs; unknown runs are missing."""
        with self._database.transaction() as connection:
            return _cell_states(connection, run_ids)

    def rows(self, run_ids: Sequence[str]) -> tuple[RunRow, ...]:
        """Return these runs in no particular order; unknown runs are missing."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM ({_VIEW}) WHERE id IN (SELECT value FROM json_each(:ids))",  # noqa: S608
                {
                    "ids": json.dumps([without_surrogates(run_id) for run_id in run_ids]),
                    "dead": self._dead(connection),
                },
            ).fetchall()
        return tuple(_run_row(row) for row in rows)

    def undecided(self, notebooks: Sequence[str], cell_ids: Sequence[str]) -> tuple[RunRow, ...]:
        """Return the results that were inserted as cells and that nobody has decided about, newest first.

        They belong to the notebooks at these paths, or to prompts in these cells, under any name of the notebook.
        """
        with self._database.transaction() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS}, record FROM ({_VIEW}) JOIN records USING (n) "  # noqa: S608 - ours
                "WHERE status = 'ok' AND cell_state = 'pending' "
                "AND (notebook IN (SELECT value FROM json_each(:notebooks)) "
                "OR cell_id IN (SELECT value FROM json_each(:cell_ids))) ORDER BY n DESC LIMIT :limit",
                {
                    "notebooks": json.dumps([without_surrogates(path) for path in notebooks]),
                    "cell_ids": json.dumps([without_surrogates(cell_id) for cell_id in cell_ids]),
                    "dead": self._dead(connection),
                    "limit": MAX_UNDECIDED,
                },
            ).fetchall()
        return tuple(_run_row(row) for *row, record in rows if _placement(record) in IN_NOTEBOOK)

    def decisions(self, run_id: str) -> tuple[CellDecision, ...]:
        """Return all decisions about a run's cells, oldest first."""
        with self._database.transaction() as connection:
            rows = connection.execute(
                "SELECT run_id, at, what, by, code FROM decisions WHERE run_id = ? ORDER BY n", (run_id,)
            ).fetchall()
        return tuple(
            CellDecision(run_id=found, at=at, what=what, by=by, code=code) for found, at, what, by, code in rows
        )

    def _token(self) -> str:
        with self._writer_lock_guard:
            if self._writer_lock is None:
                self._writer_lock = WriterLock(self._writers)
            return self._writer_lock.token

    def _dead(self, connection: sqlite3.Connection) -> str:
        """Return a JSON list of the writers that are gone although one of their runs has not ended."""
        rows = connection.execute(
            "SELECT DISTINCT writer FROM runs WHERE status IN ('running', 'waiting')"
        ).fetchall()
        return json.dumps(dead_writers(self._writers, (token for (token,) in rows)))


def default_history_path() -> Path:
    """Return ``codeagent/history.sqlite`` in the Jupyter data directory."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / "codeagent" / "history.sqlite"


def _row(run: AgentRun, *, session: str, writer: str) -> dict[str, Any]:
    return _storable_values(
        {
            "id": run.id,
            "session": session,
            "writer": writer,
            "prompt": run.request.prompt,
            "notebook": run.request.notebook,
            "cell_id": run.request.cell_id,
            "model": run.request.model,
            "status": run.status,
            "started_at": run.started_at,
            "ended_at": run.ended_at,
            "saved_at": time.time(),
            "steps": len(run.steps),
            "prompt_tokens": run.usage.prompt_tokens,
            "completion_tokens": run.usage.completion_tokens,
            "cell_state": run.cell_state,
            "error": run.error,
        }
    )


def _run_row(row: Sequence[Any], *, excerpt: str = "") -> RunRow:
    """Return the run of a database row with the values of `_COLUMNS`."""
    return RunRow(**dict(zip(_COLUMNS.split(", "), row, strict=True)), excerpt=excerpt)


def _searched_text(run: AgentRun) -> str:
    """Return the text for the search: prompt, answer and all code, failed attempts included."""
    parts = [run.request.prompt, run.answer, run.code, *(step.code for step in run.steps)]
    text = "\n".join(dict.fromkeys(part for part in parts if part))
    return without_surrogates(text[:MAX_SEARCHED_CHARS].casefold())


def _searched_parts(record: str) -> tuple[Any, ...]:
    """Return the searched texts of a record in their original case; none for a damaged record."""
    try:
        run = json.loads(record)
        return (run["code"], run["answer"], *(step["code"] for step in run["steps"]))
    except (KeyError, TypeError, ValueError):
        return ()


def _placement(record: str) -> str:
    """Return where the result was placed; empty if the record is damaged or older than this field."""
    try:
        return str(json.loads(record).get("placed", ""))
    except (AttributeError, ValueError):
        return ""


def _storable_values(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _storable(value) for name, value in values.items()}


def _storable(value: Any) -> Any:
    """Return a value that SQLite can store: no text or number, however invented, may prevent a row."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, int):
        return min(max(value, -MAX_INTEGER), MAX_INTEGER)
    return 0 if isinstance(value, float) and not math.isfinite(value) else value


def _cell_states(connection: sqlite3.Connection, run_ids: Sequence[str]) -> dict[str, CellState]:
    # `dead` affects the status only.
    rows = connection.execute(
        f"SELECT id, cell_state FROM ({_VIEW}) WHERE id IN (SELECT value FROM json_each(:ids))",  # noqa: S608 - ours
        {"ids": json.dumps([without_surrogates(run_id) for run_id in run_ids]), "dead": "[]"},
    ).fetchall()
    return dict(rows)


def _require(connection: sqlite3.Connection, run_id: str) -> None:
    if connection.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone() is None:
        raise UnknownRunError(f"The history has no run {run_id!r}; `%agent history` lists them.")


def _find(connection: sqlite3.Connection, beginning: str) -> str:
    rows = connection.execute(
        "SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id != ? LIMIT 2",
        (len(beginning), beginning, beginning),
    ).fetchall()
    if len(rows) == 2 and beginning != rows[0][0]:
        raise UnknownRunError(f"More than one run begins with {beginning!r}; give more of its id.")
    if not rows or not beginning:
        raise UnknownRunError(f"The history has no run {beginning!r}; `%agent history` lists them.")
    return str(rows[0][0])
