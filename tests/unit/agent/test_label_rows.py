"""*Which …?* answered by row numbers."""

from __future__ import annotations

import pandas as pd
import pytest
from rule_calls import fix, ran, said

from jupyter_codeagent.agent.rules.label_rows import name_rows, unnamed_rows
from jupyter_codeagent.types.sandbox import NamespaceEntry

RATES = NamespaceEntry(
    name="rates",
    type_name="DataFrame",
    columns=("Country Name", "Country Code", "1960", "year"),
    dtypes=("str", "str", "float64", "int64"),
)
FELL = "print((rates['1960'] - rates['2011']).nlargest(5))"


@pytest.mark.parametrize(
    ("prompt", "code", "text", "told"),
    [
        ("In which 5 countries did the rate fall the most?", FELL, "44 5.4", True),
        ("Which country fell most?", FELL, "44 5.4", True),
        ("Which of the countries fell most?", FELL, "44 5.4", True),
        ("Which poor countries fell most?", FELL, "44 5.4", True),
        ("Which country fell most?", "print(rates.set_index('Country Name')['1960'].idxmax())", "Chad", False),
        ("Which country fell most?", "print(rates.set_index('Country Code')['1960'].idxmax())", "TCD", False),
        ("Which country fell most?", "rates.loc[3]", "Country Name  Chad", False),
        ("Which country fell most?", "print(others['1960'].idxmax())", "44", False),
        ("Which year was it?", FELL, "44", False),
        ("How many countries are there?", "print(len(rates))", "44", False),
    ],
)
def test_row_numbers_in_place_of_names_are_told(prompt: str, code: str, text: str, told: bool) -> None:
    found = said(unnamed_rows, code, prompt, [RATES], text=text)
    assert ("show rates['Country Name'] with it" in found) is told
    assert bool(found) is told


ASKED = "In which countries did the rate fall most?"


def test_the_rows_get_their_names_under_a_name_of_its_own() -> None:
    code = "fall = rates['1960'] - rates['2011']\nfall.nlargest(2)"
    result = ran([RATES], text="1    5.4\n0    2.1")
    named = fix(name_rows, code, prompt=ASKED, result=result, issue="rows")
    assert named is not None
    assert named.notes == ("rows are named by 'Country Name'",)
    frame = pd.DataFrame({"Country Name": ["Chad", "Oman"], "1960": [3.0, 7.0], "2011": [1.0, 1.5]})
    scope = {"rates": frame}
    exec(named.code.replace("fall.nlargest(2)", "top = fall.nlargest(2)"), scope)
    assert list(scope["top"].index) == ["Oman", "Chad"]
    assert list(frame.index) == [0, 1]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The largest fall: 5.4", FELL),
        ("44  5.4", "rates['fall'] = rates['1960'] - rates['2011']\nprint(rates['fall'].nlargest(5))"),
        ("44  5.4", "rates.loc[3, '1960'] = 2\nprint(rates['1960'].nlargest(5))"),
        ("44  5.4", "rates = rates.dropna()\nprint(rates['1960'].nlargest(5))"),
        ("44  5.4", "by_country = 3\nprint(rates['1960'].nlargest(5))"),
        ("44  5.4", "print(rates['Country Name'])"),
    ],
)
def test_where_no_row_numbers_are_shown_or_the_table_is_written_nothing_is_certain(text: str, code: str) -> None:
    assert fix(name_rows, code, prompt=ASKED, result=ran([RATES], text=text), issue="rows") is None
