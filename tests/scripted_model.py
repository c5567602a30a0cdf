"""A model with scripted replies, for tests without a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from jupyter_codeagent.models.sampling import sample_separately
from jupyter_codeagent.types.errors import BadReplyError
from jupyter_codeagent.types.messages import Completion, CompletionRequest, Usage

PIECE_CHARS = 12


class ScriptedModel:
    """A model that streams the given replies in order; see `protocol.Model`."""

    def __init__(self, replies: Sequence[str], *, supports_prefill: bool = False) -> None:
        self._replies = list(replies)
        self._prefills = supports_prefill
        self.requests: list[CompletionRequest] = []
        """Requests so far, oldest first."""

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def supports_prefill(self) -> bool:
        return self._prefills

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> Completion:
        """Return the next reply, cut where `is_complete` returns true.

        Raises
        ------
        BadReplyError
            No reply is left.
        """
        if len(self.requests) >= len(self._replies):
            raise BadReplyError(f"The script has {len(self._replies)} replies and was asked for one more.")
        reply = request.prefill + self._replies[len(self.requests)]
        self.requests.append(request)
        started = time.monotonic()
        for end in range(PIECE_CHARS, len(reply) + PIECE_CHARS, PIECE_CHARS):
            text = reply[:end]
            on_text(text)
            await asyncio.sleep(0)  # a run can be stopped here
            if is_complete(text):
                break
        else:
            text = reply
        return Completion(
            text=text,
            finish_reason="stop" if text == reply else "closed",
            usage=Usage(prompt_tokens=_words(request), completion_tokens=len(text.split()), calls=1),
            model=self.name,
            duration_s=time.monotonic() - started,
        )

    async def sample(
        self,
        request: CompletionRequest,
        count: int,
        *,
        on_text: Callable[[str], None],
        is_complete: Callable[[str], bool],
    ) -> tuple[Completion, ...]:
        """Return the next replies, in order; see `protocol.Model.sample`."""
        first, *more = await sample_separately(
            self.complete, request, range(count), on_text=on_text, is_complete=is_complete, max_parallel=1
        )
        counted_once = (
            replace(reply, usage=Usage(completion_tokens=reply.usage.completion_tokens)) for reply in more
        )
        return (first, *counted_once)


def _words(request: CompletionRequest) -> int:
    return sum(len(message.content.split()) for message in request.messages)
