"""Small public tables of vega_datasets (package BSD-3-Clause; its SOURCES.md names each table's origin).

cars: 406 models of 1970-82 (UCI Auto MPG, CC BY 4.0), a few without fuel economy or horsepower; iris (Fisher 1936);
barley: yields of six sites in two years, one of which is said to have them swapped; burtin: doses that stop
bacteria; la_riots: 63 deaths of 1992 (Los Angeles Times); airports: 3,376 of the US (public domain).
"""

from __future__ import annotations

import statistics
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    any_of,
    at_most_numbers,
    cell,
    day_names,
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
    says,
    says_not,
    singled_out,
)
from evals.suites.own.tables import rows, vega
from evals.task import Check, FigureFacts, Task, Turn

CARS = "from vega_datasets import local_data\ncars = local_data.cars()"
IRIS = "from vega_datasets import local_data\niris = local_data.iris()"
BARLEY = "from vega_datasets import local_data\nbarley = local_data.barley()"
BURTIN = "from vega_datasets import local_data\nantibiotics = local_data.burtin()"
RIOTS = "from vega_datasets import local_data\nriots = local_data.la_riots()"
AIRPORTS = "from vega_datasets import local_data\nairports = local_data.airports()"


def _mpg_by_origin(cylinders: int | None = None) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for car in rows("cars"):
        mpg = car["Miles_per_Gallon"]
        if mpg is not None and cylinders in (None, car["Cylinders"]):
            found.setdefault(car["Origin"], []).append(mpg)
    return {origin: statistics.fmean(all_mpg) for origin, all_mpg in found.items()}


def _heavy_shares() -> dict[str, float]:
    weights: dict[str, list[int]] = {}
    for car in rows("cars"):
        weights.setdefault(car["Origin"], []).append(car["Weight_in_lbs"])
    return {origin: sum(one > 3000 for one in found) / len(found) for origin, found in weights.items()}


def _strongest() -> dict[Any, float]:
    ratios = sorted(
        (car["Horsepower"] / car["Weight_in_lbs"] * 1000, car["Name"]) for car in rows("cars") if car["Horsepower"]
    )
    return {name: ratio for ratio, name in reversed(ratios[-5:])}


def _european_and_japanese_mpg() -> Check:
    from scipy import stats

    groups = {
        origin: [car["Miles_per_Gallon"] for car in rows("cars") if car["Origin"] == origin]
        for origin in ("Europe", "Japan")
    }
    clean = [[mpg for mpg in group if mpg is not None] for group in groups.values()]
    p_value = float(stats.ttest_ind(*clean, equal_var=False).pvalue)
    return all_of(number(p_value, digits=4), at_most_numbers(40))


def _horsepower_outliers() -> dict[str, float]:
    found: dict[str, float] = {}
    for origin in ("USA", "Europe", "Japan"):
        powers = [car["Horsepower"] for car in rows("cars") if car["Origin"] == origin and car["Horsepower"]]
        low, _, high = statistics.quantiles(powers, n=4, method="inclusive")
        margin = 1.5 * (high - low)
        found[origin] = sum(not low - margin <= one <= high + margin for one in powers)
    return found


def _names_origins(facts: FigureFacts) -> str:
    missing = [origin for origin in ("USA", "Europe", "Japan") if origin not in facts.legend]
    return f"the legend has no {missing[0]}" if missing else ""


def _all_cars_drawn(facts: FigureFacts) -> str:
    """With or without the eight that have no fuel economy."""
    return "" if "" in [has_points(count)(facts) for count in (398, 406)] else has_points(398)(facts)


def _iris_correlations() -> dict[str, float]:
    found: dict[str, float] = {}
    flowers = rows("iris")
    for species in ("setosa", "versicolor", "virginica"):
        of_species = [row for row in flowers if row["species"] == species]
        found[species] = statistics.correlation(
            [row["sepalLength"] for row in of_species], [row["sepalWidth"] for row in of_species]
        )
    return found


def _iris_correlation() -> float:
    flowers = rows("iris")
    return statistics.correlation([row["sepalLength"] for row in flowers], [row["sepalWidth"] for row in flowers])


