"""The project's Markdown pages as Markdown readers see them: fenced blocks, words in code, links, anchors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of code."""

    page: str
    line: int
    language: str
    """Empty without one, and for an indented block."""
    note: str
    """What stands behind the language."""
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class DocPage:
    """One page."""

    name: str
    """Its path in the repository."""
    text: str
    blocks: tuple[Block, ...] = ()
    words: tuple[str, ...] = ()
    """What stands in backticks in a line."""
    links: tuple[str, ...] = ()
    """Of pictures, too."""
    anchors: frozenset[str] = field(default_factory=frozenset)

    @property
    def path(self) -> Path:
        return ROOT / self.name


@cache
def doc_pages() -> tuple[DocPage, ...]:
    """All pages for people: those of the site, at the root, and of the evaluation."""
    places = (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("evals/*/README.md"))
    return tuple(read_page(place) for place in sorted(places))


def read_page(path: Path) -> DocPage:
    text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    parts = list(_inner(tokens))
    addresses = (part.attrGet("href") or part.attrGet("src") for part in parts)
    return DocPage(
        name=name,
        text=text,
        blocks=tuple(_block(name, token) for token in tokens if token.type in ("fence", "code_block")),
        words=tuple(part.content for part in parts if part.type == "code_inline"),
        links=tuple(str(address) for address in addresses if address),
        anchors=frozenset(_anchors(tokens)),
    )


def _inner(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _inner(token.children or [])


def _block(page: str, token: Token) -> Block:
    language, _, note = token.info.strip().partition(" ")
    line = token.map[0] + 1 if token.map else 0
    return Block(page=page, line=line, language=language, note=note.strip(), text=token.content)


def _anchors(tokens: list[Token]) -> Iterator[str]:
    """Anchors of headings, as code hosts make them."""
    seen: Counter[str] = Counter()
    for token, title in pairwise(tokens):
        if token.type == "heading_open":
            plain = "".join(part.content for part in title.children or [] if part.type in ("text", "code_inline"))
            slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            yield f"{slug}-{seen[slug]}" if seen[slug] else slug
            seen[slug] += 1
