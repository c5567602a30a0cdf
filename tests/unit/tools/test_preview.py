"""Values as text: all of them or in brief, and never at the cost of what they stand for."""

from __future__ import annotations

import datetime
import json
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from jupyter_codeagent.sandbox.data.unpack import unpack
from jupyter_codeagent.tools.preview import brief, written
from jupyter_codeagent.types.errors import RejectedDataError
from jupyter_codeagent.types.sandbox import PackedValue


class Odd:
    @property
    def shape(self) -> Any:
        raise OSError("gone")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (pd.DataFrame({"a": [1, 2]}), "DataFrame 2x1"),
        (np.zeros(3), "ndarray 3"),
        ([1, 2], "[1, 2]"),
        ((1,), "(1,)"),
        (set(), "set()"),
        ({"a": {1}}, "{'a': {1}}"),
        (frozenset({1}), "frozenset([1])"),
        (list(range(50)), "list of 50"),
        (np.float64(1.5), "1.5"),
        ([np.int64(3), Decimal("2.50")], "[3, Decimal('2.50')]"),
        (datetime.date(2013, 1, 2), "datetime.date(2013, 1, 2)"),
        (pd.Timestamp("2013-01-02"), "Timestamp('2013-01-02 00:00:00')"),
        (b"ab", "b'ab'"),
        (b"x" * 500, "bytes of 500"),
        (10**5000, "int of 16,610 bits"),
        (Fraction(10**5000, 3), "Fraction"),
        ("a\u202eb", "'a\\u202eb'"),
        (None, "None"),
        (object(), "object"),
        (Odd(), "Odd"),
        ("x" * 500, "text of 500: '" + "x" * 60 + "' … '" + "x" * 30 + "'"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_recorded_in_brief(value: object, text: str) -> None:
    assert brief(value) == text


def test_small_values_with_an_endless_text_cost_nothing() -> None:
    row: list[Any] = ["x" * 1000] * 1000
    endless: list[Any] = [row] * 1000
    for _ in range(30):
        endless = [endless, endless]
    itself: list[Any] = []
    itself.append(itself)
    started = time.monotonic()
    for value in (endless, {"a": endless}, itself, "x" * 10**8, [10**10_000] * 10**6):
        found = written(value, 20_000)
        assert not found.is_whole
        assert len(found.text) < 25_000
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("count", [-(2**63) + 1, -(10**18), -62135596801, 0, 253402300800, 2**63 - 1])
@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_a_moment_outside_of_pythons_years_is_told_in_brief_and_raises_nothing(
    unit: Any, count: int, zone: str | None
) -> None:
    """pandas raises NotImplementedError for the text of some: it ended the run in which one was an argument."""
    text = json.dumps({"pandas.Timestamp": [count, unit, zone]})
    try:
        value, _ = unpack(PackedValue(kind="json", meta_json=text, data=b""), max_bytes=1000)
    except RejectedDataError:
        return
    found = written(value)
    assert found.text == "<Timestamp>" or (found.is_whole and found.text.startswith("Timestamp("))
