"""Values and row counts by period: days, weeks, months, quarters or years."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

PERIODS = ("D", "W", "M", "Q", "Y")
MIN_PERIODS, MAX_PERIODS = 8, 400
MIN_FILLED = 0.7
MONDAY = 3
"""1 January 1970 was a Thursday: weeks begin on Mondays so many days before."""


@dataclass(frozen=True)
class Series:
    """One value per period that has rows, in order of time."""

    period: str
    places: Any
    """Numbers of the periods; not all follow each other without a hole."""
    ranks: Any
    """Means of standard ranks, or counts."""
    values: Any
    """Means of the numbers, or counts."""
    spread: float
    """Standard deviation of what `ranks` are means of; 0 for counts."""


def period_of(days: Any, period: str) -> Any:
    """Return the number of the period of each day, counted from 1970."""
    if period == "D":
        return np.floor(days).astype(np.int64)
    if period == "W":
        return (np.floor(days).astype(np.int64) + MONDAY) // 7
    months = np.floor(days).astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return months // {"M": 1, "Q": 3, "Y": 12}[period]


def start_of(place: int, period: str) -> str:
    """Return the first day of a period as an ISO date."""
    if period in ("D", "W"):
        return str(np.datetime64(place if period == "D" else place * 7 - MONDAY, "D"))
    month = place * {"M": 1, "Q": 3, "Y": 12}[period]
    return str(np.datetime64(month, "M").astype("datetime64[D]"))


def choose_period(days: Any) -> str:
    """Return the finest period of which there are enough, not too many, and few without rows; else nothing."""
    return next(covered_periods(days), "")


def covered_periods(days: Any) -> Iterator[str]:
    """Yield the periods of which there are enough, not too many, and few without rows, the finest first."""
    for period in PERIODS:
        places = period_of(days, period)
        count = int(places.max() - places.min()) + 1
        if MIN_PERIODS <= count <= MAX_PERIODS and len(np.unique(places)) >= MIN_FILLED * count:
            yield period


def steps_of_years(days: Any) -> str:
    """Return years where a table has every second, fifth or tenth one, as of a census; else nothing."""
    years = np.unique(period_of(days, "Y"))
    step = int(np.gcd.reduce(np.diff(years))) if len(years) > 1 else 1
    count = int(years[-1] - years[0]) // step + 1
    return "Y" if step > 1 and len(years) >= max(MIN_PERIODS, MIN_FILLED * count) else ""


def average(days: Any, ranks: Any, values: Any, period: str) -> Series:
    """Return the means by period; periods with few rows are left out."""
    places = period_of(days, period)
    first = int(places.min())
    counts = np.bincount(places - first)
    kept = np.flatnonzero(counts >= max(1, 0.25 * np.median(counts[counts > 0])))
    by_rank = np.bincount(places - first, weights=ranks)[kept] / counts[kept]
    by_value = np.bincount(places - first, weights=values)[kept] / counts[kept]
    return Series(period, kept + first, by_rank, by_value, float(ranks.std()))


def count(days: Any, period: str) -> Series:
    """Return the rows by period, without those at the ends that are not covered whole."""
    places = period_of(days, period)
    first = int(places.min())
    counts = np.bincount(places - first).astype(float)
    inner = np.arange(len(counts))[1:-1]
    return Series(period, inner + first, counts[inner], counts[inner], 0.0)


def months_of(places: Any, period: str) -> Any:
    """Return the month of the year (0-11) in which each period begins."""
    if period in ("D", "W"):
        days = places if period == "D" else places * 7 - MONDAY
        return period_of(days.astype(float), "M") % 12
    return places * {"M": 1, "Q": 3, "Y": 12}[period] % 12
