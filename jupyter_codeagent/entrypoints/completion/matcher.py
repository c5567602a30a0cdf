"""Completion of `%%agent` cells and `%agent` lines wherever IPython completes: notebook, VS Code, terminal.

Names stay on this machine: completions are made for the person who types, and are not sent anywhere.
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
"""Words of a column's name that are matched before the cursor."""
PLAIN_LABEL = re.compile(r"""[^\s,'"\[\]]+""")
UNWRITABLE = re.compile(r"""['"\[\]]""")
"""Characters of a label that the option line has no syntax for."""
FIRST = 1e6
"""Priority before IPython's own matchers, which read prose as Python."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One possible completion."""

    text: str
    meaning: str
    """What the front end displays beside it."""


class Index:
    """Finds completions by their beginning, ignoring case."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._by_text = sorted((offer.text.casefold(), at, offer) for at, offer in enumerate(offers))

    def starting(self, typed: str) -> list[Offer]:
        """Return those that begin so, in the given order; those that match in case come first."""
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
    """All that can be completed; looked up only when needed."""

    grammar: Grammar
    options: Index
    subcommands: Index
    values: Mapping[str, Callable[[], Iterable[Offer]]]
    """Values by option or subcommand."""
    variables: Callable[[], Index]
    columns: Callable[[str], Index]
    """Columns of one variable."""
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
        offered = found[:MAX_OFFERED] or [Offer(text=typed, meaning="")]
        return SimpleMatcherResult(
            completions=[SimpleCompletion(offer.text, type=offer.meaning) for offer in offered],
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
    """Match names with the last words, as many as fit one: ``dep del`` for the column ``dep delay``."""
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
    """Merge (label, where it is) into one completion per label: ``column of flights, planes``."""
    places: dict[str, list[str]] = {}
    for label, place in offers:
        places.setdefault(label, []).append(place)
    return [Offer(text=label, meaning=f"column of {', '.join(names[:3])}") for label, names in places.items()]


def install(shell: Any, completer: AgentCompleter) -> None:
    """Add `completer` to IPython's matchers; a shell without IPython's completer has none."""
    if (known := getattr(shell, "Completer", None)) is not None:
        known.custom_matchers.append(completer.match)


def uninstall(shell: Any, completer: AgentCompleter) -> None:
    if (known := getattr(shell, "Completer", None)) is not None:
        # Another extension may have set a list of its own.
        known.custom_matchers = [matcher for matcher in known.custom_matchers if matcher != completer.match]
