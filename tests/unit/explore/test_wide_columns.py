"""Columns that are years or months: said once, and not compared with each other."""

from __future__ import annotations

import pytest

from jupyter_codeagent.explore.overview import overview_words
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.explore.wide_columns import wide_columns
from jupyter_codeagent.types.exploration import ColumnOverview, Exploration, Finding, Library, TableOverview

YEARS = [str(year) for year in range(1990, 1996)]


@pytest.mark.parametrize(
    ("names", "noun", "first", "last"),
    [
        (["Country", *YEARS], "years", "1990", "1995"),
        ([f"X{year}" for year in YEARS], "years", "X1990", "X1995"),
        ([f"{year} [YR{year}]" for year in YEARS], "years", "1990 [YR1990]", "1995 [YR1995]"),
        (["MAY", "JAN", "FEB", "MAR", "APR", "year"], "months", "JAN", "MAY"),
        (["January", "February", "March", "April", "May", "june"], "months", "January", "june"),
    ],
)
def test_columns_named_by_years_or_months_are_found(names: list[str], noun: str, first: str, last: str) -> None:
    (found,) = wide_columns(names)

    assert (found.noun, found.names[0], found.names[-1]) == (noun, first, last)


@pytest.mark.parametrize(
    "names",
    [YEARS[:4], ["march", "mayor", "jane", "apron", "sepal", "octet"], ["1200", "1300", "9999", "12000", "3000"]],
    ids=["few", "other words", "other numbers"],
)
def test_other_columns_are_not(names: list[str]) -> None:
    assert wide_columns(names) == ()


def explored(library: Library) -> Exploration:
    names = ["Country", "income", *YEARS]
    columns = tuple(ColumnOverview(name=name, type="float64", role="number") for name in names)
    table = TableOverview(table="t", library=library, rows=90, labels=len(names), columns=columns)
    pairs = [("1990", "1991"), ("income", "1991"), ("1994", "1995")]
    findings = tuple(
        Finding(
            kind="correlation",
            table="t",
            columns=pair,
            effect=0.9,
            p_value=0.0,
            facts={"n": 90, "form": "line", "r": r},
        )
        for pair, r in zip(pairs, (0.99, 0.5, 0.7), strict=True)
    )
    return Exploration(tables=(table,), findings=findings, tried=3)


def test_what_goes_together_among_the_years_is_no_finding() -> None:
    assert [one.columns for one in choose(explored("pandas")).insights] == [("income", "1991")]


def test_the_overview_says_how_they_become_rows() -> None:
    said = " ".join(overview_words(explored("pandas"), "t"))

    assert "6 columns are years, 1990 to 1995: `melt` turns them into rows that can be explored." in said
    assert "carry nearly the same" not in said
    assert "`unpivot` turns" in " ".join(overview_words(explored("polars"), "t"))
