"""`privacy.masking`: values of personal columns are found in text for the model, whatever is around them."""

from __future__ import annotations

import functools
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray as xr

from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.privacy.masking import mask_values, masked_summaries, values_to_mask

NAMES: list[Any] = [
    "Braund, Mr. Owen Harris",
    "Cumings, Mrs. John Bradley (Florence)",
    "Zyx Wvutsr",
    "O'Brien, Sr.",
    None,
]


@functools.cache
def frames() -> dict[str, Any]:
    """By kind; nothing here changes them."""
    table = {"full_name": NAMES, "town": ["Oslo", "Rome", "Oslo", "Rome", "Oslo"], "n": [1, 2, 3, 4, 5]}
    pandas = pd.DataFrame(table)
    return {
        "pandas": pandas,
        "object": pandas.astype({"full_name": object}),
        "category": pandas.astype({"full_name": "category"}),
        "arrow": pandas.astype({"full_name": "string[pyarrow]"}),
        "index": pandas.set_index("full_name"),
        "levels": pandas.set_index(["town", "full_name"]),
        "series": pandas["full_name"],
        "twice": pandas.set_axis(["full_name", "full_name", "n"], axis=1),
        "mixed": pd.DataFrame({"full_name": [*NAMES, ["Zyx Wvutsr"]]}),
        "unused category": pandas.astype({"full_name": "category"})[:0],
        "unused level": pandas.set_index(["town", "full_name"])[:0],
        "pivot table": pandas.iloc[:4].pivot(index="n", columns="full_name", values="town"),
        "arrow table": pa.table(table),
        "arrow dictionary": pa.table({**table, "full_name": pa.array(NAMES).dictionary_encode()}),
        "arrow batch": pa.record_batch(table),
        "data set": xr.Dataset({"full_name": ("row", NAMES[:4])}),
        "data array": xr.DataArray([1, 2, 3, 4], coords={"full_name": ("row", NAMES[:4])}, dims="row"),
        "dict of lists": table,
        "list of dicts": pandas.to_dict("records"),
        "dict": {
            "n": 1,
            "names": NAMES[:1],
            "last_name": NAMES[0],
            **{f"surname{at}": NAMES[at] for at in (1, 2, 3)},
        },
        "enum of polars": pl.DataFrame({"full_name": pl.Series([], dtype=pl.Enum(NAMES[:4]))}),
        "polars": pl.DataFrame(table),
        "polars_category": pl.DataFrame(table).cast({"full_name": pl.Categorical}),
        "polars_series": pl.Series("full_name", NAMES),
    }


@pytest.mark.parametrize("kind", frames())
@pytest.mark.parametrize("around", ["{}", "0   {}  12.5", "['{}', 1]", "bad row: {}!", "x={};", '"{}",3'])
def test_a_value_is_found_and_masked_wherever_it_stands(kind: str, around: str) -> None:
    for name in NAMES[:4]:
        text = around.format(name)
        found = values_to_mask(text, {"v": frames()[kind]})
        assert name in found
        assert mask_values(text, found) == around.format("***")


@pytest.mark.parametrize("kind", frames())
@pytest.mark.parametrize("dots", ["...", " ...", "…"])
@pytest.mark.parametrize("around", ["{}", "0   {}  12.5", "['{}', 1]", "by {}\n1"])
def test_the_beginning_of_a_value_is_masked_where_the_text_is_cut(kind: str, dots: str, around: str) -> None:
    for beginning in ("Braund, Mr. Ow", "Cumings, Mrs. John Bradley (Flo", "Zyx Wv", "O'Brien"):
        text = around.format(beginning + dots)
        assert mask_values(text, values_to_mask(text, {"v": frames()[kind]})) == around.format("***")


def test_other_text_that_is_cut_is_left() -> None:
    frame = frames()["pandas"]
    text = "Braun... Braunschw... Zyx... Wvutsr...  ...  O'B… Owen Har... and Braund's"
    assert values_to_mask(text, {"v": frame}) == ()


def test_a_value_that_pandas_or_polars_cut_in_a_table_is_masked() -> None:
    names = [f"Yolvandra {'Maria ' * 12}Pexmire {n}" for n in range(3)]
    for table in (pd.DataFrame({"full_name": names}), pl.DataFrame({"full_name": names})):
        shown = str(table)
        assert "Yolvandra" in shown
        assert "Yolvandra" not in mask_values(shown, values_to_mask(shown, {"v": table}))


@pytest.mark.parametrize("kind", frames())
def test_values_of_other_columns_and_figures_are_left(kind: str) -> None:
    text = "Oslo 3 rows, mean 12.5 of 1234567 Owen Harris"
    found = values_to_mask(text, {"v": frames()[kind]})
    assert set(found) <= ({"Oslo"} if kind == "twice" else set())


def test_a_short_number_in_a_personal_column_masks_no_figure() -> None:
    frame = pd.DataFrame({"phone": ["12", "345", "5551234567"], "last_name": ["Li", "Ng", "Xu"]})
    assert values_to_mask("12 rows, 345, Li, 5551234567", {"df": frame}) == ("5551234567",)


def test_part_of_a_word_is_not_masked() -> None:
    assert mask_values("Anna and Annabel; Price", ["Anna"]) == "*** and Annabel; Price"
    assert mask_values("a.b", ["a.b", "a"]) == "***"
    assert mask_values("as it is", []) == "as it is"


def test_an_empty_value_masks_nothing_and_one_that_comes_twice_is_masked_as_one() -> None:
    assert mask_values("Anna and Ben", ["", "Ben", "Ben"]) == "Anna and ***"
    assert mask_values("Anna", [""]) == "Anna"


def test_other_objects_are_not_looked_at() -> None:
    class Loud:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(name)

    assert values_to_mask("some text", {"loud": Loud(), "n": 3, "text": "some"}) == ()


def summaries_of(variables: dict[str, Any]) -> dict[str, str]:
    people = pd.DataFrame({"full_name": NAMES[:4]})
    found = masked_summaries(describe(variables, privacy="stats", mentioned=""), {**variables, "people": people})
    return {
        summary.name: " ".join((summary.headline, *(f"{c.name} {c.stats} {c.example}" for c in summary.columns)))
        for summary in found
    }


def test_people_are_masked_in_what_is_told_of_other_variables() -> None:
    told = summaries_of(
        {
            "who": NAMES[0],
            "counts": dict.fromkeys(NAMES[:3], 1),
            "wide": pl.DataFrame({name: [1.5] for name in NAMES[:3]}),
            "kinds": pd.DataFrame({"kind": [NAMES[2]] * 5 + ["b"] * 5}),
        }
    )
    assert not [name for name in NAMES[:4] if any(name in text for text in told.values())]
    assert told["who"] == "who: str = '***'"
    assert "'***'" in told["wide"]


def test_a_column_that_is_called_as_a_person_is_keeps_its_name() -> None:
    frame = pd.DataFrame({"Zyx Wvutsr": [1], "a": [2], "b": [3]})
    assert "'Zyx Wvutsr'" in summaries_of({"frame": frame, "Zyx": 1})["frame"]
