"""People whose rows were filtered out are no categories of the copy; other categories are copied, used or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from jupyter_codeagent.entrypoints.options import parse_options
from jupyter_codeagent.session.variable_selection import VariableSelection, select_variables
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.privacy.unused_categories import without_unused

NAMES = ["Yolvandra Pexmire", "Brustolf Anquedar", "Kelphine Ostravax", "Torvenna Dulmarek"]
GRADES = ["a", "b", "c", "d"]


def people() -> pd.DataFrame:
    categories = {"full_name": pd.Categorical(NAMES), "grade": pd.Categorical(GRADES, ordered=True)}
    return pd.DataFrame({**categories, "age": [17, 30, 40, 50]})


def adults() -> pd.DataFrame:
    return people()[people()["age"] > 18]


def categories(value: Any) -> list[str]:
    return sorted(map(str, value))


KINDS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "a column": (adults, lambda made: made["full_name"].cat.categories),
    "a series": (lambda: adults()["full_name"], lambda made: made.cat.categories),
    "an index": (lambda: adults().set_index("full_name"), lambda made: made.index.categories),
    "the index of a series": (lambda: adults().set_index("full_name")["age"], lambda made: made.index.categories),
    "a level of an index": (
        lambda: adults().set_index(["full_name", "grade"]),
        lambda made: made.index.levels[0].categories,
    ),
    "an index by itself": (lambda: adults().set_index("full_name").index, lambda made: made.categories),
    "a dictionary of Arrow": (
        lambda: pa.Table.from_pandas(people()).filter(pa.compute.field("age") > 18),
        lambda made: made["full_name"].chunk(0).dictionary.to_pylist(),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_people_who_are_in_no_row_are_left_out_and_that_is_said(kind: str) -> None:
    make, categories_of = KINDS[kind]
    value = make()
    made, note = without_unused("adults", value)
    assert note == "without unused categories of 'full_name'"
    assert categories(categories_of(made)) == categories(NAMES[1:])
    assert categories(categories_of(value)) == categories(NAMES), "the user's own is as it was"
    plain = (lambda table: table.to_pylist()) if isinstance(value, pa.Table) else (lambda one: list(map(str, one)))
    assert plain(made) == plain(value)


def test_an_array_of_categories_is_personal_by_the_name_of_its_variable() -> None:
    array = pd.Categorical(NAMES)[1:]
    assert list(without_unused("last_names", array)[0].categories) == sorted(NAMES[1:])
    assert without_unused("kinds", pd.Categorical(GRADES)[1:])[1] == ""


def test_other_categories_travel_whole_and_so_do_those_that_are_in_use() -> None:
    graded = adults()[["grade", "age"]]
    for value in (graded, people(), graded["grade"], graded.set_index("grade"), pa.Table.from_pandas(graded), 7):
        made, note = without_unused("x", value)
        assert made is value
        assert note == ""
    made, _ = without_unused("x", adults())
    assert list(made["grade"].cat.categories) == GRADES
    assert made["grade"].cat.ordered


def test_values_missing_duplicate_labels_and_facts_stay_as_they_are() -> None:
    frame = adults().set_axis(["full_name", "full_name", "age"], axis=1).set_flags(allows_duplicate_labels=True)
    frame.iloc[0, 0] = None
    frame.attrs = {"of": "survey"}
    made, note = without_unused("x", frame)
    assert note == "without unused categories of 'full_name', 'full_name'"
    assert made.attrs == {"of": "survey"}
    assert made.iloc[:, 0].tolist()[1:] == NAMES[2:]
    assert made.iloc[:, 0].isna().tolist() == [True, False, False]


def chosen(options: str) -> VariableSelection:
    values = {"adults": adults(), "people": people()}
    summaries = describe(values, privacy="stats", mentioned="adults")
    return select_variables(
        values, summaries, "adults", parse_options(options), always=(), max_bytes=1 << 20, ask=lambda _n, _f: None
    )


def test_the_sandbox_gets_it_without_and_the_receipt_says_so() -> None:
    choice = chosen("")
    assert list(choice.values["adults"]["full_name"].cat.categories) == sorted(NAMES[1:])
    assert "adults are from its copy (without unused categories of 'full_name')" in choice.run_notes[0]
    some = chosen("--vars people --where 'age > 40'")
    assert list(some.values["people"]["full_name"].cat.categories) == [NAMES[3]]
    assert some.notes["people"] == "1 of 4 rows, where age > 40; without unused categories of 'full_name'"
