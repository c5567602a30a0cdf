"""How long a reply is waited for: a while for each further piece of text, and a limit for the whole."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from jupyter_codeagent.types.errors import ModelTimeoutError

Awaited = TypeVar("Awaited")
READ_TIMEOUTS = 10
"""For a whole reply, as multiples of the limit between two pieces: one that always says a bit more never ends."""


class Patience:
    """Of one stream. Text alone renews it: comments, empty parts and counts keep nobody waiting."""

    def __init__(self, limit_s: float, replies: int, where: str) -> None:
        self._limit_s = limit_s
        self._whole_s = READ_TIMEOUTS * limit_s * replies
        self._where = where
        self._clock = asyncio.get_running_loop().time
        self._ends_at = self._clock() + self._whole_s
        self.renew()

    def renew(self) -> None:
        """Text has come."""
        self._text_until = self._clock() + self._limit_s

    async def wait_for(self, what: Awaitable[Awaited]) -> Awaited:
        """Raises ModelTimeoutError."""
        until = min(self._text_until, self._ends_at)
        try:
            async with asyncio.timeout_at(until):
                came = await what
        except TimeoutError as error:
            raise self._over() from error
        if self._clock() > until:  # what comes without a pause lets no timer run
            raise self._over()
        return came

    def _over(self) -> ModelTimeoutError:
        if self._text_until < self._ends_at:
            return timed_out(self._where, self._limit_s)
        return ModelTimeoutError(
            f"{self._where} was still writing after {self._whole_s:g} s, the limit for a whole reply: raise "
            f"c.CodeAgent.read_timeout_s, of which it is {READ_TIMEOUTS} times."
        )


def timed_out(where: str, limit_s: float) -> ModelTimeoutError:
    return ModelTimeoutError(
        f"{where} sent no text for {limit_s:g} s, the limit: it may be busy. Ask again, or raise "
        "c.CodeAgent.read_timeout_s."
    )