def _petal_area_quartile() -> dict[Any, float]:
    areas = sorted((row["petalLength"] * row["petalWidth"], row["species"]) for row in rows("iris"))
    limit = statistics.quantiles([area for area, _ in areas], n=4, method="inclusive")[2]
    large = [species for area, species in areas if area > limit]
    return {species: large.count(species) for species in set(large)}


@cache
def _barley_means() -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows("barley"):
        found.setdefault((row["site"], str(row["year"])), []).append(row["yield"])
    return {key: statistics.fmean(yields) for key, yields in found.items()}


def _barley_changes() -> dict[str, float]:
    means = _barley_means()
    return {site: means[site, "1932"] - means[site, "1931"] for site, year in means if year == "1932"}


def _names_years(facts: FigureFacts) -> str:
    named = " ".join((*facts.legend, *facts.x_ticks, *facts.y_ticks))
    return "" if "1931" in named and "1932" in named else "the legend does not name the years"


def _doses() -> dict[tuple[str, str], float]:
    bacteria = rows("burtin")
    return {
        (drug, gram): statistics.median(row[drug] for row in bacteria if row["Gram_Staining"] == gram)
        for drug in ("Penicillin", "Streptomycin", "Neomycin")
        for gram in ("negative", "positive")
    }


def _doses_check() -> Check:
    return all_of(
        *(cell(*key, value=dose, digits=3) for key, dose in _doses().items()),
        at_most_numbers(20),  # fewer than the table has
    )


def _deaths_by_kind() -> dict[str, tuple[int, float]]:
    dead = rows("la_riots")
    kinds = {row["type"] for row in dead}
    return {
        kind: (
            sum(row["type"] == kind for row in dead),
            statistics.median(row["age"] for row in dead if row["type"] == kind and row["age"]),
        )
        for kind in kinds
    }


def _worst_day() -> Check:
    days = [row["death_date"].date() for row in rows("la_riots")]
    worst = max(set(days), key=days.count)
    return all_of(
        says(day_names(worst)), singled_out(day_names(worst), [day_names(day) for day in set(days)]),
        number(days.count(worst), digits=0), number(days.count(worst) / len(days), percent=True),
    )  # fmt: skip


def _international() -> dict[Any, float]:
    found: dict[Any, float] = {}
    for row in rows("airports"):
        if "International" in row["name"] and row["state"]:
            found[row["state"]] = found.get(row["state"], 0) + 1
    return dict(sorted(found.items(), key=lambda one: -one[1])[:5])


def _top_share() -> Check:
    """Of all, or of those that lie in a state."""
    named = vega("airports").name.str.contains("International")
    located = named & vega("airports").state.notna()
    top = sum(_international().values())
    return all_of(
        any_of(*(number(top / int(all_of_them.sum()), percent=True) for all_of_them in (named, located))),
        at_most_numbers(15),
    )


