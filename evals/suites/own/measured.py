"""Measurements: wine, diabetes and breast cancer of scikit-learn, and surveys of statsmodels.

scikit-learn's sets are UCI's wine and breast cancer (CC BY 4.0) and the diabetes data of Efron et al. (2004); of
statsmodels come Fair's survey (included there with its author's permission), Engel's household budgets, crime in
US states and smoking in China (public domain or published tables).
"""

from __future__ import annotations

import math
import statistics
from functools import cache
from typing import Any

from evals.checks import (
    all_of,
    at_most_numbers,
    close,
    each,
    figure,
    frame,
    has_bars,
    holds,
    labelled,
    later,
    number,
    says_not,
)
from evals.suites.own.tables import statsmodels
from evals.task import Check, FigureFacts, Task, Turn

WINE = """
from sklearn.datasets import load_wine
wine = load_wine(as_frame=True).frame.rename(columns={'target': 'cultivar'})
"""
DIABETES = """
from sklearn.datasets import load_diabetes
diabetes = load_diabetes(as_frame=True, scaled=False).frame
"""
CANCER = """
from sklearn.datasets import load_breast_cancer
bunch = load_breast_cancer(as_frame=True)
tumours = bunch.frame.drop(columns='target').assign(diagnosis=bunch.target.map({0: 'malignant', 1: 'benign'}))
del bunch
"""
FAIR = "from statsmodels.datasets import fair\nsurvey = fair.load_pandas().data"
ENGEL = "from statsmodels.datasets import engel\nhouseholds = engel.load_pandas().data"
CRIME = "from statsmodels.datasets import statecrime\ncrime = statecrime.load_pandas().data"
SMOKING = """
from statsmodels.datasets import china_smoking
smoking = china_smoking.load_pandas().data.reset_index()
"""


@cache
def table(name: str) -> Any:
    """A frame of scikit-learn."""
    from sklearn import datasets

    options = {"scaled": False} if name == "diabetes" else {}
    return getattr(datasets, f"load_{name}")(as_frame=True, **options).frame


def _alcohol() -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for row in table("wine").to_dict("records"):
        found.setdefault(str(int(row["target"])), []).append(row["alcohol"])
    return {cultivar: statistics.fmean(values) for cultivar, values in found.items()}


def _wine_test() -> Check:
    groups = [group.to_list() for _, group in table("wine").groupby("target").alcohol]
    everything = [value for group in groups for value in group]
    mean = statistics.fmean(everything)
    between = sum(len(group) * (statistics.fmean(group) - mean) ** 2 for group in groups) / (len(groups) - 1)
    within = sum(len(group) * statistics.pvariance(group) for group in groups) / (len(everything) - len(groups))
    return all_of(number(between / within, digits=1), at_most_numbers(30))


def _wine_correlates() -> dict[Any, float]:
    wine = table("wine").drop(columns="target")
    with_alcohol = {
        name: statistics.correlation(wine[name].to_list(), wine.alcohol.to_list())
        for name in wine.columns
        if name != "alcohol"
    }
    return dict(sorted(with_alcohol.items(), key=lambda one: -abs(one[1]))[:3])


def _progression_by_bmi() -> list[float]:
    rows = sorted((row["bmi"], row["target"]) for row in table("diabetes").to_dict("records"))
    limits = statistics.quantiles([bmi for bmi, _ in rows], n=4, method="inclusive")
    groups: list[list[float]] = [[], [], [], []]
    for bmi, target in rows:
        groups[sum(bmi > limit for limit in limits)].append(target)
    return [statistics.fmean(group) for group in groups]


def _judge_quarters(found: Any) -> str:
    table_found = found.reset_index()
    wanted = _progression_by_bmi()
    if len(table_found) != 4:
        return f"there are {len(table_found)} rows"
    columns = [list(table_found[name]) for name in table_found.columns]
    same = any(all(close(a, b, 1e-3) for a, b in zip(column, wanted, strict=True)) for column in columns)
    return "" if same else "no column holds the mean progression of the quarters, lowest bmi first"


def _judge_quarter_bars(facts: FigureFacts) -> str:
    return has_bars(_progression_by_bmi(), ordered=True)(facts)


def _malignant() -> Check:
    count = int((table("breast_cancer").target == 0).sum())
    total = len(table("breast_cancer"))
    return all_of(number(count, digits=0), number(count / total, percent=True), at_most_numbers(12))


