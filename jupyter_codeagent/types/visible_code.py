"""Characters that make code or text look different from what it is, or that a terminal obeys: none may remain."""

from __future__ import annotations

import re

# Controls without tab and newline, line separators, reordering marks (CVE-2021-42574, "Trojan Source"), tags.
_DECEIVING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\ud800-\udfff]"
)


def deceiving_characters(code: str) -> tuple[str, ...]:
    """Return such characters in the code as ``U+0008``, sorted; empty for honest code."""
    return tuple(sorted({f"U+{ord(character):04X}" for character in _DECEIVING.findall(code)}))


def visible_code(code: str) -> str:
    """Return the code with such characters spelled out, so that nothing is hidden on display."""
    return _DECEIVING.sub(lambda match: f"<U+{ord(match[0]):04X}>", code)
