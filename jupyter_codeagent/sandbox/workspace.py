"""The workspace of one notebook: copies of variables, a warm pool, and the sandbox that holds its state."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from jupyter_codeagent.sandbox.data.directory import SpoolDirectory
from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.warm_pool import WarmPool
from jupyter_codeagent.types.sandbox import SandboxPolicy, SandboxStatus
from jupyter_codeagent.types.variables import Manifest
from jupyter_codeagent.variables.privacy.hidden_parts import HiddenParts

USUAL_MODULES = ("numpy", "pandas", "matplotlib.pyplot")
"""Imported in warm sandboxes where they are installed, which saves a run half a second."""
LIKELY_MODULES = ("polars", "pyarrow", "seaborn", "scipy.stats", "sklearn")
"""Imported in warm sandboxes if the user's kernel has imported them."""


class SandboxWorkspace:
    """Owner of one notebook's copies and sandboxes.

    Copies are made on the main thread; everything else happens on the background loop.
    """

    def __init__(self, *, max_bytes: int) -> None:
        self._directory = SpoolDirectory(max_bytes=max_bytes)
        self.spool = Spool(self._directory.path, max_bytes=max_bytes)
        """`max_bytes` decides where the directory is created; the limit in force comes with each export."""
        self._policy: SandboxPolicy | None = None
        self._pool: WarmPool | None = None
        self._sandbox: PersistentSandbox | None = None

    @property
    def current(self) -> PersistentSandbox | None:
        """The notebook's sandbox, if there has been a run or a warm-up."""
        return self._sandbox

    @property
    def status(self) -> SandboxStatus | None:
        """The status of the notebook's sandbox, in use or used last."""
        return self._sandbox.status if self._sandbox is not None else None

    def export(
        self,
        variables: Mapping[str, Any],
        names: Sequence[str],
        *,
        required: bool,
        max_bytes: int,
        hidden: HiddenParts,
    ) -> Manifest:
        """Copy variables: see `Spool.export`. Main thread."""
        self.spool.max_bytes = max_bytes
        return self.spool.export(variables, names, required=required, refusal=hidden.refusal if hidden else None)

    def digest(self, manifest: Manifest) -> str:
        """Return a hash of the copies: see `Spool.digest`. Any thread."""
        return self.spool.digest(manifest)

    async def sandbox(self, policy: SandboxPolicy) -> PersistentSandbox:
        """Return the notebook's sandbox for this policy; a new policy ends the sandboxes of the old one."""
        # The time limit is passed with each execution: a run with another limit keeps its sandbox.
        policy = replace(policy, wall_s=SandboxPolicy.wall_s)
        if self._sandbox is None or self._policy != policy:
            await self._end()
            self._policy = policy
            self._pool = WarmPool(policy, self._directory.path, preload=modules_to_preload())
            self._sandbox = PersistentSandbox(self._pool)
        return self._sandbox

    async def extra_sandbox(self, policy: SandboxPolicy) -> PersistentSandbox:
        """Return another sandbox beside the notebook's; the caller resets it in the end."""
        await self.sandbox(policy)
        assert self._pool is not None
        return PersistentSandbox(self._pool)

    @asynccontextmanager
    async def temporary_sandbox(self, policy: SandboxPolicy) -> AsyncIterator[PersistentSandbox]:
        """Provide another sandbox beside the notebook's, and end it afterwards."""
        sandbox = await self.extra_sandbox(policy)
        try:
            yield sandbox
        finally:
            await sandbox.reset()

    async def warm(self, policy: SandboxPolicy) -> None:
        """Start a warm sandbox in the background, and return at once."""
        await self.sandbox(policy)
        assert self._pool is not None
        self._pool.warm()

    def forget_copies(self) -> None:
        """Remove all copies: something in them was hidden, and every sandbox can read their directory."""
        self.spool.close()

    async def close(self) -> None:
        """End all sandboxes, remove all copies."""
        await self._end()
        self.spool.close()
        self._directory.close()

    async def _end(self) -> None:
        sandbox, self._sandbox = self._sandbox, None
        pool, self._pool = self._pool, None
        if sandbox is not None:
            await sandbox.reset()
        if pool is not None:
            await pool.close()


def modules_to_preload() -> tuple[str, ...]:
    """Return the modules to import in a warm sandbox: those installed, and those the user's kernel has imported.

    Imports nothing itself.
    """
    # Only the top-level package is looked up: finding the spec of `a.b` would import `a`.
    usual = [name for name in USUAL_MODULES if importlib.util.find_spec(name.partition(".")[0]) is not None]
    return (*usual, *(name for name in LIKELY_MODULES if name in sys.modules))
