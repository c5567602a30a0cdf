"""Tables as they arrive: repeated rows, categories in mixed case, numbers and dates as texts, codes for missing.

Made from vega_datasets (package BSD-3-Clause; its SOURCES.md names each table's origin) and statsmodels.datasets
(Grunfeld's investments: public domain), each time in the same way: nothing here is random.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    at_most_numbers,
    cell,
    each,
    frame,
    holds,
    in_order,
    later,
    number,
    says_not,
    year_names,
)
from evals.suites.own.tables import rows, statsmodels, vega
from evals.task import Check, Task, Turn

CARS = """
from vega_datasets import local_data
catalogue = local_data.cars()[['Name', 'Origin', 'Weight_in_lbs', 'Miles_per_Gallon']]
catalogue.columns = ['name', 'origin', 'weight', 'mpg']
forms = [str, str.lower, lambda text: f' {text} ', str.upper]
catalogue['origin'] = [forms[at % 4](text) for at, text in enumerate(catalogue.origin)]
catalogue['weight'] = [f'{weight:,} lbs' for weight in catalogue.weight]
catalogue['mpg'] = ['n/a' if mpg != mpg else f'{mpg:.1f} mpg' for mpg in catalogue.mpg]
del forms
"""
WEATHER = """
import pandas as pd
from vega_datasets import local_data
log = local_data.seattle_weather()[['date', 'precipitation', 'temp_max', 'weather']]
log['date'] = [f'{day:%Y-%m-%d}' if day.year < 2014 else f'{day:%d/%m/%Y}' for day in log.date]
log = pd.concat([log, log[log.index % 9 == 4]]).sort_index(kind='stable', ignore_index=True)
"""
JOBS = """
from vega_datasets import local_data
jobs = local_data.us_employment()[['month', 'construction', 'manufacturing']]
jobs['construction'] = [f'{count:,}k' for count in jobs.construction]
jobs['manufacturing'] = [f'{count:,}' if at % 17 else '-' for at, count in enumerate(jobs.manufacturing)]
"""
FIRMS = """
import pandas as pd
from statsmodels.datasets import grunfeld
investments = grunfeld.load_pandas().data[['firm', 'year', 'invest']]
forms = [str.upper, str, lambda text: f'{text} ']
investments['firm'] = [forms[at % 3](text) for at, text in enumerate(investments.firm)]
sectors = pd.DataFrame(
    [('General Motors', 'cars'), ('US Steel', 'metal'), ('General Electric', 'electrical'), ('Chrysler', 'cars'),
     ('Atlantic Refining', 'oil'), ('IBM', 'electrical'), ('Union Oil', 'oil'), ('Westinghouse', 'electrical'),
     ('Goodyear', 'cars'), ('American Steel', 'metal'), ('General motors', 'cars'), ('ibm', 'electrical')],
    columns=['company', 'sector'],
)
del forms
"""
SECTORS = {
    "General Motors": "cars",
    "US Steel": "metal",
    "General Electric": "electrical",
    "Chrysler": "cars",
    "Atlantic Refining": "oil",
    "IBM": "electrical",
    "Union Oil": "oil",
    "Westinghouse": "electrical",
    "Goodyear": "cars",
    "American Steel": "metal",
}
RIOTS = """
from vega_datasets import local_data
deaths = local_data.la_riots()[['last_name', 'age', 'gender', 'type']]
deaths['age'] = ['unknown' if age != age else f'{age:.0f} years' if at % 3 else f'{age:.0f}'
                 for at, age in enumerate(deaths.age)]
