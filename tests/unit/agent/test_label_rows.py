"""*Which …?* answered by row numbers."""

from __future__ import annotations

import pytest
from rule_calls import said

from jupyter_codeagent.agent.rules.label_rows import unnamed_rows
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
