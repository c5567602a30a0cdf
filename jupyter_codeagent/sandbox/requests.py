"""Requests to one sandbox, one at a time: sent, limited in time, interrupted, and in the end the sandbox killed."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Literal

from jupyter_codeagent.sandbox.backend import Backend, Listener
from jupyter_codeagent.sandbox.guard import RequestGuard
from jupyter_codeagent.sandbox.local.channels.connection import Channel
from jupyter_codeagent.sandbox.local.channels.wire import Received
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.sizes import format_bytes

Ending = Literal["done", "time", "output", "lost", "dead"]

LOST_S = 1.0
"""Of reply and idle one came, and then nothing more for so long: the other will not come."""
MAX_STRAY = 5000
"""Messages that belong to no request, from one request to the end of the next."""
MAX_STRAY_BYTES = 256 << 20
MALFORMED_BYTES = 64 << 10
"""What one message that cannot be read is counted as."""


class CellClock:
    """When the time of one request is over. It stands still while somebody else is waited for."""

    def __init__(self, limit_s: float) -> None:
        self._until = time.monotonic() + limit_s
        self._holders = 0
        self._held_at = 0.0

    @property
    def until(self) -> float:
        """Of `time.monotonic`; infinite while it stands still."""
        return math.inf if self._holders else self._until

    def hold(self) -> None:
        """Until `release` was called as often."""
        if self._holders == 0:
            self._held_at = time.monotonic()
        self._holders += 1

    def release(self) -> None:
        self._holders -= 1
        if self._holders == 0:
            self._until += time.monotonic() - self._held_at


class Requests:
    """Owns the channels, and knows whether the sandbox still lives."""

    def __init__(self, backend: Backend, policy: SandboxPolicy) -> None:
        self._backend = backend
        self._policy = policy
        self._changed = asyncio.Event()
        self._guard: RequestGuard | None = None
        self._request_id = ""
        self._clock = CellClock(0.0)
        self._last_message = 0.0
        self._stray = self._stray_bytes = 0
        self._failure: BaseException | None = None
        self.death = ""
        """Why the sandbox is gone; empty while it lives."""

    @property
    def busy(self) -> bool:
        return self._guard is not None

    async def open(self) -> None:
        """Raises TimeoutError if the sandbox does not greet us."""
        await self._backend.connect(
            Listener(
                on_shell=self._on_shell,
                on_iopub=self._on_iopub,
                on_malformed=self._on_malformed,
                on_oversized=self._on_oversized,
                on_excess=self.die,
                on_busy_processors=self.stop_request,
                is_busy=lambda: self.busy,
            )
        )

    def die(self, why: str) -> None:
        """Kill the sandbox. The first reason stays."""
        self.death = self.death or why
        self._backend.kill()
        self._changed.set()

    def fail(self, problem: BaseException) -> None:
        """End the request under way: `send` raises this."""
        self._failure = problem
        self._changed.set()

    def hold_clock(self) -> Callable[[], None]:
        """The request waits for one of us: its time stands still until what is returned is called."""
        clock = self._clock

        def release() -> None:
            clock.release()
            self._changed.set()

        clock.hold()
        self._changed.set()
        return release

    def stop_request(self, why: str) -> None:
        """Interrupt the request under way; with none, whatever is still running in there goes with all the rest."""
        if self._guard is None:
            self.die(f"between two requests {why}")
            return
        self._guard.overflow = self._guard.overflow or f"stopped: {why}"
        self._changed.set()

    async def send(self, guard: RequestGuard, code: str, limit_s: float, *, silent: bool) -> Ending:
        """Run code until it ends or is ended. The caller sees to it that it is the only one."""
        if self.death:
            return "dead"
        self._guard, self._failure = guard, None
        self._stray = self._stray_bytes = 0
        self._last_message = time.monotonic()
        self._clock = CellClock(limit_s)
        self._backend.begin(limit_s * self._policy.processors)
        content = {
            "code": code,
            "silent": silent,
            "store_history": False,
            "allow_stdin": False,
            "stop_on_error": False,
        }
        self._request_id = self._backend.send("execute_request", content)
        try:
            return await self._settle(guard, limit_s)
        except BaseException:  # cancelled, or our own callback failed: in both cases its code must not run on
            await self._abandon(guard)
            raise
        finally:
            self._guard, self._request_id = None, ""

    async def _settle(self, guard: RequestGuard, limit_s: float) -> Ending:
        ending = await self._wait_for_end(guard, self._clock)
        if ending in ("time", "output"):
            after = await self._interrupt(guard, f"it ran longer than {limit_s:g} s" if ending == "time" else "")
        else:
            after = ending
        if after == "lost":
            await self._repair(guard)
        return "dead" if self.death else "done" if ending == "lost" else ending

    async def _wait_for_end(self, guard: RequestGuard, clock: CellClock, *, interrupted: bool = False) -> Ending:
        while True:
            if self._failure is not None:
                raise self._failure
            if self.death:
                return "dead"
            if guard.reply is not None and guard.idle:
                return "done"
            if guard.overflow and not interrupted:
                return "output"
            half_done = guard.reply is not None or guard.idle
            until = clock.until
            limit = min(until, self._last_message + LOST_S) if half_done else until
            if not await self._changed_before(limit) and time.monotonic() >= limit:
                return "time" if limit == until else "lost"

    async def _changed_before(self, limit: float) -> bool:
        try:
            async with asyncio.timeout(max(0.0, limit - time.monotonic()) if limit < math.inf else None):
                await self._changed.wait()
        except TimeoutError:
            return False
        self._changed.clear()
        return True

    async def _interrupt(self, guard: RequestGuard, why: str) -> Ending:
        """SIGINT, then SIGKILL after the grace; state is kept if it obeys."""
        await self._backend.interrupt()
        ending = await self._wait_for_end(guard, CellClock(self._policy.grace_s), interrupted=True)
        if ending == "time":
            why = why or guard.overflow or "it was interrupted"
            self.die(f"{why} and did not stop within {self._policy.grace_s:g} s after the interrupt")
        return ending

    async def _abandon(self, guard: RequestGuard) -> None:
        self._failure = None
        guard.mute()
        try:
            await self._interrupt(guard, "")
        except BaseException:
            self.die("it was interrupted twice")
            raise

    async def _repair(self, guard: RequestGuard) -> None:
        """Code inside has closed a channel, or its kernel dropped messages because there were too many."""
        if guard.reply is None:
            self.die("its reply was lost (sent too fast, or the channel was closed by its code)")
            return
        guard.drop("lost (sent too fast, or the channel was closed by its code)")
        try:
            await self._backend.reopen_output(LOST_S)
        except TimeoutError:
            self.die("its output channel broke")

    # --- what comes in ------------------------------------------------------------------------------

    def _on_shell(self, received: Received) -> None:
        self._deliver(received, lambda guard: guard.answered(received))

    def _on_iopub(self, received: Received) -> None:
        self._deliver(received, lambda guard: guard.broadcast(received))

    def _deliver(self, received: Received, to: Callable[[RequestGuard], None]) -> None:
        if self._guard is None or received.parent_id != self._request_id:
            self._on_stray(received.size_bytes)
            return
        self._last_message = time.monotonic()
        try:
            to(self._guard)
        except Exception as problem:  # noqa: BLE001  (a fault in reading it: raised again in the caller's task)
            self._failure = problem
        self._changed.set()

    def _on_oversized(self, channel: Channel) -> None:
        limit = format_bytes(self._policy.message_bytes)
        if self._guard is None:
            self._on_stray(self._policy.message_bytes)
        elif channel == "shell":
            self.die(f"its reply was over {limit}, the limit for one message")
        else:
            self._guard.drop(f"over {limit}")
            self._guard.count(self._policy.message_bytes)
            self._changed.set()

    def _on_malformed(self) -> None:
        self._on_stray(MALFORMED_BYTES)

    def _on_stray(self, size_bytes: int) -> None:
        """Of no request, or no message at all."""
        self._stray += 1
        self._stray_bytes += size_bytes
        if self._stray > MAX_STRAY:
            self.die(f"it sent more than {MAX_STRAY} messages that belong to no request")
        elif self._stray_bytes > MAX_STRAY_BYTES:
            self.die(f"it sent more than {format_bytes(MAX_STRAY_BYTES)} that belong to no request")
