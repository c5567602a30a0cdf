"""Tables that a task names are told from words of the language."""

from __future__ import annotations

import time

import pytest

from jupyter_codeagent.agent.prompt.named_tables import named_tables
from jupyter_codeagent.agent.prompt.task import MAX_READ_CHARS

TABLES = ("late", "march", "long_trips", "trips", "sales2", "books")


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("How many rows has long_trips?", ("long_trips",)),
        ("What is the mean of hours in late?", ("late",)),
        ("What is the mean of hours in late for each team?", ("late",)),
        ("How many stays of march were there on each floor?", ("march",)),
        ("How many of `late` are in sales2?", ("late", "sales2")),
        ("The genre of a book is in books.", ("books",)),
        ("Which rows of the table late have no team?", ("late",)),
        ("Wie viele Zeilen von late sind aus Rom?", ("late",)),
        ("How many trips were late?", ()),
        ("Which flights left in late autumn?", ()),
        ("How many trips began in March?", ()),
        ("How many of the trips were longest?", ()),
        ("Print trips.long_trips", ()),
        ("How many long_trips_2 are there?", ()),
    ],
)
def test_a_table_is_found_where_only_a_table_can_be_meant(prompt: str, names: tuple[str, ...]) -> None:
    assert named_tables(prompt, TABLES) == names


def test_a_name_with_signs_of_patterns_is_taken_as_it_is() -> None:
    assert named_tables("How many are in a.b?", ("a.b", "a+", "axb")) == ("a.b",)


def test_a_long_prompt_is_read_in_a_moment() -> None:
    prompt = ("in the table " * MAX_READ_CHARS)[:MAX_READ_CHARS]
    began = time.perf_counter()
    assert named_tables(prompt, ("late", "the")) == ()
    assert time.perf_counter() - began < 1
