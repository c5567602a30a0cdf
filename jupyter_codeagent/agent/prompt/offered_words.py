"""Find words that a prompt offers to choose from: ``either "yes" or "no"``, ``can be "rising" or "falling"``.

Not those that it describes as data: ``the status column can be "open" or "closed"``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from jupyter_codeagent.agent.prompt.sentences import SENTENCE_END

_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<word>[^\"'\n]{2,30})(?P=quote)|[“‘](?P<curly>[^”’\n]{2,30})[”’]")
_OFFERS = re.compile(r"\b(?:either|one of|(?:can|could|should|must|may)(?: \w+)? be|takes?(?: \w+){0,2} values?)\b")
_OF_DATA = re.compile(r"\b(?:columns?|fields?|rows?|records?|tables?|entries|values of)\b", re.IGNORECASE)
"""In the same sentence, these mean words of the data, not of the answer."""
_OR = re.compile(r"\b(?:or|and|otherwise|else)\b", re.IGNORECASE)
MAX_OFFERED = 8
MAX_BETWEEN_CHARS = 120


def words_offered(prompt: str) -> tuple[str, ...]:
    """Return the words of the first sentence that offers some; empty if none does."""
    for sentence in SENTENCE_END.split(prompt):
        if (cue := _OFFERS.search(sentence)) is None or _OF_DATA.search(sentence):
            continue
        found = [match for match in _QUOTED.finditer(sentence, cue.end()) if not _is_name(match)]
        between = [sentence[one.end() : other.start()] for one, other in pairwise(found)]
        is_choice = bool(between) and _OR.search(between[-1]) is not None
        if is_choice and len(found) <= MAX_OFFERED and all(len(text) <= MAX_BETWEEN_CHARS for text in between):
            return tuple(dict.fromkeys(match["word"] or match["curly"] for match in found))
    return ()


def _is_name(match: re.Match[str]) -> bool:
    """Check whether the sentence continues about the quoted word: ``"kind" is``."""
    return re.match(r"\s+(?:is|are|stands?|means?)\b", match.string[match.end() :]) is not None


def missing_word_advice(prompt: str, text: str) -> str:
    """Return what to do if the output has none of the words that the prompt offers; else empty."""
    words = words_offered(prompt)
    if not words or _contains_one(words, text):
        return ""
    listed = ", ".join(f'"{word}"' for word in words)
    return f"The answer has to be one of {listed}; none of them was shown. Choose by the computed numbers."


def _contains_one(words: Sequence[str], text: str) -> bool:
    """Check whether one of the words is in the text, in any case; ``is_normal`` does not contain *no*."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words)
