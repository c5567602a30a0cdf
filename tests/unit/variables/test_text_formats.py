"""The prompt has the format of text that contains dates or numbers."""

from __future__ import annotations

import pandas as pd
import pytest

from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.describers.text_formats import TextFormat, describe_text_format


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
    found = describe_text_format(texts, in_pandas=False)
    assert found.told.removesuffix(", convert first") == told
    assert found.reading == ""


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
    assert describe_text_format(texts, in_pandas=True) == TextFormat()


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["31.12.2016", "1.2.2017"], ["2016-12-31", "2017-02-01"]),
        (["2024-01-05 10:00", "", "n/a"], ["2024-01-05 10:00", None, None]),
        (["$1,234", "$2", "-3.50"], [1234, 2, -3.5]),
        (["12kg", "1,300 kg"], [12, 1300]),
        (["€ 52,300", "52300 EUR", "52.3k", "n/a", *"1234567"], [52300, 52300, 52300, None, *range(1, 8)]),
        (["1.2M", "3M"], [1.2e6, 3e6]),
        (["1.234,50", "-7,5", "12"], [1234.5, -7.5, 12]),
        ([*map(str, range(20)), "?"], [*range(20), None]),
        (["C01; M03", "M03", "C01;M02 ;M03", "M02"], [["C01", "M03"], ["M03"], ["C01", "M02", "M03"], ["M02"]]),
    ],
)
def test_in_pandas_the_call_that_reads_the_text_is_told(texts: list[str], values: list[object]) -> None:
    reading = describe_text_format(texts, in_pandas=True).reading
    found = eval(reading, {"pd": pd, "x": pd.Series(texts)})
    wanted = pd.Series(values) if "numeric" in reading or "split" in reading else pd.to_datetime(pd.Series(values))
    pd.testing.assert_series_equal(found, wanted, check_dtype=False)


@pytest.mark.parametrize(
    "texts", [["(5)", "7"], ["1 kg", "2 lb"], [*map(str, range(20)), "few"], ["1/2/2017", "3/4/2018"]]
)
def test_where_no_single_call_reads_the_text_it_says_so(texts: list[str]) -> None:
    found = describe_text_format(texts, in_pandas=True)
    assert found.told.endswith(", convert first")
    assert found.reading == ""


def test_spellings_of_one_value_are_told_with_the_case_that_most_rows_have() -> None:
    frame = pd.DataFrame({"size": ["Small"] * 5 + ["small ", "LARGE"] + ["Large"] * 5})
    [summary] = describe({"df": frame}, privacy="stats", mentioned="")
    assert summary.columns[0].stats.endswith(", 2 in one spelling")
    assert summary.columns[0].reading == "x.str.strip().str.title()"


def test_the_line_of_a_column_says_how_its_dates_are_written_and_shows_none() -> None:
    frame = pd.DataFrame({"Date": [f"{day}-Jan-18" for day in range(1, 29)]})
    [summary] = describe({"df": frame}, privacy="stats", mentioned="")
    [column] = summary.columns
    assert column.statistics == "28u, text dates: pd.to_datetime(x, format='%d-%b-%y')"
    assert column.example == ""


def test_nothing_is_told_of_how_personal_or_schema_only_columns_are_written() -> None:
    frame = pd.DataFrame({"birthday": [f"{day}-Jan-18" for day in range(1, 29)]})
    [summary] = describe({"df": frame}, privacy="stats", mentioned="")
    assert summary.columns[0].stats == ""
    [summary] = describe({"df": frame.rename(columns={"birthday": "Date"})}, privacy="schema", mentioned="")
    assert summary.columns[0].stats == ""
