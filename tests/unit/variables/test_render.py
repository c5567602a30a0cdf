"""`variables.render`, `variables.select` and `variables.mentions`: what fits, and what comes first."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.values import VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.mentions import mentioned_columns
from jupyter_codeagent.variables.render import Context, render
from jupyter_codeagent.variables.select import default_variables

SALES = pd.DataFrame(
    {"Unit Price": [1.5, 2.5], "country": ["UK", "DE"], **{f"m{i:02d}": [0, i] for i in range(1, 13)}}
)
STOCK = pd.DataFrame({"item": ["a"] * 900, "left": range(900)})


def summaries(**more: object) -> tuple[VariableSummary, ...]:
    return describe({"n": 5, "sales": SALES, "stock": STOCK, **more}, privacy="stats", mentioned="")


def rendered(prompt: str, budget: int) -> Context:
    return render(summaries(), budget_tokens=budget, mentioned=prompt, count_tokens=lambda text: len(text) // 4 + 1)


def test_with_room_every_line_is_told_in_full() -> None:
    text = rendered("", 1000).text
    assert "stock: DataFrame 900x2\n  'item' str {a}\n  'left' int 0..899" in text
    assert "n: int = 5" in text


def test_variables_that_the_prompt_names_come_first() -> None:
    assert rendered("what is n?", 1000).text.startswith("n: int = 5")
    assert rendered("mean unit price", 1000).text.startswith("sales: DataFrame")


def test_runs_of_similar_columns_collapse_when_room_is_short() -> None:
    assert "'m01'..'m12' int" in rendered("", 60).text


def test_a_named_column_keeps_its_statistics_to_the_end() -> None:
    assert "'Unit Price' float 1.5..2.5" in rendered("mean unit price", 50).text


def test_what_does_not_fit_is_named_as_dropped() -> None:
    context = rendered("", 5)
    assert [name for name, _ in context.costs] == ["stock"]
    assert context.dropped == ("sales", "n")


@given(budget=st.integers(1, 400))
def test_the_budget_holds_beyond_the_first_variable(budget: int) -> None:
    context = rendered("", budget)
    first = context.costs[0][1]
    assert sum(cost for _, cost in context.costs) <= max(budget, first)


def test_a_thousand_columns_end_in_a_count() -> None:
    wide = pd.DataFrame(np.zeros((2, 1000)), columns=[f"{chr(97 + i % 26)}{i}" for i in range(1000)])
    text = render(
        describe({"wide": wide}, privacy="stats", mentioned=""),
        budget_tokens=300,
        mentioned="",
        count_tokens=lambda t: len(t) // 4,
    ).text
    assert "… +960, see wide.columns" in text
    assert len(text) < 1200


def test_the_same_summaries_give_the_same_bytes() -> None:
    assert rendered("sales", 100) == rendered("sales", 100)


def test_named_variables_are_copied_with_frames_whose_columns_are_named() -> None:
    assert default_variables(summaries(), "rows of sales", max_bytes=1 << 30) == ("sales",)
    assert set(default_variables(summaries(), "join stock with the country", max_bytes=1 << 30)) == {
        "stock",
        "sales",
    }
    assert default_variables(summaries(), "add n to each left in stock", max_bytes=1 << 30) == ("n", "stock")


def test_without_names_every_frame_within_the_limit_is_copied() -> None:
    assert set(default_variables(summaries(), "what stands out?", max_bytes=1 << 30)) == {"sales", "stock"}
    assert default_variables(summaries(), "what stands out?", max_bytes=10) == ()


def test_columns_are_found_whatever_their_case_and_blanks() -> None:
    sales = summaries()[1]
    assert mentioned_columns("the UNIT_PRICE by Country", sales) == (0, 1)
    assert mentioned_columns("communities", sales) == ()
