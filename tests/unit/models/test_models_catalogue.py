"""`models.published`: the catalogue is complete and true to itself, and names lead to its entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jupyter_codeagent.models.embedded.catalogue import (
    DEFAULT_MODEL,
    PublishedWeights,
    catalogue,
    fetch_command,
    model_name,
    published_weights,
    uses_own_file,
)
from jupyter_codeagent.models.embedded.scores import measured_scores
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.embedded import is_embedded
from jupyter_codeagent.types.errors import UsageError

DOCS = Path(__file__).parents[3] / "docs" / "models.md"


@pytest.mark.parametrize("weights", catalogue().values(), ids=list(catalogue()))
def test_an_entry_names_one_file_that_cannot_be_mistaken(weights: PublishedWeights) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", weights.sha256)
    assert re.fullmatch(r"[0-9a-f]{40}", weights.revision)
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", weights.repository)
    assert weights.file.lower().startswith(weights.model.removesuffix("-instruct"))
    assert weights.file.lower().endswith("q4_k_m.gguf")
    assert 0 < weights.active_share <= 1


@pytest.mark.parametrize("weights", catalogue().values(), ids=list(catalogue()))
def test_an_entry_is_in_the_documentation_with_its_source_and_digest(weights: PublishedWeights) -> None:
    [row] = [line for line in DOCS.read_text("utf-8").splitlines() if line.startswith(f"| `{weights.model}` |")]

    assert weights.repository in row
    assert weights.file in row
    assert weights.sha256 in row
    assert weights.licence in row


def test_files_and_digests_are_each_of_one_model_and_the_smallest_comes_first() -> None:
    entries = catalogue().values()
    assert len({entry.file for entry in entries}) == len({entry.sha256 for entry in entries}) == len(entries)
    sizes = [entry.size_bytes for entry in entries]
    assert sizes == sorted(sizes)


@pytest.mark.parametrize(("model", "parts"), [(DEFAULT_MODEL, 22), ("qwen2.5-coder-0.5b-instruct", 6)])
def test_parts_are_wheels_of_their_own_that_together_are_as_large_as_the_file(model: str, parts: int) -> None:
    weights = published_weights(model)

    assert len({part.project for part in weights.parts}) == len(weights.parts) == parts
    assert all(re.fullmatch(r"[0-9a-f]{64}", part.sha256) for part in weights.parts)
    # Stored, not compressed much.
    assert 0.9 < sum(part.size_bytes for part in weights.parts) / weights.size_bytes < 1.01


def test_scores_are_of_models_in_the_catalogue() -> None:
    scores = measured_scores()

    assert set(scores) <= set(catalogue())
    assert all(0 <= score.right <= score.of and score.suite and score.version for score in scores.values())
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", score.date) for score in scores.values())


def test_an_unknown_model_is_an_error_that_names_the_known_and_the_nearest() -> None:
    with pytest.raises(UsageError, match=rf"no model 'nothing'; it has: .*{DEFAULT_MODEL}"):
        published_weights("nothing")
    with pytest.raises(UsageError, match=r"Did you mean qwen2.5-coder-7b-instruct\?"):
        published_weights("qwen2.5-coder-7b")


@pytest.mark.parametrize(
    ("model", "weights", "name", "own"),
    [
        ("", "", DEFAULT_MODEL, False),
        ("embedded", "", DEFAULT_MODEL, False),
        ("", "/somewhere/mine.gguf", "mine", True),
        ("embedded", "/somewhere/mine.gguf", "mine", True),
        ("embedded:mine", "/somewhere/mine.gguf", "mine", True),
        ("embedded:granite-4.1-8b", "", "granite-4.1-8b", False),
        ("embedded:granite-4.1-8b", "/somewhere/mine.gguf", "granite-4.1-8b", False),
    ],
)
def test_settings_name_one_embedded_model(model: str, weights: str, name: str, own: bool) -> None:
    settings = ModelSettings(model=model, weights=weights)

    assert model_name(settings) == name
    assert uses_own_file(settings) is own


@pytest.mark.parametrize(
    ("name", "embedded"),
    [("embedded", True), ("embedded:x", True), ("embeddedx", False), ("x", False), ("", False)],
)
def test_a_name_can_say_that_the_model_runs_here(name: str, embedded: bool) -> None:
    assert is_embedded(name) is embedded


def test_the_default_model_is_fetched_without_its_name() -> None:
    assert fetch_command(DEFAULT_MODEL) == "jupyter codeagent models fetch"
    assert fetch_command("granite-4.1-8b") == "jupyter codeagent models fetch granite-4.1-8b"
