"""Figures that cannot be; and those that only look like it."""

from __future__ import annotations

import pytest
from rule_calls import issue_of, said

from jupyter_codeagent.agent.prompt.observe import issue_without_values
from jupyter_codeagent.agent.rules.ranges import impossible_number
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("p-value: 1.34", "A p-value"),
        ("P value = -0.02", "A p-value"),
        ("Welch p-value: 12.5", "A p-value"),
        ("Correlation: 1.2", "A correlation"),
        ("correlation between height and weight = -3.41", "A correlation"),
        ("The correlation of a and b is 1.5.", "A correlation"),
        ("Pearson r: 1.01", "A correlation"),
        ("Spearman's rho: -1.5", "A correlation"),
        ("Correlation coefficient (bill, flipper): 34.2", "A correlation"),
        ("R²: 1.7", "An R²"),
        ("R2 score: 1.2e3", "An R²"),
        ("- R-squared = 2.0", "An R²"),
        ("RMSE: -4.2", "An error measure"),
        ("Mean absolute error: -12.75", "An error measure"),
        ("test_mse = -3.1", "An error measure"),
        ("Share of late flights: 138.2%", "A share"),
        ("Share of late flights (%): 138.2", "A share"),
        ("Proportion of missing values: -0.5", "A share"),
        ("Percentage of passengers who survived: 3838.4", "A share"),
        ("percentage_of_late: 120.5 %", "A share"),
        ("Probability of rain: 250.0", "A share"),
        ("some text\nFraction: -12%\nmore", "A share"),
    ],
)
def test_a_figure_that_cannot_be_is_noticed(line: str, name: str) -> None:
    assert said(impossible_number, text=line).startswith(name)


@pytest.mark.parametrize(
    "line",
    [
        "p-value: 0.03",
        "p-value: 1.0",
        "p-value: 3.2e-12",
        "p-values below 0.05: 12",
        "Number of p-values: 12.5",
        "-log10 p-value: 12.3",
        "Bonferroni corrected p-value: 1.3",
        "Correlation: -1.0000000000000002",
        "Correlation: 85.3%",
        "Correlations above 0.5: 12",
        "Year with the highest correlation: 2008",
        "Lag of the highest correlation: 12.0",
        "Correlation lag: 3.0",
        "Change in correlation: 1.2",
        "Pearson chi-square: 12.3",
        "R²: -3.2",
        "R2: 0.95",
        "RMSE: 12.3",
        "Change in RMSE: -4.2",
        "RMSE improvement: -4.2",
        "neg RMSE: -4.2",
        "neg_mean_squared_error: -4.2",
        "Standard deviations below the mean: -2.1",
        "Budget variance: -200.5",
        "Share of late flights: 38.2%",
        "Share of late flights: 100.0%",
        "Share price: 150.25",
        "Earnings per share: 350.25",
        "Shares sold: 1500.5",
        "Share count: 1500",
        "Share: 1500",
        "Change in share: -2.3%",
        "Share change: -2.3%",
        "Share of profit from the north: -12.5%",
        "Debt as percentage of GDP: 120.5",
        "Percentage of target: 120.5%",
        "Percentage of last year: 140.2%",
        "Percentage increase: 138.2%",
        "Percent change: -138.2%",
        "Growth rate: 250.5%",
        "Rate: -250.5%",
        "One two three four five probability: 300.5",
        "Mean fare: 134.5",
        "Correlation    1.234   5.678",
        "    r2   p-value\n0  1.2      5.3",
        "p-value 12.5",
        "http://host: 1.5",
    ],
)
def test_other_figures_pass(line: str) -> None:
    assert said(impossible_number, text=line) == ""


def test_it_is_an_issue_whose_figure_is_told_only_where_it_may_be() -> None:
    shown = StreamOutput(output_type="stream", name="stdout", text="Correlation: -17.25\n")
    told = issue_of(ExecutionResult(status="ok", outputs=(shown,)), "print(r)")
    assert told == (
        "A correlation of -17.25 was printed, but it lies between minus one and one. Check the calculation."
    )
    assert issue_without_values(told, "df: DataFrame 3x1").startswith("A correlation of (not told) was printed")
