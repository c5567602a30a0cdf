"""Changes that code made to the copies of the user's variables, reported after each cell if they are certain.

A copy is compared with its state when loaded, first by cheap digests (`fingerprints`). Where these differ, the copy
is loaded again and its values are compared: assigning equal values, or a library that moves its data, is not a
change.
"""

from __future__ import annotations

import resource
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from .fingerprints import Digest, Fingerprint, fingerprint
from .pages import Memory

MAX_NAMES = 50
MAX_PARTS = 12
"""Limit for columns and keys in the report of one copy."""
COMPARE_S = 0.1
"""Time limit for all comparisons of values in one report; changes that are not reached are not reported."""
MAX_REORDERED_ROWS = 1_000_000

Change = dict[str, Any]
"""name, kind (changed, rebound, deleted), added, removed, values, notes, earlier: a `CopyChange` on the host."""


@dataclass
class _Copy:
    """One loaded copy: its states, and what was last reported of it."""

    loaded: Callable[[], Any]
    """Returns the object that was bound, or None once nobody holds it any more."""
    reload: Callable[[], Any]
    """Loads the copy again from its files."""
    before: Fingerprint
    now: Fingerprint
    object_id: int
    """`id` of the object bound to the name at the last report."""
    reported: Change | None = None


State = tuple[_Copy, bool]
"""A copy, and whether the object that was loaded is still bound."""

_copies: dict[str, _Copy] = {}


def remember(name: str, value: Any, reload: Callable[[], Any]) -> None:
    """Remember a copy that was just bound to its name; `reload` loads it again."""
    try:
        now = fingerprint(value, Memory())
    except Exception:  # noqa: BLE001  (a foreign type that cannot be read: only its rebinding will be reported)
        now = Fingerprint(kind=type(value).__name__)
    _copies[name] = _Copy(loaded=_reference(value), reload=reload, before=now, now=now, object_id=id(value))


def is_untouched(name: str, value: Any) -> bool:
    """Check for a copy that was last seen as it was loaded: its files have all of it."""
    known = _copies.get(name)
    return known is not None and known.reported is None and value is known.loaded()


def state_of(name: str, value: Any) -> State | None:
    """Return what is known of a copy, for `set_state`; None for what is no copy."""
    known = _copies.get(name)
    return None if known is None else (replace(known), value is known.loaded())


def set_state(name: str, value: Any, state: State) -> None:
    """Note that a copy has the contents again that it had when `state_of` was asked, in another object."""
    known, was_loaded_object = state
    _copies[name] = replace(
        known, loaded=_reference(value) if was_loaded_object else lambda: None, object_id=id(value)
    )
    with suppress(Exception):  # it cannot be read: the next report compares its values
        _copies[name].now = fingerprint(value, Memory())


def report(namespace: dict[str, Any]) -> list[Change]:
    """Return the copies that differ from what was loaded; ``earlier`` where they did before this cell, too."""
    memory, until = Memory(), time.monotonic() + COMPARE_S
    reported = [
        _check_copy(name, copy, namespace, memory, until) for name, copy in list(_copies.items())[:MAX_NAMES]
    ]
    return [change for change in reported if change is not None]


