"""Streamed replies in progress: their text, their end and their usage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from jupyter_codeagent.models.parsing import ChoiceDelta, Chunk
from jupyter_codeagent.types.messages import Usage

FinishReason = Literal["stop", "length", "closed"]


CHARS_PER_TOKEN = 16
"""A token is rarely longer, and has four characters on average: a server that sends more ignores the limit."""
EXTRA_CHARS = 256


class TooMuchTextError(Exception):
    """The server sent more text than the requested tokens can contain."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} characters")
        self.limit = limit


@dataclass
class Reply:
    """One reply in progress."""

    prefill: str
    max_tokens: int
    received: str = ""
    reasoning_chars: int = 0
    """Length of the reasoning before the answer, which is not kept."""
    finish_reason: FinishReason | Literal[""] = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    has_usage: bool = False
    """Whether the server has sent the number of tokens."""
    complete: bool = False
    """Whether further text is ignored."""

    @property
    def ended(self) -> bool:
        return self.complete or bool(self.finish_reason)

    @property
    def text(self) -> str:
        """The reply with the prefill exactly once; some servers repeat it."""
        if not self.prefill or self.received.startswith(self.prefill):
            return self.received
        if self.prefill.startswith(self.received) and not self.finish_reason:
            return self.prefill  # could still become a repetition
        return self.prefill + self.received

    def add(self, piece: ChoiceDelta) -> None:
        """Add text, or the end of the reply. Raises TooMuchTextError."""
        if not self.complete:
            self.received += piece.text
            self.reasoning_chars += piece.reasoning_chars
            limit = CHARS_PER_TOKEN * self.max_tokens + EXTRA_CHARS
            if len(self.received) + self.reasoning_chars > limit + len(self.prefill):
                raise TooMuchTextError(limit)
        self.end(piece)

    def end(self, piece: ChoiceDelta) -> None:
        """Read the end of the reply, and ignore text."""
        self.finish_reason = piece.finish_reason or self.finish_reason

    def count(self, chunk: Chunk) -> None:
        """Read the usage in a chunk."""
        known = chunk.timings.cached_tokens if chunk.timings is not None else self.usage.cached_tokens
        if chunk.usage is not None:
            self.usage = replace(chunk.usage, cached_tokens=chunk.usage.cached_tokens or known)
        elif chunk.timings is not None:
            self.usage = chunk.timings
        self.has_usage = self.has_usage or chunk.usage is not None or chunk.timings is not None


class Replies:
    """The replies of one stream, distinguished by their index."""

    def __init__(self, count: int, prefill: str, max_tokens: int) -> None:
        self.each = [Reply(prefill=prefill, max_tokens=max_tokens) for _ in range(count)]
        self._last = self.each[0]
        """Reply to which a chunk without a choice refers, if to any."""
        self._total_usage: Usage | None = None
        """Usage of all replies together: vLLM sends it once, llama.cpp for each reply."""

    @property
    def displayed(self) -> Reply:
        """The first reply that has not ended."""
        return next((reply for reply in self.each if not reply.ended), self.each[-1])

    @property
    def arrived(self) -> list[Reply]:
        """Replies that the server has sent; only one if it does not support several."""
        return [reply for at, reply in enumerate(self.each) if not at or reply.received or reply.finish_reason]

    @property
    def has_usage(self) -> bool:
        return self._total_usage is not None or all(reply.has_usage for reply in self.each)

    def add(self, chunk: Chunk) -> None:
        """Add one chunk of the stream: text, the end, or the usage. Raises TooMuchTextError."""
        for piece in chunk.choices:
            if (reply := self._reply_for(piece)) is not None:
                reply.add(piece)
        self._count(chunk)

    def end(self, chunk: Chunk) -> None:
        """Read the end and the usage of a chunk, and ignore text."""
        for piece in chunk.choices:
            if (reply := self._reply_for(piece)) is not None:
                reply.end(piece)
        self._count(chunk)

    def _reply_for(self, piece: ChoiceDelta) -> Reply | None:
        index = piece.index if len(self.each) > 1 else 0
        if index is None or not 0 <= index < len(self.each):
            return None
        self._last = self.each[index]
        return self._last

    def _count(self, chunk: Chunk) -> None:
        if chunk.choices or len(self.each) == 1 or chunk.timings is not None:
            self._last.count(chunk)
        elif chunk.usage is not None:
            self._total_usage = chunk.usage

    def usages(self) -> list[Usage]:
        """Return the usage of each reply that arrived; the prompt, sent once, counts in the first."""
        each = [reply.usage for reply in self.arrived]
        if len(each) == 1:
            return each
        known = self._total_usage
        written = [usage.completion_tokens for usage in each]
        if known is not None and sum(written) != known.completion_tokens:
            written = [known.completion_tokens] + [0] * (len(each) - 1)
        read = [usage for usage in (known, *each) if usage is not None]
        first = Usage(
            prompt_tokens=max(usage.prompt_tokens for usage in read),
            cached_tokens=max(usage.cached_tokens for usage in read),
            completion_tokens=written[0],
            calls=1,
        )
        return [first, *(Usage(completion_tokens=tokens) for tokens in written[1:])]
