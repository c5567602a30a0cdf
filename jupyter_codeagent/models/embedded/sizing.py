"""Memory and speed of a model on a machine, computed from the facts of its file."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_codeagent.models.embedded.catalogue import PublishedWeights

REPACKED_FACTOR = 1.1
"""llama.cpp copies most weights into an order that suits the processor and reads the rest from the file; the
system may drop the pages of the file that were copied. Measured for the 1.5B: 0.93 GB copied, 0.2 GB read, of a
file of 1.12 GB."""
WORKING_BYTES = 350 << 20
"""Memory for logits of a batch, intermediate results and the program itself."""
CACHE_NUMBER_BYTES = 2
"""The key-value cache has 16-bit floats."""


@dataclass(frozen=True, kw_only=True)
class MeasuredSpeed:
    """The measured generation speed of a model of the catalogue on this machine."""

    model: str
    tokens_per_s: float


def needed_bytes(weights: PublishedWeights, cached_tokens: int) -> int:
    """Return the approximate memory of a running model: weights, key-value cache, working memory."""
    cache = 2 * weights.layers * weights.kv_heads * weights.head_size * CACHE_NUMBER_BYTES * cached_tokens
    return round(REPACKED_FACTOR * weights.size_bytes) + cache + WORKING_BYTES


def active_bytes(weights: PublishedWeights) -> float:
    """Return the bytes read from memory for each token, which limit the generation speed."""
    return weights.size_bytes * weights.active_share


def expected_tokens_per_s(
    weights: PublishedWeights, measured: MeasuredSpeed, measured_weights: PublishedWeights
) -> float:
    """Estimate the speed of a model from another model's speed on the same machine."""
    return measured.tokens_per_s * active_bytes(measured_weights) / active_bytes(weights)
