"""The ends of a user's function on the main thread: Ctrl+C, and its time limit."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")
RING_AGAIN_S = 5.0
"""Seconds between alarms after the first, or after a Stop: one is lost while Python is in a finalizer."""


class TookTooLongError(TimeoutError):
    """The time limit has passed: the function was ended, and may have done its work."""


class _PassedError(BaseException):
    """The time limit as a signal; no Exception, since functions that retry after any error would not end."""


@contextmanager
def ended_by_signals(name: str, timeout_s: float | None) -> Iterator[None]:
    """End the block on Ctrl+C by KeyboardInterrupt, and after `timeout_s` by TimeoutError.

    This holds where a library turns either into an error of its own, as sqlite3 and DuckDB do: a Stop would count
    as a failed query. Code in C ends when it checks for signals; some does so only at its end.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are delivered to the main thread
        yield
        return
    with _raising_signals(timeout_s) as raised:
        try:
            yield
        except BaseException as problem:
            if _PassedError in raised and KeyboardInterrupt not in raised:
                raise TookTooLongError(_too_long(name, timeout_s)) from problem
            if not raised:
                raise
    if KeyboardInterrupt in raised:
        raise KeyboardInterrupt


@contextmanager
def _raising_signals(timeout_s: float | None) -> Iterator[list[type[BaseException]]]:
    """Yield the list of what Ctrl+C and the end of the time have raised so far."""
    raised: list[type[BaseException]] = []
    is_running = True

    def ring(number: int, _frame: FrameType | None) -> None:
        if is_running:
            is_stop = number == signal.SIGINT or KeyboardInterrupt in raised
            raised.append(KeyboardInterrupt if is_stop else _PassedError)
            signal.setitimer(signal.ITIMER_REAL, RING_AGAIN_S, RING_AGAIN_S)
            raise raised[-1]

    before = {number: signal.signal(number, ring) for number in (signal.SIGINT, signal.SIGALRM)}
    started = time.monotonic()
    timer = signal.setitimer(signal.ITIMER_REAL, timeout_s or 0.0, RING_AGAIN_S)
    try:
        yield raised
    finally:
        is_running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        if timer[0]:  # a timer of another owner, which continues
            signal.setitimer(signal.ITIMER_REAL, max(timer[0] - (time.monotonic() - started), 0.001), timer[1])


async def ended_in_time(name: str, timeout_s: float | None, awaited: Awaitable[Result]) -> Result:
    """Await a function on the loop, where a Stop cancels it; raise TookTooLongError if it takes longer."""
    try:
        async with asyncio.timeout(timeout_s) as limit:
            return await awaited
    except TimeoutError as problem:
        if limit.expired():
            raise TookTooLongError(_too_long(name, timeout_s)) from problem
        raise
    except asyncio.CancelledError as problem:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():  # by the function itself: nobody has stopped the run
            raise RuntimeError(f"{name} was cancelled") from problem
        raise


def _too_long(name: str, timeout_s: float | None) -> str:
    return f"{name} took longer than {timeout_s:g} s, its limit"