def _reference(value: Any) -> Callable[[], Any]:
    """Return a weak reference where possible: a rebound frame must not keep its memory because of us."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _check_copy(name: str, copy: _Copy, namespace: dict[str, Any], memory: Memory, until: float) -> Change | None:
    if name not in namespace:
        earlier = copy.reported is not None and copy.reported["kind"] == "deleted"
        copy.reported, copy.loaded, copy.object_id = _change(name, "deleted", earlier=earlier), lambda: None, 0
        return copy.reported
    value = namespace[name]
    is_same_object = value is copy.loaded()
    try:
        now = fingerprint(value, memory)
    except Exception:  # noqa: BLE001  (the code left an object that cannot be read: nothing is certain about its contents)
        now = copy.now if is_same_object else Fingerprint(kind=type(value).__name__)
    if id(value) == copy.object_id and _is_as_before(copy, now, value):
        if copy.reported is not None:
            copy.reported = {**copy.reported, "earlier": True}
        return copy.reported
    last, copy.now, copy.object_id = copy.now, now, id(value)
    untouched = _same_digests(last, now)
    if is_same_object:
        parts = _parts(copy, value, now, until, untouched)
        earlier = _was_reported(copy.reported, parts, untouched) and not (
            parts["notes"] and _has_other_shape(last, now)
        )
        copy.reported = _change(name, "changed", parts, earlier=earlier) if any(parts.values()) else None
        return copy.reported
    copy.loaded = lambda: None
    parts = _parts(copy, value, now, until) if now.kind == copy.before.kind else _no_parts()
    if now.kind != copy.before.kind:
        parts["notes"] = [f"{copy.before.kind} → {now.kind}"]
    copy.reported = _change(name, "rebound", parts)
    return copy.reported


def _same_digests(last: Fingerprint, now: Fingerprint) -> frozenset[str]:
    """Return the columns or keys that nothing has touched since the last report."""
    digests = dict(zip(last.labels, last.digests, strict=False))
    pairs = zip(now.labels, now.digests, strict=False)
    return frozenset(label for label, digest in pairs if digest is not None and digests.get(label) == digest)


def _was_reported(reported: Change | None, parts: dict[str, list[str]], untouched: frozenset[str]) -> bool:
    """Check whether all parts were reported before, and nothing has touched them since."""
    if reported is None or any(reported[what] != labels for what, labels in parts.items()):
        return False
    return untouched.issuperset((*parts["values"], *parts["added"]))


def _has_other_shape(last: Fingerprint, now: Fingerprint) -> bool:
    """Check whether rows, index, types or the whole may have changed, which notes report."""
    return (last.rows, last.index, last.dtypes, last.whole) != (now.rows, now.index, now.dtypes, now.whole)


def _is_as_before(copy: _Copy, now: Fingerprint, value: Any) -> bool:
    """Check for the state at the last report. Some columns of polars move at each access, so they are compared."""
    if now == copy.now:
        return True
    return (
        copy.reported is not None
        and _is_polars(value)
        and now.kind == copy.now.kind
        and _equal(copy.now.kept, value)
    )


def _change(name: str, kind: str, parts: dict[str, list[str]] | None = None, *, earlier: bool = False) -> Change:
    return {"name": name, "kind": kind, **(parts or _no_parts()), "earlier": earlier}


def _no_parts() -> dict[str, list[str]]:
    return {"added": [], "removed": [], "values": [], "notes": []}


def _parts(
    copy: _Copy, value: Any, now: Fingerprint, until: float, untouched: frozenset[str] = frozenset()
) -> dict[str, list[str]]:
    """Return what is different; all parts are empty if nothing is certain.

    What was reported of `untouched` parts still holds.
    """
    before, parts = copy.before, _no_parts()
    known = untouched.intersection(copy.reported["values"]) if copy.reported is not None else frozenset[str]()
    if now == before:
        return parts
    parts["added"] = _missing_labels(now.labels, before.labels)
    parts["removed"] = _missing_labels(before.labels, now.labels)
    if now.labels != before.labels and not parts["added"] and not parts["removed"]:
        parts["notes"].append("order of columns" if now.kind != "dict" else "order of keys")
    if before.rows is not None and now.rows is not None and before.rows != now.rows:
        parts["notes"].append(f"{before.rows:,} → {now.rows:,} {'rows' if now.labels or now.index else 'items'}")
        return parts
    if time.monotonic() >= until:
        parts["values"] = [label for label in now.labels if label in known]
    else:
        try:
            with _raised_memory_limit():
                old = before.kept if _is_polars(value) else copy.reload()
                _compare(before, now, old, value, parts, known, until)
        except Exception:  # noqa: BLE001  (no memory, a file that is gone, a foreign comparison: nothing more is certain)
            return parts
    return parts


@contextmanager
def _raised_memory_limit() -> Iterator[None]:
    """Lift RLIMIT_DATA for a moment: a copy that is mapped again counts against the limit for computing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _missing_labels(labels: Sequence[str], others: Sequence[str]) -> list[str]:
    known = set(others)
    return [label for label in labels if label not in known][:MAX_PARTS]


