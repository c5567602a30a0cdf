"""Replies that go round in circles, as small models at temperature 0 do until the token limit."""

from __future__ import annotations

WINDOW_CHARS = 600
MAX_PERIOD_CHARS = 150
"""Four rounds of the longest circle fit the window; no program repeats itself word for word for so long."""


def is_looping(text: str) -> bool:
    """Whether the end of the text is one passage, over and over. Cheap enough for every part of a stream."""
    return _period(text) > 0


def without_loop(text: str) -> str:
    """The text up to the end of the first round; the whole of it if it does not end in a circle."""
    period = _period(text)
    if not period:
        return text
    start = len(text) - WINDOW_CHARS
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return text[: start + period]


def _period(text: str) -> int:
    """Length of the repeated passage; 0 if there is none."""
    end = text[-WINDOW_CHARS:]
    if len(end) < WINDOW_CHARS:
        return 0
    return next((size for size in range(1, MAX_PERIOD_CHARS + 1) if end[size:] == end[:-size]), 0)
