"""Several replies to one request from a model that gives one reply per request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from jupyter_codeagent.types.messages import Completion, CompletionRequest

MAX_PARALLEL = 3
"""Concurrent requests. On a server without batching the last one waits for the others, within the read timeout."""


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
    """Send one request per seed, `max_parallel` at once; the first reply is displayed as it comes."""
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
            reply.cancel()  # if one has failed or the run was stopped; no effect on those that have ended


def _ignore_text(_text: str) -> None:
    """Ignore the text: only one reply is displayed while it grows."""