TASKS = (
    Task(
        id="cars-mpg-by-origin",
        topic="follow-up",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="What's the average fuel economy of the cars from each origin?",
                check=later(lambda: each(_mpg_by_origin(), digits=1)),
                reference="cars.groupby('Origin').Miles_per_Gallon.mean()",
                wrong=(
                    "cars.groupby('Origin').Miles_per_Gallon.median()",
                    "cars.fillna({'Miles_per_Gallon': 0}).groupby('Origin').Miles_per_Gallon.mean()",
                ),
            ),
            Turn(
                prompt="And for the four-cylinder ones only?",
                check=later(lambda: each(_mpg_by_origin(4), digits=1)),
                reference="cars[cars.Cylinders == 4].groupby('Origin')['Miles_per_Gallon'].mean().round(2)",
                wrong=(
                    "cars.groupby('Origin').Miles_per_Gallon.mean()",
                    "cars[cars.Cylinders >= 4].groupby('Origin').Miles_per_Gallon.mean()",
                ),
            ),
            Turn(
                prompt="Plot these as horizontal bars, best on top, with axis labels.",
                check=later(lambda: figure(has_bars(sorted(_mpg_by_origin(4).values()), ordered=True), labelled)),
                reference="""
                    m = cars[cars.Cylinders == 4].groupby('Origin').Miles_per_Gallon.mean().sort_values()
                    ax = m.plot.barh()
                    ax.set_xlabel('Miles per gallon')
                    ax.set_ylabel('Origin')
                """,
                wrong=(
                    """
                    m = cars[cars.Cylinders == 4].groupby('Origin').Miles_per_Gallon.mean()
                    ax = m.sort_values(ascending=False).plot.barh()
                    ax.set_xlabel('Miles per gallon')
                    """,
                    """
                    ax = cars.groupby('Origin').Miles_per_Gallon.mean().sort_values().plot.barh()
                    ax.set_xlabel('Miles per gallon')
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="cars-power-to-weight",
        topic="table",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="""
                    Which 5 cars have the most horsepower per 1000 lbs? Put name, origin and that ratio in a table
                    called strongest, best first.
                """,
                check=later(lambda: frame("strongest", holds(_strongest(), ordered=True, rel=2e-3))),
                reference="""
                    cars['ratio'] = cars.Horsepower / cars.Weight_in_lbs * 1000
                    strongest = cars.nlargest(5, 'ratio')[['Name', 'Origin', 'ratio']]
                    strongest
                """,
                wrong=(
                    """
                    cars['ratio'] = cars.Horsepower / cars.Weight_in_lbs * 1000
                    strongest = cars.sort_values('ratio')[['Name', 'Origin', 'ratio']].head()
                    """,
                    "strongest = cars.nlargest(5, 'Horsepower')[['Name', 'Origin', 'Horsepower']]",
                ),
            ),
        ),
    ),
    Task(
        id="cars-heavy-share",
        topic="group",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="What percentage of the cars of each origin weighs more than 3,000 pounds?",
                check=later(lambda: each(_heavy_shares(), percent=True)),
                reference="(cars.Weight_in_lbs > 3000).groupby(cars.Origin).mean() * 100",
                wrong=(
                    "cars[cars.Weight_in_lbs > 3000].Origin.value_counts(normalize=True) * 100",
                    "(cars.Weight_in_lbs > 3000).groupby(cars.Origin).sum() / len(cars) * 100",
                ),
            ),
        ),
    ),
    Task(
        id="cars-europe-against-japan",
        topic="test",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="""
                    Is the difference in mpg between Japanese and European cars statistically significant? Use
                    Welch's t-test and tell me the p-value to 4 decimals.
                """,
                check=later(_european_and_japanese_mpg),
                reference="""
                    from scipy.stats import ttest_ind
                    mpg = cars.dropna(subset=['Miles_per_Gallon'])
                    japan = mpg[mpg.Origin == 'Japan'].Miles_per_Gallon
                    europe = mpg[mpg.Origin == 'Europe'].Miles_per_Gallon
                    t, p = ttest_ind(japan, europe, equal_var=False)
                    print(f't = {t:.3f}, p = {p:.4f}: significant at the 5 % level')
                """,
                wrong=(
                    """
                    from scipy.stats import ttest_ind
                    mpg = cars.dropna(subset=['Miles_per_Gallon']).set_index('Origin').Miles_per_Gallon
                    print(ttest_ind(mpg['Japan'], mpg['Europe']))
                    """,
                    """
                    from scipy.stats import ttest_ind
                    mpg = cars.set_index('Origin').Miles_per_Gallon
                    print(ttest_ind(mpg['Japan'], mpg['Europe'], equal_var=False).pvalue)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="cars-horsepower-outliers",
        topic="outliers",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="""
                    How many horsepower outliers does each origin have? Use the 1.5 IQR rule within each origin and
                    list all three origins, zeros too.
                """,
                check=later(lambda: all_of(each(_horsepower_outliers(), digits=0), at_most_numbers(20))),
                reference="""
                    def count(power):
                        low, high = power.quantile([.25, .75])
                        margin = 1.5 * (high - low)
                        return int(((power < low - margin) | (power > high + margin)).sum())
                    cars.groupby('Origin').Horsepower.apply(count)
                """,
                wrong=(
                    """
                    low, high = cars.Horsepower.quantile([.25, .75])
                    margin = 1.5 * (high - low)
                    out = (cars.Horsepower < low - margin) | (cars.Horsepower > high + margin)
                    out.groupby(cars.Origin).sum()
                    """,
                    """
                    z = cars.groupby('Origin').Horsepower.transform(lambda s: (s - s.mean()) / s.std())
                    (z.abs() > 3).groupby(cars.Origin).sum()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="cars-weight-and-mpg-scatter",
        topic="plot",
        source="vega_datasets: cars",
        setup=CARS,
        variables=("cars",),
        turns=(
            Turn(
                prompt="Scatter plot of mpg against weight, one colour per origin with a legend. Label the axes.",
                check=figure(_all_cars_drawn, _names_origins, labelled),
                reference="""
                    import matplotlib.pyplot as plt
                    fig, ax = plt.subplots()
                    for origin, group in cars.groupby('Origin'):
                        ax.scatter(group.Weight_in_lbs, group.Miles_per_Gallon, label=origin, s=10)
                    ax.set(xlabel='Weight (lbs)', ylabel='Miles per gallon')
                    ax.legend()
                """,
                wrong=(
                    "cars.plot.scatter('Weight_in_lbs', 'Miles_per_Gallon')",
                    """
                    import matplotlib.pyplot as plt
                    for origin, group in cars.groupby('Origin'):
                        plt.scatter(group.Weight_in_lbs, group.Miles_per_Gallon, label=origin)
                    plt.legend()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="iris-sepal-correlation",
        topic="follow-up",
        source="vega_datasets: iris",
        setup=IRIS,
        variables=("iris",),
        turns=(
            Turn(
                prompt="How strongly are sepal length and sepal width correlated (Pearson)?",
                check=later(lambda: all_of(number(_iris_correlation()), at_most_numbers(10))),
                reference="round(iris.sepalLength.corr(iris.sepalWidth), 4)",
                wrong=(
                    "iris.sepalLength.corr(iris.sepalWidth, method='spearman')",
                    "iris.sepalLength.corr(iris.petalLength)",
                ),
            ),
            Turn(
                prompt="Odd. And within each species?",
                check=later(lambda: each(_iris_correlations(), digits=2)),
                reference="iris.groupby('species').apply(lambda g: g.sepalLength.corr(g.sepalWidth))",
                wrong=(
                    "iris.groupby('species').apply(lambda g: g.petalLength.corr(g.petalWidth))",
                    "iris.groupby('species').apply(lambda g: g.sepalLength.cov(g.sepalWidth))",
                ),
            ),
        ),
    ),
    Task(
        id="iris-large-petals",
        topic="group",
        source="vega_datasets: iris",
        setup=IRIS,
        variables=("iris",),
        turns=(
            Turn(
                prompt="""
                    Take petal area as petal length times petal width. Of the flowers above the third quartile of
                    petal area, how many belong to which species?
                """,
                check=later(lambda: all_of(each(_petal_area_quartile(), digits=0), says_not("setosa"))),
                reference="""
                    area = iris.petalLength * iris.petalWidth
                    iris[area > area.quantile(.75)].species.value_counts()
                """,
                wrong=(
                    """
                    area = iris.petalLength * iris.petalWidth
                    iris[area > area.mean()].species.value_counts()
                    """,
                    """
                    area = iris.petalLength * iris.petalWidth
                    cut = area.groupby(iris.species).transform(lambda s: s.quantile(.75))
                    iris[area > cut].species.value_counts()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="barley-two-years",
        topic="follow-up",
        source="vega_datasets: barley",
        setup=BARLEY,
        variables=("barley",),
        turns=(
            Turn(
                prompt="Mean yield per site in 1931 and in 1932?",
                check=later(lambda: all_of(*(cell(*key, value=mean) for key, mean in _barley_means().items()))),
                reference="barley.pivot_table(index='site', columns='year', values='yield')",
                wrong=(
                    "barley.pivot_table(index='site', columns='year', values='yield', aggfunc='median')",
                    "barley.groupby('site')['yield'].mean()",
                ),
            ),
            Turn(
                prompt="""
                    By how much did the mean yield change from 1931 to 1932 at each site, largest increase first?
                """,
                check=later(lambda: all_of(each(_barley_changes()), in_order("Morris", "Duluth", "Crookston"))),
                reference="""
                    means = barley.groupby(['site', 'year'])['yield'].mean().unstack()
                    (means[1932] - means[1931]).sort_values(ascending=False)
                """,
                wrong=(
                    """
                    means = barley.groupby(['site', 'year'])['yield'].mean().unstack()
                    (means[1931] - means[1932]).sort_values(ascending=False)
                    """,
                    """
                    means = barley.groupby(['site', 'year'])['yield'].mean().unstack()
                    (means[1932] - means[1931]).sort_values()
                    """,
                ),
            ),
            Turn(
                prompt="Show the two years' means side by side in a grouped bar chart, one group per site.",
                check=later(lambda: figure(has_bars(list(_barley_means().values())), _names_years)),
                reference="""
                    ax = barley.pivot_table(index='site', columns='year', values='yield').plot.bar(rot=30)
                    ax.set_ylabel('Mean yield')
                """,
                wrong=(
                    "barley.groupby('site')['yield'].mean().plot.bar()",
                    "barley.pivot_table(index='site', columns='year', values='yield', aggfunc='sum').plot.bar()",
                ),
            ),
        ),
    ),
    Task(
        id="antibiotics-median-dose",
        topic="group",
        source="vega_datasets: burtin",
        setup=BURTIN,
        variables=("antibiotics",),
        turns=(
            Turn(
                prompt="""
                    The numbers are the dose needed to stop each bacterium. What is the median dose of each of the
                    three antibiotics for gram-positive and for gram-negative bacteria?
                """,
                check=later(_doses_check),
                reference="antibiotics.groupby('Gram_Staining').median(numeric_only=True)",
                wrong=(
                    "antibiotics.groupby('Gram_Staining')[['Penicillin', 'Streptomycin', 'Neomycin']].mean()",
                    "antibiotics.groupby('Genus')[['Penicillin', 'Streptomycin', 'Neomycin']].median()",
                ),
            ),
        ),
    ),
    Task(
        id="riots-deaths",
        topic="follow-up",
        source="vega_datasets: la_riots",
        setup=RIOTS,
        variables=("riots",),
        turns=(
            Turn(
                prompt="How many people died per type of death, and what was their median age?",
                check=later(
                    lambda: all_of(
                        *(
                            all_of(cell(kind, value=count, digits=0), cell(kind, value=age, digits=1))
                            for kind, (count, age) in _deaths_by_kind().items()
                        )
                    )
                ),
                reference="riots.groupby('type').agg(deaths=('last_name', 'size'), median_age=('age', 'median'))",
                wrong=(
                    "riots.groupby('type').agg(deaths=('last_name', 'size'), age=('age', 'mean'))",
                    "riots.groupby('race').agg(deaths=('last_name', 'size'), median_age=('age', 'median'))",
                ),
            ),
            Turn(
                prompt="On which day did most of them die, how many, and what share of all deaths is that?",
                check=later(lambda: all_of(_worst_day(), at_most_numbers(20))),
                reference="""
                    days = riots.death_date.value_counts()
                    print(days.index[0].date(), days.iloc[0], f'{days.iloc[0] / len(riots):.1%}')
                    print(f'{days.iloc[0] / len(riots) * 100:.2f} percent')
                """,
                wrong=(
                    """
                    days = riots[riots.type == 'Homicide'].death_date.value_counts()
                    print(days.index[0].date(), days.iloc[0], f'{days.iloc[0] / len(riots) * 100:.2f}%')
                    """,
                    """
                    days = riots.death_date.value_counts()
                    print(days.index[-1].date(), days.iloc[-1], days.iloc[-1] / len(riots))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="airports-international",
        topic="kpi",
        source="vega_datasets: airports",
        setup=AIRPORTS,
        variables=("airports",),
        turns=(
            Turn(
                prompt="Top 5 states by number of airports with International in their name?",
                check=later(
                    lambda: all_of(
                        each(_international(), digits=0),
                        in_order(*_international()),
                        at_most_numbers(20),
                        says_not("AK"),
                    )
                ),
                reference="airports[airports.name.str.contains('International')].state.value_counts().head(5)",
                wrong=(
                    "airports.state.value_counts().head(5)",
                    "airports[airports.name.str.contains('International')].state.value_counts().tail(5)",
                ),
            ),
            Turn(
                prompt="What share of all international airports do these five have together?",
                check=later(_top_share),
                reference="""
                    states = airports[airports.name.str.contains('International')].state.value_counts(dropna=False)
                    print(f'{states.head(5).sum() / states.sum() * 100:.2f}%')
                """,
                wrong=(
                    """
                    states = airports[airports.name.str.contains('International')].state.value_counts()
                    print(states.head(5).sum() / len(airports) * 100)
                    """,
                    "airports.state.value_counts(normalize=True).head(5).sum()",
                ),
            ),
        ),
    ),
)
