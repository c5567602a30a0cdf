"""Palmer penguins (palmerpenguins; data CC0): 344 rows, missing sexes and measurements."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from datetime import date
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    at_most_numbers,
    cell,
    close,
    each,
    figure,
    frame,
    has_bars,
    has_points,
    labelled,
    later,
    number,
    row,
    singled_out,
)
from evals.task import Check, FigureFacts, Task, Topic, Turn

SETUP = "from palmerpenguins import load_penguins\npenguins = load_penguins()"
SOURCE = "palmerpenguins: penguins"
SETUP_RAW = "from palmerpenguins import load_penguins_raw\nraw = load_penguins_raw()"
SPECIES = ("Adelie", "Chinstrap", "Gentoo")


@cache
def table() -> Any:
    from palmerpenguins import load_penguins

    return load_penguins()


def _mass_by_species() -> dict[str, float]:
    return {str(name): float(mean) for name, mean in table().groupby("species").body_mass_g.mean().items()}


def _judge_complete(found: Any) -> str:
    wanted = table().dropna()
    if len(found) != len(wanted):
        return f"complete has {len(found)} rows"
    ratio = (wanted.bill_length_mm / wanted.bill_depth_mm).mean()
    return "" if close(found["bill_ratio"].mean(), ratio) else "bill_ratio is not length by depth"


@cache
def birds() -> list[dict[str, Any]]:
    """The rows in plain Python; a missing cell is None."""
    known = table().astype(object).where(table().notna(), None)
    return [dict(zip(known.columns, cells_of_row, strict=True)) for cells_of_row in known.itertuples(index=False)]


@cache
def nests() -> list[dict[str, Any]]:
    from palmerpenguins import load_penguins_raw

    raw = load_penguins_raw()
    return [dict(zip(raw.columns, cells_of_row, strict=True)) for cells_of_row in raw.itertuples(index=False)]


def _grouped(value: str, *keys: str) -> dict[Any, list[float]]:
    groups: dict[Any, list[float]] = defaultdict(list)
    for bird in birds():
        if bird[value] is not None and None not in (parts := tuple(bird[key] for key in keys)):
            groups[parts[0] if len(parts) == 1 else parts].append(bird[value])
    return groups


def _bill_correlation(species: str = "") -> float:
    pairs = [
        (bird["bill_length_mm"], bird["bill_depth_mm"])
        for bird in birds()
        if species in ("", bird["species"]) and bird["bill_length_mm"] is not None
    ]
    return statistics.correlation([pair[0] for pair in pairs], [pair[1] for pair in pairs])


def _welch_of_gentoo() -> Check:
    mass = _grouped("body_mass_g", "species", "sex")
    male, female = mass["Gentoo", "male"], mass["Gentoo", "female"]
    difference = statistics.fmean(male) - statistics.fmean(female)
    spread = statistics.variance(male) / len(male) + statistics.variance(female) / len(female)
    return all_of(
        number(difference / spread**0.5, either_sign=True),
        number(difference, digits=0, either_sign=True),
        at_most_numbers(20),
    )


def _anova() -> Check:
    groups = list(_grouped("flipper_length_mm", "species").values())
    everyone = [value for group in groups for value in group]
    mean = statistics.fmean(everyone)
    between = sum(len(group) * (statistics.fmean(group) - mean) ** 2 for group in groups)
    within = sum((value - statistics.fmean(group)) ** 2 for group in groups for value in group)
    f = (between / (len(groups) - 1)) / (within / (len(everyone) - len(groups)))
    return all_of(number(f, digits=1), number(between / (between + within), digits=3))


def _judge_filled(found: Any) -> str:
    medians = {key: statistics.median(values) for key, values in _grouped("body_mass_g", "species").items()}
    wanted = [
        bird["body_mass_g"] if bird["body_mass_g"] is not None else medians[bird["species"]] for bird in birds()
    ]
    if len(found) != len(wanted):
        return f"filled has {len(found)} rows"
    if not all(close(one, other) for one, other in zip(found["body_mass_g"], wanted, strict=True)):
        return "the missing masses are not filled as asked"
    return "" if found["sex"].isna().sum() == 11 else "sex was changed"


def _outliers() -> Check:
    """Heavier or lighter than 2 sample standard deviations from the mean of their species."""
    count = Counter(
        species
        for species, masses in _grouped("body_mass_g", "species").items()
        for mass in masses
        if abs(mass - statistics.fmean(masses)) > 2 * statistics.stdev(masses)
    )
    return each({species: count[species] for species in SPECIES}, digits=0)


def _lay_day(year: int) -> float:
    """Median day of the year."""
    days = [date.fromisoformat(str(nest["Date Egg"])[:10]) for nest in nests()]
    return statistics.median(day.timetuple().tm_yday for day in days if day.year == year)


def _one_colour_each(facts: FigureFacts) -> str:
    missing = [name for name in SPECIES if name not in facts.legend]
    return f"the legend lacks {missing[0]}" if missing else ""


def _judge_shares(found: Any) -> str:
    counts = Counter((bird["island"], bird["species"]) for bird in birds())
    for (island, species), count in counts.items():
        share = count / sum(other for key, other in counts.items() if key[0] == island)
        if not (close(found.loc[island, species], share) or close(found.loc[island, species], share * 100)):
            return f"{species} on {island} is {found.loc[island, species]}"
    return ""


def _task(name: str, topic: Topic, *turns: Turn) -> Task:
    return Task(
        id=f"penguins-{name}", topic=topic, source=SOURCE, setup=SETUP, variables=("penguins",), turns=turns
    )


TASKS = (
    Task(
        id="penguins-mass-by-species",
        topic="group",
        source=SOURCE,
        setup=SETUP,
        variables=("penguins",),
        turns=(
            Turn(
                prompt="What is the average body mass of each species, and how many birds of each were weighed?",
                check=all_of(
                    *(
                        row(name, mean, table().groupby("species").body_mass_g.count()[name], digits=0)
                        for name, mean in _mass_by_species().items()
                    )
                ),
                reference="penguins.groupby('species').body_mass_g.agg(['mean', 'count'])",
                wrong=(
                    "penguins.groupby('species').body_mass_g.agg(['median', 'count'])",
                    "penguins.groupby('species').body_mass_g.agg(['mean', 'size'])",
                ),
            ),
            Turn(
                prompt="Make a bar chart of these averages, the heaviest species first.",
                check=figure(has_bars(sorted(_mass_by_species().values(), reverse=True), ordered=True), labelled),
                reference=(
                    "m = penguins.groupby('species').body_mass_g.mean().sort_values(ascending=False)\n"
                    "ax = m.plot.bar(title='Body mass')\nax.set_ylabel('g')\nax.set_xlabel('species')"
                ),
                wrong=(
                    "ax = penguins.groupby('species').body_mass_g.mean().plot.bar()\nax.set_ylabel('g')",
                    "penguins.groupby('species').body_mass_g.mean()",
                ),
            ),
        ),
    ),
    Task(
        id="penguins-complete-rows",
        topic="cleaning",
        source=SOURCE,
        setup=SETUP,
        variables=("penguins",),
        turns=(
            Turn(
                prompt="""
                    Drop the penguins with any missing value, add a column bill_ratio (bill length divided by
                    bill depth) and keep the result as complete. How many rows are left?
                """,
                check=all_of(
                    number(len(table().dropna()), digits=0), at_most_numbers(60), frame("complete", _judge_complete)
                ),
                reference="""
                    complete = penguins.dropna().copy()
                    complete["bill_ratio"] = complete.bill_length_mm / complete.bill_depth_mm
                    print(len(complete))
                """,
                wrong=(
                    """
                    complete = penguins.dropna(subset=["sex"]).copy()
                    complete["bill_ratio"] = complete.bill_depth_mm / complete.bill_length_mm
                    print(len(complete))
                    """,
                    "complete = penguins.dropna(how='all')\nprint(len(complete))",
                ),
            ),
        ),
    ),
    _task(
        "missing",
        "cleaning",
        Turn(
            prompt="How many values are missing in each column?",
            check=later(
                lambda: all_of(
                    *(
                        cell(name, value=sum(bird[name] is None for bird in birds()), digits=0)
                        for name in ("bill_length_mm", "flipper_length_mm", "body_mass_g", "sex")
                    )
                )
            ),
            reference="penguins.isna().sum()",
            wrong=("penguins.count()", "print(penguins.isna().sum().sum())"),
        ),
        Turn(
            prompt="Which species do the birds without a known sex belong to? Counts please.",
            check=later(
                lambda: each(
                    Counter(bird["species"] for bird in birds() if bird["sex"] is None),
                    digits=0,
                )
            ),
            reference="penguins.loc[penguins['sex'].isna(), 'species'].value_counts()",
            wrong=(
                "penguins.loc[penguins['sex'].notna(), 'species'].value_counts()",
                "penguins.loc[penguins['body_mass_g'].isna(), 'species'].value_counts()",
            ),
        ),
    ),
    _task(
        "gentoo-sexes",
        "test",
        Turn(
            prompt="""
                Are male Gentoos heavier than female ones? Give the difference of the mean body masses and
                Welch's t.
            """,
            check=later(_welch_of_gentoo),
            reference="""
                from scipy.stats import ttest_ind
                gentoo = penguins[penguins['species'] == 'Gentoo'].dropna(subset=['body_mass_g', 'sex'])
                male = gentoo.loc[gentoo['sex'] == 'male', 'body_mass_g']
                female = gentoo.loc[gentoo['sex'] == 'female', 'body_mass_g']
                result = ttest_ind(male, female, equal_var=False)
                print(male.mean() - female.mean(), result.statistic, result.pvalue)
            """,
            wrong=(
                """
                from scipy.stats import ttest_ind
                male = penguins.loc[penguins['sex'] == 'male', 'body_mass_g']
                female = penguins.loc[penguins['sex'] == 'female', 'body_mass_g']
                print(male.mean() - female.mean(), ttest_ind(male, female, equal_var=False))
                """,
                """
                from scipy.stats import ttest_ind
                g = penguins[penguins.species == 'Gentoo']
                male, female = g[g.sex == 'male'].body_mass_g, g[g.sex != 'male'].body_mass_g.dropna()
                print(male.mean() - female.mean(), ttest_ind(male, female, equal_var=False))
                """,
            ),
        ),
    ),
    _task(
        "flipper-anova",
        "test",
        Turn(
            prompt="""
                One-way ANOVA: does flipper length differ between the species? Report F, the p value and eta
                squared.
            """,
            check=later(_anova),
            reference="""
                from scipy.stats import f_oneway
                known = penguins.dropna(subset=['flipper_length_mm'])
                groups = [g['flipper_length_mm'] for _, g in known.groupby('species')]
                f, p = f_oneway(*groups)
                mean = known['flipper_length_mm'].mean()
                between = sum(len(g) * (g.mean() - mean) ** 2 for g in groups)
                print(f, p, between / ((known['flipper_length_mm'] - mean) ** 2).sum())
            """,
            wrong=(
                """
                from scipy.stats import f_oneway
                print(f_oneway(*[g['flipper_length_mm'] for _, g in penguins.groupby('species')]))
                """,
                """
                from scipy.stats import kruskal
                print(kruskal(*[g['flipper_length_mm'].dropna() for _, g in penguins.groupby('species')]))
                """,
            ),
        ),
    ),
    _task(
        "bills",
        "follow-up",
        Turn(
            prompt="How are bill length and bill depth correlated over all penguins?",
            check=later(lambda: all_of(number(_bill_correlation()), at_most_numbers(8))),
            reference="round(penguins['bill_length_mm'].corr(penguins['bill_depth_mm']), 3)",
            wrong=(
                "penguins['bill_length_mm'].corr(penguins['flipper_length_mm'])",
                "penguins['bill_length_mm'].fillna(0).corr(penguins['bill_depth_mm'].fillna(0))",
            ),
        ),
        Turn(
            prompt="And within each species?",
            check=later(lambda: each({species: _bill_correlation(species) for species in SPECIES})),
            reference="""
                for name, group in penguins.groupby('species'):
                    print(name, group['bill_length_mm'].corr(group['bill_depth_mm']))
            """,
            wrong=(
                """
                for name, group in penguins.groupby('species'):
                    print(name, penguins['bill_length_mm'].corr(penguins['bill_depth_mm']))
                """,
                "penguins.groupby('island')[['bill_length_mm', 'bill_depth_mm']].corr()",
            ),
        ),
        Turn(
            prompt="""
                Show that in a scatter plot, bill length to the right and depth upwards, each species in its
                own colour, with legend and axis labels.
            """,
            check=later(
                lambda: figure(
                    has_points(sum(bird["bill_length_mm"] is not None for bird in birds()), or_rows=len(birds())),
                    _one_colour_each,
                    labelled,
                )
            ),
            reference="""
                import matplotlib.pyplot as plt
                for name, group in penguins.dropna(subset=['bill_length_mm']).groupby('species'):
                    plt.scatter(group['bill_length_mm'], group['bill_depth_mm'], label=name)
                plt.xlabel('Bill length (mm)')
                plt.ylabel('Bill depth (mm)')
                plt.legend()
            """,
            wrong=(
                "penguins.dropna().plot.scatter('bill_length_mm', 'bill_depth_mm')",
                """
                import matplotlib.pyplot as plt
                for name, group in penguins.groupby('species'):
                    plt.scatter(group['bill_length_mm'], group['bill_depth_mm'], label=name)
                plt.legend()
                """,
            ),
        ),
    ),
    _task(
        "filled-mass",
        "cleaning",
        Turn(
            prompt="""
                Fill the missing body masses with the median of the bird's species and leave everything else
                as it is. The result should be called filled.
            """,
            check=later(lambda: frame("filled", _judge_filled)),
            reference="""
                filled = penguins.copy()
                median = filled.groupby('species')['body_mass_g'].transform('median')
                filled['body_mass_g'] = filled['body_mass_g'].fillna(median)
            """,
            wrong=(
                "filled = penguins.fillna({'body_mass_g': penguins['body_mass_g'].median()})",
                "filled = penguins.dropna(subset=['body_mass_g'])",
                """
                filled = penguins.copy()
                median = filled.groupby('species')['body_mass_g'].transform('median')
                filled['body_mass_g'] = filled['body_mass_g'].fillna(median)
                filled = filled.dropna()
                """,
            ),
        ),
    ),
    _task(
        "mass-outliers",
        "outliers",
        Turn(
            prompt="""
                How many birds of each species are more than 2 standard deviations heavier or lighter than the
                mean of their species?
            """,
            check=later(_outliers),
            reference="""
                mass = penguins.groupby('species')['body_mass_g']
                z = (penguins['body_mass_g'] - mass.transform('mean')) / mass.transform('std')
                (z.abs() > 2).groupby(penguins['species']).sum()
            """,
            wrong=(
                """
                z = (penguins['body_mass_g'] - penguins['body_mass_g'].mean()) / penguins['body_mass_g'].std()
                (z.abs() > 2).groupby(penguins['species']).sum()
                """,
                """
                mass = penguins.groupby('species')['body_mass_g']
                z = (penguins['body_mass_g'] - mass.transform('mean')) / mass.transform('std')
                (z > 2).groupby(penguins['species']).sum()
                """,
            ),
        ),
    ),
    _task(
        "island-shares",
        "table",
        Turn(
            prompt="""
                Make a table shares with the islands as rows and the species as columns: which percentage of
                an island's birds are of each species (0 where there are none).
            """,
            check=later(lambda: frame("shares", _judge_shares)),
            reference="""
                import pandas as pd
                shares = pd.crosstab(penguins['island'], penguins['species'], normalize='index') * 100
                shares.round(6)
            """,
            wrong=(
                """
                import pandas as pd
                shares = pd.crosstab(penguins['island'], penguins['species'], normalize='columns') * 100
                """,
                """
                import pandas as pd
                shares = pd.crosstab(penguins['island'], penguins['species'], normalize='all') * 100
                """,
            ),
        ),
    ),
    Task(
        id="penguins-egg-dates",
        topic="time",
        source="palmerpenguins: penguins_raw",
        setup=SETUP_RAW,
        variables=("raw",),
        turns=(
            Turn(
                prompt="How many nests have an egg date in each year?",
                check=later(lambda: each(Counter(str(nest["Date Egg"])[:4] for nest in nests()), digits=0)),
                reference="""
                    import pandas as pd
                    laid = pd.to_datetime(raw['Date Egg'])
                    laid.dt.year.value_counts().sort_index()
                """,
                wrong=(
                    "import pandas as pd\npd.to_datetime(raw['Date Egg']).dt.month.value_counts()",
                    "raw.groupby(raw['Date Egg'].str[:4])['Date Egg'].nunique()",
                ),
            ),
            Turn(
                prompt="""
                    In which of these years were the eggs laid the latest, going by the median day of the
                    year? Give that median for every year.
                """,
                check=later(
                    lambda: all_of(
                        each({str(year): _lay_day(year) for year in (2007, 2008, 2009)}, digits=1),
                        singled_out(str(max((2007, 2008, 2009), key=_lay_day)), ["2007", "2008", "2009"]),
                    )
                ),
                reference="""
                    days = laid.dt.dayofyear.groupby(laid.dt.year).median().sort_values(ascending=False)
                    print(days)
                """,
                wrong=(
                    "laid.dt.dayofyear.groupby(laid.dt.year).mean().sort_values(ascending=False)",
                    "laid.dt.dayofyear.groupby(laid.dt.year).median().sort_values()",
                ),
            ),
        ),
    ),
)
