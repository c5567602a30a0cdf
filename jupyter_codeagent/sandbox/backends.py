"""Which backend a level is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.local import LocalBackend
from jupyter_codeagent.values import SandboxLevel, SandboxPolicy


def make_backend(level: SandboxLevel, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str]) -> Backend:
    """Not started yet; the caller closes it."""
    return LocalBackend(level, policy, data_dir, preload)
