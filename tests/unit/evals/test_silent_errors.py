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
FURTHER_KINDS = {
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
}
WITH_FURTHER_KINDS = "development_7"
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


@pytest.mark.parametrize("batch", [batch for batch in PAIRS if batch != WITH_FURTHER_KINDS])
def test_each_batch_has_five_pairs_of_each_kind(batch: str) -> None:
    assert Counter(pair["kind"] for pair in PAIRS[batch]) == dict.fromkeys(KINDS, 5)


def test_one_batch_has_pairs_of_further_kinds_too() -> None:
    kinds = Counter(pair["kind"] for pair in PAIRS[WITH_FURTHER_KINDS])
    assert kinds == dict.fromkeys(KINDS, 3) | FURTHER_KINDS


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
