"""Streamed replies while they come: their text, their end and their counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from jupyter_codeagent.values import Usage

FinishReason = Literal["stop", "length", "closed"]


@dataclass
class Reply:
    """What has come so far."""

    prefill: str
    received: str = ""
    finish_reason: FinishReason | Literal[""] = ""
    usage: Usage = field(default_factory=lambda: Usage(calls=1))
    counted: bool = False
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

    def add(self, choice: Any) -> None:
        """A piece of text, or the end."""
        if not self.complete:
            self.received += choice.delta.content or ""
        self.end(choice)

    def end(self, choice: Any) -> None:
        """As `add`, without the text."""
        if choice.finish_reason:
            self.finish_reason = "length" if choice.finish_reason == "length" else "stop"

    def count(self, part: Any) -> None:
        """What the server says of its tokens in this part."""
        timings = (part.model_extra or {}).get("timings")
        if isinstance(timings, dict):
            self._count_timings(timings)
        if part.usage is not None:
            self._count_usage(part.usage)

    def _count_timings(self, timings: dict[str, Any]) -> None:
        """llama.cpp: `prompt_n` were read, `cache_n` more were known."""
        known, read, written = (int(timings.get(key) or 0) for key in ("cache_n", "prompt_n", "predicted_n"))
        self.usage = Usage(prompt_tokens=known + read, completion_tokens=written, cached_tokens=known, calls=1)
        self.counted = True

    def _count_usage(self, usage: Any) -> None:
        details = usage.prompt_tokens_details
        self.usage = Usage(
            prompt_tokens=usage.prompt_tokens or 0,
            completion_tokens=usage.completion_tokens or 0,
            cached_tokens=(details.cached_tokens if details is not None else 0) or self.usage.cached_tokens,
            calls=1,
        )
        self.counted = True


class Replies:
    """The replies of one stream, told apart by their index."""

    def __init__(self, count: int, prefill: str) -> None:
        self.each = [Reply(prefill=prefill) for _ in range(count)]
        self._last = self.each[0]
        """What a part without a choice is about, where it says so at all."""
        self._together: Reply | None = None
        """Counts of all of them: vLLM tells them once, llama.cpp for each reply."""

    @property
    def shown(self) -> Reply:
        """The first that still grows."""
        return next((reply for reply in self.each if not reply.ended), self.each[-1])

    @property
    def came(self) -> list[Reply]:
        """A server that does not know how to give several gives one."""
        return [reply for at, reply in enumerate(self.each) if not at or reply.received or reply.finish_reason]

    @property
    def counted(self) -> bool:
        return self._together is not None or all(reply.counted for reply in self.each)

    def add(self, part: Any) -> None:
        """One part of the stream: text, the end, or the counts."""
        for choice in part.choices:
            if (reply := self._of(choice)) is not None:
                reply.add(choice)
        self._count(part)

    def end(self, part: Any) -> None:
        """As `add`, without the text."""
        for choice in part.choices:
            if (reply := self._of(choice)) is not None:
                reply.end(choice)
        self._count(part)

    def _of(self, choice: Any) -> Reply | None:
        index = choice.index if len(self.each) > 1 else 0
        if not 0 <= index < len(self.each):
            return None
        self._last = self.each[index]
        return self._last

    def _count(self, part: Any) -> None:
        if part.choices or len(self.each) == 1 or "timings" in (part.model_extra or {}):
            self._last.count(part)
        elif part.usage is not None:
            self._together = Reply(prefill="")
            self._together.count(part)

    def usages(self) -> list[Usage]:
        """Of the replies that came: the prompt, which was sent once, goes with the first."""
        each = [reply.usage for reply in self.came]
        if len(each) == 1:
            return each
        known = self._together.usage if self._together is not None else None
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