def _separations() -> dict[str, float]:
    data = table("breast_cancer")
    found = {}
    for name in data.columns.drop("target"):
        groups = [data[name][data.target == target].to_list() for target in (0, 1)]
        pooled = math.sqrt(sum((len(group) - 1) * statistics.variance(group) for group in groups) / (len(data) - 2))
        found[name] = (statistics.fmean(groups[0]) - statistics.fmean(groups[1])) / pooled
    return found


def _best_separation() -> dict[Any, float]:
    return dict(sorted(_separations().items(), key=lambda one: -abs(one[1]))[:5])


def _area_under_curve() -> Check:
    data = table("breast_cancer")
    malignant = data["mean radius"][data.target == 0].to_list()
    benign = data["mean radius"][data.target == 1].to_list()
    wins = sum((a > b) + (a == b) / 2 for a in malignant for b in benign)
    return all_of(number(wins / len(malignant) / len(benign)), at_most_numbers(10))


def _affairs_by_rating() -> dict[str, float]:
    found: dict[str, list[bool]] = {}
    for row in statsmodels("fair").to_dict("records"):
        found.setdefault(str(int(row["rate_marriage"])), []).append(row["affairs"] > 0)
    return {rating: statistics.fmean(had) for rating, had in found.items()}


def _affairs_and_religion() -> Check:
    counts: dict[tuple[float, bool], int] = {}
    for row in statsmodels("fair").to_dict("records"):
        key = (row["religious"], row["affairs"] > 0)
        counts[key] = counts.get(key, 0) + 1
    levels = {level for level, _ in counts}
    by_level = {level: counts[level, True] + counts[level, False] for level in levels}
    by_affair = {had: sum(counts[level, had] for level in levels) for had in (True, False)}
    total = sum(counts.values())
    chi2 = sum(
        (counts[level, had] - by_level[level] * by_affair[had] / total) ** 2
        / (by_level[level] * by_affair[had] / total)
        for level in levels
        for had in (True, False)
    )
    return all_of(number(chi2, digits=1), at_most_numbers(40))


def _elasticity() -> Check:
    data = statsmodels("engel")
    logs = [[math.log(value) for value in data[name]] for name in ("income", "foodexp")]
    return all_of(number(statistics.linear_regression(*logs).slope), at_most_numbers(12))


def _food_share_outliers() -> Check:
    data = statsmodels("engel").to_dict("records")
    shares = [row["foodexp"] / row["income"] for row in data]
    low, _, high = statistics.quantiles(shares, n=4, method="inclusive")
    margin = 1.5 * (high - low)
    count = sum(not low - margin <= share <= high + margin for share in shares)
    return all_of(number(count, digits=0), at_most_numbers(8))


def _far_states() -> dict[str, float]:
    rates = statsmodels("statecrime").murder.to_dict()
    mean, spread = statistics.fmean(rates.values()), statistics.stdev(rates.values())
    return {state: (rate - mean) / spread for state, rate in rates.items() if abs(rate - mean) > 2 * spread}


def _murder_outliers() -> Check:
    far = _far_states()
    return all_of(each(far), says_not(*(state for state in statsmodels("statecrime").index if state not in far)))


def _murder_correlations() -> dict[str, float]:
    data = statsmodels("statecrime")
    rest = data[[state not in _far_states() for state in data.index]]
    return {
        name: statistics.correlation(rest[name].to_list(), rest.murder.to_list())
        for name in ("hs_grad", "poverty", "single", "urban")
    }


def _odds_ratios() -> dict[str, float]:
    return {
        str(city): row["smoking_yes_cancer_yes"]
        * row["smoking_no_cancer_no"]
        / (row["smoking_yes_cancer_no"] * row["smoking_no_cancer_yes"])
        for city, row in statsmodels("china_smoking").iterrows()
    }


def _common_odds_ratio() -> Check:
    """Mantel and Haenszel's."""
    above = below = 0.0
    for row in statsmodels("china_smoking").to_dict("records"):
        total = sum(row.values())
        above += row["smoking_yes_cancer_yes"] * row["smoking_no_cancer_no"] / total
        below += row["smoking_yes_cancer_no"] * row["smoking_no_cancer_yes"] / total
    return all_of(number(above / below), at_most_numbers(40))


