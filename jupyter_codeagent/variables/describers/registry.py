"""Find the describer for a value by the names of its types, without importing anything.

If a variable exists, the library of its type is imported already; this package must never be the one to import it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.introspection import lookup_by_type

Describer = Callable[[str, Any, Privacy], VariableSummary]
"""(name, value, privacy) -> summary. A describer reads at most a bounded sample, and never the value's `repr`."""

GROUP = "jupyter_codeagent.describers"

_log = logging.getLogger(__name__)


def find_describer(value: object) -> Describer | None:
    """Return the describer for the nearest type in the value's MRO; None if there is none."""
    from jupyter_codeagent.variables.describers import objects

    describer = lookup_by_type(value, _describers())
    if describer is None and objects.has_fields(type(value)):
        return objects.describe_fields
    return describer


@cache
def _describers() -> dict[str, Describer]:
    from jupyter_codeagent.variables.describers import (
        arrays,
        arrow,
        databases,
        distributed,
        figures,
        geo,
        models,
        objects,
        pandas,
        paths,
        plain,
        polars,
        sparse,
        xarray,
    )

    known: dict[str, Describer] = {}
    for module in (
        *(plain, objects, paths, arrays, pandas, polars, arrow, sparse),
        *(xarray, geo, databases, distributed, models, figures),
    ):
        known.update(module.DESCRIBERS)
    for entry in entry_points(group=GROUP):
        try:
            known[entry.name] = entry.load()
        except Exception:  # noqa: BLE001 - one broken package must not disable the other describers
            _log.warning("describer %r of %r cannot be loaded", entry.name, entry.value, exc_info=True)
    return known
