"""One long-lived thread with an event loop, and a way to wait for it that an interrupt always gets through.

The sandbox, the model's stream and the decisions live on this loop; the user's objects are touched on the main
thread only. The sandbox must be started from a thread that lives as long as it does: its parent-death signal is
bound to the thread, not to the process (prctl(2), PR_SET_PDEATHSIG).
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from jupyter_codeagent.types.rust_panics import panics_as_errors

Result = TypeVar("Result")
TICK_S = 0.1
STOP_GRACE_S = 8.0


class BackgroundTask(Generic[Result]):
    """A coroutine that runs on the background loop; can be cancelled from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Result]) -> None:
        self._loop = loop
        self._task: asyncio.Task[Result] | None = None
        self._cancelled = False
        self._finished: Future[Result] = Future()
        loop.call_soon_threadsafe(self._start, coroutine)

    def cancel(self) -> None:
        """Request the end of the coroutine; `wait` still sees how it ended."""
        self._loop.call_soon_threadsafe(self._cancel)

    def wait(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s`; return whether the coroutine has ended."""
        try:
            self._finished.exception(timeout_s)
        except TimeoutError:
            return False
        return True

    @property
    def is_done(self) -> bool:
        return self._finished.done()

    def when_done(self, call: Callable[[], None]) -> None:
        """Have `call` called on the loop's thread at the end; at once if it has ended."""
        self._finished.add_done_callback(lambda _: call())

    def result(self) -> Result:
        """Wait for the coroutine; return its result or raise its error (`asyncio.CancelledError` if cancelled)."""
        return self._finished.result()

    def _start(self, coroutine: Coroutine[Any, Any, Result]) -> None:
        self._task = self._loop.create_task(coroutine)
        self._task.add_done_callback(self._done)
        if self._cancelled:
            self._task.cancel()

    def _cancel(self) -> None:
        self._cancelled = True
        if self._task is not None:
            self._task.cancel()

    def _done(self, task: asyncio.Task[Result]) -> None:
        if task.cancelled():
            self._finished.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._finished.set_exception(error)
        else:
            self._finished.set_result(task.result())


class BackgroundLoop:
    """The thread and its loop; started at the first use, ended by `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._schedule: Callable[[Callable[[], None]], object] | None = None
        self._handle_messages: Callable[[], None] = lambda: None
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._woken = threading.Event()
        """Set when there is a call or a task has ended, so that a waiting thread wakes before the next tick."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._serve, name="codeagent", daemon=True)
                self._thread.start()
            return self._loop

    def submit(self, coroutine: Coroutine[Any, Any, Result]) -> BackgroundTask[Result]:
        return BackgroundTask(self.loop, coroutine)

    def wait(self, task: BackgroundTask[Result], tick: Callable[[], None] = lambda: None) -> Result:
        """Wait on the main thread; call `tick` there about ten times a second, and run requested calls at once.

        Whatever is raised here meanwhile, a KeyboardInterrupt above all, cancels the task, waits for its end (at
        most `STOP_GRACE_S`), and propagates: a run that nobody waits for must not continue.
        """
        task.when_done(self._woken.set)
        tick_at = time.monotonic() + TICK_S
        try:
            while not task.is_done:
                self._woken.wait(TICK_S)
                self._woken.clear()
                self._serve_calls()
                if time.monotonic() >= tick_at:
                    self._handle_messages()
                    tick()
                    tick_at = time.monotonic() + TICK_S
            self._serve_calls()
            tick()
        except BaseException:
            task.cancel()
            task.wait(STOP_GRACE_S)
            raise
        return task.result()

    async def run_beside(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine on this loop and await it from another one, which is never blocked by it."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self.loop))

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Submit a coroutine and wait for its result."""
        return self.wait(self.submit(coroutine))

    def serve_when_idle(self, schedule: Callable[[Callable[[], None]], object]) -> None:
        """Set `schedule`, which has the main thread call something when no cell is running."""
        self._schedule = schedule

    def handle_while_waiting(self, handle: Callable[[], None]) -> None:
        """Have `handle` called repeatedly on the main thread while it waits in a cell."""
        self._handle_messages = handle

    async def on_main_thread(self, call: Callable[[], Result]) -> Result:
        """Run `call` on the main thread: while it is in `wait` (stdin can be read there only) or when free."""
        future: Future[Result] = Future()
        self._calls.put((call, future))
        self._woken.set()
        if self._schedule is not None:
            self._schedule(self._serve_calls)
        return await asyncio.wrap_future(future)

    async def on_idle_main_thread(self, call: Callable[[], Result], *, timeout_s: float) -> Result:
        """Run `call` on the main thread between two cells, not while one waits; a call that has begun has no limit.

        Raises
        ------
        TimeoutError
            A cell was running for all of `timeout_s`.
        """
        begun = asyncio.Event()
        loop, future = asyncio.get_running_loop(), Future[Result]()

        def serve() -> None:
            if future.set_running_or_notify_cancel():
                loop.call_soon_threadsafe(begun.set)
                _serve_call(call, future)

        assert self._schedule is not None, "only in a kernel"
        self._schedule(serve)
        try:
            async with asyncio.timeout(timeout_s):
                await begun.wait()
        except BaseException:
            future.cancel()
            raise
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_GRACE_S)
        if not thread.is_alive():
            loop.close()

    def _serve(self) -> None:
        loop = self._loop
        assert loop is not None
        asyncio.set_event_loop(loop)
        loop.run_forever()
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())

    def _serve_calls(self) -> None:
        while True:
            try:
                call, future = self._calls.get_nowait()
            except queue.Empty:
                return
            if future.set_running_or_notify_cancel():
                _serve_call(call, future)


def _serve_call(call: Callable[[], Any], future: Future[Any]) -> None:
    """Run a call and set its future, which is running already."""
    try:
        with panics_as_errors():
            future.set_result(call())
    except KeyboardInterrupt:
        # `cancel` does nothing to a call that has begun: its caller would wait for ever.
        future.set_exception(asyncio.CancelledError())
        raise
    except StopIteration as error:  # which no future can carry
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    except Exception as error:  # noqa: BLE001 - belongs to whoever asked for the call
        future.set_exception(error)
