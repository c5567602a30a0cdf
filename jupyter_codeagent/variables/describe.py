"""All variables of a namespace, each described on its own: one that fails costs one line, never the run."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from jupyter_codeagent.values import Privacy, VariableSummary
from jupyter_codeagent.variables.registry import find_describer
from jupyter_codeagent.variables.text import safe

MAX_DETAILED = 200
"""Variables beyond this are told by name and type: 10,000 variables must stay usable."""


def describe(namespace: Mapping[str, Any], *, privacy: Privacy, mentioned: str) -> tuple[VariableSummary, ...]:
    """Summaries in the order of the namespace; modules are left out.

    Called on the main thread, once per run. Variables that `mentioned` names are always described in full.
    """
    summaries: list[VariableSummary] = []
    for name, value in namespace.items():
        if isinstance(value, types.ModuleType):
            continue
        full = len(summaries) < MAX_DETAILED or name in mentioned
        summaries.append(describe_value(name, value, privacy) if full else unknown(name, value))
    return tuple(summaries)


def describe_value(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """One variable: by its own `_repr_agent_()`, by a describer, or by name and type."""
    try:
        # Its own words may hold values, so `schema` does without them.
        own = getattr(type(value), "_repr_agent_", None) if privacy != "schema" else None
        if own is not None:
            return VariableSummary(
                name=name, type_name=type(value).__name__, headline=f"{name}: {safe(str(own(value)), 300)}"
            )
        describer = find_describer(value)
        return describer(name, value, privacy) if describer is not None else unknown(name, value)
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything; its name and type are still true
        return unknown(name, value)


def unknown(name: str, value: object) -> VariableSummary:
    """Name and type only; its `repr` may be lazy, large or harmful."""
    kind = type(value)
    shown = kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"
    return VariableSummary(name=name, type_name=kind.__name__, headline=f"{name}: {safe(shown, 80)}")
