"""Which columns a goal is taken to mean, and that the user is told."""

from __future__ import annotations

import pytest

from jupyter_codeagent.explore.goal import columns_meant, goal_note
from jupyter_codeagent.types.exploration import ColumnOverview, Exploration, Finding, TableOverview

NAMES = ("dep_delay", "ArrDelay", "carrier", "is_late", "a*b")
FOUND = Finding(kind="correlation", table="flights", columns=("dep_delay", "x"), effect=0.5, p_value=0.0, facts={})


def exploration(*names: str, findings: tuple[Finding, ...] = (FOUND,)) -> Exploration:
    columns = tuple(ColumnOverview(name=name, type="float64", role="number") for name in names)
    flights = TableOverview(table="flights", library="pandas", rows=9, columns=columns)
    return Exploration(tables=(flights,), findings=findings, tried=1)


@pytest.mark.parametrize(
    ("goal", "meant"),
    [
        ("what goes with the delay?", {"dep_delay", "ArrDelay"}),
        ("Delayed by carriers", {"dep_delay", "ArrDelay", "carrier"}),
        ("why are flights late?", {"is_late"}),
        ("why are flights slow?", set()),
        ("is a b?", set()),
        ("", set()),
    ],
)
def test_a_goal_means_the_columns_whose_names_share_a_word_with_it(goal: str, meant: set[str]) -> None:
    assert columns_meant(exploration(*NAMES), goal) == meant


@pytest.mark.parametrize(
    ("goal", "note"),
    [
        ("", ""),
        ("why are flights slow?", "goal: no column name has any of its words, so all columns were treated alike"),
        (
            "delays",
            "goal: read as ArrDelay and dep_delay; findings on them come first among joins, flaws and insights",
        ),
        ("too late", "goal: read as is_late; nothing was found on it"),
    ],
)
def test_a_line_says_what_a_goal_was_taken_to_mean(goal: str, note: str) -> None:
    assert goal_note(exploration(*NAMES), goal) == note


def test_the_line_names_six_columns_at_most_and_no_name_can_act() -> None:
    many = [f"delay_{number}" for number in range(9)]
    assert goal_note(exploration(*many), "delay").startswith(
        "goal: read as delay_0, delay_1, delay_2, delay_3, delay_4, delay_5 and 3 more; "
    )
    assert "`delay **x** [y](z)`" in goal_note(exploration("delay **x**\n[y](z)"), "delay")
