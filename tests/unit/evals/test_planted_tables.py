"""What is planted in the tables is in them, at the stated size, and nothing else is; in noise there is nothing.

Each kind is checked by a test of its own with scipy, on normal scores, so that neither skew nor a few wild values
decide.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import stats

from evals.explore.case import EFFECT_KINDS, KINDS, TIME_KINDS, Case, Planted
from evals.explore.judge import connections
from evals.explore.noise import WALK, noise_cases
from evals.explore.planted import Half, count_by_kind, planted_cases, planted_in

Floats = npt.NDArray[np.float64]

HALVES: tuple[Half, ...] = ("development", "held_back")
CASES = {half: planted_cases(half) for half in HALVES}
SURE = 1e-6

NOT_PLANTED = {"group_trend", "spelling", "key_spelling"}
"""Kinds that explore has learnt since the tables were written; `exploration_cases.py` has cases of them."""


def scores(values: pd.Series) -> Floats:
    """Return normal scores of a column; two levels are 0 and 1, times are their order."""
    if not pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_datetime64_any_dtype(values):
        assert values.nunique() == 2
        values = pd.Series(pd.factorize(values, sort=True)[0])
    ranks = stats.rankdata(values.to_numpy())
    return np.asarray(stats.norm.ppf((ranks - 0.5) / len(values)))


def dummies(values: pd.Series) -> Floats:
    """Return a column of 0 and 1 for each level but the first."""
    return np.asarray(pd.get_dummies(values.astype(str), drop_first=True), dtype=np.float64)


def fit(y: Floats, *parts: Floats) -> tuple[Floats, float, int]:
    """Return coefficients, residual sum of squares and residual degrees of freedom of a regression."""
    design = np.column_stack([np.ones(len(y)), *parts])
    coefficients, _, rank, _ = np.linalg.lstsq(design, y, rcond=None)
    return (
        np.asarray(coefficients, dtype=np.float64),
        float(((y - design @ coefficients) ** 2).sum()),
        len(y) - int(rank),
    )


def better(y: Floats, small: list[Floats], large: list[Floats]) -> float:
    """Return the p-value of the F test of a regression against a smaller one."""
    _, rss_small, df_small = fit(y, *small)
    _, rss, df = fit(y, *large)
    return float(stats.f.sf((rss_small - rss) / (df_small - df) / (rss / df), df_small - df, df))


def group_difference(data: pd.DataFrame) -> None:
    group, value = data.nunique().sort_values().index
    value_scores = pd.Series(scores(data[value]))
    of_group = [value_scores[data[group] == level].to_numpy() for level in data[group].unique()]
    means = [float(part.mean()) for part in of_group]
    assert stats.f_oneway(*of_group).pvalue < SURE
    assert 0.25 < max(means) - min(means) < 1.0


def correlation(data: pd.DataFrame) -> None:
    found = []
    for x, y in permutations(data.columns):
        of_x, of_y = scores(data[x]), scores(data[y])
        left = fit(of_y, of_x, of_x**2)[1] / fit(of_y)[1]
        found.append((better(of_y, [], [of_x, of_x**2]), float(np.sqrt(1 - left))))
    p, r = min(found)
    assert p < SURE
    assert 0.22 < r < 0.62


def cross(one: pd.Series, other: pd.Series) -> tuple[float, float]:
    """Return the p-value of the chi-squared test and Cramér's V."""
    table = np.asarray(pd.crosstab(one, other))
    chi2, p = stats.chi2_contingency(table)[:2]
    return float(p), float(np.sqrt(chi2 / table.sum() / (min(table.shape) - 1)))


def association(data: pd.DataFrame) -> None:
    p, v = cross(data.iloc[:, 0], data.iloc[:, 1])
    assert p < SURE
    assert 0.14 < v < 0.42


def trend(value: Floats, when: pd.Series) -> None:
    since = ((when - when.min()) / (when.max() - when.min())).to_numpy(dtype=np.float64)
    assert better(value, [], [since]) < SURE
    coefficients, rss, df = fit(value, since)
    assert 0.9 < abs(coefficients[1]) / np.sqrt(rss / df) < 2.1


def season(value: Floats, when: pd.Series) -> None:
    found = []
    for part in (when.dt.month, when.dt.day_of_week, when.dt.hour):
        if part.nunique() > 1:
            groups = [one for _, one in pd.Series(value).groupby(part.to_numpy())]
            means = [float(one.mean()) for one in groups]
            found.append((float(stats.f_oneway(*groups).pvalue), max(means) - min(means)))
    p, size = min(found)
    assert p < SURE
    assert 0.4 < size < 1.7


