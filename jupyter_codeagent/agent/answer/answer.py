"""The answer in words: asked for in one further turn, accepted only if every number in it was computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_codeagent.agent.answer.numbers_in_text import (
    NumberInText,
    corrected,
    is_supported,
    mixes_rows,
    numbers_in,
    row_count,
    sources_in,
)
from jupyter_codeagent.agent.answer.unknown_names import unknown_names
from jupyter_codeagent.agent.prompt.offered_words import contains_one, words_offered
from jupyter_codeagent.agent.prompt.question_parts import parts_of
from jupyter_codeagent.agent.prompt.sentences import SENTENCE_END
from jupyter_codeagent.agent.prompt.system import next_messages
from jupyter_codeagent.notebook.outputs.text import clean_text, strip_colours
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.sandbox import Output
from jupyter_codeagent.types.tagged_text import TaggedText, join

MAX_CHARS = 400
MAX_ANSWER_TOKENS = 120
MAX_OUTPUT_CHARS = 600
"""Longest output that a sentence is asked for: a long table costs a token for each digit, and explains itself."""
COMPARED_CHARS = 40_000
"""Limit for the outputs that are compared, half at either end: far more than the prompt had of them."""
MAX_READ_CHARS = 2000
"""Limit for the part of a reply that is read: servers need not keep to `MAX_ANSWER_TOKENS`."""

MAX_UNKNOWN_NAMES = 1
"""Accepted in a sentence: one may be a word that the model capitalizes."""

_TEXT_WANTED = re.compile(r"\b(?:why|explain|interpret|describe|mean\s+for)\b", re.IGNORECASE)
"""Requests that no line of an output answers by itself."""
_JUDGED = re.compile(
    r"\bhow\s+(?:strong|well|good|similar|different|reliabl)\w*"
    r"|\b(?:compare|conclu\w+|significan\w+|trend|normal(?:ly|ity)?)\b",
    re.IGNORECASE,
)
_ASKS = r"(?:is|are|was|were|do|does|did|has|have|can|could|should|would|will|which|who)\b"
_ASKED_FIRST = re.compile(rf"\W*{_ASKS}(?!\s+not\b|n['’]t\b)", re.IGNORECASE)
_ASKED_WITHIN = re.compile(rf"(?:[,;:]\s+|\band\s+){_ASKS}|\b(?:which|who)\b", re.IGNORECASE)
MAX_NAMED_LINES = 12
MAX_NAMED_CHARS = 500
"""Longest line that can be a number with its name; the search in two million characters takes minutes."""
_NAMED = re.compile(r"[\W\d_]*+[^\W\d_].*[:=\[]\s*+[-+$€£]?[.,]*+\d")
_JUDGING = re.compile(r"\W*[^\W\d_][^:=\[]{0,60}[:=\[]\s*['\"]?(?!(?:nan|NaN|None|null|NaT|inf)\b)[^\W\d_][^\d=]*$")
"""A word with its name; ``none`` is a word, ``None`` is a missing value."""
_SHORTENED = re.compile(
    r"^\[\d+ rows x \d+ columns\]$|^(?:[^\n]*, )?Length: \d+|^[│|]\s*…|characters cut; print less\]",
    re.MULTILINE,
)
"""Text of pandas and polars below or within a table that they display in part."""
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
_LEFTOVER = re.compile(r"^\W*$")


def answer_messages(messages: Sequence[Message], reply: TaggedText, observation: TaggedText) -> tuple[Message, ...]:
    """Return the messages of the run with one more turn, which asks for words instead of code."""
    return next_messages(messages, reply, answer_request(observation))


def answer_request(observation: TaggedText) -> TaggedText:
    """Return the user message that asks for a sentence about `observation`."""
    asked = "Answer the task in one or two short sentences, with numbers of this output only. No code."
    return join("", ("Output:\n", observation, f"\n\n{asked}"))


def is_output_complete(observation: str) -> bool:
    """Check whether the observation has all of the output.

    Small models describe a part of a table as if it were all of it.
    """
    return len(observation) <= MAX_OUTPUT_CHARS and _SHORTENED.search(observation) is None


def is_self_explanatory(outputs: Sequence[Output], prompt: str) -> bool:
    """Check whether a sentence would only repeat the output: a few lines, each a number or a word with its name.

    ``Mean fare: 34.65``, ``share = 0.2``; not a bare number. Where the prompt asks for a judgement, the output
    must have it, as ``normal: no`` or as one of the words that the prompt offers. A table is one only in answer
    to a question in several parts: no sentence holds all its numbers.
    """
    if _TEXT_WANTED.search(prompt):
        return False
    lines: list[str] = []
    tables = 0
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            lines += [line for line in output["text"].splitlines() if line.strip()]
        elif output["output_type"] in ("display_data", "execute_result") and "text/html" in output["data"]:
            tables += 1
        else:
            return False
    if len(lines) > MAX_NAMED_LINES or any(len(line) > MAX_NAMED_CHARS for line in lines):
        return False
    offered, asks_for_judgement = words_offered(prompt), _asks_for_judgement(prompt)
    judging = [line for line in lines if _JUDGING.match(line) or contains_one(offered, line)]
    numbers = [line for line in lines if line not in judging and _NAMED.match(line)]
    if len(judging) + len(numbers) < len(lines) or (asks_for_judgement and not judging):
        return False
    if tables:
        return len(parts_of(prompt)) > 1
    return bool(numbers) or asks_for_judgement


def _asks_for_judgement(prompt: str) -> bool:
    """Check whether numbers alone would not answer the prompt.

    ``Are they alike?`` asks for a judgement, ``Do not count those that are empty.`` does not.
    """
    return _JUDGED.search(prompt) is not None or any(
        _ASKED_FIRST.match(sentence) or (sentence.rstrip().endswith("?") and _ASKED_WITHIN.search(sentence))
        for sentence in SENTENCE_END.split(prompt)
    )


def check_answer(answer: str, outputs_text: str, prompt: str, code: str = "") -> str:
    """Return the cleaned answer; empty if a number in it is neither in the outputs nor in the prompt.

    Thousands separators, fewer digits and percent forms of a number are the same number; the number of
    displayed rows counts as one; digits that were cut off instead of rounded are rounded. An answer is dropped,
    too, if it names rows of the output but gives the number of a row that it does not name, or if it has
    several names that are neither in the outputs nor in the prompt nor in the code.
    """
    sources = _sources(outputs_text, prompt)
    text = corrected(one_paragraph(answer), sources)
    if not text or _LEFTOVER.match(text):
        return ""
    return "" if _not_computed(text, sources, outputs_text, prompt, code) else text


def find_invented(answer: str, outputs_text: str, prompt: str, code: str = "") -> tuple[str, ...]:
    """Return the numbers and names for which `check_answer` drops an answer, for the run's note."""
    sources = _sources(outputs_text, prompt)
    return _not_computed(corrected(one_paragraph(answer), sources), sources, outputs_text, prompt, code)


