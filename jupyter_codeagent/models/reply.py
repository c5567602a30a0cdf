"""A streamed reply while it comes: its text, its end and its counts."""

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

    @property
    def text(self) -> str:
        """With the prefill in front exactly once: some servers repeat it."""
        if not self.prefill or self.received.startswith(self.prefill):
            return self.received
        if self.prefill.startswith(self.received) and not self.finish_reason:
            return self.prefill  # may yet become a repetition
        return self.prefill + self.received

    def add(self, part: Any) -> None:
        """One part of the stream: text, the end, or the counts."""
        for choice in part.choices[:1]:
            self.received += choice.delta.content or ""
        self.count(part)

    def count(self, part: Any) -> None:
        """As `add`, without the text."""
        for choice in part.choices[:1]:
            if choice.finish_reason:
                self.finish_reason = "length" if choice.finish_reason == "length" else "stop"
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
