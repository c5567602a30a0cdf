"""Functions on the main thread end by Ctrl+C and by their time limit, whatever a library makes of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from jupyter_codeagent.tools.timeouts import ended_by_signals, ended_in_time

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def sleep() -> None:
    time.sleep(60)


def try_again_and_again() -> None:
    while True:
        try:
            sleep()
        except Exception:
            continue


def swallow() -> None:
    with suppress(BaseException):
        sleep()


def ask_sqlite() -> None:
    connection = sqlite3.connect(":memory:")
    connection.set_progress_handler(lambda: 0, 100_000)
    connection.execute(ENDLESS)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


@pytest.mark.parametrize("work", [sleep, try_again_and_again, ask_sqlite])
def test_what_takes_longer_than_its_limit_is_a_time_out(work: Callable[[], None]) -> None:
    with (
        at_most(30),
        pytest.raises(TimeoutError, match=r"work took longer than 0\.3 s"),
        ended_by_signals("work", 0.3),
    ):
        work()


@pytest.mark.parametrize("work", [sleep, try_again_and_again, swallow, ask_sqlite])
@pytest.mark.parametrize("timeout_s", [None, 60.0])
def test_ctrl_c_ends_it_and_is_never_taken_for_an_error_of_the_function(
    work: Callable[[], None], timeout_s: float | None
) -> None:
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with at_most(30), pytest.raises(KeyboardInterrupt), ended_by_signals("work", timeout_s):
        work()
    timer.join()


def test_what_ends_in_time_is_left_alone_and_signals_are_as_before() -> None:
    heard: list[int] = []
    before = {
        number: signal.signal(number, lambda n, _: heard.append(n)) for number in (signal.SIGINT, signal.SIGALRM)
    }
    try:
        with ended_by_signals("work", 0.2):
            pass
        with pytest.raises(ZeroDivisionError), ended_by_signals("work", 0.2):
            raise ZeroDivisionError
        time.sleep(0.4)
        assert heard == []
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGALRM)
        assert heard == [signal.SIGINT, signal.SIGALRM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_timer_that_somebody_else_has_set_goes_on() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    old = signal.setitimer(signal.ITIMER_REAL, 0.6)
    try:
        with pytest.raises(TimeoutError), ended_by_signals("work", 0.2):
            sleep()
    finally:
        time.sleep(0.8)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *old)
    assert rung == [signal.SIGALRM]


def test_beside_the_main_thread_nothing_is_changed() -> None:
    found: list[Any] = []

    def work() -> None:
        with ended_by_signals("work", 0.1):
            time.sleep(0.3)
            found.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_coroutine_that_cancels_itself_has_failed_and_one_that_is_stopped_is_cancelled() -> None:
    async def cancels_itself() -> None:
        raise asyncio.CancelledError

    async def stopped() -> None:
        task = asyncio.create_task(ended_in_time("weather", None, asyncio.sleep(60)))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(RuntimeError, match="weather was cancelled"):
        asyncio.run(ended_in_time("weather", 5, cancels_itself()))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stopped())


def test_on_the_loop_a_limit_is_told_and_a_time_out_of_the_function_stays_its_own() -> None:
    async def fail() -> None:
        raise TimeoutError("the server is slow")

    with pytest.raises(TimeoutError, match=r"weather took longer than 0\.05 s"):
        asyncio.run(ended_in_time("weather", 0.05, asyncio.sleep(60)))
    with pytest.raises(TimeoutError, match="the server is slow"):
        asyncio.run(ended_in_time("weather", 5, fail()))
    assert asyncio.run(ended_in_time("weather", None, asyncio.sleep(0, "rain"))) == "rain"
