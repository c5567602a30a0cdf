"""The catalogue as a person reads it: what fits this machine, how fast and how good it is, and how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_codeagent.models.embedded.memory import MachineMemory, machine_memory
from jupyter_codeagent.models.embedded.published import (
    EMBEDDED_PREFIX,
    PublishedWeights,
    catalogue,
    fetch_command,
    published_weights,
)
from jupyter_codeagent.models.embedded.scores import Score, measured_scores, score_text, this_version
from jupyter_codeagent.models.embedded.server import cached_tokens
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed, expected_tokens_per_s, needed_bytes
from jupyter_codeagent.models.embedded.speed import measured_speed
from jupyter_codeagent.models.embedded.weights import are_there
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.sizes import gigabytes

ESTIMATED, UNKNOWN = "tokens/s (≈ estimated)", "tokens/s (after a first run)"
HOW_TO = (
    f"get one: {fetch_command('NAME')} · use it: %agent use {EMBEDDED_PREFIX}NAME · "
    "all about it: %agent models NAME"
)


@dataclass(frozen=True, kw_only=True)
class Surroundings:
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


def offered_text(settings: ModelSettings, model: str = "") -> str:
    """The whole catalogue, or all about one model. A running server is asked for half a second at the most.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    """
    asked = published_weights(model.removeprefix(EMBEDDED_PREFIX)) if model else None
    here = Surroundings(
        memory=machine_memory(),
        speed=measured_speed(),
        scores=measured_scores(),
        fetched=frozenset(fetched_models()),
        version=this_version(),
        context_tokens=settings.context_tokens,
    )
    return details_text(asked, here) if asked is not None else catalogue_text(here)


def fetched_models() -> list[str]:
    """Models of the catalogue whose weights are there."""
    return [model for model, weights in catalogue().items() if are_there(weights)]


def notes_before_fetching(weights: PublishedWeights, settings: ModelSettings) -> list[str]:
    """What a person should know before gigabytes are fetched; they may be meant for another machine."""
    needed, total = needed_bytes(weights, cached_tokens(settings.context_tokens)), machine_memory().total_bytes
    notes = [] if weights.commercial else [f"licence: {licence_text(weights)}"]
    if needed > total:
        notes.append(
            f"{weights.model} needs about {gigabytes(needed)} of memory, this machine has {gigabytes(total)}: "
            "it will not be loaded here"
        )
    return notes


def catalogue_text(here: Surroundings) -> str:
    """A line for each model, then how to get and use one."""
    speed = ESTIMATED if here.speed is not None else UNKNOWN
    headings = ("runs here without a server", "memory", speed, "licence", "measured", "")
    rows = [headings, *(_row(weights, here) for weights in catalogue().values())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, HOW_TO])


def _row(weights: PublishedWeights, here: Surroundings) -> tuple[str, ...]:
    return (
        weights.model,
        gigabytes(here.needed_bytes(weights)),
        speed_text(weights, here.speed) or "?",
        weights.licence if weights.commercial else "research only",
        score_text(here.scores.get(weights.model), here.version),
        state_text(weights, here),
    )


def speed_text(weights: PublishedWeights, speed: MeasuredSpeed | None) -> str:
    """``28`` as measured, ``≈ 7`` as estimated from it; empty where nothing was measured."""
    if speed is None:
        return ""
    if speed.model == weights.model:
        return _rounded(speed.tokens_per_s)
    return f"≈ {_rounded(expected_tokens_per_s(weights, speed, published_weights(speed.model)))}"


def _rounded(tokens_per_s: float) -> str:
    return f"{tokens_per_s:.0f}" if tokens_per_s >= 9.5 else f"{tokens_per_s:.1f}"


def _speed_with_origin(weights: PublishedWeights, speed: MeasuredSpeed | None) -> str:
    if speed is None:
        return "unknown until an embedded model has answered here"
    text = f"{speed_text(weights, speed)} tokens/s"
    if speed.model == weights.model:
        return f"{text}, measured here"
    return f"{text}, estimated from the {_rounded(speed.tokens_per_s)} of {speed.model} here"


def state_text(weights: PublishedWeights, here: Surroundings) -> str:
    """Whether it is there, and what stands against it."""
    needed = here.needed_bytes(weights)
    if needed > here.memory.total_bytes:
        return f"too large: this machine has {gigabytes(here.memory.total_bytes)}"
    state = "fetched" if weights.model in here.fetched else f"to fetch: {gigabytes(weights.size_bytes)}"
    if needed > here.memory.free_bytes:
        return f"{state}; memory free now: {gigabytes(here.memory.free_bytes)}"
    return state


def licence_text(weights: PublishedWeights) -> str:
    """With what it forbids."""
    return weights.licence if weights.commercial else f"{weights.licence}, for research only, no commercial use"


def details_text(weights: PublishedWeights, here: Surroundings) -> str:
    """All that the catalogue says of one model."""
    needed = gigabytes(here.needed_bytes(weights))
    free, total = gigabytes(here.memory.free_bytes), gigabytes(here.memory.total_bytes)
    score = here.scores.get(weights.model)
    facts = {
        "state": state_text(weights, here),
        "repository": f"{weights.repository} (Hugging Face hub), revision {weights.revision}",
        "file": f"{weights.file}, {weights.size_bytes:,} bytes",
        "SHA-256": weights.sha256,
        "licence": licence_text(weights),
        "memory": f"about {needed} with {here.context_tokens:,} tokens of context; {free} of {total} are free",
        "speed": _speed_with_origin(weights, here.speed),
        "measured": score_text(score, here.version) + (f", {score.date}, {score.version}" if score else ""),
        "get it": fetch_command(weights.model),
        "use it": f"%agent use {EMBEDDED_PREFIX}{weights.model}",
    }
    width = max(map(len, facts)) + 2
    return "\n".join([weights.model, *(f"  {name + ':':<{width}}{fact}" for name, fact in facts.items())])
