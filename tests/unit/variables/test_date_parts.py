"""Years, months and days in three columns are described with the expression for their dates."""

from __future__ import annotations

import pandas as pd
import pytest

from jupyter_codeagent.types.variables import Privacy
from jupyter_codeagent.variables.describe import describe

TRIPS = pd.DataFrame({"Year": 2013, "Month": [1, 2], "Day": [3, 4], "n": [5, 6]})


def told(frame: pd.DataFrame, privacy: Privacy = "stats") -> str:
    [summary] = describe({"trips": frame}, privacy=privacy, mentioned="")
    return " ".join(column.stats for column in summary.columns)


def test_what_is_told_makes_dates() -> None:
    code = told(TRIPS).split("dates: ")[1].split("]])")[0] + "]])"
    assert code == "pd.to_datetime(trips[['Year', 'Month', 'Day']])"
    dates = eval(code, {"pd": pd, "trips": TRIPS})
    assert list(dates.dt.day_name()) == ["Thursday", "Monday"]


@pytest.mark.parametrize(
    "frame",
    [
        TRIPS.drop(columns="Day"),
        TRIPS.assign(Year=13),
        TRIPS.assign(Month=["Jan", "Feb"]),
        TRIPS.assign(at=pd.to_datetime("2013-01-03")),
    ],
)
def test_nothing_is_told_where_they_make_none_or_a_date_is_there(frame: pd.DataFrame) -> None:
    assert "to_datetime" not in told(frame)


def test_nothing_is_told_of_it_under_the_schema_alone() -> None:
    assert "to_datetime" not in told(TRIPS, "schema")
