"""Completes `%%agent` cells and `%agent` lines wherever IPython is asked: notebook, VS Code, terminal.

Names stay on this machine: what is offered here is read for the person who types and is sent to nobody.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher

from jupyter_codeagent.entrypoints.completion.position import Grammar, Slot, slot_at

MAX_OFFERED = 200
MAX_WORDS = 6
"""Of a column's name that are looked back for."""
PLAIN_LABEL = re.compile(r"""[^\s,'"\[\]]+""")
UNWRITABLE = re.compile(r"""['"\[\]]""")
"""In a label that the option line has no way to write."""
FIRST = 1e6
"""Before IPython's own matchers: they take prose for Python."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One thing that may stand here."""

    text: str
    meaning: str
    """What the front end shows beside it."""


class Index:
    """Offers by how they begin, in any case of letters."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._by_text = sorted((offer.text.casefold(), at, offer) for at, offer in enumerate(offers))

    def starting(self, typed: str) -> list[Offer]:
        """In the order they were given; those that begin exactly so, capitals included, come first."""
        folded = typed.casefold()
        begin = bisect_left(self._by_text, (folded,))
        found: list[tuple[int, Offer]] = []
        for text, at, offer in islice(self._by_text, begin, None):
            if not text.startswith(folded):
                break
            found.append((at, offer))
        found.sort(key=lambda item: (not item[1].text.startswith(typed), item[0]))
        return [offer for _, offer in found]


@dataclass(frozen=True, kw_only=True)
class Offers:
    """What there is to offer, looked up only where it is asked for."""

    grammar: Grammar
    options: Index
    subcommands: Index
    values: Mapping[str, Callable[[], Iterable[Offer]]]
    """Of an option or subcommand."""
    variables: Callable[[], Index]
    columns: Callable[[str], Index]
    """Of one variable."""
    names: Callable[[], Index]
    """Variables, then the columns of all of them."""


class AgentCompleter:
    """An IPython matcher; see `extension.load`."""

    def __init__(self, offers: Offers) -> None:
        self._offers = offers

    @context_matcher(identifier="jupyter_codeagent", priority=FIRST)  # type: ignore[untyped-decorator]
    def match(self, context: CompletionContext) -> SimpleMatcherResult:
        """Return the completions at the cursor; none in cells that are Python."""
        slot = slot_at(context.full_text, context.cursor_line, context.cursor_position, self._offers.grammar)
        if slot is None:
            return SimpleMatcherResult(completions=[])
        typed, found = complete(slot, self._offers)
        # Without a match, offer the typed text itself: without any offer IPython would ask the matchers of Python.
        shown = found[:MAX_OFFERED] or [Offer(text=typed, meaning="")]
        return SimpleMatcherResult(
            completions=[SimpleCompletion(offer.text, type=offer.meaning) for offer in shown],
            matched_fragment=typed,
            suppress=True,
            ordered=True,
        )


def complete(slot: Slot, offers: Offers) -> tuple[str, list[Offer]]:
    """Return the text before the cursor that is replaced, and the offers that replace it."""
    match slot.kind:
        case "option":
            return slot.typed, offers.options.starting(slot.typed)
        case "subcommand":
            found = offers.subcommands.starting(slot.typed)
            return (slot.typed, found) if found else _in_prose(slot.typed, offers)
        case "value":
            known = offers.values.get(slot.of)
            return slot.typed, Index(known()).starting(slot.typed) if known is not None else []
        case "variable":
            return slot.typed, offers.variables().starting(slot.typed)
        case "column":
            found = offers.columns(slot.of).starting(slot.typed.lstrip("'\""))
            return slot.typed, [_quoted(offer) for offer in found if not UNWRITABLE.search(offer.text)]
        case "prose":
            return _in_prose(slot.typed, offers)
        case "nothing":
            return slot.typed, []


def _in_prose(before: str, offers: Offers) -> tuple[str, list[Offer]]:
    """Names that begin like the last words: as many words as fit one, ``dep del`` for the column ``dep delay``."""
    starts = [at.start() for at in re.finditer(r"(?<!\w)\w", before)][-MAX_WORDS:]
    names = offers.names()
    for start in starts:
        if found := names.starting(before[start:]):
            return before[start:], found
    if before and not before[-1].isspace():
        return _last_word(before), []
    return "", offers.variables().starting("")


def _last_word(before: str) -> str:
    found = re.search(r"(?<!\w)\w*$", before)
    return found[0] if found else ""


def _quoted(offer: Offer) -> Offer:
    if PLAIN_LABEL.fullmatch(offer.text):
        return offer
    return Offer(text=f"'{offer.text}'", meaning=offer.meaning)


def merged(offers: Iterable[tuple[str, str]]) -> list[Offer]:
    """(label, where it is) as one offer per label: ``column of flights, planes``."""
    places: dict[str, list[str]] = {}
    for label, place in offers:
        places.setdefault(label, []).append(place)
    return [Offer(text=label, meaning=f"column of {', '.join(names[:3])}") for label, names in places.items()]


def install(shell: Any, completer: AgentCompleter) -> None:
    """Ask `completer` too; a shell without IPython's completer has nothing to ask."""
    if (known := getattr(shell, "Completer", None)) is not None:
        known.custom_matchers.append(completer.match)


def uninstall(shell: Any, completer: AgentCompleter) -> None:
    if (known := getattr(shell, "Completer", None)) is not None:
        # Another extension may have put a list of its own in its place.
        known.custom_matchers = [matcher for matcher in known.custom_matchers if matcher != completer.match]
