"""What a page is told of the variables: in the order of the prompt, capped, hidden ones always among them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

from jupyter_codeagent.frontend.state import (
    MAX_COLUMNS,
    MAX_VARIABLES,
    LookAtVariables,
    columns_message,
    context_view,
)
from jupyter_codeagent.types.tagged_text import TaggedText
from jupyter_codeagent.types.variables import VariableSummary
from jupyter_codeagent.variables.describe import describe
from jupyter_codeagent.variables.privacy.column_lists import Column
from jupyter_codeagent.variables.render import RenderedVariable, RenderedVariables
from jupyter_codeagent.variables.user_namespace import UserNamespace


class ShellDouble:
    """A namespace."""

    def __init__(self, **names: Any) -> None:
        self.user_ns = {"_": 1, "In": [], **names}
        self.user_ns_hidden = {"In": self.user_ns["In"]}

    def ev(self, expr: str) -> Any:
        raise NotImplementedError

    def run_cell(self, raw_cell: str, store_history: bool = False) -> Any:
        raise NotImplementedError


def live(**names: Any) -> UserNamespace:
    return UserNamespace(ShellDouble(**names))


def look(columns: Mapping[str, tuple[Column, ...]], *, count: int = 1, dropped: int = 0) -> LookAtVariables:
    names = [f"v{at}" for at in range(count)]
    told = tuple(RenderedVariable(name=name, text=f"{name}: int", tokens=2) for name in names[: count - dropped])
    return LookAtVariables(
        context=RenderedVariables(
            tagged=TaggedText("text"), variables=told, dropped=tuple(names[count - dropped :])
        ),
        summaries=tuple(VariableSummary(name=name, type_name="int", headline=f"{name}: int") for name in names),
        columns=columns,
        tokens=2 * count,
        budget_tokens=600,
    )


def test_each_variable_has_the_words_and_tokens_that_the_model_gets() -> None:
    view = context_view(look({}, count=3, dropped=1), {}, {}, [])
    assert [(v["name"], v["told"], v["tokens"]) for v in view["variables"]] == [
        ("v0", "v0: int", 2),
        ("v1", "v1: int", 2),
        ("v2", "", 0),
    ]
    assert (view["text"], view["tokens"], view["budget_tokens"], view["privacy"]) == ("text", 6, 600, "stats")


def test_a_variable_that_was_hidden_after_the_look_is_not_shown_as_told() -> None:
    view = context_view(look({}), {"v0": "hidden"}, {}, [])
    assert (view["variables"][0]["told"], view["variables"][0]["shared"]) == ("", "hidden")


def test_of_thousands_the_first_are_listed_and_all_that_have_something_hidden() -> None:
    seen = look({}, count=10_000, dropped=9_000)
    view = context_view(seen, {"gone": "hidden"}, {"v9999": frozenset(["x"])}, [])
    assert len(view["variables"]) == MAX_VARIABLES + 1
    assert view["variables"][-1]["name"] == "v9999"
    assert view["variable_count"] == 10_000
    assert view["sharing"] == {"shared": {"gone": "hidden"}, "hidden_columns": {"v9999": ["x"]}}
    assert len(json.dumps(view)) < 150_000


def test_of_many_columns_the_first_are_listed_and_all_that_are_hidden() -> None:
    wide = {f"v{at}": tuple(Column(label=f"c{c}", dtype="float64") for c in range(1000)) for at in range(50)}
    hidden = {"v0": frozenset(["c999", "gone"]), "v49": frozenset(["c500"])}
    view = context_view(look(wide, count=50), {}, hidden, [])
    first = view["variables"][0]
    assert [c["name"] for c in first["columns"]][:2] == ["c999", "c0"]
    assert first["columns"][-1] == {"name": "gone", "dtype": "", "hidden": True}
    assert (len(first["columns"]), first["column_count"], first["hidden_count"]) == (MAX_COLUMNS + 1, 1000, 2)
    assert [c["name"] for c in view["variables"][49]["columns"]] == ["c500"]
    assert len(json.dumps(view)) < 150_000


def test_a_search_finds_columns_that_are_not_listed() -> None:
    wide = {"v0": tuple(Column(label=f"Col {c}", dtype="str") for c in range(1000))}
    message = columns_message(look(wide), {"v0": frozenset(["Col 999"])}, "v0", "col 99")
    assert [c["name"] for c in message["columns"]] == ["Col 99", *(f"Col {c}" for c in range(990, 1000))]
    assert [c["hidden"] for c in message["columns"]] == [False] * 10 + [True]
    assert columns_message(look(wide), {}, "v0", "")["column_count"] == 1000
    assert columns_message(look(wide), {}, "nosuch", "")["columns"] == []


def test_a_frame_is_narrowed_under_all_its_names_and_the_users_is_not() -> None:
    df = pd.DataFrame({"a": [1], "b": [2]})
    kernel = live(df=df, other=df, copy=df.copy(), _private=df)
    seen = kernel.variables({}, {"df": frozenset("b")}).values
    assert {name: list(frame) for name, frame in seen.items()} == {"df": ["a"], "other": ["a"], "copy": ["a", "b"]}
    assert list(df) == ["a", "b"]
    assert kernel.aliases("other") == ("other", "df")


def test_a_hidden_frame_is_hidden_under_all_its_names_but_equal_numbers_are_not() -> None:
    df = pd.DataFrame({"a": [1]})
    seen = live(df=df, other=df, n=7, m=7).variables({"df": "hidden", "n": "hidden"}, {}).values
    assert list(seen) == ["m"]


def test_what_cannot_be_narrowed_is_withheld_with_the_reason() -> None:
    seen = live(df=7).variables({}, {"df": frozenset("b")})
    assert seen.values == {}
    assert seen.withheld == {"df": "columns of int values cannot be left out"}


@pytest.mark.parametrize("privacy", ["schema", "stats", "samples"])
def test_a_hidden_column_is_in_no_description(privacy: Any) -> None:
    df = pd.DataFrame({"a": [1, 2], "canary_name": ["canary value", "x"]})
    seen = live(df=df).variables({}, {"df": frozenset(["canary_name"])}).values
    assert "canary" not in repr(describe(seen, privacy=privacy, mentioned="canary_name"))
    assert "canary" in repr(describe({"df": df}, privacy=privacy, mentioned=""))
