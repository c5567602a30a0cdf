"""Execution of one call: on the main thread, or on a loop if the function is a coroutine."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from jupyter_codeagent.tools.call_arguments import arguments_for_undo, as_annotated
from jupyter_codeagent.tools.call_host import Host
from jupyter_codeagent.tools.timeouts import ended_by_signals, ended_in_time
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.rust_panics import panics_as_errors

ENDS_MORE = (SystemExit, asyncio.CancelledError, StopIteration)
"""Exceptions that end more than the call: `sys.exit()` would end the run; no future can carry StopIteration."""
ESTIMATE_S = 10.0
"""Time in which a tool has to say what a call would take."""
Result = TypeVar("Result")


class CallExecutor:
    """Makes one call at a time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._is_on_main_thread = False
        self.has_begun = False
        """Whether the function of the present or last call has begun."""

    def interrupt(self) -> None:
        """Interrupt the function that runs on the main thread, as Ctrl+C does. Any thread."""
        main = threading.main_thread().ident
        if self._is_on_main_thread and main is not None:
            signal.pthread_kill(main, signal.SIGINT)

    async def make_call(self, tool: Tool, bound: inspect.BoundArguments) -> tuple[Mapping[str, Any], Any]:
        """Return the arguments for `undo`, and the value that the function returned; raise what it raises."""
        self.has_begun = False
        if tool.coroutine is None:
            return await self._host.on_main_thread(lambda: self._called(tool, bound))
        self.has_begun = True
        called = _awaited(tool, tool.coroutine, bound)
        # A user's own coroutine may block its loop; ours, which talk to servers, do not.
        running = self._host.on_users_loop(called) if tool.coroutine is tool.function else called
        return await ended_in_time(tool.name, tool.timeout_s, running)

    async def estimate(self, tool: Tool, outline: inspect.BoundArguments) -> str:
        """Return what the call is expected to take; empty if nobody knows, or arguments are not unpacked yet.

        Raises what the call would raise.
        """
        if tool.estimate is None or not all(isinstance(value, str) for value in outline.arguments.values()):
            return ""
        estimate = partial(tool.estimate, *outline.args, **outline.kwargs)
        return await self._host.on_main_thread(lambda: self._interruptible(tool.name, ESTIMATE_S, estimate))

    def _called(self, tool: Tool, bound: inspect.BoundArguments) -> tuple[Mapping[str, Any], Any]:
        """Call the function on the main thread; return the arguments for its undo, and its value."""

        def call() -> tuple[Mapping[str, Any], Any]:
            for_undo = arguments_for_undo(tool, bound)
            arguments = as_annotated(tool, bound)
            return for_undo, tool.function(*arguments.args, **arguments.kwargs)

        self.has_begun = True
        return self._interruptible(tool.name, tool.timeout_s, call)

    def _interruptible(self, name: str, timeout_s: float | None, run: Callable[[], Result]) -> Result:
        """Run what belongs to a tool on the main thread, where `interrupt` and the time limit end it."""
        self._is_on_main_thread = True
        try:
            with panics_as_errors(), ended_by_signals(name, timeout_s):
                return run()
        except ENDS_MORE as problem:
            raise RuntimeError(f"{name} was ended by {type(problem).__name__}") from problem
        finally:
            self._is_on_main_thread = False


async def _awaited(
    tool: Tool, coroutine: Callable[..., Awaitable[Any]], bound: inspect.BoundArguments
) -> tuple[Mapping[str, Any], Any]:
    for_undo = arguments_for_undo(tool, bound)
    arguments = as_annotated(tool, bound)
    try:
        with panics_as_errors():
            return for_undo, await coroutine(*arguments.args, **arguments.kwargs)
    except (SystemExit, KeyboardInterrupt) as problem:
        raise RuntimeError(f"{tool.name} was ended by {type(problem).__name__}") from problem
