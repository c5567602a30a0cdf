"""How columns are drawn: categories, effects in standard deviations, and the usual damage.

Effects are sums of parts in units of the standard deviation of what is left unexplained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

Rng: TypeAlias = np.random.Generator
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.str_]

DAY = np.timedelta64(1, "D")


def levels(rng: Rng, rows: int, shares: Mapping[str, float]) -> Words:
    """Return categories drawn with the shares."""
    weights = np.array(list(shares.values()))
    return np.array(list(shares))[rng.choice(len(shares), size=rows, p=weights / weights.sum())]


def linked(rng: Rng, given: Words, shares: Mapping[str, Mapping[str, float]]) -> Words:
    """Return categories whose shares depend on another column."""
    drawn = np.empty(len(given), dtype="U40")
    for level, of_level in shares.items():
        chosen = given == level
        drawn[chosen] = levels(rng, int(chosen.sum()), of_level)
    return drawn


def by_level(given: Words, sizes: Mapping[str, float], rest: float = 0.0) -> Floats:
    """Return the number that belongs to each row's level, `rest` where it has none."""
    return np.array([sizes.get(str(level), rest) for level in given], dtype=np.float64)


def standard(values: npt.ArrayLike) -> Floats:
    """Return the values with mean 0 and standard deviation 1."""
    as_floats = np.asarray(values, dtype=np.float64)
    return np.asarray((as_floats - as_floats.mean()) / as_floats.std(), dtype=np.float64)


def pull(values: npt.ArrayLike, r: float) -> Floats:
    """Return the part that, with noise of size 1, gives a correlation of r."""
    return np.asarray(standard(values) * (r / np.sqrt(1 - r * r)), dtype=np.float64)


def valley(values: npt.ArrayLike, size: float) -> Floats:
    """Return a U over the values, of standard deviation `size`, without a slope."""
    return standard(standard(values) ** 2) * size


def latent(rng: Rng, rows: int, *parts: Floats) -> Floats:
    """Return the sum of the parts and noise of size 1."""
    return np.asarray(sum(parts, np.zeros(rows)) + rng.normal(size=rows), dtype=np.float64)


def chance(rng: Rng, probability: Floats) -> Flags:
    """Return true with each row's probability."""
    return np.asarray(rng.random(len(probability)) < probability, dtype=np.bool_)


def days(rng: Rng, rows: int, first: str, span: int) -> pd.DatetimeIndex:
    """Return sorted random days in a span of days."""
    return pd.DatetimeIndex(np.datetime64(first, "s") + np.sort(rng.integers(0, span, rows)) * DAY)


def moments(rng: Rng, rows: int, first: str, span: int) -> pd.DatetimeIndex:
    """Return sorted random minutes in a span of days."""
    return pd.DatetimeIndex(
        np.datetime64(first, "s") + np.sort(rng.integers(0, span * 1440, rows)) * np.timedelta64(1, "m")
    )


def without(when: pd.DatetimeIndex, start: str, length: int) -> pd.DatetimeIndex:
    """Return the times without those of a span of days, so that a gap is left."""
    since = pd.Timestamp(start)
    return when[(when < since) | (when >= since + pd.Timedelta(days=length))]


def elapsed(when: pd.DatetimeIndex) -> Floats:
    """Return the days since the first time."""
    return np.asarray((when - when.min()) / pd.Timedelta(days=1), dtype=np.float64)


def ramp(when: pd.DatetimeIndex, size: float) -> Floats:
    """Return a straight rise by `size` from the first time to the last."""
    since = elapsed(when)
    return np.asarray((since / since.max() - 0.5) * size, dtype=np.float64)


def step(when: pd.DatetimeIndex, at: str, size: float) -> Floats:
    """Return `size` from a day on, 0 before."""
    return np.asarray(np.where(when >= pd.Timestamp(at), size, 0.0), dtype=np.float64)


def yearly(when: pd.DatetimeIndex, size: float, peak_day: int) -> Floats:
    """Return a wave over the year with its highest point at a day of the year."""
    return np.asarray(
        size * np.cos((when.day_of_year.to_numpy() - peak_day) * 2 * np.pi / 365.25), dtype=np.float64
    )


def weekend(when: pd.DatetimeIndex, size: float) -> Floats:
    """Return `size` on Saturdays and Sundays, 0 on the other days."""
    return np.where(when.day_of_week.to_numpy() >= 5, size, 0.0)


def daily(when: pd.DatetimeIndex, size: float, peak_hour: int) -> Floats:
    """Return a wave over the hours of the day."""
    return np.asarray(size * np.cos((when.hour.to_numpy() - peak_hour) * 2 * np.pi / 24), dtype=np.float64)


def steps_of(values: Floats, shares: tuple[float, ...]) -> Ints:
    """Return the values as ranks from 1, as ratings are, with the shares."""
    cuts = np.quantile(values, np.cumsum(shares)[:-1] / sum(shares))
    return np.asarray(np.searchsorted(cuts, values) + 1, dtype=np.int64)


def numbered(rng: Rng, rows: int, form: str, start: int = 1) -> list[str]:
    """Return unique identifiers in random order."""
    return [form.format(number) for number in rng.permutation(rows) + start]


def codes(rng: Rng, rows: int, form: str, size: int) -> list[str]:
    """Return identifiers of which each stands in several rows."""
    return [form.format(number) for number in rng.integers(1, size + 1, rows)]


def blank(values: npt.ArrayLike | pd.Series, gone: Flags) -> pd.Series:
    """Return the values without those that are gone."""
    return pd.Series(values).mask(pd.Series(gone))


def some(rng: Rng, rows: int, share: float) -> Flags:
    """Return true for a share of the rows, at least three."""
    flags = np.zeros(rows, dtype=np.bool_)
    flags[rng.choice(rows, size=max(3, round(rows * share)), replace=False)] = True
    return flags


def doubled(rng: Rng, frame: pd.DataFrame, share: float) -> pd.DataFrame:
    """Return the table with a share of its rows once more, each somewhere behind the first."""
    again = frame[some(rng, len(frame), share)]
    return pd.concat([frame, again]).sort_index(kind="stable").reset_index(drop=True)


def repeated(rng: Rng, ids: list[str], share: float) -> list[str]:
    """Return the ids where a share of the rows has the id of the row before."""
    again = some(rng, len(ids), share)
    again[0] = False
    return [ids[at - 1] if again[at] else ids[at] for at in range(len(ids))]
