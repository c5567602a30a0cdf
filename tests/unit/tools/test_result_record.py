"""Results of calls in the record: exact again, small, and nothing that looks private."""

from __future__ import annotations

import base64
import datetime
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from transfer_equality import assert_same

from jupyter_codeagent.tools.result_record import MAX_BYTES, recorded, restored
from jupyter_codeagent.types.errors import RejectedDataError

EXACT = {
    "none": None,
    "number": 0.1 + 0.2,
    "large": 2**80,
    "text": "Zürich " * 500,
    "nested": [1, {"day": datetime.date(2013, 1, 1), "at": (1, {2})}],
    "array": np.arange(12).reshape(3, 4),
    "frame": pd.DataFrame({"carrier": ["AA", None], "n": pd.array([1, None], dtype="Int64")}, index=[3, 7]),
    "times": pd.DataFrame({"at": pd.date_range("2013", periods=3, tz="Europe/Berlin")}),
    "series": pd.Series([1.5, None], name="delay"),
    "categories": pd.Series(pd.Categorical(["a", "b"], categories=["b", "a"], ordered=True)),
    "polars": pl.DataFrame({"a": [[1], []], "b": ["x", None]}),
}


@pytest.mark.parametrize("name", EXACT)
def test_a_recorded_result_is_the_same_again(name: str) -> None:
    kept = recorded(EXACT[name])
    assert kept is not None
    assert_same(restored(kept), EXACT[name])


class Odd(list[int]):
    def __iter__(self) -> Any:
        raise OSError("gone")


@pytest.mark.parametrize(
    "value",
    [
        {"password": "abc"},
        "password=hunter22secret",
        ["ada@example.org"],
        pd.DataFrame({"contact": ["ada@example.org"]}),
        pd.DataFrame({"street": ["Main St 1"]}),
        pd.Series([1], index=pd.Index(["Main St 1"], name="street")),
        pl.DataFrame({"api_key": ["x"]}),
        np.array(["ada@example.org"]),
        np.zeros(MAX_BYTES),
        "x" * (MAX_BYTES + 1),
        {"inside": pd.DataFrame({"a": [1]})},
        pd.DataFrame({"a": [object()]}),
        pd.DataFrame({"day": np.array(["30000-01-01"], dtype="datetime64[s]")}),
        object(),
        Odd([1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_large_or_private_or_no_exact_data_is_not_recorded(value: Any) -> None:
    assert recorded(value) is None


def test_nothing_is_recorded_where_the_run_has_no_room_left() -> None:
    assert recorded("x" * 100, max_chars=100) is None
    assert recorded("x" * 98, max_chars=100) is not None


def test_a_damaged_record_is_refused_and_never_inflated_without_limit() -> None:
    kept = recorded(np.arange(10))
    assert kept is not None
    bomb = base64.b64encode(zlib.compress(b"x" * (100 * MAX_BYTES))).decode("ascii")
    for data in ("%", kept.data[:-8], bomb, base64.b64encode(b"no zlib").decode("ascii")):
        with pytest.raises(RejectedDataError):
            restored(replace(kept, data=data))
