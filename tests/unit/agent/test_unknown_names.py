"""Names in a sentence that nobody has computed."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.answer.answer import check_answer, find_invented
from jupyter_codeagent.agent.answer.unknown_names import unknown_names

INVENTED = "The rate fell most in Chad (5.484), Barbados (5.178) and Saint Lucia (5.087)."
OUTPUT = "44     5.484\n207    5.178\n5      5.087\ndtype: float64"


def test_a_sentence_with_names_that_stand_nowhere_is_dropped_and_they_are_told() -> None:
    assert check_answer(INVENTED, OUTPUT, "In which countries did the rate fall most?") == ""
    assert find_invented(INVENTED, OUTPUT, "In which countries?") == ("Chad", "Barbados", "Saint Lucia")


@pytest.mark.parametrize(
    ("outputs", "prompt", "code"),
    [
        (OUTPUT + "\nChad Barbados Saint Lucia", "Where?", ""),
        (OUTPUT, "Is it Chad, Barbados or Lucia?", ""),
        (OUTPUT, "Where?", "df.index = ['chad', 'barbados', 'lucia']"),
    ],
)
def test_names_of_the_output_the_question_or_the_code_may_be_told(outputs: str, prompt: str, code: str) -> None:
    assert check_answer(INVENTED, outputs, prompt, code) == INVENTED


@pytest.mark.parametrize(
    "sentence",
    [
        "In January it was highest, in July lowest.",
        "The Spearman correlation by Pandas is 0.4.",
        "Nearly all. Most fell. There are few.",
        "Es sind die Länder mit der höchsten Rate und dem kleinsten Wert, das ist Afrika.",
        "The DataFrame has NaN in the column TVnews.",
        "The penguins weigh most.",
    ],
)
def test_words_that_are_no_names_of_things_in_the_data_are_none(sentence: str) -> None:
    assert unknown_names(sentence, "tvnews penguin") == ()