TASKS = (
    Task(
        id="wine-alcohol",
        topic="follow-up",
        source="scikit-learn: wine",
        setup=WINE,
        variables=("wine",),
        turns=(
            Turn(
                prompt="What is the mean alcohol content of the wines of each cultivar?",
                check=later(lambda: each(_alcohol())),
                reference="wine.groupby('cultivar').alcohol.mean()",
                wrong=(
                    "wine.groupby('cultivar').malic_acid.mean()",
                    "wine.alcohol.mean()",
                ),
            ),
            Turn(
                prompt="Do the cultivars really differ in that? Run a one-way ANOVA and give F and the p-value.",
                check=later(_wine_test),
                reference="""
                    from scipy.stats import f_oneway
                    test = f_oneway(*(group for _, group in wine.groupby('cultivar').alcohol))
                    print(f'F = {test.statistic:.2f}, p = {test.pvalue:.3g}')
                """,
                wrong=(
                    """
                    from scipy.stats import kruskal
                    print(kruskal(*(group for _, group in wine.groupby('cultivar').alcohol)))
                    """,
                    """
                    from scipy.stats import f_oneway
                    print(f_oneway(wine.cultivar, wine.alcohol))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="wine-what-goes-with-alcohol",
        topic="table",
        source="scikit-learn: wine",
        setup=WINE,
        variables=("wine",),
        turns=(
            Turn(
                prompt="""
                    Which three other measurements (leave out the cultivar) correlate most strongly with alcohol, up
                    or down? Table top with the name and the correlation, strongest first.
                """,
                check=later(lambda: frame("top", holds(_wine_correlates(), ordered=True, rel=1e-2))),
                reference="""
                    r = wine.drop(columns='cultivar').corr().alcohol.drop('alcohol')
                    top = r.loc[r.abs().nlargest(3).index].reset_index()
                    top
                """,
                wrong=(
                    "top = wine.corr().alcohol.drop('alcohol').nlargest(3).reset_index()[::-1]",
                    "top = wine.drop(columns='cultivar').corr().alcohol.abs().nlargest(3).reset_index()",
                ),
            ),
        ),
    ),
    Task(
        id="diabetes-bmi-quarters",
        topic="follow-up",
        source="scikit-learn: diabetes",
        setup=DIABETES,
        variables=("diabetes",),
        turns=(
            Turn(
                prompt="""
                    target is the disease progression. Split the patients into four equal groups by bmi (quartiles)
                    and get the mean progression of each, lowest bmi first. Keep it as quarters.
                """,
                check=later(lambda: frame("quarters", _judge_quarters)),
                reference="""
                    import pandas as pd
                    groups = pd.qcut(diabetes.bmi, 4, labels=['Q1', 'Q2', 'Q3', 'Q4']).rename('bmi_quarter')
                    quarters = diabetes.groupby(groups, observed=True).target.mean().reset_index()
                    quarters
                """,
                wrong=(
                    """
                    import pandas as pd
                    groups = pd.cut(diabetes.bmi, 4, labels=['Q1', 'Q2', 'Q3', 'Q4']).rename('bmi_quarter')
                    quarters = diabetes.groupby(groups, observed=True).target.mean().reset_index()
                    """,
                    """
                    import pandas as pd
                    groups = pd.qcut(diabetes.bmi, 4, labels=['Q1', 'Q2', 'Q3', 'Q4']).rename('bmi_quarter')
                    quarters = diabetes.groupby(groups, observed=True).target.median().reset_index()
                    """,
                ),
            ),
            Turn(
                prompt="Bar chart of that please, with labelled axes.",
                check=later(lambda: figure(_judge_quarter_bars, labelled)),
                reference="""
                    ax = quarters.plot.bar(x='bmi_quarter', y='target', legend=False)
                    ax.set_xlabel('BMI quarter')
                    ax.set_ylabel('Mean progression')
                """,
                wrong=(
                    "ax = quarters.plot.bar(x='bmi_quarter', y='target')",
                    "ax = diabetes.target.plot.hist(bins=4)\nax.set_xlabel('progression')",
                ),
            ),
        ),
    ),
    Task(
        id="tumours-separation",
        topic="follow-up",
        source="scikit-learn: breast_cancer",
        setup=CANCER,
        variables=("tumours",),
        turns=(
            Turn(
                prompt="How many of the tumours are malignant, and what share is that?",
                check=later(_malignant),
                reference="""
                    malignant = tumours.diagnosis == 'malignant'
                    print(malignant.sum(), f'{malignant.mean():.1%}')
                """,
                wrong=(
                    "other = tumours.diagnosis == 'benign'\nprint(other.sum(), f'{other.mean():.1%}')",
                    """
                    n = tumours.diagnosis.value_counts()
                    print(n['malignant'], n['malignant'] / n['benign'])
                    """,
                ),
            ),
            Turn(
                prompt="""
                    For which five measurements do malignant and benign ones differ most by Cohen's d (pooled sample
                    standard deviation)? A table named differences with name and d, malignant minus benign, largest
                    first.
                """,
                check=later(lambda: frame("differences", holds(_best_separation(), ordered=True, rel=5e-3))),
                reference="""
                    groups = tumours.groupby('diagnosis')
                    n, means, variances = groups.size(), groups.mean(), groups.var()
                    pooled = sum((n[k] - 1) * variances.loc[k] for k in n.index) / (n.sum() - 2)
                    d = (means.loc['malignant'] - means.loc['benign']) / pooled ** .5
                    differences = d.loc[d.abs().nlargest(5).index].rename('d').reset_index()
                    differences
                """,
                wrong=(
                    """
                    means = tumours.groupby('diagnosis').mean()
                    d = (means.loc['malignant'] - means.loc['benign']) / tumours.drop(columns='diagnosis').std()
                    differences = d.nlargest(5).rename('d').reset_index()
                    """,
                    """
                    means = tumours.groupby('diagnosis').mean()
                    d = means.loc['malignant'] - means.loc['benign']
                    differences = d.nlargest(5).rename('d').reset_index()
                    """,
                ),
            ),
            Turn(
                prompt="How well does mean radius alone tell malignant from benign, as area under the ROC curve?",
                check=later(_area_under_curve),
                reference="""
                    from sklearn.metrics import roc_auc_score
                    print(round(roc_auc_score(tumours.diagnosis == 'malignant', tumours['mean radius']), 4))
                """,
                wrong=(
                    """
                    from sklearn.metrics import roc_auc_score
                    print(round(roc_auc_score(tumours.diagnosis == 'benign', tumours['mean radius']), 4))
                    """,
                    """
                    from sklearn.metrics import roc_auc_score
                    guess = tumours['mean radius'] > tumours['mean radius'].mean()
                    print(round(roc_auc_score(tumours.diagnosis == 'malignant', guess), 4))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="survey-affairs",
        topic="test",
        source="statsmodels: fair",
        setup=FAIR,
        variables=("survey",),
        turns=(
            Turn(
                prompt="For each rating of the marriage, what percentage of the women had any affair?",
                check=later(lambda: each(_affairs_by_rating(), percent=True)),
                reference="((survey.affairs > 0).groupby(survey.rate_marriage).mean() * 100).round(1)",
                wrong=(
                    "survey.groupby('rate_marriage').affairs.mean()",
                    "survey[survey.affairs > 0].rate_marriage.value_counts(normalize=True) * 100",
                ),
            ),
            Turn(
                prompt="""
                    Is having any affair independent of how religious they are? Chi-squared test: statistic and
                    p-value.
                """,
                check=later(_affairs_and_religion),
                reference="""
                    import pandas as pd
                    from scipy.stats import chi2_contingency
                    test = chi2_contingency(pd.crosstab(survey.religious, survey.affairs > 0))
                    print(f'chi² = {test.statistic:.2f}, p = {test.pvalue:.2g}: they are not independent')
                """,
                wrong=(
                    """
                    import pandas as pd
                    from scipy.stats import chi2_contingency
                    test = chi2_contingency(pd.crosstab(survey.rate_marriage, survey.affairs > 0))
                    print(f'chi² = {test.statistic:.2f}, p = {test.pvalue:.2g}')
                    """,
                    """
                    from scipy.stats import spearmanr
                    print(spearmanr(survey.religious, survey.affairs))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="households-food",
        topic="outliers",
        source="statsmodels: engel",
        setup=ENGEL,
        variables=("households",),
        turns=(
            Turn(
                prompt="""
                    How many households are outliers in the share of income that they spend on food, by the 1.5 IQR
                    rule?
                """,
                check=later(_food_share_outliers),
                reference="""
                    share = households.foodexp / households.income
                    low, high = share.quantile([.25, .75])
                    margin = 1.5 * (high - low)
                    print(((share < low - margin) | (share > high + margin)).sum())
                """,
                wrong=(
                    """
                    share = households.foodexp / households.income
                    print(((share - share.mean()).abs() > 3 * share.std()).sum())
                    """,
                    """
                    food = households.foodexp
                    low, high = food.quantile([.25, .75])
                    margin = 1.5 * (high - low)
                    print(((food < low - margin) | (food > high + margin)).sum())
                    """,
                ),
            ),
            Turn(
                prompt="What is the income elasticity of food spending (log-log regression over all households)?",
                check=later(_elasticity),
                reference="""
                    import numpy as np
                    print(round(np.polyfit(np.log(households.income), np.log(households.foodexp), 1)[0], 4))
                """,
                wrong=(
                    """
                    import numpy as np
                    print(round(np.polyfit(households.income, households.foodexp, 1)[0], 4))
                    """,
                    """
                    import numpy as np
                    print(round(np.polyfit(np.log(households.foodexp), np.log(households.income), 1)[0], 4))
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="crime-outliers",
        topic="outliers",
        source="statsmodels: statecrime",
        setup=CRIME,
        variables=("crime",),
        turns=(
            Turn(
                prompt="""
                    Which states have a murder rate more than two standard deviations from the mean? List only them,
                    with the z-score.
                """,
                check=later(_murder_outliers),
                reference="""
                    z = (crime.murder - crime.murder.mean()) / crime.murder.std()
                    z[z.abs() > 2]
                """,
                wrong=(
                    "(crime.murder - crime.murder.mean()) / crime.murder.std()",
                    """
                    z = (crime.violent - crime.violent.mean()) / crime.violent.std()
                    z[z.abs() > 2]
                    """,
                ),
            ),
            Turn(
                prompt="""
                    Leave those out for good. How does the murder rate correlate with high school graduation,
                    poverty, single parents and urban population in the rest?
                """,
                check=later(lambda: each(_murder_correlations())),
                reference="""
                    rest = crime[z.abs() <= 2]
                    rest[['hs_grad', 'poverty', 'single', 'urban']].corrwith(rest.murder)
                """,
                wrong=(
                    "crime[['hs_grad', 'poverty', 'single', 'urban']].corrwith(crime.murder)",
                    """
                    rest = crime[z.abs() <= 2]
                    rest[['hs_grad', 'poverty', 'single', 'urban']].corrwith(rest.violent)
                    """,
                ),
            ),
        ),
    ),
    Task(
        id="smoking-odds",
        topic="test",
        source="statsmodels: china_smoking",
        setup=SMOKING,
        variables=("smoking",),
        turns=(
            Turn(
                prompt="Odds ratio of lung cancer for smokers against non-smokers in each city?",
                check=later(lambda: each(_odds_ratios())),
                reference="""
                    yes = smoking.smoking_yes_cancer_yes / smoking.smoking_yes_cancer_no
                    no = smoking.smoking_no_cancer_yes / smoking.smoking_no_cancer_no
                    smoking.assign(odds_ratio=yes / no)[['Location', 'odds_ratio']]
                """,
                wrong=(
                    """
                    yes = smoking.smoking_yes_cancer_yes
                    no = smoking.smoking_no_cancer_yes
                    risk = yes / (yes + smoking.smoking_yes_cancer_no)
                    other = no / (no + smoking.smoking_no_cancer_no)
                    smoking.assign(ratio=risk / other)[['Location', 'ratio']]
                    """,
                    """
                    yes = smoking.smoking_yes_cancer_yes / smoking.smoking_yes_cancer_no
                    no = smoking.smoking_no_cancer_yes / smoking.smoking_no_cancer_no
                    smoking.assign(odds_ratio=no / yes)[['Location', 'odds_ratio']]
                    """,
                ),
            ),
            Turn(
                prompt="Combine the cities into one odds ratio with the Mantel-Haenszel method.",
                check=later(_common_odds_ratio),
                reference="""
                    a, b = smoking.smoking_yes_cancer_yes, smoking.smoking_yes_cancer_no
                    c, d = smoking.smoking_no_cancer_yes, smoking.smoking_no_cancer_no
                    n = a + b + c + d
                    print(round((a * d / n).sum() / (b * c / n).sum(), 4))
                """,
                wrong=(
                    """
                    a, b = smoking.smoking_yes_cancer_yes.sum(), smoking.smoking_yes_cancer_no.sum()
                    c, d = smoking.smoking_no_cancer_yes.sum(), smoking.smoking_no_cancer_no.sum()
                    print(round(a * d / (b * c), 4))
                    """,
                    """
                    a, b = smoking.smoking_yes_cancer_yes, smoking.smoking_yes_cancer_no
                    c, d = smoking.smoking_no_cancer_yes, smoking.smoking_no_cancer_no
                    print(round((a * d / (b * c)).mean(), 4))
                    """,
                ),
            ),
        ),
    ),
)
