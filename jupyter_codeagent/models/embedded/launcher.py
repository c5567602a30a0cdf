"""The embedded model: llama.cpp in a process of its own, one per user and set of options."""

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

from jupyter_codeagent.models.embedded.catalogue import model_name, published_weights, uses_own_file
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
"""Between the polite and the hard end of a server."""
FOREIGN_STALE_S = 7 * 86400.0
PARTIAL_STALE_S = 60.0
"""A state file is written within milliseconds, perhaps by another machine that shares the home."""
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
"""What the server gets of the environment: no key or token of the user is among it."""


@dataclass(frozen=True, kw_only=True)
class RunningServer:
    """Where the embedded model answers."""

    base_url: str
    """With ``/v1``, as the openai client wants it."""
    api_key: str = field(repr=False)
    model: str
    pid: int


@dataclass(frozen=True, kw_only=True)
class Deadline:
    """Until when a start is waited for."""

    limit_s: float
    began: float = field(default_factory=time.monotonic)

    def is_over(self) -> bool:
        return time.monotonic() > self.began + self.limit_s


def embedded_installed() -> bool:
    """Whether the extra ``[local]`` is there."""
    return find_spec("xllamacpp") is not None and find_spec("filelock") is not None


async def start_embedded(settings: ModelSettings) -> RunningServer:
    """The server for these settings: the one that runs, else a new one.

    Two callers at once get the same server. Its idle limit is that of the caller who started it.

    Raises
    ------
    NoModelError
        The extra ``[local]`` is not installed.
    WeightsError
        The weights are missing, truncated or altered.
    ModelUnreachableError
        The server ended while it loaded; with the last line of its log.
    ModelTimeoutError
        It did not answer within the limit, and was ended.
    """
    if not embedded_installed():
        raise NoModelError("The embedded model is not installed; run: pip install 'jupyter-codeagent[local]'")
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(_start, settings, cancelled)
    finally:
        cancelled.set()  # if cancelled, the thread stops waiting; the server loads on for the next caller


def running_embedded(name: str) -> RunningServer | None:
    """A living server of this model, if there is one. Starts nothing, and does not keep it from ending as idle."""
    for _, state in all_states(state_directory()):
        if state.model == name and state.url and is_alive(state):
            return RunningServer(base_url=f"{state.url}/v1", api_key=state.key, model=state.model, pid=state.pid)
    return None


def start_limit_s(size_bytes: int) -> float:
    """Seconds after which a server that loads a file of this size is given up."""
    return START_LIMIT_S + size_bytes / SLOW_DISK_BYTES_PER_S


def _start(settings: ModelSettings, cancelled: threading.Event) -> RunningServer:
    from filelock import FileLock, Timeout

    weights = ensure_weights(settings)
    found = weights.stat()
    directory = state_directory()
    _remove_stale(directory)
    file = state_file(
        directory, weights, found.st_size, found.st_mtime_ns, settings.context_tokens, settings.threads
    )
    lock = FileLock(file.with_suffix(".lock"))
    deadline = Deadline(limit_s=start_limit_s(found.st_size))
    while True:
        try:
            with lock.acquire(timeout=0):
                return _running(file) or _launch(settings, weights, file, cancelled, deadline)
        except Timeout:  # another process starts it, or an idle server is about to end
            _wait(cancelled, deadline, file)


def _running(file: Path) -> RunningServer | None:
    """The server of this file if it answers with its key. Asking counts as use: it will not end as idle now."""
    state = read_state(file)
    if state is None or not is_alive(state) or not state.url or not _responds(state):
        return None
    os.utime(file)
    return RunningServer(base_url=f"{state.url}/v1", api_key=state.key, model=state.model, pid=state.pid)


