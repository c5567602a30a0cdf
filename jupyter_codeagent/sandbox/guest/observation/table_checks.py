"""What makes a figure doubtful whatever the library: duplicate rows, totals, several units.

A table is looked at as lists of Python values. Of a large one only every n-th row is, and no rows are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import median
from typing import Any

from .call import Operation
from .values import AVERAGE_NAME, ID_NAME, ROW_ID, UNIT_NAME, is_missing, is_total

CELL_NS = 1000
"""Nanoseconds for each cell of a checked table; measured."""
CHECK_SHARE = 0.5
"""Share of the time that is left which one check may take."""
NEARLY_UNIQUE = 0.95
MIN_DUPLICATES = 0.01
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
    all_rows: bool = True
    """The table has all rows; where it does not, or a join has repeated them, rows are not compared."""


def check_table(one: Operation, table: Table, use: Use) -> None:
    """Add what makes an aggregate over this table doubtful."""
    rows = len(next(iter(table.values()), ()))
    if rows < 3:
        return
    try:
        if use.all_rows:
            _add_duplicates(one, table, rows, use)
        if use.adds and use.all_rows:
            _add_constant_per_id(one, table, rows, use)
        if use.adds:
            _add_scales(one, table, use)
    except TypeError:
        return  # cells that cannot be compared, such as lists
    _add_totals(one, table, rows)
    if use.adds:
        _add_units(one, table, rows, use)
    if use.adds and use.all_rows:
        _add_several_rows(one, table, rows, use)
    for label in use.columns if use.averages else ():
        if AVERAGE_NAME.search(label) and label not in use.computed:
            one.add("averages_averaged", rows, rows, label)


def _add_duplicates(one: Operation, table: Table, rows: int, use: Use) -> None:
    """Add rows that occur twice, where that is hardly chance; and identifiers, where rows are counted."""
    unique = set(zip(*table.values(), strict=True))
    duplicates = rows - len(unique)
    if duplicates >= max(2, MIN_DUPLICATES * rows) and len(table) > 1:
        given = {label: values for label, values in table.items() if label not in use.computed}
        if _is_hardly_chance(given or table, len(unique)):
            one.add("duplicate_rows", duplicates, rows)
            return
    for label, values in table.items():
        if ID_NAME.search(label) and label not in use.keys:
            known = [value for value in values if not is_missing(value)]
            different = len(set(known))
            if KEY_UNIQUE * len(known) <= different < len(known) and ROW_ID.search(label):
                one.add("repeated_keys", len(known) - different, rows, label)
                return
            if use.counts_rows and different < len(known):
                one.add("repeated_ids", len(known) - different, rows, label)
                return


def _is_hardly_chance(table: Table, different: int) -> bool:
    """Check whether a column tells nearly all rows apart, or a time with another one, and few are equal by chance.

    By chance means that the columns do not depend on each other.
    """
    if any(len(set(values)) >= NEARLY_UNIQUE * different for values in table.values()):
        return True
    times = [values for values in table.values() if any(isinstance(value, date) for value in values[:5])]
    pairs = ((time, values) for time in times[:2] for values in table.values() if values is not time)
    if not any(len(set(zip(*pair, strict=True))) >= NEARLY_UNIQUE * different for pair in pairs):
        return False
    rows = len(next(iter(table.values())))
    by_chance = rows * rows / 2
    for values in table.values():
        by_chance *= sum((count / rows) ** 2 for count in Counter(values).values())
    return by_chance < MAX_CHANCE * (rows - different)


def _add_several_rows(one: Operation, table: Table, rows: int, use: Use) -> None:
    """Add the columns that name things with several rows each; whether the prompt means them, the host knows."""
    found = []
    keys = [table[label] for label in use.keys if label in table]
    for label, values in table.items():
        if label in use.keys or label in use.computed or any(used.startswith(label) for used in use.columns):
            continue
        if not all(isinstance(value, str | int) or is_missing(value) for value in values[:5]):
            continue
        things = len(set(zip(values, *keys, strict=True)))
        if len(set(values)) >= 3 and MIN_THINGS * rows <= things <= MAX_THINGS * rows:
            found.append((things, label))
    for things, label in sorted(found, reverse=True)[:MAX_SEVERAL]:
        one.add("several_rows" if use.averages else "several_summed", rows - things, rows, label)


def _add_constant_per_id(one: Operation, table: Table, rows: int, use: Use) -> None:
    """Add a column whose value belongs to an identifier that has several rows, and is counted in each of them."""
    for id_label, ids in table.items():
        groups = len(set(ids))
        if not ID_NAME.search(id_label) or id_label in use.keys or not 3 <= groups <= 0.8 * rows:
            continue
        for label in use.columns:
            values = table.get(label)
            if values is None or label == id_label or len(set(values)) < 3 or label in use.computed:
                continue
            if len(set(zip(ids, values, strict=True))) == groups:
                one.add("constant_per_id", rows - groups, rows, f"{label} of each {id_label}")
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
    if not set(use.columns) - set(use.computed):
        return
    for label, values in table.items():
        if label in use.keys or not UNIT_NAME.search(label):
            continue
        units = list(dict.fromkeys(value for value in values if isinstance(value, str)))
        if 1 < len(units) <= 20 and all(len(unit) <= MAX_UNIT_CHARS for unit in units):
            one.add("mixed_units", len(units), rows, f"{label}: {', '.join(units[:4])}")
