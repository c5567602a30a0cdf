"""`variables.render`, `variables.relevance` and `variables.mentions`: what fits, and what comes first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.models.tokens import estimate_tokens
from jupyter_codeagent.types.tagged_text import kinds_of
from jupyter_codeagent.types.variables import ColumnSummary, VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.detail_levels import DETAIL_LEVELS, column_label
from jupyter_codeagent.variables.mentions import label_text, names_label
from jupyter_codeagent.variables.relevance import relevant_variables
from jupyter_codeagent.variables.render import RenderedVariables, render

SALES = pd.DataFrame(
    {"Unit Price": [1.5, 2.5], "country": ["UK", "DE"], **{f"m{i:02d}": [0, i] for i in range(1, 13)}}
)
STOCK = pd.DataFrame({"item": ["a"] * 900, "left": range(900)})


def summaries(**more: object) -> tuple[VariableSummary, ...]:
    return describe({"n": 5, "sales": SALES, "stock": STOCK, **more}, privacy="stats", mentioned="")


STATS: dict[str, Any] = {"privacy": "stats", "mentioned": ""}
ESTIMATED: dict[str, Any] = {"mentioned": "", "count_tokens": estimate_tokens}


def rendered(prompt: str, budget: int, joins: str = "") -> RenderedVariables:
    return render(summaries(), budget_tokens=budget, mentioned=prompt, count_tokens=estimate_tokens, joins=joins)


def told_names(context: RenderedVariables) -> list[str]:
    return [told.name for told in context.variables]


def told_of(name: str, context: RenderedVariables) -> str:
    return next(told.shortened for told in context.variables if told.name == name)


def test_with_room_every_line_is_told_in_full() -> None:
    context = rendered("", 1000)
    assert "stock: DataFrame 900x2" in context.text
    assert "\n left int 0..899" in context.text
    assert "n: int = 5" in context.text
    assert not context.is_shortened


def test_plain_names_of_columns_are_bare_and_all_others_are_quoted() -> None:
    frame = pd.DataFrame({"plain_1": [1], "two words": [1], "a: b, c": [1], "class": [1], 3: [1]})
    text = render(
        describe({"f": frame}, privacy="schema", mentioned=""),
        budget_tokens=500,
        mentioned="",
        count_tokens=estimate_tokens,
    ).text
    assert text.splitlines()[1:] == [" plain_1 int", " 'two words' int", " 'a: b, c' int", " 'class' int", " 3 int"]


def test_variables_that_the_prompt_names_come_first() -> None:
    assert rendered("what is n?", 1000).text.startswith("n: int = 5")
    assert rendered("mean unit price", 1000).text.startswith("sales: DataFrame")


def test_each_variable_steps_down_the_ladder_before_one_is_left_out() -> None:
    wide = describe({"wide": pd.DataFrame({f"{chr(97 + at % 26)}{at}": [0] for at in range(60)})}, **STATS)
    notes = [told_of("wide", render(wide, budget_tokens=budget, **ESTIMATED)) for budget in range(600, 1, -1)]
    labels = [label for _, label in DETAIL_LEVELS if label not in ("no examples", "similar columns together")]
    assert list(dict.fromkeys(notes)) == labels
    without = next(context for context in (rendered("", budget) for budget in range(120, 0, -1)) if context.dropped)
    assert told_of("stock", without) == "names, 40 at most"  # all it has: its size alone would cost more


def test_runs_of_similar_columns_collapse_with_the_range_of_all_of_them() -> None:
    assert " m01..m12 (12) int 0..12" in rendered("", 80).text


def test_a_column_that_the_prompt_names_is_not_lost_in_a_run() -> None:
    text = rendered("mean of m05", 90).text
    assert " m01..m04 (4) int 0..4\n m05 int 0..5\n m06..m12 (7) int 0..12" in text


def test_a_run_tells_only_what_is_true_of_all_its_columns() -> None:
    columns = (
        ColumnSummary(name="'x1'", dtype="str", stats="{a, b}", missing="3 missing"),
        ColumnSummary(name="'x2'", dtype="str", stats="{c}"),
    )
    assert DETAIL_LEVELS[2][0](frame("t", columns), frozenset()) == "t: DataFrame\n x1..x2 (2) str some missing"


def test_a_named_column_keeps_its_statistics_to_the_end() -> None:
    text = rendered("mean unit price", 24).text
    assert text == "sales: DataFrame 2x14: 'Unit Price' float 1.5..2.5; … +13, see sales.columns"


def test_what_does_not_fit_is_said_in_one_line_and_named() -> None:
    context = rendered("", 30)
    assert context.text == "stock: DataFrame 900x2: item, left\nand 2 more variables: sales, n"
    assert context.dropped == ("sales", "n")
    many = describe({f"x{at}": at for at in range(100)}, privacy="stats", mentioned="")
    text = render(many, budget_tokens=60, mentioned="", count_tokens=estimate_tokens).text
    assert text.splitlines()[-1].startswith("and 9")
    assert text.endswith(", …")


def test_joins_are_told_last_and_go_before_a_variable_does() -> None:
    joins = "tables join on: stock.item = sales.country"
    assert rendered("", 1000, joins).text.splitlines()[-1] == joins
    assert all(
        not context.dropped for context in (rendered("", b, joins) for b in range(40, 200)) if context.joins_tokens
    )
    assert rendered("", 40, joins).joins_tokens == 0


def test_the_costs_add_up_to_the_tokens_of_the_text() -> None:
    context = rendered("", 150, "tables join on: stock.item = sales.country")
    assert (
        sum(variable.tokens for variable in context.variables) + context.joins_tokens + context.left_out_tokens
        == context.tokens
    )
    assert estimate_tokens(context.text) <= context.tokens <= 150


def test_a_thousand_columns_end_in_a_count() -> None:
    wide = pd.DataFrame(np.zeros((2, 1000)), columns=[f"{chr(97 + i % 26)}{i}" for i in range(1000)])
    text = render(
        describe({"wide": wide}, privacy="stats", mentioned=""),
        budget_tokens=300,
        mentioned="",
        count_tokens=estimate_tokens,
    ).text
    assert "… +960, see wide.columns" in text


def test_ten_thousand_variables_are_not_counted_one_by_one() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return estimate_tokens(text)

    many = tuple(frame(f"x{at}", ()) for at in range(10_000))
    context = render(many, budget_tokens=600, mentioned="", count_tokens=count)
    assert len(context.dropped) > 9000
    assert len(counted) < 1000


def test_the_same_summaries_give_the_same_bytes() -> None:
    assert rendered("sales", 100) == rendered("sales", 100)


# --- for any tables, any prompt, any budget ---------------------------------------------------------------------

WORDS = ("price", "origin", "dest", "m01", "m02", "m03", "unit cost", "day", "tail_no", "x")
COLUMNS = st.lists(
    st.builds(
        ColumnSummary,
        name=st.sampled_from(WORDS).map(repr),
        dtype=st.sampled_from(("int", "float", "str")),
        stats=st.sampled_from(("", "0..5", "-1.5..2e+09", "12u", "{a, b}")),
        example=st.sampled_from(("", "'UA'")),
        missing=st.sampled_from(("", "3 missing")),
    ),
    max_size=60,
    unique_by=lambda column: column.name,
)


def frame(name: str, columns: Sequence[ColumnSummary]) -> VariableSummary:
    return VariableSummary(
        name=name,
        type_name="DataFrame",
        headline=f"{name}: DataFrame",
        columns=tuple(columns),
        frame_like=bool(columns),
        size_bytes=len(columns),
    )


TABLES = st.builds(
    lambda tables, plain: tuple(frame(f"t{at}", columns) for at, columns in enumerate([*tables, *plain * [()]])),
    st.lists(COLUMNS, min_size=1, max_size=8),
    st.integers(0, 80),
)
PROMPTS = st.lists(st.sampled_from((*WORDS, "t0", "t3", "mean", "of")), max_size=5).map(" ".join)
LEVELS = [label for _, label in DETAIL_LEVELS]
JOINS = "tables join on: t0.price = t1.price"


def fitted(tables: tuple[VariableSummary, ...], budget: int, prompt: str) -> RenderedVariables:
    return render(tables, budget_tokens=budget, mentioned=prompt, count_tokens=estimate_tokens, joins=JOINS)


@given(tables=TABLES, prompt=PROMPTS, budget=st.integers(1, 900))
def test_the_budget_holds_unless_the_first_variable_alone_is_over_it(
    tables: tuple[VariableSummary, ...], prompt: str, budget: int
) -> None:
    context = fitted(tables, budget, prompt)
    alone = len(context.variables) == 1 and context.joins_tokens == context.left_out_tokens == 0
    assert context.tokens <= budget or alone
    assert estimate_tokens(context.text) <= context.tokens
    assert {*told_names(context), *context.dropped} == {table.name for table in tables}


@given(tables=TABLES, prompt=PROMPTS, budget=st.integers(1, 900), more=st.integers(1, 300))
def test_more_budget_never_tells_less(
    tables: tuple[VariableSummary, ...], prompt: str, budget: int, more: int
) -> None:
    less, larger = fitted(tables, budget, prompt), fitted(tables, budget + more, prompt)
    levels = {told.name: LEVELS.index(told.shortened) for told in larger.variables}
    assert all(levels[told.name] <= LEVELS.index(told.shortened) for told in less.variables)
    assert bool(larger.joins_tokens) >= bool(less.joins_tokens)


@given(tables=TABLES, prompt=PROMPTS, budget=st.integers(1, 900))
def test_a_named_column_is_never_left_out_while_another_of_its_table_is_told(
    tables: tuple[VariableSummary, ...], prompt: str, budget: int
) -> None:
    by_name = {table.name: table for table in tables}
    for told in fitted(tables, budget, prompt).variables:
        table = by_name[told.name]
        for column in (one for one in table.columns if names_label(prompt, label_text(one.name))):
            line = " ".join(part for part in (column_label(column.name), column.dtype, column.stats) if part)
            assert line in told.text, (told, line)


def test_named_variables_are_copied_with_frames_whose_columns_are_named() -> None:
    assert relevant_variables(summaries(), "rows of sales", max_bytes=1 << 30) == ("sales",)
    assert set(relevant_variables(summaries(), "join stock with the country", max_bytes=1 << 30)) == {
        "stock",
        "sales",
    }
    assert relevant_variables(summaries(), "add n to each left in stock", max_bytes=1 << 30) == ("n", "stock")


def test_without_names_every_frame_within_the_limit_is_copied() -> None:
    assert set(relevant_variables(summaries(), "what stands out?", max_bytes=1 << 30)) == {"sales", "stock"}
    assert relevant_variables(summaries(), "what stands out?", max_bytes=10) == ()


def kinds_by_line(context: RenderedVariables) -> dict[str, tuple[str, ...]]:
    return {line.text: kinds_of(line.spans) for line in context.tagged.lines()}


def test_each_line_is_tagged_with_what_it_tells() -> None:
    secrets = pd.DataFrame({"email": ["a@b.org", "c@d.org"], "n": [1, 2]})
    values: dict[str, Any] = {"secrets": secrets, "k": 5, "text": "word"}
    samples = describe(values, privacy="samples", mentioned="")
    told = kinds_by_line(render(samples, budget_tokens=500, joins="tables join on: a.b = c.d", **ESTIMATED))
    assert told == {
        "secrets: DataFrame 2x2": ("names",),
        " email str": ("names",),
        " n int 1..2": ("names", "statistics"),
        " rows:": ("rows",),
        "  n": ("rows",),
        "  1": ("rows",),
        "  2": ("rows",),
        "k: int = 5": ("names", "statistics"),
        "text: str = 'word'": ("names", "statistics"),
        "tables join on: a.b = c.d": ("names",),
    }
    schema = render(describe(values, privacy="schema", mentioned=""), budget_tokens=500, **ESTIMATED)
    assert kinds_of(schema.tagged.spans) == ("names",)


@pytest.mark.parametrize("budget", [10, 30, 60, 90, 150, 1000])
def test_a_shorter_form_is_tagged_with_what_is_left(budget: int) -> None:
    context = rendered("", budget)
    has_figures = any(word in context.text for word in (" 0..", " 1.5..", "= 5", "{"))
    assert ("statistics" in kinds_of(context.tagged.spans)) == has_figures, context.text
