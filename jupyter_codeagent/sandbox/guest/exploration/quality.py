"""What is wrong with the values of single columns and with whole rows, before any relation is looked at."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .overview import iso_day
from .search import Search
from .statistics import standardize
from .table import Table
from .texts import stand_for_values

MIN_ROWS = 50
MAX_OUTLIER_SHARE = 0.01
FEW = 3
"""Rows that are few in a table of any size."""
MIN_REACH = 0.5
"""Of the furthest outlier beyond the limit, in distances of the quartiles."""
MIN_REACH_OF_FEW = 8.0
"""The same in a table of which a few rows are more than MAX_OUTLIER_SHARE."""
SENTINELS = (-1, -9, -99, -999, -9999, -99999, 99, 999, 9999, 99999, 999999, -88, -888, 88, 888)
MIN_ONLY_NEGATIVE = 5
"""Rows of one negative value, as -1, in a column that has no other one: it stands for something else."""
MIN_DATES = 20


def count_repeated_rows(table: Table) -> int:
    """Return how many rows repeat an earlier one, over all rows and columns; 0 if not all could be compared."""
    if table.source.labelled or len(table.columns) < table.labels:
        return 0
    total: Any = np.zeros(table.rows, np.uint64)
    for name in table.columns:
        total = (total ^ (total >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        total = total + np.asarray(table.source.hashes(name), np.uint64)
    return table.rows - len(np.unique(total)) if table.columns else 0


def find_duplicates(table: Table, search: Search, repeated: int) -> None:
    """Find whole rows twice, and identifiers that are not unique."""
    if repeated and _is_unexpected(table, repeated):
        share = repeated / table.rows
        search.add("duplicates", (), share, 0.0, n=table.rows, repeated=repeated, rows=table.rows)
    for name in table.with_role("identifier"):
        column = table.columns[name]
        present = table.size - int(table.is_missing(name).sum())
        if column.kind == "text" and stand_for_values(table.levels(name)[1]):
            continue
        if present < MIN_ROWS or not 0.95 * present <= column.distinct < present:
            continue
        present = table.rows - column.missing
        distinct = len(np.unique(table.source.hashes(name))) - (column.missing > 0)
        again = present - distinct
        if 0 < again <= 0.05 * present and again > repeated:
            search.add("duplicates", (name,), again / present, 0.0, n=present, repeated=again, rows=table.rows)


def _is_unexpected(table: Table, repeated: int) -> bool:
    """Check that rows are not simply bound to repeat, as with a few categories."""
    if len(table.columns) < 2:
        return False
    nearly_unique = max(column.distinct for column in table.columns.values()) / max(table.size, 1)
    alike = [math.log(_chance_of_same(table, name)) for name in table.columns]
    expected = math.exp(min(700.0, 2 * math.log(table.rows) + sum(alike))) / 2
    tells = nearly_unique >= 0.3 or repeated <= 0.1 * table.rows
    return expected * 50 < repeated and tells


def _chance_of_same(table: Table, name: str) -> float:
    if table.columns[name].kind == "other":
        return 1.0
    if table.columns[name].kind in ("text", "mixed"):
        sizes = np.bincount(table.levels(name)[0] + 1)
    else:
        sizes = np.unique(table.numbers(name), return_counts=True)[1]
    shares = sizes / max(table.size, 1)
    return max(float(shares @ shares), 1e-12)


def find_extremes(table: Table, search: Search) -> None:
    """Find impossible values, outliers and long tails of each number."""
    for name in table.values:
        if search.is_over():
            return
        values = table.numbers(name)
        values = np.sort(values[~np.isnan(values)])
        if len(values) >= MIN_ROWS and table.columns[name].distinct > 5:
            _find_extremes_of(name, values, search)


def _find_extremes_of(name: str, values: Any, search: Search) -> None:
    rows = len(values)
    values = _find_sentinels(name, values, search)
    negative = int(np.searchsorted(values, 0, side="left"))
    if 0 < negative <= 0.02 * rows and values[negative // 2] < lower_tail(values[negative:], rows):
        share = negative / rows
        search.add(
            "impossible", (name,), share, 0.0, n=rows, count=negative, why="negative", value=float(values[0])
        )
        values = values[negative:]
    if len(values) >= MIN_ROWS and not _find_outliers(name, values, search):
        _find_skew(name, values, search)


def _find_sentinels(name: str, values: Any, search: Search) -> Any:
    for value in (float(values[0]), float(values[-1])):
        if value not in SENTINELS:
            continue
        rest = values[values != value]
        count = len(values) - len(rest)
        if count < max(3, 0.001 * len(values)) or len(rest) < 0.5 * len(values) or len(rest) < MIN_ROWS:
            continue
        low, high = np.quantile(rest, [0.25, 0.75])
        apart = max(rest[0] - value, value - rest[-1])
        bounds = lower_tail(rest, len(rest)), -lower_tail(-rest[::-1], len(rest))
        stands_apart = apart > high - low and not bounds[0] <= value <= bounds[1]
        is_only_negative = value < 0 <= rest[0]
        if stands_apart or (is_only_negative and count >= MIN_ONLY_NEGATIVE):
            share = count / len(values)
            why = "only negative" if is_only_negative and apart <= rest[-1] - rest[0] else "sentinel"
            search.add("impossible", (name,), share, 0.0, n=len(values), count=count, why=why, value=value)
            values = rest
    return values


def lower_tail(values: Any, rows: int) -> float:
    """Return the value below which none of so many rows is expected, by the slope of the tail from 10 % to 1 %."""
    tenth, hundredth = (float(value) for value in np.quantile(values, [0.1, 0.01]))
    slope = (tenth - hundredth) / math.log(10)
    return tenth - slope * (math.log(max(rows, 20) / 10) + math.log(1000))


def _find_outliers(name: str, values: Any, search: Search) -> bool:
    low, median, high = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    limits = (low - 3 * (high - low), high + 3 * (high - low))
    below, above = (values < limits[0]) & (high > low), (values > limits[1]) & (high > low)
    scales = [values]
    if values[0] >= 0 and high > low and _skewness(values) > 1:
        # long tails of sizes and prices are no errors: their logarithms have to be far out as well
        unit = 0.0 if values[0] > 0 else median or high
        scales.append(np.log(values + unit))
        log_low, log_high = (float(value) for value in np.quantile(scales[1], [0.25, 0.75]))
        reach = 3 * (log_high - log_low)
        outer = math.exp(log_low - reach) - unit, math.exp(min(log_high + reach, 700)) - unit
        limits = min(limits[0], outer[0]), max(limits[1], outer[1])
        below, above = values < limits[0], values > limits[1]
    count = int(below.sum() + above.sum())
    if not 0 < count <= max(FEW, MAX_OUTLIER_SHARE * len(values)):
        return False
    # In a short table these few would tell how long the tail is: it is looked at without them.
    left_out = 0 if count <= MAX_OUTLIER_SHARE * len(values) else count
    far_below, far_above = (
        all(has_far(side * scale[:: int(side)], len(values), left_out) for scale in scales) for side in (1, -1)
    )
    below, above = below & far_below, above & far_above
    count = int(below.sum() + above.sum())
    reach = _reach(values, limits)
    if not count or reach < (MIN_REACH_OF_FEW if left_out else MIN_REACH):
        return False
    search.add(
        "outliers",
        (name,),
        reach / (reach + 3),
        0.0,
        n=len(values),
        count=count,
        low=-short_between(-values[~below].min(), -values[below].max()) if below.any() else None,
        high=short_between(values[~above].max(), values[above].min()) if above.any() else None,
        lowest=float(values[0]),
        highest=float(values[-1]),
        median=median,
    )
    return True


def short_between(low: float, high: float) -> float:
    """Return the number of fewest digits that is at least `low` and below `high`."""
    for digits in range(1, 18):
        step = 10.0 ** (math.floor(math.log10(max(abs(low), abs(high)))) + 1 - digits)
        for place in (math.ceil(low / step), math.floor(high / step)):
            number = float(f"{place * step:.{digits + 1}g}")
            if low <= number < high:
                return number
    return low


def has_far(values: Any, rows: int, left_out: int = 0) -> bool:
    """Check that the lowest value is below both limits: of the quartiles, and of the tail without some of them."""
    low, high = np.quantile(values, [0.25, 0.75])
    return bool(values[0] < min(low - 3 * (high - low), lower_tail(values[left_out:], rows)))


def _reach(values: Any, limits: tuple[float, float]) -> float:
    spread = (limits[1] - limits[0]) / 7
    return float(max(limits[0] - values[0], values[-1] - limits[1]) / spread)


def _skewness(values: Any) -> float:
    return float((standardize(values) ** 3).mean())


def _find_skew(name: str, values: Any, search: Search) -> None:
    mean, median, skewness = float(values.mean()), float(np.median(values)), _skewness(values)
    spread = float(values.std())
    if abs(skewness) > 2 and abs(mean - median) > 0.3 * abs(median) and abs(mean - median) > 0.1 * spread:
        effect = abs(mean - median) / spread
        ends = {"lowest": float(values[0]), "highest": float(values[-1])}
        search.add("skew", (name,), effect, 0.0, n=len(values), mean=mean, median=median, skewness=skewness, **ends)


def find_gaps(table: Table, search: Search) -> None:
    """Find holes in the dates covered."""
    for name in table.with_role("date"):
        days = table.every_day(name)
        days = np.unique(np.floor(days[~np.isnan(days)]))
        if len(days) >= MIN_DATES and not search.is_over():
            search.tried += 1
            _find_gaps_of(name, days, search)


def _find_gaps_of(name: str, days: Any, search: Search) -> None:
    steps = np.diff(days)
    order = np.argsort(steps)
    usual, largest = float(np.median(steps)), float(steps[order[max(0, len(steps) - 4)]])
    rest = steps[steps <= largest]
    spread = float(rest.mean())
    regular = largest <= 1.5 * usual and len(steps) >= 30
    for place in order[:-4:-1]:
        step = float(steps[place])
        chance = _gap_chance(step, spread, len(steps))
        stands_out = step >= (1.9 if regular else 3.5) * largest
        if step < 5 or step < 2 * usual or not (stands_out or (step >= 2 * largest and chance <= 1e-4)):
            break
        search.add(
            "gap",
            (name,),
            (step - 1) / float(days[-1] - days[0]),
            chance,
            n=len(days),
            start=iso_day(days[place]),
            end=iso_day(days[place + 1]),
            days=int(step) - 1,
            usual_days=usual,
        )


def _gap_chance(step: float, spread: float, steps: int) -> float:
    """Return how probable a step of this size is, if days with rows come independently of each other."""
    if spread <= 1:
        return 0.0
    return min(1.0, steps * math.exp((step - 1) * math.log1p(-1 / spread)))
