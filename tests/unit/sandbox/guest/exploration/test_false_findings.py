"""Nothing is found where nothing is: tables of independent columns, in sequence or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from noise_tables import KINDS, noise_table

from jupyter_codeagent.sandbox.guest.exploration.explore import explore

TABLES_OF_A_KIND = 15


def _false_findings(kind: str, seed: int) -> list[Any]:
    report = explore({"t": noise_table(kind, seed)}, {}, 60, 100_000)
    assert report["skipped"] == []
    return [
        (one["kind"], one["columns"])
        for one in report["findings"]
        if one["kind"] not in ("skew", "missing") and one["p_value"] * report["tried"] <= 0.01
    ]


def test_hardly_any_table_of_noise_has_findings() -> None:
    tables = [(kind, seed) for kind in KINDS for seed in range(TABLES_OF_A_KIND)]
    wrong = {table: found for table in tables if (found := _false_findings(*table))}
    assert len(wrong) <= 3, wrong


@pytest.mark.parametrize("kind", ["plain", "skewed", "ties", "dates"])
def test_independent_rows_have_no_findings_at_all(kind: str) -> None:
    assert not any(_false_findings(kind, 100 + seed) for seed in range(5))


def _panel(seed: int, course: str) -> pd.DataFrame:
    """Groups that lie apart and are measured each week: all rise alike, or each wanders on its own."""
    rng = np.random.default_rng(seed)
    weeks, groups = int(rng.choice([12, 24, 60, 120])), int(rng.integers(2, 8))
    noise = rng.normal(0, 1, (weeks, groups))
    values = np.cumsum(noise, axis=0)
    if course == "smoothed walks":
        values = np.apply_along_axis(lambda one: np.convolve(one, np.ones(5) / 5, "same"), 0, values)
    elif course == "alike":
        values = noise + np.linspace(0, 4, weeks)[:, None]
    return pd.DataFrame(
        {
            "day": np.repeat(np.datetime64("2020-01-06") + 7 * np.arange(weeks), groups),
            "g": np.tile(list("abcdefg"[:groups]), weeks),
            "y": (values + rng.normal(0, 3, groups)).ravel(),
        }
    )


@pytest.mark.parametrize("course", ["walks", "smoothed walks", "alike"])
def test_groups_that_wander_or_rise_alike_have_no_trends_of_their_own(course: str) -> None:
    reports = [explore({"t": _panel(seed, course)}, {}, 60, 100_000)["findings"] for seed in range(60)]
    assert sum(any(one["kind"] == "group_trend" for one in findings) for findings in reports) <= 1


def test_a_group_or_a_number_without_dates_ends_no_search() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=200), "g": ["a", "b"] * 100})
    table["y"], table["late"] = rng.normal(size=200), np.where(np.arange(200) < 150, np.nan, 1.5)
    table["sparse"] = np.where(np.arange(200) % 50 < 15, rng.normal(size=200), np.nan)
    table["dated"] = pd.Series(["x", "y"] * 100).where(np.arange(200) < 3)
    assert explore({"t": table}, {}, 60, 100_000)["skipped"] == []
    assert (
        explore({"t": table.assign(day=table["day"].where(table["dated"].isna()))}, {}, 60, 100_000)["skipped"]
        == []
    )


def _two_groups(seed: int, *, slope_of_small: float) -> pd.DataFrame:
    """Two groups, of which the second has a fifth of the range."""
    rng = np.random.default_rng(seed)
    s = np.repeat(["wide", "small"], 200)
    x = np.where(s == "wide", rng.uniform(0, 10, 400), rng.uniform(0, 2, 400))
    y = np.where(s == "wide", 1.0, slope_of_small) * x + rng.normal(0, 1, 400)
    return pd.DataFrame({"x": x, "y": y, "s": s})


@pytest.mark.parametrize(("slope_of_small", "found"), [(1.0, 0), (-1.0, 10)])
def test_a_small_range_alone_makes_no_relation_depend_on_the_group(slope_of_small: float, found: int) -> None:
    tables = [_two_groups(seed, slope_of_small=slope_of_small) for seed in range(10)]
    reports = [explore({"t": table}, {}, 60, 100_000)["findings"] for table in tables]
    assert sum(any(one["kind"] == "interaction" for one in findings) for findings in reports) == found
