"""Time limits of a reply: one between two pieces of text, one for the whole reply."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from jupyter_codeagent.types.errors import ModelTimeoutError

Awaited = TypeVar("Awaited")
READ_TIMEOUTS = 10
"""Limit for a whole reply, as a multiple of the limit between two pieces: a reply may go on without end."""


class ReplyTimeout:
    """The time limits of one stream. Only text restarts them, not comments, empty chunks and usage."""

    def __init__(self, limit_s: float, replies: int, where: str) -> None:
        self._limit_s = limit_s
        self._whole_s = READ_TIMEOUTS * limit_s * replies
        self._where = where
        self._clock = asyncio.get_running_loop().time
        self._whole_due_at = self._clock() + self._whole_s
        self.restart()

    def restart(self) -> None:
        """Restart the limit between two pieces of text."""
        self._text_due_at = self._clock() + self._limit_s

    async def wait_for(self, awaitable: Awaitable[Awaited]) -> Awaited:
        """Return the result of an awaitable.

        Raises
        ------
        ModelTimeoutError
            A limit was exceeded.
        """
        until = min(self._text_due_at, self._whole_due_at)
        try:
            async with asyncio.timeout_at(until):
                result = await awaitable
        except TimeoutError as error:
            raise self._error() from error
        if self._clock() > until:  # a timer does not fire if results are always ready
            raise self._error()
        return result

    def _error(self) -> ModelTimeoutError:
        if self._text_due_at < self._whole_due_at:
            return read_timeout_error(self._where, self._limit_s)
        return ModelTimeoutError(
            f"{self._where} was still writing after {self._whole_s:g} s, the limit for a whole reply: raise "
            f"c.CodeAgent.read_timeout_s, of which it is {READ_TIMEOUTS} times."
        )


def read_timeout_error(where: str, limit_s: float) -> ModelTimeoutError:
    """Return the error for a server that sends no text."""
    return ModelTimeoutError(
        f"{where} sent no text for {limit_s:g} s, the limit: it may be busy. Ask again, or raise "
        "c.CodeAgent.read_timeout_s."
    )
