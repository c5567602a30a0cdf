"""An answer is believed only if each of its figures was computed."""

from __future__ import annotations

import re
import time

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.agent.answer.answer import (
    MAX_CHARS,
    MAX_OUTPUT_CHARS,
    answer_request,
    check_answer,
    find_invented,
    is_output_complete,
    is_self_explanatory,
)
from jupyter_codeagent.types.sandbox import DisplayOutput, StreamOutput
from jupyter_codeagent.types.tagged_text import TaggedText

OUTPUT = """\
         dep_delay  share
carrier
F9       20.215543   0.0412
EV       19.955390   0.4525
N14228  336776
dtype: float64  -7.25
2013-01-05
"""
PROMPT = "Which 5 carriers?"


@pytest.mark.parametrize(
    "answer",
    [
        "F9 has the highest mean delay, 20.22 minutes.",
        "F9 leads with 20.2 minutes.",
        "It is about 20 minutes.",
        "There are 336,776 flights.",
        "There are about 337,000 flights.",
        "Nearly 0.34 million flights.",
        "EV has a share of 45.25%.",
        "EV has a share of 45 percent.",
        "It fell by 7.25.",
        "It was on 2013-01-05.",
        "It was on January 5, 2013.",
        "The top five carriers are listed.",
        "Plane N14228 comes first.",
        "Frontier is the one with the longest delays.",
    ],
)
def test_an_answer_with_computed_figures_passes(answer: str) -> None:
    assert check_answer(answer, OUTPUT, PROMPT) == answer


@pytest.mark.parametrize(
    ("answer", "figure"),
    [
        ("F9 has a mean delay of 20.31 minutes.", "20.31"),
        ("F9 has a mean delay of 19.96 minutes.", "19.96"),
        ("F9 has a mean delay of 20.2155437 minutes.", "20.2155437"),
        ("There are 336,777 flights.", "336,777"),
        ("There are 337,000 flights.", "337,000"),
        ("EV has a share of 46%.", "46%"),
        ("Twelve carriers were compared.", "Twelve"),
        ("Plane N14229 comes first.", "N14229"),
        ("It was on 2014-01-05.", "2014"),
        ("It takes 1.5 million.", "1.5 million"),
    ],
)
def test_a_made_up_figure_drops_the_answer(answer: str, figure: str) -> None:
    assert check_answer(answer, OUTPUT, PROMPT) == ""
    assert find_invented(answer, OUTPUT, PROMPT) == (figure,)


SPECIES = """\
species
Adelie       3700.662252
Chinstrap    3733.088235
Gentoo       5076.016260
Name: body_mass_g, dtype: float64
"""


def test_digits_that_were_cut_off_are_rounded() -> None:
    answer = "Adelie weigh 3700.66 and Gentoo 5076.01 g."
    assert check_answer(answer, SPECIES, "") == "Adelie weigh 3700.66 and Gentoo 5076.02 g."


def test_a_figure_of_a_row_that_is_not_named_drops_the_answer() -> None:
    mixed = "The means are 3700.66 and 5076.02 for Adelie and Chinstrap."
    assert check_answer(mixed, SPECIES, "") == ""
    assert find_invented(mixed, SPECIES, "") == ("5076.02",)
    right = "The means are 3700.66 and 5076.02 for Adelie and Gentoo."
    assert check_answer(right, SPECIES, "") == right


def test_the_number_of_rows_is_no_invention() -> None:
    assert check_answer("These are the 3 species.", SPECIES, "") != ""
    assert check_answer("These are the 4 species.", SPECIES, "") == ""


def test_columns_of_a_table_are_not_taken_for_one_figure() -> None:
    assert check_answer("It is 200.", "a b\n100 200 300", "") == "It is 200."
    assert check_answer("It is 100,200,300.", "100 200 300", "") == ""
    assert check_answer("It is 200.", "100,200,300", "") == "It is 200."


