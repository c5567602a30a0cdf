"""What is read out of variables and figures is what stands in them."""

from __future__ import annotations

import pandas as pd

from evals.checks import year_names
from evals.facts import tables
from evals.programs import read_table


def test_a_table_of_intervals_comes_with_its_intervals_as_texts() -> None:
    ages = pd.Series([1, 2, 3, 4], name="age")
    means = ages.groupby(pd.cut(ages, [0, 2, 4]).rename("group"), observed=True).mean()
    found = read_table(tables({"means": means})["means"])
    assert found.to_dict("list") == {"group": ["(0, 2]", "(2, 4]"], "age": [1.5, 3.5]}


def test_a_table_that_arrow_holds_keeps_its_index_and_types() -> None:
    days = pd.DataFrame({"n": [1, 2]}, index=pd.to_datetime(["2012-01-01", "2012-01-02"]))
    found = read_table(tables({"days": days})["days"])
    assert list(found.index) == list(days.index)
    assert found["n"].tolist() == [1, 2]


def test_a_year_is_named_by_its_number_or_by_the_day_that_resampling_gives_it() -> None:
    assert year_names(2012) == ("2012", "2012-12-31", "2012-01-01")