short = {'Male': ['m', 'M', 'male', 'Male'], 'Female': ['F', 'female', 'f', ' Female']}
deaths['gender'] = [short[gender][at % 4] for at, gender in enumerate(deaths.gender)]
del short
"""
WHEAT = """
from vega_datasets import local_data
wheat = local_data.wheat().fillna({'wages': -999})
wheat.loc[wheat.index % 13 == 6, 'wheat'] = -999
"""
POWER = """
from vega_datasets import local_data
cars = local_data.cars()
"""
AIRPORTS = """
import pandas as pd
from vega_datasets import local_data
airports = local_data.airports()[['iata', 'name', 'state']].dropna()
again = airports[airports.index % 6 == 2].copy()
again['name'] = again.name.str.upper() + ' '
again['state'] = again.state.str.lower()
airports = pd.concat([airports, again, airports[airports.index % 50 == 3]], ignore_index=True)
del again
"""


def _weights() -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for car in rows("cars"):
        found.setdefault(car["Origin"], []).append(car["Weight_in_lbs"])
    return {origin: statistics.fmean(weights) for origin, weights in found.items()}


def _judge_clean_cars(found: Any) -> str:
    wanted = rows("cars")
    if len(found) != len(wanted):
        return f"there are {len(found)} rows"
    if found["origin"].nunique() != 3:
        return f"there are {found['origin'].nunique()} origins"
    weight, mpg = found["weight"].astype(float), found["mpg"].astype(float)
    if [round(one) for one in weight] != [car["Weight_in_lbs"] for car in wanted]:
        return "the weights are others"
    known = [car["Miles_per_Gallon"] for car in wanted if car["Miles_per_Gallon"] is not None]
    return "" if list(mpg.dropna().round(1)) == known else "the fuel economies are others"


@cache
def _rain() -> dict[tuple[int, int], list[float]]:
    found: dict[tuple[int, int], list[float]] = {}
    for day in rows("seattle_weather"):
        found.setdefault((day["date"].year, day["date"].month), []).append(day["precipitation"])
    return found


def _rain_by_year() -> dict[Any, float]:
    years = sorted({year for year, _ in _rain()})
    return {year_names(year): sum(sum(days) for (one, _), days in _rain().items() if one == year) for year in years}


def _november_rain() -> dict[Any, float]:
    return {year_names(year): sum(days) for (year, month), days in _rain().items() if month == 11}


def _jobs_by_year(sector: str) -> dict[Any, float]:
    """Without the months that the table above leaves out of manufacturing."""
    found: dict[Any, list[float]] = {}
    for at, row in enumerate(rows("us_employment")):
        if sector == "construction" or at % 17:
            found.setdefault(year_names(int(row["month"][:4])), []).append(row[sector])
    return {year: statistics.fmean(counts) for year, counts in found.items()}


def _investment_by_sector() -> dict[Any, float]:
    found: dict[str, float] = {}
    for row in statsmodels("grunfeld").to_dict("records"):
        sector = SECTORS.get(row["firm"], "")
        if sector:
            found[sector] = found.get(sector, 0.0) + row["invest"]
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def _ages() -> dict[str, tuple[int, float]]:
    found: dict[str, list[float | None]] = {}
    for row in rows("la_riots"):
        found.setdefault(row["gender"], []).append(row["age"])
    return {
        gender: (len(ages), statistics.fmean(age for age in ages if age is not None))
        for gender, ages in found.items()
    }


def _ages_check() -> Check:
    forms = {"Male": ("Male", "M", "men"), "Female": ("Female", "F", "women")}
    return all_of(
        *(cell(forms[gender], value=count, digits=0) for gender, (count, _) in _ages().items()),
        *(cell(forms[gender], value=mean, digits=1) for gender, (_, mean) in _ages().items()),
        at_most_numbers(16),
    )


def _wheat() -> list[dict[str, Any]]:
    return [{**row, "wheat": None if at % 13 == 6 else row["wheat"]} for at, row in enumerate(rows("wheat"))]


def _mean_known(values: Sequence[float | None]) -> float:
    return statistics.fmean(value for value in values if value is not None)


def _wheat_means() -> Check:
    means = [_mean_known([row[column] for row in _wheat()]) for column in ("wheat", "wages")]
    return all_of(cell("wheat", value=means[0]), cell("wages", value=means[1]), at_most_numbers(20))


def _affordable() -> Check:
    """Quarters of wheat that a week's wage pays: the best year of those with both figures."""
    ratios = {row["year"]: row["wages"] / row["wheat"] for row in _wheat() if row["wheat"] and row["wages"]}
    year = max(ratios, key=lambda one: ratios[one])
    return all_of(number(year, digits=0), number(ratios[year]), at_most_numbers(12))


def _filled_power() -> dict[str, float]:
    cars = vega("cars")
    medians = {
        cylinders: statistics.median(group.dropna()) for cylinders, group in cars.groupby("Cylinders").Horsepower
    }
    found: dict[str, list[float]] = {}
    for car in rows("cars"):
        power = car["Horsepower"] if car["Horsepower"] is not None else medians[car["Cylinders"]]
        found.setdefault(car["Origin"], []).append(power)
    return {origin: statistics.fmean(powers) for origin, powers in found.items()}


