"""Questions that go on from a result: each program runs as it is, and no name or value of the data becomes code."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from exploration_runner import faults, run

from evals.explore.planted import planted_cases
from evals.suites.next_questions import CHECKS, exploration_of, in_library, judged, outcome_of, results_of
from jupyter_codeagent.explore.question_templates import (
    MOST_CANDIDATES,
    NextQuestion,
    Shown,
    next_questions,
    shown_by,
)
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.explore.shown_columns import shown_by_code, tables_of
from jupyter_codeagent.sandbox.guest.exploration.explore import explore
from jupyter_codeagent.types.exploration import Exploration, Finding
from jupyter_codeagent.types.operations import Operation, OperationFact

LIBRARIES = ("pandas", "polars")
ODD = ("a b", 'it\'s "q"', "größe $x$", "class", "mean", "index", "n", "0", "\\n", "#")
UNSAYABLE = ("{{1/0}}", "a`b", "line\nbreak", "x" * 60, " ", "\u202eabc", "{0}")


def table(rows: int = 400) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "region": draw.choice(["north", "south", "west"], rows),
            "size": draw.choice(["small", "large"], rows),
            "email": [f"canary{i}@example.com" for i in range(rows)],
            "visits": draw.poisson(200, rows),
            "day": pd.date_range("2024-01-01", periods=rows, freq="12h"),
        }
    )
    frame["sales"] = draw.normal(100, 10, rows) + 12 * (frame["region"] == "south")
    frame.loc[::9, "sales"] = np.nan
    return frame


@cache
def asked(library: str, *columns: str) -> tuple[NextQuestion, ...]:
    tables = in_library({"shop": table()}, library)
    exploration = exploration_of(tables)
    return next_questions(exploration, Shown(table="shop", columns=columns), personal={"shop": ["email"]})


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "columns",
    [(), ("sales",), ("sales", "region"), ("region",), ("region", "size"), ("sales", "visits"), ("", "day")],
)
def test_each_program_shows_a_table_that_is_right_and_charts_that_can_be_read(
    library: str, columns: tuple[str, ...]
) -> None:
    questions = asked(library, *columns)
    assert 3 <= len(questions) <= MOST_CANDIDATES
    tables = in_library({"shop": table()}, library)
    for question in questions:
        ran = run(question.code, tables)
        assert len(ran.table) > 0, question
        assert [fault for figure in ran.figures for fault in faults(figure)] == [], question
        assert "canary" not in ran.output, question
        assert judged(question, ran.table, tables) == "right", question


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_questions_of_the_development_tables_end_right(library: str) -> None:
    for case in planted_cases("development")[:3]:
        tables = in_library(case.tables, library)
        exploration = exploration_of(tables)
        for shown in list(results_of(exploration))[::4]:
            for question in next_questions(exploration, shown)[:2]:
                assert outcome_of(question, tables) == "right", question


def test_what_was_found_comes_first_and_no_kind_twice_before_all_were_named() -> None:
    questions = asked("pandas", "sales", "size")
    assert questions[0].text == "How does sales differ by region in shop?"
    kinds = [one.kind for one in questions]
    assert len(set(kinds[:3])) == 3, kinds


def test_what_is_shown_is_not_asked_again() -> None:
    tables = {"shop": table()}
    exploration = exploration_of(tables)
    findings = exploration.findings
    assert any(one.kind == "group_difference" for one in findings)
    for finding in findings:
        for question in next_questions(exploration, shown_by("shop", finding, findings)):
            assert question.text != "How does sales differ by region in shop?"
            assert question.kind != "missing", "the overview has it"


def test_texts_have_names_of_tables_and_columns_and_no_value() -> None:
    for columns in ((), ("sales", "region"), ("region", "size")):
        for question in asked("pandas", *columns):
            assert not any(level in question.text for level in ("north", "south", "west", "small", "large"))


def test_personal_columns_are_in_no_question() -> None:
    for columns in ((), ("email",), ("email", "sales")):
        assert not any("email" in one.text or '"email"' in one.code for one in asked("pandas", *columns))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("place", ["sales", "region", "day"])
def test_odd_names_are_literals_of_programs_that_run(library: str, name: str, place: str) -> None:
    tables = in_library({"shop": table().rename(columns={place: name})}, library)
    exploration = exploration_of(tables)
    columns = tuple(name if one == place else one for one in ("sales", "region"))
    questions = next_questions(exploration, Shown(table="shop", columns=columns))
    assert questions
    for question in questions:
        assert outcome_of(question, tables) == "right", question


@pytest.mark.parametrize("name", UNSAYABLE)
def test_a_name_that_a_question_cannot_say_as_it_is_is_in_none(name: str) -> None:
    tables = {"shop": table().rename(columns={"sales": name})}
    exploration = exploration_of(tables)
    questions = next_questions(exploration, Shown(table="shop", columns=(name, "region")))
    assert questions
    assert not any(name in one.columns or "{" in one.text or "\n" in one.text for one in questions)


@pytest.mark.parametrize("library", LIBRARIES)
def test_no_program_binds_a_name_of_the_users(library: str) -> None:
    tables = in_library({"shop": table()}, library)
    exploration = exploration_of(tables)
    taken = {"by_region", "means", "fig", "ax", "rows", "known", "values", "share", "by_size"}
    for columns in ((), ("sales", "region"), ("region", "size")):
        for question in next_questions(exploration, Shown(table="shop", columns=columns), taken=taken):
            assert not run(question.code, tables).made & taken, question


@pytest.mark.parametrize("library", LIBRARIES)
def test_categories_numbers_and_an_index_that_says_something_are_asked_about(library: str) -> None:
    frame = table()
    frame["region"] = frame["region"].astype("category").cat.add_categories(["nowhere"])
    frame["grade"] = np.arange(len(frame)) % 4
    frame["paid"] = np.arange(len(frame)) % 3 == 0
    if library == "pandas":
        frame = frame.set_index(pd.Index([f"p{i}" for i in range(len(frame))], name="region2"))
    tables = in_library({"shop": frame}, library)
    exploration = exploration_of(tables)
    for columns in (("sales", "region"), ("sales", "grade"), ("sales", "paid"), ("region", "paid")):
        for question in next_questions(exploration, Shown(table="shop", columns=columns)):
            assert outcome_of(question, tables) == "right", question


@pytest.mark.parametrize("rows", [0, 1, 19])
def test_nothing_is_asked_of_a_table_that_can_be_read_as_a_whole(rows: int) -> None:
    exploration = exploration_of({"shop": table(rows)}) if rows else Exploration()
    assert next_questions(exploration, Shown(table="shop")) == ()


def test_infinite_constant_and_empty_columns_break_nothing() -> None:
    frame = table()
    frame["sales"] = frame["sales"].replace({frame["sales"].max(): np.inf})
    frame["same"], frame["none"], frame["lists"] = 1, None, [[1]] * len(frame)
    for library, tables in (("pandas", {"shop": frame}), ("polars", {"shop": pl.DataFrame(frame.to_dict("list"))})):
        exploration = exploration_of(tables)
        for columns in ((), ("sales", "region"), ("same",), ("none", "lists")):
            for question in next_questions(exploration, Shown(table="shop", columns=columns)):
                assert outcome_of(question, tables) == "right", (library, question)


def test_every_kind_has_a_check_of_its_own() -> None:
    assert {
        one.kind for columns in ((), ("sales", "region"), ("region", "size")) for one in asked("pandas", *columns)
    }
    assert len(CHECKS) == 12


# --- from a program to what it is about --------------------------------------------------------------------


@pytest.fixture(scope="module")
def exploration() -> Exploration:
    tables = {"shop": table(), "other": pd.DataFrame({"region": ["a", "b"] * 20, "tax": range(40)})}
    columns = {name: tuple(frame.columns) for name, frame in tables.items()}
    return read_report(json.dumps(explore(dict(tables), {}, 20.0, 1000)), columns)


@pytest.mark.parametrize(
    ("code", "table_name", "columns"),
    [
        ("shop.groupby('region')['sales'].mean()", "shop", ("region", "sales")),
        ("shop.groupby('region').sales.mean()", "shop", ("region", "sales")),
        ("shop.query('sales > 3 and size == \"large\"')", "shop", ("sales", "size")),
        ("shop.group_by('region').agg(pl.col('visits').sum())", "shop", ("region", "visits")),
        ("shop.assign(sales=1)", "shop", ("sales",)),
        ("shop.merge(other)[['tax']].sum() + shop.visits.sum() + shop.sales.sum()", "shop", ("visits", "sales")),
        ("len(other)", "other", ()),
    ],
)
def test_the_table_and_the_columns_of_a_program_are_read_off_its_text(
    exploration: Exploration, code: str, table_name: str, columns: tuple[str, ...]
) -> None:
    shown = shown_by_code(code, (), exploration)
    assert shown is not None
    assert (shown.table, shown.columns) == (table_name, columns)


@pytest.mark.parametrize("code", ["", "1 +", "print(3)", "\0", "%%time\nshop"])
def test_a_program_that_names_no_table_or_is_no_python_is_about_nothing(
    exploration: Exploration, code: str
) -> None:
    assert shown_by_code(code, (), exploration) is None
    assert tables_of(code, ["shop"]) == ()


def test_what_the_steps_of_the_code_have_shown_is_answered(exploration: Exploration) -> None:
    def operations() -> Iterator[Operation]:
        yield Operation(
            kind="group",
            name="mean",
            detail="sales",
            facts=(OperationFact(kind="groups", count=3, label="region"),),
        )
        yield Operation(kind="group", name="size", facts=(OperationFact(kind="groups", count=2, label="size"),))

    code = "shop.groupby('region')['sales'].mean(), shop.groupby('size').size()"
    shown = shown_by_code(code, tuple(operations()), exploration)
    assert shown is not None
    assert shown.answered == {("means", frozenset({"sales", "region"})), ("counts", frozenset({"size"}))}
    asked_now = next_questions(exploration, shown)
    assert "How does sales differ by region in shop?" not in [one.text for one in asked_now]


def test_a_finding_of_one_table_is_no_answer_for_another() -> None:
    finding: Any = Finding(kind="group_difference", table="other", columns=("a", "b"), effect=0.5, p_value=0.0)
    assert shown_by("shop", None, [finding]).answered == {("missing", frozenset())}


def test_programs_are_plain_python_that_needs_nothing_of_ours() -> None:
    for library in LIBRARIES:
        for question in asked(library, "sales", "region"):
            ast.parse(question.code)
            assert "codeagent" not in question.code
