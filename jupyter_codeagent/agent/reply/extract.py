"""Extract the code from a model's reply.

Tolerant of everything small models do to a code block, strict in what it accepts: only text that parses as Python
comes out. Tried in order: marked tool calls, fenced blocks, tags, JSON objects with the code in them, the
whole text, the part of it between sentences. Measured on 3,000 stored replies of other models
(`evals/suites/ds1000.py`), and on own ones in the manner of larger models (`larger_model_replies.json` in tests).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Literal

from jupyter_codeagent.agent.reply.calls import from_calls, from_json
from jupyter_codeagent.agent.reply.cleaning import clean, command_line
from jupyter_codeagent.agent.reply.fences import Block, Prose, split_blocks
from jupyter_codeagent.agent.reply.one_program import (
    ALTERNATIVE,
    MAX_BLOCKS,
    Program,
    has_code,
    is_code,
    one_program,
)
from jupyter_codeagent.agent.reply.thoughts import without_thoughts
from jupyter_codeagent.agent.source import does_something, parse_or_error
from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS

NO_CODE = "no code in the reply"
MAX_PROSE_CHARS = 300
"""Prose after a block that shows that no other block comes."""
MAX_PART_CHARS = 10_000
"""Longest reply without any mark around its code."""
MAX_TRIED_CHARS = 200_000
"""Limit for all its parts that are parsed, together."""
MAX_MENTION_CHARS = 200
"""Length of the text before a tag that may show it to be in a sentence."""

Form = Literal["fence", "tag", "json", "comments", "text", "part", ""]
"""Where in the reply the code was; empty if there is none."""

_TAG_NAMES = r"code|python|execute_python|execute|tool_code|py|code_block"
_TAG = re.compile(
    rf"<({_TAG_NAMES})(?:\s[^<>]*)?>(.*?)(?:</(?:{_TAG_NAMES})\b|</\w*\s*\Z|\Z)", re.DOTALL | re.IGNORECASE
)
_WORDS = re.compile(r">?[ ,]*[a-z]", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</(?:{_TAG_NAMES})\b", re.IGNORECASE)
_PREFILLED = re.compile(
    r"\A(?:# [\w, ]+ (?:is|are) already (?:loaded|defined)\n){1,2}|^# corrected: .*\n", re.MULTILINE
)
_HUNK = re.compile(r"^@@ (?!-0,0 )", re.MULTILINE)
_NOT_IN_NEW = re.compile(r"-|\+\+\+ |@@|diff |index |\\")
"""Start of a line of a diff that is not in the new text."""
_TICKED = re.compile(r"`([^`]+)`")
_FENCE = re.compile(r"`{3,}+|~{3,}+")


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """The code and the words of a reply."""

    code: str
    """Parses as Python; empty if there is none."""
    prose: str
    """The model's words outside the code. Unchecked: for a log, never for an answer."""
    problem: str
    """Why there is no code, in words the model can act on; empty if there is some."""
    form: Form = ""
    """Only the measurement of the extraction uses it."""
    notes: tuple[str, ...] = ()
    """If there were several blocks: which are run, and which are not and why."""


@lru_cache(maxsize=16)
def extract_code(reply: str) -> Extraction:
    """Return the code of a reply, or why there is none."""
    text = without_thoughts(reply.replace("\r\n", "\n").replace("\r", "\n"))
    if text is None:
        return Extraction(code="", prose="", problem="the reply ended before its reasoning did")
    if len(_FENCE.findall(text)) > 2 * MAX_BLOCKS:
        return Extraction(code="", prose="", problem=f"the reply has more than {MAX_BLOCKS} code blocks")
    parts = split_blocks(text)
    prose = _prose(parts)
    found: tuple[tuple[Form, Program], ...] = (
        ("tag", _joined(from_calls(text))),
        ("fence", one_program(parts)),
        ("tag", _joined(_from_tags(text))),
        ("json", _joined(from_json(text))),
        ("fence", _joined(_from_diff(parts))),
        ("comments", _joined(_from_comments(parts))),
    )
    for form, program in found:
        if code := _without_comment(program.code):
            return _within_limit(Extraction(code=code, prose=prose, problem="", form=form, notes=program.notes))
    if problem := _broken_block(parts, text):
        return Extraction(code="", prose=prose or _comments(parts), problem=problem)
    if code := _whole(text):
        return Extraction(code=code, prose="", problem="", form="text")
    if code := _part(text) or _set_apart(text):
        return Extraction(code=code, prose="", problem="", form="part")
    is_words = text.strip() != "" and not command_line(text) and not has_code(text)
    return Extraction(code="", prose=prose or text.strip(), problem=NO_CODE if is_words else _problem(text))


