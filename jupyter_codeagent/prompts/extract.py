"""The code in a model's reply. Tolerant of everything small models do to a code block, strict in what it accepts:
only text that parses as Python comes out.

Tried in order: fenced blocks, tags, a JSON object with the code in it, the whole text, the part of it between
sentences. The measure are 3,000 stored replies of other models (`evals/ds1000.py`).
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_codeagent.prompts.cleaning import clean, command_line
from jupyter_codeagent.prompts.fences import Block, Prose, split_blocks
from jupyter_codeagent.prompts.source import parse, parse_or_error

NO_CODE = "no code in the reply"
MAX_SPAN_LINES = 400

Form = Literal["fence", "tag", "json", "comments", "text", "part", ""]
"""Where in the reply the code was; empty if there is none."""

_THINK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_THINK_OPEN = re.compile(r"^\s*<think(?:ing)?>", re.IGNORECASE)
_TAG_NAMES = r"code|python|execute_python|execute|tool_code|py|code_block"
_TAG = re.compile(
    rf"<({_TAG_NAMES})(?:\s[^<>]*)?>(.*?)(?:</(?:{_TAG_NAMES})\b|</\w*\s*\Z|\Z)", re.DOTALL | re.IGNORECASE
)
_WORDS = re.compile(r">?[ ,]*[a-z]", re.IGNORECASE)
_CLOSING_TAG = re.compile(rf"</(?:{_TAG_NAMES})\b", re.IGNORECASE)
_INVENTED = re.compile(
    r"^[\s*#>_]*(?:(?:expected |sample |console )?outputs?|observations?|execution results?|stdout)\s*[*_]*\s*:"
    r"|^[\s*#>_]*(?:alternative|another (?:way|approach|option)|or,? (?:you|if|more))",
    re.IGNORECASE | re.MULTILINE,
)
_CODE_LINE = re.compile(r"[A-Za-z_][\w.]*(?:\[.*\])?(?:\(|\s*[-+*/|&]?=\s*\S)")
"""How a statement begins that does not parse because its end is missing or on another line."""
_PREFILLED = re.compile(
    r"\A(?:# [\w, ]+ (?:is|are) already (?:loaded|defined)\n){1,2}|^# corrected: .*\n", re.MULTILINE
)


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What a reply holds."""

    code: str
    """Parses as Python; empty if there is none."""
    prose: str
    """The model's words outside the code. Not checked: good for a log, never for an answer."""
    problem: str
    """Why there is no code, in words the model can act on; empty if there is some."""
    form: Form = ""
    """Nothing depends on it but the measure of the extraction."""


def extract_code(reply: str) -> Extraction:
    text = _THINK.sub("", reply.replace("\r\n", "\n").replace("\r", "\n"))
    if _THINK_OPEN.match(text) and "</think" not in text:
        return Extraction(code="", prose="", problem="the reply ended before its reasoning did")
    text = _THINK_END.sub("", text)
    parts = split_blocks(text)
    prose = "\n".join(part.text.strip() for part in parts if isinstance(part, Prose) and part.text.strip())
    found: tuple[tuple[Form, list[str]], ...] = (
        ("fence", _from_fences(parts)),
        ("tag", _from_tags(text)),
        ("json", _from_json(text)),
        ("comments", _from_comments(parts)),
    )
    for form, codes in found:
        if code := _joined(codes):
            return Extraction(code=code, prose=prose, problem="", form=form)
    if problem := _broken_block(parts, text):
        return Extraction(code="", prose=prose, problem=problem)
    if code := _whole(text):
        return Extraction(code=code, prose="", problem="", form="text")
    if code := _part(text):
        return Extraction(code=code, prose="", problem="", form="part")
    return Extraction(code="", prose=prose or text.strip(), problem=_problem(text))


def is_block_complete(text: str) -> bool:
    """Whether the first Python block has been opened, closed at column 0, and parses: the stream can be closed."""
    for part in split_blocks(text):
        if isinstance(part, Block) and part.python and part.closed_at_margin and not part.indent:
            return bool(clean(part.text))
        if isinstance(part, Block) and part.python:
            return False
    return False


def _from_fences(parts: Iterable[Block | Prose]) -> list[str]:
    """Code of the labelled blocks, else of the unlabelled ones, up to the first invented output."""
    parts = list(parts)
    labelled: list[str] = []
    unlabelled: list[str] = []
    for part in parts:
        if isinstance(part, Prose):
            if (labelled or unlabelled) and _INVENTED.search(part.text):
                break
        elif part.python or not part.label:
            (labelled if part.python else unlabelled).append(clean(part.text))
        elif labelled and part.shows_output:
            break
    if any(labelled):
        return labelled
    return [code for code in unlabelled if _does_something(code)]


def _from_tags(text: str) -> list[str]:
    blocks = _tagged(text)
    codes = [clean(block) for block in blocks]
    return codes if blocks and (codes[0] or not blocks[0].strip()) else []  # what follows needs the first


