"""Several code blocks in a reply: one program where they belong together, and what is left out is said."""

from __future__ import annotations

import pytest

from jupyter_codeagent.agent.reply.extract import Extraction, extract_code


def reply(*parts: str) -> Extraction:
    """Of sentences and, where a line holds ``=`` or brackets, of code."""
    return extract_code("\n".join(f"```python\n{part}\n```" if set(part) & set("=(") else part for part in parts))


LATE, COUNT = "late = df[df['delay'] > 60]", "print(late['sex'].value_counts())"
SHORTER = "print(df.query('delay > 60')['sex'].value_counts())"


def test_blocks_that_belong_together_are_one_program_and_the_note_says_so() -> None:
    found = reply("First the filter.", LATE, "Then the count.", COUNT)
    assert found.code == f"{LATE}\n\n{COUNT}"
    assert found.notes == ("the program is joined from blocks 1 and 2 of the reply",)


def test_one_block_is_the_program_without_a_note() -> None:
    assert (reply("I count.", COUNT).code, reply("I count.", COUNT).notes) == (COUNT, ())


def test_a_sentence_in_the_block_that_was_begun_for_the_model_is_no_block_that_was_left_out() -> None:
    found = extract_code(f"```python\nHere is the code.\n```python\n{COUNT}\n```")
    assert (found.code, found.notes) == (COUNT, ())
    broken = extract_code(f"```python\nx = (1\n```\n```python\n{COUNT}\n```")
    assert broken.notes == ("left out of the reply: block 1 (no Python)",)


@pytest.mark.parametrize("words", ["Alternatively, in one line:", "Or, shorter:", "Option 2:"])
def test_an_alternative_is_left_out_and_the_note_says_so(words: str) -> None:
    found = reply(LATE, COUNT, words, SHORTER)
    assert found.code == f"{LATE}\n\n{COUNT}"
    assert "left out of the reply: block 3 (an alternative)" in found.notes


def test_what_needs_a_block_that_is_left_out_is_left_out_with_it() -> None:
    found = reply(COUNT, "Alternatively:", "rows = df.query('delay > 60')", "And shown:", "print(rows)")
    assert found.code == COUNT
    assert found.notes == (
        "left out of the reply: block 2 (an alternative), block 3 (needs rows, which a block left out makes)",
    )


def test_what_follows_a_made_up_output_is_left_out_unless_it_goes_on_from_the_program() -> None:
    made_up = reply(LATE, "Output:", "print(42)")
    assert (made_up.code, made_up.notes) == (
        LATE,
        ("left out of the reply: block 2 (behind an output that the model made up)",),
    )
    assert reply(LATE, "Output:", COUNT).code == f"{LATE}\n\n{COUNT}"


def test_another_language_is_left_out_and_the_note_names_it() -> None:
    found = extract_code(f"```bash\npip install x\n```\n```python\n{COUNT}\n```")
    assert (found.code, found.notes) == (COUNT, ("left out of the reply: block 1 (bash)",))


def test_the_whole_program_once_more_takes_the_place_of_its_parts() -> None:
    assert reply(LATE, COUNT, "All together:", f"{LATE}\n{COUNT}").code == f"{LATE}\n{COUNT}"


def test_a_value_at_the_end_of_an_earlier_block_is_still_shown() -> None:
    assert reply("df.describe()", "Then:", COUNT).code == f"display(df.describe())\n\n{COUNT}"


def test_an_alternative_at_which_the_reply_was_closed_is_said_to_be_left_out() -> None:
    found = reply(COUNT, "Alternatively")
    assert (found.code, found.notes) == (COUNT, ("left out of the reply: the alternative at its end",))
