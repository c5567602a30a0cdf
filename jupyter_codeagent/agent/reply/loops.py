"""Replies that go round in circles, as small models at temperature 0 do until the token limit."""

from __future__ import annotations

SHORT_CHARS = 150
LONG_CHARS = 600
ROUNDS = 4
"""No program repeats a passage word for word so often."""
WINDOW_CHARS = SHORT_CHARS * ROUNDS


def is_looping(text: str) -> bool:
    """Whether the end of the text is one passage, over and over. Cheap enough for every part of a stream."""
    return _period(text) > 0


def without_loop(text: str) -> str:
    """The text up to the end of the first round; the whole of it if it does not end in a circle."""
    period = _period(text)
    if not period:
        return text
    start = len(text) - period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return text[: start + period]


def _period(text: str) -> int:
    """Length of the repeated passage; 0 if there is none."""
    end = text[-WINDOW_CHARS:]
    if len(end) < WINDOW_CHARS:
        return 0
    short = next((size for size in range(1, SHORT_CHARS + 1) if end[size:] == end[:-size]), 0)
    return short or _long_period(text[-LONG_CHARS * ROUNDS :])


def _long_period(text: str) -> int:
    """Found by where the last `SHORT_CHARS` stood before: comparing at each length would take long."""
    end = text[-SHORT_CHARS:]
    at = text.rfind(end, 0, len(text) - 1)
    while at >= 0 and (size := len(text) - SHORT_CHARS - at) <= LONG_CHARS:
        again = text[-size * ROUNDS :]
        if len(again) == size * ROUNDS and again[size:] == again[:-size]:
            return size
        at = text.rfind(end, 0, at + SHORT_CHARS - 1)
    return 0
