"""Tables in which nothing depends on anything."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

KINDS = ("plain", "skewed", "ties", "dates", "walks", "states", "clustered", "daily")


def noise_table(kind: str, seed: int) -> pd.DataFrame:
    """Return a table of 200 to 2,500 rows of independent columns."""
    random = np.random.default_rng([KINDS.index(kind), seed])
    rows = int(random.choice([200, 500, 1000, 2500]))
    return pd.DataFrame(COLUMNS[kind](random, rows))


def _plain(random: np.random.Generator, rows: int) -> dict[str, Any]:
    columns: dict[str, Any] = {f"x{i}": random.normal(size=rows) for i in range(6)}
    columns |= {f"g{i}": random.choice(list("abcdefg")[: i + 2], rows) for i in range(4)}
    columns["flag"] = random.random(rows) < 0.2
    return columns


def _skewed(random: np.random.Generator, rows: int) -> dict[str, Any]:
    return {
        "price": random.lognormal(3, 1, rows),
        "income": random.lognormal(10, 0.5, rows),
        "wait": random.exponential(5, rows),
        "span": random.gamma(2, 3, rows),
        "region": random.choice(["north", "south", "east", "west"], rows, p=[0.6, 0.3, 0.07, 0.03]),
        "plan": random.choice(["free", "paid"], rows, p=[0.9, 0.1]),
        "part": random.beta(0.5, 0.5, rows),
    }


def _ties(random: np.random.Generator, rows: int) -> dict[str, Any]:
    return {
        "visits": random.poisson(2, rows),
        "errors": random.poisson(0.1, rows),
        "calls": random.poisson(30, rows),
        "rating": random.integers(1, 6, rows),
        "score": random.binomial(100, 0.7, rows),
        "rounded": random.normal(50, 10, rows).round(),
        "opened": random.integers(0, 2, rows),
        "size": random.choice(["S", "M", "L", "XL"], rows),
        "gaps": np.where(random.random(rows) < 0.2, np.nan, random.normal(size=rows)),
        "gap_too": np.where(random.random(rows) < 0.3, np.nan, random.normal(size=rows)),
    }


def _dates(random: np.random.Generator, rows: int) -> dict[str, Any]:
    start, days = np.datetime64("2021-03-05", "s"), int(random.choice([90, 400, 1200]))
    return {
        "at": start + random.integers(0, days * 86400, rows).astype("timedelta64[s]"),
        "born": np.datetime64("1960-01-01", "D") + random.integers(0, 15000, rows).astype("timedelta64[D]"),
        "amount": random.lognormal(3, 1, rows),
        "delay": random.normal(size=rows),
        "items": random.poisson(3, rows),
        "shop": random.choice(["a", "b", "c", "d", "e"], rows),
        "returned": random.random(rows) < 0.1,
    }


def _walks(random: np.random.Generator, rows: int) -> dict[str, Any]:
    return {
        "day": pd.date_range("2020-01-01", periods=rows, freq="D"),
        "w1": random.normal(size=rows).cumsum(),
        "w2": random.normal(size=rows).cumsum(),
        "w3": 100 * np.exp(0.01 * random.normal(size=rows).cumsum()),
        "level": _autoregressive(random, rows, 0.8),
        "mild": _autoregressive(random, rows, 0.4),
        "white": random.normal(size=rows),
        "kind": random.choice(["a", "b", "c"], rows),
    }


def _states(random: np.random.Generator, rows: int) -> dict[str, Any]:
    """Rows in sequence without a date: categories that stay for a while."""
    return {
        "mode": _staying(random, rows, 3),
        "state": _staying(random, rows, 4),
        "open": _staying(random, rows, 2) == "s1",
        "load": random.normal(size=rows).cumsum(),
        "heat": _autoregressive(random, rows, 0.9),
        "white": random.normal(size=rows),
        "kind": random.choice(["a", "b", "c"], rows),
    }


def _clustered(random: np.random.Generator, rows: int) -> dict[str, Any]:
    """Many rows a day, and values that belong to the day."""
    days = max(30, rows // 20)
    day = np.sort(random.integers(0, days, rows))
    return {
        "date": np.datetime64("2022-01-01", "D") + day.astype("timedelta64[D]"),
        "rain": _autoregressive(random, days, 0.6)[day],
        "wind": _autoregressive(random, days, 0.3)[day],
        "holiday": (random.random(days) < 0.1)[day],
        "sold": random.poisson(5, rows),
        "paid": random.lognormal(2, 1, rows),
        "till": random.choice(list("ABCD"), rows),
    }


def _daily(random: np.random.Generator, rows: int) -> dict[str, Any]:
    return {
        "day": pd.bdate_range("2018-01-01", periods=rows),
        "seen": random.poisson(20, rows),
        "level": _autoregressive(random, rows, 0.6),
        "noise": random.standard_t(10, rows),
        "team": random.choice(["x", "y"], rows),
    }


def _autoregressive(random: np.random.Generator, rows: int, share: float) -> Any:
    values = random.normal(size=rows)
    for row in range(1, rows):
        values[row] += share * values[row - 1]
    return values


def _staying(random: np.random.Generator, rows: int, levels: int) -> Any:
    changes = random.random(rows) < 0.03
    changes[0] = True
    states = random.integers(0, levels, int(changes.sum()))
    return np.array([f"s{state}" for state in states])[changes.cumsum() - 1]


COLUMNS = {
    "plain": _plain,
    "skewed": _skewed,
    "ties": _ties,
    "dates": _dates,
    "walks": _walks,
    "states": _states,
    "clustered": _clustered,
    "daily": _daily,
}
