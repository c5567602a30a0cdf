"""Which describer knows a value: found by the names of its types, without importing anything.

If a variable exists, the library of its type is imported already; ours must never be the one that imports it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.reading import mro, type_path

Describer = Callable[[str, Any, Privacy], VariableSummary]
"""(name, value, privacy) -> summary. Reads at most a bounded sample; never the value's `repr`."""

GROUP = "jupyter_codeagent.describers"

_log = logging.getLogger(__name__)


def find_describer(value: object) -> Describer | None:
    """The describer of the nearest type in the value's MRO, by ``module.QualName``."""
    from jupyter_codeagent.variables.describers import objects

    known, kind = _describers(), type(value)
    for base in mro(kind):
        describer = known.get(type_path(base))
        if describer is not None:
            return describer
    return objects.describe_fields if objects.has_fields(kind) else None


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
        except Exception:  # noqa: BLE001 - one broken package must not take the other descriptions with it
            _log.warning("describer %r of %r cannot be loaded", entry.name, entry.value, exc_info=True)
    return known
