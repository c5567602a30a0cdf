"""The environment variables of the sandbox: built from nothing, never the user's."""

from __future__ import annotations

import os

from jupyter_codeagent.sandbox.local.walls.layout import SandboxPaths
from jupyter_codeagent.sandbox.local.walls.roots import user_site

FROM_HOST = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Locale and time zone are kept: results must not depend on the sandbox."""
MAX_MATH_THREADS = 4


def sandbox_environment(paths: SandboxPaths) -> dict[str, str]:
    """Return all environment variables of the sandbox."""
    threads = str(min(MAX_MATH_THREADS, os.cpu_count() or 1))
    environment = {name: os.environ[name] for name in FROM_HOST if name in os.environ}
    environment.update(
        PATH="/usr/bin:/bin",
        HOME=paths.scratch,
        USER="sandbox",
        LOGNAME="sandbox",
        TMPDIR=paths.temporary,
        IPYTHONDIR=f"{paths.temporary}/ipython",
        JUPYTER_RUNTIME_DIR=paths.connection,
        MPLCONFIGDIR=paths.matplotlib,
        MPLBACKEND="module://matplotlib_inline.backend_inline",
        PYTHONDONTWRITEBYTECODE="1",
        PYTHONNOUSERSITE="1",
        JOBLIB_MULTIPROCESSING="0",  # no subprocesses: joblib then falls back to threads without a try
        OMP_NUM_THREADS=threads,
        OPENBLAS_NUM_THREADS=threads,
        POLARS_MAX_THREADS=threads,
        MALLOC_ARENA_MAX="4",
    )
    if site := user_site():
        environment["PYTHONPATH"] = site
    return environment
