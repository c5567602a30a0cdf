"""Which calls are observed, and by which library's module."""

from __future__ import annotations

from typing import Any

from . import comparisons, pandas_calls, polars_calls, tables
from .call import Call, Operation
from .hooks import ARITHMETIC, ATTRIBUTE, COMPARISONS


def observe(call: Call, origin_of: Any) -> Operation | None:
    """Return what the call did, or None if that is nothing to rows or values; sets `call.origin`."""
    library = _library(call.receiver)
    if call.site.name in COMPARISONS.values():
        return comparisons.observe(call) if library == "pandas" else None
    if call.site.name in (ATTRIBUTE, ARITHMETIC) and library != "pandas":
        return None
    if library == "pandas":
        return pandas_calls.observe(call, origin_of)
    if library == "polars":
        return polars_calls.observe(call, origin_of)
    if library in tables.LIBRARIES:
        return tables.observe(call)
    return None


def counted_methods() -> frozenset[str]:
    """Return the names of the methods that are counted; what a name means is decided by the receiver's type."""
    return frozenset({*pandas_calls.HANDLERS, *polars_calls.HANDLERS, *tables.KINDS, "group_by", "agg", "groupby"})


def _library(value: Any) -> str:
    """Return the top package of a value's type, or of a module."""
    name = value.__name__ if type(value).__name__ == "module" else type(value).__module__
    return str(name).partition(".")[0]