def _prose(parts: Iterable[Block | Prose]) -> str:
    return "\n".join(part.text.strip() for part in parts if isinstance(part, Prose) and part.text.strip())


def _comments(parts: Iterable[Block | Prose]) -> str:
    """Return the comments of blocks without code: a model writes its words there if a block was begun for it."""
    texts = [_without_comment(part.text) for part in parts if isinstance(part, Block) and part.python]
    lines = [line.strip() for text in texts for line in text.split("\n")]
    return "\n".join(line.lstrip("# ") for line in lines if line.startswith("#"))


def _within_limit(found: Extraction) -> Extraction:
    """Refuse a program that is too long when joined of several blocks."""
    if len(found.code) <= MAX_CODE_CHARS:
        return found
    return Extraction(code="", prose=found.prose, problem=_too_long(found.code))


def _too_long(text: str) -> str:
    return f"the program has {len(text):,} characters; at most {MAX_CODE_CHARS:,} are read"


def is_program_complete(text: str) -> bool:
    """Check whether the program has ended, so that the stream can be closed.

    Its last block is closed at column 0, and what follows introduces an alternative, or is `MAX_PROSE_CHARS` long.
    Cheap enough for every part of a stream.
    """
    at = max(text.rfind("```"), text.rfind("~~~"))
    line_end = text.find("\n", at)
    if at < 0 or line_end < 0:
        return False
    after = text[line_end + 1 :]
    is_over = len(after) > MAX_PROSE_CHARS or ALTERNATIVE.search(after) is not None
    return is_over and _ends_with_block(text[: line_end + 1])


@lru_cache(maxsize=32)
def _ends_with_block(text: str) -> bool:
    """Check whether every block is closed, and the last one of Python holds code."""
    reply = without_thoughts(text) if len(_FENCE.findall(text)) <= 2 * MAX_BLOCKS else None
    blocks = [part for part in split_blocks(reply or "") if isinstance(part, Block)]
    closed = all(block.closed_at_margin and not block.indent for block in blocks)
    of_python = [block for block in blocks if block.python]
    return closed and bool(of_python) and bool(clean(of_python[-1].text))


def _from_tags(text: str) -> list[str]:
    blocks = _tagged(text)
    codes = [clean(block) for block in blocks]
    return codes if blocks and (codes[0] or not blocks[0].strip()) else []  # what follows needs the first


def _tagged(text: str) -> list[str]:
    """Return the text in tags, and before a first closing tag that the question opened."""
    closing, opening = _CLOSING_TAG.search(text), _TAG.search(text)
    opened = text[: closing.start()] if closing and (opening is None or closing.start() < opening.start()) else ""
    blocks = [match.group(2) for match in islice(_TAG.finditer(text), MAX_BLOCKS) if not _is_mention(match)]
    return [opened, *blocks] if has_code(opened) else blocks


def _is_mention(tag: re.Match[str]) -> bool:
    """Check whether a tag is a few words of code within a sentence: ``the column <code>fare</code> has``."""
    if "\n" in tag.group(2):
        return False
    before = tag.string[max(0, tag.start() - MAX_MENTION_CHARS) : tag.start()].rpartition("\n")[2].strip()
    return (before != "" and not before.endswith(":")) or _WORDS.match(tag.string, tag.end()) is not None


