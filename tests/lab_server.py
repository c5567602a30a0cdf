"""A real JupyterLab for browser tests: own directories, own port, ended with everything it started."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_S = 60


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A running server."""

    url: str
    root: Path
    """Where its notebooks are."""
    environment: dict[str, str]

    def request(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """JSON from the server's REST API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data=data, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
        return json.loads(text) if text else None

    def start_session(self, notebook: str) -> str:
        """Start a kernel for a notebook before its page opens: otherwise Lab may ask which kernel to take."""
        body = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
        return str(self.request("/api/sessions", body)["kernel"]["id"])


@contextmanager
def running_lab(base: Path, environment: dict[str, str]) -> Iterator[Lab]:
    """Start JupyterLab with nothing of the user's in it."""
    root = base / "notebooks"
    settings = base / "settings" / "@jupyterlab" / "apputils-extension"
    for directory in (root, settings):
        directory.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet), encoding="utf-8")
    places = {
        "JUPYTER_CONFIG_DIR": str(base / "config"),
        "JUPYTER_DATA_DIR": str(base / "data"),
        "JUPYTER_RUNTIME_DIR": str(base / "runtime"),
        "JUPYTERLAB_WORKSPACES_DIR": str(base / "workspaces"),
        "JUPYTERLAB_SETTINGS_DIR": str(base / "settings"),
        "IPYTHONDIR": str(base / "ipython"),
    }
    environment = {**os.environ, **places, **environment}
    port = _free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password="),
        *(
            "--ServerApp.disable_check_xsrf=True",
            f"--ServerApp.root_dir={root}",
            "--LabApp.expose_app_in_browser=True",
        ),
    ]
    log_path = base / "server.log"
    with log_path.open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=root)
        lab = Lab(url=f"http://127.0.0.1:{port}", root=root, environment=environment)
        try:
            _wait_until_up(lab, server, log_path)
            yield lab
        finally:
            server.terminate()
            server.wait(30)


def _wait_until_up(lab: Lab, server: subprocess.Popen[bytes], log_path: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(
                f"JupyterLab ended with {server.returncode}:\n{log_path.read_text(encoding='utf-8')}"
            )
        try:
            lab.request("/api/status")
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"JupyterLab was not up after {START_S} s:\n{log_path.read_text(encoding='utf-8')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
