"""Arguments of a call, as the sandbox or a person gives them, against the signature."""

from __future__ import annotations

import datetime
import inspect
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.tools.arguments import ArgumentError, bind, brief, call_text, parse_call
from jupyter_codeagent.tools.tool import Tool, tool_of


def forecast(place: str, days: int = 3, since: datetime.date = datetime.date(2013, 1, 1), *tags: str) -> None: ...


FORECAST = tool_of(forecast)


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({"place": "JFK"}, {"place": "JFK"}),
        ({"place": "JFK", "days": np.int64(2)}, {"place": "JFK", "days": 2}),
        ({"place": "JFK", "since": "2013-02-01"}, {"place": "JFK", "since": datetime.date(2013, 2, 1)}),
        ({"place": np.str_("JFK")}, {"place": "JFK"}),
    ],
)
def test_only_what_can_be_meant_is_converted(given: dict[str, Any], bound: dict[str, Any]) -> None:
    found = bind(FORECAST, given).arguments
    assert dict(found) == bound
    assert [type(value) for value in found.values()] == [type(value) for value in bound.values()]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "missing a required argument: 'place'"),
        ({"place": "JFK", "day": 3}, "unexpected argument 'day'"),
        ({"place": 3}, "place is to be str, not 3"),
        ({"place": "JFK", "days": "2"}, "days is to be int, not '2'"),
        ({"place": "JFK", "days": True}, "days is to be int, not True"),
        ({"place": "JFK", "since": "soon"}, "since='soon' is no date"),
        ({"place": ["JFK", "LGA"]}, "place is to be str, not ['JFK', 'LGA']"),
    ],
)
def test_what_is_no_call_of_the_function_is_refused_with_what_was_wrong(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ArgumentError) as raised:
        bind(FORECAST, given)
    assert why in str(raised.value)


def test_lists_of_further_arguments_come_through() -> None:
    bound = bind(FORECAST, {"place": "JFK", "days": 1, "since": "2013-01-02", "tags": ("a", "b")})
    assert bound.args == ("JFK", 1, datetime.date(2013, 1, 2), "a", "b")


def more(a: Any, **rest: Any) -> None: ...


MORE = tool_of(more)
PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False)


@given(st.dictionaries(st.sampled_from(["b", "c", "d"]), PLAIN | st.lists(PLAIN, max_size=3), max_size=3), PLAIN)
def test_a_call_written_as_python_is_the_same_call_when_it_is_read_again(rest: dict[str, Any], a: Any) -> None:
    bound = MORE.signature.bind(a, **rest)
    text = call_text("more", bound, max_chars=10_000, max_value_chars=10_000)
    if "<" not in text:  # infinity has no literal
        assert parse_call(MORE, text).arguments == bound.arguments


@pytest.mark.parametrize(
    "text",
    [
        "forecast(open('x'))",
        "forecast(__import__('os').environ)",
        "other('JFK')",
        "forecast.now('JFK')",
        "forecast('JFK'); forecast('LGA')",
        "forecast(place)",
        "forecast(*['JFK'])",
        "forecast(**{'place': 'JFK'})",
        "forecast('JFK', days=)",
        "",
        "(" * 500,
    ],
)
def test_a_changed_call_with_anything_but_plain_values_is_refused_and_nothing_of_it_runs(text: str) -> None:
    with pytest.raises(ArgumentError):
        parse_call(FORECAST, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pd.DataFrame({"a": [1, 2]}), "DataFrame 2x1"),
        (np.zeros(3), "ndarray 3"),
        ([1, 2], "[1, 2]"),
        (list(range(50)), "list of 50"),
        ({"a": 1}, "{'a': 1}"),
        ("x" * 500, "'" + "x" * 118 + "…"),
        (None, "None"),
        (object(), "object"),
    ],
)
def test_a_value_is_recorded_in_brief(value: object, text: str) -> None:
    assert brief(value) == text


def test_an_argument_that_is_no_literal_is_named_by_its_kind_and_a_long_call_is_cut() -> None:
    bound = MORE.signature.bind(pd.DataFrame({"a": [1]}), b="x" * 1000)
    assert call_text("more", bound) == "more(a=<DataFrame 1x1>, b=<'" + "x" * 118 + "…>)"
    assert len(call_text("more", MORE.signature.bind(1, **{f"k{n}": "y" * 100 for n in range(30)}))) == 500


def test_annotations_that_stand_for_nothing_check_nothing() -> None:
    def odd(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    tool: Tool = tool_of(odd)
    assert bind(tool, {"a": 3}).arguments == {"a": 3}
    assert isinstance(tool.signature, inspect.Signature)
