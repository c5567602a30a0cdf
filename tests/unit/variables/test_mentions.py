"""`variables.mentions`, `recent` and `relevance`: what comes first in the prompt, and what is copied first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_codeagent.types.variables import ColumnSummary, VariableSummary
from jupyter_codeagent.variables.mentions import names_label, order
from jupyter_codeagent.variables.recent import names_bound_by, recent_names
from jupyter_codeagent.variables.relevance import SelectionClues, relevant_variables
from jupyter_codeagent.variables.user_namespace import UserNamespace


def frame(name: str, *columns: str, size_bytes: int = 10) -> VariableSummary:
    return VariableSummary(
        name=name,
        type_name="DataFrame",
        headline=name,
        columns=tuple(ColumnSummary(name=repr(column), dtype="int") for column in columns),
        size_bytes=size_bytes,
        copyable=True,
        frame_like=True,
    )


def value(name: str) -> VariableSummary:
    return VariableSummary(name=name, type_name="int", headline=name, copyable=True)


def names(summaries: list[VariableSummary]) -> list[str]:
    return [summary.name for summary in summaries]


ALL = (
    value("n"),
    frame("small", "a", size_bytes=1),
    frame("big", "b", size_bytes=100),
    frame("df_customers", "customer_id", "Full Name"),
    frame("orders", "order_id", "Unit Price", "country"),
    frame("stores", "country", "city"),
)


def test_without_a_hint_frames_are_told_by_size_and_plain_values_last() -> None:
    assert names(order(ALL, ""))[0] == "big"
    assert names(order(ALL, ""))[-2:] == ["small", "n"]


def test_a_variable_named_in_the_prompt_comes_before_all_others() -> None:
    assert names(order(ALL, "how large is n?"))[0] == "n"
    assert names(order(ALL, "Orders by country and city"))[:2] == ["orders", "stores"]


@pytest.mark.parametrize("prompt", ["how many customers?", "for each Customer", "customers' names"])
def test_a_frame_is_found_by_a_word_of_its_name_in_singular_or_plural(prompt: str) -> None:
    assert names(order(ALL, prompt))[0] == "df_customers"


def test_words_that_every_variable_name_has_find_nothing() -> None:
    tables = (frame("data_frame_new", "x"), frame("big", size_bytes=100))
    assert names(order(tables, "make a new data frame"))[0] == "big"


def test_a_frame_is_found_by_its_columns_and_the_one_with_most_of_them_comes_first() -> None:
    assert names(order(ALL, "cities per country"))[:2] == ["stores", "orders"]


def test_columns_are_found_whatever_their_case_blanks_and_number() -> None:
    for label in ("Unit price", "country"):
        assert names_label("the UNIT_PRICE by Country", label)
        assert names_label("mean unit prices in all countries", label)
    assert not names_label("communities", "unit")
    assert not names_label("status of the bus", "statu")
    assert not names_label("status of the bus", "bu")


def test_what_the_last_cells_used_comes_before_what_is_large() -> None:
    assert names(order(ALL, "", ["n", "small"]))[:3] == ["small", "n", "big"]
    assert names(order(ALL, "big", ["small"]))[:2] == ["big", "small"]


def test_names_of_the_last_five_cells_of_code_are_read_and_nothing_is_run() -> None:
    cells = ["too_old", *(f"use{at}(df{at})" for at in range(4)), "from shop import orders as o\nraise SystemExit"]
    found = recent_names(cells)
    assert found[:2] == ("o", "SystemExit")
    assert {"df3", "df0"} <= set(found)
    assert "too_old" not in found


@pytest.mark.parametrize(
    "cell",
    [
        "%%agent\nmean of secret_name",
        "%agent plot secret_name",
        "%%bash\nsecret_name",
        "secret_name = = 1",
        "!cat secret_name",
        "",
    ],
)
def test_what_is_no_python_counts_as_no_cell(cell: str) -> None:
    assert recent_names(["df.head()", *[cell] * 9]) == ("df",)


def test_code_under_a_timing_magic_and_beside_line_magics_is_read() -> None:
    assert recent_names(["%%time\ndf.sum()"]) == ("df",)
    assert recent_names(["%matplotlib inline\nfiles = !ls\nother.plot()"]) == ("files", "other")


def test_cells_that_cannot_be_parsed_or_are_too_long_are_passed_over() -> None:
    assert recent_names(["a", "(" * 5000, "x = 1\n" * 10_000, "b = '\\d'"]) == ("b", "a")


def test_a_shell_without_a_history_has_no_recent_cells() -> None:
    shell: Any = SimpleNamespace(user_ns={}, user_ns_hidden={})
    assert UserNamespace(shell).recent_cells() == []


def test_where_not_all_frames_fit_those_of_the_last_cells_are_copied() -> None:
    tables = (frame("a", size_bytes=60), frame("b", size_bytes=50), frame("c", size_bytes=40))
    assert relevant_variables(tables, "what stands out?", max_bytes=100) == ("a", "c")
    assert relevant_variables(tables, "what stands out?", max_bytes=100, clues=SelectionClues(recent=["b"])) == (
        "b",
        "c",
    )


def test_a_name_is_of_the_program_that_bound_it_until_another_cell_binds_it() -> None:
    program = "by_month = flights.groupby('month').size()\nby_month"
    assert names_bound_by([program], ["flights = 1", f"{program}\n", "by_month.plot()"]) == {"by_month"}
    assert names_bound_by([program], [program, "by_month = 3"]) == set()
    assert names_bound_by([program], ["by_month = 3", program]) == {"by_month"}
    assert names_bound_by([program], [program.replace("size", "sum")]) == set()
    assert names_bound_by([program], ["%%agent\nby_month = 3", program, "%%bash\nby_month=3"]) == {"by_month"}
    assert names_bound_by([], [program]) == set()
