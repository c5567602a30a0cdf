"""What the code did to the copies of the user's variables, told after each cell: only what is certain.

A copy is compared with how it was loaded, first by cheap marks (`sketches`). Where these differ, the copy is loaded
once more and compared in earnest, because assigning equal values, or a library that moves its data, is no change.
"""

from __future__ import annotations

import resource
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .fingerprints import Fingerprint, Mark, sketch
from .pages import Memory

MAX_NAMES = 50
MAX_PARTS = 12
"""Of columns and keys told of one copy."""
COMPARE_S = 0.1
"""For all comparisons in earnest of one report; what was not reached is not told."""
MAX_REORDERED_ROWS = 1_000_000

Told = dict[str, Any]
"""name, kind (changed, rebound, deleted), added, removed, values, notes, earlier: on the host a `CopyChange`."""


@dataclass
class _Copy:
    """One loaded copy: how it was, and what was said of it last."""

    loaded: Callable[[], Any]
    """The object that was bound, or None once nobody holds it any more."""
    again: Callable[[], Any]
    """Loads it once more from its file."""
    before: Fingerprint
    now: Fingerprint
    holds: int
    """`id` of what the name stood for at the last report."""
    told: Told | None = None


_copies: dict[str, _Copy] = {}


def remember(name: str, value: Any, again: Callable[[], Any]) -> None:
    """A copy was just bound to its name; `again` loads it once more."""
    try:
        now = sketch(value, Memory())
    except Exception:  # noqa: BLE001  (a foreign type that cannot be looked at: only its rebinding will be told)
        now = Fingerprint(kind=type(value).__name__)
    _copies[name] = _Copy(loaded=_reference(value), again=again, before=now, now=now, holds=id(value))


def report(namespace: dict[str, Any]) -> list[Told]:
    """The copies that are no longer what was loaded; ``earlier`` where they were not before this cell either."""
    memory, until = Memory(), time.monotonic() + COMPARE_S
    told = [_look(name, copy, namespace, memory, until) for name, copy in list(_copies.items())[:MAX_NAMES]]
    return [change for change in told if change is not None]


