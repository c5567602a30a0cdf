"""Statistical results get the names they were meant to have, and only where the name says so."""

from __future__ import annotations

import pytest
from rule_calls import as_meant, correct


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ("p_value, _ = stats.ks_2samp(a, b)", "_, p_value = stats.ks_2samp(a, b)"),
        ("(p, t) = ttest_ind(a, b)", "(t, p) = ttest_ind(a, b)"),
        ("if x:\n    ks_test_p_value, d = kstest(a, 'norm')", "if x:\n    d, ks_test_p_value = kstest(a, 'norm')"),
        ("p_value = x.corr(y)", "p_value = stats.linregress(x, y, nan_policy='omit').pvalue"),
        (
            "r = a['x'].corr(a['y'], 'spearman').pvalue",
            "r = stats.spearmanr(a['x'], a['y'], nan_policy='omit').pvalue",
        ),
        ("p = x.corr(y, method='kendall')", "p = stats.kendalltau(x, y, nan_policy='omit').pvalue"),
        ("z = stats.zscore(df['a'])", "z = stats.zscore(df['a'], nan_policy='omit')"),
    ],
)
def test_a_result_under_the_wrong_name_is_put_right(code: str, corrected: str) -> None:
    assert as_meant(code).code == corrected
    assert len(as_meant(code).notes) == 1


@pytest.mark.parametrize(
    "code",
    [
        "t, p_value = ttest_ind(a, b)",
        "p1, p2 = pearsonr(a, b)",
        "p_value, rest = split(a)",
        "stat, _ = shapiro(a)",
        "p = shapiro(a)",
        "r = x.corr(y)",
        "p_value = frame.corr()",
        "p = x.corr(y, method=mine)",
        "r_p, p_pearson = pearsonr(a, b)",
        "def zscore(x):\n    return x - x.mean()\nz = zscore(df['a'])",
        "zscore(df['a'].dropna())",
        "zscore(x, nan_policy='raise')",
        "not python (",
    ],
)
def test_what_may_be_meant_is_left_alone(code: str) -> None:
    assert as_meant(code).code == code
    assert as_meant(code).notes == ()


def test_the_correction_is_told_with_the_code() -> None:
    prepared = correct("p_value, _ = shapiro(a)\nprint(p_value)", defined=("shapiro", "a"))
    assert prepared.notes == ("shapiro returns the p value second: _, p_value",)


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ('df["x"].std()', 'df["x"].std(ddof=0)'),
        ('df.groupby("g")["x"].var()', 'df.groupby("g")["x"].var(ddof=0)'),
        ('df["x"].std(ddof=1)', 'df["x"].std(ddof=1)'),
        ("np.std(x), np.var(x), std(x)", "np.std(x), np.var(x), std(x)"),
    ],
)
def test_a_deviation_is_that_of_the_population_where_the_prompt_wants_it(code: str, corrected: str) -> None:
    assert correct(code, prompt="Mean and population standard deviation", defined=["np"]).code == corrected
    assert (
        correct(code, prompt="Mean and standard deviation of the population of cities", defined=["np"]).code == code
    )
    people = 'df["population"].std()'
    assert correct(people, prompt="What is the population standard deviation?", defined=["np"]).code == people
    both = "The population standard deviation and the sample standard deviation"
    assert correct(code, prompt=both, defined=["np"]).code == code
