"""What the agent gets of the user's namespace."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import polars as pl
import pytest

from jupyter_codeagent.variables.user_namespace import UserNamespace


def live(names: dict[str, Any]) -> UserNamespace:
    return UserNamespace(cast("Any", SimpleNamespace(user_ns=names, user_ns_hidden={})))


def test_a_hidden_value_of_any_kind_is_hidden_under_its_other_names_too() -> None:
    rows = [{"secret": 1}]
    kernel = live({"rows": rows, "same": rows, "equal": [{"secret": 1}]})
    assert set(kernel.variables({"rows": "hidden"}, {}).values) == {"equal"}
    assert kernel.aliases("rows") == ("rows", "same")


def test_small_values_that_are_one_object_by_chance_are_not_hidden_together() -> None:
    kernel = live({"a": 1, "b": 1, "c": "x", "d": "x", "e": None, "f": None})
    assert set(kernel.variables({"a": "hidden", "c": "hidden", "e": "hidden"}, {}).values) == {"b", "d", "f"}


def test_a_hidden_frame_stays_hidden_under_another_name_when_its_own_has_moved_on() -> None:
    names: dict[str, Any] = {"df": pd.DataFrame({"n": [1, 2]})}
    kernel = live(names)
    kernel.variables({"df": "hidden"}, {})
    names["raw"] = names["df"]
    names["df"] = names["df"].dropna()
    assert not kernel.variables({"df": "hidden"}, {}).values
    assert set(kernel.variables({}, {}).values) == {"df", "raw"}  # and is shown again when nothing hides it


def test_hidden_columns_stay_hidden_under_another_name_when_the_frame_s_own_has_moved_on() -> None:
    names: dict[str, Any] = {"df": pd.DataFrame({"n": [1], "salary": [2]})}
    kernel = live(names)
    lists = {"df": frozenset({"salary"})}
    kernel.variables({}, lists)
    names["raw"] = names["df"]
    names["df"] = pd.DataFrame({"n": [1]})
    assert list(kernel.variables({}, lists).values["raw"].columns) == ["n"]


def test_a_hidden_value_is_not_kept_alive_and_its_address_is_not_taken_for_another_s() -> None:
    names: dict[str, Any] = {"df": pd.DataFrame({"n": [1]})}
    kernel = live(names)
    kernel.variables({"df": "hidden"}, {})
    gone = weakref.ref(names.pop("df"))
    gc.collect()
    assert gone() is None
    names.update({f"other{n}": pd.DataFrame({"n": [n]}) for n in range(20)})
    assert len(kernel.variables({"df": "hidden"}, {}).values) == 20


@pytest.mark.parametrize("holder", [lambda df: {"a": df}, lambda df: [1, df], lambda df: (df,)])
@pytest.mark.parametrize("hides", [({"df": "hidden"}, {}), ({}, {"df": frozenset({"n"})})])
def test_what_holds_a_hidden_frame_is_hidden_as_a_whole_with_the_reason(
    holder: Callable[[Any], Any], hides: tuple[dict[str, str], dict[str, frozenset[str]]]
) -> None:
    df = pd.DataFrame({"n": [1], "m": [2]})
    found = live({"df": df, "box": holder(df), "free": [1, 2]}).variables(*hides)
    assert "box" not in found.values
    assert "free" in found.values
    assert "holds a variable" in found.withheld["box"]


@pytest.mark.parametrize(
    "make",
    [
        lambda people: people.lazy().with_columns(pl.col("n").map_batches(lambda n: n)),
        lambda people: pl.LazyFrame({"a": [1, 2]}).with_columns(pl.lit(people["wage"]).alias("m")),
        lambda people: pl.LazyFrame({"a": [1, 2]}).filter(pl.col("a").is_in(people["wage"])),
        lambda people: pl.lit(people["wage"]),
        lambda people: pl.when(pl.col("a") > 1).then(pl.lit(people["wage"])),
    ],
)
def test_a_plan_that_holds_a_hidden_column_is_neither_copied_nor_queried(make: Callable[[Any], Any]) -> None:
    people = pl.DataFrame({"n": [1, 2], "wage": [71234, 71235]})
    found = live({"people": people, "plan": make(people)}).variables({}, {"people": frozenset({"wage"})})
    plan = found.values["plan"]
    assert "of 'wage', which is hidden in 'people'" in found.hidden.refusal(plan, plan)
    assert "of 'wage', which is hidden in 'people'" in found.reason_not_to_query("plan")


def test_a_plan_of_other_columns_is_shared_while_one_is_hidden() -> None:
    people = pl.DataFrame({"n": [1, 2], "wage": [71234, 71235]})
    plan = people.select("n").lazy().filter(pl.col("n").is_in([1]) & pl.col("n").is_in(people["n"]))
    found = live({"people": people, "plan": plan}).variables({}, {"people": frozenset({"wage"})})
    assert found.reason_not_to_query("plan") == ""


def test_a_very_wide_variable_does_not_hide_the_columns_of_those_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jupyter_codeagent.variables.user_namespace.MAX_LISTED_TOGETHER", 10)
    wide = {f"wide {at}": at for at in range(50)}
    kernel = live({"wide": wide, "wider": dict(wide), "small": {"a": 1, "b": 2}, "empty": {}})
    listed = kernel.columns(["wide", "absent", "wider", "small", "empty"])
    assert [column.label for column in listed["small"]] == ["a", "b"]
    assert {name: len(found) for name, found in listed.items()} == {"wide": 4, "wider": 4, "small": 2}
