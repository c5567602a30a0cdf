"""Shares of two counts: a group with none of what is counted has 0, in the figures and not only in the text."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from rule_calls import as_meant

CARS = pd.DataFrame({"origin": ["USA", "USA", "Japan"], "lbs": [4000, 2000, 2000]})


@pytest.mark.parametrize(
    "code",
    [
        "a = df[df['lbs'] > 3000]\nn = df['origin'].value_counts()\nx = a['origin'].value_counts() / n * 100",
        "heavy = df.query('lbs > 3000')['origin'].value_counts()\nx = (heavy / df['origin'].value_counts()) * 100",
        "x = df[df.lbs > 3000].groupby('origin').size() / df.groupby('origin').size() * 100",
    ],
)
def test_a_group_that_has_none_has_a_share_of_zero(code: str) -> None:
    corrected = as_meant(code)
    assert corrected.notes == ("the share of a group that has none is 0",)
    variables: dict[str, Any] = {"df": CARS}
    exec(corrected.code, variables)
    assert variables["x"].to_dict() == {"USA": 50.0, "Japan": 0.0}


@pytest.mark.parametrize(
    "code",
    [
        "x = other['origin'].value_counts() / df['origin'].value_counts()",
        "x = df[df.lbs > 3000]['lbs'].value_counts() / df['origin'].value_counts()",
        "x = df[df.lbs > 3000]['origin'].value_counts(normalize=True) / df['origin'].value_counts()",
        "x = df[df.lbs > 3].groupby(['origin', 'lbs']).size() / df.groupby('origin').size()",
        "x = df[df.lbs > 3000].groupby('origin')['lbs'].mean() / df.groupby('origin')['lbs'].mean()",
        "x = df[df.lbs > 3000].groupby('origin').size() / len(df)",
        "x = (df[df.lbs > 3000].groupby('origin').size() / df.groupby('origin').size()).mean()",
        "x = (df[df.lbs > 3000].groupby('origin').size() / df.groupby('origin').size()).dropna()",
        "a = df[df.lbs > 3]\na = a.copy()\nx = a.groupby('origin').size() / df.groupby('origin').size()",
    ],
)
def test_what_may_be_missing_for_another_reason_stays(code: str) -> None:
    assert as_meant(code).code == code


def test_the_share_of_a_group_that_is_empty_itself_stays_missing() -> None:
    corrected = as_meant("x = df[df.lbs > 3000]['o'].value_counts() / df['o'].value_counts()")
    variables: dict[str, Any] = {"df": CARS.assign(o=pd.Categorical(CARS["origin"], ["USA", "Japan", "EU"]))}
    exec(corrected.code, variables)
    assert variables["x"].drop("EU").to_dict() == {"USA": 0.5, "Japan": 0.0}
    assert pd.isna(variables["x"]["EU"])


@pytest.mark.parametrize(
    ("code", "counted"),
    [
        ("d[d['a'].isna()].groupby('g')['a'].count()", "d[d['a'].isna()].groupby('g').size().rename('a')"),
        (
            "none = d[d.a.isnull()]\nshare = none.groupby(['g', 'h'])['a'].count() / len(d)",
            "none = d[d.a.isnull()]\nshare = none.groupby(['g', 'h']).size().rename('a') / len(d)",
        ),
    ],
)
def test_rows_without_a_value_are_counted_although_the_value_is_named(code: str, counted: str) -> None:
    assert as_meant(code).code == counted
    assert as_meant(code).notes == ("rows without a are counted: count leaves out what is missing",)


@pytest.mark.parametrize(
    "code",
    [
        "d[d['a'].isna()].groupby('g')['b'].count()",
        "d[d['a'].notna()].groupby('g')['a'].count()",
        "d[d['a'].isna()].groupby('g', as_index=False)['a'].count()",
        "d[other['a'].isna()].groupby('g')['a'].count()",
        "d.groupby('g')['a'].count()",
        "none = d[d['a'].isna()]\nnone = none.fillna(0)\nnone.groupby('g')['a'].count()",
    ],
)
def test_counts_of_values_that_may_be_there_are_left_alone(code: str) -> None:
    assert as_meant(code).code == code
