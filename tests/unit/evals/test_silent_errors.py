"""Programs with planted silent errors run without a warning, and their right twins end with other results."""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import evals
from evals.worker import execute

FOLDER = Path(evals.__file__).parent / "silent_errors"
KINDS = (
    "multiplied-join",
    "lost-keys",
    "missing-group-key",
    "numbers-as-text",
    "dates-parsed-wrongly",
    "wrong-level",
    "sample-for-all",
    "duplicate-rows",
    "filter-leaves-nothing",
    "mixed-units",
)
FURTHER_KINDS: dict[str, dict[str, int]] = {
    "development_7": {
        **dict.fromkeys(KINDS, 3),
        "missing-codes": 3,
        "order-dependent": 3,
        "off-by-one": 3,
        "missing-in-condition": 3,
        "wrong-denominator": 3,
        "gaps-not-filled": 3,
        "time-zone": 2,
        "loose-text-match": 2,
        "spelling-variants": 2,
        "change-not-kept": 2,
        "misaligned-rows": 2,
        "void-rows-counted": 2,
    },
    "held_back_3": {
        "condition-misapplied": 4,
        "filter-timing": 4,
        "group-border": 4,
        "missing-periods": 4,
        "non-counting-rows": 4,
        "wrong-denominator": 4,
        "wrong-thing-counted": 4,
        "boundary": 3,
        "discarded-result": 3,
        "misaligned-values": 3,
        "pattern-overmatch": 3,
        "row-order": 3,
        "time-zone": 3,
        "unweighted-mean": 3,
        "wrong-column": 3,
        "wrong-direction": 3,
    },
}
"""Batches that have other kinds, and how many pairs of each."""
PAIRS: dict[str, list[dict[str, Any]]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))
}
FIELDS = {"name", "kind", "question", "setup", "frames", "wrong", "right", "why"}


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, id=f"{batch}-{number}")  # no name: a failure tells little of the batch that is held back
        for batch, pairs in PAIRS.items()
        for number, pair in enumerate(pairs)
    ],
)
def test_the_wrong_program_and_its_right_twin_run_to_different_results(pair: dict[str, Any]) -> None:
    assert pair.keys() == FIELDS
    wrong, right = shown(pair, "wrong"), shown(pair, "right")
    assert wrong.strip()
    assert right.strip()
    assert wrong != right


def test_the_batches_are_found() -> None:
    assert {"development", "held_back"} <= PAIRS.keys()


@pytest.mark.parametrize("batch", PAIRS)
def test_each_batch_has_five_pairs_of_each_kind_or_those_that_are_listed(batch: str) -> None:
    kinds = Counter(pair["kind"] for pair in PAIRS[batch])
    assert kinds == FURTHER_KINDS.get(batch, dict.fromkeys(KINDS, 5))


def test_no_name_and_no_question_comes_twice() -> None:
    pairs = [pair for batch in PAIRS.values() for pair in batch]
    assert len({pair["name"] for pair in pairs}) == len(pairs)
    assert len({pair["question"] for pair in pairs}) == len(pairs)


def shown(pair: dict[str, Any], program: str) -> str:
    namespace: dict[str, Any] = {}
    execute("\n".join(pair["setup"]), namespace)
    for frame in pair["frames"]:
        assert type(namespace[frame]).__name__ == "DataFrame"
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        execute("\n".join(pair[program]), namespace)
    return output.getvalue()
