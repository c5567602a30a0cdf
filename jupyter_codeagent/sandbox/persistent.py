"""The sandbox of one notebook over its whole life: taken warm, loaded with what changed, replaced when it died."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from jupyter_codeagent.sandbox.protocol import Sandbox
from jupyter_codeagent.sandbox.tool_calls import OnCall
from jupyter_codeagent.types.errors import SandboxDiedError
from jupyter_codeagent.types.exploration import ExplorationRequest
from jupyter_codeagent.types.sandbox import (
    CopyChange,
    ExecutionResult,
    NamespaceEntry,
    PackedValue,
    SandboxStatus,
)
from jupyter_codeagent.types.variables import Manifest, ToolStub


class Pool(Protocol):
    """Source of ready sandboxes: `warm_pool.WarmPool`."""

    async def take(self) -> Sandbox:
        """Return a ready sandbox, which the caller has to stop."""
        ...


class PersistentSandbox:
    """A `CodeRunner` that is always available; one live sandbox at a time stands behind it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._sandbox: Sandbox | None = None
        self._loaded: dict[str, int] = {}
        self._offered: tuple[ToolStub, ...] = ()
        self._manifest = Manifest()
        self._namespace: tuple[NamespaceEntry, ...] = ()
        self._changes: tuple[CopyChange, ...] = ()
        self._kept: frozenset[str] = frozenset()
        """Copies changed by a run whose result was kept; later attempts do not undo that."""
        self._has_unknown_changes = False
        """Whether code was cut off before the sandbox could report what it had changed."""
        self._starts_attempts = False
        """Whether attempts start from the present variables, which are remembered before the first of them."""
        self._kept_namespace: tuple[NamespaceEntry, ...] = ()
        """Variables that are remembered in the sandbox; empty if none are."""
        self._must_restore = False
        self._status: SandboxStatus | None = None
        self.state_of = ""
        """Run after which the sandbox has its present state; empty in a new one."""
        self.lost = 0
        """How often a sandbox ended by itself, and its variables were lost."""

    @property
    def status(self) -> SandboxStatus | None:
        """Status of the present sandbox, or of the last one; None before the first."""
        return self._status

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables that the sandbox is known to have."""
        return tuple(dict.fromkeys((*self._loaded, *(entry.name for entry in self._namespace))))

    @property
    def variables(self) -> tuple[NamespaceEntry, ...]:
        """Variables of the live sandbox after the last execution; empty when it is gone."""
        return self._namespace if self._sandbox is not None and self._sandbox.alive else ()

    def changes_of(self, manifest: Manifest) -> tuple[CopyChange, ...]:
        """Return the changes of earlier code to copies of the manifest that will not be loaded again for it."""
        if self._sandbox is None or not self._sandbox.alive:
            return ()
        versions = {copied.name: copied.version for copied in manifest.copied}
        return tuple(
            change
            for change in self._changes
            if change.name in versions and self._loaded.get(change.name) == versions[change.name]
        )

    def keep_changes(self) -> None:
        """Keep the changes made to copies so far: the run has its result, and the next one builds on it."""
        self._kept = frozenset(change.name for change in self._changes)
        self._kept_namespace, self._starts_attempts, self._must_restore = (), True, False

    def undo_attempt(self) -> None:
        """Undo what was done to variables since `keep_changes`: the next attempt or run starts as this one did.

        Copies are loaded again before the next execution. What earlier programs made or changed is bound again as
        it was; what only the attempt made stays, for the program that goes on from it.
        """
        names = self._loaded.keys() if self._has_unknown_changes else {change.name for change in self._changes}
        self.reload(set(names) - self._kept)
        self._has_unknown_changes = False
        if self._kept_namespace:
            self._must_restore = True
            kept = {entry.name for entry in self._kept_namespace}
            new = (entry for entry in self._namespace if entry.name not in kept)
            self._namespace = (*self._kept_namespace, *new)

    async def prepare(self, manifest: Manifest) -> SandboxStatus:
        """Provide a live sandbox that holds the manifest's variables; unchanged ones are not loaded again.

        Raises
        ------
        SandboxUnavailableError, SandboxDiedError, VariableError
        """
        self.undo_attempt()
        self.reload({change.name for change in self._changes if change.kind == "deleted"})
        self._manifest = manifest
        try:
            sandbox = await self._with_copies(manifest)
        except SandboxDiedError:
            # It may have ended a moment ago, unnoticed. A sandbox that dies while loading the copies dies again.
            sandbox = await self._with_copies(manifest)
        return sandbox.status

    async def _with_copies(self, manifest: Manifest) -> Sandbox:
        sandbox = await self._restored()
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
        """Run code, in a new sandbox with the same copies if the old one died in an earlier step."""
        missing = any(copied.name not in self._loaded for copied in self._manifest.copied)
        if self._sandbox is None or not self._sandbox.alive or missing:
            await self.prepare(self._manifest)
        try:
            sandbox = await self._restored()
            await self._keep_start(sandbox)
        except SandboxDiedError:  # a moment ago: the attempt starts in a new one, as if it had been noticed
            await self.prepare(self._manifest)
            sandbox = await self._live()
        self._has_unknown_changes = True
        result = await sandbox.execute(code, timeout_s=timeout_s, on_call=on_call)
        self._has_unknown_changes = False
        self._namespace = result.namespace
        # Only changes of what was copied: names are text from the sandbox.
        self._changes = tuple(change for change in result.changes if change.name in self._loaded)
        return replace(result, changes=self._changes)

    async def explore(self, request: ExplorationRequest) -> str:
        """Look at copies that `prepare` has loaded; see `Sandbox.explore`."""
        return await (await self._restored()).explore(request)

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        """Return one variable of the sandbox, packed; see `Sandbox.fetch`."""
        if self._sandbox is None or not self._sandbox.alive:
            raise SandboxDiedError(f"No sandbox is running, so it has no {name!r}: run a `%%agent` cell first.")
        return await (await self._restored()).fetch(name, max_bytes=max_bytes)

    def reload(self, names: Iterable[str] | None = None) -> None:
        """Mark copies, all by default, to be loaded again before the next execution: changes to them are undone."""
        wanted = set(self._loaded if names is None else names)
        for name in wanted:
            self._loaded.pop(name, None)
        self._forget_changes(wanted)

    def _forget_changes(self, names: set[str]) -> None:
        self._changes = tuple(change for change in self._changes if change.name not in names)
        self._kept -= names

    async def reset(self) -> None:
        """Forget all variables; the next run starts in a fresh sandbox."""
        sandbox, self._sandbox = self._sandbox, None
        self.state_of = ""
        self._loaded.clear()
        self._offered = ()
        self._namespace = ()
        self._forget_changes({change.name for change in self._changes} | self._kept)
        self._has_unknown_changes = False
        self._kept_namespace, self._starts_attempts, self._must_restore = (), False, False
        if sandbox is not None:
            await sandbox.stop()

    async def _keep_start(self, sandbox: Sandbox) -> None:
        """Have the sandbox remember what attempts start from, before the first; not where code has made nothing."""
        if self._starts_attempts and self._kept | {entry.name for entry in self._namespace} - self._loaded.keys():
            await sandbox.keep()
            self._kept_namespace = self._namespace
        self._starts_attempts = False

    async def _restored(self) -> Sandbox:
        """Return a live sandbox with the variables from which an attempt starts."""
        sandbox = await self._live()
        if self._must_restore:
            self._must_restore = False
            await sandbox.restore()
        return sandbox

    async def _live(self) -> Sandbox:
        if self._sandbox is not None and not self._sandbox.alive:
            self.lost += 1
            await self.reset()
        if self._sandbox is None:
            self._sandbox = await self._pool.take()
            self._status = self._sandbox.status
        return self._sandbox
