"""Which backend a level is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.local.backend import LocalBackend
from jupyter_codeagent.types.sandbox import REMOTE_LEVELS, SandboxLevel, SandboxPolicy


def make_backend(level: SandboxLevel, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str]) -> Backend:
    """Not started yet; the caller closes it."""
    if level not in REMOTE_LEVELS:
        return LocalBackend(level, policy, data_dir, preload)
    # Most sandboxes are local: what speaks HTTP to gateways is imported for those that are not.
    from jupyter_codeagent.sandbox.remote.backend import RemoteBackend
    from jupyter_codeagent.sandbox.remote.places import REACH

    return RemoteBackend(level, policy, data_dir, preload, REACH[level])
