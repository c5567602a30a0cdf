"""Launcher of the embedded model: llama.cpp in a separate process, one per user and set of options."""

from __future__ import annotations

import asyncio
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from jupyter_codeagent.models.embedded.catalogue import INSTALL_LOCAL, model_name, published_weights, uses_own_file
from jupyter_codeagent.models.embedded.server import CAUSE_MARKER, cached_tokens
from jupyter_codeagent.models.embedded.sizing import needed_bytes
from jupyter_codeagent.models.embedded.state import (
    ServerState,
    all_states,
    is_alive,
    is_ours,
    partial_states,
    process_started,
    read_state,
    remove_state,
    state_directory,
    state_file,
)
from jupyter_codeagent.models.embedded.weights import ensure_weights
from jupyter_codeagent.models.simple_http import http_request
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelTimeoutError, ModelUnreachableError, NoModelError, StoppedError

START_LIMIT_S = 90.0
"""Loading takes 4 to 10 s, on a slow disk a minute; larger files take longer (`start_limit_s`)."""
SLOW_DISK_BYTES_PER_S = 50e6
ANSWER_LIMIT_S = 10.0
POLL_S = 0.05
END_LIMIT_S = 3.0
"""Time between SIGTERM and SIGKILL when a server is stopped."""
FOREIGN_STALE_S = 7 * 86400.0
PARTIAL_STALE_S = 60.0
"""A state file is written within milliseconds, possibly by another machine that shares the home directory."""
TRANSPORT_VARIABLE = "CODEAGENT_EMBEDDED_TRANSPORT"
"""`tcp`: on a port of loopback, where every user of the machine can connect, though not without the key."""
SERVER_MODULE = "jupyter_codeagent.models.embedded.server"

FORWARDED_VARIABLES = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "CODEAGENT_STATE_DIR",
)
FORWARDED_PREFIXES = (
    "LC_",
    "XDG_",
    "PYTHON",
    "OMP_",
    "GOMP_",
    "KMP_",
    "GGML_",
    "CUDA_",
    "NVIDIA_",
    "HIP_",
    "ROCR_",
    "VK_",
)
"""Environment variables that the server gets; none of them contains a key or token of the user."""


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """A running server of the embedded model."""

    base_url: str
    """Base URL with ``/v1``, as the openai client needs it."""
    socket_path: str = ""
    """Unix socket that takes the place of the URL's host and port; empty for one on a port."""
    api_key: str = field(repr=False)
    model: str
    pid: int


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """The time limit for the start of a server."""

    limit_s: float
    began: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        """Check whether the limit has passed."""
        return time.monotonic() > self.began + self.limit_s


def embedded_installed() -> bool:
    """Check whether the extra ``[local]`` is installed."""
    return find_spec("xllamacpp") is not None and find_spec("filelock") is not None


async def start_embedded(settings: ModelSettings) -> RunningServer:
    """Return the server for these settings, started if none is running.

    Concurrent callers get the same server. Its idle limit is that of the caller that started it.

    Raises
    ------
    NoModelError
        The extra ``[local]`` is not installed.
    WeightsError
        The weights are missing, truncated or altered.
    ModelUnreachableError
        The server ended during loading; the message contains the last line of its log.
    ModelTimeoutError
        It did not answer within the limit, and was stopped.
    """
    if not embedded_installed():
        raise NoModelError(f"The embedded model is not installed; run: {INSTALL_LOCAL}")
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(_start, settings, cancelled)
    finally:
        cancelled.set()  # if cancelled, the thread stops waiting; the server loads on for the next caller


def listens_on_port() -> bool:
    """Check whether embedded servers are started on a port, for programs that know no Unix sockets."""
    return os.environ.get(TRANSPORT_VARIABLE) == "tcp"


def running_embedded(name: str) -> RunningServer | None:
    """Return the running server of this model, if any. Starts nothing, and does not reset its idle time."""
    for _, state in all_states(state_directory()):
        if state.model == name and state.url and is_alive(state):
            return _server_of(state)
    return None


def _server_of(state: ServerState) -> RunningServer:
    return RunningServer(
        base_url=f"{state.url}/v1",
        socket_path=state.socket_path,
        api_key=state.key,
        model=state.model,
        pid=state.pid,
    )


def start_limit_s(size_bytes: int) -> float:
    """Return the time limit in seconds for a server that loads a file of this size."""
    return START_LIMIT_S + size_bytes / SLOW_DISK_BYTES_PER_S


def _start(settings: ModelSettings, cancelled: threading.Event) -> RunningServer:
    from filelock import FileLock, Timeout

    weights = ensure_weights(settings)
    found = weights.stat()
    directory = state_directory()
    _remove_stale(directory)
    options = (weights, found.st_size, found.st_mtime_ns, settings.context_tokens, settings.threads)
    file = state_file(directory, *options, *(["tcp"] if listens_on_port() else []))
    lock = FileLock(file.with_suffix(".lock"))
    deadline = Deadline(limit_s=start_limit_s(found.st_size))
    while True:
        try:
            with lock.acquire(timeout=0):
                return _running(file) or _launch(settings, weights, file, cancelled, deadline)
        except Timeout:  # another process is starting it, or an idle server is about to end
            _wait(cancelled, deadline, file)


