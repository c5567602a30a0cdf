"""The tables of the idiomatic programs; polars has its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl


def make_tables() -> Mapping[str, Any]:
    """Make the tables, the same each time."""
    rng = np.random.default_rng(7)
    return {
        "orders": _orders(rng),
        "customers": _customers(rng),
        "products": _products(),
        "patients": _patients(rng),
        "weather": _weather(rng),
        "scores": _scores(rng),
        "sensors": _sensors(rng),
        "houses": _houses(rng),
        "trips": _trips(rng),
        "docks": pl.DataFrame(
            {"dock": ["A", "B", "C", "D"], "city": ["Bern", "Bern", "Basel", "Basel"], "slots": [20, 12, 30, 8]}
        ),
    }


def _orders(rng: np.random.Generator) -> pd.DataFrame:
    n = 240
    return pd.DataFrame(
        {
            "order_id": np.arange(1001, 1001 + n),
            "customer_id": rng.integers(1, 31, n),
            "product_id": rng.choice(["P1", "P2", "P3", "P4", "P5", "P6"], n),
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, n), unit="D"),
            "quantity": rng.integers(1, 9, n),
            "price": rng.uniform(5, 120, n).round(2),
            "discount": np.where(rng.random(n) < 0.3, np.nan, rng.choice([0.0, 0.05, 0.1, 0.2], n)),
            "status": rng.choice(["completed", "returned", "cancelled"], n, p=[0.8, 0.12, 0.08]),
        }
    )


def _customers(rng: np.random.Generator) -> pd.DataFrame:
    n = 32
    return pd.DataFrame(
        {
            "customer_id": np.arange(1, n + 1),
            "name": [f"Customer {i:02}" for i in range(1, n + 1)],
            "segment": rng.choice(["consumer", "corporate", "home office"], n),
            "region": rng.choice(["North", "South", "East", "West"], n),
            "signup": pd.Timestamp("2022-06-01") + pd.to_timedelta(rng.integers(0, 560, n), unit="D"),
            "email": [f"user{i}@{'example.com' if i % 3 else 'mail.org'}" for i in range(1, n + 1)],
        }
    )


def _products() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "product_id": ["P1", "P2", "P3", "P4", "P5", "P6"],
            "product": ["Lamp", "Desk", "Chair", "Monitor", "Keyboard", "Shelf"],
            "category": ["Lighting", "Furniture", "Furniture", "Electronics", "Electronics", "Furniture"],
            "cost": [12.0, 60.0, 35.0, 80.0, 20.0, 28.0],
        }
    )


def _patients(rng: np.random.Generator) -> pd.DataFrame:
    n = 120
    arm = np.array(["placebo", "low", "high"])[np.arange(n) % 3]
    baseline = rng.normal(150, 12, n).round(1)
    effect = np.select([arm == "low", arm == "high"], [6, 12], 1)
    after = (baseline - effect + rng.normal(0, 8, n)).round(1)
    return pd.DataFrame(
        {
            "patient": np.arange(1, n + 1),
            "arm": arm,
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(25, 80, n),
            "smoker": rng.random(n) < 0.3,
            "bp_before": baseline,
            "bp_after": np.where(rng.random(n) < 0.08, np.nan, after),
        }
    )


def _weather(rng: np.random.Generator) -> pd.DataFrame:
    days = pd.date_range("2023-01-01", "2023-12-31", freq="D")
    frames = []
    for station, level in (("Harbor", 11), ("Hill", 7), ("Valley", 9)):
        season = -9 * np.cos(2 * np.pi * days.day_of_year.to_numpy() / 365)
        temp = (level + season + rng.normal(0, 2.5, len(days))).round(1)
        rain = np.where(rng.random(len(days)) < 0.6, 0, rng.gamma(1.5, 4, len(days))).round(1)
        wind = rng.gamma(4, 3, len(days)).round(1)
        temp[rng.integers(0, len(days), 6)] = np.nan
        frames.append(pd.DataFrame({"date": days, "station": station, "temp": temp, "rain": rain, "wind": wind}))
    return pd.concat(frames, ignore_index=True)


def _scores(rng: np.random.Generator) -> pd.DataFrame:
    students = [f"S{i:02}" for i in range(1, 41)]
    rows = [
        {"student": student, "school": "Oak" if at % 2 else "Elm", "subject": subject, "term": term}
        for at, student in enumerate(students)
        for subject in ("math", "reading", "science")
        for term in (1, 2)
    ]
    frame = pd.DataFrame(rows)
    points = rng.normal(70, 12, len(frame)) + 3 * (frame["term"] == 2) + 4 * (frame["subject"] == "reading")
    return frame.assign(score=points.clip(0, 100).round().astype(int))


def _sensors(rng: np.random.Generator) -> pd.DataFrame:
    times = pd.date_range("2024-03-01", periods=7 * 24, freq="h")
    frames = [
        pd.DataFrame(
            {
                "time": times,
                "machine": machine,
                "temperature": (
                    base + 3 * np.sin(2 * np.pi * times.hour / 24) + rng.normal(0, 1, len(times))
                ).round(2),
                "vibration": rng.gamma(3, 0.4, len(times)).round(3),
                "state": rng.choice(["run", "idle", "fault"], len(times), p=[0.8, 0.17, 0.03]),
            }
        )
        for machine, base in (("M1", 60), ("M2", 64), ("M3", 58))
    ]
    return pd.concat(frames, ignore_index=True)


def _houses(rng: np.random.Generator) -> pd.DataFrame:
    n = 160
    area, rooms, age = rng.uniform(45, 210, n).round(0), rng.integers(1, 7, n), rng.integers(0, 90, n)
    district = rng.choice(["Center", "Harbor", "Park"], n)
    bonus = np.select([district == "Center", district == "Park"], [90, 40], 0)
    price = 60 + 2.4 * area + 8 * rooms - 0.6 * age + bonus + rng.normal(0, 25, n)
    return pd.DataFrame(
        {
            "area": area,
            "rooms": rooms,
            "age": np.where(rng.random(n) < 0.05, np.nan, age),
            "district": district,
            "garden": rng.choice(["yes", "no"], n),
            "price": price.round(1),
        }
    )


def _trips(rng: np.random.Generator) -> pl.DataFrame:
    n = 300
    start = pd.Timestamp("2024-05-01") + pd.to_timedelta(rng.integers(0, 30 * 24 * 60, n), unit="min")
    return pl.DataFrame(
        {
            "trip": np.arange(n),
            "start": pl.Series(start.to_pydatetime().tolist()),
            "dock_from": rng.choice(["A", "B", "C", "D"], n).tolist(),
            "dock_to": rng.choice(["A", "B", "C", "E"], n).tolist(),
            "minutes": rng.gamma(3, 6, n).round(1),
            "member": (rng.random(n) < 0.6).tolist(),
            "rating": [None if x < 0.2 else int(x * 5) + 1 for x in rng.random(n)],
        }
    )