def _not_computed(
    text: str, sources: frozenset[NumberInText], outputs_text: str, prompt: str, code: str
) -> tuple[str, ...]:
    """Return invented numbers, else invented names, else numbers of a row that is not named."""
    if numbers := {number.text for number in numbers_in(text) if not is_supported(number, sources)}:
        return tuple(sorted(numbers))
    ends = _ends(outputs_text)
    names = unknown_names(text, f"{ends}\n{prompt}\n{code}")
    return names if len(names) > MAX_UNKNOWN_NAMES else mixes_rows(text, ends, sources_in(prompt))


def _sources(outputs_text: str, prompt: str) -> frozenset[NumberInText]:
    return sources_in(_ends(outputs_text)) | sources_in(prompt) | row_count(outputs_text)


def _ends(outputs_text: str) -> str:
    """Return both ends of a long output, which is what the model may have seen.

    Comparing a table of 5,000 rows would take seconds.
    """
    if len(outputs_text) <= COMPARED_CHARS:
        return outputs_text
    half = COMPARED_CHARS // 2
    return f"{outputs_text[:half]}\n{outputs_text[-half:]}"


def one_paragraph(answer: str) -> str:
    """Put an answer on one line, without code, links, images, HTML and controls; cut it at a sentence's end."""
    text = strip_colours(clean_text(answer.replace("\r", "").rpartition("</think>")[2][:MAX_READ_CHARS]))
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
