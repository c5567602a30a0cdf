"""Split a question that asks for several things: a small model answers the first of them, or mixes them up.

With a numbered list in the prompt, and the first part as a comment at the beginning of its code, it writes code for
each in turn.
"""

from __future__ import annotations

import re

# For text with single blanks.
_SENTENCE = re.compile(r"(?<=[.?!;]) (?=\W{0,20}[A-Z0-9])|; ")
_QUESTION = "how|what|which|who|when|where|whether"
_ORDER = (
    "show|give|print|report|list|compute|calculate|find|tell|draw|plot|make|test|compare|keep|count|drop|fill|fit|"
    "use|add|join|name|build|create|sort|split|merge|save"
)
_COORDINATE = re.compile(
    rf",? and (?:also |then )?(?=(?:{_QUESTION}|{_ORDER})\b)|, then |, and (?=the\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"^(?:(?:please|then|also|and|so)\s+)*(?:{_QUESTION}|{_ORDER})\b", re.IGNORECASE)
_ORDERED = re.compile(r"^[ \t]*+(?:[-*•#]|\d++[.)]\s|[A-Za-z_]\w*(?:\(| = ))", re.MULTILINE)
_OF_BOTH = re.compile(r"^(?P<figure>.*\bof) (?P<one>(?:(?!\bof\b).)+?),? and (?P<other>of .+)$", re.IGNORECASE)
_NAMES_IT = re.compile(
    r"^(?:keep|save|store|call|name)\s+(?:it|this|that|these|them|the (?:result|table)|that table)\b", re.I
)
"""No part of its own: `asked_names` handles it."""
_SHOWS_IT = re.compile(r"^(?:show|give|print|report|list)\b(?: \S+){1,3}$", re.IGNORECASE)
"""``Show the counts``: how the part before is displayed."""
_BRACKETS = re.compile(r"\([^()]*\)")
"""They explain a part and are none: ``how many left early (within 365 days; no date means still employed)``."""
_INNER_BLANK = "\u00a0"
MIN_WORDS = 3


def parts_of(prompt: str) -> tuple[str, ...]:
    """Return the things that a prompt asks for, part by part.

    Empty for a prompt with lists or lines of code: its author has ordered it.
    """
    if _ORDERED.search(prompt):
        return ()
    parts: list[str] = []
    for sentence in _SENTENCE.split(_BRACKETS.sub(_as_one_word, " ".join(prompt.split()))):
        lead, colon, rest = sentence.partition(": ")
        asked = rest if colon and (_ASKS.match(lead) or _ASKS.match(rest)) else sentence
        asks = bool(_ASKS.match(sentence) or _ASKS.match(asked)) or sentence.rstrip().endswith("?")
        clauses = [clause.strip(" ,.;?!") for clause in _COORDINATE.split(asked)]
        for part in clauses:
            if parts and _SHOWS_IT.match(part):
                parts[-1] += f", {part[0].lower()}{part[1:]}"
            elif asks and len(part.split()) >= MIN_WORDS and not _NAMES_IT.match(part):
                parts += _each(part)
    return tuple(part.replace(_INNER_BLANK, " ") for part in parts)


def _as_one_word(brackets: re.Match[str]) -> str:
    return brackets.group().replace(" ", _INNER_BLANK)


def _each(part: str) -> tuple[str, ...]:
    """Split ``the change of the total and of each country``, which asks for two numbers."""
    if (both := _OF_BOTH.match(part)) is None:
        return (part,)
    return f"{both['figure']} {both['one']}", f"{both['figure'].removesuffix('of')}{both['other']}"