def split(value: Floats) -> tuple[float, float]:
    """Return the size of the best step, in standard deviations, and its residual sum of squares."""
    n = len(value)
    sums, squares = np.cumsum(value)[:-1], float((value**2).sum())
    left = np.arange(1, n)
    right = n - left
    total = float(value.sum())
    rss = squares - sums**2 / left - (total - sums) ** 2 / right
    at = int(np.argmin(rss))
    size = (total - sums[at]) / right[at] - sums[at] / left[at]
    return float(size / np.sqrt(rss[at] / n)), float(rss[at])


def level_break(value: Floats, when: pd.Series) -> None:
    ordered = value[np.argsort(when.to_numpy(), kind="stable")]
    size, rss = split(ordered)
    assert 0.7 < abs(size) < 1.6
    assert rss < fit(ordered, np.linspace(-1, 1, len(ordered)))[1] * 0.99


def reversal(data: pd.DataFrame) -> None:
    for x, y, group in permutations(data.columns):
        if data[group].nunique() <= 5 and all(
            pd.api.types.is_numeric_dtype(data[name]) or data[name].nunique() == 2 for name in (x, y)
        ):
            of_x, of_y, groups = scores(data[x]), scores(data[y]), dummies(data[group])
            overall, within = fit(of_y, of_x)[0][1], fit(of_y, of_x, groups)[0][1]
            if overall * within < 0:
                assert better(of_y, [], [of_x]) < 1e-4
                assert better(of_y, [groups], [groups, of_x]) < 1e-4
                signs = [
                    fit(of_y[at], of_x[at])[0][1] * within > 0
                    for at in (np.asarray(data[group] == level) for level in data[group].unique())
                ]
                assert all(signs)
                return
    pytest.fail("nothing is reversed")


def interaction(data: pd.DataFrame) -> None:
    sizes = []
    for y, x, group in permutations(data.columns):
        if pd.api.types.is_numeric_dtype(data[y]) and not pd.api.types.is_numeric_dtype(data[group]):
            numeric = pd.api.types.is_numeric_dtype(data[x])
            of_x = scores(data[x])[:, None] if numeric else dummies(data[x])
            groups = dummies(data[group])
            both = (of_x[:, :, None] * groups[:, None, :]).reshape(len(data), -1)
            of_y = scores(data[y])
            rss_without, rss = fit(of_y, of_x, groups)[1], fit(of_y, of_x, groups, both)[1]
            if better(of_y, [of_x, groups], [of_x, groups, both]) < SURE:
                sizes.append(1 - rss / rss_without)
    assert 0.01 < max(sizes) < 0.25


def duplicates(frame: pd.DataFrame, columns: list[str]) -> None:
    again = frame.duplicated(columns or None).mean()
    assert 0.004 < again < 0.05


def text_type(data: pd.DataFrame) -> None:
    values = data.iloc[:, 0]
    assert not pd.api.types.is_numeric_dtype(values)
    forms = re.compile(r"€?\s?\d[\d.,]*\s?(kB|EUR|%)?|\d{1,4}[./]\d{2}[./]\d{1,4}")
    assert all(forms.fullmatch(value) for value in values)
    assert values.nunique() > 10


def missing_by_group(data: pd.DataFrame) -> None:
    gone = data.isna()
    value, group = sorted(data.columns, key=lambda name: -np.count_nonzero(gone[name]))
    p, _ = cross(gone[value], data[group])
    shares = gone[value].groupby(data[group]).mean()
    assert p < SURE
    assert 0.12 < shares.max() - shares.min() < 0.3
    assert 0.02 < shares.min() < 0.1


def missing_together(data: pd.DataFrame) -> None:
    gone = data.isna().to_numpy()
    assert np.corrcoef(gone.T)[0, 1] > 0.9
    assert 0.03 < gone[:, 0].mean() < 0.2


def gap(data: pd.DataFrame) -> None:
    steps = pd.Series(np.sort(data.iloc[:, 0].to_numpy())).diff().dt.days.sort_values().dropna()
    assert steps.iloc[-1] >= 14
    assert steps.iloc[-2] <= 3


