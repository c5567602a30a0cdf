"""Requests to one sandbox, one at a time: sent, timed, interrupted, and as the last resort the sandbox killed."""

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

RequestOutcome = Literal["done", "time", "output", "lost", "dead"]

LOST_MESSAGE_TIMEOUT_S = 1.0
"""Seconds to wait for the second of reply and idle status once the first has come and nothing follows."""
REOPEN_TIMEOUT_S = 10.0
"""Seconds to open a channel anew; behind a flood that a gateway has to drop first, one was too few."""
MAX_STRAY = 5000
"""Limit for messages that belong to no request, from one request to the end of the next."""
MAX_STRAY_BYTES = 256 << 20
MALFORMED_BYTES = 64 << 10
"""Bytes that a message which cannot be read counts for."""


class CellClock:
    """The deadline of one request. It stands still while the request waits for the user or a tool."""

    def __init__(self, limit_s: float) -> None:
        self._until = time.monotonic() + limit_s
        self._holders = 0
        self._held_at = 0.0

    @property
    def until(self) -> float:
        """Deadline by `time.monotonic`; infinite while the clock stands still."""
        return math.inf if self._holders else self._until

    def hold(self) -> None:
        """Stop the clock until `release` was called as often."""
        if self._holders == 0:
            self._held_at = time.monotonic()
        self._holders += 1

    def release(self) -> None:
        """Let the clock run again once every holder has released it."""
        self._holders -= 1
        if self._holders == 0:
            self._until += time.monotonic() - self._held_at


