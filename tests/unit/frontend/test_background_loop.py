"""`jupyter_codeagent.frontend.background_loop`: waiting that an interrupt always gets through."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator

import polars as pl
import pytest

from jupyter_codeagent.frontend.background_loop import BackgroundLoop

OUT_OF_RANGE = pl.Series([2**63 - 1]).cast(pl.Datetime("us"))
"""What polars panics about when it is to become Python's."""


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    made = BackgroundLoop()
    yield made
    made.close()


def test_a_coroutine_runs_on_another_thread_and_gives_its_result(background: BackgroundLoop) -> None:
    async def where() -> str:
        return threading.current_thread().name

    assert background.run(where()) == "codeagent"


def test_an_exception_of_the_coroutine_reaches_the_caller(background: BackgroundLoop) -> None:
    async def fail() -> None:
        raise ValueError("told")

    with pytest.raises(ValueError, match="told"):
        background.run(fail())


def test_an_interrupt_cancels_the_task_and_waits_until_it_has_wound_up(background: BackgroundLoop) -> None:
    wound_up = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            wound_up.set()

    def interrupt() -> None:
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        background.wait(background.submit(hang()), tick=interrupt)
    assert wound_up.is_set()
    assert time.monotonic() - started < 30


def test_a_failure_while_waiting_stops_the_task_as_an_interrupt_does(background: BackgroundLoop) -> None:
    wound_up = threading.Event()

    async def hang() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            wound_up.set()

    def fail() -> None:
        raise OSError("told")

    with pytest.raises(OSError, match="told"):
        background.wait(background.submit(hang()), tick=fail)
    assert wound_up.is_set()


def test_a_task_cancelled_from_another_thread_ends_the_wait(background: BackgroundLoop) -> None:
    async def hang() -> None:
        await asyncio.sleep(60)

    task = background.submit(hang())
    threading.Timer(0.05, task.cancel).start()
    with pytest.raises(asyncio.CancelledError):
        background.wait(task)


def test_a_call_for_the_main_thread_is_served_while_it_waits(background: BackgroundLoop) -> None:
    async def ask() -> str:
        return await background.on_main_thread(lambda: threading.current_thread().name)

    assert background.run(ask()) == threading.current_thread().name


def test_calls_for_the_main_thread_do_not_wait_for_the_next_tick(background: BackgroundLoop) -> None:
    ticks: list[int] = []

    async def ask() -> int:
        return sum([await background.on_main_thread(lambda: 1) for _ in range(200)])

    assert background.wait(background.submit(ask()), lambda: ticks.append(1)) == 200
    assert len(ticks) < 100


def test_a_wait_inside_of_a_call_for_the_main_thread_ends_and_so_does_the_outer_one(
    background: BackgroundLoop,
) -> None:
    async def inner() -> str:
        return await background.on_main_thread(lambda: "inner")

    async def outer() -> str:
        return await background.on_main_thread(lambda: background.run(inner()))

    assert background.run(outer()) == "inner"


def test_an_error_of_a_main_thread_call_belongs_to_whoever_asked(background: BackgroundLoop) -> None:
    def fail() -> None:
        raise OSError("no terminal")

    async def ask() -> str:
        try:
            await background.on_main_thread(fail)
        except OSError as error:
            return str(error)
        return ""

    assert background.run(ask()) == "no terminal"


def test_a_panic_of_a_main_thread_call_belongs_to_whoever_asked_as_an_error(background: BackgroundLoop) -> None:
    """polars raises its panics as a BaseException: it would end the cell, and leave the other side waiting."""

    async def ask() -> str:
        try:
            await background.on_main_thread(OUT_OF_RANGE.to_list)
        except Exception as error:
            return str(error)
        return ""

    assert "overflowed" in background.run(ask())


def test_whoever_waits_for_a_main_thread_call_that_was_interrupted_does_not_wait_for_ever(
    background: BackgroundLoop,
) -> None:
    scheduled: list[Callable[[], None]] = []
    background.serve_when_idle(scheduled.append)

    def interrupted() -> None:
        raise KeyboardInterrupt

    async def ask() -> str:
        try:
            await background.on_main_thread(interrupted)
        except asyncio.CancelledError:
            return "told"
        return ""

    task = background.submit(ask())
    while not scheduled:
        time.sleep(0.01)
    with pytest.raises(KeyboardInterrupt):
        scheduled[0]()
    assert background.wait(task) == "told"


def test_a_call_between_two_cells_is_not_made_late_where_the_cell_went_on(
    background: BackgroundLoop,
) -> None:
    scheduled: list[Callable[[], None]] = []
    background.serve_when_idle(scheduled.append)
    made: list[str] = []

    async def ask(timeout_s: float) -> str:
        try:
            await background.on_idle_main_thread(lambda: made.append("made"), timeout_s=timeout_s)
        except TimeoutError:
            return "busy"
        return "idle"

    assert background.run(ask(0.05)) == "busy", "while the main thread waits in a cell it is not idle"
    scheduled.pop()()
    assert made == [], "whoever asked has been told that it was not"
    task = background.submit(ask(5))
    while not scheduled:
        time.sleep(0.01)
    scheduled.pop()()
    assert background.wait(task) == "idle"
    assert made == ["made"]


def test_close_ends_the_thread(background: BackgroundLoop) -> None:
    async def of_loop() -> threading.Thread:
        return threading.current_thread()

    thread = background.run(of_loop())
    background.close()
    assert not thread.is_alive()
