"""Parse what the user hides or shares: arguments of `%agent hide`, and lists in a notebook's metadata.

Pure functions. Nothing from a notebook or a page is trusted beyond what is checked here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, cast, get_args

from jupyter_codeagent.types.errors import UsageError

Shared = Literal["auto", "shared", "hidden"]
"""auto: selected for each prompt · shared: always copied · hidden: never in a prompt, never copied."""

METADATA_KEY = "codeagent"
"""In the notebook's own metadata; its cells have an entry of that name too."""
MAX_VARIABLES = 10_000
MAX_COLUMNS = 5000
"""Hidden columns of one variable; beyond that the whole variable is hidden."""
MAX_LABEL_CHARS = 1000


class SharingView(TypedDict):
    """The lists as messages have them and, with a version, the notebook's metadata."""

    shared: dict[str, Shared]
    """Variables that are not `auto`."""
    hidden_columns: dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """Lists from a notebook or page, checked."""

    shared: Mapping[str, Shared] = field(default_factory=dict)
    hidden_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_sharing(data: object, *, only_hidden: bool) -> Sharing:
    """Read the lists of a notebook or page; entries that are no names, no lists or too long are dropped.

    Too many hidden columns hide the whole variable, since a truncated list must not reveal more than its author
    wanted. `only_hidden` is for a file that anyone may have written: it may hide variables, but not share them.
    """
    if not isinstance(data, dict):
        return Sharing()
    shared: dict[str, Shared] = {}
    for name, how in _entries(data.get("shared")):
        if how in get_args(Shared) and how != "auto" and (how == "hidden" or not only_hidden):
            shared[name] = cast("Shared", how)
    hidden: dict[str, frozenset[str]] = {}
    for name, labels in _entries(data.get("hidden_columns")):
        if not isinstance(labels, list):
            continue
        known = frozenset(label for label in labels[: MAX_COLUMNS + 1] if isinstance(label, str))
        if len(known) > MAX_COLUMNS or any(len(label) > MAX_LABEL_CHARS for label in known):
            shared[name] = "hidden"
        elif known:
            hidden[name] = known
    return Sharing(shared=shared, hidden_columns=hidden)


def sharing_view(shared: Mapping[str, Shared], hidden_columns: Mapping[str, frozenset[str]]) -> SharingView:
    """Return the lists in a fixed order, so that equal lists give equal bytes."""
    return SharingView(
        shared={name: shared[name] for name in sorted(shared) if shared[name] != "auto"},
        hidden_columns={name: sorted(hidden_columns[name]) for name in sorted(hidden_columns)},
    )


def _is_name(name: object) -> bool:
    """Check for a public variable name; private variables are never described or copied."""
    return isinstance(name, str) and name.isidentifier() and not name.startswith("_")


def _entries(data: object) -> list[tuple[str, Any]]:
    if not isinstance(data, dict):
        return []
    return [(name, value) for name, value in data.items() if _is_name(name)][:MAX_VARIABLES]


# --- the arguments of `%agent hide` and `%agent share` --------------------------------------------------

_TARGET = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\[(?P<labels>(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[^\]'\"])*)\])?\s*"
)
_LABEL = re.compile(r"\s*(?:(?P<quoted>'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\")|(?P<bare>[^,'\"]+))\s*(?:,|$)")


def parse_targets(text: str) -> list[tuple[str, frozenset[str]]]:
    """Parse ``flights[tailnum, 'dep delay'], df`` to (variable, labels); no labels mean the whole variable.

    Raises
    ------
    UsageError
        The text is not such a list.
    """
    targets: list[tuple[str, frozenset[str]]] = []
    at = 0
    while at < len(text) or not targets:
        match = _TARGET.match(text, at)
        if (
            match is None
            or not match["name"].isidentifier()
            or text[match.end() : match.end() + 1] not in ("", ",")
        ):
            raise UsageError(
                f"{text!r} is not a list of variables and columns such as df,flights[tailnum,'dep delay']."
            )
        labels = frozenset[str]() if match["labels"] is None else _labels(match["labels"], text)
        targets.append((match["name"], labels))
        at = match.end() + 1
    return targets


def _labels(inner: str, text: str) -> frozenset[str]:
    labels: set[str] = set()
    at = 0
    while at < len(inner):
        match = _LABEL.match(inner, at)
        if match is None:
            raise UsageError(f"The columns in {text!r} cannot be read: write them as [tailnum,'dep delay'].")
        label = str(ast.literal_eval(match["quoted"])) if match["quoted"] else match["bare"].strip()
        labels.add(label)
        at = match.end()
    if not labels - {""}:
        raise UsageError(f"{text!r} names no column: write flights[tailnum], or flights for the whole variable.")
    return frozenset(labels)
