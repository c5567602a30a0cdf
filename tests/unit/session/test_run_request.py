"""`jupyter_codeagent.session.run_request`: what is decided before anything is sent."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pytest

from jupyter_codeagent.session.prompt_context import text_columns
from jupyter_codeagent.session.run_request import check_options
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.variables import TextColumn
from jupyter_codeagent.variables.describe import describe


def test_more_candidates_than_allowed_are_refused_with_both_figures() -> None:
    settings = Settings(max_candidates=3)
    with pytest.raises(UsageError, match="--candidates 4: at most 3"):
        check_options(RunOptions(candidates=4), settings)
    check_options(RunOptions(candidates=3), settings)


def test_text_columns_of_pandas_frames_are_told_with_the_call_that_reads_them() -> None:
    days = [f"{day}.12.2024" for day in range(13, 29)]
    frame = pd.DataFrame({"sold on": days, 2024: days, ("a", "b"): days, "x" * 90: days, "birthday": days})
    variables = {"df": frame, "other": pl.DataFrame({"day": days}), "plain": pd.DataFrame({"n": [1]})}
    found = text_columns(describe(variables, privacy="stats", mentioned=""))
    reading = "pd.to_datetime(x, format='%d.%m.%Y')"
    assert found == {"df": {"sold on": TextColumn(reading=reading)}}
    assert text_columns(describe(variables, privacy="schema", mentioned="")) == {}


@pytest.mark.parametrize(
    ("others", "is_only"),
    [({}, True), ({"month": [1] * 16}, False), ({"seen": pd.date_range("2024-01-01", periods=16)}, False)],
)
def test_a_column_of_dates_is_the_only_one_where_no_other_says_when(
    others: dict[str, object], is_only: bool
) -> None:
    frame = pd.DataFrame({"sold": [f"{day}.12.2024" for day in range(13, 29)], "n": range(16), **others})
    found = text_columns(describe({"df": frame}, privacy="stats", mentioned=""))
    assert found["df"]["sold"].is_only_date == is_only
