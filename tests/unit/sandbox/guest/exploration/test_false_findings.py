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
