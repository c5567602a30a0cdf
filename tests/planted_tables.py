"""Tables with one thing to find each, beside columns of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

Columns = dict[str, Any]
ROWS = 2000


def planted_table(name: str, seed: int = 0) -> pd.DataFrame:
    """Return the table of one case."""
    random = np.random.default_rng(seed)
    columns: Columns = {
        "noise": random.normal(size=ROWS),
        "long": random.lognormal(size=ROWS),
        "kind": random.choice(list("pqr"), ROWS),
    }
    frame = pd.DataFrame(columns | CASES[name](random, random.normal(size=ROWS)))
    return pd.concat([frame, frame.iloc[7:27]], ignore_index=True) if name == "duplicates" else frame


def _moments(random: np.random.Generator, days: int = 730) -> Any:
    return np.datetime64("2021-03-05", "s") + random.integers(0, days * 86400, ROWS).astype("timedelta64[s]")


def _elapsed(moments: Any) -> Any:
    return (moments - moments.min()) / (moments.max() - moments.min())


def _duplicates(random: np.random.Generator, z: Any) -> Columns:
    return {}


def _repeated_id(random: np.random.Generator, z: Any) -> Columns:
    ids = np.arange(5000, 5000 + ROWS)
    ids[[10, 30, 50]] = ids[[11, 31, 51]]
    return {"order_id": random.permutation(ids)}


def _number_text(random: np.random.Generator, z: Any) -> Columns:
    texts = [f"${value:,.2f}" for value in random.lognormal(7, 1, ROWS)]
    texts[3] = "n/a"
    return {"price": texts}


def _date_text(random: np.random.Generator, z: Any) -> Columns:
    return {"sold": pd.Series(_moments(random)).dt.strftime("%d.%m.%Y").tolist()}


def _missing(random: np.random.Generator, z: Any) -> Columns:
    return {"y": np.where(random.random(ROWS) < 0.1, np.nan, z)}


def _missing_by_group(random: np.random.Generator, z: Any) -> Columns:
    group = random.choice(list("abcd"), ROWS)
    return {"g": group, "y": np.where(random.random(ROWS) < np.where(group == "b", 0.3, 0.05), np.nan, z)}


def _missing_together(random: np.random.Generator, z: Any) -> Columns:
    absent = random.random(ROWS) < 0.04
    text = np.where(absent, None, random.choice(list("uvw"), ROWS))  # type: ignore[call-overload]
    return {"x": np.where(absent, np.nan, z), "t": text}


def _gap(random: np.random.Generator, z: Any) -> Columns:
    day = pd.date_range("2015-01-01", periods=ROWS + 12)
    return {"day": day.delete(list(range(700, 712)))}


def _outliers(random: np.random.Generator, z: Any) -> Columns:
    values = 100 + 5 * z
    values[random.choice(ROWS, 10, replace=False)] = random.choice([160.0, 190.0], 10)
    return {"y": values}


def _long_outliers(random: np.random.Generator, z: Any) -> Columns:
    values = np.exp(3 + 0.8 * z)
    values[random.choice(ROWS, 6, replace=False)] *= 10_000
    return {"y": values}


def _negative(random: np.random.Generator, z: Any) -> Columns:
    values = random.integers(18, 80, ROWS)
    values[random.choice(ROWS, 8, replace=False)] *= -1
    return {"age": values}


def _sentinel(random: np.random.Generator, z: Any) -> Columns:
    values = random.integers(18, 80, ROWS)
    values[random.choice(ROWS, 20, replace=False)] = 999
    return {"age": values}


def _skew(random: np.random.Generator, z: Any) -> Columns:
    return {"income": np.exp(10 + 1.2 * z)}


def _group(random: np.random.Generator, z: Any) -> Columns:
    group = random.choice(list("abcde"), ROWS)
    return {"g": group, "y": z + 0.4 * (group == "c")}


def _line(random: np.random.Generator, z: Any) -> Columns:
    x = random.normal(size=ROWS)
    return {"x": x, "y": 0.3 * x + 0.95 * z}


def _curve(random: np.random.Generator, z: Any) -> Columns:
    x = random.uniform(-1, 1, ROWS)
    return {"x": x, "y": 1.5 * x * x + z}


def _association(random: np.random.Generator, z: Any) -> Columns:
    a = random.choice(list("abc"), ROWS)
    like = np.char.upper(a)
    return {"a": a, "b": np.where(random.random(ROWS) < 0.22, like, random.choice(list("ABC"), ROWS))}


def _trend(random: np.random.Generator, z: Any) -> Columns:
    at = _moments(random)
    return {"at": at, "y": z + _elapsed(at)}


def _group_trend(random: np.random.Generator, z: Any) -> Columns:
    at, group = _moments(random), random.choice(list("abc"), ROWS)
    return {
        "at": at,
        "g": group,
        "y": z + (_elapsed(at) - 0.5) * np.select([group == "a", group == "b"], [1.2, -1.2], 0),
    }


def _row_trend(random: np.random.Generator, z: Any) -> Columns:
    days = (700 * np.sqrt(random.uniform(0.05, 1, ROWS))).astype("timedelta64[D]")
    return {"day": np.datetime64("2021-03-01", "D") + days}


def _weekday(random: np.random.Generator, z: Any) -> Columns:
    at = _moments(random)
    return {"at": at, "y": z + 1.0 * np.isin(pd.Series(at).dt.day_of_week, [5, 6])}


def _month(random: np.random.Generator, z: Any) -> Columns:
    at = _moments(random, 1100)
    return {"at": at, "y": z + 0.7 * np.sin(2 * np.pi * pd.Series(at).dt.month / 12)}


def _hour(random: np.random.Generator, z: Any) -> Columns:
    at = _moments(random, 60)
    return {"at": at, "y": z + 0.7 * np.sin(2 * np.pi * pd.Series(at).dt.hour / 24)}


def _break(random: np.random.Generator, z: Any) -> Columns:
    at = _moments(random)
    return {"at": at, "y": z + (_elapsed(at) > 0.6)}


def _simpson(random: np.random.Generator, z: Any) -> Columns:
    stratum = random.choice(list("ABC"), ROWS)
    chance = np.select([stratum == "A", stratum == "B"], [0.8, 0.5], 0.2)
    group = np.where(random.random(ROWS) < chance, "a", "b")
    y = z + 2.2 * (stratum == "A") + 1.1 * (stratum == "B") - 0.45 * (group == "a")
    return {"s": stratum, "g": group, "y": y}


def _simpson_line(random: np.random.Generator, z: Any) -> Columns:
    stratum = random.integers(0, 4, ROWS)
    x = random.normal(size=ROWS) + 1.5 * stratum
    return {"s": np.array(list("ABCD"))[stratum], "x": x, "y": z + 2.1 * stratum - 0.5 * x}


def _interaction(random: np.random.Generator, z: Any) -> Columns:
    stratum, group = random.choice(list("AB"), ROWS), random.choice(list("ab"), ROWS)
    return {"s": stratum, "g": group, "y": z + np.where(group == "a", np.where(stratum == "A", 0.8, -0.4), 0)}


def _slopes(random: np.random.Generator, z: Any) -> Columns:
    stratum, x = random.choice(list("ABC"), ROWS), random.normal(size=ROWS)
    return {"s": stratum, "x": x, "y": z + np.where(stratum == "A", 0.9, np.where(stratum == "B", -0.3, 0.2)) * x}


def _ratio(random: np.random.Generator, z: Any) -> Columns:
    kg = np.exp(random.normal(1, 1.2, ROWS))
    euro = kg * 20 * np.exp(0.1 * random.normal(size=ROWS))
    euro[[5, 70, 900]] *= 100
    return {"kg": kg, "euro": euro}


def _same(random: np.random.Generator, z: Any) -> Columns:
    distance = random.uniform(1, 100, ROWS)
    return {"km": distance, "miles": 0.621371 * distance}


CASES = {
    "duplicates": _duplicates,
    "repeated id": _repeated_id,
    "number text": _number_text,
    "date text": _date_text,
    "missing": _missing,
    "missing by group": _missing_by_group,
    "missing together": _missing_together,
    "gap": _gap,
    "outliers": _outliers,
    "long outliers": _long_outliers,
    "negative": _negative,
    "sentinel": _sentinel,
    "ratio": _ratio,
    "skew": _skew,
    "group": _group,
    "line": _line,
    "curve": _curve,
    "association": _association,
    "trend": _trend,
    "group trend": _group_trend,
    "row trend": _row_trend,
    "weekday": _weekday,
    "month": _month,
    "hour": _hour,
    "break": _break,
    "simpson": _simpson,
    "simpson line": _simpson_line,
    "interaction": _interaction,
    "slopes": _slopes,
    "same": _same,
}
