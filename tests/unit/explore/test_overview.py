"""A table as a whole."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exploration_cases import overview_of, text_type_finding
from exploration_runner import run

from jupyter_codeagent.explore.overview import overview_program, overview_words
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.types.exploration import Exploration

TABLE = pd.DataFrame(
    {
        "id": range(60),
        "name": [f"person {number}" for number in range(60)],
        "delay": [np.nan] * 6 + [1.5] * 54,
        "day": pd.date_range("2023-01-01", periods=60),
        "day as text": "31.12.2022",
        "nothing": [None] * 60,
    }
)


def read(table: Any, library: str, **more: Any) -> Exploration:
    overview = overview_of("flights", table, library) | more
    report = {"tables": [overview], "findings": [text_type_finding("day as text", "%d.%m.%Y")], "tried": 1}
    return read_report(json.dumps(report), {"flights": list(table.columns)})


def test_the_words_say_rows_keys_dates_types_and_what_is_missing() -> None:
    dates = {"column": "day", "first": "2023-01-01", "last": "2023-03-01"}
    more = {"keys": [["id"], ["name", "day"]], "dates": dates, "repeated_rows": 1, "sampled": 50}

    assert overview_words(read(TABLE, "pandas", **more), "flights") == (
        "flights has 60 rows and 6 columns.",
        "Unique keys: id and name with day.",
        "day runs from 2023-01-01 to 2023-03-01.",
        "`day as text` holds dates as text.",
        "Values are missing in nothing (100 %) and delay (10 %).",
        "1 row is an exact duplicate of an earlier row.",
        "Relations between columns were examined in a sample of 50 rows.",
    )


def test_nothing_is_said_of_a_table_that_is_not_in_the_report() -> None:
    assert overview_words(Exploration(), "flights") == ()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_program_has_a_line_for_each_column(library: str) -> None:
    table = TABLE if library == "pandas" else pl.from_pandas(TABLE)
    ran = run(overview_program(read(table, library).tables[0], taken={"columns", "known"}), {"flights": table})

    assert len(ran.table) == 6
    for shown in ("10", "1.5 to 1.5", "0 to 59", "person 0", "2023-01-01"):
        assert shown in ran.output
    assert not ran.made & {"columns", "known", "flights"}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_no_value_of_a_personal_column_is_shown(library: str) -> None:
    table = TABLE if library == "pandas" else pl.from_pandas(TABLE)
    ran = run(overview_program(read(table, library).tables[0], leave_out={"name", "day"}), {"flights": table})

    assert "person" not in ran.output
    assert "2023" not in ran.output
    assert "name" in ran.output


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_wide_table_and_an_empty_one_are_shown(library: str) -> None:
    wide = pd.DataFrame({f"c{place}": [place, None] for place in range(30)})
    for table in (wide, wide.head(0), pd.DataFrame({"a": [[1], [2]], "b": [{"x": 1}, {"x": 2}]})):
        one = table if library == "pandas" else pl.from_pandas(table)
        overview = overview_of("flights", table.astype(str), "pandas") | {"library": library}
        other = {"type": "object", "role": "other"}
        overview["columns"] = [one | (other if one["name"] in "ab" else {}) for one in overview["columns"]]
        report = read_report(json.dumps({"tables": [overview]}), {"flights": list(table.columns)})

        assert len(run(overview_program(report.tables[0]), {"flights": one}).table) == len(table.columns)
