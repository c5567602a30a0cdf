"""Questions of analysts, each as SQL and as the same program in pandas: every engine gives the figures of pandas.

`programs_of` writes the SQL in the dialect of an engine: `$month` and the like stand for what each writes in its own
way, a program may have SQL of its own for an engine, and an engine may have no such operation (None).
"""

# ruff: noqa: E501  (queries)

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from string import Template
from typing import Any, Literal

import numpy as np
import pandas as pd

Engine = Literal["duckdb", "sqlite", "postgresql", "mariadb", "spark", "polars"]
ROWS = 2000
RIDERS = np.array([" Ada Berg", "Bo Lund ", "cleo Dahl", "Dan Ek", "Eva Lind", None], dtype=object)


def _trips() -> pd.DataFrame:
    random = np.random.default_rng(7)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 366, ROWS), unit="D")
    made: dict[str, Any] = {
        "id": range(ROWS),
        "zone": random.choice(["A", "B", "C", "D"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
        "day": days.strftime("%Y-%m-%d"),
        "km": random.integers(1, 60, ROWS) / 2,
        "fare": np.where(random.random(ROWS) < 0.05, np.nan, random.integers(5, 90, ROWS).astype(float)),
        "paid": random.choice(["card", "cash"], ROWS),
    }
    started = days + pd.to_timedelta(random.integers(5 * 60, 23 * 60, ROWS), unit="min")
    rider = RIDERS[random.integers(0, len(RIDERS), ROWS)]
    return pd.DataFrame(made | {"started": started.strftime("%Y-%m-%d %H:%M:%S"), "rider": rider})


TRIPS = _trips()
"""With dates as text, as SQLite has them."""
ZONES = pd.DataFrame({"zone": ["A", "B", "C", "E"], "city": ["Oslo", "Oslo", "Rome", "Bern"], "area": [4, 7, 9, 2]})
T = TRIPS.assign(day=pd.to_datetime(TRIPS.day), started=pd.to_datetime(TRIPS.started))
"""The same with dates."""

FORMS: Mapping[str, Mapping[Engine, str]] = {
    "year": {
        "duckdb": "year(day)",
        "sqlite": "CAST(strftime('%Y', day) AS INTEGER)",
        "postgresql": "EXTRACT(YEAR FROM day)",
        "mariadb": "YEAR(day)",
        "spark": "year(day)",
        "polars": "EXTRACT(YEAR FROM day)",
    },
    "month": {
        "duckdb": "month(day)",
        "sqlite": "CAST(strftime('%m', day) AS INTEGER)",
        "postgresql": "EXTRACT(MONTH FROM day)",
        "mariadb": "MONTH(day)",
        "spark": "month(day)",
        "polars": "EXTRACT(MONTH FROM day)",
    },
    "quarter": {
        "duckdb": "quarter(day)",
        "sqlite": "(strftime('%m', day) + 2) / 3",
        "postgresql": "EXTRACT(QUARTER FROM day)",
        "mariadb": "QUARTER(day)",
        "spark": "quarter(day)",
        "polars": "EXTRACT(QUARTER FROM day)",
    },
    "week": {
        "duckdb": "week(day)",
        "sqlite": "(strftime('%j', date(day, '-3 days', 'weekday 4')) - 1) / 7 + 1",
        "postgresql": "EXTRACT(WEEK FROM day)",
        "mariadb": "WEEK(day, 3)",
        "spark": "weekofyear(day)",
        "polars": "EXTRACT(WEEK FROM day)",
    },
    "weekday": {
        "duckdb": "isodow(day)",
        "sqlite": "(strftime('%w', day) + 6) % 7 + 1",
        "postgresql": "EXTRACT(ISODOW FROM day)",
        "mariadb": "WEEKDAY(day) + 1",
        "spark": "weekday(day) + 1",
        "polars": "EXTRACT(ISODOW FROM day)",
    },
    "hour": {
        "duckdb": "hour(started)",
        "sqlite": "CAST(strftime('%H', started) AS INTEGER)",
        "postgresql": "EXTRACT(HOUR FROM started)",
        "mariadb": "HOUR(started)",
        "spark": "hour(started)",
        "polars": "EXTRACT(HOUR FROM started)",
    },
    "year_month": {
        "duckdb": "strftime(day, '%Y-%m')",
        "sqlite": "strftime('%Y-%m', day)",
        "postgresql": "to_char(day, 'YYYY-MM')",
        "mariadb": "DATE_FORMAT(day, '%Y-%m')",
        "spark": "date_format(day, 'yyyy-MM')",
        "polars": "STRFTIME(day, '%Y-%m')",
    },
    "month_start": {
        "duckdb": "date_trunc('month', day)",
        "sqlite": "date(day, 'start of month')",
        "postgresql": "CAST(date_trunc('month', day) AS DATE)",
        "mariadb": "CAST(DATE_FORMAT(day, '%Y-%m-01') AS DATE)",
        "spark": "date_trunc('MONTH', day)",
        "polars": "DATE_TRUNC('month', day)",
    },
    "month_end": {
        "duckdb": "last_day(day)",
        "sqlite": "date(day, 'start of month', '+1 month', '-1 day')",
        "postgresql": "CAST(date_trunc('month', day) + INTERVAL '1 month' - INTERVAL '1 day' AS DATE)",
        "mariadb": "LAST_DAY(day)",
        "spark": "last_day(day)",
        "polars": "DATE_TRUNC('month', day) + INTERVAL '1 month' - INTERVAL '1 day'",
    },
    "next_week": {
        "duckdb": "day + INTERVAL 7 DAY",
        "sqlite": "date(day, '+7 days')",
        "postgresql": "day + INTERVAL '7 days'",
        "mariadb": "DATE_ADD(day, INTERVAL 7 DAY)",
        "spark": "date_add(day, 7)",
        "polars": "day + INTERVAL '7 days'",
    },
    "next_month": {
        "duckdb": "day + INTERVAL 1 MONTH",
        "sqlite": "date(day, '+1 month')",
        "postgresql": "day + INTERVAL '1 month'",
        "mariadb": "day + INTERVAL 1 MONTH",
        "spark": "add_months(day, 1)",
        "polars": "day + INTERVAL '1 month'",
    },
    "days": {  # between two dates
        "duckdb": "date_diff('day', MIN(day), MAX(day))",
        "sqlite": "CAST(julianday(MAX(day)) - julianday(MIN(day)) AS INTEGER)",
        "postgresql": "MAX(day) - MIN(day)",
        "mariadb": "DATEDIFF(MAX(day), MIN(day))",
        "spark": "datediff(MAX(day), MIN(day))",
        "polars": "CAST(MAX(day) AS INT) - CAST(MIN(day) AS INT)",
    },
    "minutes": {  # since midnight
        "duckdb": "date_diff('minute', CAST(day AS TIMESTAMP), started)",
        "sqlite": "CAST(ROUND((julianday(started) - julianday(day)) * 1440) AS INTEGER)",
        "postgresql": "EXTRACT(EPOCH FROM started - day) / 60",
        "mariadb": "TIMESTAMPDIFF(MINUTE, day, started)",
        "spark": "timestampdiff(MINUTE, day, started)",
        "polars": "CAST(EXTRACT(HOUR FROM started) AS INT) * 60 + EXTRACT(MINUTE FROM started)",
    },
    "surname": {
        "duckdb": "split_part(trim(rider), ' ', 2)",
        "sqlite": "substr(trim(rider), instr(trim(rider), ' ') + 1)",
        "postgresql": "split_part(trim(rider), ' ', 2)",
        "mariadb": "SUBSTRING_INDEX(TRIM(rider), ' ', -1)",
        "spark": "split_part(trim(rider), ' ', 2)",
        "polars": "SPLIT_PART(TRIM(rider), ' ', 2)",
    },
    "position": {
        "duckdb": "strpos(rider, 'e')",
        "sqlite": "instr(rider, 'e')",
        "postgresql": "POSITION('e' IN rider)",
        "mariadb": "LOCATE('e', rider)",
        "spark": "locate('e', rider)",
        "polars": "STRPOS(rider, 'e')",
    },
    "zones_of_paid": {
        "duckdb": "string_agg(DISTINCT zone, '+' ORDER BY zone)",
        "sqlite": "group_concat(DISTINCT zone)",
        "postgresql": "string_agg(DISTINCT zone, '+' ORDER BY zone)",
        "mariadb": "GROUP_CONCAT(DISTINCT zone ORDER BY zone SEPARATOR '+')",
        "spark": "array_join(sort_array(collect_set(zone)), '+')",
        "polars": "ARRAY_TO_STRING(ARRAY_AGG(DISTINCT zone ORDER BY zone), '+')",
    },
    "greatest": {
        "duckdb": "greatest",
        "sqlite": "max",
        "postgresql": "GREATEST",
        "mariadb": "GREATEST",
        "spark": "greatest",
        "polars": "GREATEST",
    },
    "least": {
        "duckdb": "least",
        "sqlite": "min",
        "postgresql": "LEAST",
        "mariadb": "LEAST",
        "spark": "least",
        "polars": "LEAST",
    },
    "whole": {
        "duckdb": "INTEGER",
        "sqlite": "INTEGER",
        "postgresql": "INTEGER",
        "mariadb": "SIGNED",
        "spark": "INT",
        "polars": "INTEGER",
    },
    "text": {
        "duckdb": "VARCHAR",
        "sqlite": "TEXT",
        "postgresql": "TEXT",
        "mariadb": "CHAR",
        "spark": "STRING",
        "polars": "VARCHAR",
    },
    "twentieth": {  # an interval before a date
        "duckdb": "MAX(day) - INTERVAL 20 DAY",
        "sqlite": "date(MAX(day), '-20 days')",
        "postgresql": "MAX(day) - INTERVAL '20 days'",
        "mariadb": "MAX(day) - INTERVAL 20 DAY",
        "spark": "date_sub(MAX(day), 20)",
        "polars": "MAX(day) - INTERVAL '20 days'",
    },
}
"""What each engine writes in its own way."""


@dataclass(frozen=True)
class Program:
    """One question with its answers."""

    question: str
    sql: str
    answer: Callable[[], pd.DataFrame]
    """The same in pandas."""
    own: Mapping[Engine, str | None] = field(default_factory=dict)
    """SQL of one engine where `sql` is not its own; None: it has no such operation."""

    def written_for(self, engine: Engine) -> str | None:
        """Return the SQL in the dialect of the engine, if it has the operation."""
        found = self.own.get(engine, self.sql)
        if not found:
            return None
        forms = {name: forms[engine] for name, forms in FORMS.items()}
        sql = Template(found).substitute(forms)
        return in_polars(sql) if engine == "polars" else sql


LOOKED_UP = ", ".join(str(row) for row in ZONES.itertuples(index=False, name=None))


def in_polars(sql: str) -> str:
    """Return the query over the one table that a LazyFrame has, with the other written into it."""
    sql = re.sub(r"\btrips\b", "self", sql)
    if not re.search(r"\bzones\b", sql):
        return sql
    zones = f"zones AS (SELECT * FROM (VALUES {LOOKED_UP}) AS v(zone, city, area))"
    begun = re.match(r"WITH (RECURSIVE )?", sql)
    return f"WITH {zones} {sql}" if begun is None else f"{begun[0]}{zones}, {sql[begun.end() :]}"


def programs_of(engine: Engine) -> Iterator[tuple[str, str, Callable[[], pd.DataFrame]]]:
    """Yield question, SQL and the same program in pandas of each that the engine can answer."""
    for program in (*PROGRAMS, *OWN[engine]):
        if (sql := program.written_for(engine)) is not None:
            yield program.question, sql, program.answer


def same(found: pd.DataFrame, wanted: pd.DataFrame) -> bool:
    """Compare values and names; an engine's whole numbers, decimals and dates may be of other types."""
    assert found.columns.tolist() == wanted.columns.tolist()
    assert len(found) == len(wanted)
    for name in map(str, found):
        one, other = found[name].tolist(), wanted[name].tolist()
        if pd.api.types.is_numeric_dtype(wanted[name]):
            found_numbers, wanted_numbers = (
                np.array([np.nan if pd.isna(value) else value for value in values], float)
                for values in (one, other)
            )
            np.testing.assert_allclose(found_numbers, wanted_numbers, rtol=1e-9, atol=1e-12)
        elif pd.api.types.is_datetime64_any_dtype(wanted[name]):
            assert list(map(pd.Timestamp, one)) == other
        else:
            assert [None if pd.isna(value) else str(value) for value in one] == [
                None if pd.isna(value) else str(value) for value in other
            ]
    return True


# --- programs in pandas -----------------------------------------------------------------------------------


def row(**values: Any) -> pd.DataFrame:
    return pd.DataFrame({name: [value] for name, value in values.items()})


def joined() -> pd.DataFrame:
    return T.merge(ZONES, on="zone")


def counted(frame: pd.DataFrame, by: Any, name: str) -> pd.DataFrame:
    return frame.groupby(by).size().rename_axis(name).reset_index(name="n")


def top(frame: pd.DataFrame, n: int) -> pd.DataFrame:
    ordered = frame.sort_values(["zone", "km", "id"], ascending=[True, False, True])
    return ordered.groupby("zone").head(n)[["zone", "id", "km"]]


def by_zone(**aggregated: Any) -> pd.DataFrame:
    found: pd.DataFrame = T.groupby("zone", as_index=False).agg(**aggregated)
    return found


def by_month() -> pd.DataFrame:
    return T.groupby(T.day.dt.month.rename("month"), as_index=False).agg(km=("km", "sum"))


def by_day() -> pd.DataFrame:
    return T.groupby("day", as_index=False).agg(km=("km", "sum"))


def pairs_of_a_day() -> pd.DataFrame:
    pairs = T.merge(T, on=["zone", "day"])
    return counted(pairs[pairs.id_x < pairs.id_y], "zone", "zone")


def zeros_filled() -> pd.DataFrame:
    every = ZONES[["zone"]].merge(T[["paid"]].drop_duplicates(), how="cross")
    n = T.groupby(["zone", "paid"], as_index=False).agg(n=("id", "size"))
    return every.merge(n, on=["zone", "paid"], how="left").fillna({"n": 0}).sort_values(["zone", "paid"])


def streaks() -> pd.DataFrame:
    first = T.sort_values("id").head(200)
    number = (first.paid != first.paid.shift()).cumsum()
    runs = first.groupby(number).agg(paid=("paid", "first"), first=("id", "min"), n=("id", "size"))
    return runs.sort_values(["n", "first"], ascending=[False, True]).head(5)


def deviation() -> pd.DataFrame:
    return T.assign(off=(T.km - T.groupby("zone").km.transform("mean")).abs().round(6))[["id", "off"]].head(25)


def change() -> pd.DataFrame:
    return by_month().assign(growth=lambda part: part.km - part.km.shift())


def mode() -> pd.DataFrame:
    n = T.groupby(["zone", "rider"], as_index=False).agg(n=("id", "size"))
    return n.sort_values(["zone", "n", "rider"], ascending=[True, False, True]).groupby("zone").head(1)


def weighted() -> pd.DataFrame:
    known = T.dropna(subset="fare").assign(both=lambda part: part.fare * part.km)
    sums = known.groupby("zone", as_index=False).agg(both=("both", "sum"), km=("km", "sum"))
    return sums.assign(mean=sums.both / sums.km)[["zone", "mean"]]


def by_card_and_cash() -> pd.DataFrame:
    wide = T.pivot_table(index="zone", columns="paid", values="fare", aggfunc="mean").reset_index()
    return wide.rename_axis(columns=None)


def quarters() -> pd.DataFrame:
    wide = pd.crosstab(T.zone, T.day.dt.quarter).reset_index().rename_axis(columns=None)
    return wide.rename(columns={1: "q1", 2: "q2", 3: "q3", 4: "q4"})


def above_zone_mean() -> pd.DataFrame:
    return T[T.km > T.groupby("zone").km.transform("mean")].groupby("zone").size().reset_index(name="n")


def weekly() -> pd.DataFrame:
    weeks = T[T.day < "2024-03-01"].assign(week=lambda part: part.day.dt.isocalendar().week.astype(int))
    return weeks.groupby("week", as_index=False).agg(km=("km", "sum"), n=("id", "size"))


def surname() -> pd.Series[Any]:
    return T.rider.str.strip().str.split(" ").str[1]


PROGRAMS: list[Program] = [
    # --- filters
    Program("How many trips are there?", "SELECT COUNT(*) AS n FROM trips", lambda: row(n=ROWS)),
    Program(
        "Which long trips were paid by card?",
        "SELECT id, km FROM trips WHERE km > 25 AND paid = 'card' ORDER BY id",
        lambda: T[(T.km > 25) & (T.paid == "card")][["id", "km"]],
    ),
    Program(
        "Trips of 3 to 8 km outside of the zones A and D?",
        "SELECT id, zone FROM trips WHERE km BETWEEN 3 AND 8 AND zone NOT IN ('A', 'D') ORDER BY id",
        lambda: T[T.km.between(3, 8) & ~T.zone.isin(["A", "D"])][["id", "zone"]],
    ),
    Program(
        "Riders whose name ends in d?",
        "SELECT id, rider FROM trips WHERE TRIM(rider) LIKE '%d' ORDER BY id LIMIT 20",
        lambda: T[T.rider.str.strip().str.endswith("d").fillna(False).astype(bool)][["id", "rider"]].head(20),
    ),
    Program(
        "Page three of the longest trips?",
        "SELECT id, km FROM trips ORDER BY km DESC, id LIMIT 10 OFFSET 20",
        lambda: T.sort_values(["km", "id"], ascending=[False, True])[["id", "km"]].iloc[20:30],
    ),
    Program(
        "Every seventh trip?",
        "SELECT id, id % 7 AS rest FROM trips WHERE id % 7 = 3 ORDER BY id LIMIT 9",
        lambda: T[T.id % 7 == 3].assign(rest=3)[["id", "rest"]].head(9),
    ),
    Program(
        "Which ways of paying are there in each zone?",
        "SELECT DISTINCT zone, paid FROM trips ORDER BY zone, paid",
        lambda: T[["zone", "paid"]].drop_duplicates().sort_values(["zone", "paid"]),
    ),
    # --- groups
    Program(
        "Mean fare and number of known fares by zone?",
        "SELECT zone, AVG(fare) AS mean, COUNT(fare) AS n FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(mean=("fare", "mean"), n=("fare", "count")),
    ),
    Program(
        "Zones with more than 5000 km?",
        "SELECT zone, SUM(km) AS km FROM trips GROUP BY zone HAVING SUM(km) > 5000 ORDER BY km DESC",
        lambda: by_zone(km=("km", "sum")).query("km > 5000").sort_values("km", ascending=False),
    ),
    Program(
        "Busy zones with cheap trips?",
        "SELECT zone, paid, COUNT(*) AS n FROM trips GROUP BY zone, paid HAVING COUNT(*) > 150 AND AVG(fare) < 48 "
        "ORDER BY n DESC",
        lambda: (
            T.groupby(["zone", "paid"], as_index=False)
            .agg(n=("id", "size"), fare=("fare", "mean"))
            .query("n > 150 and fare < 48")
            .sort_values("n", ascending=False)[["zone", "paid", "n"]]
        ),
    ),
    Program(
        "First and last day, zones and missing fares?",
        "SELECT COUNT(DISTINCT zone) AS zones, MIN(day) AS first, MAX(day) AS last, "
        "SUM(CASE WHEN fare IS NULL THEN 1 ELSE 0 END) AS missing FROM trips",
        lambda: row(zones=T.zone.nunique(), first=T.day.min(), last=T.day.max(), missing=int(T.fare.isna().sum())),
        {
            "polars": 'SELECT COUNT(DISTINCT zone) AS zones, MIN(day) AS "first", MAX(day) AS "last", '
            "SUM(CASE WHEN fare IS NULL THEN 1 ELSE 0 END) AS missing FROM trips"
        },
    ),
    Program(
        "On how many days was there a trip in each zone?",
        "SELECT zone, COUNT(DISTINCT day) AS days FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(days=("day", "nunique")),
    ),
    Program(
        "On how many days does a zone make more than 60 km?",
        "SELECT zone, COUNT(*) AS n FROM (SELECT zone, day, SUM(km) AS km FROM trips GROUP BY zone, day) AS d "
        "WHERE km > 60 GROUP BY zone ORDER BY zone",
        lambda: counted(T.groupby(["zone", "day"], as_index=False).km.sum().query("km > 60"), "zone", "zone"),
    ),
    Program(
        "Histogram of km in steps of ten?",
        "SELECT FLOOR(km / 10) * 10 AS bin, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1",
        lambda: counted(T, T.km // 10 * 10, "bin"),
        {"sqlite": "SELECT CAST(km / 10 AS INTEGER) * 10 AS bin, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1"},
    ),
    Program(
        "Short, middle and long trips?",
        "SELECT CASE WHEN km < 5 THEN 'short' WHEN km < 20 THEN 'middle' ELSE 'long' END AS kind, COUNT(*) AS n "
        "FROM trips GROUP BY 1 ORDER BY n",
        lambda: counted(
            T, pd.cut(T.km, [0, 5, 20, 99], right=False, labels=["short", "middle", "long"]).astype(str), "kind"
        ).sort_values("n"),
    ),
    Program(
        "What part of all trips has each zone?",
        "SELECT zone, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM trips), 2) AS share FROM trips "
        "GROUP BY zone ORDER BY zone",
        lambda: (T.zone.value_counts(normalize=True) * 100).round(2).rename("share").sort_index().reset_index(),
    ),
    Program(
        "Mean fare weighted by km?",
        "SELECT zone, SUM(fare * km) / SUM(CASE WHEN fare IS NOT NULL THEN km END) AS mean FROM trips "
        "GROUP BY zone ORDER BY zone",
        weighted,
    ),
    Program(
        "Which zones has each way of paying?",
        "SELECT paid, $zones_of_paid AS zones FROM trips GROUP BY paid ORDER BY paid",
        lambda: pd.DataFrame({"paid": ["card", "cash"], "zones": ["A+B+C+D", "A+B+C+D"]}),
        {
            "sqlite": "SELECT paid, group_concat(zone, '+') AS zones FROM (SELECT DISTINCT paid, zone FROM trips "
            "ORDER BY zone) AS d GROUP BY paid ORDER BY paid"
        },
    ),
    Program(
        "Trips by zone, and all of them?",
        "SELECT COALESCE(zone, 'all') AS zone, COUNT(*) AS n FROM trips GROUP BY ROLLUP (zone) ORDER BY n",
        lambda: pd.concat([counted(T, "zone", "zone"), row(zone="all", n=ROWS)]).sort_values("n"),
        {
            "mariadb": "SELECT COALESCE(zone, 'all') AS zone, n FROM (SELECT zone, COUNT(*) AS n FROM trips "
            "GROUP BY zone WITH ROLLUP) AS r ORDER BY n",
            "sqlite": "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone UNION ALL SELECT 'all', COUNT(*) "
            "FROM trips ORDER BY n",
        },
    ),
    # --- joins of two tables
    Program(
        "Trips by city?",
        "SELECT city, COUNT(*) AS n FROM trips t JOIN zones z ON z.zone = t.zone GROUP BY city ORDER BY city",
        lambda: counted(joined(), "city", "city"),
    ),
    Program(
        "The city of each zone that has trips?",
        "SELECT t.zone, MAX(city) AS city FROM trips t LEFT JOIN zones z ON z.zone = t.zone GROUP BY t.zone "
        "ORDER BY t.zone",
        lambda: T.merge(ZONES, on="zone", how="left").groupby("zone", as_index=False).agg(city=("city", "first")),
    ),
    Program(
        "Km by area of each city?",
        "SELECT city, SUM(km) / MAX(area) AS density FROM trips JOIN zones USING (zone) GROUP BY city "
        "ORDER BY city",
        lambda: (
            joined()
            .groupby("city", as_index=False)
            .agg(km=("km", "sum"), area=("area", "max"))
            .assign(density=lambda part: part.km / part.area)[["city", "density"]]
        ),
    ),
    Program(
        "Zones without a trip (NOT EXISTS)?",
        "SELECT zone FROM zones WHERE NOT EXISTS (SELECT 1 FROM trips WHERE trips.zone = zones.zone)",
        lambda: ZONES[~ZONES.zone.isin(T.zone)][["zone"]],
    ),
    Program(
        "Zones without a trip (LEFT JOIN)?",
        "SELECT z.zone, z.city FROM zones z LEFT JOIN trips t ON t.zone = z.zone WHERE t.id IS NULL",
        lambda: ZONES[~ZONES.zone.isin(T.zone)][["zone", "city"]],
    ),
    Program(
        "Zones with a trip of more than 29 km?",
        "SELECT zone FROM zones WHERE EXISTS (SELECT 1 FROM trips WHERE trips.zone = zones.zone AND km > 29) "
        "ORDER BY zone",
        lambda: ZONES[ZONES.zone.isin(T[T.km > 29].zone)][["zone"]],
    ),
    Program(
        "First trips in Rome?",
        "SELECT id FROM trips WHERE zone IN (SELECT zone FROM zones WHERE city = 'Rome') ORDER BY id LIMIT 7",
        lambda: T[T.zone.isin(ZONES[ZONES.city == "Rome"].zone)][["id"]].head(7),
    ),
    Program(
        "Which zones lie in the same city?",
        "SELECT a.zone AS one, b.zone AS other FROM zones a JOIN zones b ON a.city = b.city AND a.zone < b.zone",
        lambda: pd.DataFrame({"one": ["A"], "other": ["B"]}),
    ),
    Program(
        "How many pairs of trips are of the same zone and day?",
        "SELECT a.zone, COUNT(*) AS n FROM trips a JOIN trips b ON a.zone = b.zone AND a.day = b.day "
        "WHERE a.id < b.id GROUP BY a.zone ORDER BY a.zone",
        pairs_of_a_day,
    ),
    Program(
        "Trips by zone and way of paying, with zeros?",
        "SELECT z.zone, p.paid, COALESCE(n, 0) AS n FROM zones z CROSS JOIN (SELECT DISTINCT paid FROM trips) p "
        "LEFT JOIN (SELECT zone, paid, COUNT(*) AS n FROM trips GROUP BY zone, paid) t "
        "ON t.zone = z.zone AND t.paid = p.paid ORDER BY z.zone, p.paid",
        zeros_filled,
    ),
    Program(
        "All zones, with a trip or without?",
        "SELECT COALESCE(t.zone, z.zone) AS zone, n, area FROM (SELECT zone, COUNT(*) AS n FROM trips "
        "GROUP BY zone) t FULL JOIN zones z ON z.zone = t.zone ORDER BY 1",
        lambda: (
            counted(T, "zone", "zone")
            .merge(ZONES, on="zone", how="outer")[["zone", "n", "area"]]
            .sort_values("zone")
        ),
        {"sqlite": None, "mariadb": None},
    ),
    # --- subqueries and steps
    Program(
        "Trips longer than the mean?",
        "SELECT COUNT(*) AS n FROM trips WHERE km > (SELECT AVG(km) FROM trips)",
        lambda: row(n=int((T.km > T.km.mean()).sum())),
    ),
    Program(
        "Trips above the mean of their zone?",
        "SELECT t.zone, COUNT(*) AS n FROM trips t JOIN (SELECT zone, AVG(km) AS mean FROM trips GROUP BY zone) m "
        "ON m.zone = t.zone WHERE t.km > m.mean GROUP BY t.zone ORDER BY t.zone",
        above_zone_mean,
    ),
    Program(
        "The longest trips of each zone (a subquery for each)?",
        "SELECT id, zone FROM trips t WHERE km = (SELECT MAX(km) FROM trips s WHERE s.zone = t.zone) ORDER BY id",
        lambda: T[T.km == T.groupby("zone").km.transform("max")][["id", "zone"]],
    ),
    Program(
        "The city with most km?",
        "WITH k AS (SELECT zone, SUM(km) AS km FROM trips GROUP BY zone), c AS (SELECT city, SUM(km) AS km FROM k "
        "JOIN zones z ON z.zone = k.zone GROUP BY city) SELECT city, km FROM c ORDER BY km DESC LIMIT 1",
        lambda: (
            joined()
            .groupby("city", as_index=False)
            .agg(km=("km", "sum"))
            .sort_values("km", ascending=False)
            .head(1)
        ),
    ),
    Program(
        "Trips by month, also of months without?",
        "WITH RECURSIVE m(month) AS (SELECT 1 UNION ALL SELECT month + 1 FROM m WHERE month < 14), "
        "t AS (SELECT $month AS month, COUNT(*) AS n FROM trips GROUP BY 1) "
        "SELECT m.month, COALESCE(n, 0) AS n FROM m LEFT JOIN t ON t.month = m.month ORDER BY m.month",
        lambda: (
            counted(T, T.day.dt.month, "month").set_index("month").reindex(range(1, 15), fill_value=0).reset_index()
        ),
        {
            "spark": "WITH t AS (SELECT $month AS month, COUNT(*) AS n FROM trips GROUP BY 1) "
            "SELECT m.id AS month, COALESCE(n, 0) AS n FROM range(1, 15) m LEFT JOIN t ON t.month = m.id ORDER BY m.id"
        },
    ),
    # --- dates
    Program(
        "Trips by month?",
        "SELECT $month AS month, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1",
        lambda: counted(T, T.day.dt.month, "month"),
    ),
    Program(
        "Trips by year and quarter?",
        "SELECT $year AS year, $quarter AS quarter, COUNT(*) AS n FROM trips GROUP BY 1, 2 ORDER BY 1, 2",
        lambda: (
            T.groupby([T.day.dt.year.rename("year"), T.day.dt.quarter.rename("quarter")])
            .size()
            .reset_index(name="n")
        ),
    ),
    Program(
        "Trips by day of the week?",
        "SELECT $weekday AS weekday, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1",
        lambda: counted(T, T.day.dt.day_of_week + 1, "weekday"),
    ),
    Program(
        "Mean fare at the weekend and else?",
        "SELECT CASE WHEN $weekday >= 6 THEN 'weekend' ELSE 'week' END AS part, AVG(fare) AS fare FROM trips "
        "GROUP BY 1 ORDER BY 1",
        lambda: (
            T.groupby(np.where(T.day.dt.day_of_week >= 5, "weekend", "week"))
            .fare.mean()
            .rename_axis("part")
            .reset_index()
        ),
    ),
    Program(
        "Km by week of the first two months?",
        "SELECT $week AS week, SUM(km) AS km, COUNT(*) AS n FROM trips WHERE day < '2024-03-01' GROUP BY 1 "
        "ORDER BY 1",
        weekly,
    ),
    Program(
        "Trips by hour, the busiest first?",
        "SELECT $hour AS hour, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY n DESC, 1 LIMIT 5",
        lambda: counted(T, T.started.dt.hour, "hour").sort_values(["n", "hour"], ascending=[False, True]).head(5),
    ),
    Program(
        "Minutes since midnight of the first trips?",
        "SELECT id, $minutes AS minutes FROM trips ORDER BY id LIMIT 25",
        lambda: T.assign(minutes=(T.started - T.day).dt.total_seconds() / 60)[["id", "minutes"]].head(25),
    ),
    Program(
        "Trips of March?",
        "SELECT COUNT(*) AS n FROM trips WHERE day >= '2024-03-01' AND day < '2024-04-01'",
        lambda: row(n=int((T.day.dt.month == 3).sum())),
    ),
    Program(
        "Km by zone and month of February and March?",
        "SELECT zone, $year_month AS since, SUM(km) AS km FROM trips WHERE $month IN (2, 3) GROUP BY 1, 2 "
        "ORDER BY 1, 2",
        lambda: (
            T[T.day.dt.month.isin([2, 3])]
            .assign(since=lambda part: part.day.dt.strftime("%Y-%m"))
            .groupby(["zone", "since"], as_index=False)
            .agg(km=("km", "sum"))
        ),
    ),
    Program(
        "Km by the first day of the month?",
        "SELECT $month_start AS day, SUM(km) AS km FROM trips GROUP BY 1 ORDER BY 1",
        lambda: T.groupby(T.day.dt.to_period("M").dt.to_timestamp()).km.sum().reset_index(),
    ),
    Program(
        "The last day of the month of each trip?",
        "SELECT id, $month_end AS ends FROM trips ORDER BY id LIMIT 20",
        lambda: T.assign(ends=T.day + pd.offsets.MonthEnd(0))[["id", "ends"]].head(20),
    ),
    Program(
        "A week after each trip?",
        "SELECT id, $next_week AS later FROM trips ORDER BY id LIMIT 20",
        lambda: T.assign(later=T.day + pd.Timedelta(days=7))[["id", "later"]].head(20),
    ),
    Program(
        "A month after each trip of the first half of a month?",
        "SELECT id, $next_month AS later FROM trips WHERE id < 60 ORDER BY id",
        lambda: T.assign(later=T.day + pd.DateOffset(months=1))[["id", "later"]].head(60),
        {
            "sqlite": "SELECT id, min(date(day, '+1 month'), date(day, 'start of month', '+2 months', '-1 day')) "
            "AS later FROM trips WHERE id < 60 ORDER BY id"
        },
    ),
    Program(
        "Days from the first to the last trip of each zone?",
        "SELECT zone, $days AS days FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(days=("day", lambda day: (day.max() - day.min()).days)),
    ),
    Program(
        "Trips of the last twenty days?",
        "SELECT COUNT(*) AS n FROM trips WHERE day > (SELECT $twentieth FROM trips)",
        lambda: row(n=int((T.day > T.day.max() - pd.Timedelta(days=20)).sum())),
    ),
    # --- windows
    Program(
        "The three longest trips of each zone?",
        "WITH r AS (SELECT zone, id, km, ROW_NUMBER() OVER (PARTITION BY zone ORDER BY km DESC, id) AS place "
        "FROM trips) SELECT zone, id, km FROM r WHERE place <= 3 ORDER BY zone, place",
        lambda: top(T, 3),
    ),
    Program(
        "Km so far in each zone?",
        "SELECT id, SUM(km) OVER (PARTITION BY zone ORDER BY id) AS run FROM trips ORDER BY id LIMIT 50",
        lambda: T.assign(run=T.groupby("zone").km.cumsum())[["id", "run"]].head(50),
    ),
    Program(
        "Km more than the trip before?",
        "SELECT id, km - LAG(km) OVER (ORDER BY id) AS step FROM trips ORDER BY id LIMIT 20",
        lambda: T.assign(step=T.km.diff())[["id", "step"]].head(20),
    ),
    Program(
        "The next trip of the zone?",
        "SELECT id, LEAD(id) OVER (PARTITION BY zone ORDER BY id) AS next_id FROM trips ORDER BY id LIMIT 20",
        lambda: T.assign(next_id=T.groupby("zone").id.shift(-1))[["id", "next_id"]].head(20),
    ),
    Program(
        "Km two trips before, else none?",
        "SELECT id, COALESCE(LAG(km, 2) OVER (PARTITION BY paid ORDER BY id), 0) AS before_that FROM trips "
        "ORDER BY id LIMIT 20",
        lambda: T.assign(before_that=T.groupby("paid").km.shift(2).fillna(0))[["id", "before_that"]].head(20),
    ),
    Program(
        "Rolling mean of three trips?",
        "SELECT id, AVG(km) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean FROM trips "
        "ORDER BY id LIMIT 30",
        lambda: T.assign(mean=T.km.rolling(3, min_periods=1).mean())[["id", "mean"]].head(30),
    ),
    Program(
        "Rolling sum of seven days?",
        "WITH d AS (SELECT day, SUM(km) AS km FROM trips GROUP BY day) SELECT day, SUM(km) OVER (ORDER BY day "
        "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM d ORDER BY day LIMIT 40",
        lambda: (
            by_day().assign(week=lambda part: part.km.rolling(7, min_periods=1).sum())[["day", "week"]].head(40)
        ),
    ),
    Program(
        "Sum of the three trips before, without this one?",
        "SELECT id, SUM(km) OVER (PARTITION BY zone ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS past "
        "FROM trips ORDER BY id LIMIT 40",
        lambda: T.assign(
            past=T.groupby("zone").km.transform(lambda km: km.shift().rolling(3, min_periods=1).sum())
        )[["id", "past"]].head(40),
        {"polars": None},
    ),
    Program(
        "Rank of trips by km in their zone?",
        "SELECT zone, km, RANK() OVER (PARTITION BY zone ORDER BY km DESC) AS place FROM trips ORDER BY id LIMIT 40",
        lambda: T.assign(place=T.groupby("zone").km.rank(method="min", ascending=False).astype(int))[
            ["zone", "km", "place"]
        ].head(40),
    ),
    Program(
        "Dense rank of trips by km?",
        "SELECT id, DENSE_RANK() OVER (ORDER BY km DESC) AS place FROM trips ORDER BY id LIMIT 40",
        lambda: T.assign(place=T.km.rank(method="dense", ascending=False).astype(int))[["id", "place"]].head(40),
    ),
    Program(
        "Rank of zones by their km?",
        "SELECT zone, SUM(km) AS km, RANK() OVER (ORDER BY SUM(km) DESC) AS place FROM trips GROUP BY zone "
        "ORDER BY place",
        lambda: by_zone(km=("km", "sum")).sort_values("km", ascending=False).assign(place=[1, 2, 3, 4]),
    ),
    Program(
        "Four equal parts by km, and their limits?",
        "SELECT part, COUNT(*) AS n, MIN(km) AS low, MAX(km) AS high FROM (SELECT km, NTILE(4) OVER "
        "(ORDER BY km, id) AS part FROM trips) AS q GROUP BY part ORDER BY part",
        lambda: (
            T.sort_values(["km", "id"])
            .assign(part=np.repeat([1, 2, 3, 4], ROWS // 4))
            .groupby("part", as_index=False)
            .agg(n=("id", "size"), low=("km", "min"), high=("km", "max"))
        ),
    ),
    Program(
        "What part of the km of all has each zone?",
        "SELECT zone, SUM(km) / SUM(SUM(km)) OVER () AS share FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(km=("km", "sum")).assign(share=lambda part: part.km / part.km.sum())[["zone", "share"]],
    ),
    Program(
        "What part of the km of its zone has each trip?",
        "SELECT id, km / SUM(km) OVER (PARTITION BY zone) AS share FROM trips ORDER BY id LIMIT 30",
        lambda: T.assign(share=T.km / T.groupby("zone").km.transform("sum"))[["id", "share"]].head(30),
    ),
    Program(
        "How many days make the first half of all km (Pareto)?",
        "WITH d AS (SELECT day, SUM(km) AS km FROM trips GROUP BY day), r AS (SELECT day, SUM(km) OVER "
        "(ORDER BY km DESC, day) / SUM(km) OVER () AS part FROM d) SELECT COUNT(*) AS n FROM r WHERE part <= 0.5",
        lambda: row(
            n=int(
                (by_day().sort_values(["km", "day"], ascending=[False, True]).km.cumsum() / T.km.sum() <= 0.5).sum()
            )
        ),
    ),
    Program(
        "First and largest km of each zone beside each trip?",
        "SELECT id, FIRST_VALUE(km) OVER (PARTITION BY zone ORDER BY id) AS begun, MAX(km) OVER "
        "(PARTITION BY zone) AS most FROM trips ORDER BY id LIMIT 30",
        lambda: T.assign(begun=T.groupby("zone").km.transform("first"), most=T.groupby("zone").km.transform("max"))[
            ["id", "begun", "most"]
        ].head(30),
    ),
    Program(
        "Distance from the mean of the zone?",
        "SELECT id, ROUND(ABS(km - AVG(km) OVER (PARTITION BY zone)), 6) AS off FROM trips ORDER BY id LIMIT 25",
        deviation,
        {
            "postgresql": "SELECT id, ROUND(ABS(km - AVG(km) OVER (PARTITION BY zone))::numeric, 6) AS off FROM trips "
            "ORDER BY id LIMIT 25"
        },
    ),
    Program(
        "Km by month, and growth since the month before?",
        "WITH m AS (SELECT $month AS month, SUM(km) AS km FROM trips GROUP BY 1) SELECT month, km, km - LAG(km) "
        "OVER (ORDER BY month) AS growth FROM m ORDER BY month",
        change,
    ),
    Program(
        "The longest runs of the same way of paying?",
        "WITH n AS (SELECT id, paid, ROW_NUMBER() OVER (ORDER BY id) - ROW_NUMBER() OVER (PARTITION BY paid "
        "ORDER BY id) AS island FROM trips WHERE id < 200) SELECT paid, MIN(id) AS first, COUNT(*) AS n FROM n "
        "GROUP BY paid, island ORDER BY n DESC, 2 LIMIT 5",
        streaks,
    ),
    Program(
        "Who rides most in each zone?",
        "WITH c AS (SELECT zone, rider, COUNT(*) AS n FROM trips WHERE rider IS NOT NULL GROUP BY zone, rider), "
        "r AS (SELECT zone, rider, n, ROW_NUMBER() OVER (PARTITION BY zone ORDER BY n DESC, rider) AS place FROM c) "
        "SELECT zone, rider, n FROM r WHERE place = 1 ORDER BY zone",
        mode,
    ),
    Program(
        "Cumulative distribution of km?",
        "SELECT DISTINCT km, CUME_DIST() OVER (ORDER BY km) AS part FROM trips ORDER BY km LIMIT 10",
        lambda: (
            T.assign(part=T.km.rank(method="max", pct=True))[["km", "part"]]
            .drop_duplicates()
            .sort_values("km")
            .head(10)
        ),
    ),
    Program(
        "Place of each trip between 0 and 1?",
        "SELECT id, PERCENT_RANK() OVER (ORDER BY km) AS place FROM trips ORDER BY id LIMIT 10",
        lambda: T.assign(place=(T.km.rank(method="min") - 1) / (ROWS - 1))[["id", "place"]].head(10),
    ),
    # --- pivots and conditions
    Program(
        "Trips by zone, card beside cash?",
        "SELECT zone, SUM(CASE WHEN paid = 'card' THEN 1 ELSE 0 END) AS card, "
        "SUM(CASE WHEN paid = 'cash' THEN 1 ELSE 0 END) AS cash FROM trips GROUP BY zone ORDER BY zone",
        lambda: pd.crosstab(T.zone, T.paid).reset_index(),
    ),
    Program(
        "Mean fare by zone, card beside cash?",
        "SELECT zone, AVG(CASE WHEN paid = 'card' THEN fare END) AS card, AVG(CASE WHEN paid = 'cash' THEN fare END) "
        "AS cash FROM trips GROUP BY zone ORDER BY zone",
        by_card_and_cash,
    ),
    Program(
        "Trips by zone, quarters side by side?",
        "SELECT zone, COUNT(CASE WHEN $quarter = 1 THEN 1 END) AS q1, COUNT(CASE WHEN $quarter = 2 THEN 1 END) AS q2, "
        "COUNT(CASE WHEN $quarter = 3 THEN 1 END) AS q3, COUNT(CASE WHEN $quarter = 4 THEN 1 END) AS q4 FROM trips "
        "GROUP BY zone ORDER BY zone",
        quarters,
    ),
    Program(
        "Long trips by zone?",
        "SELECT zone, COUNT(*) FILTER (WHERE km > 25) AS distant FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(distant=("km", lambda km: int((km > 25).sum()))),
        {"mariadb": "SELECT zone, SUM(IF(km > 25, 1, 0)) AS distant FROM trips GROUP BY zone ORDER BY zone"},
    ),
    Program(
        "Zone B first, then the others?",
        "SELECT zone, COUNT(*) AS n FROM trips GROUP BY zone ORDER BY CASE WHEN zone = 'B' THEN 0 ELSE 1 END, zone",
        lambda: counted(T, "zone", "zone").iloc[[1, 0, 2, 3]],
    ),
    # --- missing values
    Program(
        "Mean fare with 0 for missing ones?",
        "SELECT zone, AVG(COALESCE(fare, 0)) AS mean FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(mean=("fare", lambda fare: fare.fillna(0).mean())),
    ),
    Program(
        "What part of the fares is missing?",
        "SELECT paid, AVG(CASE WHEN fare IS NULL THEN 1e0 ELSE 0e0 END) AS missing FROM trips GROUP BY paid "
        "ORDER BY paid",
        lambda: T.groupby("paid", as_index=False).agg(missing=("fare", lambda fare: fare.isna().mean())),
    ),
    Program(
        "Fare by km, without a division by zero?",
        "SELECT id, fare / NULLIF(km - 1, 0) AS price FROM trips WHERE id < 400 AND km < 3 ORDER BY id",
        lambda: T[(T.id < 400) & (T.km < 3)].assign(
            price=lambda part: part.fare / (part.km - 1).replace(0, np.nan)
        )[["id", "price"]],
    ),
    Program(
        "The cheapest trips, missing fares last?",
        "SELECT id, fare FROM trips WHERE id < 40 ORDER BY fare NULLS LAST, id",
        lambda: T[T.id < 40].sort_values(["fare", "id"])[["id", "fare"]],
        {"mariadb": "SELECT id, fare FROM trips WHERE id < 40 ORDER BY fare IS NULL, fare, id"},
    ),
    Program(
        "Trips without a rider by zone?",
        "SELECT zone, COUNT(*) - COUNT(rider) AS missing FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(missing=("rider", lambda rider: int(rider.isna().sum()))),
    ),
    # --- text
    Program(
        "Trips by rider, whatever case and blanks?",
        "SELECT LOWER(TRIM(rider)) AS rider, COUNT(*) AS n FROM trips WHERE rider IS NOT NULL GROUP BY 1 ORDER BY 1",
        lambda: counted(T, T.rider.str.strip().str.lower(), "rider"),
    ),
    Program(
        "Trips by surname?",
        "SELECT $surname AS surname, COUNT(*) AS n FROM trips WHERE rider IS NOT NULL GROUP BY 1 ORDER BY 1",
        lambda: counted(T, surname(), "surname"),
    ),
    Program(
        "Initials and length of names?",
        "SELECT DISTINCT UPPER(SUBSTR(TRIM(rider), 1, 1)) AS initial, LENGTH(TRIM(rider)) AS length FROM trips "
        "WHERE rider IS NOT NULL ORDER BY 1",
        lambda: (
            pd.DataFrame(
                {"initial": T.rider.str.strip().str[0].str.upper(), "length": T.rider.str.strip().str.len()}
            )
            .dropna()
            .drop_duplicates()
            .sort_values("initial")
        ),
    ),
    Program(
        "Zone and way of paying as one label?",
        "SELECT zone || '-' || UPPER(REPLACE(paid, 'c', 'k')) AS label, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1",
        lambda: counted(T, T.zone + "-" + T.paid.str.replace("c", "k").str.upper(), "label"),
        {
            "mariadb": "SELECT CONCAT(zone, '-', UPPER(REPLACE(paid, 'c', 'k'))) AS label, COUNT(*) AS n FROM trips "
            "GROUP BY 1 ORDER BY 1"
        },
    ),
    Program(
        "Where is the first e in each name?",
        "SELECT DISTINCT rider, $position AS place FROM trips WHERE rider LIKE '%er%' OR rider LIKE '%ah%' "
        "ORDER BY rider",
        lambda: pd.DataFrame({"rider": [" Ada Berg", "cleo Dahl"], "place": [7, 3]}),
    ),
    # --- numbers
    Program(
        "Whole km, rounded fares and the larger of both?",
        "SELECT id, CAST(km - 0.25 AS $whole) AS whole, ROUND(fare / 7) AS sevenths, $greatest(fare, km) AS larger, "
        "$least(fare, km) AS smaller FROM trips WHERE id < 30 AND fare IS NOT NULL AND km <> FLOOR(km) ORDER BY id",
        lambda: T[(T.id < 30) & T.fare.notna() & (T.km % 1 != 0)].assign(
            whole=lambda part: np.floor(part.km).astype(int),
            sevenths=lambda part: (part.fare / 7).round(),
            larger=lambda part: part[["fare", "km"]].max(axis=1),
            smaller=lambda part: part[["fare", "km"]].min(axis=1),
        )[["id", "whole", "sevenths", "larger", "smaller"]],
        {
            "sqlite": "SELECT id, CAST(km - 0.25 AS INTEGER) AS whole, ROUND(fare / 7) AS sevenths, max(fare, km) AS "
            "larger, min(fare, km) AS smaller FROM trips WHERE id < 30 AND fare IS NOT NULL AND km <> CAST(km AS INTEGER) "
            "ORDER BY id"
        },
    ),
    Program(
        "Numbers of trips as text?",
        "SELECT CAST(id AS $text) AS label FROM trips WHERE id < 12 ORDER BY id",
        lambda: pd.DataFrame({"label": list(map(str, range(12)))}),
    ),
    Program(
        "Spread of km by zone?",
        "SELECT zone, STDDEV_SAMP(km) AS spread, VAR_SAMP(km) AS square FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(spread=("km", "std"), square=("km", "var")),
        {"sqlite": None},
    ),
    Program(
        "Variance of km by zone, by its formula?",
        "SELECT zone, AVG(km * km) - AVG(km) * AVG(km) AS square FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(square=("km", lambda km: km.var(ddof=0))),
    ),
    Program(
        "Do long trips cost more?",
        "SELECT CORR(km, fare) AS r FROM trips WHERE fare IS NOT NULL",
        lambda: row(r=T.km.corr(T.fare)),
        {
            "sqlite": None,
            "mariadb": "SELECT (AVG(km * fare) - AVG(km) * AVG(fare)) / (STDDEV_POP(km) * "
            "STDDEV_POP(fare)) AS r FROM trips WHERE fare IS NOT NULL",
        },
    ),
    Program(
        "Median fare by zone?",
        "SELECT zone, MEDIAN(fare) AS middle FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(middle=("fare", "median")),
        {
            "sqlite": None,
            "postgresql": "SELECT zone, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY fare) AS middle FROM trips "
            "GROUP BY zone ORDER BY zone",
            "mariadb": "SELECT DISTINCT zone, MEDIAN(fare) OVER (PARTITION BY zone) AS middle FROM trips "
            "WHERE fare IS NOT NULL ORDER BY zone",
        },
    ),
    Program(
        "Nine tenths of the trips of a zone are at most how long?",
        "SELECT zone, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY km) AS high FROM trips GROUP BY zone ORDER BY zone",
        lambda: by_zone(high=("km", lambda km: km.quantile(0.9))),
        {
            "sqlite": None,
            "polars": "SELECT zone, QUANTILE_CONT(km, 0.9) AS high FROM trips GROUP BY zone ORDER BY zone",
            "mariadb": "SELECT DISTINCT zone, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY km) OVER "
            "(PARTITION BY zone) AS high FROM trips ORDER BY zone",
        },
    ),
    Program(
        "The middle trip by place (a median without MEDIAN)?",
        "WITH r AS (SELECT zone, km, ROW_NUMBER() OVER (PARTITION BY zone ORDER BY km) AS place, COUNT(*) OVER "
        "(PARTITION BY zone) AS n FROM trips) SELECT zone, AVG(km) AS middle FROM r WHERE 2 * place BETWEEN n AND "
        "n + 2 GROUP BY zone ORDER BY zone",
        lambda: by_zone(middle=("km", "median")),
    ),
    # --- sets
    Program(
        "Ways of paying, and zones where a fare is missing?",
        "SELECT paid, zone FROM trips WHERE fare IS NULL UNION SELECT paid, 'ALL' FROM trips ORDER BY 1, 2",
        lambda: (
            pd.concat([T[T.fare.isna()][["paid", "zone"]], T[["paid"]].assign(zone="ALL")])
            .drop_duplicates()
            .sort_values(["paid", "zone"])
        ),
    ),
    Program(
        "Sums by zone and by city in one table?",
        "SELECT zone AS label, SUM(km) AS km FROM trips GROUP BY zone UNION ALL SELECT city, SUM(km) FROM trips "
        "JOIN zones USING (zone) GROUP BY city ORDER BY km, 1",
        lambda: pd.concat(
            [
                by_zone(km=("km", "sum")).rename(columns={"zone": "label"}),
                joined().groupby("city", as_index=False).agg(km=("km", "sum")).rename(columns={"city": "label"}),
            ]
        ).sort_values(["km", "label"]),
    ),
    Program(
        "Zones of both tables?",
        "SELECT zone FROM trips INTERSECT SELECT zone FROM zones ORDER BY zone",
        lambda: pd.DataFrame({"zone": ["A", "B", "C"]}),
    ),
    Program(
        "Zones of the first table alone?",
        "SELECT zone FROM trips EXCEPT SELECT zone FROM zones ORDER BY zone",
        lambda: pd.DataFrame({"zone": ["D"]}),
    ),
    Program(
        "Names of zones from a list in the query?",
        "WITH names AS (SELECT 'A' AS zone, 'north' AS title UNION ALL SELECT 'B', 'south') SELECT title, COUNT(*) "
        "AS n FROM trips t JOIN names ON names.zone = t.zone GROUP BY title ORDER BY title",
        lambda: counted(T[T.zone.isin(["A", "B"])], T.zone.map({"A": "north", "B": "south"}), "title"),
    ),
]


def calendar() -> pd.DataFrame:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", "2024-01-31")})
    n = T[T.zone == "D"].groupby("day", as_index=False).agg(n=("id", "size"))
    return days.merge(n, on="day", how="left").fillna({"n": 0})


def first_of_zone() -> pd.DataFrame:
    return top(T, 1)[["zone", "id"]]


def pivoted() -> pd.DataFrame:
    return (
        T.pivot_table(index="zone", columns="paid", values="km", aggfunc="sum")
        .reset_index()
        .rename_axis(columns=None)
    )


def long() -> pd.DataFrame:
    some = T[T.id < 20][["id", "km", "fare"]]
    return some.melt(id_vars="id", var_name="what", value_name="x").dropna().sort_values(["id", "what"])


PIVOT = (
    "SELECT * FROM (SELECT zone, paid, km FROM trips) PIVOT (SUM(km) FOR paid IN ('card', 'cash')) ORDER BY zone"
)
UNPIVOT = "SELECT * FROM (SELECT id, km, fare FROM trips WHERE id < 20) UNPIVOT (x FOR what IN (km, fare)) ORDER BY id, what"
QUALIFY = (
    "SELECT zone, id, km FROM trips QUALIFY ROW_NUMBER() OVER (PARTITION BY zone ORDER BY km DESC, id) <= 2 "
    "ORDER BY zone, km DESC, id"
)
DISTINCT_ON = "SELECT DISTINCT ON (zone) zone, id, km FROM trips ORDER BY zone, km DESC, id"
OWN: Mapping[Engine, list[Program]] = {
    "duckdb": [
        Program("PIVOT: km by zone, card beside cash?", PIVOT, pivoted),
        Program("UNPIVOT: km and fares below each other?", UNPIVOT, long),
        Program("QUALIFY: the two longest trips of each zone?", QUALIFY, lambda: top(T, 2)),
        Program("DISTINCT ON: the longest trip of each zone?", DISTINCT_ON, lambda: top(T, 1)),
        Program(
            "GROUP BY ALL: median and quantile?",
            "SELECT zone, median(fare) AS middle, quantile_cont(km, 0.9) AS high FROM trips GROUP BY ALL ORDER BY ALL",
            lambda: by_zone(middle=("fare", "median"), high=("km", lambda km: km.quantile(0.9))),
        ),
        Program(
            "A calendar by generate_series?",
            "SELECT CAST(d AS DATE) AS day, COUNT(t.id) AS n FROM generate_series(DATE '2024-01-01', DATE '2024-01-31', "
            "INTERVAL 1 DAY) AS g(d) LEFT JOIN trips t ON t.day = d AND t.zone = 'D' GROUP BY 1 ORDER BY 1",
            calendar,
        ),
        Program(
            "The trip with most km, by arg_max, and the way most paid?",
            "SELECT zone, arg_max(id, km * 10000 - id) AS id FROM trips GROUP BY zone ORDER BY zone",
            first_of_zone,
        ),
    ],
    "sqlite": [
        Program(
            "The longest trip of each zone, by a bare column beside MAX?",
            "SELECT zone, id FROM (SELECT zone, id, MAX(km * 10000 - id) FROM trips GROUP BY zone) ORDER BY zone",
            first_of_zone,
        ),
        Program(
            "A calendar by a recursive WITH?",
            "WITH RECURSIVE d(day) AS (SELECT '2024-01-01' UNION ALL SELECT date(day, '+1 day') FROM d "
            "WHERE day < '2024-01-31') SELECT d.day, COUNT(t.id) AS n FROM d LEFT JOIN trips t ON t.day = d.day AND "
            "t.zone = 'D' GROUP BY d.day ORDER BY d.day",
            calendar,
        ),
    ],
    "postgresql": [
        Program("DISTINCT ON: the longest trip of each zone?", DISTINCT_ON, lambda: top(T, 1)),
        Program(
            "A calendar by generate_series?",
            "SELECT d::date AS day, COUNT(t.id) AS n FROM generate_series('2024-01-01'::date, '2024-01-31', '1 day') AS "
            "g(d) LEFT JOIN trips t ON t.day = g.d AND t.zone = 'D' GROUP BY 1 ORDER BY 1",
            calendar,
        ),
        Program(
            "LATERAL: the longest trip of each zone?",
            "SELECT z.zone, l.id FROM (SELECT DISTINCT zone FROM trips) z CROSS JOIN LATERAL (SELECT id FROM trips t "
            "WHERE t.zone = z.zone ORDER BY km DESC, id LIMIT 1) l ORDER BY z.zone",
            first_of_zone,
        ),
        Program(
            "Rows without a fare or a rider, a semicolon as text?",
            "SELECT SUM(num_nulls(fare, rider)) AS missing, MIN(';') AS mark FROM trips",
            lambda: row(missing=int(T[["fare", "rider"]].isna().sum().sum()), mark=";"),
        ),
    ],
    "mariadb": [
        Program(
            "Zones in one text, a semicolon between them?",
            "SELECT paid, GROUP_CONCAT(DISTINCT zone ORDER BY zone DESC SEPARATOR '; ') AS zones FROM trips GROUP BY paid "
            "ORDER BY paid",
            lambda: pd.DataFrame({"paid": ["card", "cash"], "zones": ["D; C; B; A"] * 2}),
        ),
        Program(
            "A sum of conditions, by week and the fraction .5?",
            "SELECT YEARWEEK(day, 3) AS week, SUM(paid = 'card') AS card, SUM(km * .5) AS half FROM trips "
            "WHERE day BETWEEN '2024-01-01' AND '2024-01-14' GROUP BY 1 ORDER BY 1",
            lambda: (
                T[T.day < "2024-01-15"]
                .assign(week=lambda part: 202400 + part.day.dt.isocalendar().week.astype(int))
                .groupby("week", as_index=False)
                .agg(card=("paid", lambda paid: int((paid == "card").sum())), half=("km", lambda km: km.sum() / 2))
            ),
        ),
    ],
    "spark": [
        Program("PIVOT: km by zone, card beside cash?", PIVOT, pivoted),
        Program("UNPIVOT: km and fares below each other?", UNPIVOT, long),
        Program(
            "A calendar by sequence?",
            "SELECT d.day, COUNT(t.id) AS n FROM (SELECT explode(sequence(DATE'2024-01-01', DATE'2024-01-31', "
            "INTERVAL 1 DAY)) AS day) d LEFT JOIN trips t ON t.day = d.day AND t.zone = 'D' GROUP BY 1 ORDER BY 1",
            calendar,
        ),
        Program(
            "Conditions, and the trip with most km by max_by?",
            "SELECT paid, count_if(fare > 50) AS high, max_by(id, km * 10000 - id) AS longest FROM trips "
            "WHERE paid RLIKE '^ca' GROUP BY paid ORDER BY paid",
            lambda: (
                T.sort_values(["km", "id"], ascending=[False, True])
                .groupby("paid", as_index=False)
                .agg(high=("fare", lambda fare: int((fare > 50).sum())), longest=("id", "first"))
            ),
        ),
        Program(
            "An alias of the SELECT in GROUP BY and HAVING?",
            "SELECT `zone`, date_format(day, 'yyyy-MM') AS since, sum(km) AS km FROM trips GROUP BY zone, since "
            "HAVING since BETWEEN '2024-02' AND '2024-03' ORDER BY zone, since",
            lambda: (
                T.assign(since=T.day.dt.strftime("%Y-%m"))
                .query("since in ('2024-02', '2024-03')")
                .groupby(["zone", "since"], as_index=False)
                .agg(km=("km", "sum"))
            ),
        ),
        Program(
            "LATERAL VIEW: a row for each of a list?",
            "SELECT city, part FROM zones LATERAL VIEW explode(array(zone, concat(zone, 'x'))) p AS part ORDER BY part",
            lambda: (
                pd.concat([ZONES[["city", "zone"]], ZONES.assign(zone=ZONES.zone + "x")[["city", "zone"]]])
                .rename(columns={"zone": "part"})
                .sort_values("part")
            ),
        ),
        Program(
            "Lists, maps and functions in them?",
            "SELECT city, array_join(transform_values(map('a', sort_array(collect_list(zone))), (k, v) -> v)['a'], "
            "'+') AS zones, size(filter(collect_list(area), a -> a > 4)) AS large FROM zones GROUP BY 1 ORDER BY 1",
            lambda: ZONES.groupby("city", as_index=False).agg(
                zones=("zone", "+".join), large=("area", lambda area: int((area > 4).sum()))
            ),
        ),
        Program(
            "WITH ROLLUP?",
            "SELECT coalesce(zone, 'all') AS zone, count(*) AS n FROM trips GROUP BY zone WITH ROLLUP ORDER BY n",
            lambda: pd.concat([counted(T, "zone", "zone"), row(zone="all", n=ROWS)]).sort_values("n"),
        ),
    ],
    "polars": [
        Program("QUALIFY: the two longest trips of each zone?", QUALIFY, lambda: top(T, 2)),
        Program("DISTINCT ON: the longest trip of each zone?", DISTINCT_ON, lambda: top(T, 1)),
        Program(
            "All columns but some, one of them renamed?",
            "SELECT * EXCLUDE (started, rider, paid) RENAME (km AS distance) FROM trips WHERE id < 5 ORDER BY id",
            lambda: T.head(5).rename(columns={"km": "distance"}).drop(columns=["started", "rider", "paid"]),
        ),
    ],
}
"""What only some of them can write."""
