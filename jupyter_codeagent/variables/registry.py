"""Which describer knows a value: found by the names of its types, without importing anything.

If a variable exists, the library of its type is imported already; ours must never be the one that imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from jupyter_codeagent.values import Privacy, VariableSummary

Describer = Callable[[str, Any, Privacy], VariableSummary]
"""(name, value, privacy) -> summary. Reads at most a bounded sample; never the value's `repr`."""

GROUP = "jupyter_codeagent.describers"


def find_describer(value: object) -> Describer | None:
    """The describer of the nearest type in the value's MRO, by ``module.QualName``."""
    known = _describers()
    for kind in type(value).__mro__:
        describer = known.get(f"{kind.__module__}.{kind.__qualname__}")
        if describer is not None:
            return describer
    return None


@cache
def _describers() -> dict[str, Describer]:
    from jupyter_codeagent.variables import arrays, frames, models, plain

    known: dict[str, Describer] = {
        **plain.DESCRIBERS,
        **arrays.DESCRIBERS,
        **frames.DESCRIBERS,
        **models.DESCRIBERS,
    }
    for entry in entry_points(group=GROUP):
        known[entry.name] = entry.load()
    return known
