"""Rows have the name that the task gives them, and a table that it reduces keeps its name."""

from __future__ import annotations

import pytest
from rule_calls import fixed, ran

from jupyter_codeagent.agent.prompt.asked_names import named_rows
from jupyter_codeagent.agent.prompt.named_tables import changed_tables
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.rules.table_names import change_named_table, name_asked_rows, named_table

KEEP = "Keep only the planned ones in march. How many are left?"
CALL = "Call the stays of March `march`. What is the mean of n in it?"


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        (KEEP, ("march",)),
        ("Now drop the rows without a ward from march.", ("march",)),
        ("How many are there? Then leave only those of A1 in `march`.", ("march",)),
        ("Remove the short ones from long_stays and `march`.", ("long_stays", "march")),
        ("What is the mean in march?", ()),
        ("Keep the result as march.", ()),
        ("How many planned ones are in march? Drop missing values.", ()),
    ],
)
def test_an_order_is_told_from_a_question_about_a_table(prompt: str, names: tuple[str, ...]) -> None:
    assert changed_tables(prompt, ("march", "long_stays")) == names


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        (
            "few = march[march.kind == 1]\nprint(len(few))",
            "march = march[march.kind == 1]\nprint(len(march))",
        ),
        (
            "print(len(march[march['kind'] == 1]))",
            "march = march[march['kind'] == 1]\nprint(len(march))",
        ),
        (
            "n = march.query('kind == 1').shape[0]\nn",
            "march = march.query('kind == 1')\nn = march.shape[0]\nn",
        ),
        (
            "few = march.loc[(march.a > 1) & (march.b < 2)].copy()\nfew.shape",
            "march = march.loc[(march.a > 1) & (march.b < 2)].copy()\nmarch.shape",
        ),
    ],
)
def test_the_rows_that_stay_get_the_name_of_the_table(code: str, changed: str) -> None:
    assert fixed(change_named_table, code, prompt=KEEP, made_tables=("march",), copied=("stays",)) == changed


@pytest.mark.parametrize(
    "code",
    [
        "march = march[march.kind == 'planned']\nprint(len(march))",
        "few = march[march.kind == 'planned']\nprint(len(few) / len(march))",
        "few = march['kind']\nprint(few)",
        "a = march[march.x > 1]\nb = march[march.y > 1]\nprint(len(a), len(b))",
        "few = stays[stays.kind == 'planned']\nprint(len(few))",
        "few = march[['kind']]\nprint(few)",
        "print((march.kind == 'planned').sum())",
        "def f():\n    return march[march.x > 1]\nf()",
        "few = 0\nfew = march[march.x > 1]\nprint(few)",
    ],
)
def test_a_program_that_changes_it_already_or_is_not_certain_stays(code: str) -> None:
    assert fixed(change_named_table, code, prompt=KEEP, made_tables=("march",), copied=("stays",)) == code


def test_a_table_of_the_users_and_one_that_is_kept_under_another_name_stay() -> None:
    code = "few = march[march.kind == 'planned']\nprint(len(few))"
    assert fixed(change_named_table, code, prompt=KEEP, made_tables=("march",), copied=("march",)) == code
    named = "Keep only the planned ones of march in a table called few."
    assert fixed(change_named_table, code, prompt=named, made_tables=("march",)) == code


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        (CALL, "march"),
        ("Put the slow ones into a table slow_ones and show how many there are.", "slow_ones"),
        ("The mean of n per ward. Keep it as means.", ""),
        ("What is the mean of n per ward? Keep it as means.", ""),
        ("How many are in march?", ""),
    ],
)
def test_a_name_for_rows_is_told_from_a_name_for_the_result(prompt: str, name: str) -> None:
    assert named_rows(prompt) == name
    assert ("Assign the rows to" in task_text(prompt)) is bool(name)


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (
            "print(stays[stays.m == 3]['n'].mean())",
            "march = stays[stays.m == 3]\nprint(march['n'].mean())",
        ),
        (
            "few = stays[stays.m == 3]\nfew.n.mean()",
            "march = stays[stays.m == 3]\nmarch.n.mean()",
        ),
    ],
)
def test_rows_that_the_task_names_get_the_name_and_the_answer_about_them_does_not(code: str, named: str) -> None:
    assert fixed(name_asked_rows, code, prompt=CALL, defined=("stays",)) == named


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("The mean of n per ward. Keep it as march.", "print(stays[stays.m == 3].groupby('w').n.mean())"),
        (CALL, "print(stays.groupby('m')['n'].mean())"),
        (CALL, "a = stays[stays.m == 3]\nb = stays[stays.m == 4]\nprint(len(a), len(b))"),
        (CALL, "march = stays[stays.m == 3]\nprint(march.n.mean())"),
        ("How many in March?", "print(len(stays[stays.m == 3]))"),
    ],
)
def test_a_result_that_is_asked_for_and_rows_that_are_not_certain_get_no_name(prompt: str, code: str) -> None:
    assert fixed(name_asked_rows, code, prompt=prompt, defined=("stays",)) == code


def reported(prompt: str, code: str) -> str:
    program = Program(code=code, prompt=prompt, made_tables=("long_trips",), copied=("trips",), result=ran())
    issue = named_table(program)
    assert not isinstance(issue, Fix)
    return issue.text if issue is not None else ""


def test_a_table_that_the_task_names_and_the_program_leaves_out_or_makes_anew_is_told() -> None:
    told = "The task is about long_trips, which exists already. Compute the result from it."
    prompt = "How many of the trips in long_trips began in each district?"
    assert reported(prompt, "trips.n.value_counts()") == told
    assert reported(prompt, "long_trips = trips[trips.n > 4]\nlong_trips.n.sum()") == told


@pytest.mark.parametrize(
    ("prompt", "code"),
    [
        ("What is the mean of n in long_trips?", "long_trips.n.mean()"),
        ("What is the mean of n in long_trips?", "long_trips = long_trips[long_trips.n > 1]\nlong_trips.n.mean()"),
        ("What is the mean of n in long_trips?", "duckdb.sql('select avg(n) from long_trips')"),
        ("Call the longest ones long_trips.", "long_trips = trips[trips.n > 4]"),
        ("What is the mean of n on long trips?", "trips.n.mean()"),
    ],
)
def test_a_table_that_is_read_or_asked_for_or_not_named_is_not_missed(prompt: str, code: str) -> None:
    assert reported(prompt, code) == ""
