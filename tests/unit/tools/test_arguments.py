"""Arguments of a call, as the sandbox or a person gives them, against the signature."""

from __future__ import annotations

import datetime
import inspect
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.tools.arguments import ArgumentError, bind, call_text, parse_call
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
        ({"place": 3}, "place must be str, not 3"),
        ({"place": "JFK", "days": "2"}, "days must be int, not '2'"),
        ({"place": "JFK", "days": True}, "days must be int, not True"),
        ({"place": "JFK", "since": "soon"}, "since='soon' is not a date"),
        ({"place": ["JFK", "LGA"]}, "place must be str, not ['JFK', 'LGA']"),
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
TIMES = st.dates() | st.datetimes() | st.times() | st.timedeltas()
ZONES = st.timezones() | st.just(datetime.UTC)
TIMES |= st.datetimes(timezones=ZONES)
EXACT = PLAIN | TIMES | st.decimals(allow_nan=False) | st.fractions() | st.uuids() | st.binary(max_size=9)
VALUES = st.recursive(
    EXACT,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(EXACT, inner, max_size=2),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(["b", "c", "d"]), VALUES, max_size=3), VALUES)
def test_a_call_written_as_python_is_the_same_call_when_it_is_read_again(rest: dict[str, Any], a: Any) -> None:
    bound = MORE.signature.bind(a, **rest)
    shown = call_text("more", bound, max_chars=100_000)
    assert shown.in_brief == ()
    assert parse_call(MORE, shown.text).arguments == bound.arguments


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
    "value",
    [
        -float("inf"),
        np.datetime64("2020-01-01T10:00", "ns"),
        np.timedelta64(5, "ns"),
        pd.Timestamp("2020-01-01", tz="Europe/Berlin"),
        pd.Timedelta("2h"),
        [pd.Timestamp("2020-01-01"), None],
    ],
    ids=repr,
)
def test_what_stands_in_a_call_beside_what_a_person_changes_stays_as_it_is(value: Any) -> None:
    shown = call_text("more", MORE.signature.bind(value, b="bob"))
    changed = parse_call(MORE, shown.text.replace("'bob'", "'ada'")).arguments
    assert shown.in_brief == ()
    assert type(changed["a"]) is type(value)
    assert (changed["a"], changed["rest"]) == (value, {"b": "ada"})


def test_a_call_shows_each_value_or_says_which_it_does_not_show_whole() -> None:
    recipients = [*(f"{name}@x.org" for name in "abcdefghijk"), datetime.date(2013, 1, 1)]
    bound = MORE.signature.bind(np.int64(7), b=recipients, c=pd.DataFrame({"a": [1]}), d=Decimal("1.50"))
    shown = call_text("more", bound, max_chars=2000)
    assert shown.text.startswith("more(a=7, b=['a@x.org', 'b@x.org', ")
    assert "'k@x.org', datetime.date(2013, 1, 1)], c=<DataFrame 1x1>, d=Decimal('1.50'))" in shown.text
    assert shown.in_brief == ("c",)


def test_a_long_value_hides_neither_its_end_nor_the_arguments_after_it() -> None:
    bound = MORE.signature.bind("x" * 19_990 + ",evil@example.org", b="pay 1000")
    shown = call_text("more", bound, max_chars=20_000)
    assert "text of 20,007: 'xxx" in shown.text
    assert shown.text.endswith(",evil@example.org'>, b='pay 1000')")
    assert shown.in_brief == ("a",)
    assert len(call_text("more", MORE.signature.bind(1, **{f"k{n}": "y" * 1000 for n in range(9)})).text) < 1000


@pytest.mark.parametrize(
    "name", ["text='fine')\n# ", "\u202eevil", "", "a b", 7, 10**5000, "x" * 200], ids=lambda name: str(type(name))
)
def test_further_arguments_have_names_that_stand_in_a_question_as_they_are(name: Any) -> None:
    with pytest.raises(ArgumentError, match="is not an argument name"):
        bind(MORE, {"a": 1, "rest": {name: 2}})


def test_further_arguments_are_not_without_end() -> None:
    with pytest.raises(ArgumentError, match="at most 100"):
        bind(FORECAST, {"place": "JFK", "tags": ["x"] * 101})
    with pytest.raises(ArgumentError, match="at most 100"):
        bind(MORE, {"a": 1, "rest": {f"k{n}": 1 for n in range(101)}})
    with pytest.raises(ArgumentError):
        bind(MORE, {"a": 1, "rest": "abc"})


def test_annotations_that_stand_for_nothing_check_nothing() -> None:
    def odd(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    tool: Tool = tool_of(odd)
    assert bind(tool, {"a": 3}).arguments == {"a": 3}
    assert isinstance(tool.signature, inspect.Signature)
