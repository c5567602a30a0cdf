"""What a model says in words is shown on one line, without what a page or a terminal would act on."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.agent.reply.own_words import MAX_CHARS, one_paragraph


def test_code_links_images_and_html_are_left_out() -> None:
    words = (
        "**Answer:** See [the site](http://evil.example/x) ![p](http://evil.example/p.png) <img src=x onerror=y>"
        "it is <b>42</b>. https://evil.example\n```python\nprint(1)\n```"
    )
    assert one_paragraph(words) == "See the site it is 42 ."


@pytest.mark.parametrize("words", ["\x1bcIt is 42\x1b[A\x1b[K.", "It is \x9bK42.", "It is \u202e42."])
def test_words_hold_nothing_that_a_terminal_obeys(words: str) -> None:
    assert re.fullmatch(r"It is ?42\.", one_paragraph(words).replace("  ", " "))


def test_long_words_end_with_a_sentence() -> None:
    shown = one_paragraph("This is a sentence. " * 40)
    assert len(shown) <= MAX_CHARS
    assert shown.endswith("sentence.")


@given(st.text())
def test_whatever_is_shown_is_short_and_holds_no_markup(words: str) -> None:
    shown = one_paragraph(words)
    assert len(shown) <= MAX_CHARS
    assert "](" not in shown
    assert "```" not in shown


@pytest.mark.parametrize("piece", ["x", "-", " ", "\n", "ab 12\n", "[", "<", "<think>", "```", "http:"])
def test_long_words_are_read_at_once(piece: str) -> None:
    """A pattern that is tried from every place of a long line would keep the run for hours."""
    assert len(one_paragraph(piece * (200_000 // len(piece)))) <= MAX_CHARS
