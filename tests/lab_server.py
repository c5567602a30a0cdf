"""A real JupyterLab or Notebook 7 for browser tests: own directories, own port, ended with all it started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from listening import wait_for_port

START_S = 240
"""Alone it takes 3 s; a machine with much else to do takes longer, and no test is about that."""
END_S = 120
REQUEST_S = 120
COLLABORATION = Path(__file__).parents[1] / "build" / "collaboration"
"""Where `make test` installs `e2e/collaboration.txt`: beside the other packages it would be on everywhere."""

Application = Literal["lab", "notebook"]
STARTED_AS: dict[Application, tuple[str, str]] = {
    "lab": ("jupyterlab", "LabApp"),
    "notebook": ("notebook", "JupyterNotebookApp"),
}
"""Module and name of its configuration."""


@dataclass(frozen=True, kw_only=True)
class Lab:
    """A running server."""

    url: str
    root: Path
    """Where its notebooks are."""
    environment: dict[str, str]
    application: Application = "lab"
    command: tuple[str, ...] = ()
    process: subprocess.Popen[bytes]

    def page_url(self, notebook: str) -> str:
        """Of a page with this notebook; in JupyterLab in a workspace of its own."""
        if self.application == "notebook":
            return f"{self.url}/notebooks/{notebook}"
        return f"{self.url}/lab/workspaces/{uuid.uuid4().hex[:8]}/tree/{notebook}"

    def request(self, path: str, body: Any = None, method: str | None = None) -> Any:
        """JSON from the server's REST API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data=data, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=REQUEST_S) as response:
            text = response.read()
        return json.loads(text) if text else None

    def start_session(self, notebook: str) -> str:
        """Start a kernel for a notebook before its page opens: otherwise Lab may ask which kernel to take."""
        name = notebook.rpartition("/")[2]  # as a page says it; the server puts the folder in front
        body = {"path": notebook, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
        return str(self.request("/api/sessions", body)["kernel"]["id"])


@contextmanager
def running_lab(
    base: Path,
    environment: dict[str, str],
    application: Application = "lab",
    disabled_extensions: Sequence[str] = (),
    python: str = sys.executable,
    kernel_settings: Sequence[str] = (),
) -> Iterator[Lab]:
    """Start JupyterLab or Notebook 7 with nothing of the user's in it; `python` is that of its environment.

    `kernel_settings` are lines of the configuration of its kernels.
    """
    root = base / "notebooks"
    settings = base / "settings" / "@jupyterlab" / "apputils-extension"
    page_config = base / "config" / "labconfig"
    profile = base / "ipython" / "profile_default"
    for directory in (root, settings, page_config, profile):
        directory.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet), encoding="utf-8")
    disabled = {"disabledExtensions": dict.fromkeys(disabled_extensions, True), "buildCheck": False}
    (page_config / "page_config.json").write_text(json.dumps(disabled), encoding="utf-8")
    (profile / "ipython_config.py").write_text("\n".join(kernel_settings), encoding="utf-8")
    # In the directory of sockets, whose addresses may be no longer than 107 bytes: pytest's own are longer.
    with tempfile.TemporaryDirectory(prefix="lab-") as runtime:
        places = {
            "JUPYTER_CONFIG_DIR": str(base / "config"),
            "JUPYTER_DATA_DIR": str(base / "data"),
            "JUPYTER_RUNTIME_DIR": runtime,
            "JUPYTERLAB_WORKSPACES_DIR": str(base / "workspaces"),
            "JUPYTERLAB_SETTINGS_DIR": str(base / "settings"),
            "IPYTHONDIR": str(base / "ipython"),
        }
        environment = {**os.environ, **places, **environment}
        log_path = base / "server.log"
        command = _command(application, root, port=0, python=python)
        with _process(command, environment, root, log_path) as server:
            port = wait_for_port(server, log_path, START_S)
            yield Lab(
                url=f"http://127.0.0.1:{port}",
                root=root,
                environment=environment,
                application=application,
                command=_command(application, root, port=port, python=python),
                process=server,
            )


def _command(application: Application, root: Path, *, port: int, python: str) -> tuple[str, ...]:
    """With port 0 the server takes a free one. Kernels listen on Unix sockets: ports of theirs could be taken."""
    module, app_name = STARTED_AS[application]
    return (
        *(python, "-m", module, "--no-browser", "--allow-root", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password="),
        *("--ServerApp.disable_check_xsrf=True", f"--ServerApp.root_dir={root}"),
        *(f"--{app_name}.expose_app_in_browser=True", "--KernelManager.transport=ipc"),
    )


@contextmanager
def serving_again(lab: Lab, log_path: Path) -> Iterator[Lab]:
    """The same server started anew, at the same address, after its process has ended."""
    lab.process.wait(END_S)
    with _process(lab.command, lab.environment, lab.root, log_path) as server:
        wait_for_port(server, log_path, START_S)
        yield replace(lab, process=server)


@contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str], directory: Path, log_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log_path.open("w", encoding="utf-8") as log:
        told = {**environment, "PYTHONFAULTHANDLER": "1"}
        server = subprocess.Popen(command, env=told, stdout=log, stderr=subprocess.STDOUT, cwd=directory)
        try:
            yield server
        finally:
            server.terminate()
            try:
                server.wait(END_S)
            except subprocess.TimeoutExpired:
                server.send_signal(signal.SIGABRT)  # where it is stuck goes to its log: PYTHONFAULTHANDLER
                server.wait(END_S)
                text = log_path.read_text(encoding="utf-8", errors="replace")[-6000:]
                raise AssertionError(f"The server was still there {END_S} s after SIGTERM:\n{text}") from None


def with_collaboration(environment: dict[str, str]) -> dict[str, str]:
    """Environment of a server with jupyter-collaboration; raises where `make test` has not installed it."""
    if not COLLABORATION.is_dir():
        raise FileNotFoundError(f"{COLLABORATION} is missing: see tests/e2e/collaboration.txt, or run `make test`.")

    def first(place: Path, name: str) -> str:
        return os.pathsep.join(filter(None, (str(place), os.environ.get(name))))

    return {
        **environment,
        "PYTHONPATH": first(COLLABORATION, "PYTHONPATH"),
        "JUPYTER_PATH": first(COLLABORATION / "share" / "jupyter", "JUPYTER_PATH"),
        "JUPYTER_CONFIG_PATH": first(COLLABORATION / "etc" / "jupyter", "JUPYTER_CONFIG_PATH"),
    }