def _from_comments(parts: Iterable[Block | Prose]) -> list[str]:
    """Return a program that is written in comments, with nothing beside it.

    A model does so when it continues the prefilled line, which is a comment.
    """
    for part in parts:
        if isinstance(part, Block) and part.python and len(part.text) <= MAX_CODE_CHARS:
            lines = [line for line in _without_comment(part.text).split("\n") if line.strip()]
            if lines and all(line.startswith("# ") for line in lines) and all(is_code(line[2:]) for line in lines):
                return [clean("\n".join(line[2:] for line in lines))]
    return []


def _from_diff(parts: Iterable[Block | Prose]) -> list[str]:
    """Return the program that a diff makes, unless it shows parts of one only."""
    for part in parts:
        if isinstance(part, Block) and part.label == "diff" and not _HUNK.search(part.text):
            lines = (line for line in part.text.split("\n") if not _NOT_IN_NEW.match(line))
            return [clean("\n".join(line[1:] for line in lines))]
    return []


def _whole(text: str) -> str:
    code = clean(text)
    return _without_comment(code) if does_something(code) else ""


def _part(text: str) -> str:
    """Return the longest part that is code, if nothing else is.

    Half a program must not run on its own.
    """
    if len(text) > MAX_PART_CHARS:
        return ""
    lines = text.split("\n")
    spans = [span for span in _spans(lines) if does_something("\n".join(lines[span]))]
    if not spans:
        return ""
    longest = max(spans, key=lambda span: len("\n".join(lines[span])))
    if has_code("\n".join((*lines[: longest.start], *lines[longest.stop :]))):
        return ""
    return "\n".join(lines[longest]).strip("\n")


def _set_apart(text: str) -> str:
    """Return the lines that Markdown sets as code without a fence, indented or in backticks; no other is code."""
    lines = text.split("\n")
    ticked = [match.group(1) for line in lines if (match := _TICKED.fullmatch(line.strip()))]
    words = [line for line in lines if line.strip() and not line.startswith("    ") and not _TICKED.fullmatch(line)]
    code = clean("\n".join(ticked or (line for line in lines if line not in words)))
    return code if does_something(code) and words and not has_code("\n".join(words)) else ""


def _spans(lines: list[str]) -> Iterator[slice]:
    """Yield from each unindented line the longest run of lines that parses, up to a limit."""
    start = tried = 0
    while start < len(lines):
        end = len(lines) if lines[start].strip() and not lines[start][0].isspace() else start
        while end > start:
            part = "\n".join(lines[start:end])
            tried += len(part)
            if tried > MAX_TRIED_CHARS:
                return
            tree = parse_or_error(part)
            if not isinstance(tree, SyntaxError):
                yield slice(start, end)
                break
            # nothing from the offending line on can belong to it; a bracket left open is reported where it opens
            end = min(end - 1, start + (tree.lineno or 1) - 1)
        start = max(end, start + 1)


def _joined(codes: Iterable[str]) -> Program:
    """Join blocks in order; a repeated block counts once."""
    return Program(code="\n\n".join(dict.fromkeys(code for code in codes if code)))


def _without_comment(code: str) -> str:
    """Remove the lines that `system.prefill` wrote."""
    return _PREFILLED.sub("", code).strip("\n")


def _broken_block(parts: Iterable[Block | Prose], text: str) -> str:
    """Return what is wrong with the first Python block; empty if there is no such block.

    A part of it must not run on its own.
    """
    fenced = [part.text for part in parts if isinstance(part, Block) and part.python]
    return next((_problem(block) for block in (*fenced, *_tagged(text)) if block.strip()), "")


def _problem(text: str) -> str:
    if command := command_line(text):
        return f"{command!r} is a notebook command; write plain Python, nothing can be installed"
    if not re.search(r"[=(\[]", text):
        return NO_CODE if text.strip() else "the reply is empty"
    if len(text) > MAX_CODE_CHARS:
        return _too_long(text)
    error = parse_or_error(text)
    if not isinstance(error, SyntaxError) or not error.lineno:
        return NO_CODE
    lines = text.split("\n")
    line = lines[min(error.lineno, len(lines)) - 1].strip()[:120]
    return f"SyntaxError at line {error.lineno}: {error.msg}: {line}"
