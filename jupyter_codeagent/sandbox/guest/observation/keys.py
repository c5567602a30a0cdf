"""Keys and wanted values of pandas and polars alike: what a join matches and repeats, what is spelled otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from .call import Call, Operation, Repeats
from .values import cut_offs, plain

MAX_UNIQUE = 5000
MAX_TELLING = 8
MAX_CUT_OFFS = 8
MIN_CUT_OFF = 0.02


@dataclass(frozen=True)
class Matches:
    """Which rows of each side have a match, and which side's rows a join repeats."""

    in_right: Any
    """Of the left rows, as booleans."""
    in_left: Any
    """Of the right rows, as booleans."""
    left_repeats: bool
    """Whether matched keys of the left table occur several times there."""
    right_repeats: bool


def count_matches(one: Operation, how: str, codes: tuple[Any, Any], *, is_filter: bool) -> Matches:
    """Add the rows without a match, and those that are lost by it; by a table of keys alone they are left out."""
    import numpy as np

    left, right = codes
    in_right, in_left = np.isin(left, right), np.isin(right, left)
    unmatched, unused = int((~in_right).sum()), int((~in_left).sum())
    one.add("matched", len(left) - unmatched, len(left))
    if unmatched:
        one.add("unmatched_left", unmatched, len(left))
        if how in ("inner", "right") and not is_filter:
            one.add("lost_left", unmatched, len(left))
    if unused:
        one.add("unmatched_right", unused, len(right))
        if how in ("inner", "left") and not is_filter:
            one.add("lost_right", unused, len(right))
    return Matches(
        in_right,
        in_left,
        len(np.unique(left[in_right])) < int(in_right.sum()),
        len(np.unique(right[in_left])) < int(in_left.sum()),
    )


def count_repeats(
    one: Operation,
    call: Call,
    how: str,
    matches: Matches,
    columns: tuple[Iterable[Any], Iterable[Any]],
    telling: tuple[frozenset[str], frozenset[str]],
) -> None:
    """Add the rows that a join has more than the left table, and remember the columns that it repeats.

    `telling` has the columns of each side that no other row with the same key has the same value of.
    """
    matched, used = int(matches.in_right.sum()), int(matches.in_left.sum())
    left_rows, right_rows = len(matches.in_right), len(matches.in_left)
    pairs = len(call.result)
    pairs -= left_rows - matched if how in ("left", "outer", "full") else 0
    pairs -= right_rows - used if how in ("right", "outer", "full") else 0
    more, more_of_right = (pairs - matched, left_rows), (pairs - used, right_rows)
    repeated: dict[str, Repeats] = {}
    if matches.right_repeats:
        one.add("multiplied" if matches.left_repeats else "one_to_many", *more)
        repeated = dict.fromkeys(map(str, columns[0]), Repeats(telling[1], more))
    if matches.right_repeats and matches.left_repeats:
        for label in map(str, columns[1]):
            repeated[label] = Repeats(telling[0], more if label in repeated else more_of_right)
    if not repeated and matches.left_repeats:
        once = _only_in(columns[1], columns[0])
        call.origin = replace(call.origin, summed_once=once, repeats=(matched - used, right_rows))
    if repeated:
        call.origin = replace(
            call.origin,
            repeated={**call.origin.repeated, **repeated},
            repeats=more,
            repeats_both=matches.left_repeats,
        )


def telling_columns(
    columns: Iterable[Any], others: Iterable[Any], is_unique: Callable[[Any], bool]
) -> frozenset[str]:
    """Return the columns that only this side has and that tell rows with the same key apart."""
    known = set(others)
    own = [label for label in columns if label not in known]
    return frozenset(str(label) for label in own[:MAX_TELLING] if is_unique(label))


def _only_in(columns: Iterable[Any], others: Iterable[Any]) -> frozenset[str]:
    return frozenset(map(str, columns)) - frozenset(map(str, others))


def add_near_keys(one: Operation, label: str, ours: dict[Any, int], theirs: Iterable[Any]) -> None:
    """Add unmatched keys that the other side has in another spelling or type; `ours` with their rows."""
    others = list(theirs)
    if len(ours) > MAX_UNIQUE or len(others) > MAX_UNIQUE:
        return
    spellings = {plain(value): value for value in others}
    near = [value for value in ours if plain(value) and plain(value) in spellings]
    if near:
        one.add("near_keys", sum(ours[value] for value in near), label=label)
        one.examples = None
        one.show(
            "keys that differ in spelling",
            ["left", "right"],
            [[repr(value), repr(spellings[plain(value)])] for value in near],
        )


def near_misses(
    one: Operation, label: str, counts: dict[Any, int], wanted: tuple[Any, ...], *, are_literal: bool = True
) -> None:
    """Add how many rows hold a value that differs from a wanted one by case, blanks or punctuation alone."""
    if len(counts) > MAX_UNIQUE:
        return
    wanted_plain = {plain(value) for value in wanted if isinstance(value, str)} - {""}
    near = {
        value: count
        for value, count in counts.items()
        if isinstance(value, str) and value not in wanted and plain(value) in wanted_plain
    }
    if are_literal and not near and counts and (absent := [value for value in wanted if value not in counts]):
        one.add("absent_value", len(absent), label=f"{label} {absent[0]!r}")
        one.show(
            "values that there are", [label, "rows"], [[repr(value), count] for value, count in counts.items()]
        )
    if near:
        one.add("near_misses", sum(near.values()), sum(counts.values()), label)
        one.show("other spellings", [label, "rows"], [[repr(value), count] for value, count in near.items()])


def add_cut_offs(one: Operation, label: str, texts: Iterable[Any], parts: Iterable[Any]) -> None:
    """Add that several units, or a sign, are lost where a number is taken out of texts."""
    found = cut_offs(texts, parts)
    often = [left for left, count in found.most_common(MAX_CUT_OFFS) if count >= MIN_CUT_OFF * found.total()]
    if len(often) > 1 and len(found) <= MAX_CUT_OFFS:
        shown = ", ".join(left for left in often if left)
        one.add("cut_off", found.total() - found[often[0]], found.total(), f"{label}: {shown}")
        one.show("cut off", ["text", "rows"], [[repr(left), found[left]] for left in often])


def add_variants(one: Operation, label: str, values: Iterable[Any]) -> None:
    """Add values that are one but for case and blanks, and are counted as several."""
    spellings = {value for value in values if isinstance(value, str)}
    same = len(spellings) - len({value.strip().casefold() for value in spellings})
    if same:
        one.add("case_variants", same, len(spellings), label)
