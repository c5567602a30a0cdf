"""`sandbox.guest.changes`: a change is told as the code's only if the code has touched what changed."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from jupyter_codeagent.sandbox.guest import changes


@pytest.fixture
def namespace(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A copy of a frame, with its month changed by an earlier cell."""
    monkeypatch.setattr(changes, "_copies", {})

    def copy() -> pd.DataFrame:
        return pd.DataFrame({"month": range(1000), "day": range(1000), "carrier": ["AA"] * 1000})

    frame = copy()
    changes.remember("df", frame, copy)
    frame["month"] = frame["month"] + 1
    [told] = changes.report({"df": frame})
    assert (told["values"], told["earlier"]) == (["'month'"], False)
    return {"df": frame}


def test_a_column_that_an_earlier_cell_changed_is_not_told_as_this_ones_where_another_only_moved(
    namespace: dict[str, Any],
) -> None:
    namespace["df"]["day"] = namespace["df"]["day"].copy()  # equal values at another address
    [told] = changes.report(namespace)
    assert (told["values"], told["earlier"]) == (["'month'"], True)
    [told] = changes.report(namespace)
    assert (told["values"], told["earlier"]) == (["'month'"], True)


def test_a_column_that_is_changed_once_more_is_told_as_this_cells(namespace: dict[str, Any]) -> None:
    namespace["df"]["month"] = namespace["df"]["month"] + 1
    [told] = changes.report(namespace)
    assert (told["values"], told["earlier"]) == (["'month'"], False)


def test_another_column_is_told_as_this_cells(namespace: dict[str, Any]) -> None:
    namespace["df"]["day"] = 0
    [told] = changes.report(namespace)
    assert (told["values"], told["earlier"]) == (["'month'", "'day'"], False)


def test_what_was_told_is_told_again_without_the_time_to_compare(
    namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "COMPARE_S", 0.0)
    namespace["df"]["day"] = namespace["df"]["day"].copy()
    [told] = changes.report(namespace)
    assert (told["values"], told["earlier"]) == (["'month'"], True)
