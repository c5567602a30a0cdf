"""One model server for all users of a machine, started by the administrator: ``jupyter codeagent models serve``.

It is llama.cpp's server on loopback with a key for each user. It runs in the foreground, as a service wants it, and
starts itself again when the file of keys has changed, so that a key that was taken out opens nothing any more.
"""

from __future__ import annotations

import argparse
import os
import signal
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from jupyter_codeagent.models.embedded.catalogue import INSTALL_LOCAL, model_name, published_weights, uses_own_file
from jupyter_codeagent.models.embedded.server import cached_tokens, memory_problem, server_parameters
from jupyter_codeagent.models.embedded.sizing import needed_bytes
from jupyter_codeagent.models.embedded.weights import ensure_weights
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelUnreachableError, NoModelError, UsageError

MIN_KEY_CHARS = 16
WATCH_S = 1.0
HTTP_THREADS = 256
READ_TIMEOUT_S = 10
"""A connection that says nothing keeps a thread no longer; llama.cpp's own limit is an hour."""


def read_keys(file: Path) -> dict[str, str]:
    """Return user to key, from lines ``USER KEY``; empty lines and those that begin with ``#`` are left out.

    Raises
    ------
    UsageError
        It cannot be read, everybody can read it, or a line is not valid. No key is in the text of the error.
    """
    try:
        mode, text = file.stat().st_mode, file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The keys in {file} cannot be read: {error}.") from error
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise UsageError(f"Everybody can read the keys in {file}: chmod o-rw {file}")
    keys: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) != 2 or len(fields[1]) < MIN_KEY_CHARS:
            raise UsageError(f"{file}, line {number}: must be USER KEY, with a key of {MIN_KEY_CHARS} characters.")
        if fields[0] in keys or fields[1] in keys.values():
            raise UsageError(f"{file}, line {number}: user or key is there twice.")
        keys[fields[0]] = fields[1]
    if not keys:
        raise UsageError(f"{file} has no key: write a line USER KEY for each user (openssl rand -hex 24).")
    return keys


def serve_shared(settings: ModelSettings, *, port: int, keys_file: Path, report: Callable[[str], None]) -> NoReturn:
    """Serve until the process is ended.

    Raises
    ------
    UsageError, WeightsError, NoModelError, ModelUnreachableError
        The keys, the weights or the model cannot be used; one line that says why.
    """
    keys, changed_at = read_keys(keys_file), keys_file.stat().st_mtime_ns
    try:
        import xllamacpp
    except ImportError as error:
        raise NoModelError(f"llama.cpp is not installed; run: {INSTALL_LOCAL}") from error
    name, weights = model_name(settings), ensure_weights(settings)
    context = settings.context_tokens
    needs = 0 if uses_own_file(settings) else needed_bytes(published_weights(name), cached_tokens(context))
    options = argparse.Namespace(
        weights=weights, model=name, context=context, threads=settings.threads, needs=needs
    )
    if problem := memory_problem(options, xllamacpp.get_device_info()):
        raise ModelUnreachableError(problem)
    parameters = server_parameters(options, list(keys.values()), port=port)
    parameters.endpoint_metrics = False
    parameters.n_threads_http = HTTP_THREADS
    parameters.timeout_read = READ_TIMEOUT_S
    try:
        server = xllamacpp.Server(parameters)
    except Exception as error:  # any C++ exception
        raise ModelUnreachableError(f"llama.cpp cannot serve {name} on port {port}: {error}") from error
    # llama.cpp would wait for the requests that are under way.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    report(f"{name} at {server.listening_address}/v1, for {', '.join(keys)}")
    while _changed_at(keys_file) == changed_at:
        time.sleep(WATCH_S)
    report(f"{keys_file} has changed: starting again")
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  (itself, with its own arguments)


def _changed_at(file: Path) -> int:
    """Return the time of the last change; 0 for a file that is gone, which is a change, too."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0
