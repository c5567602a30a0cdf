"""Detect replies that repeat one passage, as small models at temperature 0 do until the token limit."""

from __future__ import annotations

SHORT_CHARS = 150
LONG_CHARS = 600
ROUNDS = 4
"""Rounds that make a loop: no program repeats a passage word for word so often."""
WINDOW_CHARS = SHORT_CHARS * ROUNDS


def is_looping(text: str) -> bool:
    """Check whether the text ends in one passage, over and over.

    Cheap enough for every part of a stream.
    """
    return _period(text) > 0


def without_loop(text: str) -> str:
    """Return the text up to the end of the first round; all of it if it does not end in a loop."""
    period = _period(text)
    if not period:
        return text
    start = len(text) - period
    while start > 0 and text[start - 1] == text[start - 1 + period]:
        start -= 1
    return text[: start + period]


def _period(text: str) -> int:
    """Return the length of the repeated passage; 0 if there is none."""
    end = text[-WINDOW_CHARS:]
    if len(end) < WINDOW_CHARS:
        return 0
    short = next((size for size in range(1, SHORT_CHARS + 1) if end[size:] == end[:-size]), 0)
    return short or _long_period(text[-LONG_CHARS * ROUNDS :])


def _long_period(text: str) -> int:
    """Return the length of a long repeated passage, by where the last `SHORT_CHARS` occurred before.

    Comparing at each length would take long.
    """
    end = text[-SHORT_CHARS:]
    at = text.rfind(end, 0, len(text) - 1)
    while at >= 0 and (size := len(text) - SHORT_CHARS - at) <= LONG_CHARS:
        again = text[-size * ROUNDS :]
        if len(again) == size * ROUNDS and again[size:] == again[:-size]:
            return size
        at = text.rfind(end, 0, at + SHORT_CHARS - 1)
    return 0
