"""The sandbox of one notebook over its whole life: taken warm, loaded with what changed, replaced when it died."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from jupyter_codeagent.sandbox.protocol import Sandbox
from jupyter_codeagent.sandbox.tool_calls import OnCall
from jupyter_codeagent.types.errors import SandboxDiedError
from jupyter_codeagent.types.sandbox import (
    CopyChange,
    ExecutionResult,
    NamespaceEntry,
    PackedValue,
    SandboxStatus,
)
from jupyter_codeagent.types.variables import Manifest, ToolStub


class Pool(Protocol):
    """Where a ready sandbox comes from: `spare.WarmPool`."""

    async def take(self) -> Sandbox: ...


class PersistentSandbox:
    """A `CodeRunner` that is always there: behind it, one live sandbox at a time."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sandbox: Sandbox | None = None
        self._loaded: dict[str, int] = {}
        self._offered: tuple[ToolStub, ...] = ()
        self._manifest = Manifest()
        self._namespace: tuple[NamespaceEntry, ...] = ()
        self._changes: tuple[CopyChange, ...] = ()
        self._settled: frozenset[str] = frozenset()
        """Copies that a run changed whose result was kept; later attempts do not undo that."""
        self._unknown = False
        """Code was cut off before it could be asked what it had changed."""
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

    @property
    def variables(self) -> tuple[NamespaceEntry, ...]:
        """Of the live sandbox, as after the last execution; empty when it is gone."""
        return self._namespace if self._sandbox is not None and self._sandbox.alive else ()

    def changes_of(self, manifest: Manifest) -> tuple[CopyChange, ...]:
        """Copies of the manifest that earlier code changed, and that will not be loaded afresh for it."""
        if self._sandbox is None or not self._sandbox.alive:
            return ()
        versions = {copied.name: copied.version for copied in manifest.copied}
        return tuple(
            change
            for change in self._changes
            if change.name in versions and self._loaded.get(change.name) == versions[change.name]
        )

    def settle(self) -> None:
        """The run has its result: what it did to the copies stays for the next one."""
        self._settled = frozenset(change.name for change in self._changes)

    def undo_attempt(self) -> None:
        """Load afresh what was changed since `settle`: another attempt, or another run, starts from the copies.

        A copy that an earlier run had changed as well stays as it is: what that run did cannot be told apart.
        """
        names = self._loaded.keys() if self._unknown else {change.name for change in self._changes}
        self.load_again(set(names) - self._settled)
        self._unknown = False

    async def prepare(self, manifest: Manifest) -> SandboxStatus:
        """Have a live sandbox that holds the manifest's variables; unchanged ones are not loaded again.

        Raises
        ------
        SandboxUnavailableError, SandboxDiedError, VariableError
        """
        self.undo_attempt()
        self.load_again({change.name for change in self._changes if change.kind == "deleted"})
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
        if self._offered != manifest.tools:
            await sandbox.offer(manifest.tools)
            self._offered = manifest.tools
        self._forget_changes({copied.name for copied in fresh})
        return sandbox

    async def execute(
        self,
        code: str,
        *,
        timeout_s: float,
        on_call: OnCall | None = None,
    ) -> ExecutionResult:
        """Run code; where the sandbox died in an earlier step, in a new one with the same copies."""
        missing = any(copied.name not in self._loaded for copied in self._manifest.copied)
        if self._sandbox is None or not self._sandbox.alive or missing:
            await self.prepare(self._manifest)
        sandbox = await self._live()
        self._unknown = True
        result = await sandbox.execute(code, timeout_s=timeout_s, on_call=on_call)
        self._unknown = False
        self._namespace = result.namespace
        # Only of what was copied: names are text from the sandbox.
        self._changes = tuple(change for change in result.changes if change.name in self._loaded)
        return replace(result, changes=self._changes)

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """One variable of the sandbox, packed; see `Sandbox.fetch`."""
        if self._sandbox is None or not self._sandbox.alive:
            raise SandboxDiedError(f"There is no sandbox that could hold {name!r}: run `%%agent` first.")
        return await self._sandbox.fetch(name, max_bytes=max_bytes)

    def load_again(self, names: Iterable[str] | None = None) -> None:
        """Load copies afresh before the next execution, all of them by default: what code did to them is undone."""
        wanted = set(self._loaded if names is None else names)
        for name in wanted:
            self._loaded.pop(name, None)
        self._forget_changes(wanted)

    def _forget_changes(self, names: set[str]) -> None:
        self._changes = tuple(change for change in self._changes if change.name not in names)
        self._settled -= names

    async def reset(self) -> None:
        """Forget all variables; the next run starts in a fresh sandbox."""
        sandbox, self._sandbox = self._sandbox, None
        self._loaded.clear()
        self._offered = ()
        self._namespace = ()
        self._forget_changes({change.name for change in self._changes} | self._settled)
        self._unknown = False
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
