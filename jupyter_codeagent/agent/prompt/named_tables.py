"""Find the tables that a task names: ``how many rows has long_trips?``, ``the mean of hours in late``.

The name of a table may be a word of the language (*late*, *march*). It counts where only a table can be meant:
between backticks, with an underscore or a digit in it, or after a preposition and not before a noun (*in late*, but
not *in late autumn*).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from jupyter_codeagent.agent.prompt.task import MAX_READ_CHARS

_QUOTES = "[`'\"]"
_BEFORE = r"\b(?:in|of|from|to|with|into|within|inside|table|frame|dataframe|aus|von|mit)"
_AFTER = (
    r"(?=\s*(?:[.,;:!?)]|$)|\s+(?:and|or|for|by|per|with|is|are|was|were|has|have|had|do|does|did|on|at|that|which|who|where|when|"
    r"now|only|together|each|every|to|from|into|as|than|there|began?|if|und|für|nach|pro|je|ist|sind|hat|haben)\b)"
)

_SENTENCE = re.compile(r"(?<=[.?!;:])\s+|\n+")
_ORDER = re.compile(
    r"\W*(?:(?:please|now|then|next|also|and|so|ok|okay|first|finally|just)\W+)*"
    r"(?:(?:keep|leave|take) (?:only|just|in only)|drop|remove|delete|discard|exclude|throw (?:out|away)|take out|"
    r"filter|restrict|reduce|limit|narrow|cut)\b",
    re.IGNORECASE,
)
"""Begins a sentence that changes the table which it names."""


def named_tables(prompt: str, tables: Collection[str]) -> tuple[str, ...]:
    """Return those of the tables that the prompt names, in the order of the names' first places."""
    text = prompt[:MAX_READ_CHARS]
    places = {name: _place(text, name) for name in tables if name in text}
    return tuple(sorted((name for name, at in places.items() if at >= 0), key=places.__getitem__))


def changed_tables(prompt: str, tables: Collection[str]) -> tuple[str, ...]:
    """Return those of the tables that the prompt orders to reduce: ``Keep only the members in late``."""
    orders = (sentence for sentence in _SENTENCE.split(prompt[:MAX_READ_CHARS]) if _ORDER.match(sentence))
    return tuple(dict.fromkeys(name for order in orders for name in named_tables(order, tables)))


def _place(text: str, name: str) -> int:
    word = re.escape(name)
    if re.search(r"[_\d]", name):
        pattern = rf"(?<![\w.]){word}(?!\w)"
    else:
        pattern = rf"{_QUOTES}{word}{_QUOTES}|{_BEFORE}\s+(?:the (?:table|frame|dataframe)\s+)?{word}(?!\w){_AFTER}"
    found = re.search(pattern, text)
    return found.start() if found else -1
