"""The prompt has the format of text that contains dates or numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.describers.text_formats import describe_text_format


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["12/19/2016", "1/3/2017"], "text dates '%m/%d/%Y'"),
        (["1/2/2017", "3/4/2018"], "text dates '%m/%d/%Y' or '%d/%m/%Y'"),
        (["31.12.2016"], "text dates '%d.%m.%Y'"),
        (["19-Jan-18", "18-Jan-18"], "text dates '%d-%b-%y'"),
        (["Sep 17, 2017"], "text dates '%b %d, %Y'"),
        (["January 5, 2017", "May 6, 2017"], "text dates '%B %d, %Y'"),
        (["1996-04"], "text dates '%Y-%m'"),
        (["20180131"], "text dates '%Y%m%d'"),
        (["2017-01-01T00:00:00Z"], "text dates '%Y-%m-%dT%H:%M:%SZ'"),
        (["2013-01-01 10:00", "2013-01-02 9:30"], "text dates '%Y-%m-%d %H:%M'"),
        (["$1,234", "$2", "$3.50"], "text numbers with '$' ','"),
        (["12%", "3.5%"], "text numbers with '%'"),
        (["12kg", "13kg"], "text numbers with 'kg'"),
        ([str(number) for number in range(20)] + ["?"], "text numbers but '?'"),
    ],
)
def test_dates_and_numbers_are_told_by_how_they_are_written(texts: list[str], told: str) -> None:
    assert describe_text_format(texts) == told


@pytest.mark.parametrize(
    "texts",
    [
        ["007", "012"],  # codes
        ["A1", "B2"],
        ["1.2.3"],
        ["Braund, Mr. Owen"],
        ["2016-13-45"],
        ["12/19/2016", "tomorrow"],
        ["10:30", "11:20"],
        [],
    ],
)
def test_other_text_is_told_as_text(texts: list[str]) -> None:
    assert describe_text_format(texts) == ""


def test_the_line_of_a_column_says_how_its_dates_are_written_and_shows_none() -> None:
    frame = pd.DataFrame({"Date": [f"{day}-Jan-18" for day in range(1, 29)]})
    [summary] = describe({"df": frame}, privacy="stats", mentioned="")
    [column] = summary.columns
    assert column.stats == "28u, text dates '%d-%b-%y', convert first"
    assert column.example == ""


def test_nothing_is_told_of_how_personal_or_schema_only_columns_are_written() -> None:
    frame = pd.DataFrame({"birthday": [f"{day}-Jan-18" for day in range(1, 29)]})
    [summary] = describe({"df": frame}, privacy="stats", mentioned="")
    assert summary.columns[0].stats == ""
    [summary] = describe({"df": frame.rename(columns={"birthday": "Date"})}, privacy="schema", mentioned="")
    assert summary.columns[0].stats == ""
