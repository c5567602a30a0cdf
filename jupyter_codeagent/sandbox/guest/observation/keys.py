"""Keys and wanted values of pandas and polars alike: what a join matches and repeats, what is spelled otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from .call import Call, Operation
from .values import plain

MAX_UNIQUE = 5000


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
    return Matches(
        in_right,
        in_left,
        len(np.unique(left[in_right])) < int(in_right.sum()),
        len(np.unique(right[in_left])) < int(in_left.sum()),
    )


def count_repeats(
    one: Operation, call: Call, how: str, matches: Matches, columns: tuple[Iterable[Any], Iterable[Any]]
) -> None:
    """Add the rows that a join has more than the left table, and remember the columns that it repeats."""
    matched, used = int(matches.in_right.sum()), int(matches.in_left.sum())
    left_rows, right_rows = len(matches.in_right), len(matches.in_left)
    pairs = len(call.result)
    pairs -= left_rows - matched if how in ("left", "outer", "full") else 0
    pairs -= right_rows - used if how in ("right", "outer", "full") else 0
    repeated: frozenset[str] = frozenset()
    if matches.right_repeats:
        one.add("multiplied" if matches.left_repeats else "one_to_many", pairs - matched, left_rows)
        repeated |= {str(label) for label in columns[0]}
    if matches.right_repeats and matches.left_repeats:
        repeated |= {str(label) for label in columns[1]}
    if not repeated and matches.left_repeats:
        once = _only_in(columns[1], columns[0])
        call.origin = replace(call.origin, summed_once=once, repeats=(matched - used, right_rows))
    if repeated:
        call.origin = replace(
            call.origin,
            repeated=call.origin.repeated | repeated,
            repeats=(pairs - matched, left_rows),
            repeated_by=frozenset() if matches.left_repeats else _only_in(columns[1], columns[0]),
        )


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


def add_variants(one: Operation, label: str, values: Iterable[Any]) -> None:
    """Add values that are one but for case and blanks, and are counted as several."""
    spellings = {value for value in values if isinstance(value, str)}
    same = len(spellings) - len({value.strip().casefold() for value in spellings})
    if same:
        one.add("case_variants", same, len(spellings), label)