def _is_polars(value: Any) -> bool:
    return type(value).__module__.startswith("polars")


def _compare(
    before: Fingerprint,
    now: Fingerprint,
    old: Any,
    value: Any,
    parts: dict[str, list[str]],
    known: frozenset[str],
    until: float,
) -> None:
    """Compare the index, then each part whose digest differs, until the time is over.

    `known` parts have other values anyway.
    """
    if now.index != before.index and (index_note := _index_note(old.index, value.index)):
        parts["notes"].append(index_note)
        return  # then rows do not correspond
    if not before.labels and not now.labels:
        if _has_changed(before.whole, now.whole) and not _equal(old, value):
            parts["notes"].append(_whole_note(old, value))
        return
    places = {label: at for at, label in enumerate(before.labels)}
    for at, label in enumerate(now.labels):
        was = places.get(label)
        if label in known:
            parts["values"].append(label)
        elif was is None or not label or before.labels.count(label) > 1 or time.monotonic() > until:
            continue
        elif now.dtypes[at] != before.dtypes[was]:
            parts["notes"].append(f"{label} {before.dtypes[was]} → {now.dtypes[at]}")
        elif _has_changed(before.digests[was], now.digests[at]) and not _equal(_part(old, was), _part(value, at)):
            parts["values"].append(label)
        if len(parts["values"]) + len(parts["notes"]) >= MAX_PARTS:
            return


def _has_changed(before: Digest, now: Digest) -> bool:
    """Check whether two digests differ; a missing one tells nothing."""
    return before is not None and now is not None and before != now


def _part(value: Any, at: int) -> Any:
    if type(value) is dict:
        return list(value.values())[at]
    return value.to_series(at) if _is_polars(value) else value.iloc[:, at]


def _index_note(old: Any, new: Any) -> str:
    if len(old) != len(new) or old.equals(new):
        return "names of the index" if list(old.names) != list(new.names) else ""
    if (len(old) <= MAX_REORDERED_ROWS and type(old) is type(new)) or old.dtype == new.dtype:
        try:
            if old.sort_values().equals(new.sort_values()):
                return "order of rows"
        except TypeError:  # labels of several types have no order
            return "index"
    return "index"


def _whole_note(old: Any, value: Any) -> str:
    for what in ("name", "dtype", "shape"):
        was, now = getattr(old, what, None), getattr(value, what, None)
        if was != now:
            return f"{what} {str(was)[:40]} → {str(now)[:40]}"
    return "values"


def _equal(old: Any, value: Any) -> bool:
    """Compare exactly, and as fast as the library can; missing values equal each other."""
    kind = type(old).__module__.partition(".")[0]
    if kind == "pandas":
        return bool(old.name == value.name and old.array.equals(value.array))
    if kind == "polars":
        return bool(old.equals(value, null_equal=True))
    if kind == "numpy" and type(old).__name__ == "ndarray":
        return _equal_arrays(old, value)
    return _equal_pickles(old, value)


def _equal_arrays(old: Any, value: Any) -> bool:
    import numpy as np

    if old.dtype != value.dtype or old.shape != value.shape:
        return False
    if old.dtype.hasobject:
        return _equal_pickles(old, value)
    return bool(np.array_equal(old, value, equal_nan=old.dtype.kind in "fcmM"))


def _equal_pickles(old: Any, value: Any) -> bool:
    from pickle import dumps

    return dumps(old, protocol=5) == dumps(value, protocol=5) or (old == value) is True
