"""A program begins with the lines that turn text into dates and numbers where the question is about them."""

from __future__ import annotations

import pandas as pd
import pytest

from jupyter_codeagent.agent.prompt.text_columns import conversions
from jupyter_codeagent.types.variables import TextColumn

COLUMNS = {
    "orders": {
        "placed": TextColumn(reading="pd.to_datetime(x, format='%d.%m.%Y')", is_only_date=True),
        "net worth": TextColumn(reading="pd.to_numeric(x.str.replace(r'[^0-9.-]', '', regex=True))"),
        "country": TextColumn(reading="x.str.strip().str.upper()"),
        "tags": TextColumn(reading=r"x.str.split(r'\s*;\s*', regex=True)"),
    }
}
COPY = "orders = orders.copy()\n"


@pytest.mark.parametrize(
    ("prompt", "converted"),
    [
        ("When was the first order placed?", ["placed"]),
        ("Orders per month", ["placed"]),
        ("How did 2024 compare with 2023?", ["placed"]),
        ("What is the median net worth?", ["net worth"]),
        ("The net worth per quarter", ["placed", "net worth"]),
        ("Orders per country, spellings as one", ["country"]),
        ("Orders per country", []),
        ("How many rows are there?", []),
        ("Count the tags, whatever their case", ["tags"]),
    ],
)
def test_columns_that_the_question_names_and_dates_of_a_question_of_time_are_converted(
    prompt: str, converted: list[str]
) -> None:
    lines = conversions(COLUMNS, prompt).splitlines()
    assert [line.split("'")[1] for line in lines[1:-1]] == converted
    assert not lines or lines[0] == COPY.strip()


def test_the_lines_run_and_leave_the_table_as_it_was() -> None:
    orders = pd.DataFrame(
        {"placed": ["31.12.2023"], "net worth": ["1,200 €"], "country": [" de"], "tags": ["a ;b"]}
    )
    before = orders.copy()
    names = {"orders": orders, "pd": pd}
    exec(conversions(COLUMNS, "Net worth and tags by country, spellings as one, per month"), names)
    [row] = names["orders"].to_dict("records")  # type: ignore[attr-defined]
    assert row == {"placed": pd.Timestamp("2023-12-31"), "net worth": 1200, "country": "DE", "tags": ["a", "b"]}
    pd.testing.assert_frame_equal(orders, before)


def test_of_two_columns_of_dates_only_the_named_one_is_converted() -> None:
    day = TextColumn(reading="pd.to_datetime(x, format='%Y-%m-%d')")
    columns = {"stays": {"admitted": day, "discharged": day}}
    assert conversions(columns, "Stays per month") == ""
    assert "admitted" not in conversions(columns, "How many were discharged per month?")
