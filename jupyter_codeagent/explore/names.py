"""Names and categories of the user's data as words show them: one line, nothing that Markdown would read."""

from __future__ import annotations

import re

from jupyter_codeagent.sandbox.guard import one_line

MAX_NAME_CHARS = 40
_PLAIN_NAME = re.compile(r"[^\W_](?:\w*[^\W_])?")
"""An identifier that Markdown does not read as emphasis."""
_PLAIN_LEVEL = re.compile(r"[^\W_](?:[\w .,:/&%+-]*[\w%+])?")


def name_in_words(name: str) -> str:
    """Return a column's name, in backticks if it is no plain word."""
    return name if _PLAIN_NAME.fullmatch(name) and len(name) <= MAX_NAME_CHARS else _quoted(name)


def level_in_words(level: str) -> str:
    """Return a category as words show it; one that is empty or of signs stands in backticks."""
    return level if _PLAIN_LEVEL.fullmatch(level) and len(level) <= MAX_NAME_CHARS else _quoted(level)


def _quoted(text: str) -> str:
    shown = one_line(text, MAX_NAME_CHARS).replace("`", "'")
    return f"`{shown or ' '}`"


def bare(text: str) -> str:
    """Return a name or category for a chart's title and axes: without backticks, on one line."""
    return one_line(text, MAX_NAME_CHARS)


def listed(texts: list[str], word: str = "and") -> str:
    """Return ``a, b and c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {word} {texts[-1]}"


def slug(text: str, default: str) -> str:
    """Return a variable's name made of a column's: ``dep_delay``; the default if nothing is left of it."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower().encode("ascii", "ignore").decode()).strip("_")
    return words[:24].rstrip("_") if words and not words[0].isdigit() else default
