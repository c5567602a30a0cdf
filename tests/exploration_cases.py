"""Tables that show something, with the finding as the search in the sandbox would report it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.types.exploration import Exploration, Finding, FindingKind

ROWS = 2000


@dataclass(frozen=True, kw_only=True)
class Case:
    """Tables of pandas, and what is found in the first of them."""

    tables: dict[str, pd.DataFrame]
    kind: str
    columns: list[str]
    facts: dict[str, Any]
    others: list[dict[str, Any]] = field(default_factory=list)
    """Further findings that the program may look at."""


def frames(case: Case, library: str) -> dict[str, Any]:
    """Return the tables as one of the libraries has them."""
    if library == "pandas":
        return {name: table.copy() for name, table in case.tables.items()}
    return {name: pl.from_pandas(table) for name, table in case.tables.items()}


def exploration_of(case: Case, library: str) -> Exploration:
    """Return the exploration, read from the text that the sandbox would send."""
    tables = frames(case, library)
    finding = {
        "kind": case.kind,
        "table": next(iter(tables)),
        "columns": case.columns,
        "effect": 0.5,
        "p_value": 0.0,
    }
    report = {
        "tables": [overview_of(name, table, library) for name, table in tables.items()],
        "findings": [finding | {"facts": case.facts}, *case.others],
        "tried": 10,
    }
    return read_report(json.dumps(report), {name: list(map(str, table.columns)) for name, table in tables.items()})


def finding_of(case: Case, library: str = "pandas") -> tuple[Finding, Exploration]:
    """Return the finding as it was read, with its exploration."""
    exploration = exploration_of(case, library)
    return exploration.findings[0], exploration


def overview_of(name: str, table: Any, library: str) -> dict[str, Any]:
    """Return the overview that the sandbox would make."""
    pandas = table if library == "pandas" else table.to_pandas()
    types = (
        table.dtypes.astype(str).to_dict() if library == "pandas" else {k: str(v) for k, v in table.schema.items()}
    )
    return {
        "table": name,
        "library": library,
        "rows": len(table),
        "columns": [
            {
                "name": column,
                "type": types[column],
                "role": role_of(pandas[column]),
                "missing": int(pandas[column].isna().sum()),
                "distinct": int(pandas[column].nunique()),
            }
            for column in map(str, pandas.columns)
        ],
        "keys": [],
    }


def role_of(column: Any) -> str:
    """Return the role of a column, roughly."""
    if pd.api.types.is_bool_dtype(column):
        return "flag"
    if pd.api.types.is_numeric_dtype(column):
        return "number"
    return "date" if pd.api.types.is_datetime64_any_dtype(column) else "category"


def _random() -> np.random.Generator:
    return np.random.default_rng(7)


def _with_gaps(values: Any, share: float = 0.05) -> Any:
    values = np.asarray(values, dtype=float).copy()
    values[_random().random(len(values)) < share] = np.nan
    return values


def grouped(levels: list[Any], value: str = "delay", group: str = "carrier", rows: int = ROWS) -> Case:
    """Return a value whose means differ between these levels."""
    random = _random()
    codes = random.integers(0, len(levels), rows)
    table = pd.DataFrame(
        {value: _with_gaps(10 + 3 * codes + random.gamma(2, 5, rows)), group: pd.Series(levels)[codes].to_numpy()}
    )
    by = table.dropna().groupby(group, observed=True)[value].agg(["mean", "count"]).query("count >= 10")
    by = by.sort_values("mean")
    facts = {
        "highest": str(by.index[-1]),
        "lowest": str(by.index[0]),
        "highest_mean": float(by["mean"].iloc[-1]),
        "lowest_mean": float(by["mean"].iloc[0]),
        "highest_n": int(by["count"].iloc[-1]),
        "lowest_n": int(by["count"].iloc[0]),
        "levels": len(by),
        "n": int(by["count"].sum()),
    }
    return Case(tables={"flights": table}, kind="group_difference", columns=[value, group], facts=facts)


def correlated(curve: bool = False, rows: int = ROWS, x: str = "distance", y: str = "air time") -> Case:
    """Return two numbers that rise together, or follow each other in a curve."""
    random = _random()
    values = random.normal(20, 8, rows)
    other = (values - 18) ** 2 if curve else values * 3
    table = pd.DataFrame({x: _with_gaps(values), y: other + random.normal(0, 20, rows)})
    r = float(table.corr("spearman").to_numpy()[0, 1])
    facts = {
        "r": r,
        "form": "curve" if curve else "line",
        "peak": 18.2 if curve else None,
        "n": len(table.dropna()),
    }
    return Case(tables={"flights": table}, kind="correlation", columns=[x, y], facts=facts)


def associated(
    levels: list[Any], a: str = "carrier", b: str = "origin", outcomes: tuple[Any, ...] = ("EWR", "JFK")
) -> Case:
    """Return two categories that go together."""
    random = _random()
    codes = random.integers(0, len(levels), ROWS)
    first = random.random(ROWS) < 0.2 + 0.6 * codes / len(levels)
    values = np.where(first, 0, 1)
    table = pd.DataFrame({a: pd.Series(levels)[codes].to_numpy(), b: pd.Series(outcomes)[values].to_numpy()})
    share = (table[b] == outcomes[0]).groupby(table[a]).mean()
    facts = {
        "a_level": str(share.idxmax()),
        "b_level": str(outcomes[0]),
        "share_in": float(share.max()),
        "share_all": float((table[b] == outcomes[0]).mean()),
        "levels_a": len(levels),
        "levels_b": len(outcomes),
        "n": ROWS,
    }
    return Case(tables={"flights": table}, kind="association", columns=[a, b], facts=facts)


def missing_by(levels: list[Any], value: str = "delay", group: str = "carrier") -> Case:
    """Return a value that one group often lacks."""
    random = _random()
    codes = random.integers(0, len(levels), ROWS)
    values = random.normal(10, 3, ROWS)
    values[(random.random(ROWS) < 0.02) | ((codes == 0) & (random.random(ROWS) < 0.4))] = np.nan
    table = pd.DataFrame({value: values, group: pd.Series(levels)[codes].to_numpy()})
    inside = table[value].isna()[codes == 0].mean()
    facts = {
        "level": str(levels[0]),
        "rate_in": float(inside),
        "rate_out": float(table[value].isna()[codes != 0].mean()),
        "levels": len(levels),
        "n": ROWS,
    }
    return Case(tables={"flights": table}, kind="missing_by_group", columns=[value, group], facts=facts)


def _days(rows: int = ROWS) -> pd.DatetimeIndex:
    days = pd.date_range("2021-01-01", "2023-12-31", freq="D")
    return days[np.sort(_random().integers(0, len(days), rows))] + pd.to_timedelta(
        _random().integers(0, 24, rows), "h"
    )


def _period_starts(times: Any, period: str) -> Any:
    return times.dt.to_period(period).dt.start_time


def over_time(kind: str, counts: bool = False, period: str = "M", tz: str | None = None) -> Case:
    """Return a value, or a number of rows, that changes over time."""
    random = _random()
    times = pd.Series(_days())
    at = pd.Timestamp("2022-07-01")
    if counts:
        keep = (times >= at) | (random.random(ROWS) < 0.4)
        times = times[keep].reset_index(drop=True)
    elapsed = (times - times.min()).dt.days
    level = elapsed / 100 if kind == "trend" else np.where(times >= at, 8.0, 3.0)
    table = pd.DataFrame({"dep time": times, "delay": _with_gaps(level + random.normal(0, 1, len(times)))})
    known = table if counts else table.dropna()
    by = known.groupby(_period_starts(known["dep time"], period))
    series = by["delay"].mean()[by.size() >= by.size().median() / 4]
    if counts and period == "W":
        series = known.resample("W-MON", closed="left", label="left", on="dep time").size().iloc[1:-1]
    elif counts:
        series = known.resample("MS", on="dep time").size().iloc[1:-1]
    quarter = max(len(series) // 4, 1)
    facts: dict[str, Any] = {"period": period, "n": len(known)}
    if kind == "trend":
        facts |= {
            "periods": len(series),
            "first": float(series[:quarter].mean()),
            "last": float(series[-quarter:].mean()),
            "r": 0.8,
        }
    else:
        facts |= {"at": "2022-07-01", "before": float(series[series.index < at].mean())}
        facts |= {"after": float(series[series.index >= at].mean())}
    if tz:
        table["dep time"] = table["dep time"].dt.tz_localize(tz, ambiguous="NaT", nonexistent="NaT")
    return Case(tables={"flights": table}, kind=kind, columns=["" if counts else "delay", "dep time"], facts=facts)


def group_over_time(levels: list[Any], period: str = "M") -> Case:
    """Return a value that rises in the first level, falls in the second and stays in the others."""
    random = _random()
    times = pd.Series(_days())
    code = random.integers(0, len(levels), ROWS)
    slope = np.where(code == 0, 1.0, np.where(code == 1, -0.5, 0.0))
    years = (times - times.min()).dt.days / 365
    delay = _with_gaps(20 + 3 * slope * years + random.normal(0, 1, ROWS))
    table = pd.DataFrame({"dep time": times, "delay": delay, "carrier": pd.Series(levels)[code].to_numpy()})
    known = table.dropna()
    by = known.groupby([_period_starts(known["dep time"], period), "carrier"])["delay"].mean().unstack()
    first, last = by.iloc[: len(by) // 4].mean(), by.iloc[-(len(by) // 4) :].mean()
    facts: dict[str, Any] = {"period": period, "n": len(known)}
    for end, level in (("high", levels[0]), ("low", levels[1])):
        facts |= {
            f"level_{end}": str(level),
            f"first_{end}": float(first[level]),
            f"last_{end}": float(last[level]),
        }
    return Case(
        tables={"flights": table}, kind="group_trend", columns=["delay", "dep time", "carrier"], facts=facts
    )


def seasonal(cycle: str, counts: bool = False, text: str = "") -> Case:
    """Return a value, or a number of rows, that repeats a pattern."""
    random = _random()
    times = pd.Series(_days())
    part = {"hour": times.dt.hour, "weekday": times.dt.day_of_week, "month": times.dt.month}[cycle]
    if counts:
        keep = (part != int(part.mode()[0])) | (random.random(ROWS) < 0.3)
        times, part = times[keep].reset_index(drop=True), part[keep].reset_index(drop=True)
    table = pd.DataFrame(
        {"when": times, "delay": _with_gaps(5 + np.sin(part) * 3 + random.normal(0, 1, len(times)))}
    )
    known = table if counts else table.dropna()
    if counts:
        per = table.resample({"hour": "h", "weekday": "D", "month": "MS"}[cycle], on="when").size()
        index = pd.Series(per.index)
        keys = {"hour": index.dt.hour, "weekday": index.dt.day_of_week, "month": index.dt.month}[cycle]
        means = per.groupby(keys.to_numpy()).mean()
    else:
        means = known["delay"].groupby(part[known.index]).mean()
    facts = {
        "cycle": cycle,
        "highest": int(means.to_numpy().argmax()) + (cycle == "month"),
        "lowest": int(means.to_numpy().argmin()) + (cycle == "month"),
        "highest_mean": float(means.max()),
        "lowest_mean": float(means.min()),
        "n": len(known),
    }
    others = []
    if text:
        table["when"] = table["when"].dt.strftime(text)
        others = [text_type_finding("when", text)]
    columns = ["" if counts else "delay", "when"]
    return Case(tables={"flights": table}, kind="season", columns=columns, facts=facts, others=others)


def text_type_finding(column: str, form: str) -> dict[str, Any]:
    """Return the finding that a column of text holds dates."""
    facts = {"meant": "date", "share": 1.0, "other": [], "format": form, "n": ROWS}
    return {
        "kind": "text_type",
        "table": "flights",
        "columns": [column],
        "effect": 1.0,
        "p_value": 0.0,
        "facts": facts,
    }


def three_ways(kind: str, strata: list[Any], levels: tuple[Any, Any] = ("A", "B")) -> Case:
    """Return groups whose difference turns round, or differs, within strata."""
    random = _random()
    stratum = random.integers(0, len(strata), ROWS)
    if kind == "reversal":
        first = random.random(ROWS) < 0.15 + 0.7 * stratum / max(len(strata) - 1, 1)
        value = 10 * stratum - 3 * first + random.normal(0, 1, ROWS)
    else:
        first = random.random(ROWS) < 0.5
        value = first * (stratum - len(strata) / 2 + 0.5) * 4 + 20 + random.normal(0, 1, ROWS)
    table = pd.DataFrame(
        {
            "pay": _with_gaps(value),
            "group": pd.Series(levels)[(~first).astype(int)].to_numpy(),
            "field": pd.Series(strata)[stratum].to_numpy(),
        }
    )
    known = table.dropna()
    overall = known.groupby("group")["pay"].mean()
    means = known.groupby(["field", "group"])["pay"].mean().unstack()
    difference = means[levels[0]] - means[levels[1]]
    facts: dict[str, Any] = {"a": str(levels[0]), "b": str(levels[1]), "n": len(known)}
    if kind == "reversal":
        facts |= {"overall": float(overall[levels[0]] - overall[levels[1]]), "within": float(difference.mean())}
        facts |= {"strata": len(strata), "agreeing": int((difference < 0).sum())}
    else:
        high, low = difference.idxmax(), difference.idxmin()
        facts |= {"level_high": str(high), "difference_high": float(difference[high])}
        facts |= {"level_low": str(low), "difference_low": float(difference[low])}
    return Case(tables={"staff": table}, kind=kind, columns=["pay", "group", "field"], facts=facts)


def turned_correlation(strata: int = 4) -> Case:
    """Return two numbers that fall together within strata, and rise over all of them."""
    random = _random()
    stratum = random.integers(0, strata, ROWS)
    x = stratum * 3 + random.normal(0, 1, ROWS)
    y = stratum * 8 - 2 * x + random.normal(0, 1, ROWS)
    table = pd.DataFrame({"y": _with_gaps(y), "x": x, "field": pd.Series(list("pqrstuvwxyz"))[stratum].to_numpy()})
    facts = {
        "a": "",
        "b": "",
        "overall": float(table[["x", "y"]].corr("spearman").to_numpy()[0, 1]),
        "within": -0.9,
        "strata": strata,
    }
    facts |= {"agreeing": strata, "n": ROWS}
    return Case(tables={"staff": table}, kind="reversal", columns=["y", "x", "field"], facts=facts)


def slopes() -> Case:
    """Return two numbers that rise together in one stratum, and fall in another."""
    random = _random()
    stratum, x = random.integers(0, 3, ROWS), random.normal(0, 1, ROWS)
    y = random.normal(0, 1, ROWS) + np.array([0.9, -0.4, 0.1])[stratum] * x
    table = pd.DataFrame({"y": _with_gaps(y), "x": x, "field": np.array(["p", "q", "r"])[stratum]})
    by_field = table.groupby("field")[["x", "y"]].corr("spearman").xs("x", level=-1)["y"]
    facts = {"a": "", "b": "", "level_high": "p", "level_low": "q", "n": int(table["y"].notna().sum())}
    facts |= {"difference_high": float(by_field["p"]), "difference_low": float(by_field["q"])}
    return Case(tables={"staff": table}, kind="interaction", columns=["y", "x", "field"], facts=facts)


def _plain() -> pd.DataFrame:
    random = _random()
    return pd.DataFrame(
        {
            "id": np.arange(ROWS),
            "price": _with_gaps(random.normal(100, 10, ROWS)),
            "city": random.choice(["Rome", "Oslo"], ROWS),
            "e mail": [f"p{number}@example.org" for number in range(ROWS)],
        }
    )


def quality(kind: str) -> Case:
    """Return a table in which something is wrong."""
    table, facts, columns = _plain(), {"n": ROWS}, ["price"]
    facts |= _SPOILT[kind](table)
    if kind == "duplicates":
        table, columns = pd.concat([table, table.head(12)], ignore_index=True), []
        facts |= {"repeated": 12, "rows": len(table)}
    if kind == "repeated_keys":
        table, columns = pd.concat([table, table.head(12).assign(price=1.0)], ignore_index=True), ["id"]
        facts |= {"repeated": 12, "rows": len(table)}
    if kind == "ratio":
        columns = ["price", "weight"]
    if kind == "missing_together":
        columns = ["price", "weight", "size of it"]
    if kind in {"text_type", "text_date"}:
        columns = ["sum"]
    return Case(tables={"sales": table}, kind=_KINDS.get(kind, kind), columns=columns, facts=facts)


_KINDS = {
    "repeated_keys": "duplicates",
    "text_date": "text_type",
    "sentinel": "impossible",
    "only_negative": "impossible",
    "low": "outliers",
}


def _nothing(table: pd.DataFrame) -> dict[str, Any]:
    return {}


def _missing(table: pd.DataFrame) -> dict[str, Any]:
    return {"missing": int(table["price"].isna().sum()), "rows": ROWS}


def _missing_together(table: pd.DataFrame) -> dict[str, Any]:
    table["weight"] = table["price"] * 2
    table["size of it"] = table["price"] * 3
    table.loc[:5, "size of it"] = np.nan
    return {"missing": int(table[["price", "weight", "size of it"]].isna().all(axis=1).sum())}


def _outliers(table: pd.DataFrame) -> dict[str, Any]:
    table.loc[100:106, "price"] = [500.0, 600, 700, 800, 4000, 5000, 90000.25]
    values = table["price"].dropna()
    return {
        "count": 7,
        "low": None,
        "high": 180.0,
        "lowest": float(values.min()),
        "highest": float(values.max()),
        "median": float(values.median()),
    }


def _low(table: pd.DataFrame) -> dict[str, Any]:
    table.loc[100:103, "price"] = [-500.0, -600, 1200, -300]
    values = table["price"].dropna()
    facts = {"count": 4, "low": -5.0, "high": 180.0, "lowest": -600.0, "highest": 1200.0}
    return facts | {"median": float(values.median())}


def _negative(table: pd.DataFrame) -> dict[str, Any]:
    table.loc[100:111, "price"] *= -1
    wrong = table["price"][table["price"] < 0]
    return {"count": len(wrong), "why": "negative", "value": float(wrong.min())}


def _sentinel(table: pd.DataFrame) -> dict[str, Any]:
    table.loc[100:114, "price"] = -999.0
    return {"count": 15, "why": "sentinel", "value": -999.0}


def _only_negative(table: pd.DataFrame) -> dict[str, Any]:
    table["price"] = table["price"].round()
    table.loc[100:114, "price"] = -1.0
    return {"count": 15, "why": "only negative", "value": -1.0}


def _skew(table: pd.DataFrame) -> dict[str, Any]:
    table["price"] = _random().lognormal(3, 1.5, ROWS)
    return {"mean": float(table["price"].mean()), "median": float(table["price"].median()), "skewness": 8.0}


def _text_number(table: pd.DataFrame) -> dict[str, Any]:
    table["sum"] = [f"€ {value:,.2f}" for value in _random().gamma(2, 900, ROWS)]
    table.loc[: ROWS // 50 - 1, "sum"] = "n/a"
    return {"meant": "number", "share": 0.98, "other": ["n/a"], "format": ""}


def _text_date(table: pd.DataFrame) -> dict[str, Any]:
    table["sum"] = pd.Series(_days()).dt.strftime("%d.%m.%Y")
    return {"meant": "date", "share": 1.0, "other": [], "format": "%d.%m.%Y"}


def _ratio(table: pd.DataFrame) -> dict[str, Any]:
    table["weight"] = table["price"] / _random().normal(20, 1, ROWS)
    table.loc[100:106, "price"] *= 100.0
    table.loc[7, "weight"], table.loc[8, "price"] = 0.0, -1.0
    ratio = (table["price"] / table["weight"])[(table["price"] > 0) & (table["weight"] > 0)]
    return {
        "count": int((ratio > 300).sum()),
        "limit": 300.0,
        "highest": ratio.max(),
        "median": ratio.median(),
        "n": len(ratio),
    }


_SPOILT: dict[str, Callable[[pd.DataFrame], dict[str, Any]]] = {
    "duplicates": _nothing,
    "repeated_keys": _nothing,
    "missing": _missing,
    "missing_together": _missing_together,
    "outliers": _outliers,
    "low": _low,
    "impossible": _negative,
    "ratio": _ratio,
    "sentinel": _sentinel,
    "only_negative": _only_negative,
    "skew": _skew,
    "text_type": _text_number,
    "text_date": _text_date,
}


def gap() -> Case:
    """Return dates with a hole."""
    times: Any = pd.Series(_days())
    times = times[(times < "2022-03-05") | (times > "2022-04-20 23:59")].reset_index(drop=True)
    days = times.dt.normalize()
    start, end = days[days < "2022-03-05"].max(), days[days > "2022-04-20"].min()
    facts = {"start": f"{start:%Y-%m-%d}", "end": f"{end:%Y-%m-%d}", "days": (end - start).days - 1}
    facts |= {"usual_days": 1.0, "n": len(times)}
    return Case(
        tables={"flights": pd.DataFrame({"dep time": times})}, kind="gap", columns=["dep time"], facts=facts
    )


def same(factor: float | None = None, offset: bool = False) -> Case:
    """Return a column that repeats another, or is a multiple of it."""
    table = _plain()
    table["price too"] = table["price"] * (factor or 1)
    share = 1.0
    if factor is None:
        table.loc[:39, "price too"] = 0.0
        pairs = table[["price", "price too"]].dropna()
        share = float((pairs["price"] == pairs["price too"]).mean())
    if offset:
        table["price too"] = table["price"] + 5
    facts = {"share": share, "factor": None if offset else factor or 1.0, "n": ROWS}
    return Case(tables={"sales": table}, kind="same", columns=["price", "price too"], facts=facts)


def joined(unique: bool = True, other_name: bool = False) -> Case:
    """Return tables that join."""
    random = _random()
    left = pd.DataFrame({"tailnum": [f"N{number}" for number in random.integers(0, 500, ROWS)], "delay": 1.0})
    left.loc[:19, "tailnum"] = None
    key = "plane no" if other_name else "tailnum"
    right = pd.DataFrame({key: [f"N{number}" for number in range(400)], "seats": 100})
    if not unique:
        right = pd.concat([right, right.head(30)], ignore_index=True)
    facts = {
        "left": "flights",
        "right": "planes",
        "matched": float(left["tailnum"].isin(right[key]).mean()),
        "right_unique": unique,
        "repeats": 0 if unique else 30,
        "n": ROWS,
    }
    return Case(tables={"flights": left, "planes": right}, kind="join", columns=["tailnum", key], facts=facts)


def joined_by_two(differing: bool = False) -> Case:
    """Return tables that join by station and hour together; or whose names and types differ, and keys repeat."""
    random = _random()
    hours = pd.date_range("2024-01-01", periods=100, freq="h")
    grid = pd.DataFrame({"origin": ["EWR"] * 100 + ["JFK"] * 100 + ["LGA"] * 100, "hour": [*hours] * 3})
    left = grid.iloc[random.integers(0, len(grid), ROWS)].reset_index(drop=True).assign(delay=1.0)
    left.loc[:19, "origin"] = None
    repeats = 7 if differing else 0
    right = grid.iloc[:250].assign(wind=2.0)
    right = pd.concat([right, right.head(repeats)], ignore_index=True)
    pairs = set(zip(right["origin"], right["hour"], strict=True))
    matched = sum(pair in pairs for pair in zip(left["origin"], left["hour"], strict=True)) / ROWS
    keys = ["origin", "hour"]
    if differing:  # polars joins no text with categories
        keys = ["the station", "observed"]
        right = right.astype({"origin": "category"}).rename(columns={"origin": keys[0], "hour": keys[1]})
    facts = {
        "left": "flights",
        "right": "weather",
        "matched": matched,
        "right_unique": not repeats,
        "repeats": repeats,
        "n": ROWS,
    }
    tables = {"flights": left, "weather": right}
    return Case(tables=tables, kind="join", columns=["origin", "hour", *keys], facts=facts)


def spelled(blanks_only: bool = False) -> Case:
    """Return categories of which some are written in another way."""
    ways = ["web ", " web"] if blanks_only else ["Web", "web "]
    table = pd.DataFrame({"channel": _random().choice(["web"] * 5 + ["shop"] * 4 + ways, ROWS)})
    table.loc[:19, "channel"] = None
    facts: dict[str, Any] = {"count": int(table["channel"].isin(ways).sum()), "n": ROWS - 20}
    facts |= {"spelling": None, "usual": None} if blanks_only else {"spelling": "Web", "usual": "web"}
    return Case(tables={"flights": table}, kind="spelling", columns=["channel"], facts=facts)


def spelled_keys(other_name: bool = True) -> Case:
    """Return tables of which one writes some keys in another way."""
    numbers = _random().integers(0, 500, ROWS)
    left = pd.DataFrame({"plane": [f"N-{number:03}" for number in numbers], "delay": 1.0})
    left.loc[:19, "plane"] = None
    key = "plane no" if other_name else "plane"
    right = pd.DataFrame({key: [f"N-{number:03}" for number in range(480)], "seats": 100})
    right.loc[:99, key] = right[key].str.replace("-", " ").str.lower()
    right = pd.concat([right, right.head(5)], ignore_index=True)
    near = int((left["plane"].notna() & (numbers < 100)).sum())
    facts = {"left": "flights", "right": "planes", "count": near, "n": ROWS}
    tables = {"flights": left, "planes": right}
    return Case(tables=tables, kind="key_spelling", columns=["plane", key], facts=facts)


CARRIERS = ["UA", "B6", "EV", "DL", "AA"]
MANY = [f"N{number}" for number in range(30)]
LONG = [f"{letter} quite a long category of forty letters"[:40] for letter in "ABCDE"]
WITHOUT_CHART: frozenset[FindingKind] = frozenset(
    {"duplicates", "text_type", "impossible", "spelling", "same", "join", "key_spelling"}
)
"""Kinds whose program shows a table alone."""
CASES: dict[str, Callable[[], Case]] = {
    "group": lambda: grouped(CARRIERS),
    "group_two": lambda: grouped(["yes", "no"]),
    "group_flag": lambda: grouped([True, False]),
    "group_numbers": lambda: grouped([1, 2, 3]),
    "group_many": lambda: grouped(MANY),
    "group_long": lambda: grouped(LONG),
    "group_category": lambda: categories(grouped(CARRIERS), "carrier"),
    "group_few_rows": lambda: grouped([*CARRIERS, *[f"rare {number}" for number in range(40)]], rows=900),
    "line": correlated,
    "line_many_rows": lambda: correlated(rows=9000),
    "curve": lambda: correlated(curve=True),
    "curve_many_rows": lambda: correlated(curve=True, rows=9000),
    "association": lambda: associated(CARRIERS),
    "association_many": lambda: associated(MANY),
    "association_long": lambda: associated(LONG, outcomes=(LONG[0], LONG[1])),
    "association_flags": lambda: associated([1, 2, 3, 4], outcomes=(True, False)),
    "association_category": lambda: categories(associated(CARRIERS), "carrier", "origin"),
    "missing_by_group": lambda: missing_by(CARRIERS),
    "missing_by_many": lambda: missing_by(MANY),
    "missing_by_flag": lambda: missing_by([True, False]),
    "missing_by_category": lambda: categories(missing_by(CARRIERS), "carrier"),
    "trend": lambda: over_time("trend"),
    "trend_rows": lambda: over_time("trend", counts=True, period="W"),
    "trend_zone": lambda: over_time("trend", tz="Asia/Tokyo"),
    "trend_days": lambda: over_time("trend", period="D"),
    "trend_quarters": lambda: over_time("trend", period="Q"),
    "trend_years": lambda: over_time("trend", period="Y"),
    "group_trend": lambda: group_over_time(CARRIERS),
    "group_trend_days": lambda: group_over_time(["yes", "no"], "D"),
    "group_trend_quarters": lambda: group_over_time([1.0, 2.0, 7.0], "Q"),
    "group_trend_many": lambda: group_over_time(MANY, "Q"),
    "group_trend_long": lambda: group_over_time(LONG),
    "group_trend_category": lambda: categories(group_over_time(["1", "2", "3"]), "carrier"),
    "break": lambda: over_time("break"),
    "break_rows": lambda: over_time("break", counts=True),
    "break_weeks": lambda: over_time("break", period="W"),
    "season_hour": lambda: seasonal("hour"),
    "season_weekday": lambda: seasonal("weekday"),
    "season_month": lambda: seasonal("month"),
    "season_hour_rows": lambda: seasonal("hour", counts=True),
    "season_weekday_rows": lambda: seasonal("weekday", counts=True),
    "season_month_rows": lambda: seasonal("month", counts=True),
    "season_text": lambda: seasonal("weekday", text="%d.%m.%Y"),
    "season_text_time": lambda: seasonal("hour", text="%Y/%m/%d %H:%M"),
    "reversal": lambda: three_ways("reversal", ["arts", "law", "physics", "medicine"]),
    "reversal_numbers": turned_correlation,
    "reversal_flag": lambda: three_ways("reversal", [1, 2, 3], (True, False)),
    "reversal_category": lambda: categories(three_ways("reversal", ["arts", "law", "physics"]), "group", "field"),
    "interaction_slopes": slopes,
    "interaction": lambda: three_ways("interaction", ["arts", "law", "physics", "medicine"]),
    "interaction_many": lambda: three_ways("interaction", MANY),
    "interaction_long": lambda: three_ways("interaction", LONG, (LONG[0], LONG[1])),
    "interaction_category": lambda: categories(three_ways("interaction", ["1", "2", "3"]), "group", "field"),
    "duplicates": lambda: quality("duplicates"),
    "duplicates_keys": lambda: quality("repeated_keys"),
    "missing": lambda: quality("missing"),
    "missing_together": lambda: quality("missing_together"),
    "outliers": lambda: quality("outliers"),
    "outliers_both": lambda: quality("low"),
    "impossible": lambda: quality("impossible"),
    "ratio": lambda: quality("ratio"),
    "sentinel": lambda: quality("sentinel"),
    "only_negative": lambda: quality("only_negative"),
    "skew": lambda: quality("skew"),
    "text_number": lambda: quality("text_type"),
    "text_date": lambda: quality("text_date"),
    "gap": gap,
    "same": same,
    "same_factor": lambda: same(2.5),
    "same_but_moved": lambda: same(offset=True),
    "spelling": spelled,
    "spelling_blanks": lambda: spelled(blanks_only=True),
    "spelling_category": lambda: categories(spelled(), "channel"),
    "key_spelling": spelled_keys,
    "key_spelling_names": lambda: spelled_keys(other_name=False),
    "key_spelling_category": lambda: categories(spelled_keys(), "plane"),
    "join": joined,
    "join_repeats": lambda: joined(unique=False),
    "join_names": lambda: joined(other_name=True),
    "join_two": joined_by_two,
    "join_two_differing": lambda: joined_by_two(differing=True),
}


def categories(case: Case, *columns: str) -> Case:
    """Return the case with columns stored as categories."""
    name, table = next(iter(case.tables.items()))
    tables = {**case.tables, name: table.astype(dict.fromkeys(columns, "category"))}
    return Case(tables=tables, kind=case.kind, columns=case.columns, facts=case.facts, others=case.others)
