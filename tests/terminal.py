"""A terminal IPython, driven by its standard input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from model_server import ModelServer


def places(directory: Path, server: ModelServer) -> dict[str, str]:
    found = {
        f"JUPYTER_{name}_DIR": str(directory / "jupyter" / name.lower()) for name in ("DATA", "CONFIG", "RUNTIME")
    }
    return {**os.environ, **found, "IPYTHONDIR": str(directory / "ipython"), "CODEAGENT_BASE_URL": server.url}


def ipython(directory: Path, server: ModelServer, script: str, answers: str = "") -> str:
    """A terminal IPython that runs a script and reads `answers` from stdin."""
    path = directory / "script.ipy"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=NoColor", "--no-banner", str(path)],
        input=answers,
        cwd=directory,
        env=places(directory, server),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    return done.stdout + done.stderr
