"""The sandbox of one notebook over its whole life: taken warm, loaded with what changed, replaced when it died."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from jupyter_codeagent.errors import SandboxDiedError
from jupyter_codeagent.sandbox.protocol import Sandbox
from jupyter_codeagent.values import (
    ExecutionResult,
    Manifest,
    NamespaceEntry,
    Output,
    PackedValue,
    SandboxStatus,
)


class Pool(Protocol):
    """Where a ready sandbox comes from: `spare.SparePool`."""

    async def take(self) -> Sandbox: ...


class SandboxSeat:
    """A `CodeRunner` that is always there: behind it, one live sandbox at a time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sandbox: Sandbox | None = None
        self._loaded: dict[str, int] = {}
        self._manifest = Manifest()
        self._namespace: tuple[NamespaceEntry, ...] = ()
        self._status: SandboxStatus | None = None
        self.lost = 0
        """How often a sandbox ended by itself, with the variables it had made."""

    @property
    def status(self) -> SandboxStatus | None:
        """Of the present sandbox, or of the last one; None before the first."""
        return self._status

    @property
    def names(self) -> tuple[str, ...]:
        """Variables the sandbox is known to have."""
        return tuple(dict.fromkeys((*self._loaded, *(entry.name for entry in self._namespace))))

    async def prepare(self, manifest: Manifest) -> SandboxStatus:
        """Have a live sandbox that holds the manifest's variables; unchanged ones are not loaded again.

        Raises
        ------
        SandboxUnavailableError, SandboxDiedError, VariableError
        """
        self._manifest = manifest
        try:
            sandbox = await self._with_copies(manifest)
        except SandboxDiedError:
            # It may have ended a moment ago, unnoticed as yet. One that dies of the copies dies of them again.
            sandbox = await self._with_copies(manifest)
        return sandbox.status

    async def _with_copies(self, manifest: Manifest) -> Sandbox:
        sandbox = await self._live()
        fresh = [copied for copied in manifest.copied if self._loaded.get(copied.name) != copied.version]
        await sandbox.load(fresh, manifest.modules)
        self._loaded.update({copied.name: copied.version for copied in fresh})
        return sandbox

    async def execute(
        self, code: str, *, timeout_s: float, on_output: Callable[[Output], None] | None = None
    ) -> ExecutionResult:
        """Run code; where the sandbox died in an earlier step, in a new one with the same copies."""
        if self._sandbox is None or not self._sandbox.alive:
            await self.prepare(self._manifest)
        sandbox = await self._live()
        result = await sandbox.execute(code, timeout_s=timeout_s, on_output=on_output)
        self._namespace = result.namespace
        return result

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """One variable of the sandbox, packed; see `Sandbox.fetch`."""
        if self._sandbox is None or not self._sandbox.alive:
            raise SandboxDiedError(f"There is no sandbox that could hold {name!r}: run `%%agent` first.")
        return await self._sandbox.fetch(name, max_bytes=max_bytes)

    def load_again(self) -> None:
        """Load every copy afresh at the next run: what a discarded run did to them is undone."""
        self._loaded.clear()

    async def reset(self) -> None:
        """Forget all variables; the next run starts in a fresh sandbox."""
        sandbox, self._sandbox = self._sandbox, None
        self._loaded.clear()
        self._namespace = ()
        if sandbox is not None:
            await sandbox.stop()

    async def _live(self) -> Sandbox:
        if self._sandbox is not None and not self._sandbox.alive:
            self.lost += 1
            await self.reset()
        if self._sandbox is None:
            self._sandbox = await self._pool.take()
            self._status = self._sandbox.status
        return self._sandbox