def _reference(value: Any) -> Callable[[], Any]:
    """Weak where it can be: a rebound frame must not keep its memory because of us."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _look(name: str, copy: _Copy, namespace: dict[str, Any], memory: Memory, until: float) -> Told | None:
    if name not in namespace:
        earlier = copy.told is not None and copy.told["kind"] == "deleted"
        copy.told, copy.loaded, copy.holds = _told(name, "deleted", earlier=earlier), lambda: None, 0
        return copy.told
    value = namespace[name]
    is_same_object = value is copy.loaded()
    try:
        now = sketch(value, memory)
    except Exception:  # noqa: BLE001  (the code left an object that cannot be read: of its contents nothing is certain)
        now = copy.now if is_same_object else Fingerprint(kind=type(value).__name__)
    if id(value) == copy.holds and _is_as_before(copy, now, value):
        if copy.told is not None:
            copy.told = {**copy.told, "earlier": True}
        return copy.told
    last, copy.now, copy.holds = copy.now, now, id(value)
    untouched = _same_marks(last, now)
    if is_same_object:
        parts = _parts(copy, value, now, until, untouched)
        earlier = _is_of_earlier(copy.told, parts, untouched) and not (
            parts["notes"] and _is_other_shape(last, now)
        )
        copy.told = _told(name, "changed", parts, earlier=earlier) if any(parts.values()) else None
        return copy.told
    copy.loaded = lambda: None
    parts = _parts(copy, value, now, until) if now.kind == copy.before.kind else _none()
    if now.kind != copy.before.kind:
        parts["notes"] = [f"{copy.before.kind} → {now.kind}"]
    copy.told = _told(name, "rebound", parts)
    return copy.told


def _same_marks(last: Fingerprint, now: Fingerprint) -> frozenset[str]:
    """Columns or keys that nothing has touched since the last report."""
    marks = dict(zip(last.labels, last.marks, strict=False))
    pairs = zip(now.labels, now.marks, strict=False)
    return frozenset(label for label, mark in pairs if mark is not None and marks.get(label) == mark)


def _is_of_earlier(told: Told | None, parts: dict[str, list[str]], untouched: frozenset[str]) -> bool:
    """Whether all of it was told before, and nothing has touched it since: a mark of another part has changed."""
    if told is None or any(told[what] != labels for what, labels in parts.items()):
        return False
    return untouched.issuperset((*parts["values"], *parts["added"]))


def _is_other_shape(last: Fingerprint, now: Fingerprint) -> bool:
    """Whether rows, index, types or the whole may have changed, which notes tell of."""
    return (last.rows, last.index, last.dtypes, last.whole) != (now.rows, now.index, now.dtypes, now.whole)


def _is_as_before(copy: _Copy, now: Fingerprint, value: Any) -> bool:
    """As at the last report. Some columns of polars lie elsewhere at each look, so they are compared."""
    if now == copy.now:
        return True
    return (
        copy.told is not None and _is_polars(value) and now.kind == copy.now.kind and _equal(copy.now.kept, value)
    )


def _told(name: str, kind: str, parts: dict[str, list[str]] | None = None, *, earlier: bool = False) -> Told:
    return {"name": name, "kind": kind, **(parts or _none()), "earlier": earlier}


def _none() -> dict[str, list[str]]:
    return {"added": [], "removed": [], "values": [], "notes": []}


def _parts(
    copy: _Copy, value: Any, now: Fingerprint, until: float, untouched: frozenset[str] = frozenset()
) -> dict[str, list[str]]:
    """What is different; all empty if nothing certain is. What was told of `untouched` parts is still so."""
    before, parts = copy.before, _none()
    known = untouched.intersection(copy.told["values"]) if copy.told is not None else frozenset[str]()
    if now == before:
        return parts
    parts["added"] = _without(now.labels, before.labels)
    parts["removed"] = _without(before.labels, now.labels)
    if now.labels != before.labels and not parts["added"] and not parts["removed"]:
        parts["notes"].append("order of columns" if now.kind != "dict" else "order of keys")
    if before.rows is not None and now.rows is not None and before.rows != now.rows:
        parts["notes"].append(f"{before.rows:,} → {now.rows:,} {'rows' if now.labels or now.index else 'items'}")
        return parts
    if time.monotonic() >= until:
        parts["values"] = [label for label in now.labels if label in known]
    else:
        try:
            with _room_for_another():
                old = before.kept if _is_polars(value) else copy.again()
                _compare(before, now, old, value, parts, known, until)
        except Exception:  # noqa: BLE001  (no memory, a file that is gone, a foreign comparison: no more is certain)
            return parts
    return parts


@contextmanager
def _room_for_another() -> Iterator[None]:
    """A copy that is mapped once more counts against the limit meant for computing, for this moment."""
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _without(labels: Sequence[str], others: Sequence[str]) -> list[str]:
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
    """Index, then each part whose mark differs, until the time is over; `known` parts are other values anyway."""
    if now.index != before.index and (index_note := _index_note(old.index, value.index)):
        parts["notes"].append(index_note)
        return  # then rows do not correspond
    if not before.labels and not now.labels:
        if _is_other(before.whole, now.whole) and not _equal(old, value):
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
        elif _is_other(before.marks[was], now.marks[at]) and not _equal(_part(old, was), _part(value, at)):
            parts["values"].append(label)
        if len(parts["values"]) + len(parts["notes"]) >= MAX_PARTS:
            return


def _is_other(before: Mark, now: Mark) -> bool:
    """Whether two marks differ; one that is missing tells nothing."""
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
    """Missing values equal each other; exact, and as fast as the library compares."""
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
