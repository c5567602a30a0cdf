"""Programs run by a worker process, their results as evidence: for judges of plots and tables, and for proofs."""

from __future__ import annotations

import base64
import io
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from evals.task import Evidence, FigureFacts

TIMEOUT_S = 60.0


@dataclass(frozen=True, kw_only=True)
class ProgramEnd:
    """`error` is empty if the program ran to its end."""

    evidence: Evidence
    error: str


class ProgramWorker:
    """One process, started anew after a program that did not end. It has no network and changes no file.

    Raises
    ------
    TimeoutError
        A program ran longer than `TIMEOUT_S`; the process is killed.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> ProgramWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def set_up(self, setup: str) -> ProgramEnd:
        """A new namespace with the variables of a task."""
        return self._ask({"setup": setup})

    def run(self, code: str) -> ProgramEnd:
        return self._ask({"code": code})

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _ask(self, request: Mapping[str, str]) -> ProgramEnd:
        process = self._process = self._process if self._process is not None else self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        try:
            answer = self._answers.get(timeout=TIMEOUT_S)
        except queue.Empty:
            self.close()
            raise TimeoutError(f"a program did not end within {TIMEOUT_S:.0f} s") from None
        if not answer:
            self.close()
            raise RuntimeError(f"the process that runs programs has died of: {request}")
        return _program_end(json.loads(answer))

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*behind_walls(), sys.executable, "-m", "evals.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # warnings of programs that are wrong on purpose
            text=True,
            cwd=Path(__file__).parents[1],
            env={**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0"},
        )
        answers: queue.Queue[str] = queue.Queue()
        self._answers = answers
        threading.Thread(target=_read, args=(process, answers), daemon=True).start()
        return process


def behind_walls(*, network: bool = False) -> list[str]:
    """The command before a command whose programs a model wrote: files are read-only, temporary ones end with it.

    Raises
    ------
    FileNotFoundError
        There is no bubblewrap; nothing is run without it.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise FileNotFoundError("evals need bubblewrap (bwrap), which keeps programs of models off your files.")
    walls = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm"]
    walls += [part for name in ("TMPDIR", "HOME", "MPLCONFIGDIR") for part in ("--setenv", name, "/dev/shm")]
    return [bwrap, *walls, "--die-with-parent", "--unshare-all", *(["--share-net"] if network else [])]


def _read(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        answers.put(line)
    answers.put("")


def _program_end(answer: Mapping[str, Any]) -> ProgramEnd:
    return ProgramEnd(evidence=read_evidence(answer), error=answer["error"])


def read_evidence(answer: Mapping[str, Any]) -> Evidence:
    """What `evals.facts.evidence` wrote."""
    return Evidence(
        text=answer["text"],
        namespace={name: read_table(base64.b64decode(data)) for name, data in answer["tables"].items()},
        figures=[_figure(found) for found in answer["figures"]],
    )


def read_table(data: bytes) -> Any:
    """A pandas frame out of Parquet."""
    import pandas as pd

    return pd.read_parquet(io.BytesIO(data))


def _figure(found: Mapping[str, Any]) -> FigureFacts:
    return FigureFacts(
        title=found["title"],
        x_label=found["x_label"],
        y_label=found["y_label"],
        x_ticks=tuple(found["x_ticks"]),
        y_ticks=tuple(found["y_ticks"]),
        bars=tuple(found["bars"]),
        lines=tuple(tuple(line) for line in found["lines"]),
        point_count=found["point_count"],
        patch_count=found["patch_count"],
        legend=tuple(found["legend"]),
    )
