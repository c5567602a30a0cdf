"""Remove a model's reasoning before its reply, which stands in tags and is never read for code."""

from __future__ import annotations

import re

_OPEN, _CLOSE = r"(?:[<◁]|(?<![\w)\]])\[)", r"[>▷\]]"
_NAMES = "think|thinking|thought|reasoning|analysis"
_NOT_QUOTED = r"(?!(?<=['\"])[<◁\[]/?\w+[>▷\]]['\"])"
"""A tag in quotes is part of the code."""
_TAG = re.compile(rf"{_NOT_QUOTED}{_OPEN}(/?)({_NAMES}){_CLOSE}", re.IGNORECASE)
_OPENED = re.compile(rf"\s*{_OPEN}think(?:ing)?{_CLOSE}", re.IGNORECASE)
_CLOSED = re.compile(rf"{_NOT_QUOTED}{_OPEN}/think(?:ing)?{_CLOSE}", re.IGNORECASE)
_CHANNEL = re.compile(
    r"<\|channel\|>(?P<header>[^<]*(?:<\|constrain\|>[^<]*)?)<\|message\|>"
    r"(?P<text>.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
"""A message of gpt-oss."""
_BARE_ANALYSIS = re.compile(r"\A\s*analysis(?=[A-Z]).*?assistant(?:final|commentary)(?=\W|[A-Z])", re.DOTALL)
"""Its reasoning from which a server has removed the special tokens."""
_GEMMA_CHANNEL = re.compile(r"<\|channel>thought\b(?:(?!<\|channel>).)*?(?P<end><channel\|>|\Z)", re.DOTALL)


def without_thoughts(text: str) -> str | None:
    """Return the reply without its reasoning; None if it ended before the reasoning did.

    A server may have dropped the opening tag.
    """
    reply = _last_message(text)
    if reply is None:
        return None
    text = _without_pairs(reply)
    ends = [closed.end() for closed in _CLOSED.finditer(text)]
    if not ends and _OPENED.match(text):
        return None
    return text[ends[-1] :] if ends else text


def _last_message(text: str) -> str | None:
    """Return the last message of a reply in channels that is no reasoning; None if all are, or it has not ended."""
    thoughts = list(_GEMMA_CHANNEL.finditer(text))
    if thoughts and not thoughts[-1]["end"]:
        return None
    text = _BARE_ANALYSIS.sub("", _GEMMA_CHANNEL.sub("", text))
    messages = list(_CHANNEL.finditer(text))
    if not messages:
        return text
    said = [one["text"] for one in messages if "analysis" not in one["header"] or "to=" in one["header"]]
    return said[-1] if said else None


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
