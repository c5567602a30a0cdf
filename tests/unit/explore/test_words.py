"""What is said of findings."""

from __future__ import annotations

import pytest
from exploration_cases import CASES, finding_of

from jupyter_codeagent.explore.figures import are_shown, digits_for, percent, rounded
from jupyter_codeagent.explore.words import words
from jupyter_codeagent.types.exploration import FactValue, Finding, FindingKind


def finding(kind: FindingKind, columns: tuple[str, ...], **facts: FactValue) -> Finding:
    return Finding(kind=kind, table="flights", columns=columns, effect=0.5, p_value=0.0, facts=facts)


def line(kind: FindingKind, columns: tuple[str, ...], **facts: FactValue) -> str:
    return words(finding(kind, columns, **facts)).line


def test_a_group_difference_names_both_ends() -> None:
    said = line(
        "group_difference",
        ("dep_delay", "carrier"),
        highest="F9",
        lowest="US",
        highest_mean=20.2155,
        lowest_mean=3.7824,
        highest_n=682,
        lowest_n=19873,
        levels=16,
    )

    assert said == "dep_delay is highest for carrier F9 (mean 20.2, n 682) and lowest for US (3.8, n 19,873)."


def test_a_reversal_says_what_turns_round() -> None:
    facts: dict[str, FactValue] = {"a": "A", "b": "B", "overall": 1.2, "within": -0.8, "strata": 4, "agreeing": 4}
    said = line("reversal", ("pay", "group", "field"), **facts)

    assert (
        said
        == "Overall, pay is higher for group A than for B by 1.2, but lower within each of four levels of field."
    )


def test_a_break_of_rows_says_what_is_counted() -> None:
    said = line("break", ("", "day"), at="2022-07-01", before=41.3, after=80.25, period="M")

    assert (
        said == "The number of rows of flights per month jumps on 2022-07-01 (day): mean 41.3 before, 80.2 after."
    )


def test_a_trend_that_depends_on_the_group_says_where_two_of_them_went() -> None:
    ends = {"first_high": 1846.75, "last_high": 19929.25, "first_low": 35947.75, "last_low": 31333.75}
    said = line(
        "group_trend", ("mwh", "year", "source"), period="Y", level_high="Wind", level_low="Coal", n=51, **ends
    )

    assert said == (
        "How mwh changes over year depends on source: mean 1,847 in the first quarter of the years and 19,929 in "
        "the last for Wind, 35,948 and 31,334 for Coal."
    )


def test_one_negative_value_near_the_others_is_not_called_far() -> None:
    near = line("impossible", ("qty",), why="only negative", value=-1, count=16)
    far = line("impossible", ("qty",), why="sentinel", value=-999, count=16)

    assert near.startswith("qty is -1 in 16 rows and never negative elsewhere: it may stand for a missing value or")
    assert "far from all other values" in far


def test_a_ratio_says_how_far_it_goes_and_what_may_have_happened() -> None:
    said = line("ratio", ("amount", "kg"), count=6, limit=1000.0, highest=2640.0, median=22.46, n=13719)

    assert said == (
        "amount / kg is far from all others in 6 rows, up to 2,640; the median is 22.5. "
        "A comma may have slipped, or a unit may differ."
    )


def test_names_that_are_no_words_stand_in_backticks() -> None:
    said = line("correlation", ("air time", "__x__"), r=-0.512, form="line", peak=None, n=1200)

    assert said == "`__x__` falls with `air time` (Spearman r -0.51, n 1,200)."


def test_a_join_says_whether_rows_multiply() -> None:
    facts: dict[str, FactValue] = {
        "left": "flights",
        "right": "planes",
        "matched": 0.8438,
        "right_unique": False,
        "repeats": 1,
    }

    assert line("join", ("tail", "tailnum"), **facts) == (
        "84.4 % of the rows of flights have a match in planes (tail = tailnum); "
        "1 row there repeats the tailnum of another, so a join multiplies rows."
    )


def test_a_join_by_two_columns_says_the_same_of_both_together() -> None:
    facts: dict[str, FactValue] = {"left": "flights", "right": "weather", "matched": 0.9954, "repeats": 3}
    partners = "99.5 % of the rows of flights have a match in weather"

    assert line("join", ("origin", "hour", "origin", "hour"), right_unique=True, **facts) == (
        f"{partners} (origin and hour); origin with hour is unique there, so a join keeps the number of rows."
    )
    assert line("join", ("origin", "hour", "station", "hour"), right_unique=False, **facts) == (
        f"{partners} (origin = station and hour); "
        "3 rows there repeat such a combination, so a join multiplies rows."
    )


@pytest.mark.parametrize("name", CASES)
def test_titles_have_no_figures_of_the_finding_and_lines_end_with_a_point(name: str) -> None:
    said = words(finding_of(CASES[name]())[0])

    assert said.line.endswith(".")
    assert not said.title.endswith(".")
    assert all(figure in said.line for figure in said.figures)
    assert not [figure for figure in said.figures if len(figure) > 2 and figure in said.title]


def test_digits_show_the_figures_and_how_they_differ() -> None:
    assert digits_for(20.2, 3.8) == 1
    assert digits_for(15000.31, 15000.92) == 2
    assert digits_for(0.00123) == 5
    assert digits_for(1e-12) == 6
    assert digits_for(123456.0, 1.0) == 0
    assert digits_for(0.0) == 2


def test_figures_are_rounded_as_numpy_does() -> None:
    assert rounded(49.55, 1) == "49.6"
    assert rounded(-0.001, 2) == "0"
    assert rounded(336776.0, 0) == "336,776"
    assert percent(0.164) == "16.4"


@pytest.mark.parametrize(
    ("figure", "output", "shown"),
    [
        ("19,873", "n 19873", True),
        ("3.8", "| 3.80 |", True),
        ("3.4", "-3.4", True),
        ("3.8", "13.8", False),
        ("3", "3.5", False),
        ("2022-07-01", "from 2022-07-01", True),
        ("2022-07-01", "2022-07-02", False),
        ("12", "N12", False),
    ],
)
def test_a_figure_is_shown_if_the_output_has_the_number(figure: str, output: str, shown: bool) -> None:
    assert are_shown((figure,), output) is shown
