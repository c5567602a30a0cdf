"""The process of the embedded model: ``python -m jupyter_codeagent.models.embedded.server``, started by `launcher`.

It listens on a Unix socket in a directory of the user's, with a random key that is only in its state file (0600).
It outlives the notebook that started it, and ends itself after a time without requests. With ``--tcp`` it listens
on loopback, where every user of the machine can connect.
"""

from __future__ import annotations

import argparse
import http.client
import math
import os
import secrets
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from jupyter_codeagent.models.embedded.speed import read_metrics, record_speed, speed_from_counters
from jupyter_codeagent.models.embedded.state import (
    ServerState,
    new_socket_path,
    process_started,
    read_state,
    remove_state,
    write_state,
)
from jupyter_codeagent.types.machine_memory import machine_memory
from jupyter_codeagent.types.sizes import gigabytes

ERRORS_ONLY = 1
"""Verbosity of llama.cpp; from 4 on it would log prompts."""
PROMPT_CACHE_MIB = 512
"""Prompts of several notebooks kept in memory beside the active one; llama.cpp's own default is 8 GiB."""
SLOTS = 8
"""Replies that are computed together, for `--candidates`; llama.cpp computes their prompt once, for all."""
SHARED_TOKENS = (SLOTS - 1) * 512
"""Cache beyond one context window, for the tokens of further replies: 98 MiB with the published model. A prompt of
half the context leaves space for all replies at full length, the longest prompt for 650 tokens of each."""
LOG_LIMIT_BYTES = 1 << 20
METRICS_TIMEOUT_S = 10.0
USED = ("prompt_tokens_total", "prompt_tokens_cached_total", "tokens_predicted_total", "n_decode_total")
BUSY = ("requests_processing", "requests_deferred")
CAUSE_MARKER = "error loading model: "
"""Text before the cause of an error in the log, ours or llama.cpp's; the lines after it are only consequences."""
GPU_DEVICE_TYPES = ("GGML_BACKEND_DEVICE_TYPE_GPU",)
"""Types of devices with their own memory."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the server in a forked process, and print its pid."""
    options = parse(arguments)
    if pid := os.fork():
        # The caller gets the pid, and its child ends: no zombie to collect, no process tree to be killed with.
        sys.stdout.write(str(pid))
        sys.stdout.flush()
        os._exit(0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    socket_path = "" if options.tcp else new_socket_path(options.state)
    state = ServerState(pid=os.getpid(), started=process_started(os.getpid()), socket_path=socket_path)
    write_state(options.state, state)
    serve(options, state)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--idle", type=float, required=True)
    parser.add_argument("--needs", type=int, default=0)
    parser.add_argument("--tcp", action="store_true")
    return parser.parse_args(arguments)


def serve(options: argparse.Namespace, loading: ServerState) -> NoReturn:
    """Load the model, write the state file, and serve until the process is idle."""
    import xllamacpp

    key = secrets.token_urlsafe(32)
    if problem := memory_problem(options, xllamacpp.get_device_info()):
        print(f"{CAUSE_MARKER}{problem}", file=sys.stderr, flush=True)
        exit_now(options.state, 1)
    try:
        server = xllamacpp.Server(server_parameters(options, [key], socket_path=loading.socket_path))
    except Exception as error:  # noqa: BLE001  # any C++ exception; its text becomes the last line of the log
        print(f"llama.cpp cannot load {options.weights.name}: {error}", file=sys.stderr, flush=True)
        exit_now(options.state, 1)
    signal.signal(signal.SIGTERM, lambda *_: exit_now(options.state, 0))
    url = "http://127.0.0.1" if loading.socket_path else str(server.listening_address)
    state = replace(loading, url=url, key=key, model=options.model)
    write_state(options.state, state)
    watch(state, options.state, options.idle)
    exit_now(options.state, 0)


def memory_problem(options: argparse.Namespace, devices: Sequence[dict[str, Any]]) -> str:
    """Return why the model does not fit the memory; empty if it fits. The system could kill any process otherwise.

    Memory of graphics cards counts, too, if llama.cpp was built for them.
    """
    memory = machine_memory()
    free = memory.free_bytes + sum(
        device["memory_free"] for device in devices if device["type"].name in GPU_DEVICE_TYPES
    )
    if options.needs <= free:
        return ""
    return (
        f"{options.model} needs about {gigabytes(options.needs)} of memory, {gigabytes(free)} are free (of "
        f"{gigabytes(memory.total_bytes)}): close other programs, end embedded models that still run (jupyter "
        "codeagent models stop), or choose a smaller one (%agent models)"
    )


def cached_tokens(context_tokens: int) -> int:
    """Return the tokens in the key-value cache: one context window, and the tokens of further replies."""
    return context_tokens + SHARED_TOKENS


def server_parameters(
    options: argparse.Namespace, keys: Sequence[str], *, socket_path: str = "", port: int = 0
) -> Any:
    """Return llama.cpp's parameters: a socket or loopback, keys, no web page, no endpoint that exposes prompts."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(options.weights)
    parameters.model_alias = {options.model}
    # One cache for all slots, each of which may use a whole context: with a separate cache for each, a run without
    # candidates would have an eighth of the context.
    parameters.n_parallel = SLOTS
    parameters.kv_unified = True
    parameters.n_ctx = cached_tokens(options.context)
    parameters.kv_unified_per_slot = options.context
    parameters.cpuparams.n_threads = options.threads or physical_cores()
    parameters.hostnames = [socket_path or "127.0.0.1"]
    parameters.port = port
    parameters.api_keys = list(keys)
    parameters.cors_origins = ""
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.endpoint_metrics = True
    parameters.cache_ram_mib = PROMPT_CACHE_MIB
    parameters.verbosity = ERRORS_ONLY
    return parameters


def watch(state: ServerState, file: Path, idle_s: float) -> None:
    """Return after `idle_s` without a request, or when the state file is gone and nobody can know the key.

    A running request counts as use, and so does a caller that has just checked the server: it touches the state
    file under the lock that is held here for the decision to end.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(file.with_suffix(".lock"))
    seen, used_at = activity(state, file), time.monotonic()
    while read_state(file) == state:
        time.sleep(min(max(idle_s / 10, 0.1), 5.0))
        limit_log()
        now = activity(state, file)
        if now is None or now != seen:
            seen, used_at = now, time.monotonic()
        if time.monotonic() - used_at < idle_s:
            continue
        try:
            with lock.acquire(timeout=0):
                if activity(state, file) == seen:
                    save_speed(state, file)
                    remove_state(file, state)
                    return
        except Timeout:
            used_at = time.monotonic()  # another process is about to use it


def activity(state: ServerState, file: Path) -> tuple[float, ...] | None:
    """Return counters that grow with use, and the time of the state file; None while a request runs."""
    try:
        counters = read_metrics(state, timeout_s=METRICS_TIMEOUT_S)
        touched = file.stat().st_mtime_ns
    except (OSError, http.client.HTTPException):
        return None  # too busy to answer: a long prompt is computed in one piece
    if any(counters.get(name, 0.0) for name in BUSY):
        return None
    return (touched, *(counters.get(name, 0.0) for name in USED))


def save_speed(state: ServerState, file: Path) -> None:
    """Record the measured speed, as the basis of estimates for other models after this server has ended."""
    with suppress(OSError, http.client.HTTPException):  # an estimate is not worth failing for
        speed = speed_from_counters(read_metrics(state, timeout_s=METRICS_TIMEOUT_S), state.model)
        if speed is not None:
            record_speed(file.parent, speed)


def limit_log() -> None:
    """Empty a log that is too long; it is open for appending, so writing continues from the start."""
    if os.fstat(2).st_size > LOG_LIMIT_BYTES:
        os.ftruncate(2, 0)


def exit_now(file: Path, status: int) -> NoReturn:
    """End the process at once: a normal exit of llama.cpp would wait for a running request."""
    state = read_state(file)
    if state is not None and state.pid == os.getpid():
        remove_state(file, state)
    os._exit(status)


def physical_cores() -> int:
    """Return the physical cores that this process may use, within its affinity and container quota."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    cores = {_siblings(cpu) for cpu in allowed}
    return max(1, math.ceil(min(len(cores), _quota())))


def _siblings(cpu: int) -> str:
    try:
        return Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text(encoding="ascii")
    except OSError:
        return str(cpu)


def _quota() -> float:
    """Return the CPU quota of the cgroup; infinite without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return math.inf if quota == "max" else float(quota) / float(period)
    except (OSError, ValueError):
        return math.inf


if __name__ == "__main__":
    main()
