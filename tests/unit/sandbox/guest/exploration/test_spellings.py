"""Values and keys that are the same but for their spelling are found, and others are not taken for the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from jupyter_codeagent.sandbox.guest.exploration.explore import explore

KINDS = ("spelling", "key_spelling")
RANDOM = np.random.default_rng(5)
NUMBERS = RANDOM.integers(0, 90, 600)


def spellings(max_rows: int = 100_000, **tables: object) -> list[dict[str, Any]]:
    report = explore(dict(tables), {}, 60, max_rows)
    assert report["skipped"] == []
    return [one for one in report["findings"] if one["kind"] in KINDS]


def keys(ours: list[str], theirs: list[str], name: str = "customer", key: str = "Customer ID") -> list[Any]:
    orders = pd.DataFrame({name: ours, "amount": RANDOM.random(len(ours))})
    customers = pd.DataFrame({key: theirs, "age": RANDOM.random(len(theirs))})
    found = spellings(orders=orders, customers=customers)
    assert found == spellings(orders=pl.from_pandas(orders), customers=pl.from_pandas(customers))
    return [(one["columns"], one["facts"]["left"], one["facts"]["count"]) for one in found]


def test_categories_that_differ_by_case_or_outer_blanks_are_counted_with_the_usual_one() -> None:
    channel = np.repeat(["web", "Web", "web ", "shop", None], [300, 60, 20, 200, 20])
    frame = pd.DataFrame({"channel": RANDOM.permutation(channel), "x": RANDOM.random(600)})
    for table in (frame, pl.from_pandas(frame), frame.astype({"channel": "category"})):
        [one] = spellings(t=table)
        assert one["columns"] == ["channel"]
        assert one["facts"] == {"n": 580, "count": 80, "spelling": "Web", "usual": "web"}
    [one] = spellings(t=pd.concat([frame] * 10, ignore_index=True), max_rows=500)
    assert one["facts"]["count"] == 800, "all rows are counted, also those of a table that is looked at in part"


def test_blanks_alone_are_told_without_an_example_that_nobody_would_see() -> None:
    frame = pd.DataFrame({"segment": ["B2C", "B2B", "B2C "] * 100})
    [one] = spellings(t=frame)
    assert (one["facts"]["count"], one["facts"]["spelling"]) == (100, None)


def test_ids_that_differ_by_case_are_different() -> None:
    letters = ["".join(text) for text in RANDOM.choice(list("abAB"), (400, 8))]
    assert spellings(t=pd.DataFrame({"key": letters, "x": RANDOM.random(400)})) == []


def test_keys_that_another_table_writes_in_another_way_are_counted_by_rows() -> None:
    ours = [f"K-{number:04}" for number in NUMBERS]
    theirs = [f"k {number:04}" if number < 30 else f"K-{number:04}" for number in range(80)]
    assert keys(ours, theirs) == [(["customer", "Customer ID"], "orders", int((NUMBERS < 30).sum()))]
    [(columns, left, _)] = keys(theirs, ours, "Customer ID", "customer")
    assert (columns, left) == (["customer", "Customer ID"], "customers"), "the unique side is looked up"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ([f"K-{number:04}" for number in NUMBERS], [f"K-{number:04}" for number in range(80)]),
        (["12-3", "1-23"] * 300, [f"{a}-{b}" for a in range(13) for b in range(20) if (a, b) != (1, 23)]),
        ([f"{number / 10}" for number in NUMBERS], [f"{number}" for number in range(90)]),
        ([f"id {number}" for number in NUMBERS], [f"ID {number}" for number in range(20)]),
        ([f"{number:08x}" for number in NUMBERS * 7], [f"{number:08X}" for number in range(900, 999)]),
    ],
    ids=["all found", "codes of two numbers", "numbers", "most not found", "others"],
)
def test_keys_are_not_told_where_the_spelling_is_not_what_parts_them(ours: list[str], theirs: list[str]) -> None:
    assert keys(ours, theirs, "customer", "id") == []


def test_only_columns_that_may_be_looked_at_are_compared() -> None:
    orders = pd.DataFrame({"name": [f"Ann {number}" for number in NUMBERS]})
    people = pd.DataFrame({"name": [f"ANN {number}" for number in range(90)]})
    assert spellings(orders=orders, people=people)
    hidden = explore({"orders": orders, "people": people}, {"people": ["name"]}, 60, 100_000)
    assert not [one for one in hidden["findings"] if one["kind"] in KINDS]
