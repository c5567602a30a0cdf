"""Judges accept a right answer in each sensible form, and none that holds the right figure elsewhere."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest

from evals.checks import (
    cell,
    day_names,
    each,
    figure,
    frame,
    has_points,
    holds,
    later,
    lines_of,
    month_names,
    on_day,
    row,
    says,
    shown_first,
    singled_out,
)
from evals.task import Check, Evidence, FigureFacts

LONG = pd.DataFrame(
    {"origin": ["EWR", "EWR", "JFK", "JFK"], "carrier": ["AA", "UA"] * 2, "late": [1.5, 2.5, 3.5, 4.5]}
)
TWO_KEYS = LONG.groupby(["origin", "carrier"]).late.mean()


@pytest.mark.parametrize(
    "text",
    [
        repr(LONG),
        repr(TWO_KEYS),
        repr(TWO_KEYS.unstack()),
        repr(TWO_KEYS.unstack().T),
        repr(TWO_KEYS.to_dict()),
        "EWR:\n  UA: 2.5\nJFK:\n  UA: 4.5",
        "From JFK, UA is 4.50 minutes late.",
    ],
    ids=["long", "two keys", "pivoted", "pivoted the other way", "dict", "list", "sentence"],
)
def test_a_figure_of_two_names_is_found_in_each_sensible_form(text: str) -> None:
    assert not cell("JFK", "UA", value=4.5)(Evidence(text=text))


@pytest.mark.parametrize("text", [repr(LONG), repr(TWO_KEYS), repr(TWO_KEYS.unstack()), repr(TWO_KEYS.unstack().T)])
@pytest.mark.parametrize("value", [1.5, 2.5, 3.5])
def test_a_figure_that_stands_elsewhere_in_the_table_is_not_the_one_of_two_names(text: str, value: float) -> None:
    assert cell("JFK", "UA", value=value)(Evidence(text=text))


def test_a_figure_below_its_name_in_a_transposed_table_counts() -> None:
    text = repr(
        pd.DataFrame({"mean": {"Adelie": 3700.66, "Gentoo": 5076.02}, "count": {"Adelie": 151, "Gentoo": 123}}).T
    )
    assert not cell("Gentoo", value=123, digits=0)(Evidence(text=text))
    assert cell("Adelie", value=123, digits=0)(Evidence(text=text))


def test_a_share_counts_as_a_percentage_too() -> None:
    assert not cell("EWR", value=0.2483, percent=True)(Evidence(text="EWR 24.83%"))
    assert not cell("EWR", value=0.2483, percent=True, digits=3)(Evidence(text="EWR 24.8%"))
    assert cell("EWR", value=0.2483, percent=True, digits=3)(Evidence(text="EWR 24.9%"))
    assert cell("EWR", value=0.2483)(Evidence(text="EWR 24.83%"))


def test_each_name_needs_its_own_figure() -> None:
    means = {"USA": 20.08, "Japan": 30.45}
    assert not each(means)(Evidence(text="USA 20.084\nJapan 30.451"))
    assert each(means)(Evidence(text="USA 30.45\nJapan 20.08"))
    assert each(means)(Evidence(text="USA 20.08"))


def test_the_blocks_of_a_wide_frame_are_read_as_one() -> None:
    wide = pd.DataFrame(
        {"name": ["first airline", "second airline"]} | {f"column_{at}": [at, at + 0.5] for at in range(15)}
    )
    text = wide.to_string(line_width=80)
    assert "\\" in text
    assert not row("second airline", 3.5, 14.5)(Evidence(text=text))
    assert row("first airline", 14.5)(Evidence(text=text))
    assert lines_of("a \\\n1") == ["a ", "1"]


def test_a_number_as_a_name_is_no_part_of_another_figure() -> None:
    text = "month\n6    16.7\n7    20.1\n"
    assert not cell(month_names(7), value=20.1)(Evidence(text=text))
    assert cell(month_names(7), value=16.7)(Evidence(text=text))
    assert cell("20", value=20)(Evidence(text="20 flights"))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("JFK    3\nEWR    2\nLGA    1", True),
        ("EWR    2\nJFK    3\nLGA    1\nJFK has the most.", True),
        ("JFK", True),
        ("EWR    2\nJFK    3\nLGA    1", False),
        ("EWR", False),
    ],
)
def test_one_of_several_is_singled_out_by_place_or_by_a_sentence(text: str, right: bool) -> None:
    assert (not singled_out("JFK", ["EWR", "JFK", "LGA"])(Evidence(text=text))) == right


@pytest.mark.parametrize(
    "text",
    ["2013-07-04 00:00:00", "July 4, 2013", "4 Jul", "the 4th July", "07/04/2013", "2013      7    4   12.5"],
)
def test_a_date_is_read_in_its_common_forms(text: str) -> None:
    assert not says(day_names(date(2013, 7, 4)))(Evidence(text=text))
    assert says(day_names(date(2013, 7, 14)))(Evidence(text=text))


@pytest.mark.parametrize(
    "text",
    [
        "July 4, 2013",
        "(np.int64(2013), np.int64(7), np.int64(4)) 966.0",
        repr(pd.Series({"year": 2013, "month": 7, "day": 4, "n": 811})),
        repr(pd.Series({"year": 2013.0, "month": 7.0, "day": 4.0, "n": 811.5})),
        repr(pd.DataFrame({"year": [2013], "month": [7], "day": [4], "n": [811]})),
        "on 2013-7-4",
    ],
)
def test_a_date_is_read_out_of_its_parts_too(text: str) -> None:
    assert not on_day(date(2013, 7, 4))(Evidence(text=text))
    assert on_day(date(2013, 7, 14))(Evidence(text=text))
    assert on_day(date(2013, 4, 7))(Evidence(text=text))


def test_the_first_of_a_sorted_table_is_shown_first() -> None:
    table = pd.DataFrame({"hour": [5, 19, 20], "late": [0.69, 24.78, 24.3]})
    assert not shown_first(24.78, 24.3, 0.69)(Evidence(text=repr(table.sort_values("late", ascending=False))))
    assert not shown_first(24.78, 24.3, 0.69)(Evidence(text="24.78 at 19"))
    assert shown_first(24.78, 24.3, 0.69)(Evidence(text=repr(table)))
    assert shown_first(24.78, 24.3, 0.69)(Evidence(text="nothing"))


def test_a_table_is_judged_by_its_rows_whatever_its_columns_are_called() -> None:
    def complaint(table: object, check: Check) -> str:
        return check(Evidence(text="", namespace={"t": table}))

    wanted = {("EWR", "AA"): 1.5, ("EWR", "UA"): 2.5, ("JFK", "AA"): 3.5, ("JFK", "UA"): 4.5}
    assert not complaint(LONG, frame("t", holds(wanted, ordered=True)))
    assert not complaint(TWO_KEYS.to_frame("x"), frame("t", holds(wanted)))
    assert complaint(LONG.iloc[::-1], frame("t", holds(wanted, ordered=True)))
    assert complaint(LONG.iloc[:3], frame("t", holds(wanted)))
    assert complaint(LONG.assign(late=LONG.late + 1), frame("t", holds(wanted)))
    assert not complaint(pd.Series({7: 2.5}), frame("t", holds({7: 2.5})))


def test_a_check_made_later_is_made_once() -> None:
    made = []

    def make() -> Check:
        made.append(1)
        return says("JFK")

    check = later(make)
    assert not made
    assert [check(Evidence(text=text)) for text in ("JFK", "EWR")] == ["", "'JFK' is not named"]
    assert made == [1]


@pytest.mark.parametrize(("count", "right"), [(342, True), (344, True), (333, False)])
def test_points_of_rows_without_a_value_may_count(count: int, right: bool) -> None:
    drawn = FigureFacts(
        title="",
        x_label="",
        y_label="",
        x_ticks=(),
        y_ticks=(),
        bars=(),
        lines=(),
        point_count=count,
        patch_count=0,
    )
    assert (not figure(has_points(342, or_rows=344))(Evidence(text="", figures=[drawn]))) == right
