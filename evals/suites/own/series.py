"""Time series: Seattle's weather, share prices, employment, sunspots, the Nile, the sea and the US economy.

From vega_datasets (package BSD-3-Clause; its SOURCES.md names each table's origin: NOAA, the US Bureau of Labor
Statistics) and statsmodels.datasets (all used here are in the public domain).
"""

from __future__ import annotations

import math
import statistics
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any

from evals.checks import (
    all_of,
    at_most_numbers,
    cell,
    close,
    day_names,
    each,
    figure,
    frame,
    has_line,
    holds,
    labelled,
    later,
    number,
    says,
    year_names,
)
from evals.suites.own.tables import rows, statsmodels
from evals.task import Check, FigureFacts, Task, Turn

WEATHER = "from vega_datasets import local_data\nweather = local_data.seattle_weather()"
STOCKS = "from vega_datasets import local_data\nstocks = local_data.stocks()"
EMPLOYMENT = "from vega_datasets import local_data\nemployment = local_data.us_employment()"
CITIES = """
from vega_datasets import local_data
seattle = local_data.seattle_temps()
san_francisco = local_data.sf_temps()
seattle = seattle[seattle.index % 37 != 5].reset_index(drop=True)
san_francisco = san_francisco[san_francisco.index % 41 != 7].sort_values("date", ascending=False, ignore_index=True)
"""
MACRO = "from statsmodels.datasets import macrodata\nmacro = macrodata.load_pandas().data"
SUNSPOTS = "from statsmodels.datasets import sunspots as data\nsunspots = data.load_pandas().data"
NILE = "from statsmodels.datasets import nile as data\nnile = data.load_pandas().data"
ELNINO = "from statsmodels.datasets import elnino\nsea = elnino.load_pandas().data"
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]


def _rain_by_year() -> dict[Any, float]:
    found: dict[Any, float] = {}
    for day in rows("seattle_weather"):
        year = year_names(day["date"].year)
        found[year] = found.get(year, 0.0) + day["precipitation"]
    return found


def _rainy_day_shares() -> dict[Any, float]:
    rainy: dict[Any, list[bool]] = {}
    for day in rows("seattle_weather"):
        rainy.setdefault(year_names(day["date"].year), []).append(day["precipitation"] > 0)
    return {year: statistics.fmean(days) for year, days in rainy.items()}


def _driest_spell() -> Check:
    best: list[date] = []
    run: list[date] = []
    for day in rows("seattle_weather"):
        run = [*run, day["date"].date()] if day["precipitation"] == 0 else []
        best = max(best, run, key=len)
    return all_of(
        number(len(best), digits=0), says(day_names(best[0]), day_names(best[-1])), at_most_numbers(25)
    )  # fmt: skip


def _monthly_highs() -> list[float]:
    found: dict[tuple[int, int], list[float]] = {}
    for day in rows("seattle_weather"):
        found.setdefault((day["date"].year, day["date"].month), []).append(day["temp_max"])
    return [statistics.fmean(found[month]) for month in sorted(found)]


def _hours_of_both() -> list[tuple[int, float, float]]:
    """Month, temperature in Seattle and in San Francisco, of the hours that both tables have."""
    seattle = {row["date"]: row["temp"] for at, row in enumerate(rows("seattle_temps")) if at % 37 != 5}
    other = {row["date"]: row["temp"] for at, row in enumerate(rows("sf_temps")) if at % 41 != 7}
    return [(hour.month, seattle[hour], other[hour]) for hour in seattle if hour in other]


def _warmer_share() -> float:
    return statistics.fmean(seattle > other for _, seattle, other in _hours_of_both())


def _monthly_differences() -> dict[Any, float]:
    found: dict[int, list[float]] = {}
    for month, seattle, other in _hours_of_both():
        found.setdefault(month, []).append(seattle - other)
    return {month: statistics.fmean(found[month]) for month in sorted(found)}


