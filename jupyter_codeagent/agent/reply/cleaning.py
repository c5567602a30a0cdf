"""Make one candidate piece of code parse by removing what is certainly not code."""

from __future__ import annotations

import ast
import html
import re
import textwrap
from collections.abc import Iterator
from itertools import chain

from jupyter_codeagent.agent.source import parse, parse_or_error
from jupyter_codeagent.notebook.outputs.text import strip_colours

_INVISIBLE = re.compile("[\ufeff\u200b\u2060\u200e\u200f]")  # not the joiners: emoji in strings need them
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "\u2018": "'", "\u2019": "'", "\u2032": "'"})
_HARMLESS = re.compile(
    r"^[ \t]*%(?:matplotlib\b.*|config[ \t]+InlineBackend.*|%(?:time|capture)\b.*|(?:load_ext )?autoreload\b.*)$\n?"
    r"|\A\s*(?:i?python3?|py)[ \t]*\n(?:Copy code\n)?(?=\s*\S)",
    re.MULTILINE | re.IGNORECASE,
)
"""Commands without an effect on the result, and the label of a block in a line of its own."""
_COMMAND = re.compile(r"^[ \t]*(?:%{1,2}[A-Za-z]|![A-Za-z./]|[A-Za-z_][\w.]*\?{1,2}[ \t]*$).*", re.MULTILINE)
_MARKER = re.compile(
    r"^[ \t]*+(?:</?\w[\w-]*+/?>|<\|[^|<>\n]*+\|?>|#*+[ \t]*+(?:BEGIN|END) SOLUTION.*|`{3,}+\w*+|\[/?INST\])++"
    r"[ \t]*$",
    re.MULTILINE,
)
_TRAILING_TAG = re.compile(r"(?:</?[A-Za-z_]\w*/?>?|<\|[^|>]*\|?>)\s*\Z")
_LEADING_TAG = re.compile(r"\A\s*(?:<\|[^|<>\n]*\|>)+")
_ESCAPED = re.compile(r"&(?:lt|gt|amp|quot|apos|#39|#x27);")
_NUMBERED = re.compile(r"^[ \t]*+\d+(?:[:.|)][ \t]?|[ \t]*$|[ \t]\|?[ \t]?)", re.MULTILINE)
_PROMPT = re.compile(r"^[ \t]*+(?:In \[\d*\]:|>>>|\.\.\.)(?: |$)", re.MULTILINE)
_SESSION = re.compile(r"^[ \t]*+(?:In \[\d*\]:|>>>)(?: |$)", re.MULTILINE)
_PROSE_LINE = re.compile(r"[A-Z][\w'\u2019]*(?: [\w'\u2019,`/-]+){2}")


def clean(text: str) -> str:
    """Return the code in `text`; empty if no certain cleaning makes it parse, or it has no statement."""
    unescaped = html.unescape(text) if _ESCAPED.search(text) else text
    for candidate in chain(_variants(text), _variants(unescaped) if unescaped != text else ()):
        tree = parse(candidate)
        if tree is not None:
            return candidate if tree.body else ""
    return ""


def command_line(text: str) -> str:
    """Return the first notebook command (``!pip install x``, ``%timeit f()``) in text that is no Python, or ''."""
    match = _COMMAND.search(_HARMLESS.sub("", text))
    return match.group().strip()[:80] if match and parse(text) is None else ""


def _variants(text: str) -> Iterator[str]:
    """Yield the text from untouched to more and more cleaned; each keeps the cleaning before it."""
    text = _dedent(_HARMLESS.sub("", text))
    if _SESSION.search(text):  # first, because `In [1]: x = 2` is Python too: an annotation
        yield _dedent(_without_prompts(text))
    yield text
    text = _dedent(_MARKER.sub("", text))
    yield text
    text = _dedent(_TRAILING_TAG.sub("", _LEADING_TAG.sub("", text)))
    yield text
    text = _dedent(_INVISIBLE.sub("", strip_colours(text)).replace("\u00a0", " ").replace("\u3000", " "))
    yield text
    if "\n" not in text and "\\n" in text:
        text = text.replace("\\n", "\n")
        yield text
    if all(_NUMBERED.match(line) for line in text.split("\n") if line.strip()):
        yield _dedent(_NUMBERED.sub("", text))
    yield text.translate(_QUOTES)
    yield from _outer_prose_removed(text)
    yield _body_levelled(text)
    yield _body_dedented(text)


def _dedent(text: str) -> str:
    return textwrap.dedent(text.expandtabs(4) if _mixes_tabs(text) else text).strip("\n").rstrip()


def _mixes_tabs(text: str) -> bool:
    error = parse_or_error(text)
    return isinstance(error, TabError)


def _without_prompts(text: str) -> str:
    """Return the input lines of a pasted session, without its output."""
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        prompt = _PROMPT.match(line)
        if prompt:
            lines.append(line[prompt.end() :])
            inside = line.lstrip().startswith("In [")
        elif re.match(r"^\s*Out\[\d*\]:", line):
            inside = False
        elif inside:
            lines.append(line)
    return "\n".join(lines)


def _outer_prose_removed(text: str) -> Iterator[str]:
    """Yield the text without sentences before the first, then also after the last line of code."""
    lines = text.split("\n")
    of_code = [at for at, line in enumerate(lines) if line.strip() and not _PROSE_LINE.match(line)]
    yield "\n".join(lines[of_code[0] :] if of_code else ())
    yield "\n".join(lines[of_code[0] : of_code[-1] + 1] if of_code else ())


def _body_levelled(text: str) -> str:
    """Move an indented beginning to the margin.

    If it returns, it is the body of a function that the model continued: code at the margin behind it needs that
    function, whose head is missing here, and is dropped.
    """
    lines = text.split("\n")
    end = next((index for index, line in enumerate(lines) if line and not line[0].isspace()), len(lines))
    body = textwrap.dedent("\n".join(lines[:end]))
    tree = parse(body)
    if tree is None or any(isinstance(statement, ast.Return) for statement in tree.body):
        return body
    return "\n".join([body, *lines[end:]])


def _body_dedented(text: str) -> str:
    """Dedent a function's body whose first line has lost its indentation."""
    first, _, rest = text.partition("\n")
    return first.strip() + "\n" + textwrap.dedent(rest)
