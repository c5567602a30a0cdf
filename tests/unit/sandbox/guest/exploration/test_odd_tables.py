"""Tables of any kind are looked at or skipped with a reason; none ends the search."""

from __future__ import annotations

import datetime
import decimal
import json
import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from planted_tables import planted_table

from jupyter_codeagent.sandbox.guest import calls
from jupyter_codeagent.sandbox.guest.exploration import explore as exploration
from jupyter_codeagent.sandbox.guest.exploration.explore import explore


def look_at(table: object, seconds: float = 60) -> dict[str, Any]:
    report = explore({"t": table}, {}, seconds, 100_000)
    json.dumps(report, allow_nan=False)
    return report


ODD: dict[str, object] = {
    "no rows": pd.DataFrame({"x": [], "y": []}),
    "no rows, types": pd.DataFrame({"x": pd.Series([], dtype="int64"), "t": pd.Series([], dtype="datetime64[ns]")}),
    "one row": pd.DataFrame({"x": [1], "g": ["a"], "d": [pd.Timestamp("2020-01-01")]}),
    "two rows": pd.DataFrame({"x": [1, 2], "g": ["a", "b"]}),
    "all missing": pd.DataFrame({"x": [np.nan] * 90, "g": [None] * 90, "d": [pd.NaT] * 90}),
    "infinite": pd.DataFrame({"x": [np.inf, -np.inf, 1.0] * 40, "y": [0.0, np.nan, np.inf] * 40}),
    "constant": pd.DataFrame({"x": [1] * 90, "g": ["a"] * 90, "d": [pd.Timestamp("2020-01-01")] * 90}),
    "mixed": pd.DataFrame({"x": [1, "a", None, 2.5, (1, 2)] * 30, "l": [[1], [2], {}, None, 3] * 30}),
    "decimals": pd.DataFrame({"x": [decimal.Decimal(row) for row in range(100)], "y": range(100)}),
    "dates": pd.DataFrame({"x": [datetime.date(2020, 1, 1 + row % 28) for row in range(100)], "y": range(100)}),
    "nullable": pd.DataFrame(
        {
            "i": pd.array([1, None, 3] * 40, dtype="Int64"),
            "f": pd.array([1.5, None, 3.5] * 40, dtype="Float64"),
            "b": pd.array([True, None, False] * 40, dtype="boolean"),
            "s": pd.array(["a", None, "b"] * 40, dtype="string"),
            "c": pd.Categorical(["a", None, "b"] * 40),
            "n": pd.Categorical([1, 2, 3] * 40),
            "z": pd.array([pd.Timedelta(days=1)] * 120),
            "p": pd.period_range("2020-01", periods=120, freq="M"),
            "v": pd.interval_range(0, 120),
            "j": np.arange(120) * 1j,
        }
    ),
    "zones": pd.DataFrame({"d": pd.date_range("2020-01-01", periods=200, tz="Europe/Berlin"), "x": range(200)}),
    "empty polars": pl.DataFrame(),
    "polars, no rows": pl.DataFrame({"x": [], "y": []}, schema={"x": pl.Int64, "y": pl.String}),
    "polars types": pl.DataFrame(
        {
            "l": [[1], [2]] * 60,
            "s": [{"a": 1}, {"a": 2}] * 60,
            "c": pl.Series(["a", "b"] * 60, dtype=pl.Categorical),
            "e": pl.Series(["a", "b"] * 60, dtype=pl.Enum(["b", "a"])),
            "t": [datetime.time(1), None] * 60,
            "u": [datetime.timedelta(1), None] * 60,
            "d": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC), None] * 60,
            "x": pl.Series([1.5, None] * 60, dtype=pl.Float32),
            "n": [None] * 120,
            "o": [True, None] * 60,
        }
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_no_finder_fails(name: str) -> None:
    report = look_at(ODD[name])
    assert not [one for one in report["skipped"] if "Error" in one["why"]]
    assert len(report["findings"]) < 15


def test_what_is_no_table_is_skipped() -> None:
    for other in (pl.LazyFrame({"x": [1]}), pd.Series([1]), {"x": [1]}, 3):
        assert look_at(other)["skipped"] == [
            {
                "table": "t",
                "why": f"it is of type {type(other).__name__}: convert it to a pandas or polars DataFrame",
            }
        ]


def test_labels_that_cannot_be_named() -> None:
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 4)), columns=["a", "a", 3, "b"])
    report = look_at(frame)
    assert [column["name"] for column in report["tables"][0]["columns"]] == ["b"]
    assert report["skipped"][0]["why"].startswith("3 of 4 columns were not examined")
    several = pd.DataFrame([[1, 2]] * 50, columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert "several levels" in look_at(several)["skipped"][0]["why"]


def test_a_repeated_index_does_no_harm() -> None:
    frame = planted_table("line")
    frame.index = [0] * len(frame)
    assert ["x", "y"] in [one["columns"] for one in look_at(frame)["findings"]]


def test_the_table_stays_as_it_is() -> None:
    frame = planted_table("missing together")
    before = frame.copy(deep=True)
    look_at(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_when_time_is_over_it_says_what_was_left() -> None:
    began = time.monotonic()
    report = look_at(planted_table("line"), seconds=0)
    assert time.monotonic() - began < 2
    assert any("time ran out" in one["why"] for one in report["skipped"])
    assert report["tables"][0]["rows"] == 2000


def test_a_finder_that_fails_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(exploration, "FINDERS", (("oddities", fail), *exploration.FINDERS))
    report = look_at(planted_table("line"))
    assert report["skipped"] == [{"table": "t", "why": "oddities: ZeroDivisionError: by design"}]
    assert ["x", "y"] in [one["columns"] for one in report["findings"]]


def test_at_most_sixty_findings() -> None:
    random = np.random.default_rng(1)
    common = random.normal(size=800)
    frame = pd.DataFrame({f"x{place}": common + random.normal(size=800) for place in range(20)})
    frame["g"] = np.where(common > 0, "high", "low")
    report = look_at(frame)
    assert len(report["findings"]) == 60
    effects = [one["effect"] for one in report["findings"] if one["kind"] == "correlation"]
    assert effects == sorted(effects, reverse=True)
    assert {one["kind"] for one in report["findings"]} >= {"correlation", "group_difference"}


def test_the_call_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    class Shell:
        user_ns = {"t": planted_table("line")}  # noqa: RUF012

    class Kernel:
        shell = Shell()

    monkeypatch.setitem(calls._state, "kernel", Kernel())
    argument = {"names": ["t", "u"], "leave_out": {}, "seconds": 20.0, "max_rows": 1000}
    kind, meta, data = calls.CALLS["explore"](argument)
    assert (kind, data) == ("json", b"")
    report = json.loads(meta)
    assert [one["table"] for one in report["tables"]] == ["t"]
    assert report["skipped"] == [{"table": "u", "why": "it is not defined in the sandbox"}]


def test_many_columns_of_texts_that_mean_numbers_crowd_nothing_out() -> None:
    rng = np.random.default_rng(8)
    tables: dict[str, object] = {}
    for name in "abc":
        texts = {f"t{at}": [f"{value:.2f}" for value in rng.normal(size=300)] for at in range(30)}
        x = rng.normal(size=300)
        tables[name] = pd.DataFrame({"x": x, "y": x + rng.normal(size=300), **texts})
    findings = explore(tables, {}, 60, 10_000)["findings"]

    assert sum(one["kind"] == "text_type" for one in findings) == 90
    assert {one["table"] for one in findings if one["columns"][:2] == ["x", "y"]} == {"a", "b", "c"}