def _responds(state: ServerState) -> bool:
    try:
        return http_request(f"{state.url}/v1/models", api_key=state.key, timeout_s=ANSWER_LIMIT_S).status == 200
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _launch(
    settings: ModelSettings, weights: Path, file: Path, cancelled: threading.Event, deadline: Deadline
) -> RunningServer:
    state = read_state(file)
    loading = state is not None and is_alive(state) and not state.url
    if state is not None and not loading:
        _end(state)  # alive but deaf, or dead
        file.unlink(missing_ok=True)
    pid = state.pid if state is not None and loading else _spawn(settings, weights, file)
    started = process_started(pid)
    while True:
        server = _running(file)
        if server is not None:
            return server
        if not started or process_started(pid) != started:
            file.unlink(missing_ok=True)
            raise ModelUnreachableError(
                f"The embedded model ended while it loaded: {_error_in_log(log_file(file))}"
            )
        try:
            _wait(cancelled, deadline, file)
        except ModelTimeoutError:
            _end(ServerState(pid=pid, started=started))
            file.unlink(missing_ok=True)
            raise


def _wait(cancelled: threading.Event, deadline: Deadline, file: Path) -> None:
    if cancelled.wait(POLL_S):
        raise StoppedError("The start of the embedded model was stopped.")
    if deadline.is_over():
        raise ModelTimeoutError(
            f"The embedded model did not answer within {deadline.limit_s:.0f} s; its log is {log_file(file)}"
        )


def log_file(file: Path) -> Path:
    """The log beside a state file; holds no prompt and no key."""
    return file.with_suffix(".log")


def _spawn(settings: ModelSettings, weights: Path, file: Path) -> int:
    """Start the server in a session of its own and return its pid; it has no parent that could take it along."""
    command = [sys.executable, "-P", "-m", SERVER_MODULE, "--state", str(file), "--weights", str(weights)]
    command += ["--model", model_name(settings), "--context", str(settings.context_tokens)]
    command += ["--threads", str(settings.threads), "--idle", str(settings.idle_shutdown_s)]
    command += ["--needs", str(_needs_bytes(settings))]
    with open(log_file(file), "wb", opener=_open_private) as log:
        launcher = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            timeout=START_LIMIT_S,
            start_new_session=True,  # Ctrl-C in the notebook is not for the server
            cwd=file.parent,
            env=server_environment(),
        )
    if launcher.returncode != 0 or not launcher.stdout.strip().isdigit():
        raise ModelUnreachableError(f"The embedded model could not be started: {_error_in_log(log_file(file))}")
    return int(launcher.stdout)


def _needs_bytes(settings: ModelSettings) -> int:
    """Memory that has to be free; 0 where nothing is known of the user's own file."""
    if uses_own_file(settings):
        return 0
    return needed_bytes(published_weights(model_name(settings)), cached_tokens(settings.context_tokens))


def server_environment() -> dict[str, str]:
    """What of this process's environment the server needs."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in FORWARDED_VARIABLES or name.startswith(FORWARDED_PREFIXES)
    }


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_APPEND, 0o600)


def _error_in_log(log: Path) -> str:
    """The line of the log that says most about why it ended."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    said = [line.strip() for line in lines if line.strip()]
    cause = next((line for line in said if CAUSE_MARKER in line), said[-1] if said else "")
    return cause.rpartition(CAUSE_MARKER)[2][:300] or "it said nothing (often: killed for want of memory)"


def _remove_stale(directory: Path) -> None:
    """Forget servers that are gone; those of another machine that shares the home only when long unused."""
    from filelock import FileLock, Timeout

    for file, state in all_states(directory):
        if is_alive(state) or not (is_ours(state) or _age_s(file) > FOREIGN_STALE_S):
            continue
        with suppress(Timeout), FileLock(file.with_suffix(".lock")).acquire(timeout=0):
            if read_state(file) == state:
                file.unlink(missing_ok=True)
                log_file(file).unlink(missing_ok=True)
    for file, pid in partial_states(directory):
        if not process_started(pid) and _age_s(file) > PARTIAL_STALE_S:
            file.unlink(missing_ok=True)


def _age_s(file: Path) -> float:
    """0 where somebody else has removed it."""
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def stop_embedded() -> bool:
    """End all embedded servers of this user on this machine; true if there was one."""
    stopped = False
    for file, state in all_states(state_directory()):
        if is_ours(state):
            stopped = _end(state) or stopped
            file.unlink(missing_ok=True)
    return stopped


def _end(state: ServerState) -> bool:
    """Politely, then hard; true if it was alive. Only ever the very process that wrote the state."""
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
