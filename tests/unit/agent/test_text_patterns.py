"""Patterns that today's pandas takes for plain text."""

from __future__ import annotations

import pandas as pd
import pytest
from rule_calls import correct


@pytest.mark.parametrize("pattern", [r"r' \(.*\)'", r"' \('", "'[$,]'", "'[^a-z]'", "'[0-9.]'", r"r'\s+'", "'a.*'"])
def test_a_pattern_is_replaced_as_a_pattern(pattern: str) -> None:
    prepared = correct(f"x = s.str.replace({pattern}, '')", defined=["s"])
    assert f"s.str.replace({pattern}, '', regex=True)" in prepared.code
    assert "added regex=True to `str.replace()`" in prepared.notes


def test_it_does_then_what_was_meant() -> None:
    names = pd.Series(["Adelie (Pygoscelis adeliae)"])
    prepared = correct(r"x = s.str.replace(r' \(.*\)', '')", defined=["s"])
    scope = {"s": names}
    exec(prepared.code, scope)
    assert list(scope["x"]) == ["Adelie"]


@pytest.mark.parametrize(
    "code",
    [
        "x = s.str.replace('[edit]', '')",
        "x = s.str.replace('[1]', '')",
        "x = s.str.replace('.', '')",
        "x = s.str.replace('(a)', '')",
        "x = s.str.replace('$', '')",
        r"x = s.str.replace('C:\\data', '')",
        r"x = s.str.replace(r'\d', '', regex=False)",
        r"x = text.replace(r'\d', '')",
        r"x = df.with_columns(pl.col('a').str.replace(r'\d', ''))",
    ],
)
def test_plain_texts_and_what_says_it_itself_are_left_as_they_are(code: str) -> None:
    assert correct(code, defined=["s", "df", "pl", "text"]).code.startswith(code)
