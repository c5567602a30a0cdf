"""Nothing is found where nothing is: tables of independent columns, in sequence or not."""

from __future__ import annotations

from typing import Any

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
