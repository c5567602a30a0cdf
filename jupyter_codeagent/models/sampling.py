"""Several replies to one request from a model that gives one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from jupyter_codeagent.types.messages import Completion, CompletionRequest

AT_ONCE = 3
"""Requests. A server that does not batch has the last wait for the others, and the read timeout runs meanwhile."""


class Complete(Protocol):
    """`protocol.Model.complete`."""

    async def __call__(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion: ...


async def one_by_one(
    complete: Complete,
    request: CompletionRequest,
    seeds: Iterable[int],
    *,
    on_text: Callable[[str], None],
    is_complete: Callable[[str], bool],
    at_once: int = AT_ONCE,
) -> tuple[Completion, ...]:
    """A request for each, `at_once` at the same time; `seeds` are added to the request's. The first is shown."""
    places = asyncio.Semaphore(at_once)

    async def one(seed: int, shown: Callable[[str], None]) -> Completion:
        async with places:
            return await complete(
                replace(request, seed=request.seed + seed), on_text=shown, is_complete=is_complete
            )

    replies = [asyncio.create_task(one(seed, on_text if not at else _unseen)) for at, seed in enumerate(seeds)]
    try:
        return tuple(await asyncio.gather(*replies))
    finally:
        for reply in replies:
            reply.cancel()  # where one has failed, or the run was stopped; nothing to those that have ended


def _unseen(_text: str) -> None:
    """Of one reply only the growth is shown."""
