"""Statistical results get the names they were meant to have, and only where the name says so."""

from __future__ import annotations

import pytest

from jupyter_codeagent.prompts.rewrite import name_results, prepare


@pytest.mark.parametrize(
    ("code", "corrected"),
    [
        ("p_value, _ = stats.ks_2samp(a, b)", "_, p_value = stats.ks_2samp(a, b)"),
        ("(p, t) = ttest_ind(a, b)", "(t, p) = ttest_ind(a, b)"),
        ("if x:\n    ks_test_p_value, d = kstest(a, 'norm')", "if x:\n    d, ks_test_p_value = kstest(a, 'norm')"),
        ("rmse = mean_squared_error(y, z)\nprint(rmse)", "rmse = mean_squared_error(y, z) ** 0.5\nprint(rmse)"),
        ("test_rmse = metrics.mean_squared_error(y, z)", "test_rmse = metrics.mean_squared_error(y, z) ** 0.5"),
    ],
)
def test_a_result_under_the_wrong_name_is_put_right(code: str, corrected: str) -> None:
    assert name_results(code).code == corrected
    assert len(name_results(code).notes) == 1


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
        "not python (",
    ],
)
def test_what_may_be_meant_is_left_alone(code: str) -> None:
    assert name_results(code).code == code
    assert name_results(code).notes == ()


def test_the_correction_is_told_with_the_code() -> None:
    prepared = prepare("p_value, _ = shapiro(a)\nprint(p_value)", defined=("shapiro", "a"))
    assert prepared.notes == ("shapiro gives the p value second: _, p_value",)
