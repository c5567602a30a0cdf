"""The names by which the embedded model is asked for."""

from __future__ import annotations

EMBEDDED = "embedded"
"""Alias of the embedded model, with any weights."""
EMBEDDED_PREFIX = f"{EMBEDDED}:"
"""Prefix of a name that always means the embedded model, even if a server has a model of that name."""


def is_embedded(name: str) -> bool:
    """Check whether a name always means the embedded model: ``embedded`` or ``embedded:NAME``."""
    return name == EMBEDDED or name.startswith(EMBEDDED_PREFIX)
