"""Counts of rows whose value is missing; and those of values that may be there."""

from __future__ import annotations

import pytest
from rule_calls import as_meant


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
    assert as_meant(code).notes == ("counted the rows without a: `count()` skips missing values",)


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
