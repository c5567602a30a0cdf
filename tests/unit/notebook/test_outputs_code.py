"""`jupyter_codeagent.types.visible_code`: a person sees all of the code that they approve."""

from __future__ import annotations

import pytest

from jupyter_codeagent.notebook.outputs import deceiving_characters, visible_code


@pytest.mark.parametrize(
    "character", ["\b", "\r", "\x1b", "\x9b", "\u202e", "\u2066", "\u2028", "\U000e0041", "\x00"]
)
def test_what_hides_code_is_found_and_shown(character: str) -> None:
    code = f"evil() #{character}print(7)"
    assert deceiving_characters(code) == (f"U+{ord(character):04X}",)
    assert visible_code(code) == f"evil() #<U+{ord(character):04X}>print(7)"


def test_honest_code_is_left_alone() -> None:
    code = "if x:\n\tprint('ä 日本 👩\u200d🔬 ñ')\n"
    assert deceiving_characters(code) == ()
    assert visible_code(code) == code
