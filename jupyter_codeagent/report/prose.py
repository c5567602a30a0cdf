"""Texts of a report in Markdown, which other programs render and Quarto would even run: nothing in them acts."""

from __future__ import annotations

import json
import re

import mistune

from jupyter_codeagent.notebook.outputs import clean_markdown

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_BRACE = re.compile(r"((?<!`)`++)[ \t]*+\{")
_FENCE = re.compile(r"`{3,}+|~{3,}+")
MOST_FENCES = 20
"""Ways to close a fence that are tried."""
_NEXT = "what follows"
_SHORTCODE = re.compile(r"\{(?=\{<)|\{(?=%)")


def inert(text: str) -> str:
    """Return cleaned Markdown without attributes, raw formats, inline code that runs, and Quarto's shortcodes.

    All of them begin with a brace: in prose it is escaped, in code parted from what is before it.
    """
    parts = _CODE.split(text)
    parts[::2] = [part.replace("{", "\\{") for part in parts[::2]]
    parts[1::2] = [_BRACE.sub(r"\1 {", _parted(part)) for part in parts[1::2]]
    return "".join(parts)


def passage(text: str) -> str:
    """Return cleaned Markdown as a part of a document: a fence that was left open takes in nothing below it."""
    text = inert(text)
    fences = sorted({*_FENCE.findall(text)}, key=len)[-MOST_FENCES:]
    for end in ("", *(f"\n{fence}" for fence in fences)):
        if _ends(f"{text}{end}"):
            return f"{text}{end}"
    return fenced(text)


def _ends(text: str) -> bool:
    """Check whether what follows the text is a paragraph of its own."""
    last = mistune.create_markdown(renderer=None)(f"{text}\n\n{_NEXT}\n")[-1]
    return isinstance(last, dict) and last["type"] == "paragraph" and last["children"][0].get("raw") == _NEXT


def one_line(text: str) -> str:
    """Return untrusted text as prose of one line."""
    return inert(clean_markdown(" ".join(text.split())))


def fenced(text: str, language: str = "text") -> str:
    """Return text in a fence that is longer than any in it."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{_parted(text)}\n{fence}"


def quoted(text: str) -> str:
    """Return text as a string of YAML."""
    return json.dumps(_parted(" ".join(text.split())), ensure_ascii=False)


def _parted(text: str) -> str:
    """Return text without the beginnings of shortcodes, which Quarto replaces even in code."""
    return _SHORTCODE.sub("{ ", text)
