"""`jupyter codeagent …` in a directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from model_server import ModelServer
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LOAD = (
    "%load_ext jupyter_codeagent\nimport pandas as pd\n"
    "df = pd.DataFrame({'city': ['Oslo', 'Rome', 'Oslo'], 'n': [1, 2, 4]})"
)


def codeagent(directory: Path, server: ModelServer | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a directory of its own, with nothing of the user's configuration."""
    places = {
        f"JUPYTER_{name}_DIR": str(directory / "jupyter" / name.lower()) for name in ("DATA", "CONFIG", "RUNTIME")
    }
    environment = {**os.environ, **places, "IPYTHONDIR": str(directory / "ipython")}
    if server is not None:
        environment["CODEAGENT_BASE_URL"] = server.url
    return subprocess.run(
        [sys.executable, "-m", "jupyter_codeagent.entrypoints.cli", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


def write(path: Path, *sources: str) -> Path:
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_markdown_cell("# Mine"), *(new_code_cell(source) for source in sources)]
    nbformat.write(notebook, path)
    return path
