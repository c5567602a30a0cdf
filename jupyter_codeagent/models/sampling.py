"""Several replies to one request from a model that gives one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from jupyter_codeagent.types.messages import Completion, CompletionRequest

MAX_PARALLEL = 3
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


async def sample_separately(
    complete: Complete,
    request: CompletionRequest,
    seeds: Iterable[int],
    *,
    on_text: Callable[[str], None],
    is_complete: Callable[[str], bool],
    max_parallel: int = MAX_PARALLEL,
) -> tuple[Completion, ...]:
    """A request for each, `max_parallel` at once; `seeds` are added to the request's. The first is shown."""
    slots = asyncio.Semaphore(max_parallel)

    async def one(seed: int, on_own_text: Callable[[str], None]) -> Completion:
        async with slots:
            return await complete(
                replace(request, seed=request.seed + seed), on_text=on_own_text, is_complete=is_complete
            )

    replies = [asyncio.create_task(one(seed, on_text if not at else _ignore_text)) for at, seed in enumerate(seeds)]
    try:
        return tuple(await asyncio.gather(*replies))
    finally:
        for reply in replies:
            reply.cancel()  # where one has failed, or the run was stopped; nothing to those that have ended


def _ignore_text(_text: str) -> None:
    """Of one reply only the growth is shown."""