def _judge_gap(found: Any) -> str:
    """The months may be numbers or names, in the order of the year."""
    wanted = list(_monthly_differences().values())
    if len(found) != 12:
        return f"there are {len(found)} rows"
    table = found.reset_index()
    same = any(all(map(partial(close, rel=5e-3), table[name], wanted)) for name in table.columns)
    return "" if same else "no column holds the mean differences in the order of the months"


def _prices() -> dict[str, list[float]]:
    """In the order of the months."""
    found: dict[str, list[float]] = {}
    for row in sorted(rows("stocks"), key=lambda one: one["date"]):
        found.setdefault(row["symbol"], []).append(row["price"])
    return found


def _gains() -> dict[str, float]:
    return {symbol: (prices[-1] / prices[0] - 1) * 100 for symbol, prices in _prices().items()}


def _volatilities() -> dict[str, float]:
    found = {}
    for symbol, prices in _prices().items():
        returns = [after / before - 1 for before, after in pairwise(prices)]
        found[symbol] = statistics.stdev(returns) * math.sqrt(12)
    return found


def _drawdowns() -> dict[str, float]:
    """As positive shares."""
    return {
        symbol: max(1 - price / max(prices[: at + 1]) for at, price in enumerate(prices))
        for symbol, prices in _prices().items()
    }


def _judge_wide(found: Any) -> str:
    wanted = {(row["date"], row["symbol"]): row["price"] for row in rows("stocks")}
    if "date" in found.columns:
        found = found.set_index("date")
    if list(found.columns) != ["AAPL", "AMZN", "GOOG", "IBM", "MSFT"] and set(found.columns) != set(_prices()):
        return f"the columns are {list(found.columns)}"
    if len(found) != 123 or int(found.isna().sum().sum()) != 123 * 5 - len(wanted):
        return f"{len(found)} rows with {int(found.isna().sum().sum())} missing prices"
    wrong = [key for key, price in wanted.items() if not close(found.loc[key[0], key[1]], price)]
    return f"the price of {wrong[0]} is another" if wrong else ""


def _indexed(symbol: str) -> list[float]:
    prices = [
        row["price"] for row in rows("stocks") if row["symbol"] == symbol and row["date"].date() >= date(2005, 1, 1)
    ]
    return [price / prices[0] * 100 for price in prices]


def _five_named_lines(facts: FigureFacts) -> str:
    missing = set(_prices()) - set(facts.legend)
    return f"the legend does not name {sorted(missing)}" if missing else ""


def _job_loss() -> Check:
    months = [(row["month"][:7], row["nonfarm"]) for row in rows("us_employment")]
    peak = max((one for one in months if one[0] < "2010"), key=lambda one: one[1])
    low = min((one for one in months if one[0] > peak[0]), key=lambda one: one[1])
    lost = number(peak[1] - low[1], digits=0, either_sign=True)
    return all_of(
        lost, says(_month(peak[0])), says(_month(low[0])), at_most_numbers(20)
    )  # fmt: skip


def _month(text: str) -> tuple[str, ...]:
    day = date.fromisoformat(f"{text}-01")
    return (*day_names(day), text, f"{day:%B %Y}", f"{day:%b %Y}", f"{day:%B, %Y}", f"{day:%m/%Y}")


SECTORS = (
    "construction",
    "manufacturing",
    "retail_trade",
    "information",
    "financial_activities",
    "education_and_health_services",
    "leisure_and_hospitality",
    "government",
)


def _sector_growth() -> dict[Any, float]:
    first, last = rows("us_employment")[0], rows("us_employment")[-1]
    growth = {sector: (last[sector] / first[sector] - 1) * 100 for sector in SECTORS}
    return dict(sorted(growth.items(), key=lambda one: -one[1]))


