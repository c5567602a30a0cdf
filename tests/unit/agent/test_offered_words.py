"""Words to choose from are found in the prompt, and missed where the output has none of them."""

from __future__ import annotations

import time

import pytest
from rule_calls import issue_of

from jupyter_codeagent.agent.prompt.offered_words import missing_word_advice, words_offered
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ('Say either "yes" or "no".', ("yes", "no")),
        ("The trend can be 'rising', 'falling', or 'flat'.", ("rising", "falling", "flat")),
        ('"kind" is a text that could either be "linear" or "none".', ("linear", "none")),
        ('It takes the value "high" if x is above 3, and "low" if it is not.', ("high", "low")),
        ("Mean of x. It must be one of “a lot” and “little”", ("a lot", "little")),
        ('Columns "a" and "b" as a table', ()),
        ('The result should be "total".', ()),
        ('It can be "a" "b".', ()),
        ('It can be long. Show "a" or "b".', ()),
        ('It can be 3 or "x" is "y" or 4', ()),
        ('The status column can be "open" or "closed". How many orders are there?', ()),
        ('Rows must be "paid" or "shipped" to be counted.', ()),
        ('Column sex takes values "male" and "female". What is the mean age?', ()),
        ("", ()),
    ],
)
def test_words_to_choose_from_are_found(prompt: str, words: tuple[str, ...]) -> None:
    assert words_offered(prompt) == words


def test_an_output_with_none_of_the_words_goes_back_with_them() -> None:
    prompt = "Is the age skewed? The answer can be 'to the left', 'to the right' or 'no'."
    printed = StreamOutput(output_type="stream", name="stdout", text="skewness: -0.53\n")
    told = issue_of(ExecutionResult(status="ok", outputs=(printed,)), "print(x)", prompt)
    assert told.startswith(
        'The answer has to be one of "to the left", "to the right", "no"; none of them was shown.'
    )
    assert missing_word_advice(prompt, "Skewed: To the left") == ""
    assert missing_word_advice("Say either 'yes' or 'no'.", "is_normal: False") != ""
    assert missing_word_advice("Say either 'yes' or 'no'.", "@is_normal[No]") == ""
    assert missing_word_advice("Is the age skewed?", "skewness: -0.53") == ""


def test_a_prompt_of_any_length_takes_no_time() -> None:
    started = time.monotonic()
    for prompt in ("either " * 50_000, "either '" * 30_000, 'can be "ab" or ' * 20_000, "can " * 50_000):
        words_offered(prompt)
    assert time.monotonic() - started < 5
