"""The catalogue as a person reads it: what fits this machine, how fast and how good it is, and how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_codeagent.models.embedded.catalogue import (
    EMBEDDED_PREFIX,
    PublishedWeights,
    catalogue,
    fetch_command,
    published_weights,
)
from jupyter_codeagent.models.embedded.memory import MachineMemory, machine_memory
from jupyter_codeagent.models.embedded.scores import Score, format_score, measured_scores, this_version
from jupyter_codeagent.models.embedded.server import cached_tokens
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed, expected_tokens_per_s, needed_bytes
from jupyter_codeagent.models.embedded.speed import measured_speed
from jupyter_codeagent.models.embedded.weights import is_downloaded
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.sizes import gigabytes

ESTIMATED, UNKNOWN = "tokens/s (≈ estimated)", "tokens/s (after a first run)"
HOW_TO = (
    f"get one: {fetch_command('NAME')} · use it: %agent use {EMBEDDED_PREFIX}NAME · "
    "all about it: %agent models NAME"
)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the same catalogue is read against."""

    memory: MachineMemory
    speed: MeasuredSpeed | None
    scores: Mapping[str, Score]
    fetched: frozenset[str]
    """Models whose weights are there."""
    version: str
    context_tokens: int

    def needed_bytes(self, weights: PublishedWeights) -> int:
        """Memory for this model with this context."""
        return needed_bytes(weights, cached_tokens(self.context_tokens))


def format_models(settings: ModelSettings, model: str = "") -> str:
    """The whole catalogue, or all about one model. A running server is asked for half a second at the most.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    """
    asked = published_weights(model.removeprefix(EMBEDDED_PREFIX)) if model else None
    here = Machine(
        memory=machine_memory(),
        speed=measured_speed(),
        scores=measured_scores(),
        fetched=frozenset(downloaded_models()),
        version=this_version(),
        context_tokens=settings.context_tokens,
    )
    return format_details(asked, here) if asked is not None else format_catalogue(here)


def downloaded_models() -> list[str]:
    """Models of the catalogue whose weights are there."""
    return [model for model, weights in catalogue().items() if is_downloaded(weights)]


def download_warnings(weights: PublishedWeights, settings: ModelSettings) -> list[str]:
    """What a person should know before gigabytes are fetched; they may be meant for another machine."""
    needed, total = needed_bytes(weights, cached_tokens(settings.context_tokens)), machine_memory().total_bytes
    notes = [] if weights.commercial else [f"licence: {format_licence(weights)}"]
    if needed > total:
        notes.append(
            f"{weights.model} needs about {gigabytes(needed)} of memory, this machine has {gigabytes(total)}: "
            "it will not be loaded here"
        )
    return notes


def format_catalogue(here: Machine) -> str:
    """A line for each model, then how to get and use one."""
    speed = ESTIMATED if here.speed is not None else UNKNOWN
    headings = ("runs here without a server", "memory", speed, "licence", "measured", "")
    rows = [headings, *(_row(weights, here) for weights in catalogue().values())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, HOW_TO])


def _row(weights: PublishedWeights, here: Machine) -> tuple[str, ...]:
    return (
        weights.model,
        gigabytes(here.needed_bytes(weights)),
        format_speed(weights, here.speed) or "?",
        weights.licence if weights.commercial else "research only",
        format_score(here.scores.get(weights.model), here.version),
        format_state(weights, here),
    )


def format_speed(weights: PublishedWeights, speed: MeasuredSpeed | None) -> str:
    """``28`` as measured, ``≈ 7`` as estimated from it; empty where nothing was measured."""
    if speed is None:
        return ""
    if speed.model == weights.model:
        return _rounded(speed.tokens_per_s)
    return f"≈ {_rounded(expected_tokens_per_s(weights, speed, published_weights(speed.model)))}"


def _rounded(tokens_per_s: float) -> str:
    return f"{tokens_per_s:.0f}" if tokens_per_s >= 9.5 else f"{tokens_per_s:.1f}"


def _format_speed_with_origin(weights: PublishedWeights, speed: MeasuredSpeed | None) -> str:
    if speed is None:
        return "unknown until an embedded model has answered here"
    text = f"{format_speed(weights, speed)} tokens/s"
    if speed.model == weights.model:
        return f"{text}, measured here"
    return f"{text}, estimated from the {_rounded(speed.tokens_per_s)} of {speed.model} here"


def format_state(weights: PublishedWeights, here: Machine) -> str:
    """Whether it is there, and what stands against it."""
    needed = here.needed_bytes(weights)
    if needed > here.memory.total_bytes:
        return f"too large: this machine has {gigabytes(here.memory.total_bytes)}"
    state = "fetched" if weights.model in here.fetched else f"to fetch: {gigabytes(weights.size_bytes)}"
    if needed > here.memory.free_bytes:
        return f"{state}; memory free now: {gigabytes(here.memory.free_bytes)}"
    return state


def format_licence(weights: PublishedWeights) -> str:
    """With what it forbids."""
    return weights.licence if weights.commercial else f"{weights.licence}, for research only, no commercial use"


def format_details(weights: PublishedWeights, here: Machine) -> str:
    """All that the catalogue says of one model."""
    needed = gigabytes(here.needed_bytes(weights))
    free, total = gigabytes(here.memory.free_bytes), gigabytes(here.memory.total_bytes)
    score = here.scores.get(weights.model)
    facts = {
        "state": format_state(weights, here),
        "repository": f"{weights.repository} (Hugging Face hub), revision {weights.revision}",
        "file": f"{weights.file}, {weights.size_bytes:,} bytes",
        "SHA-256": weights.sha256,
        "licence": format_licence(weights),
        "memory": f"about {needed} with {here.context_tokens:,} tokens of context; {free} of {total} are free",
        "speed": _format_speed_with_origin(weights, here.speed),
        "measured": format_score(score, here.version) + (f", {score.date}, {score.version}" if score else ""),
        "get it": fetch_command(weights.model),
        "use it": f"%agent use {EMBEDDED_PREFIX}{weights.model}",
    }
    width = max(map(len, facts)) + 2
    return "\n".join([weights.model, *(f"  {name + ':':<{width}}{fact}" for name, fact in facts.items())])
