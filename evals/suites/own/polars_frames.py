"""polars frames of vega_datasets' stocks and weather (package BSD-3-Clause; its SOURCES.md names the origins)."""

from __future__ import annotations

import statistics
from itertools import pairwise
from typing import Any

from evals.checks import all_of, at_most_numbers, cell, each, frame, holds, later
from evals.suites.own.tables import rows
from evals.task import Task, Turn

STOCKS = """
import polars as pl
from vega_datasets import local_data
stocks = pl.from_pandas(local_data.stocks())
"""
WEATHER = """
import polars as pl
from vega_datasets import local_data
weather = pl.from_pandas(local_data.seattle_weather())
"""


def _means(year: int) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in rows("stocks"):
        if row["date"].year == year:
            found.setdefault(row["symbol"], []).append(row["price"])
    return {symbol: statistics.fmean(prices) for symbol, prices in found.items()}


def _best_months() -> dict[Any, float]:
    """Each stock's largest rise against the month before, in percent, largest first."""
    prices: dict[str, list[float]] = {}
    for row in sorted(rows("stocks"), key=lambda one: one["date"]):
        prices.setdefault(row["symbol"], []).append(row["price"])
    best = {
        symbol: max(after / before - 1 for before, after in pairwise(one)) * 100 for symbol, one in prices.items()
    }
    return dict(sorted(best.items(), key=lambda one: -one[1]))


def _weather_means() -> dict[str, tuple[int, float]]:
    found: dict[str, list[float]] = {}
    for row in rows("seattle_weather"):
        found.setdefault(row["weather"], []).append(row["wind"])
    return {kind: (len(winds), statistics.fmean(winds)) for kind, winds in found.items()}


TASKS = (
    Task(
        id="polars-stocks",
        topic="follow-up",
        source="vega_datasets: stocks, as a polars frame",
        setup=STOCKS,
        variables=("stocks",),
        turns=(
            Turn(
                prompt="What was the average price of each stock in 2008?",
                check=later(lambda: all_of(each(_means(2008)), at_most_numbers(14))),
                reference="""
                    import polars as pl
                    stocks.filter(pl.col('date').dt.year() == 2008).group_by('symbol').agg(pl.col('price').mean())
                """,
                wrong=(
                    "import polars as pl\nstocks.group_by('symbol').agg(pl.col('price').mean())",
                    """
                    import polars as pl
                    of_year = stocks.filter(pl.col('date').dt.year() == 2008)
                    of_year.group_by('symbol').agg(pl.col('price').median())
                    """,
                ),
            ),
            Turn(
                prompt="""
                    Over all years, what was the best month of each stock (percent change against the month
                    before)? Keep symbol and percent as best, highest first.
                """,
                check=later(lambda: frame("best", holds(_best_months(), ordered=True, rel=2e-3))),
                reference="""
                    import polars as pl
                    change = (pl.col('price').pct_change().over('symbol') * 100).alias('percent')
                    changes = stocks.sort('symbol', 'date').with_columns(change)
                    best = changes.group_by('symbol').agg(pl.col('percent').max()).sort('percent', descending=True)
                    best
                """,
                wrong=(
                    """
                    import polars as pl
                    changes = stocks.with_columns((pl.col('price').pct_change() * 100).alias('percent'))
                    best = changes.group_by('symbol').agg(pl.col('percent').max()).sort('percent', descending=True)
                    """,
                    """
                    import polars as pl
                    change = (pl.col('price').pct_change().over('symbol') * 100).alias('percent')
                    changes = stocks.sort('symbol', 'date').with_columns(change)
                    best = changes.group_by('symbol').agg(pl.col('percent').max()).sort('percent')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="polars-wind",
        topic="group",
        source="vega_datasets: seattle_weather, as a polars frame",
        setup=WEATHER,
        variables=("weather",),
        turns=(
            Turn(
                prompt="Number of days and average wind speed for each kind of weather?",
                check=later(
                    lambda: all_of(
                        *(
                            all_of(cell(kind, value=count, digits=0), cell(kind, value=wind))
                            for kind, (count, wind) in _weather_means().items()
                        )
                    )
                ),
                reference="""
                    import polars as pl
                    weather.group_by('weather').agg(pl.len().alias('days'), pl.col('wind').mean())
                """,
                wrong=(
                    """
                    import polars as pl
                    weather.group_by('weather').agg(pl.len().alias('days'), pl.col('wind').max())
                    """,
                    """
                    import polars as pl
                    wet = weather.filter(pl.col('precipitation') > 0)
                    wet.group_by('weather').agg(pl.len().alias('days'), pl.col('wind').mean())
                    """,
                ),
            ),
        ),
    ),
)