def test_code_links_images_and_html_are_left_out() -> None:
    answer = (
        "**Answer:** See [the site](http://evil.example/x) ![p](http://evil.example/p.png) <img src=x onerror=y>"
        "it is <b>42</b>. https://evil.example\n```python\nprint(1)\n```"
    )
    assert check_answer(answer, "42", "") == "See the site it is 42 ."


@pytest.mark.parametrize("answer", ["\x1bcIt is 42\x1b[A\x1b[K.", "It is \x9bK42.", "It is \u202e42."])
def test_an_answer_holds_nothing_that_a_terminal_obeys(answer: str) -> None:
    assert re.fullmatch(r"It is ?42\.", check_answer(answer, "42", "").replace("  ", " "))


@pytest.mark.parametrize("answer", ["", "   ", "```python\nprint(42)\n```", "**Answer:**", "..."])
def test_an_answer_without_words_is_none(answer: str) -> None:
    assert check_answer(answer, "42", "") == ""


def test_a_long_answer_ends_with_a_sentence() -> None:
    answer = "This is a sentence without figures. " * 30
    cleaned = check_answer(answer, "", "")
    assert len(cleaned) <= MAX_CHARS
    assert cleaned.endswith("figures.")


@given(st.text(), st.text())
def test_whatever_passes_is_short_and_holds_no_markup(answer: str, output: str) -> None:
    cleaned = check_answer(answer, output, "")
    assert len(cleaned) <= MAX_CHARS
    assert "](" not in cleaned
    assert "```" not in cleaned


@given(st.integers(0, 10**9))
def test_a_figure_passes_in_every_usual_form_and_its_neighbour_does_not(number: int) -> None:
    output = f"total {number}"
    assert check_answer(f"It is {number}.", output, "") != ""
    assert check_answer(f"It is {number:,}.", output, "") != ""
    assert check_answer(f"It is {number + 1}.", output, "") == ""


def test_of_a_table_that_is_shown_in_part_no_sentence_is_asked_for() -> None:
    numbers = pd.Series(range(3000), name="n")
    for whole in (numbers.head(9), numbers.head(9).to_frame(), pl.DataFrame({"n": range(5)}), "Length: short"):
        assert is_output_complete(str(whole))
    for part in (numbers, numbers.to_frame(), pl.DataFrame({"n": range(3000)}), "x" * (MAX_OUTPUT_CHARS + 1)):
        assert not is_output_complete(str(part))
    started = time.monotonic()
    assert is_output_complete(", ".join(f"Name: p{at}" for at in range(50)) + ", end")
    assert time.monotonic() - started < 1


def test_the_request_holds_the_output_and_forbids_other_figures() -> None:
    request = answer_request(TaggedText("42")).text
    assert request.startswith("Output:\n42\n")
    assert "numbers of this output only" in request


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", ["x", "1", "1,", "_1", "1.", "-", " ", "\n", "ab 12\n", "about ", "[", "<think>", "1e"]
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_long_outputs_and_long_replies_are_compared_at_once(piece: str) -> None:
    """A pattern that is tried from every place of a long line would keep the run for hours."""
    long = piece * (200_000 // len(piece))
    assert check_answer("The sum is 7.", f"{long}\n7", "") == "The sum is 7."
    assert check_answer("The sum is 8.", f"{long}\n7", "") == ""
    assert len(check_answer(long, long, "")) <= MAX_CHARS


@pytest.mark.parametrize("figure", ["1e5000", "1e99999999", f"1e{'9' * 30}"])
def test_a_figure_beyond_all_numbers_is_compared_as_text(figure: str) -> None:
    assert check_answer(f"It is {figure}.", f"total {figure}", "") == f"It is {figure}."
    assert check_answer(f"It is {figure}.", "total 1e4999", "") == ""


def test_a_number_of_any_length_in_the_outputs_is_no_obstacle() -> None:
    output = f"{'1234567890' * 20}.678\n3.1415"
    assert check_answer("It is 3.14.", output, "") == "It is 3.14."
    assert check_answer("It is 3.2.", output, "") == ""


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("Mean fare: 34.65\n", True),
        ("@mean_fare[34.65]\n@n[7]\n", True),
        ("share = 0.2\nrevenue: $1,200", True),
        ("34.65\n", False),
        ("carrier\nAA  1.5\nUA  2.5\nName: dep_delay, dtype: float64\n", False),
        ("".join(f"n_{at}x: {at}\n" for at in range(13)), False),
        ("The answer: yes\n", False),
        ("x" * 2_000_000, False),
        ("", False),
    ],
)
def test_named_figures_speak_for_themselves_and_bare_ones_and_tables_do_not(text: str, speaks: bool) -> None:
    printed = StreamOutput(output_type="stream", name="stdout", text=text)
    assert is_self_explanatory([printed], "Calculate the mean fare.") == speaks
    warned = StreamOutput(output_type="stream", name="stderr", text="Warning: 7")
    assert not is_self_explanatory([printed, warned], "Calculate the mean fare.")