class Requests:
    """Owner of the channels; knows whether the sandbox still lives."""

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
        self.exit_reason = ""
        """Why the sandbox is gone; empty while it lives."""

    @property
    def busy(self) -> bool:
        """Whether a request is running."""
        return self._guard is not None

    async def open(self) -> None:
        """Open the channels.

        Raises
        ------
        TimeoutError
            If the sandbox does not answer.
        """
        await self._backend.connect(
            Listener(
                on_shell=self._on_shell,
                on_iopub=self._on_iopub,
                on_malformed=self._on_malformed,
                on_oversized=self._on_oversized,
                on_limit_exceeded=self.kill,
                on_cpu_limit=self.stop_request,
                is_busy=lambda: self.busy,
            )
        )

    def kill(self, why: str) -> None:
        """Kill the sandbox. The first reason stays."""
        self.exit_reason = self.exit_reason or why
        self._backend.kill()
        self._changed.set()

    def fail(self, problem: BaseException) -> None:
        """End the current request: `send` raises this."""
        self._failure = problem
        self._changed.set()

    def hold_clock(self) -> Callable[[], None]:
        """Stop the clock of the current request; the function that is returned starts it again."""
        clock = self._clock

        def release() -> None:
            clock.release()
            self._changed.set()

        clock.hold()
        self._changed.set()
        return release

    def stop_request(self, why: str) -> None:
        """Interrupt the current request. Without one, kill the sandbox: something still runs in it."""
        if self._guard is None:
            self.kill(f"between two requests {why}")
            return
        self._guard.overflow = self._guard.overflow or f"stopped: {why}"
        self._changed.set()

    async def send(self, guard: RequestGuard, code: str, limit_s: float, *, silent: bool) -> RequestOutcome:
        """Run code until it ends or is stopped. The caller makes sure that no other request runs."""
        if self.exit_reason:
            return "dead"
        self._guard, self._failure = guard, None
        self._stray = self._stray_bytes = 0
        self._last_message = time.monotonic()
        self._clock = CellClock(limit_s)
        self._backend.begin_request(limit_s * self._policy.processors)
        content = {
            "code": code,
            "silent": silent,
            "store_history": False,
            "allow_stdin": False,
            "stop_on_error": False,
        }
        self._request_id = self._backend.send("execute_request", content)
        try:
            return await self._wait_and_interrupt(guard, limit_s)
        except BaseException:  # cancelled, or our own callback failed: in both cases its code must not run on
            await self._abort(guard)
            raise
        finally:
            self._guard, self._request_id = None, ""

    async def _wait_and_interrupt(self, guard: RequestGuard, limit_s: float) -> RequestOutcome:
        outcome = await self._wait_for_end(guard, self._clock)
        if outcome in ("time", "output"):
            after = await self._interrupt(guard, f"it ran longer than {limit_s:g} s" if outcome == "time" else "")
        else:
            after = outcome
        if after == "lost":
            await self._reopen_lost_channel(guard)
        return "dead" if self.exit_reason else "done" if outcome == "lost" else outcome

    async def _wait_for_end(
        self, guard: RequestGuard, clock: CellClock, *, interrupted: bool = False
    ) -> RequestOutcome:
        while True:
            if self._failure is not None:
                raise self._failure
            if self.exit_reason:
                return "dead"
            if guard.reply is not None and guard.idle:
                return "done"
            if guard.overflow and not interrupted:
                return "output"
            is_half_done = guard.reply is not None or guard.idle
            until = clock.until
            limit = min(until, self._last_message + LOST_MESSAGE_TIMEOUT_S) if is_half_done else until
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

    async def _interrupt(self, guard: RequestGuard, why: str) -> RequestOutcome:
        """Send SIGINT, then SIGKILL after the grace period; state is kept if the code obeys."""
        await self._wait_for_begin(guard)
        await self._backend.interrupt()
        outcome = await self._wait_for_end(guard, CellClock(self._policy.grace_s), interrupted=True)
        if outcome == "time":
            why = why or guard.overflow or "it was interrupted"
            self.kill(f"{why} and did not stop within {self._policy.grace_s:g} s after the interrupt")
        return outcome

    async def _wait_for_begin(self, guard: RequestGuard) -> None:
        """Wait until the kernel takes up the request: it drops interrupts from before.

        A kernel that does not say so within the grace period is interrupted all the same.
        """
        until = time.monotonic() + self._policy.grace_s
        while not (guard.begun or guard.reply is not None or self.exit_reason):
            if not await self._changed_before(until):
                return

    async def _abort(self, guard: RequestGuard) -> None:
        self._failure = None
        guard.mute()
        try:
            await self._interrupt(guard, "")
        except BaseException:
            self.kill("it was interrupted twice")
            raise

    async def _reopen_lost_channel(self, guard: RequestGuard) -> None:
        """Recover from a lost message: code has closed a channel, or the kernel dropped messages from a flood."""
        if guard.reply is None:
            self.kill("its reply was lost (sent too fast, or the channel was closed by its code)")
            return
        guard.drop("lost (sent too fast, or the channel was closed by its code)")
        try:
            await self._backend.reopen_output(REOPEN_TIMEOUT_S)
        except TimeoutError:
            self.kill("its output channel broke")

    # --- incoming messages --------------------------------------------------------------------------

    def _on_shell(self, received: Received) -> None:
        self._deliver(received, lambda guard: guard.handle_shell(received))

    def _on_iopub(self, received: Received) -> None:
        self._deliver(received, lambda guard: guard.handle_iopub(received))

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
            self.kill(f"its reply was over {limit}, the limit for one message")
        else:
            self._guard.drop(f"over {limit}")
            self._guard.count(self._policy.message_bytes)
            self._changed.set()

    def _on_malformed(self) -> None:
        self._on_stray(MALFORMED_BYTES)

    def _on_stray(self, size_bytes: int) -> None:
        """Count a message that belongs to no request, or cannot be read."""
        self._stray += 1
        self._stray_bytes += size_bytes
        if self._stray > MAX_STRAY:
            self.kill(f"it sent more than {MAX_STRAY} messages that belong to no request")
        elif self._stray_bytes > MAX_STRAY_BYTES:
            self.kill(f"it sent more than {format_bytes(MAX_STRAY_BYTES)} that belong to no request")
