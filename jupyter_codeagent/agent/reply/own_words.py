"""What a model wrote in words where it wrote no code, for the user, as the model's own words.

Nobody has checked them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_codeagent.agent.reply.extract import NO_CODE, extract_code
from jupyter_codeagent.notebook.outputs.text import clean_text, strip_colours
from jupyter_codeagent.types.run import Step

MAX_CHARS = 400
MAX_READ_CHARS = 2000
"""Limit for the part of a reply that is read."""

_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_IMAGE = re.compile(r"!\[[^\[\]]*+\]\([^)]*+\)?")
_LINK = re.compile(r"\[([^\[\]]*+)\]\([^)]*+\)?")
_REFERENCE = re.compile(r"^[ \t]*+\[[^\[\]\n]++\]:.*$", re.MULTILINE)
_URL = re.compile(r"<?\b(?:https?|ftp|file|data|javascript|mailto)\s*:\S+|\bwww\.\S+", re.IGNORECASE)
_TAG = re.compile(r"<[!/?A-Za-z][^<>]*>?")
_PREFIX = re.compile(
    r"^(?:[*_#>\s]*+(?:final\s++)?(?:answer|result|summary|output|observation)[*_\s]*+:[*_\s]*+)++", re.IGNORECASE
)
_END = re.compile(r"(?<=[.!?])\s")


def own_words(step: Step) -> str:
    """Return one short paragraph on one line; empty if the reply has code, cannot be read, or loops."""
    if step.note != NO_CODE:
        return ""
    return one_paragraph(extract_code(step.reply).prose)


def words_instead(steps: Sequence[Step]) -> str:
    """Return the model's latest words if it answered in words a second time; else empty.

    It was asked for code or the reason after the first time.
    """
    answers = [own_words(step) for step in steps]
    return answers[-1] if len([words for words in answers if words]) > 1 else ""


def one_paragraph(words: str) -> str:
    """Put words on one line, without code, links, images, HTML and controls; cut it at a sentence's end."""
    text = strip_colours(clean_text(words.replace("\r", "").rpartition("</think>")[2][:MAX_READ_CHARS]))
    for pattern in (_FENCE, _IMAGE, _REFERENCE):
        text = pattern.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", _URL.sub(" ", text))
    text = re.sub(r"\s+", " ", _PREFIX.sub("", text.replace("`", ""))).strip()
    return _shortened(text)


def _shortened(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    ends = [match.start() for match in _END.finditer(text[: MAX_CHARS + 1])]
    return text[: ends[-1]] if ends else text[: MAX_CHARS - 1].rsplit(" ", 1)[0] + "…"
