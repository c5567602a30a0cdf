"""The catalogue as text: what fits this machine, its speed and quality, and how to get it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_codeagent.models.embedded.catalogue import (
    PublishedWeights,
    catalogue,
    fetch_command,
    published_weights,
)
from jupyter_codeagent.models.embedded.scores import Score, format_score, measured_scores
from jupyter_codeagent.models.embedded.server import cached_tokens
from jupyter_codeagent.models.embedded.sizing import MeasuredSpeed, expected_tokens_per_s, needed_bytes
from jupyter_codeagent.models.embedded.speed import measured_speed
from jupyter_codeagent.models.embedded.weights import is_downloaded
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.embedded import EMBEDDED_PREFIX
from jupyter_codeagent.types.machine_memory import MachineMemory, machine_memory
from jupyter_codeagent.types.sizes import gigabytes
from jupyter_codeagent.types.version import installed_version

ESTIMATED, UNKNOWN = "tokens/s (≈ estimated)", "tokens/s (after a first run)"
HOW_TO = (
    f"get one: {fetch_command('NAME')} · use it: %agent use {EMBEDDED_PREFIX}NAME · "
    "all about it: %agent models NAME"
)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Facts about this machine and its models."""

    memory: MachineMemory
    speed: MeasuredSpeed | None
    scores: Mapping[str, Score]
    fetched: frozenset[str]
    """Models whose weights were downloaded."""
    version: str
    context_tokens: int

    def needed_bytes(self, weights: PublishedWeights) -> int:
        """Return the memory that a model needs with this context window."""
        return needed_bytes(weights, cached_tokens(self.context_tokens))


def format_models(settings: ModelSettings, model: str = "") -> str:
    """Return the text of the whole catalogue, or the details of one model.

    A running server is asked for its speed, for half a second at most.

    Raises
    ------
    UsageError
        The catalogue has no such model.
    """
    wanted = published_weights(model.removeprefix(EMBEDDED_PREFIX)) if model else None
    machine = Machine(
        memory=machine_memory(),
        speed=measured_speed(),
        scores=measured_scores(),
        fetched=frozenset(downloaded_models()),
        version=installed_version(),
        context_tokens=settings.context_tokens,
    )
    return format_details(wanted, machine) if wanted is not None else format_catalogue(machine)


def downloaded_models() -> list[str]:
    """Return the models of the catalogue whose weights were downloaded."""
    return [model for model, weights in catalogue().items() if is_downloaded(weights)]


def download_warnings(weights: PublishedWeights, settings: ModelSettings) -> list[str]:
    """Return warnings before a download of gigabytes, which may be meant for another machine."""
    needed, total = needed_bytes(weights, cached_tokens(settings.context_tokens)), machine_memory().total_bytes
    notes = [] if weights.commercial else [f"licence: {format_licence(weights)}"]
    if needed > total:
        notes.append(
            f"{weights.model} needs about {gigabytes(needed)} of memory, this machine has {gigabytes(total)}: "
            "it will not be loaded here"
        )
    return notes


def format_catalogue(machine: Machine) -> str:
    """Return the catalogue: one line per model, then how to get and use one."""
    speed = ESTIMATED if machine.speed is not None else UNKNOWN
    headings = ("runs here without a server", "memory", speed, "licence", "measured", "")
    rows = [headings, *(_row(weights, machine) for weights in catalogue().values())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, HOW_TO])


def _row(weights: PublishedWeights, machine: Machine) -> tuple[str, ...]:
    return (
        weights.model,
        gigabytes(machine.needed_bytes(weights)),
        format_speed(weights, machine.speed) or "?",
        weights.licence if weights.commercial else "research only",
        format_score(machine.scores.get(weights.model), machine.version),
        format_state(weights, machine),
    )


def format_speed(weights: PublishedWeights, speed: MeasuredSpeed | None) -> str:
    """Return ``28`` if measured, ``≈ 7`` if estimated from another model; empty without a measurement."""
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


def format_state(weights: PublishedWeights, machine: Machine) -> str:
    """Return whether a model is downloaded and fits the memory."""
    needed = machine.needed_bytes(weights)
    if needed > machine.memory.total_bytes:
        return f"too large: this machine has {gigabytes(machine.memory.total_bytes)}"
    state = "fetched" if weights.model in machine.fetched else f"to fetch: {gigabytes(weights.size_bytes)}"
    if needed > machine.memory.free_bytes:
        return f"{state}; memory free now: {gigabytes(machine.memory.free_bytes)}"
    return state


def format_licence(weights: PublishedWeights) -> str:
    """Return the licence with its restrictions."""
    return weights.licence if weights.commercial else f"{weights.licence}, for research only, no commercial use"


def format_details(weights: PublishedWeights, machine: Machine) -> str:
    """Return the details of one model."""
    needed = gigabytes(machine.needed_bytes(weights))
    free, total = gigabytes(machine.memory.free_bytes), gigabytes(machine.memory.total_bytes)
    score = machine.scores.get(weights.model)
    facts = {
        "state": format_state(weights, machine),
        "repository": f"{weights.repository} (Hugging Face hub), revision {weights.revision}",
        "file": f"{weights.file}, {weights.size_bytes:,} bytes",
        "SHA-256": weights.sha256,
        "licence": format_licence(weights),
        "memory": f"about {needed} with {machine.context_tokens:,} tokens of context; {free} of {total} are free",
        "speed": _format_speed_with_origin(weights, machine.speed),
        "measured": format_score(score, machine.version) + (f", {score.date}, {score.version}" if score else ""),
        "get it": fetch_command(weights.model),
        "use it": f"%agent use {EMBEDDED_PREFIX}{weights.model}",
    }
    width = max(map(len, facts)) + 2
    return "\n".join([weights.model, *(f"  {name + ':':<{width}}{fact}" for name, fact in facts.items())])
