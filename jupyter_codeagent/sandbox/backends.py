"""The backend of each sandbox level."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.local.backend import LocalBackend
from jupyter_codeagent.types.sandbox import REMOTE_LEVELS, SandboxLevel, SandboxPolicy


def make_backend(level: SandboxLevel, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str]) -> Backend:
    """Return the backend of this level, not started yet. The caller closes it."""
    if level not in REMOTE_LEVELS:
        return LocalBackend(level, policy, data_dir, preload)
    # Most sandboxes are local: the HTTP client for gateways is imported for remote ones only.
    from jupyter_codeagent.sandbox.remote.backend import RemoteBackend
    from jupyter_codeagent.sandbox.remote.connectors import CONNECTORS

    return RemoteBackend(level, policy, data_dir, preload, CONNECTORS[level])
