"""Streamed replies while they come: their text, their end and their counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from jupyter_codeagent.models.parsing import ChoiceDelta, Chunk
from jupyter_codeagent.types.messages import Usage

FinishReason = Literal["stop", "length", "closed"]


CHARS_PER_TOKEN = 16
"""A token is rarely longer, and on average four characters: more text than this was not limited by its server."""
EXTRA_CHARS = 256


class TooMuchTextError(Exception):
    """More text came than the tokens that were asked for can be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} characters")
        self.limit = limit


@dataclass
class Reply:
    """What has come so far."""

    prefill: str
    max_tokens: int
    received: str = ""
    reasoning_chars: int = 0
    """Of what it thought before it answered, which is not kept."""
    finish_reason: FinishReason | Literal[""] = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    has_usage: bool = False
    """Whether the server has said how many tokens it were."""
    complete: bool = False
    """What comes now is not read any more."""

    @property
    def ended(self) -> bool:
        return self.complete or bool(self.finish_reason)

    @property
    def text(self) -> str:
        """With the prefill in front exactly once: some servers repeat it."""
        if not self.prefill or self.received.startswith(self.prefill):
            return self.received
        if self.prefill.startswith(self.received) and not self.finish_reason:
            return self.prefill  # may yet become a repetition
        return self.prefill + self.received

    def add(self, piece: ChoiceDelta) -> None:
        """A piece of text, or the end. Raises TooMuchTextError."""
        if not self.complete:
            self.received += piece.text
            self.reasoning_chars += piece.reasoning_chars
            limit = CHARS_PER_TOKEN * self.max_tokens + EXTRA_CHARS
            if len(self.received) + self.reasoning_chars > limit + len(self.prefill):
                raise TooMuchTextError(limit)
        self.end(piece)

    def end(self, piece: ChoiceDelta) -> None:
        """As `add`, without the text."""
        self.finish_reason = piece.finish_reason or self.finish_reason

    def count(self, chunk: Chunk) -> None:
        """What the server says of its tokens in this part."""
        known = chunk.timings.cached_tokens if chunk.timings is not None else self.usage.cached_tokens
        if chunk.usage is not None:
            self.usage = replace(chunk.usage, cached_tokens=chunk.usage.cached_tokens or known)
        elif chunk.timings is not None:
            self.usage = chunk.timings
        self.has_usage = self.has_usage or chunk.usage is not None or chunk.timings is not None


class Replies:
    """The replies of one stream, told apart by their index."""

    def __init__(self, count: int, prefill: str, max_tokens: int) -> None:
        self.each = [Reply(prefill=prefill, max_tokens=max_tokens) for _ in range(count)]
        self._last = self.each[0]
        """What a part without a choice is about, where it says so at all."""
        self._total_usage: Usage | None = None
        """Counts of all of them: vLLM tells them once, llama.cpp for each reply."""

    @property
    def displayed(self) -> Reply:
        """The first that still grows."""
        return next((reply for reply in self.each if not reply.ended), self.each[-1])

    @property
    def arrived(self) -> list[Reply]:
        """A server that does not know how to give several gives one."""
        return [reply for at, reply in enumerate(self.each) if not at or reply.received or reply.finish_reason]

    @property
    def has_usage(self) -> bool:
        return self._total_usage is not None or all(reply.has_usage for reply in self.each)

    def add(self, chunk: Chunk) -> None:
        """One part of the stream: text, the end, or the counts. Raises TooMuchTextError."""
        for piece in chunk.choices:
            if (reply := self._reply_for(piece)) is not None:
                reply.add(piece)
        self._count(chunk)

    def end(self, chunk: Chunk) -> None:
        """As `add`, without the text."""
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
        """Of the replies that came: the prompt, which was sent once, goes with the first."""
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
