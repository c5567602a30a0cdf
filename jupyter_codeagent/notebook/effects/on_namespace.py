"""Effects of code on an existing namespace."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence

from jupyter_codeagent.notebook.effects.analysis import CodeEffects
from jupyter_codeagent.types.approvals import Effects, NamedValue

MAX_NAMES = 100
"""Limit for the names of each kind."""
MODULE = "module"
IMMUTABLE = frozenset({"int", "float", "complex", "bool", "str", "bytes", "NoneType"})
"""Types whose values nothing changes: ``n += 1`` binds the name anew."""


def effects_on_namespace(found: CodeEffects, live: Mapping[str, str] | None, *, include_missing: bool) -> Effects:
    """Return the effects of code on a namespace.

    Parameters
    ----------
    found
        Effects of the code by itself.
    live
        Those of `found.names` that exist, with their values in brief (``DataFrame 1000x4``); None if the kernel
        could not be asked.
    include_missing
        Include names that are read and exist nowhere.
    """
    if live is None:
        names = ", ".join(found.binds[:MAX_NAMES])
        busy = "your kernel was busy, so the names that exist there are unknown"
        return Effects(
            reads=_named([name for name in found.reads if not hasattr(builtins, name)], {}),
            changes=_named(found.changes, {}),
            deletes=_named(found.deletes, {}),
            writes=found.writes[:MAX_NAMES],
            unclear=(*found.unclear, f"{busy}; it binds: {names}" if names else busy),
        )
    missing = [n for n in found.reads if n not in live and n not in found.binds and not hasattr(builtins, n)]
    changes = [n for n in found.changes if n in live and not _is_kept(live[n], called=n in found.called_on)]
    creates = [n for n in found.binds if n not in live]
    lists = (found.reads, found.binds, found.deletes, found.changes, found.writes)
    more = max(0, *(len(names) - MAX_NAMES for names in lists))
    return Effects(
        reads=_named([n for n in found.reads if n in live and live[n] != MODULE], live),
        creates=_named(creates, {n: "shadows a Python built-in" for n in creates if hasattr(builtins, n)}),
        overwrites=_named([n for n in found.binds if n in live], live),
        changes=_named(changes, live),
        deletes=_named([n for n in found.deletes if n in live], live),
        missing=tuple(missing[:MAX_NAMES]) if include_missing else (),
        writes=found.writes[:MAX_NAMES],
        unclear=(*found.unclear, *([f"{more} more names are not listed"] if more else ())),
    )


def _is_kept(what: str, *, called: bool) -> bool:
    """Check whether what looks like a change changes nothing: `called`, if it looks so by its calls only."""
    return (called and what == MODULE) or what.partition(" ")[0] in IMMUTABLE


def format_effects(effects: Effects) -> tuple[str, ...]:
    """Return one line for each kind of effect, for text interfaces."""
    lists = (
        ("Reads", effects.reads),
        ("Would create", effects.creates),
        ("Would overwrite", effects.overwrites),
        ("Would change in place (as far as can be seen)", effects.changes),
        ("Would delete", effects.deletes),
    )
    lines = [f"{title}: {', '.join(map(_line, named))}" for title, named in lists if named]
    texts = (
        ("Does not exist in your kernel", ", ".join(effects.missing)),
        ("Would write or remove files", ", ".join(effects.writes)),
        ("Cannot be determined from the code", "; ".join(effects.unclear)),
    )
    return (*lines, *(f"{title}: {text}" for title, text in texts if text))


def _line(value: NamedValue) -> str:
    return f"{value.name} ({value.what})" if value.what else value.name


def _named(names: Sequence[str], live: Mapping[str, str]) -> tuple[NamedValue, ...]:
    return tuple(NamedValue(name=name, what=live.get(name, "")) for name in names[:MAX_NAMES])
