"""A pool of one warm sandbox, so that a run hardly ever waits for a start."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

WARM_DELAY_S = 10.0
"""Delay before the next warm start after one was taken, so that the current run gets the CPU."""


class WarmPool:
    """The pool: `warm` at load, `take` for a run, `close` at the end; all in one event loop that lives as long."""

    def __init__(self, policy: SandboxPolicy, data_dir: Path, preload: Sequence[str] = ()) -> None:
        self.preload = tuple(preload)
        """Modules to import in the next sandbox that is started; may be replaced at any time."""
        self._policy = policy
        self._data_dir = data_dir
        self._warming: asyncio.Task[SandboxKernel] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def warm(self) -> None:
        """Start a sandbox in the background, if there is none."""
        if self._warming is None and not self._closed:
            self._warming = asyncio.create_task(self._start(), name="warm sandbox")
            self._warming.add_done_callback(_retrieve)

    async def take(self) -> SandboxKernel:
        """Return a ready sandbox, which the caller has to stop.

        The next one is started `WARM_DELAY_S` later, or as soon as it is needed.

        Raises
        ------
        SandboxUnavailableError
        """
        self.warm()
        warming, self._warming = self._warming, None
        if warming is None:
            raise RuntimeError("the pool of sandboxes is closed")
        try:
            kernel = await asyncio.shield(warming)
        except asyncio.CancelledError:
            self._put_back(warming)  # the caller gave up, not the sandbox
            raise
        if not kernel.alive:
            await kernel.stop()
            kernel = await self._start()
        self._warm_later()
        return kernel

    async def close(self) -> None:
        """Stop the warm sandbox, started or starting. Sandboxes that were taken belong to their takers."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        warming, self._warming = self._warming, None
        if warming is None:
            return
        warming.cancel()
        await asyncio.wait([warming])
        if not warming.cancelled() and warming.exception() is None:
            await warming.result().stop()

    def _warm_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(WARM_DELAY_S, self.warm)

    def _put_back(self, warming: asyncio.Task[SandboxKernel]) -> None:
        if self._warming is None:
            self._warming = warming

    async def _start(self) -> SandboxKernel:
        return await SandboxKernel.start(policy=self._policy, data_dir=self._data_dir, preload=self.preload)


def _retrieve(task: asyncio.Task[SandboxKernel]) -> None:
    """Mark the exception of a failed start as retrieved, for asyncio; `take` starts again and raises it."""
    if not task.cancelled():
        task.exception()
