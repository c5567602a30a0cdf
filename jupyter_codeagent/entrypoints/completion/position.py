"""What is being typed at the cursor, by the text of the cell alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["option", "value", "variable", "column", "prose", "subcommand", "nothing"]

CELL = re.compile(r"%%agent(?=\s|$)")
LINE = re.compile(r"\s*%agent\s+(?=(?P<rest>.*)$)")
QUOTED_OR_SIGN = re.compile(r"""'[^']*+'?|"[^"]*+"?|[\s,\[\]]""")
"""Quoted text, also before it is closed, and the characters with a meaning outside of quotes."""
NAME_AT_END = re.compile(r"(?<!\w)[^\W\d]\w*$")


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A position in the syntax, and what has been typed there."""

    kind: Kind
    typed: str
    """Text up to the cursor; in prose the whole line, because a column's name may have several words."""
    of: str = ""
    """The option or subcommand of a value, the variable of a column."""


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """The syntax of `%%agent` and `%agent`."""

    values: Mapping[str, bool]
    """Option -> whether a value follows it."""
    selections: frozenset[str]
    """Options and subcommands that take variables and columns: ``a,b[x,y]``."""
    subcommands: Mapping[str, str]
    """Subcommand -> the word in capitals for its value; empty if it takes none."""


def slot_at(text: str, line: int, column: int, grammar: Grammar) -> Slot | None:
    """Return what can be completed at a line and column, both counted from 0; None outside the agent's syntax."""
    lines = text.split("\n")
    before = lines[line][:column]
    first = next((at for at, content in enumerate(lines) if content.strip()), 0)
    if CELL.match(lines[first]) and line >= first:
        if line > first:
            return _prose(before)
        return _option(before[len("%%agent") :], grammar) if CELL.match(before) and before != "%%agent" else None
    command = LINE.match(before)
    return _command(command["rest"], grammar) if command else None


def _prose(before: str) -> Slot | None:
    # An expression of the live kernel is Python, which IPython completes.
    if before.rfind("{{") > before.rfind("}}"):
        return None
    return Slot(kind="prose", typed=before)


def _option(head: str, grammar: Grammar) -> Slot:
    partial = head[max((sign.end() for sign in _signs(head) if sign[0].isspace()), default=0) :]
    words = head[: len(head) - len(partial)].split()
    name, equals, value = partial.partition("=")
    if equals and grammar.values.get(name):
        return _value(name, value, grammar)
    if words and grammar.values.get(words[-1]):
        return _value(words[-1], partial, grammar)
    return Slot(kind="option", typed=partial)


def _value(name: str, typed: str, grammar: Grammar) -> Slot:
    if name in grammar.selections:
        return _selection(typed)
    if name == "--where":
        return Slot(kind="prose", typed=typed)
    return Slot(kind="value", typed=typed, of=name)


def _selection(typed: str) -> Slot:
    signs = _signs(typed)
    piece = typed[max((sign.end() for sign in signs if sign[0] in ",["), default=0) :].lstrip()
    opened = next((sign for sign in reversed(signs) if sign[0] in "[]"), None)
    name = NAME_AT_END.search(typed, 0, opened.start()) if opened is not None and opened[0] == "[" else None
    return Slot(kind="column", typed=piece, of=name[0]) if name is not None else Slot(kind="variable", typed=piece)


def _signs(text: str) -> list[re.Match[str]]:
    return [found for found in QUOTED_OR_SIGN.finditer(text) if found[0][0] not in "'\""]


def _command(rest: str, grammar: Grammar) -> Slot | None:
    word, blank, value = rest.partition(" ")
    if not blank:
        return Slot(kind="subcommand", typed=word)
    takes = grammar.subcommands.get(word)
    if takes is None or takes == "question":
        return _prose(value)
    if word in grammar.selections:
        return _selection(value)
    return Slot(kind="value" if takes else "nothing", typed=value.lstrip(), of=word)