def _running(file: Path) -> RunningServer | None:
    """Return the server of a state file if it answers with its key. The check resets its idle time."""
    state = read_state(file)
    if state is None or not is_alive(state) or not state.url or not _responds(state):
        return None
    os.utime(file)
    return _server_of(state)


def _responds(state: ServerState) -> bool:
    try:
        answer = http_request(
            f"{state.url}/v1/models",
            api_key=state.key,
            timeout_s=ANSWER_LIMIT_S,
            socket_path=state.socket_path,
        )
        return answer.status == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _launch(
    settings: ModelSettings, weights: Path, file: Path, cancelled: threading.Event, deadline: Deadline
) -> RunningServer:
    state = read_state(file)
    loading = state is not None and is_alive(state) and not state.url
    if state is not None and not loading:
        _end(state)  # alive without an answer, or dead
        remove_state(file, state)
    pid = state.pid if state is not None and loading else _spawn(settings, weights, file)
    started = process_started(pid)
    while True:
        server = _running(file)
        if server is not None:
            return server
        if not started or process_started(pid) != started:
            _remove_file(file)
            raise ModelUnreachableError(f"The embedded model ended during loading: {_error_in_log(log_file(file))}")
        try:
            _wait(cancelled, deadline, file)
        except ModelTimeoutError:
            _end(ServerState(pid=pid, started=started))
            _remove_file(file)
            raise


def _wait(cancelled: threading.Event, deadline: Deadline, file: Path) -> None:
    if cancelled.wait(POLL_S):
        raise StoppedError("The start of the embedded model was stopped.")
    if deadline.is_over():
        raise ModelTimeoutError(
            f"The embedded model did not answer within {deadline.limit_s:.0f} s; its log is {log_file(file)}"
        )


def log_file(file: Path) -> Path:
    """Return the path of the log for a state file; the log contains no prompt and no key."""
    return file.with_suffix(".log")


def _spawn(settings: ModelSettings, weights: Path, file: Path) -> int:
    """Start the server in its own process session, and return its pid; it outlives this process."""
    command = [sys.executable, "-P", "-m", SERVER_MODULE, "--state", str(file), "--weights", str(weights)]
    command += ["--model", model_name(settings), "--context", str(settings.context_tokens)]
    command += ["--threads", str(settings.threads), "--idle", str(settings.idle_shutdown_s)]
    command += ["--needs", str(_needs_bytes(settings)), *(["--tcp"] if listens_on_port() else [])]
    with open(log_file(file), "wb", opener=_open_private) as log:
        launcher = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            timeout=START_LIMIT_S,
            start_new_session=True,  # Ctrl-C in the notebook must not reach the server
            cwd=file.parent,
            env=server_environment(),
        )
    if launcher.returncode != 0 or not launcher.stdout.strip().isdigit():
        raise ModelUnreachableError(f"The embedded model could not be started: {_error_in_log(log_file(file))}")
    return int(launcher.stdout)


def _needs_bytes(settings: ModelSettings) -> int:
    """Return the memory that must be free; 0 for the user's own file, about which nothing is known."""
    if uses_own_file(settings):
        return 0
    return needed_bytes(published_weights(model_name(settings)), cached_tokens(settings.context_tokens))


def server_environment() -> dict[str, str]:
    """Return the part of this process's environment that the server needs."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in FORWARDED_VARIABLES or name.startswith(FORWARDED_PREFIXES)
    }


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND, 0o600)


def _error_in_log(log: Path) -> str:
    """Return the line of the log that best explains why the server ended."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    messages = [line.strip() for line in lines if line.strip()]
    cause = next((line for line in messages if CAUSE_MARKER in line), messages[-1] if messages else "")
    return cause.rpartition(CAUSE_MARKER)[2][:300] or "its log is empty (often: killed because memory ran out)"


def _remove_stale(directory: Path) -> None:
    """Remove the files of ended servers; those of another machine that shares the home only when long unused."""
    from filelock import FileLock, Timeout

    for file, state in all_states(directory):
        if is_alive(state) or not (is_ours(state) or _age_s(file) > FOREIGN_STALE_S):
            continue
        with suppress(Timeout), FileLock(file.with_suffix(".lock")).acquire(timeout=0):
            if read_state(file) == state:
                remove_state(file, state)
                log_file(file).unlink(missing_ok=True)
    for file, pid in partial_states(directory):
        if not process_started(pid) and _age_s(file) > PARTIAL_STALE_S:
            file.unlink(missing_ok=True)


def _remove_file(file: Path) -> None:
    """Remove the state file of a server that ended during loading, if it has written one."""
    state = read_state(file)
    if state is not None:
        remove_state(file, state)


def _age_s(file: Path) -> float:
    """Return the age of a file; 0 if another process has removed it."""
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def stop_embedded() -> bool:
    """Stop all embedded servers of this user on this machine; true if there was one."""
    stopped = False
    for file, state in all_states(state_directory()):
        if is_ours(state):
            stopped = _end(state) or stopped
            remove_state(file, state)
    return stopped


def _end(state: ServerState) -> bool:
    """Stop the process that wrote the state, by SIGTERM, then SIGKILL; true if it was alive."""
    if not is_alive(state):
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(state.pid, number)
        except ProcessLookupError:
            return True
        deadline = time.monotonic() + END_LIMIT_S
        while is_alive(state) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        if not is_alive(state):
            return True
    return True
