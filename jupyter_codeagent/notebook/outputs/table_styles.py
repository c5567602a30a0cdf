"""Inlining of the styles of tables into their cells.

pandas' Styler and similar libraries put them into a style block, by id. The sanitizer drops such blocks, because
their rules apply to the whole page; a style attribute applies to its element only, and is cleaned with the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from jupyter_codeagent.notebook.outputs.nesting import STYLE_BLOCK

MAX_DECLARATIONS_CHARS = 500
"""Limit for one rule; longer ones are dropped."""
MAX_GENERAL_RULES = 50
"""Limit for rules for all cells of a kind (``#T_1 th.col_heading``); each is checked for each cell."""
MAX_ADDED_CHARS = 1 << 20

_SELECTOR = re.compile(r"#(?P<id>[\w-]+)(?:\s+(?P<tag>[a-z]*)(?P<classes>(?:\.[\w-]+)*))?")
_START_TAG = re.compile(r'<(?P<tag>table|caption|tr|th|td)(?P<attributes>(?:\s++[\w-]++="[^"<>]*+")*+)\s*+>')
_ATTRIBUTE = re.compile(r'(?<![\w-])([\w-]++)="([^"]*+)"')


@dataclass
class _Rules:
    """Declarations of a style block: by id, and those for every element of a tag and classes."""

    by_id: dict[str, str] = field(default_factory=dict)
    general: list[tuple[str, frozenset[str], str]] = field(default_factory=list)


def with_inline_styles(text: str) -> str:
    """Return the fragment with the rules of its style blocks inlined into the tags they apply to.

    It is unchanged if there are none, or if it would become much larger.
    """
    rules = _rules_of("\n".join(STYLE_BLOCK.findall(text)))
    if not rules.by_id and not rules.general:
        return text
    added_chars = 0

    def styled(match: re.Match[str]) -> str:
        nonlocal added_chars
        attributes = dict(_ATTRIBUTE.findall(match["attributes"]))
        style = ";".join((*_declarations(match["tag"], attributes, rules), attributes.pop("style", "")))
        added_chars += len(style)
        if not style.strip("; \n") or added_chars > MAX_ADDED_CHARS:
            return match[0]
        written = "".join(f' {name}="{value}"' for name, value in {"style": style, **attributes}.items())
        return f"<{match['tag']}{written}>"

    inlined = _START_TAG.sub(styled, text)
    return inlined if added_chars <= MAX_ADDED_CHARS else text


def _rules_of(css: str) -> _Rules:
    rules = _Rules()
    for rule in css.split("}"):
        selectors, _, declarations = rule.partition("{")
        declarations = " ".join(declarations.split())
        if not declarations or len(declarations) > MAX_DECLARATIONS_CHARS or '"' in declarations:
            continue
        for selector in selectors.split(","):
            match = _SELECTOR.fullmatch(selector.strip())
            if match is None:
                continue
            if match["tag"] or match["classes"]:
                wanted = frozenset(match["classes"].split(".")) - {""}
                rules.general.append((match["tag"], wanted, declarations))
            else:
                rules.by_id[match["id"]] = f"{rules.by_id.get(match['id'], '')};{declarations}"[
                    -MAX_DECLARATIONS_CHARS:
                ]
    del rules.general[MAX_GENERAL_RULES:]
    return rules


def _declarations(tag: str, attributes: dict[str, str], rules: _Rules) -> Iterator[str]:
    """Yield the declarations for an element, the weakest first."""
    classes = frozenset(attributes.get("class", "").split())
    for wanted_tag, wanted, declarations in rules.general:
        if wanted_tag in ("", tag) and wanted <= classes:
            yield declarations
    if own := rules.by_id.get(attributes.get("id", "")):
        yield own
