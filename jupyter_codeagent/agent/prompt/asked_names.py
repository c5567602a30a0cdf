"""Find variables that the user asks for by name: ``keep it as late``, ``a table called shares``.

Small models compute what was asked for and give it another name, or none.
"""

from __future__ import annotations

import keyword
import re

_NAME = r"(?P<{}>[A-Za-z_]\w*)"
_ENDS = r"(?=\s*(?:[.,;:!?]|$)|\s+and\b)"
_VARIABLE = "table|frame|dataframe|series|list|array|dict|variable|copy|result"
"""Nouns for a variable of the program; the *error called TypeError* is none."""
_ASKED = re.compile(
    rf"\b(?:{_VARIABLE})\b[^.;?!\n]{{0,40}}?\s(?:called|named)\s+{_NAME.format('called')}"
    rf"|\b(?:name|call) it\s+{_NAME.format('it')}{_ENDS}"
    rf"|\b(?:keep(?!\s(?:only|just)\b)|save|store|put|assign)\b\s[^.;?!]{{1,80}}?\s(?:as|in|to|into)\s+"
    rf"{_NAME.format('kept')}{_ENDS}"
    rf"|\bkeep\s(?:only|just)\b[^.;?!]{{1,80}}?\sas\s+{_NAME.format('only')}{_ENDS}"
    rf"|\b(?:as|in|need|make|build|create|into) a (?:table|frame|dataframe) {_NAME.format('table')}"
    rf"(?=\s+(?:with|of|for|that|having|where|holding)\b|\s*[.,;:]|$)"
    rf"|^\W*(?:table|frame|dataframe) {_NAME.format('heading')}(?=\s+with\b)|(?<=[.?!;] )(?:Table|Frame) "
    rf"{_NAME.format('further')}(?=\s+with\b)",
    re.IGNORECASE,
)
_NO_VARIABLE = re.compile(
    r"\b(?:columns?|files?|labels?|titles?|axis|axes)\s*(?:(?:called|named|name it|call it)\s+)?$", re.IGNORECASE
)
"""Text before ``called late`` where no variable is meant."""
BEFORE_CHARS = 40
"""Distance before a name within which that text may begin."""
_NO_NAMES = frozenset(
    {"a", "an", "the", "it", "its", "is", "one", "this", "that", "well", "with", "of", "for", "percent",
     "percentage", "percentages", "numbers", "bars", "dates", "text", "order", "place", "memory", "variable"}
)  # fmt: skip


def asked_names(prompt: str) -> tuple[str, ...]:
    """Return the names of the variables that the prompt asks for, in its order."""
    names = []
    for match in _ASKED.finditer(prompt):
        group = next(name for name, found in match.groupdict().items() if found)
        name, start = match[group], match.start(group)
        is_word = name.lower() in _NO_NAMES or keyword.iskeyword(name)
        if not is_word and not _NO_VARIABLE.search(prompt, max(0, start - BEFORE_CHARS), start):
            names.append(name)
    return tuple(dict.fromkeys(names))