def test_a_table_speaks_for_itself_only_where_several_things_were_asked_for() -> None:
    data = {"text/plain": "   g  x\n0  a  1", "text/html": "<table></table>"}
    table = DisplayOutput(output_type="display_data", data=data, metadata={})
    printed = StreamOutput(output_type="stream", name="stdout", text="n: 7\n")
    assert is_self_explanatory([printed, table], "Show the number of rows, then show the mean by group.")
    assert not is_self_explanatory([printed, table], "Show the mean by group.")
    assert not is_self_explanatory([printed, table], "Show the mean by group, and which group is best?")


@pytest.mark.parametrize(
    ("prompt", "speaks"),
    [
        ("Calculate the mean fare, rounded to two decimals.", True),
        ("How many flights were late, and what share is that?", True),
        ("What is the correlation of weight and price?", True),
        ("Is the correlation within each species as strong?", False),
        ("Test weight by sex. Do they differ?", False),
        ("Which carrier is worst?", False),
        ("How strongly do flipper length and body mass go together?", False),
        ("Explain the result.", False),
        (
            "Mean of the fares. Do not count those that are empty, and drop the cabin, which is mostly missing.",
            True,
        ),
        ("Don't round. Give the mean.", True),
        ("Normalize the fares and give their mean.", True),
        ("Are there outliers", False),
        ("Mean fare, and is it the same for women?", False),
        ("Conclude whether it is normal.", False),
    ],
)
def test_where_a_judgement_is_asked_for_figures_do_not_speak_for_themselves(prompt: str, speaks: bool) -> None:
    printed = StreamOutput(output_type="stream", name="stdout", text="r = 0.70\n")
    assert is_self_explanatory([printed], prompt) == speaks


@pytest.mark.parametrize(
    ("text", "prompt", "speaks"),
    [
        ("p = 0.03\nsignificant: yes\n", "Is the difference significant?", True),
        ("is_normal: False\n", "Is it normal?", True),
        ("worst carrier: 'UA'", "Which carrier is worst?", True),
        ("relationship: none", "Is there a relation?", True),
        ("significant: None\n", "Is the difference significant?", False),
        ("significant: nan\n", "Is the difference significant?", False),
        ("yes\n", "Is the difference significant?", False),
        ("Adelie: r = 0.47\nGentoo: r = 0.7\n", "Is it as strong within each species?", False),
        ("p = 0.03\nsignificant: yes\n", "Is it significant? Explain.", False),
        ("significant: yes\n", "Mean fare", False),
        ("strong\n", "Is it strong? Say either 'strong' or 'weak'.", True),
        ("The correlation is strong.\n", "Is it strong? Say either 'strong' or 'weak'.", True),
        ("The correlation is 0.7.\n", "Is it strong? Say either 'strong' or 'weak'.", False),
    ],
)
def test_a_judgement_that_is_shown_with_its_name_needs_no_sentence(text: str, prompt: str, speaks: bool) -> None:
    printed = StreamOutput(output_type="stream", name="stdout", text=text)
    assert is_self_explanatory([printed], prompt) == speaks