def _decades() -> dict[str, tuple[float, float]]:
    found: dict[str, list[Any]] = {}
    for row in statsmodels("macrodata").to_dict("records"):
        if row["year"] >= 1960:
            found.setdefault(str(int(row["year"]) // 10 * 10), []).append((row["infl"], row["unemp"]))
    return {
        decade: (statistics.fmean(one for one, _ in both), statistics.fmean(one for _, one in both))
        for decade, both in found.items()
    }


def _decade_check() -> Check:
    return all_of(
        *(
            cell((decade, f"{decade}s"), value=value)
            for decade, both in _decades().items()
            for value in both
        )
    )  # fmt: skip


def _okun() -> Check:
    data = statsmodels("macrodata").to_dict("records")
    growth = [(b["realgdp"] / a["realgdp"] - 1) * 100 for a, b in pairwise(data)]
    change = [b["unemp"] - a["unemp"] for a, b in pairwise(data)]
    slope = statistics.linear_regression(change, growth).slope
    return all_of(number(slope), number(statistics.correlation(change, growth) ** 2), at_most_numbers(120))


def _jobs_by_output() -> dict[Any, float]:
    """Jobs (thousands) for each billion of real GDP, of the last quarter of each year that both tables have."""
    jobs: dict[tuple[int, int], list[int]] = {}
    for row in rows("us_employment"):
        year, month = int(row["month"][:4]), int(row["month"][5:7])
        jobs.setdefault((year, (month - 1) // 3 + 1), []).append(row["nonfarm"])
    output = {
        (int(row["year"]), int(row["quarter"])): row["realgdp"]
        for row in statsmodels("macrodata").to_dict("records")
    }
    return {key: statistics.fmean(jobs[key]) / output[key] for key in jobs if key in output}


def _smoothed_peak() -> Check:
    spots = [(int(row["YEAR"]), row["SUNACTIVITY"]) for row in statsmodels("sunspots").to_dict("records")]
    means = {
        spots[at][0]: statistics.fmean(value for _, value in spots[at - 10 : at + 1])
        for at in range(10, len(spots))
    }
    year = max(means, key=lambda one: means[one])
    return all_of(number(year, digits=0), number(means[year], digits=1), at_most_numbers(10))


def _nile_change() -> Check:
    flows = [(row["year"], row["volume"]) for row in statsmodels("nile").to_dict("records")]
    before = statistics.fmean(flow for year, flow in flows if year < 1899)
    after = statistics.fmean(flow for year, flow in flows if year >= 1899)
    return all_of(number(before, digits=1), number(after, digits=1), at_most_numbers(30))


def _nile_test() -> Check:
    from scipy import stats

    data = statsmodels("nile")
    late = data.year >= 1899
    found = stats.ttest_ind(data.volume[~late], data.volume[late], equal_var=False)
    return all_of(number(float(found.statistic), digits=2, either_sign=True), at_most_numbers(30))


def _sea_temperatures() -> dict[Any, float]:
    return {
        f"{int(row['YEAR'])}-{month:02}-01 00:00:00": row[name]
        for row in statsmodels("elnino").to_dict("records")
        for month, name in enumerate(MONTHS, 1)
    }


def _judge_long(found: Any) -> str:
    import pandas as pd

    table = found.reset_index()
    dates = [name for name in table.columns if pd.api.types.is_datetime64_any_dtype(table[name])]
    if not dates:
        return "no column holds dates"
    if not table[dates[0]].is_monotonic_increasing:
        return "the dates are not in order"
    wanted = _sea_temperatures()
    if len(table) != len(wanted):
        return f"there are {len(table)} rows"
    numeric = [name for name in table.columns if pd.api.types.is_float_dtype(table[name])]
    values = list(wanted.values())
    same = any(all(map(close, table[name], values)) for name in numeric)
    return (
        ""
        if same and str(table[dates[0]].iloc[0]) == next(iter(wanted))
        else "temperatures are not in their months"
    )


TASKS = (
    Task(
        id="weather-rain-by-year",
        topic="follow-up",
        source="vega_datasets: seattle_weather",
        setup=WEATHER,
        variables=("weather",),
        turns=(
            Turn(
                prompt="Total precipitation in each year?",
                check=later(lambda: each(_rain_by_year(), digits=1)),
                reference="weather.groupby(weather.date.dt.year).precipitation.sum()",
                wrong=(
                    "weather.groupby(weather.date.dt.year).precipitation.mean()",
                    "weather[weather.weather == 'rain'].groupby(weather.date.dt.year).precipitation.sum()",
                ),
            ),
            Turn(
                prompt="And on what share of the days did any fall?",
                check=later(lambda: each(_rainy_day_shares(), percent=True)),
                reference="((weather.precipitation > 0).groupby(weather.date.dt.year).mean() * 100).round(1)",
                wrong=(
                    "(weather.weather == 'rain').groupby(weather.date.dt.year).mean()",
                    "(weather.precipitation >= 0).groupby(weather.date.dt.year).mean()",
                ),
            ),
        ),
    ),
    Task(
        id="weather-driest-spell",
        topic="time",
        source="vega_datasets: seattle_weather",
        setup=WEATHER,
        variables=("weather",),
        turns=(
            Turn(
                prompt="""
                    What was the longest run of consecutive days without any precipitation? Give its length in days
                    and its first and last day.
                """,
                check=later(_driest_spell),
                reference="""
                    dry = weather.precipitation == 0
                    runs = weather[dry].groupby((~dry).cumsum()[dry]).date.agg(['min', 'max', 'size'])
                    longest = runs.loc[runs['size'].idxmax()]
                    print(longest['size'], longest['min'].date(), longest['max'].date())
                """,
                wrong=(
                    """
                    dry = weather.weather == 'sun'
                    runs = weather[dry].groupby((~dry).cumsum()[dry]).date.agg(['min', 'max', 'size'])
                    longest = runs.loc[runs['size'].idxmax()]
                    print(longest['size'], longest['min'].date(), longest['max'].date())
                    """,
                    """
                    dry = weather.precipitation == 0
                    runs = weather.groupby((~dry).cumsum()).date.agg(['min', 'max', 'size'])
                    longest = runs.loc[runs['size'].idxmax()]
                    print(longest['size'], longest['min'].date(), longest['max'].date())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="weather-monthly-highs",
        topic="plot",
        source="vega_datasets: seattle_weather",
        setup=WEATHER,
        variables=("weather",),
        turns=(
            Turn(
                prompt="""
                    Line chart of the average maximum temperature month by month over the whole four years (48
                    points), axes labelled.
                """,
                check=later(lambda: figure(has_line(_monthly_highs()), labelled)),
                reference="""
                    import matplotlib.pyplot as plt
                    monthly = weather.set_index('date').temp_max.resample('MS').mean()
                    plt.plot(monthly.index, monthly)
                    plt.xlabel('Month')
                    plt.ylabel('Mean high (°C)')
                """,
                wrong=(
                    """
                    ax = weather.groupby(weather.date.dt.month).temp_max.mean().plot()
                    ax.set_xlabel('Month')
                    ax.set_ylabel('Mean high')
                    """,
                    """
                    ax = weather.set_index('date').temp_max.resample('MS').max().plot()
                    ax.set_xlabel('Month')
                    ax.set_ylabel('High')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="two-cities-hours",
        topic="join",
        source="vega_datasets: seattle_temps, sf_temps (hours left out)",
        setup=CITIES,
        variables=("seattle", "san_francisco"),
        turns=(
            Turn(
                prompt="""
                    Both tables hold hourly temperatures, with some hours missing in each. In what percentage of the
                    hours that are in both was it warmer in Seattle than in San Francisco?
                """,
                check=later(lambda: all_of(number(_warmer_share(), percent=True), at_most_numbers(12))),
                reference="""
                    both = seattle.merge(san_francisco, on='date', suffixes=('_seattle', '_sf'))
                    print(f'{(both.temp_seattle > both.temp_sf).mean() * 100:.2f}%')
                """,
                wrong=(
                    "n = min(len(seattle), len(san_francisco))\n"
                    "(seattle.temp[:n] > san_francisco.temp[:n]).mean() * 100",
                    """
                    both = seattle.merge(san_francisco, on='date', suffixes=('_seattle', '_sf'))
                    print(f'{(both.temp_seattle < both.temp_sf).mean() * 100:.2f}%')
                    """,
                ),
            ),
            Turn(
                prompt="""
                    For each month, how many degrees warmer was Seattle on average (negative if colder)? Keep it as
                    a table named monthly_gap.
                """,
                check=later(lambda: frame("monthly_gap", _judge_gap)),
                reference="""
                    both = seattle.merge(san_francisco, on='date', suffixes=('_seattle', '_sf'))
                    gap = both.temp_seattle - both.temp_sf
                    monthly_gap = gap.groupby(both.date.dt.month).mean().rename('gap').reset_index()
                    monthly_gap
                """,
                wrong=(
                    """
                    both = seattle.merge(san_francisco, on='date', suffixes=('_seattle', '_sf'))
                    gap = both.temp_sf - both.temp_seattle
                    monthly_gap = gap.groupby(both.date.dt.month).mean().rename('gap').reset_index()
                    """,
                    """
                    gap = seattle.temp - san_francisco.temp
                    monthly_gap = gap.groupby(seattle.date.dt.month).mean().rename('gap').reset_index()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="stocks-gain",
        topic="follow-up",
        source="vega_datasets: stocks",
        setup=STOCKS,
        variables=("stocks",),
        turns=(
            Turn(
                prompt="By how many percent did each stock rise or fall from its first to its last month?",
                check=later(lambda: each(_gains(), digits=1)),
                reference="""
                    ends = stocks.sort_values('date').groupby('symbol').price.agg(['first', 'last'])
                    ((ends['last'] / ends['first'] - 1) * 100).sort_values(ascending=False)
                """,
                wrong=(
                    """
                    ends = stocks.groupby('symbol').price.agg(['first', 'last'])
                    (ends['last'] - ends['first']) / ends['last'] * 100
                    """,
                    """
                    ends = stocks.groupby('symbol').price.agg(['min', 'max'])
                    (ends['max'] / ends['min'] - 1) * 100
                    """,
                ),
            ),
            Turn(
                prompt="Start all at 100 in January 2005 and draw the five lines in one chart with a legend.",
                check=later(
                    lambda: figure(*(has_line(_indexed(symbol)) for symbol in _prices()), _five_named_lines)
                ),
                reference="""
                    wide = stocks[stocks.date >= '2005-01-01'].pivot(index='date', columns='symbol', values='price')
                    (wide / wide.iloc[0] * 100).plot(ylabel='January 2005 = 100')
                """,
                wrong=(
                    "stocks.pivot(index='date', columns='symbol', values='price').plot()",
                    """
                    wide = stocks.pivot(index='date', columns='symbol', values='price')
                    (wide / wide.iloc[0] * 100).loc['2005':].plot()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="stocks-risk",
        topic="follow-up",
        source="vega_datasets: stocks",
        setup=STOCKS,
        variables=("stocks",),
        turns=(
            Turn(
                prompt="""
                    Annualised volatility of each share: standard deviation of the simple monthly returns times the
                    square root of 12.
                """,
                check=later(lambda: each(_volatilities(), percent=True)),
                reference="""
                    returns = stocks.sort_values('date').groupby('symbol').price.pct_change()
                    returns.groupby(stocks.symbol).std() * 12 ** .5
                """,
                wrong=(
                    "stocks.price.pct_change().groupby(stocks.symbol).std() * 12 ** .5",
                    "stocks.groupby('symbol').price.pct_change().groupby(stocks.symbol).std()",
                ),
            ),
            Turn(
                prompt="And the maximum drawdown, i.e. the largest fall from an earlier high, in percent?",
                check=later(
                    lambda: all_of(
                        *(
                            cell(symbol, value=fall, percent=True, either_sign=True)
                            for symbol, fall in _drawdowns().items()
                        )
                    )
                ),
                reference="""
                    highs = stocks.groupby('symbol').price.cummax()
                    (stocks.price / highs - 1).groupby(stocks.symbol).min() * 100
                """,
                wrong=(
                    """
                    ends = stocks.groupby('symbol').price.agg(['min', 'max'])
                    (ends['min'] / ends['max'] - 1) * 100
                    """,
                    """
                    falls = stocks.groupby('symbol').price.pct_change()
                    falls.groupby(stocks.symbol).min() * 100
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="stocks-wide",
        topic="table",
        source="vega_datasets: stocks",
        setup=STOCKS,
        variables=("stocks",),
        turns=(
            Turn(
                prompt="""
                    Reshape stocks into a table called wide: one row per date, one column per symbol, the prices
                    inside. Leave months without a price empty.
                """,
                check=later(lambda: frame("wide", _judge_wide)),
                reference="wide = stocks.pivot(index='date', columns='symbol', values='price')\nwide.head()",
                wrong=(
                    "wide = stocks.pivot(index='date', columns='symbol', values='price').bfill()",
                    "wide = stocks.pivot(index='date', columns='symbol', values='price').dropna()",
                ),
            ),
        ),
    ),
    Task(
        id="employment-recession",
        topic="time",
        source="vega_datasets: us_employment",
        setup=EMPLOYMENT,
        variables=("employment",),
        turns=(
            Turn(
                prompt="""
                    In the great recession, in which month did nonfarm employment peak (before 2010), when did it
                    reach its low after that, and how many thousand jobs were lost in between?
                """,
                check=later(_job_loss),
                reference="""
                    jobs = employment.set_index('month').nonfarm
                    peak = jobs[:'2009-12-31'].idxmax()
                    low = jobs[peak:].idxmin()
                    print(f'peak {peak}, low {low}, {jobs[peak] - jobs[low]:,} thousand jobs lost')
                """,
                wrong=(
                    """
                    jobs = employment.set_index('month').nonfarm
                    peak, low = jobs.idxmax(), jobs.idxmin()
                    print(f'peak {peak}, low {low}, {jobs[peak] - jobs[low]:,} thousand jobs lost')
                    """,
                    """
                    jobs = employment.set_index('month').private
                    peak = jobs[:'2009-12-31'].idxmax()
                    low = jobs[peak:].idxmin()
                    print(f'peak {peak}, low {low}, {jobs[peak] - jobs[low]:,} thousand jobs lost')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="employment-sector-growth",
        topic="table",
        source="vega_datasets: us_employment",
        setup=EMPLOYMENT,
        variables=("employment",),
        turns=(
            Turn(
                prompt="""
                    Compare these sectors: construction, manufacturing, retail trade, information, financial
                    activities, education and health services, leisure and hospitality, government. Percent change
                    in employment from the first to the last month, as a table called growth, highest first.
                """,
                check=later(lambda: frame("growth", holds(_sector_growth(), ordered=True, rel=5e-3))),
                reference="""
                    sectors = ['construction', 'manufacturing', 'retail_trade', 'information',
                               'financial_activities', 'education_and_health_services',
                               'leisure_and_hospitality', 'government']
                    ends = employment.sort_values('month')[sectors].iloc[[0, -1]]
                    change = (ends.iloc[1] / ends.iloc[0] - 1) * 100
                    growth = change.sort_values(ascending=False).rename_axis('sector').reset_index(name='percent')
                    growth
                """,
                wrong=(
                    """
                    sectors = ['construction', 'manufacturing', 'retail_trade', 'information',
                               'financial_activities', 'education_and_health_services',
                               'leisure_and_hospitality', 'government']
                    change = (employment[sectors].max() / employment[sectors].min() - 1) * 100
                    growth = change.sort_values(ascending=False).reset_index(name='percent')
                    """,
                    """
                    sectors = ['construction', 'manufacturing', 'retail_trade', 'information',
                               'financial_activities', 'education_and_health_services',
                               'leisure_and_hospitality', 'government']
                    change = (employment[sectors].iloc[-1] / employment[sectors].iloc[0] - 1) * 100
                    growth = change.sort_values().reset_index(name='percent')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="jobs-and-output",
        topic="join",
        source="vega_datasets: us_employment; statsmodels: macrodata",
        setup=f"{EMPLOYMENT}\n{MACRO}",
        variables=("employment", "macro"),
        turns=(
            Turn(
                prompt="""
                    employment is monthly and macro quarterly. For each quarter that both have, divide the average
                    nonfarm employment by real GDP; keep year, quarter and the ratio as jobs_per_gdp.
                """,
                check=later(lambda: frame("jobs_per_gdp", holds(_jobs_by_output(), rel=1e-3))),
                reference="""
                    import pandas as pd
                    month = pd.to_datetime(employment.month)
                    jobs = employment.groupby([month.dt.year.rename('year'), month.dt.quarter.rename('quarter')])
                    both = macro.merge(jobs.nonfarm.mean().reset_index(), on=['year', 'quarter'])
                    both['ratio'] = both.nonfarm / both.realgdp
                    jobs_per_gdp = both[['year', 'quarter', 'ratio']]
                    jobs_per_gdp
                """,
                wrong=(
                    """
                    import pandas as pd
                    jobs = employment.assign(year=pd.to_datetime(employment.month).dt.year)
                    both = macro.merge(jobs[['year', 'nonfarm']], on='year')
                    both['ratio'] = both.nonfarm / both.realgdp
                    jobs_per_gdp = both[['year', 'quarter', 'ratio']]
                    """,
                    """
                    import pandas as pd
                    month = pd.to_datetime(employment.month)
                    jobs = employment.groupby([month.dt.year.rename('year'), month.dt.quarter.rename('quarter')])
                    both = macro.merge(jobs.nonfarm.sum().reset_index(), on=['year', 'quarter'])
                    both['ratio'] = both.nonfarm / both.realgdp
                    jobs_per_gdp = both[['year', 'quarter', 'ratio']]
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="macro-decades",
        topic="group",
        source="statsmodels: macrodata",
        setup=MACRO,
        variables=("macro",),
        turns=(
            Turn(
                prompt="Average inflation and unemployment in each decade, starting with the 1960s.",
                check=later(_decade_check),
                reference="""
                    since = macro[macro.year >= 1960]
                    since.groupby((since.year // 10 * 10).astype(int))[['infl', 'unemp']].mean()
                """,
                wrong=(
                    """
                    since = macro[macro.year >= 1960]
                    since.groupby((since.year // 10 * 10).astype(int))[['infl', 'unemp']].median()
                    """,
                    """
                    since = macro[macro.year >= 1960]
                    since.groupby(((since.year - 1) // 10 * 10).astype(int))[['infl', 'unemp']].mean()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="macro-okun",
        topic="test",
        source="statsmodels: macrodata",
        setup=MACRO,
        variables=("macro",),
        turns=(
            Turn(
                prompt="""
                    Okun's law: regress the quarterly percent growth of real GDP on the change of the unemployment
                    rate against the quarter before. Slope and R²?
                """,
                check=later(_okun),
                reference="""
                    from scipy.stats import linregress
                    growth = macro.realgdp.pct_change()[1:] * 100
                    fit = linregress(macro.unemp.diff()[1:], growth)
                    print(f'slope {fit.slope:.3f}, R² {fit.rvalue ** 2:.3f}')
                """,
                wrong=(
                    """
                    from scipy.stats import linregress
                    fit = linregress(macro.realgdp.pct_change()[1:] * 100, macro.unemp.diff()[1:])
                    print(f'slope {fit.slope:.3f}, R² {fit.rvalue ** 2:.3f}')
                    """,
                    """
                    from scipy.stats import linregress
                    fit = linregress(macro.unemp, macro.realgdp)
                    print(f'slope {fit.slope:.3f}, R² {fit.rvalue ** 2:.3f}')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="sunspots-smoothed",
        topic="time",
        source="statsmodels: sunspots",
        setup=SUNSPOTS,
        variables=("sunspots",),
        turns=(
            Turn(
                prompt="""
                    Smooth the sunspot activity with the mean of each year and the ten before it. In which year is
                    this highest, and how high?
                """,
                check=later(_smoothed_peak),
                reference="""
                    smooth = sunspots.set_index('YEAR').SUNACTIVITY.rolling(11).mean()
                    print(int(smooth.idxmax()), round(smooth.max(), 2))
                """,
                wrong=(
                    """
                    smooth = sunspots.set_index('YEAR').SUNACTIVITY.rolling(11, center=True).mean()
                    print(int(smooth.idxmax()), round(smooth.max(), 2))
                    """,
                    """
                    smooth = sunspots.set_index('YEAR').SUNACTIVITY.rolling(10).mean()
                    print(int(smooth.idxmax()), round(smooth.max(), 2))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="nile-before-and-after",
        topic="test",
        source="statsmodels: nile",
        setup=NILE,
        variables=("nile",),
        turns=(
            Turn(
                prompt="What was the mean flow of the Nile before 1899 and what from 1899 on?",
                check=later(_nile_change),
                reference="nile.groupby(nile.year >= 1899).volume.mean()",
                wrong=(
                    "nile.groupby(nile.year > 1899).volume.mean()",
                    "nile.groupby(nile.year >= 1899).volume.median()",
                ),
            ),
            Turn(
                prompt="Test that with Welch's t-test and give me the t statistic.",
                check=later(_nile_test),
                reference="""
                    from scipy.stats import ttest_ind
                    late = nile.year >= 1899
                    ttest_ind(nile.volume[~late], nile.volume[late], equal_var=False)
                """,
                wrong=(
                    """
                    from scipy.stats import ttest_ind
                    late = nile.year >= 1899
                    ttest_ind(nile.volume[~late], nile.volume[late])
                    """,
                    """
                    from scipy.stats import ttest_1samp
                    ttest_1samp(nile.volume[nile.year >= 1899], nile.volume.mean())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="sea-temperatures-long",
        topic="cleaning",
        source="statsmodels: elnino",
        setup=ELNINO,
        variables=("sea",),
        turns=(
            Turn(
                prompt="""
                    sea has a column per month. Turn it into a long table named temps with a real date (the first of
                    the month) and the temperature, in chronological order.
                """,
                check=later(lambda: frame("temps", _judge_long)),
                reference="""
                    import pandas as pd
                    temps = sea.melt(id_vars='YEAR', var_name='month', value_name='temperature')
                    text = temps.YEAR.astype(int).astype(str) + '-' + temps.month.str.title() + '-01'
                    temps['date'] = pd.to_datetime(text, format='%Y-%b-%d')
                    temps = temps.sort_values('date', ignore_index=True)[['date', 'temperature']]
                """,
                wrong=(
                    """
                    import pandas as pd
                    temps = sea.melt(id_vars='YEAR', var_name='month', value_name='temperature')
                    text = temps.YEAR.astype(int).astype(str) + '-' + temps.month.str.title() + '-01'
                    temps['date'] = pd.to_datetime(text, format='%Y-%b-%d')
                    """,
                    """
                    temps = sea.melt(id_vars='YEAR', var_name='month', value_name='temperature')
                    temps = temps.sort_values(['YEAR', 'month'])
                    """,
                ),
            ),
        ),
    ),
)
