"""`jupyter_codeagent.variables.relevance`: which variables a question is about."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import pytest

from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import order
from jupyter_codeagent.variables.relations import find_relations
from jupyter_codeagent.variables.relevance import SelectionClues, relevant_variables

CARRIERS = ["UA", "AA", "DL", "B6", "WN", "EV"]
TABLES: dict[str, Any] = {
    "flights": pd.DataFrame(
        {"year": 2013, "month": range(12), "carrier": CARRIERS * 2, "dep_delay": range(12), "distance": 9}
    ),
    "airlines": pd.DataFrame({"carrier": CARRIERS, "name": ["United", "American", "Delta", "B", "C", "D"]}),
    "penguins": pd.DataFrame(
        {"species": ["Adelie", "Gentoo"] * 3, "bill_length_mm": range(6), "sex": "male", "year": 2007}
    ),
    "cutoff_km": 500,
    "retries": 3,
}


def chosen(
    prompt: str,
    earlier: tuple[str, ...] = (),
    databases: tuple[str, ...] = (),
    made: tuple[str, ...] = (),
    **more: Any,
) -> set[str]:
    variables = TABLES | more
    summaries = describe(variables, privacy="stats", mentioned=prompt)
    tables = {one.name: variables[one.name] for one in order(summaries, prompt) if one.columns}
    relations = find_relations(tables, read_values=True)
    clues = SelectionClues(relations=relations, earlier=earlier, databases=dict.fromkeys(databases, ()), made=made)
    return set(relevant_variables(summaries, prompt, max_bytes=1 << 20, clues=clues))


@pytest.mark.parametrize(
    "prompt",
    [
        "How long is the mean bill length (mm) per species?",
        "How many of each sex and species are there?",
        "How many penguins per year?",
        "penguins: mean bill length",
    ],
)
def test_a_question_about_one_table_copies_no_table_that_has_nothing_to_do_with_it(prompt: str) -> None:
    assert chosen(prompt) == {"penguins"}


def test_a_table_that_joins_the_one_that_is_meant_comes_along() -> None:
    assert chosen("Which airline flies the longest distance?") == {"flights", "airlines"}
    assert chosen("Which airline has the most rows?") == {"flights", "airlines"}


def test_a_table_that_shares_a_word_with_the_question_comes_along() -> None:
    assert chosen("Which species has the longest departure delay?") == {"flights", "penguins"}


@pytest.mark.parametrize("prompt", ["What stands out?", "What is the total per month?", "Plot the value over time"])
def test_a_question_that_points_to_no_table_is_about_all(prompt: str) -> None:
    assert chosen(prompt) == {"flights", "airlines", "penguins"}


def test_a_follow_up_that_points_to_no_table_is_about_those_of_the_question_before() -> None:
    assert chosen("And the median?", earlier=("penguins",)) == {"penguins"}
    assert chosen("And the distance?", earlier=("penguins",)) == {"flights", "airlines"}
    assert chosen("And the median?", earlier=("deleted",)) == {"flights", "airlines", "penguins"}


def test_a_follow_up_that_points_to_no_table_is_about_the_database_of_the_question_before() -> None:
    assert chosen("And the median?", databases=("db",)) == {"db"}
    assert chosen("And the median?", earlier=("penguins",), databases=("db",)) == {"db", "penguins"}
    assert chosen("How many penguins per year?", databases=("db",)) == {"penguins"}


def test_a_value_that_is_no_table_comes_along_by_its_name_or_a_word_of_it_and_excludes_no_table() -> None:
    assert chosen("How many flights beyond the cutoff?") == {"flights", "airlines", "cutoff_km"}
    assert chosen("What stands out beyond cutoff_km?") == {"flights", "airlines", "penguins", "cutoff_km"}
    assert chosen("What stands out?", retries=3) == {"flights", "airlines", "penguins"}


def test_what_an_accepted_finding_made_is_left_out_unless_it_is_named_as_code_or_was_asked_about_before() -> None:
    left = partial(chosen, made=("by_month", "rows"), by_month=TABLES["flights"], rows=TABLES["flights"])
    assert left("How many rows are there per month?") == {"flights", "airlines", "penguins"}
    assert "by_month" in left("Plot by_month")
    assert "rows" in left("Plot `rows`")
    assert "by_month" in left("And the median?", earlier=("by_month",))
