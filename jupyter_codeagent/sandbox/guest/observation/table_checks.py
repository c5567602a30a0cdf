"""What makes a figure doubtful whatever the library: duplicate rows, totals, several units.

A table is looked at as lists of Python values; of a large one only every n-th row is. Rows are compared as a whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import Any

from .call import Operation
from .different_rows import Rows
from .values import (
    AVERAGE_NAME,
    CHECKED,
    ID_NAME,
    ROW_ID,
    SHARE_NAME,
    UNIT_NAME,
    is_missing,
    is_total,
    missing_code,
)

CELL_NS = 1000
"""Nanoseconds for each cell of a checked table; measured."""
CHECK_SHARE = 0.5
"""Share of the time that is left which one check may take."""
NEARLY_UNIQUE = 0.95
MIN_DUPLICATES = 2
MAX_CHANCE = 0.2
"""Share of the equal rows that chance may explain."""
MIN_THINGS = 0.05
MAX_THINGS = 0.95
MAX_SEVERAL = 3
KEY_UNIQUE = 0.75
"""Share of different values from which an identifier is that of the rows, and each further one a repetition."""
MIN_SIDE = 0.05
"""Share of the values that each of two scales has at least."""
GAP = 4.0
MAX_UNIT_CHARS = 8
"""``kg``, ``EUR``; what is longer is the name of something else."""
SCALES = (60, 100, 1000, 3600)
"""Ratios of units that get mixed: minutes, per cent and cents, kilo, hours."""
MAX_NUMBERS, NUMBER_NS = 5000, 400
"""Numbers of a column that are looked at, and the nanoseconds for each; measured."""
OF_NUMBERS = frozenset(
    [
        "mean",
        "sum",
        "std",
        "var",
        "sem",
        "median",
        "min",
        "max",
        "idxmin",
        "idxmax",
        "quantile",
        "corr",
        "cov",
        "skew",
    ]
)
Table = Mapping[str, Sequence[Any]]
"""Label -> values of each column."""


@dataclass(frozen=True)
class Use:
    """What an aggregate uses of a table."""

    columns: Collection[str]
    """Labels that it aggregates; empty where it counts rows."""
    keys: Collection[str] = ()
    computed: Collection[str] = ()
    """Labels that the program has computed itself."""
    counts_rows: bool = False
    averages: bool = False
    adds: bool = False
    """It is a sum or a mean, which a repeated value changes."""


def check_table(one: Operation, table: Table, use: Use, rows: Rows | None) -> None:
    """Add what makes an aggregate over this table doubtful; `rows` are all of its rows, if they are compared."""
    count = len(next(iter(table.values()), ()))
    if count < 3:
        return
    try:
        if rows is not None:
            _add_duplicates(one, table, rows, use)
        if use.adds and rows is not None:
            _add_constant_per_id(one, table, rows, use)
        if use.adds:
            _add_scales(one, table, use)
    except TypeError:
        return  # cells that cannot be compared, such as lists
    _add_totals(one, table, count)
    if use.adds:
        _add_units(one, table, count, use)
    if use.adds and rows is not None:
        _add_several_rows(one, table, rows, use)
    for label in use.columns if use.averages else ():
        if AVERAGE_NAME.search(label) and label not in use.computed:
            one.add("averages_averaged", count, count, label)


def add_implausible_numbers(
    one: Operation,
    label: str,
    numbers: Sequence[float],
    column: Any,
    functions: Collection[str],
) -> None:
    """Add a column that has a code for a missing value among its numbers.

    `numbers` are those of the column that are looked at; a code is counted in all of it.
    """
    if OF_NUMBERS.intersection(functions) and (code := missing_code(numbers)) is not None:
        one.add("missing_codes", int((column == code).sum()), len(numbers), f"{label} is {code:g}")


def _add_duplicates(one: Operation, table: Table, rows: Rows, use: Use) -> None:
    """Add rows that occur twice, where that is hardly chance; and identifiers, where rows are counted."""
    unique = rows.different(list(table))
    duplicates = rows.count - unique
    if duplicates >= MIN_DUPLICATES and len(table) > 1:
        given = {label: values for label, values in table.items() if label not in use.computed}
        if _is_hardly_chance(given or table, rows, unique):
            one.add("duplicate_rows", duplicates, rows.count)
            return
    for label in table:
        if ID_NAME.search(label) and label not in use.keys:
            missing = rows.missing(label)
            known = rows.count - missing
            different = rows.different([label]) - bool(missing)
            if KEY_UNIQUE * known <= different < known and ROW_ID.search(label):
                one.add("repeated_keys", known - different, rows.count, label)
                return
            if use.counts_rows and different < known:
                one.add("repeated_ids", known - different, rows.count, label)
                return


def _is_hardly_chance(table: Table, rows: Rows, different: int) -> bool:
    """Check whether a column tells nearly all rows apart, or a time with another one, and few are equal by chance.

    By chance means that the columns do not depend on each other.
    """
    if any(rows.different([label]) >= NEARLY_UNIQUE * different for label in table):
        return True
    times = [label for label, values in table.items() if any(isinstance(value, date) for value in values[:5])]
    pairs = ([time, label] for time in times[:2] for label in table if label != time)
    if not any(rows.different(pair) >= NEARLY_UNIQUE * different for pair in pairs):
        return False
    by_chance = rows.count * rows.count / 2
    for label in table:
        by_chance *= rows.equal_share(label)
    return by_chance < MAX_CHANCE * (rows.count - different)


def _add_several_rows(one: Operation, table: Table, rows: Rows, use: Use) -> None:
    """Add the columns that name things with several rows each; whether the prompt means them, the host knows."""
    found = []
    keys = [label for label in use.keys if label in table]
    for label, values in table.items():
        if label in use.keys or label in use.computed or any(used.startswith(label) for used in use.columns):
            continue
        if not all(isinstance(value, str | int) or is_missing(value) for value in values[:5]):
            continue
        if not 3 <= rows.different([label]) <= MAX_THINGS * rows.count:
            continue
        things = rows.different([*keys, label])
        if MIN_THINGS * rows.count <= things <= MAX_THINGS * rows.count:
            found.append((things, label))
    for things, label in sorted(found, reverse=True)[:MAX_SEVERAL]:
        kind = "several_rows" if use.averages else "several_summed"
        one.add(kind, rows.count - things, rows.count, label)


def _add_constant_per_id(one: Operation, table: Table, rows: Rows, use: Use) -> None:
    """Add a column whose value belongs to an identifier that has several rows, and is counted in each of them."""
    for id_label in table:
        if not ID_NAME.search(id_label) or id_label in use.keys:
            continue
        groups = rows.different([id_label])
        if not 3 <= groups <= 0.8 * rows.count:
            continue
        for label in use.columns:
            if label not in table or label == id_label or label in use.computed or rows.different([label]) < 3:
                continue
            if rows.different([id_label, label]) == groups:
                one.add("constant_per_id", rows.count - groups, rows.count, f"{label} of each {id_label}")
                return


def _add_scales(one: Operation, table: Table, use: Use) -> None:
    """Add a column whose values fall into two heaps that are a unit apart."""
    for label in use.columns:
        if label in use.computed:
            continue
        numbers = sorted(
            float(value)
            for value in table.get(label, ())
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
        )
        if len(numbers) < 20:
            continue
        gap, at = max((numbers[i] / numbers[i - 1], i) for i in range(1, len(numbers)))
        low, high = numbers[:at], numbers[at:]
        is_even = min(len(low), len(high)) >= MIN_SIDE * len(numbers) and min(len(set(low)), len(set(high))) > 3
        if gap >= GAP and is_even:
            ratio = median(high) / median(low)
            if any(0.75 <= ratio / scale <= 1.33 for scale in SCALES):
                one.add("two_scales", min(len(low), len(high)), len(numbers), label)


def _add_totals(one: Operation, table: Table, rows: int) -> None:
    for label, values in table.items():
        found = Counter(value for value in values if is_total(value))
        if found and sum(found.values()) < rows:
            one.add("total_rows", sum(found.values()), rows, f"{label} ({next(iter(found))})")


def _add_units(one: Operation, table: Table, rows: int, use: Use) -> None:
    """Add a column of units that has several, unless each unit is a group or the program has converted."""
    used = {label for label in use.columns if label not in use.computed and not SHARE_NAME.search(label)}
    for label, values in table.items():
        if label in use.keys or not UNIT_NAME.search(label) or not used & (_measured_in(label, table) or used):
            continue
        units = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        if 1 < len(units) <= 20 and all(len(unit) <= MAX_UNIT_CHARS for unit in units):
            one.add("mixed_units", len(units), rows, f"{label}: {', '.join(units[:4])}")


def _measured_in(unit_label: str, table: Table) -> set[str]:
    """Return the columns that a column of units names: `weight` for ``weight_unit``; none for ``unit``."""
    name = UNIT_NAME.sub("", unit_label).strip("_ ").lower()
    if len(name) < 2:
        return set()
    numbers = [
        label
        for label, values in table.items()
        if any(isinstance(value, int | float) and not is_missing(value) for value in values[:CHECKED])
        and not ID_NAME.search(label)
    ]
    exact = {label for label in numbers if label.lower() == name}
    return exact or {label for label in numbers if name in re.split(r"[_\s]", label.lower())}
