"""One warm sandbox in reserve, so that a run hardly ever waits for a start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

BEHIND_S = 10.0
"""After one was taken: what it was taken for has the processors first."""


class WarmPool:
    """`warm` at load, `take` for a run, `close` at the end; all from one event loop that lives as long."""

    def __init__(self, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str] = ()) -> None:
        self.preload = tuple(preload)
        """Modules for the next sandbox that is started; may be replaced at any time."""
        self._policy = policy
        self._data_dir = data_dir
        self._spare: asyncio.Task[SandboxKernel] | None = None
        self._next: asyncio.TimerHandle | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the spare in the background, if there is none."""
        if self._spare is None and not self._closed:
            self._spare = asyncio.create_task(self._start(), name="sandbox spare")
            self._spare.add_done_callback(_retrieve)

    async def take(self) -> SandboxKernel:
        """A ready sandbox, now the caller's to stop; the next is started `BEHIND_S` later, or when it is asked for.

        Raises
        ------
        SandboxUnavailableError
        """
        self.warm()
        spare, self._spare = self._spare, None
        if spare is None:
            raise RuntimeError("the pool of sandboxes is closed")
        try:
            kernel = await asyncio.shield(spare)
        except asyncio.CancelledError:
            self._put_back(spare)  # the caller gave up, not the sandbox
            raise
        if not kernel.alive:
            await kernel.stop()
            kernel = await self._start()
        self._warm_later()
        return kernel

    async def close(self) -> None:
        """Stop the spare, started or starting. Sandboxes that were taken belong to their takers."""
        self._closed = True
        if self._next is not None:
            self._next.cancel()
        spare, self._spare = self._spare, None
        if spare is None:
            return
        spare.cancel()
        await asyncio.wait([spare])
        if not spare.cancelled() and spare.exception() is None:
            await spare.result().stop()

    def _warm_later(self) -> None:
        if self._next is not None:
            self._next.cancel()
        self._next = asyncio.get_running_loop().call_later(BEHIND_S, self.warm)

    def _put_back(self, spare: asyncio.Task[SandboxKernel]) -> None:
        if self._spare is None:
            self._spare = spare

    async def _start(self) -> SandboxKernel:
        return await SandboxKernel.start(policy=self._policy, data_dir=self._data_dir, preload=self.preload)


def _retrieve(task: asyncio.Task[SandboxKernel]) -> None:
    """An exception that nobody comes to take is not reported by asyncio; `take` starts again and says it."""
    if not task.cancelled():
        task.exception()