def far(values: pd.Series) -> Floats:
    """Return how many robust standard deviations each value lies from the median, on the scale of logarithms."""
    logs = np.log(values.to_numpy(dtype=np.float64))
    from_middle = np.abs(logs - np.median(logs))
    return np.asarray(from_middle / (1.4826 * np.median(from_middle)))


def outliers(data: pd.DataFrame) -> None:
    assert 0.003 < (far(data.iloc[:, 0]) > 5).mean() < 0.011


def impossible(data: pd.DataFrame) -> None:
    values = data.iloc[:, 0]
    wrong = values[values < 0] if values.min() < 0 else values[far(values) > 20]
    assert wrong.nunique() == 1
    assert 0.003 < len(wrong) / len(values) < 0.02


def same(data: pd.DataFrame) -> None:
    assert abs(np.corrcoef(data.to_numpy(dtype=np.float64).T)[0, 1]) > 0.999


def join(case: Case, planted: Planted) -> None:
    left, right = (case.tables[name] for name in (planted.table, planted.other))
    keys, others = (frame[next(name for name in planted.columns if name in frame)] for frame in (left, right))
    matched = keys.isin(others).mean()
    assert 0.8 < matched < 0.97
    assert keys.duplicated().any()


WITHIN: dict[str, Callable[[pd.DataFrame], None]] = {
    "group_difference": group_difference,
    "correlation": correlation,
    "association": association,
    "reversal": reversal,
    "interaction": interaction,
    "text_type": text_type,
    "missing_by_group": missing_by_group,
    "missing_together": missing_together,
    "gap": gap,
    "outliers": outliers,
    "impossible": impossible,
    "same": same,
}
OVER_TIME: dict[str, Callable[[Floats, pd.Series], None]] = {
    "trend": trend,
    "season": season,
    "break": level_break,
}


def each_planted(half: Half) -> Iterator[object]:
    """Yield each case with each finding; what is held back has only a number."""
    pairs = [(case, planted) for case in CASES[half] for planted in case.planted]
    for at, (case, planted) in enumerate(pairs):
        name = "-".join((planted.kind, planted.table, *sorted(planted.columns)))
        yield pytest.param(case, planted, id=name if half == "development" else f"held_back-{at}")


@pytest.mark.parametrize(("case", "planted"), [one for half in HALVES for one in each_planted(half)])
def test_what_is_planted_is_there(case: Case, planted: Planted) -> None:
    frame = case.tables[planted.table]
    columns = sorted(planted.columns)
    if planted.kind == "join":
        join(case, planted)
    elif planted.kind == "duplicates":
        duplicates(frame, columns)
    elif planted.kind in TIME_KINDS:
        (column,) = columns
        OVER_TIME[planted.kind](scores(frame[column]), frame[case.time[planted.table]])
    else:
        data = frame[columns]
        if planted.kind in EFFECT_KINDS:
            data = data.dropna().reset_index(drop=True)
        WITHIN[planted.kind](data)


def group_trend(frame: pd.DataFrame, time: str, value: str, group: str) -> float:
    """Return the p-value of a line over time that differs between the groups."""
    known = frame[[value, time, group]].dropna()
    elapsed, groups = scores(known[time]), dummies(known[group])
    both = [elapsed, groups]
    return better(known[value].to_numpy(float), both, [*both, groups * elapsed[:, None]])


GROUP_TRENDS = [case for case in planted_cases("group_trends") if case.planted]


@pytest.mark.parametrize("case", GROUP_TRENDS, ids=[f"group_trends-{at}" for at in range(len(GROUP_TRENDS))])
def test_a_group_trend_is_there_where_it_is_planted(case: Case) -> None:
    for planted in case.planted:
        frame = case.tables[planted.table]
        group, value = sorted(planted.columns, key=lambda name: pd.api.types.is_numeric_dtype(frame[name]))
        assert group_trend(frame, case.time[planted.table], value, group) < 1e-4


def as_variables(frame: pd.DataFrame) -> tuple[dict[str, Floats], dict[str, pd.Series]]:
    """Return the numbers and times of a table as normal scores, and its categories; no ids and no constants."""
    numbers: dict[str, Floats] = {}
    groups: dict[str, pd.Series] = {}
    for name in frame:
        values = frame[name]
        if values.nunique() in (1, len(values)) and not pd.api.types.is_datetime64_any_dtype(values):
            continue
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
            present = values.notna().to_numpy()
            numbers[str(name)] = np.full(len(values), np.nan)
            numbers[str(name)][present] = scores(values[present])
            if pd.api.types.is_datetime64_any_dtype(values):
                groups |= {f"{name} month": values.dt.month, f"{name} weekday": values.dt.day_of_week}
        elif values.nunique() <= 40:
            groups[str(name)] = values
    return numbers, groups