def _judge_filled(found: Any) -> str:
    if int(found["Horsepower"].isna().sum()):
        return "horsepower is still missing"
    means = found.groupby("Origin").Horsepower.mean()
    wrong = [origin for origin, mean in _filled_power().items() if abs(means[origin] - mean) > 1e-3]
    return f"the mean of {wrong[0]} is another" if wrong or len(found) != len(rows("cars")) else ""


def _airports_by_state() -> dict[Any, float]:
    states = [row["state"] for row in rows("airports") if row["state"] and row["name"]]
    counts = {state: states.count(state) for state in set(states)}
    return dict(sorted(counts.items(), key=lambda one: -one[1])[:3])


def _airport_count() -> int:
    return len({row["iata"] for row in rows("airports") if row["state"]})


TASKS = (
    Task(
        id="messy-cars",
        topic="cleaning",
        source="vega_datasets: cars, as texts",
        setup=CARS,
        variables=("catalogue",),
        turns=(
            Turn(
                prompt="""
                    This catalogue is a mess. Make a clean copy named clean, same columns: weight and mpg as numbers
                    (missing where unknown), and each origin spelled in one way.
                """,
                check=later(lambda: frame("clean", _judge_clean_cars)),
                reference="""
                    import pandas as pd
                    clean = catalogue.copy()
                    names = {'usa': 'USA', 'europe': 'Europe', 'japan': 'Japan'}
                    clean['origin'] = clean.origin.str.strip().str.lower().map(names)
                    digits = clean.weight.str.replace(',', '').str.replace(' lbs', '')
                    clean['weight'] = pd.to_numeric(digits)
                    clean['mpg'] = pd.to_numeric(clean.mpg.str.replace(' mpg', ''), errors='coerce')
                    clean.head()
                """,
                wrong=(
                    """
                    import pandas as pd
                    clean = catalogue.copy()
                    clean['origin'] = clean.origin.str.lower()
                    clean['weight'] = pd.to_numeric(clean.weight.str.replace(',', '').str.replace(' lbs', ''))
                    clean['mpg'] = pd.to_numeric(clean.mpg.str.replace(' mpg', ''), errors='coerce')
                    """,
                    """
                    import pandas as pd
                    clean = catalogue.copy()
                    clean['origin'] = clean.origin.str.strip().str.lower()
                    clean['weight'] = pd.to_numeric(clean.weight.str.replace(' lbs', ''), errors='coerce')
                    clean['mpg'] = pd.to_numeric(clean.mpg.str.replace(' mpg', ''), errors='coerce')
                    """,
                ),
            ),
            Turn(
                prompt="So what is the mean weight per origin?",
                check=later(lambda: all_of(each(_weights(), digits=0), at_most_numbers(12))),
                reference="clean.groupby('origin').weight.mean().round(1)",
                wrong=(
                    "clean.groupby('origin').weight.median()",
                    "catalogue.assign(weight=clean.weight).groupby('origin').weight.mean()",
                ),
            ),
        ),
    ),
    Task(
        id="messy-weather-log",
        topic="cleaning",
        source="vega_datasets: seattle_weather, with repeated rows and two forms of dates",
        setup=WEATHER,
        variables=("log",),
        turns=(
            Turn(
                prompt="""
                    Dates in this log come in two formats (ISO and day/month/year) and some days were entered twice.
                    Clean that and tell me the total precipitation of each year.
                """,
                check=later(lambda: each(_rain_by_year(), digits=1)),
                reference="""
                    import pandas as pd
                    iso = pd.to_datetime(log.date, format='%Y-%m-%d', errors='coerce')
                    log['date'] = iso.fillna(pd.to_datetime(log.date, format='%d/%m/%Y', errors='coerce'))
                    log = log.drop_duplicates('date')
                    log.groupby(log.date.dt.year).precipitation.sum()
                """,
                wrong=(
                    """
                    import pandas as pd
                    iso = pd.to_datetime(log.date, format='%Y-%m-%d', errors='coerce')
                    dates = iso.fillna(pd.to_datetime(log.date, format='%d/%m/%Y', errors='coerce'))
                    log.groupby(dates.dt.year).precipitation.sum()
                    """,
                    """
                    import pandas as pd
                    days = log.drop_duplicates(['precipitation', 'temp_max', 'weather'])
                    dates = pd.to_datetime(days.date, format='mixed', dayfirst=True)
                    days.groupby(dates.dt.year).precipitation.sum()
                    """,
                ),
            ),
            Turn(
                prompt="And just for the Novembers?",
                check=later(lambda: each(_november_rain(), digits=1)),
                reference="""
                    november = log[log.date.dt.month == 11]
                    november.groupby(november.date.dt.year).precipitation.sum()
                """,
                wrong=(
                    "log.groupby(log.date.dt.year).precipitation.sum()",
                    "log[log.date.dt.month == 11].groupby(log.date.dt.year).precipitation.mean()",
                ),
            ),
        ),
    ),
    Task(
        id="messy-job-counts",
        topic="cleaning",
        source="vega_datasets: us_employment, as texts",
        setup=JOBS,
        variables=("jobs",),
        turns=(
            Turn(
                prompt="Average number of construction jobs per year, in thousands?",
                check=later(lambda: each(_jobs_by_year("construction"), digits=1)),
                reference="""
                    thousands = jobs.construction.str.replace(',', '').str.rstrip('k').astype(float)
                    thousands.groupby(jobs.month.str[:4]).mean().round(1)
                """,
                wrong=(
                    """
                    thousands = jobs.construction.str.replace(',', '').str.rstrip('k').astype(float)
                    thousands.groupby(jobs.month.str[:4]).sum()
                    """,
                    """
                    thousands = jobs.construction.str.replace(',', '.').str.rstrip('k').astype(float)
                    thousands.groupby(jobs.month.str[:4]).mean()
                    """,
                ),
            ),
            Turn(
                prompt="Same for manufacturing, leaving out the months without a figure.",
                check=later(lambda: each(_jobs_by_year("manufacturing"), digits=1)),
                reference="""
                    import pandas as pd
                    counts = pd.to_numeric(jobs.manufacturing.str.replace(',', ''), errors='coerce')
                    counts.groupby(jobs.month.str[:4]).mean().round(1)
                """,
                wrong=(
                    """
                    import pandas as pd
                    counts = pd.to_numeric(jobs.manufacturing.str.replace(',', ''), errors='coerce').fillna(0)
                    counts.groupby(jobs.month.str[:4]).mean().round(1)
                    """,
                    """
                    import pandas as pd
                    counts = pd.to_numeric(jobs.manufacturing.str.replace(',', ''), errors='coerce').interpolate()
                    counts.bfill().groupby(jobs.month.str[:4]).mean().round(1)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="messy-firm-names",
        topic="join",
        source="statsmodels: grunfeld, names in mixed case, and a table of sectors",
        setup=FIRMS,
        variables=("investments", "sectors"),
        turns=(
            Turn(
                prompt="""
                    Total investment per sector over all years, highest first, as a table named by_sector. Mind that
                    company names are not spelled alike in both tables and that sectors lists two companies twice;
                    leave out companies without a sector.
                """,
                check=later(lambda: frame("by_sector", holds(_investment_by_sector(), ordered=True))),
                reference="""
                    investments['key'] = investments.firm.str.strip().str.lower()
                    sectors['key'] = sectors.company.str.strip().str.lower()
                    both = investments.merge(sectors.drop_duplicates('key'), on='key')
                    by_sector = both.groupby('sector').invest.sum().sort_values(ascending=False).reset_index()
                    by_sector
                """,
                wrong=(
                    """
                    investments['key'] = investments.firm.str.strip().str.lower()
                    sectors['key'] = sectors.company.str.strip().str.lower()
                    both = investments.merge(sectors, on='key')
                    by_sector = both.groupby('sector').invest.sum().sort_values(ascending=False).reset_index()
                    """,
                    """
                    both = investments.merge(sectors, left_on='firm', right_on='company')
                    by_sector = both.groupby('sector').invest.sum().sort_values(ascending=False).reset_index()
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="messy-ages",
        topic="cleaning",
        source="vega_datasets: la_riots, ages as texts and genders in several forms",
        setup=RIOTS,
        variables=("deaths",),
        turns=(
            Turn(
                prompt="How many men and how many women died, and what was their mean age?",
                check=later(_ages_check),
                reference="""
                    import pandas as pd
                    gender = deaths.gender.str.strip().str[0].str.upper().map({'M': 'Male', 'F': 'Female'})
                    age = pd.to_numeric(deaths.age.str.replace(' years', ''), errors='coerce')
                    age.groupby(gender).agg(['size', 'mean'])
                """,
                wrong=(
                    """
                    import pandas as pd
                    gender = deaths.gender.str.strip().str[0].str.upper().map({'M': 'Male', 'F': 'Female'})
                    age = pd.to_numeric(deaths.age, errors='coerce')
                    age.groupby(gender).agg(['size', 'mean'])
                    """,
                    """
                    import pandas as pd
                    gender = deaths.gender.str.title()
                    age = pd.to_numeric(deaths.age.str.replace(' years', ''), errors='coerce')
                    age.groupby(gender).agg(['size', 'mean'])
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="messy-wheat",
        topic="cleaning",
        source="vega_datasets: wheat, -999 for missing",
        setup=WHEAT,
        variables=("wheat",),
        turns=(
            Turn(
                prompt="Mean wheat price and mean wage over all years? -999 stands for missing.",
                check=later(_wheat_means),
                reference="wheat[['wheat', 'wages']].replace(-999, float('nan')).mean()",
                wrong=(
                    "wheat[['wheat', 'wages']].mean()",
                    "wheat[['wheat', 'wages']].replace(-999, 0).mean()",
                ),
            ),
            Turn(
                prompt="In which year did a wage buy the most wheat (wage divided by price), and at what ratio?",
                check=later(_affordable),
                reference="""
                    known = wheat.replace(-999, float('nan'))
                    ratio = known.set_index('year').eval('wages / wheat')
                    print(ratio.idxmax(), round(ratio.max(), 3))
                """,
                wrong=(
                    """
                    ratio = wheat.replace(-999, 0).set_index('year').eval('wages / wheat')
                    print(ratio.idxmax(), round(ratio.max(), 3))
                    """,
                    """
                    known = wheat.replace(-999, float('nan'))
                    ratio = known.set_index('year').eval('wheat / wages')
                    print(ratio.idxmax(), round(ratio.max(), 3))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="missing-horsepower",
        topic="cleaning",
        source="vega_datasets: cars",
        setup=POWER,
        variables=("cars",),
        turns=(
            Turn(
                prompt="""
                    Fill the missing horsepower values with the median of the cars with the same number of
                    cylinders. Save that as filled, and show the mean horsepower per origin before and after.
                """,
                check=later(
                    lambda: all_of(
                        frame("filled", _judge_filled),
                        each(_filled_power()),
                        each(vega("cars").groupby("Origin").Horsepower.mean().to_dict()),
                    )
                ),
                reference="""
                    import pandas as pd
                    filled = cars.copy()
                    medians = filled.groupby('Cylinders').Horsepower.transform('median')
                    filled['Horsepower'] = filled.Horsepower.fillna(medians)
                    means = [table.groupby('Origin').Horsepower.mean() for table in (cars, filled)]
                    print(pd.concat(means, axis=1, keys=['before', 'after']))
                """,
                wrong=(
                    """
                    import pandas as pd
                    filled = cars.copy()
                    filled['Horsepower'] = filled.Horsepower.fillna(filled.Horsepower.median())
                    means = [table.groupby('Origin').Horsepower.mean() for table in (cars, filled)]
                    print(pd.concat(means, axis=1, keys=['before', 'after']))
                    """,
                    """
                    import pandas as pd
                    filled = cars.dropna(subset=['Horsepower'])
                    means = [table.groupby('Origin').Horsepower.mean() for table in (cars, filled)]
                    print(pd.concat(means, axis=1, keys=['before', 'after']))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="messy-airports",
        topic="cleaning",
        source="vega_datasets: airports, some entered again in other spelling",
        setup=AIRPORTS,
        variables=("airports",),
        turns=(
            Turn(
                prompt="Some airports were entered more than once. How many different ones are there really?",
                check=later(lambda: all_of(number(_airport_count(), digits=0), at_most_numbers(6))),
                reference="airports.iata.nunique()",
                wrong=(
                    "len(airports)",
                    "len(airports.drop_duplicates())",
                ),
            ),
            Turn(
                prompt="Which three states have the most, and how many?",
                check=later(
                    lambda: all_of(
                        each(_airports_by_state(), digits=0),
                        in_order(*_airports_by_state()),
                        says_not("OK", "FL"),
                        at_most_numbers(12),
                    )
                ),
                reference="airports.drop_duplicates('iata').state.str.upper().value_counts().head(3)",
                wrong=(
                    "airports.state.str.upper().value_counts().head(3)",
                    "airports.drop_duplicates('iata').state.str.upper().value_counts().tail(3)",
                ),
            ),
        ),
    ),
)
