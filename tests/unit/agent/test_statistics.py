"""Statistical results get the names they were meant to have, and only where the name says so."""

from __future__ import annotations

import pytest
from rule_calls import as_meant, correct, issue_of, repair, said

from jupyter_codeagent.agent.rules.statistics import statistic_as_judgement
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ("p_value, _ = stats.ks_2samp(a, b)", "_, p_value = stats.ks_2samp(a, b)"),
        ("(p, t) = ttest_ind(a, b)", "(t, p) = ttest_ind(a, b)"),
        ("if x:\n    ks_test_p_value, d = kstest(a, 'norm')", "if x:\n    d, ks_test_p_value = kstest(a, 'norm')"),
        ("rmse = mean_squared_error(y, z)\nprint(rmse)", "rmse = mean_squared_error(y, z) ** 0.5\nprint(rmse)"),
        ("p_value = x.corr(y)", "p_value = stats.linregress(x, y, nan_policy='omit').pvalue"),
        (
            "r = a['x'].corr(a['y'], 'spearman').pvalue",
            "r = stats.spearmanr(a['x'], a['y'], nan_policy='omit').pvalue",
        ),
        ("p = x.corr(y, method='kendall')", "p = stats.kendalltau(x, y, nan_policy='omit').pvalue"),
        ("z = stats.zscore(df['a'])", "z = stats.zscore(df['a'], nan_policy='omit')"),
        (
            "g = pd.cut(x, bins=[0, 1], labels=['a'])",
            "g = pd.cut(x, bins=[0, 1], labels=['a'], include_lowest=True)",
        ),
        ("g = pd.cut(x, [0, 1], labels=n, )", "g = pd.cut(x, [0, 1], labels=n, include_lowest=True)"),
        (
            "split(df[['a', 'y']], df['y'])\ntrain_test_split(df[['a', 'y']], df['y'])",
            "split(df[['a', 'y']], df['y'])\ntrain_test_split(df[['a']], df['y'])",
        ),
        ("X = df[['y', 'a']]\ny = df['y']\nm.fit(X, y)", "X = df[['a']]\ny = df['y']\nm.fit(X, y)"),
        ("cross_val_score(m, df[['a', 'y', 'b']], df['y'])", "cross_val_score(m, df[['a', 'b']], df['y'])"),
        ("test_rmse = metrics.mean_squared_error(y, z)", "test_rmse = metrics.mean_squared_error(y, z) ** 0.5"),
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
        "mse = mean_squared_error(y, z)",
        "rmse = mean_squared_error(y, z)\nrmse = np.sqrt(rmse)",
        "rmse = mean_squared_error(y, z)\nprint(rmse ** 0.5)",
        "rmse = np.sqrt(mean_squared_error(y, z))",
        "rmse = mean_squared_error(y, z, squared=False)",
        "r = x.corr(y)",
        "p_value = frame.corr()",
        "p = x.corr(y, method=mine)",
        "chi2_contingency(df[['a', 'b']])",
        "r_p, p_pearson = pearsonr(a, b)",
        "def zscore(x):\n    return x - x.mean()\nz = zscore(df['a'])",
        "zscore(df['a'].dropna())",
        "zscore(x, nan_policy='raise')",
        "pd.cut(x, bins=4, labels=n)",
        "pd.cut(x, bins=[0, 12, 19])",
        "pd.cut(x, bins=[0, 1], labels=n, right=False)",
        "pd.cut(x, bins=[0, 1], labels=n, include_lowest=False)",
        "m.fit(df[['a', 'b']], df['y'])",
        "m.fit(train[['a', 'y']], test['y'])",
        "X = df[['y', 'a']]\nX = X[['a']]\nm.fit(X, df['y'])",
        "not python (",
    ],
)
def test_what_may_be_meant_is_left_alone(code: str) -> None:
    assert as_meant(code).code == code
    assert as_meant(code).notes == ()


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ("r = chi2_contingency(df[['a', 'b']])", "r = chi2_contingency(pd.crosstab(df['a'], df['b']))"),
        ("chi2_contingency(table[['a', 'b', 'c']])", None),
        ("chi2_contingency(pd.crosstab(df['a'], df['b']))", None),
        ("len(df)\nchi2_contingency(df[['a', 'b']])", None),
    ],
)
def test_rows_that_a_test_of_independence_has_refused_are_counted(code: str, corrected: str | None) -> None:
    error = ExecutionError(
        ename="TypeError", evalue="'<' not supported between instances of 'str' and 'int'", line=1
    )
    names = [NamespaceEntry(name=name, type_name="") for name in ("pd", "chi2_contingency")]
    fix = repair(code, error, names)
    assert (fix.code if fix is not None else None) == corrected


