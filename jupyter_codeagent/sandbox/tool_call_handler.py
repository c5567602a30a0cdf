"""Calls of the user's functions during one execution: each is passed on, and its answer sent to the sandbox."""

from __future__ import annotations

import asyncio

from jupyter_codeagent.sandbox.backend import Backend
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received
from jupyter_codeagent.sandbox.local.channels.zmtp import ChannelBrokenError
from jupyter_codeagent.sandbox.requests import Requests
from jupyter_codeagent.sandbox.tool_calls import ANSWER_TYPE, CallRequest, OnCall, answer_content, read_call
from jupyter_codeagent.types.errors import SandboxDiedError

MAX_WAITING = 64
"""Limit for calls that wait for their answers at the same time."""


class ToolCallHandler:
    """Handler of one execution's calls; its clock stands still while a call waits for an answer."""

    def __init__(self, requests: Requests, backend: Backend, on_call: OnCall) -> None:
        self._requests = requests
        self._backend = backend
        self._on_call = on_call
        self._last_number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self, received: Received) -> None:
        """Start answering a call that has come from the sandbox.

        Raises
        ------
        MalformedMessageError
            If it is not a call, repeats a number, or is one too many.
        """
        request = read_call(received)
        if len(self._tasks) >= MAX_WAITING:
            raise MalformedMessageError(f"more than {MAX_WAITING} calls at once")
        if request.number <= self._last_number:
            raise MalformedMessageError(f"call {request.number} once more")
        self._last_number = request.number
        release_clock = self._requests.hold_clock()
        task = asyncio.create_task(self._answer(request), name=f"call of {request.name}")
        self._tasks.add(task)
        task.add_done_callback(self._done)
        task.add_done_callback(lambda _: release_clock())

    async def end(self) -> None:
        """Cancel all pending calls: the execution is over, and nobody waits for their answers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, request: CallRequest) -> None:
        answer = await self._on_call(request)
        copy = answer.copy
        directory = (
            await self._backend.provide_files([name for name, _, _ in copy.files]) if copy is not None else ""
        )
        await self._backend.answer(ANSWER_TYPE, answer_content(request.number, answer, directory))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        problem = None if task.cancelled() else task.exception()
        if isinstance(problem, ChannelBrokenError | SandboxDiedError):
            self._requests.kill(f"a call of its code could not be answered: {problem}")
        elif problem is not None:  # of whatever class: a call without an answer would wait until the time limit
            self._requests.fail(problem)
