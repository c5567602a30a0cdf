"""Remove a model's reasoning before its reply, which stands in tags and is never read for code."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)(think|thinking|reasoning)>", re.IGNORECASE)
_OPENED = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_CLOSED = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def without_thoughts(text: str) -> str | None:
    """Return the reply without its reasoning; None if it ended before the reasoning did.

    A server may have dropped the opening tag.
    """
    text = _without_pairs(text)
    ends = [closed.end() for closed in _CLOSED.finditer(text)]
    if not ends and _OPENED.match(text):
        return None
    return text[ends[-1] :] if ends else text


def _without_pairs(text: str) -> str:
    """Remove paired tags with their text, in one pass from left to right."""
    kept: list[str] = []
    at, opened = 0, ""
    for tag in _TAG.finditer(text):
        closes, name = bool(tag[1]), tag[2].lower()
        if opened and closes and name == opened:
            at, opened = tag.end(), ""
        elif not opened and not closes:
            kept.append(text[at : tag.start()])
            at, opened = tag.start(), name
    return "".join([*kept, text[at:]])
