"""A figure for each of something, where the program has computed one for all."""

from __future__ import annotations

import pytest
from rule_calls import said

from jupyter_codeagent.agent.rules.groups import forgotten_group, one_number
from jupyter_codeagent.types.sandbox import NamespaceEntry

YIELDS = NamespaceEntry(
    name="df", type_name="DataFrame", shape=(9, 4), columns=("site", "yield", "Dep_Hour", "hour"), dtypes=()
)


@pytest.mark.parametrize(
    ("prompt", "code", "label"),
    [
        ("Mean yield per site?", "df['yield'].mean()", "site"),
        ("What is the mean for each Site", "df['yield'].mean()", "site"),
        ("Mean yield per site?", "df.groupby('site')['yield'].mean()", ""),
        ("The mean of each dep_hour", "df['yield'].mean()", "Dep_Hour"),
        ("Average speed in miles per hour?", "df['yield'].mean()", ""),
        ("Mean yield of each variety", "df['yield'].mean()", ""),
        ("Mean yield", "df['yield'].mean()", ""),
        ("Mean yield at each site (A, B)", "print(yields('A').mean(), yields('B').mean())", ""),
        ("yield is the harvest in kg per site. Mean yield?", "df['yield'].mean()", ""),
        ("df.yield is one number for\neach site, taken in May. What is the mean yield?", "df['yield'].mean()", ""),
        ("Yields are falling; show me the mean per site.", "df['yield'].mean()", "site"),
        ("Mean yield at each site but A", "df[df['x'] == 'A']['yield'].mean()", "site"),
    ],
)
def test_a_group_that_was_asked_for_and_is_not_in_the_code_is_told(prompt: str, code: str, label: str) -> None:
    told = said(forgotten_group, code, prompt, [YIELDS])
    assert bool(told) == bool(label)
    assert label in told


def test_a_column_of_a_table_that_the_code_does_not_read_is_not_missed() -> None:
    flights = NamespaceEntry(name="flights", type_name="DataFrame", columns=("month", "delay"))
    orders = NamespaceEntry(name="orders", type_name="DataFrame", columns=("date", "amount"))
    code = "orders.groupby(orders['date'].str[3:5]).size()"
    assert said(forgotten_group, code, "Orders per month", [flights, orders]) == ""
    assert said(forgotten_group, "flights.shape", "Flights per month", [flights, orders]) != ""


RAIN = NamespaceEntry(
    name="rain", type_name="DataFrame", columns=("date", "mm"), dtypes=("datetime64[ns]", "float64")
)


@pytest.mark.parametrize(
    ("prompt", "code", "told"),
    [
        ("Total rain in each year?", "rain.groupby('date')['mm'].sum()", "rain['date'].dt.year"),
        ("Total rain per weekday?", "rain['mm'].sum()", "rain['date'].dt.day_name()"),
        ("Total rain in each month?", "rain['mm'].sum()", "rain['date'].dt:"),
        ("Total rain in each year?", "rain.groupby(rain['date'].dt.year)['mm'].sum()", ""),
        ("Total rain in each year?", "rain['Year_no'] = rain.date.dt.year", ""),
        ("Total rain in each year?", "rain.set_index('date').resample('YE')['mm'].sum()", ""),
        ("Total rain in each day?", "rain.groupby('date')['mm'].sum()", ""),
        ("Total rain in each year?", "other.groupby('x')['mm'].sum()", ""),
        ("Speed in miles per hour?", "rain['mm'].sum()", ""),
    ],
)
def test_a_period_that_was_asked_for_and_is_not_taken_of_the_dates_is_told(
    prompt: str, code: str, told: str
) -> None:
    found = said(forgotten_group, code, prompt, [RAIN])
    assert told in found
    assert bool(found) is bool(told)


@pytest.mark.parametrize(
    ("prompt", "text", "told"),
    [
        ("On-time rate per quarter", "76.3", True),
        ("On-time rate for each quarter.", "rate: 76.3 %", True),
        ("On-time rate per quarter: the percentage that came at most 15 minutes late.", "0.763", True),
        ("The least rate per quarter", "76.3", False),
        ("The minimum rate per quarter", "76.3", False),
        ("On-time rate per quarter", "quarter\n1 77.2\n2 74.1", False),
        ("Which quarter has the best rate per quarter?", "76.3", False),
        ("The highest rate per quarter", "76.3", False),
        ("On-time rate per airline", "76.3", False),
        ("Rate in miles per quarter", "76.3", False),
    ],
)
def test_one_number_where_groups_were_asked_for_is_told(prompt: str, text: str, told: bool) -> None:
    code = "x = (late.groupby('quarter')['n'].sum() / flights.groupby('quarter')['n'].count()).mean()"
    entry = NamespaceEntry(name="flights", type_name="DataFrame", columns=("quarter", "n"))
    assert ("one number was shown for all" in said(one_number, code, prompt, [entry], text=text)) is told


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("On-time rate per quarter: came at most 15 minutes late", True),
        ("Cancellation rate per month", True),
        ("Growth rate per year", False),
        ("The mean per quarter", False),
        ("The best rate per quarter", False),
        ("On-time rate per airline", False),
    ],
)
def test_one_number_of_a_program_without_groups_is_told_where_a_rate_per_period_was_asked_for(
    prompt: str, told: bool
) -> None:
    entry = NamespaceEntry(name="flights", type_name="DataFrame", columns=("month", "n"))
    assert bool(said(one_number, "(flights['n'] < 15).mean() * 100", prompt, [entry], text="74.1")) is told
