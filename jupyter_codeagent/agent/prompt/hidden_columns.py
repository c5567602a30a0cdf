"""The hint for the model when its code asks for a column that the user has hidden."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.agent.rules.error_reading import missing_labels
from jupyter_codeagent.types.sandbox import ExecutionError


def hidden_hint(error: ExecutionError, hidden_columns: Mapping[str, frozenset[str]]) -> str:
    """Return one line on hidden labels that the code itself has named, never on others; else empty."""
    asked = set(missing_labels(error))
    hits = [f"{label!r} of {name}" for name, labels in hidden_columns.items() for label in sorted(asked & labels)]
    return f"{', '.join(hits)}: hidden by the user, so the sandbox has no copy; answer without it" if hits else ""
