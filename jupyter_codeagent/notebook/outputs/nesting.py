"""Detection of HTML that is slow to sanitize: deep nesting, and many characters that become entities.

The parser's time grows with the number of tags times their depth: 100,000 nested ones took 44 s. It also opens
formatting elements such as ``<b>`` again in every paragraph that closed them: 190 of them and 40,000 paragraphs
become millions of elements. The serializer's time grows with the length of a text times the ampersands and no-break
spaces in it: a million of them took 17 s.
"""

from __future__ import annotations

import re

FEW_TAGS = 300
"""Up to this number of tags no nesting is slow."""
MAX_DEPTH = 200
MAX_ELEMENTS = 600_000
"""Limit of tags × (formatting elements that are open at once + 1), which bounds what a parser makes of them."""

STYLE_BLOCK = re.compile(
    r"<style(?:\s+scoped)?(?:\s+type=[\"']text/css[\"'])?\s*>([^<]*)</style\s*>", re.IGNORECASE
)
_TAG = re.compile(
    r"""<(?:(?P<open>[a-zA-Z][a-zA-Z0-9-]*+)(?:\s++[\w:.-]++(?:\s*+=\s*+(?:"[^"<>]*+"|'[^'<>]*+'|[^\s"'<>=`]++))?+)*+\s*+(?P<empty>/?)>
    |/(?P<close>[a-zA-Z][a-zA-Z0-9-]*+)\s*+>|!--[^<>-]*+-->|(?P<odd>[a-zA-Z/!?]))""",
    re.VERBOSE,
)
_VOID = frozenset({"br", "hr", "img", "col", "input", "wbr", "area", "base", "link", "meta", "source", "track"})
# fmt: off
_OWN_RULES = frozenset({  # elements whose contents are not parsed as tags, or by other rules
    "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript", "plaintext", "svg",
    "math", "template", "select", "frameset", "embed",
})
# fmt: on
_FORMATTING = frozenset(
    {
        "a",
        "b",
        "big",
        "code",
        "em",
        "font",
        "i",
        "nobr",
        "s",
        "small",
        "strike",
        "strong",
        "tt",
        "u",
    }
)  # fmt: skip
"""Elements that a parser opens again (HTML standard, 13.2.4.3, "The list of active formatting elements")."""


MAX_SERIALIZING = 20_000_000_000
"""Characters × entities: about 0.3 s."""


def is_cheap_to_serialize(*texts: str) -> bool:
    """Check whether texts have few enough entities; texts that stay separate in the document count separately."""
    return (
        sum(len(text) * (text.count("&") + text.count("\N{NO-BREAK SPACE}")) for text in texts) <= MAX_SERIALIZING
    )


def without_style_blocks(text: str) -> str:
    """Remove style blocks as text before parsing; the sanitizer would drop them anyway."""
    return STYLE_BLOCK.sub("", text)


def is_cheap_to_parse(text: str) -> bool:
    """Check for few tags, or strictly nested ones of limited depth, as libraries write tables.

    Markup whose depth depends on a browser's error correction does not pass.
    """
    stack: list[str] = []
    tags = formatting = most_formatting = 0
    for index, match in enumerate(_TAG.finditer(text)):
        if index == 0 and text.count("<") <= FEW_TAGS:
            return True
        if match["odd"]:
            return False
        if match["open"]:
            tags += 1
            formatting += match["open"].lower() in _FORMATTING
            most_formatting = max(most_formatting, formatting)
            if not _open(match["open"].lower(), bool(match["empty"]), stack):
                return False
        if match["close"]:
            formatting -= match["close"].lower() in _FORMATTING
            if not stack or stack.pop() != match["close"].lower():
                return False
    return not stack and tags * (most_formatting + 1) <= MAX_ELEMENTS


def _open(name: str, empty: bool, stack: list[str]) -> bool:
    if name in _OWN_RULES or (empty and name not in _VOID):
        return False
    if name not in _VOID:
        stack.append(name)
    return len(stack) <= MAX_DEPTH
