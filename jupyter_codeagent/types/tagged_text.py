"""Prompt text with tags for the kinds of user data in each part of it.

The receipt of a run is derived from its messages, so all code that puts user data into a message tags it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from jupyter_codeagent.types.messages import ContentKind, Message, Role, Span

KINDS: tuple[ContentKind, ...] = get_args(ContentKind)


@dataclass(frozen=True)
class TaggedText:
    """An immutable text with tagged spans, which are sorted and lie within it."""

    text: str = ""
    spans: tuple[Span, ...] = ()

    def __add__(self, other: TaggedText | str) -> TaggedText:
        return join("", (self, other))

    def __radd__(self, other: str) -> TaggedText:
        return join("", (other, self))

    def __bool__(self) -> bool:
        return bool(self.text)

    def part(self, start: int, end: int) -> TaggedText:
        """Return the slice from character `start` to `end`."""
        text = self.text[start:end]
        clipped = (
            Span(kind=span.kind, start=max(span.start, start) - start, end=min(span.end, end) - start)
            for span in self.spans
            if span.start < end and span.end > start
        )
        # A span of which only white space is left has no user data any more.
        return TaggedText(text, tuple(span for span in clipped if text[span.start : span.end].strip()))

    def stripped(self) -> TaggedText:
        """Return the text without white space at its ends, as `str.strip`."""
        start = len(self.text) - len(self.text.lstrip())
        return self.part(start, start + len(self.text.strip()))

    def lines(self) -> list[TaggedText]:
        """Return the lines of the text."""
        found, start = [], 0
        for line in self.text.split("\n"):
            found.append(self.part(start, start + len(line)))
            start += len(line) + 1
        return found


def tagged(text: str, *kinds: ContentKind) -> TaggedText:
    """Return the text with all of it tagged as these kinds; white space alone gets no tag."""
    if not text.strip():
        return TaggedText(text)
    return TaggedText(text, tuple(Span(kind=kind, start=0, end=len(text)) for kind in kinds))


def join(separator: str, parts: Iterable[TaggedText | str]) -> TaggedText:
    """Return the joined parts, as `str.join`; adjacent spans of one kind become one span."""
    text, spans = "", list[Span]()
    open_spans: dict[ContentKind, Span] = {}
    for at, part in enumerate(parts):
        piece = part if isinstance(part, TaggedText) else TaggedText(part)
        if at:
            text += separator
        for span in piece.spans:
            moved = Span(kind=span.kind, start=span.start + len(text), end=span.end + len(text))
            before = open_spans.get(span.kind)
            if before is not None and moved.start - before.end <= len(separator):
                spans.remove(before)
                moved = Span(kind=span.kind, start=before.start, end=moved.end)
            open_spans[span.kind] = moved
            spans.append(moved)
        text += piece.text
    return TaggedText(text, tuple(sorted(spans, key=lambda span: (span.start, span.end))))


def message(role: Role, content: TaggedText | str) -> Message:
    """Return a message with this text and its spans."""
    whole = content if isinstance(content, TaggedText) else TaggedText(content)
    return Message(role=role, content=whole.text, spans=whole.spans)


def content_of(message: Message) -> TaggedText:
    """Return the tagged text of a message, as the inverse of `message`."""
    return TaggedText(message.content, message.spans)


def kinds_of(spans: Iterable[Span]) -> tuple[ContentKind, ...]:
    """Return each kind once, in the order of `ContentKind`."""
    found = {span.kind for span in spans}
    return tuple(kind for kind in KINDS if kind in found)


def kinds_in(messages: Sequence[Message], prefill_spans: Sequence[Span] = ()) -> tuple[ContentKind, ...]:
    """Return the kinds of user data in all the messages and the prefill."""
    return kinds_of((*(span for one in messages for span in one.spans), *prefill_spans))