def _tagged(text: str) -> list[str]:
    """What stands in tags, and before a first closing tag that the question opened."""
    closing, opening = _CLOSING_TAG.search(text), _TAG.search(text)
    begun = text[: closing.start()] if closing and (opening is None or closing.start() < opening.start()) else ""
    blocks = [match.group(2) for match in _TAG.finditer(text) if not _is_mention(match)]
    return [begun, *blocks] if any(_is_code(line) for line in begun.split("\n")) else blocks


def _is_mention(tag: re.Match[str]) -> bool:
    """Told from a block: ``the column <code>fare</code> has``, a few words of code within a sentence."""
    if "\n" in tag.group(2):
        return False
    before = tag.string[: tag.start()].rpartition("\n")[2].strip()
    return (before != "" and not before.endswith(":")) or _WORDS.match(tag.string, tag.end()) is not None


def _from_json(text: str) -> list[str]:
    decoder = json.JSONDecoder(strict=False)  # small models put real line ends into JSON strings
    for match in list(re.finditer(r"\{", text))[:20]:
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        if code := clean(_code_member(value)):
            return [code]
    return []


def _from_comments(parts: Iterable[Block | Prose]) -> list[str]:
    """A program that stands in comments, and nothing beside it: it goes on from our own line, which is one."""
    for part in parts:
        if isinstance(part, Block) and part.python:
            lines = [line for line in _without_comment(part.text).split("\n") if line.strip()]
            if lines and all(line.startswith("# ") for line in lines) and all(_is_code(line[2:]) for line in lines):
                return [clean("\n".join(line[2:] for line in lines))]
    return []


def _code_member(value: Any) -> str:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return ""
    if not isinstance(value, dict):
        return ""
    for key in ("code", "python", "source", "script"):
        if isinstance(value.get(key), str):
            return str(value[key])
    return next(
        (code for key in ("arguments", "parameters", "input") if (code := _code_member(value.get(key)))), ""
    )


def _whole(text: str) -> str:
    code = clean(text)
    return _without_comment(code) if _does_something(code) else ""


def _part(text: str) -> str:
    """The longest part that is code, if nothing else is: half a program must not run on its own."""
    lines = text.split("\n")
    spans = [span for span in _spans(lines[:MAX_SPAN_LINES]) if _does_something("\n".join(lines[span]))]
    if not spans:
        return ""
    longest = max(spans, key=lambda span: len("\n".join(lines[span])))
    if any(_is_code(line) for line in (*lines[: longest.start], *lines[longest.stop :])):
        return ""
    return "\n".join(lines[longest]).strip("\n")


def _spans(lines: list[str]) -> Iterator[slice]:
    """From each unindented line the longest run of lines that parses."""
    for start, line in enumerate(lines):
        if not line.strip() or line[0].isspace():
            continue
        end = len(lines)
        while end > start:
            tree = parse_or_error("\n".join(lines[start:end]))
            if not isinstance(tree, SyntaxError):
                yield slice(start, end)
                break
            # nothing from the offending line on can belong to it; a bracket left open is reported where it opens
            end = min(end - 1, start + (tree.lineno or 1) - 1)


def _is_code(line: str) -> bool:
    """A statement, the head of a compound one, or the beginning of one."""
    line = line.strip()
    return _does_something(line) or _does_something(f"{line} pass") or _CODE_LINE.match(line) is not None


def _joined(codes: Iterable[str]) -> str:
    """Blocks one after the other; a repeated block counts once."""
    blocks = list(dict.fromkeys(code for code in codes if code and _has_statements(code)))
    return _without_comment("\n\n".join(blocks))


def _without_comment(code: str) -> str:
    """Without the lines that `system.prefill` put there."""
    return _PREFILLED.sub("", code).strip("\n")


def _has_statements(code: str) -> bool:
    tree = parse(code)
    return tree is not None and bool(tree.body)


def _does_something(code: str) -> bool:
    """Told from prose that happens to parse: ``Done``, ``Note: see above``, ``well-known``."""
    tree = parse(code) if code else None
    return tree is not None and any(_is_action(statement) for statement in tree.body)


def _is_action(statement: ast.stmt) -> bool:
    match statement:
        case ast.AnnAssign(value=None) | ast.Pass():
            return False
        case ast.Expr(value=value):
            return isinstance(value, ast.Call | ast.Subscript | ast.Attribute | ast.Await)
    return True


def _broken_block(parts: Iterable[Block | Prose], text: str) -> str:
    """What is wrong with the first Python block, if there is one: a part of it must not run on its own."""
    fenced = [part.text for part in parts if isinstance(part, Block) and part.python]
    return next((_problem(block) for block in (*fenced, *_tagged(text)) if block.strip()), "")


def _problem(text: str) -> str:
    if command := command_line(text):
        return f"{command!r} is a notebook command; write plain Python, nothing can be installed"
    if not re.search(r"[=(\[]", text):
        return NO_CODE if text.strip() else "the reply is empty"
    error = parse_or_error(text)
    if not isinstance(error, SyntaxError) or not error.lineno:
        return NO_CODE
    lines = text.split("\n")
    line = lines[min(error.lineno, len(lines)) - 1].strip()[:120]
    return f"SyntaxError at line {error.lineno}: {error.msg}: {line}"
