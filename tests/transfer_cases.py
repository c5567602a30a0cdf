"""Frames of many dtypes, for both directions."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from jupyter_codeagent.sandbox.guest.load import load_variables
from jupyter_codeagent.types.variables import Manifest

STAMPS = pd.date_range("2013-01-01", periods=3, freq="h")

EXACT_BOTH_WAYS: dict[str, Any] = {
    "numbers": pd.DataFrame({"i": [1, 2, 3], "f": [0.5, np.nan, -np.inf], "b": [True, False, True]}),
    "small numbers": pd.DataFrame(
        {"i": np.array([1, 2], "int8"), "u": np.array([1, 2], "u4"), "h": np.ones(2, "f4")}
    ),
    "text": pd.DataFrame({"s": ["ä", None, "日本 🐧"]}),
    "nullable": pd.DataFrame(
        {
            "i": pd.array([1, None, 3], "Int64"),
            "f": pd.array([1.5, None, 3.5], "Float32"),
            "b": pd.array([True, None, False], "boolean"),
            "s": pd.array(["a", None, "c"], "string"),
        }
    ),
    "times": pd.DataFrame({"t": STAMPS, "d": STAMPS - STAMPS[0], "s": STAMPS.astype("datetime64[s]")}),
    "time zones": pd.DataFrame({"ny": STAMPS.tz_localize("America/New_York"), "utc": STAMPS.tz_localize("UTC")}),
    "categories": pd.DataFrame(
        {"c": pd.Categorical(["a", None, "b"], categories=["b", "a", "unused"], ordered=True)}
    ),
    "categories of intervals": pd.DataFrame({"c": pd.cut([1.0, 2.5, 9.0], [0, 1, 2, 3])}),
    "categories of periods": pd.DataFrame({"c": pd.Categorical(pd.period_range("2013", periods=3, freq="M"))}),
    "categories of small numbers": pd.Series(np.array([1, 2], "int8")).astype("category"),
    "categories of days": pd.Series([datetime.date(2013, 1, 1), None]).astype("category"),
    "index of intervals": pd.cut(pd.Series([1, 2, 3]), [0, 1, 2, 3]).value_counts(),
    "periods": pd.DataFrame({"p": pd.PeriodIndex(["2013-01", "NaT", "2013-03"], freq="M")}),
    "intervals": pd.DataFrame({"x": pd.interval_range(0, 3)}),
    "complex": pd.DataFrame({"z": [1 + 2j, 3 - 1j]}),
    "objects": pd.DataFrame(
        {"d": [decimal.Decimal("1.10"), None], "day": [datetime.date(2013, 1, 1), None]}, dtype=object
    ),
    "duplicate column names": pd.DataFrame([[1, 2.5], [3, 4.5]], columns=["a", "a"]),
    "odd column names": pd.DataFrame([[1, 2, 3]], columns=pd.Index([0, None, ("x", 1)], tupleize_cols=False)),
    "column levels": pd.DataFrame(
        np.eye(2), columns=pd.MultiIndex.from_tuples([("a", "mean"), ("a", "sum")], names=["of", None])
    ),
    "named index": pd.DataFrame({"v": [1.0, 2.0]}, index=pd.Index(["x", "y"], name="key")),
    "index levels": pd.DataFrame(
        {"v": [1, 2]}, index=pd.MultiIndex.from_arrays([["a", "b"], [1, 2]], names=["k", "n"])
    ),
    "index of times": pd.DataFrame({"v": range(3)}, index=STAMPS),
    "range index": pd.DataFrame({"v": range(3)}, index=pd.RangeIndex(2, 8, 2, name="r")),
    "no rows": pd.DataFrame({"a": pd.Series(dtype="int64"), "s": pd.Series(dtype="str")}),
    "no columns": pd.DataFrame(index=range(3)),
    "series": pd.Series([1, 2], name="n", index=["a", "b"]),
    "series without a name": pd.Series([1.5]),
    "index": pd.Index([3, 1, 2], name="i"),
}


def assert_equal(left: Any, right: Any) -> None:
    """Same type, dtypes, index and values."""
    if isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right, check_freq=True)
    elif isinstance(left, pd.Series):
        pd.testing.assert_series_equal(left, right)
    else:
        pd.testing.assert_index_equal(left, right)


def loaded(directory: Path, manifest: Manifest) -> dict[str, Any]:
    """What the sandbox makes of the copies in a spool's directory."""
    namespace: dict[str, Any] = {}
    described = [
        {"name": copy.name, "files": copy.files, "buffers": copy.buffers, "head": copy.head}
        for copy in manifest.copied
    ]
    assert load_variables(str(directory), described, namespace) == {}
    return namespace
