"""What the agent sees of the user's kernel."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from jupyter_codeagent.live import LiveKernel


def live(**names: Any) -> LiveKernel:
    return LiveKernel(cast("Any", SimpleNamespace(user_ns=names, user_ns_hidden={})))


def test_a_hidden_value_of_any_kind_is_hidden_under_its_other_names_too() -> None:
    rows = [{"secret": 1}]
    kernel = live(rows=rows, same=rows, equal=[{"secret": 1}])
    assert set(kernel.variables({"rows": "hidden"}, {}).values) == {"equal"}
    assert kernel.names_of_same("rows") == ("rows", "same")


def test_small_values_that_are_one_object_by_chance_are_not_hidden_together() -> None:
    kernel = live(a=1, b=1, c="x", d="x", e=None, f=None)
    assert set(kernel.variables({"a": "hidden", "c": "hidden", "e": "hidden"}, {}).values) == {"b", "d", "f"}
