"""`{{expression}}` in prompts; all other text is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.entrypoints.interpolate import fill, find_expressions
from jupyter_codeagent.types.errors import UsageError


def test_each_expression_is_found_once_in_order() -> None:
    assert find_expressions("Top {{n}} of {{ names[0] }}, again {{n}}") == ("n", "names[0]")


def test_expressions_are_replaced_by_their_values() -> None:
    assert fill("Top {{n}} of {{ names[0] }}!", {"n": "5", "names[0]": "carrier"}) == "Top 5 of carrier!"


def test_an_expression_may_end_with_braces_of_its_own() -> None:
    assert find_expressions("{{ {'a': {'b': 1}} }} and {{{1, 2}}}") == ("{'a': {'b': 1}}", "{1, 2}")


def test_values_are_not_read_again() -> None:
    assert fill("{{a}}", {"a": "{{b}}"}) == "{{b}}"


@pytest.mark.parametrize(
    "text",
    [
        "{single} 100% {'a': {'b': 1}} \"quoted\" %s {0}",
        "f-strings use {{}} and {{ }}",
        "a {{ that is never closed",
        "on {{two\nlines}}",
        "über 5 € – 数 🎉",
        "\\n \\d {\\}",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert find_expressions(text) == ()
    assert fill(text, {}) == text


def test_a_backslash_makes_double_braces_literal() -> None:
    assert fill(r"write \{{ n }} and {{n}}", {"n": "5"}) == "write {{ n }} and 5"


def test_a_bad_expression_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"\{\{not an expression\}\} in the prompt is not a Python expression"):
        find_expressions("show {{not an expression}}")


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("{{n}}", {})


@given(st.text().filter(lambda text: "{{" not in text))
def test_a_prompt_without_double_braces_is_never_changed(prompt: str) -> None:
    assert fill(prompt, {}) == prompt
