"""Queries, each with the same program in pandas: a database gives its figures, wherever it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

ROWS = 2000


def _trips() -> pd.DataFrame:
    random = np.random.default_rng(7)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 366, ROWS), unit="D")
    return pd.DataFrame(
        {
            "id": range(ROWS),
            "zone": random.choice(["A", "B", "C", "D"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
            "day": days.strftime("%Y-%m-%d"),
            "km": random.integers(1, 60, ROWS) / 2,
            "fare": np.where(random.random(ROWS) < 0.05, np.nan, random.integers(5, 90, ROWS).astype(float)),
            "paid": random.choice(["card", "cash"], ROWS),
        }
    )


TRIPS = _trips()
ZONES = pd.DataFrame({"zone": ["A", "B", "C", "E"], "city": ["Oslo", "Oslo", "Rome", "Bern"], "area": [4, 7, 9, 2]})


def joined() -> pd.DataFrame:
    return TRIPS.merge(ZONES, on="zone")


def months(frame: pd.DataFrame) -> pd.Series[Any]:
    return frame["day"].str[5:7].astype(int).rename("month")


def top(frame: pd.DataFrame, n: int) -> pd.DataFrame:
    ordered = frame.sort_values(["zone", "km", "id"], ascending=[True, False, True])
    return ordered.groupby("zone").head(n)[["zone", "id", "km"]]


MONTH = {"duckdb": "month(day)", "spark": "month(day)", "sqlite": "CAST(strftime('%m', day) AS INTEGER)"}
PROGRAMS: list[tuple[str, Callable[[], pd.DataFrame]]] = [
    ("SELECT COUNT(*) AS n FROM trips", lambda: pd.DataFrame({"n": [ROWS]})),
    (
        "SELECT id, km FROM trips WHERE km > 25 AND paid = 'card' ORDER BY id",
        lambda: TRIPS[(TRIPS.km > 25) & (TRIPS.paid == "card")][["id", "km"]],
    ),
    (
        "SELECT zone, AVG(fare) AS mean, COUNT(fare) AS n FROM trips GROUP BY zone ORDER BY zone",
        lambda: TRIPS.groupby("zone", as_index=False).agg(mean=("fare", "mean"), n=("fare", "count")),
    ),
    (
        "SELECT zone, SUM(km) AS km FROM trips GROUP BY zone HAVING SUM(km) > 5000 ORDER BY km DESC",
        lambda: (
            TRIPS.groupby("zone", as_index=False)["km"].sum().query("km > 5000").sort_values("km", ascending=False)
        ),
    ),
    (
        "SELECT city, COUNT(*) AS n FROM trips t JOIN zones z ON z.zone = t.zone GROUP BY city ORDER BY city",
        lambda: joined().groupby("city", as_index=False).agg(n=("id", "size")),
    ),
    (
        "SELECT t.zone, MAX(city) AS city FROM trips t LEFT JOIN zones z USING (zone) GROUP BY t.zone ORDER BY 1",
        lambda: (
            TRIPS.merge(ZONES, on="zone", how="left").groupby("zone", as_index=False).agg(city=("city", "first"))
        ),
    ),
    (
        "SELECT zone FROM zones WHERE NOT EXISTS (SELECT 1 FROM trips WHERE trips.zone = zones.zone)",
        lambda: ZONES[~ZONES.zone.isin(TRIPS.zone)][["zone"]],
    ),
    (
        "SELECT id FROM trips WHERE zone IN (SELECT zone FROM zones WHERE city = 'Rome') ORDER BY id LIMIT 7",
        lambda: TRIPS[TRIPS.zone.isin(ZONES[ZONES.city == "Rome"].zone)][["id"]].head(7),
    ),
    (
        "SELECT {month} AS month, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY 1",
        lambda: TRIPS.groupby(months(TRIPS)).size().reset_index(name="n"),
    ),
    (
        "SELECT COUNT(*) AS n FROM trips WHERE day >= '2024-03-01' AND day < '2024-04-01'",
        lambda: pd.DataFrame({"n": [int(TRIPS.day.str.startswith("2024-03").sum())]}),
    ),
    (
        "WITH r AS (SELECT zone, id, km, ROW_NUMBER() OVER (PARTITION BY zone ORDER BY km DESC, id) AS place "
        "FROM trips) SELECT zone, id, km FROM r WHERE place <= 3 ORDER BY zone, place",
        lambda: top(TRIPS, 3),
    ),
    (
        "SELECT id, SUM(km) OVER (PARTITION BY zone ORDER BY id) AS run FROM trips ORDER BY id LIMIT 50",
        lambda: TRIPS.assign(run=TRIPS.groupby("zone").km.cumsum())[["id", "run"]].head(50),
    ),
    (
        "SELECT id, km - LAG(km) OVER (ORDER BY id) AS step FROM trips ORDER BY id LIMIT 20",
        lambda: TRIPS.assign(step=TRIPS.km.diff())[["id", "step"]].head(20),
    ),
    (
        "SELECT id, AVG(km) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS mean FROM trips "
        "ORDER BY id LIMIT 30",
        lambda: TRIPS.assign(mean=TRIPS.km.rolling(3, min_periods=1).mean())[["id", "mean"]].head(30),
    ),
    (
        "SELECT zone, km, RANK() OVER (PARTITION BY zone ORDER BY km DESC) AS place FROM trips "
        "ORDER BY id LIMIT 40",
        lambda: TRIPS.assign(place=TRIPS.groupby("zone").km.rank("min", ascending=False).astype(int))[
            ["zone", "km", "place"]
        ].head(40),
    ),
    (
        "SELECT zone, SUM(CASE WHEN paid = 'card' THEN 1 ELSE 0 END) AS card, "
        "SUM(CASE WHEN paid = 'cash' THEN 1 ELSE 0 END) AS cash FROM trips GROUP BY zone ORDER BY zone",
        lambda: pd.crosstab(TRIPS.zone, TRIPS.paid).reset_index(),
    ),
    (
        "SELECT CASE WHEN km < 5 THEN 'short' WHEN km < 20 THEN 'middle' ELSE 'long' END AS kind, COUNT(*) AS n "
        "FROM trips GROUP BY 1 ORDER BY n",
        lambda: (
            pd.cut(TRIPS.km, [0, 5, 20, 99], right=False, labels=["short", "middle", "long"])
            .value_counts()
            .rename_axis("kind")
            .reset_index(name="n")
            .sort_values("n")
        ),
    ),
    (
        "SELECT COUNT(DISTINCT zone) AS zones, MIN(day) AS first, MAX(day) AS last, "
        "SUM(CASE WHEN fare IS NULL THEN 1 ELSE 0 END) AS missing FROM trips",
        lambda: pd.DataFrame(
            {
                "zones": [TRIPS.zone.nunique()],
                "first": [TRIPS.day.min()],
                "last": [TRIPS.day.max()],
                "missing": [int(TRIPS.fare.isna().sum())],
            }
        ),
    ),
    (
        "SELECT city, SUM(km) / MAX(area) AS density FROM trips JOIN zones USING (zone) GROUP BY city "
        "ORDER BY city",
        lambda: (
            joined()
            .groupby("city", as_index=False)
            .agg(km=("km", "sum"), area=("area", "max"))
            .assign(density=lambda part: part.km / part.area)[["city", "density"]]
        ),
    ),
    (
        "SELECT zone, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM trips) AS share FROM trips GROUP BY zone "
        "ORDER BY zone",
        lambda: (TRIPS.zone.value_counts(normalize=True) * 100).rename("share").sort_index().reset_index(),
    ),
    (
        "SELECT paid, zone FROM trips WHERE fare IS NULL UNION SELECT paid, 'all' FROM trips ORDER BY 1, 2",
        lambda: (
            pd.concat([TRIPS[TRIPS.fare.isna()][["paid", "zone"]], TRIPS[["paid"]].assign(zone="all")])
            .drop_duplicates()
            .sort_values(["paid", "zone"])
        ),
    ),
]
OF_DUCKDB: list[tuple[str, Callable[[], pd.DataFrame]]] = [
    (
        "SELECT zone, median(fare) AS middle, quantile_cont(km, 0.9) AS high FROM trips GROUP BY ALL ORDER BY ALL",
        lambda: (
            TRIPS.groupby("zone")
            .agg(middle=("fare", "median"), high=("km", lambda km: km.quantile(0.9)))
            .reset_index()
        ),
    ),
    (
        "SELECT date_trunc('month', day) AS month, stddev(km) AS spread FROM trips GROUP BY 1 ORDER BY 1 LIMIT 3",
        lambda: (
            TRIPS.assign(month=pd.to_datetime(TRIPS.day).dt.to_period("M").dt.to_timestamp())
            .groupby("month", as_index=False)
            .agg(spread=("km", "std"))
            .head(3)
        ),
    ),
    (
        "SELECT zone, id, km FROM trips QUALIFY row_number() OVER (PARTITION BY zone ORDER BY km DESC, id) <= 2 "
        "ORDER BY zone, km DESC, id",
        lambda: top(TRIPS, 2),
    ),
]


def same(found: pd.DataFrame, wanted: pd.DataFrame) -> bool:
    assert found.columns.tolist() == wanted.columns.tolist()
    assert len(found) == len(wanted)
    for name in map(str, found):
        one, other = found[name].tolist(), wanted[name].tolist()
        if pd.api.types.is_numeric_dtype(wanted[name]):
            np.testing.assert_allclose(np.array(one, float), np.array(other, float), rtol=1e-9)
        elif "day" in name or name in ("first", "last", "month"):
            assert list(map(pd.Timestamp, one)) == list(map(pd.Timestamp, other))
        else:
            assert [None if pd.isna(value) else str(value) for value in one] == [
                None if pd.isna(value) else str(value) for value in other
            ]
    return True


OF_SPARK: list[tuple[str, Callable[[], pd.DataFrame]]] = [
    (
        "SELECT zone, median(fare) AS middle, percentile(km, 0.9) AS high FROM trips GROUP BY ALL ORDER BY zone",
        lambda: (
            TRIPS.groupby("zone")
            .agg(middle=("fare", "median"), high=("km", lambda km: km.quantile(0.9)))
            .reset_index()
        ),
    ),
    (
        "SELECT date_trunc('MONTH', day) AS month, stddev(km) AS spread FROM trips GROUP BY 1 ORDER BY 1 LIMIT 3",
        lambda: (
            TRIPS.assign(month=pd.to_datetime(TRIPS.day).dt.to_period("M").dt.to_timestamp())
            .groupby("month", as_index=False)
            .agg(spread=("km", "std"))
            .head(3)
        ),
    ),
    (
        "SELECT paid, count_if(fare > 50) AS high, max_by(id, km * 10000 - id) AS longest FROM trips "
        "WHERE paid RLIKE '^ca' GROUP BY paid ORDER BY paid",
        lambda: (
            TRIPS.sort_values(["km", "id"], ascending=[False, True])
            .groupby("paid", as_index=False)
            .agg(high=("fare", lambda fare: int((fare > 50).sum())), longest=("id", "first"))
        ),
    ),
    (
        "SELECT `zone`, date_format(day, 'yyyy-MM') AS since, sum(km) AS km FROM trips GROUP BY zone, since "
        "HAVING since BETWEEN '2024-02' AND '2024-03' ORDER BY zone, since",
        lambda: (
            TRIPS.assign(since=TRIPS.day.str[:7])
            .query("since in ('2024-02', '2024-03')")
            .groupby(["zone", "since"], as_index=False)
            .agg(km=("km", "sum"))
        ),
    ),
    (
        "SELECT city, part FROM zones LATERAL VIEW explode(array(zone, concat(zone, 'x'))) p AS part ORDER BY part",
        lambda: (
            pd.concat([ZONES[["city", "zone"]], ZONES.assign(zone=ZONES.zone + "x")[["city", "zone"]]])
            .rename(columns={"zone": "part"})
            .sort_values("part")
        ),
    ),
    (
        "SELECT city, array_join(transform_values(map('a', sort_array(collect_list(zone))), (k, v) -> v)['a'], "
        "'+') AS zones, size(filter(collect_list(area), a -> a > 4)) AS large FROM zones GROUP BY 1 ORDER BY 1",
        lambda: ZONES.groupby("city", as_index=False).agg(
            zones=("zone", "+".join), large=("area", lambda area: int((area > 4).sum()))
        ),
    ),
    (
        "SELECT coalesce(zone, 'all') AS zone, count(*) AS n FROM trips GROUP BY zone WITH ROLLUP ORDER BY zone",
        lambda: pd.concat(
            [
                TRIPS.groupby("zone", as_index=False).agg(n=("id", "size")),
                pd.DataFrame({"zone": ["all"], "n": [len(TRIPS)]}),
            ]
        ),
    ),
    (
        "WITH w AS (SELECT weekofyear(day) AS week, km FROM trips WHERE day < DATE'2024-02-01') SELECT week, "
        "round(sum(km), 1) AS km, count(*) FILTER (WHERE km > 25) AS far FROM w GROUP BY week ORDER BY week",
        lambda: (
            TRIPS[TRIPS.day < "2024-02"]
            .assign(week=lambda part: pd.to_datetime(part.day).dt.isocalendar().week.astype(int))
            .groupby("week", as_index=False)
            .agg(km=("km", "sum"), far=("km", lambda km: int((km > 25).sum())))
        ),
    ),
]