def chances(frame: pd.DataFrame, connected: list[frozenset[str]]) -> dict[tuple[str, str], float]:
    """Return the p-value of each pair of columns that no planted effect connects."""
    numbers, groups = as_variables(frame)
    pairs: dict[tuple[str, str], float] = {}

    def apart(one: str, other: str) -> bool:
        columns = {name.partition(" ")[0] for name in (one, other)}
        return len(columns) == 2 and not any(columns <= group for group in connected)

    for one, other in combinations(numbers, 2):
        if apart(one, other):
            both = ~np.isnan(numbers[one] + numbers[other])
            x, y = numbers[one][both], numbers[other][both]
            pairs[one, other] = better(y, [], [x, x**2])
    for one, values in numbers.items():
        for group, of_row in groups.items():
            if apart(one, group):
                parts = [part for _, part in pd.Series(values).dropna().groupby(of_row) if len(part) > 4]
                pairs[one, group] = float(stats.f_oneway(*parts).pvalue)
    for one, other in combinations(groups, 2):
        if apart(one, other):
            pairs[one, other] = cross(groups[one], groups[other])[0]
    return pairs


@pytest.mark.parametrize("half", HALVES)
def test_no_other_pair_of_columns_depends_on_each_other(half: Half) -> None:
    values: list[float] = []
    for case in CASES[half]:
        for table, frame in case.tables.items():
            connected = [columns for name, columns in connections(case) if name == table]
            values += chances(frame, connected).values()
    assert len(values) > 500
    assert min(values) > 0.05 / len(values)


def test_nothing_depends_on_anything_in_tables_of_noise() -> None:
    values: list[float] = []
    for case in noise_cases():
        for frame in case.tables.values():
            assert not frame.duplicated().any()
            values += chances(frame.drop(columns=WALK, errors="ignore"), []).values()
    assert len(values) > 500
    assert min(values) > 0.05 / len(values)
    assert np.mean(np.array(values) < 0.05) == pytest.approx(0.05, abs=0.02)


def test_one_table_of_noise_has_a_random_walk() -> None:
    assert [WALK in frame for case in noise_cases() for frame in case.tables.values()] == [True] + [False] * 9


def test_noise_has_as_many_tables_as_wanted_and_others_with_another_seed() -> None:
    assert len(noise_cases(23, seed=5)) == 23
    first, second = (noise_cases(1, seed)[0].tables["noise_0"] for seed in (5, 6))
    assert not first.equals(second)


def test_the_tables_are_made_again_the_same_and_fast() -> None:
    began = time.process_time()
    again = [*planted_cases("development"), *planted_cases("held_back"), *noise_cases()]
    assert time.process_time() - began < 10
    for one, other in zip(again, [*CASES["development"], *CASES["held_back"], *noise_cases()], strict=True):
        assert one.planted == other.planted
        for name, frame in one.tables.items():
            pd.testing.assert_frame_equal(frame, other.tables[name])


def test_each_half_has_ten_cases_of_all_kinds_and_fits_into_eight_insights() -> None:
    counts = {half: count_by_kind(CASES[half]) for half in HALVES}
    assert sum(counts[half].total() for half in HALVES) >= 100
    for kind in set(KINDS) - NOT_PLANTED:
        assert counts["development"][kind] >= 2
        assert abs(counts["development"][kind] - counts["held_back"][kind]) <= 1
    for half in HALVES:
        assert len(CASES[half]) == 10
        assert all(case.held_back == (half == "held_back") for case in CASES[half])
        for case in CASES[half]:
            assert sum(planted.kind in EFFECT_KINDS for planted in case.planted) <= 6
            assert all(6 <= frame.shape[1] <= 18 for frame in case.tables.values())
            assert all(400 <= len(case.tables[planted.table]) <= 8000 for planted in case.planted)


def test_what_is_planted_names_columns_that_are_there() -> None:
    names = [name for half in HALVES for case in CASES[half] for name in case.tables]
    assert len(set(names)) == len(names)
    for half in HALVES:
        for case in CASES[half]:
            for planted in planted_in([case]):
                columns = {name for table in (planted.table, planted.other) if table for name in case.tables[table]}
                assert planted.columns <= columns
