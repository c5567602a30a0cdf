"""What is being typed at the cursor, from the text of the cell alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["option", "value", "variable", "column", "prose", "subcommand", "nothing"]

CELL = re.compile(r"%%agent(?=\s|$)")
LINE = re.compile(r"\s*%agent\s+(?=(?P<rest>.*)$)")
PARTIAL = re.compile(r"""(?:[^\s'"]|'[^']*'?|"[^"]*"?)*$""")
"""The word at the end of an option line; blanks within quotes belong to it, also before they are closed."""
WITHIN_BRACKETS = re.compile(r"""([^\W\d]\w*)\[((?:'[^']*'|"[^"]*"|[^'"\]])*(?:'[^']*|"[^"]*)?)$""")
PIECE = re.compile(r"""\s*((?:'[^']*'?|"[^"]*"?|[^,'"])*)$""")
"""What stands behind the last comma that is not within quotes."""


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A place in the text, and what has been typed there."""

    kind: Kind
    typed: str
    """Up to the cursor; in prose the whole line, because a column's name may have several words."""
    of: str = ""
    """The option or subcommand whose value it is, the variable whose column it is."""


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """What `%%agent` and `%agent` understand."""

    values: Mapping[str, bool]
    """Option -> whether a value follows it."""
    selections: frozenset[str]
    """Options and subcommands that take variables and columns: ``a,b[x,y]``."""
    subcommands: Mapping[str, str]
    """Subcommand -> the word in capitals that stands for its value; empty if it takes none."""


def slot_at(text: str, line: int, column: int, grammar: Grammar) -> Slot | None:
    """What belongs at this place (both counted from 0); None where it is not for the agent to complete."""
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
    partial = _match(PARTIAL, head)[0]
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
    if within := WITHIN_BRACKETS.search(typed):
        return Slot(kind="column", typed=_match(PIECE, within[2])[1], of=within[1])
    return Slot(kind="variable", typed=_match(PIECE, typed)[1])


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


def _match(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """Of a pattern that fits the end of every text."""
    found = pattern.search(text)
    assert found is not None
    return found
