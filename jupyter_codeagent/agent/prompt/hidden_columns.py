"""What to say when code asks for a column that the user has hidden: to the model, and to the user."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.agent.rules.error_reading import missing_labels
from jupyter_codeagent.types.sandbox import ExecutionError


def asked_hidden(error: ExecutionError, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """Return the hidden labels that the code itself has named, never others: ``'rating' of orders``; else empty."""
    asked = set(missing_labels(error))
    return ", ".join(
        f"{label!r} of {name}" for name, labels in hidden_columns.items() for label in sorted(asked & labels)
    )


def hidden_hint(error: ExecutionError, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """Return the line for the model; empty if the code has named no hidden label."""
    asked = asked_hidden(error, hidden_columns)
    return f"{asked}: hidden by the user, so the sandbox has no copy; answer without it" if asked else ""