def test_the_correction_is_told_with_the_code() -> None:
    prepared = correct("p_value, _ = shapiro(a)\nprint(p_value)", defined=("shapiro", "a"))
    assert prepared.notes == ("shapiro returns the p value second: _, p_value",)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("is_normal, p = shapiro(x)\nprint(is_normal)", "is_normal"),
        ("if x:\n    significance, p_value = stats.mannwhitneyu(a, b)", "significance"),
        ("isNormal, pvalue = shapiro(x)", "isNormal"),
        ("statistic, p = shapiro(x)\nis_normal = p > 0.05", ""),
        ("normalized, p = split(x)", ""),
        ("stat_normal, p = shapiro(x)", ""),
        ("t_difference, p_value = ttest_ind(a, b)", ""),
        ("issue, p = shapiro(x)", ""),
        ("not python (", ""),
    ],
)
def test_a_statistic_under_the_name_of_a_judgement_is_a_doubt(code: str, name: str) -> None:
    assert said(statistic_as_judgement, code).partition(" is the")[0] == name
    result = ExecutionResult(status="ok", outputs=({"output_type": "stream", "name": "stdout", "text": "0.98"},))
    assert name in issue_of(result, code)
    assert bool(issue_of(result, code)) == bool(name)


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


COMPLETE = "d.dropna(subset=['x', 'y'])"


@pytest.mark.parametrize(
    ("code", "fitted"),
    [
        ("np.polyfit(d['x'], d['y'], 1)", f"np.polyfit({COMPLETE}['x'], {COMPLETE}['y'], 1)"),
        ("x = d.x\ny = d['y']\nz = np.polyfit(x, y, 1)", f"{COMPLETE}['x'], {COMPLETE}['y'], 1)"),
        (
            "r = stats.linregress(d['x'], d['y'])\nplt.scatter(d['x'], d['y'])",
            f"{COMPLETE}['x'], {COMPLETE}['y'])\n",
        ),
    ],
)
def test_a_line_is_fitted_to_the_rows_that_have_both_values(code: str, fitted: str) -> None:
    prepared = correct(code, incomplete={"d": {"'y'"}}, defined={"np", "plt", "stats", "d"})
    assert fitted in prepared.code
    assert "fitted the line to the rows that have x and y" in prepared.notes


@pytest.mark.parametrize(
    "code",
    [
        "np.polyfit(d['x'], d['w'], 1)",
        "np.polyfit(other['x'], other['y'], 1)",
        "np.polyfit(d['x'], other['y'], 1)",
        "d = d[d['x'] > 3]\nnp.polyfit(d['x'], d['y'], 1)",
        "x = d['x']\nx = x[:3]\nnp.polyfit(x, d['y'], 1)",
        "x = d['x']\nx /= 1000\nnp.polyfit(x, d['y'], 1)",
        "both = d['y'].notna()\nnp.polyfit(d['x'], d['y'], 1)",
        "np.polyfit(d['x'])",
    ],
)
def test_a_fit_whose_rows_are_complete_or_chosen_is_left_alone(code: str) -> None:
    prepared = correct(code, incomplete={"d": {"'y'"}, "other": frozenset()}, defined={"np", "d", "other"})
    assert "dropna" not in prepared.code
    assert not [note for note in prepared.notes if "fitted" in note]
