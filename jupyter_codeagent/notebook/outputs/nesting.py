"""Detection of HTML that is slow to sanitize: deep nesting, and many characters that become entities.

The parser's time grows with the number of tags times their depth: 100,000 nested ones took 44 s. The serializer's
grows with the length of a text times the ampersands and no-break spaces in it: a million of them took 17 s.
"""

from __future__ import annotations

import re

FEW_TAGS = 300
"""Up to this number of tags no nesting is slow."""
MAX_DEPTH = 200

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
    for index, match in enumerate(_TAG.finditer(text)):
        if index == 0 and text.count("<") <= FEW_TAGS:
            return True
        if match["odd"]:
            return False
        if match["open"] and not _open(match["open"].lower(), bool(match["empty"]), stack):
            return False
        if match["close"] and (not stack or stack.pop() != match["close"].lower()):
            return False
    return not stack


def _open(name: str, empty: bool, stack: list[str]) -> bool:
    if name in _OWN_RULES or (empty and name not in _VOID):
        return False
    if name not in _VOID:
        stack.append(name)
    return len(stack) <= MAX_DEPTH
