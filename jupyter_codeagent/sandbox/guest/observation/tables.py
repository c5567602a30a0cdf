"""Calls of pyarrow tables and DuckDB relations: rows and columns only."""

from __future__ import annotations

from typing import Any

from .call import Call, Operation

LIBRARIES = frozenset({"pyarrow", "duckdb"})
KINDS = {
    "filter": "filter",
    "join": "join",
    "aggregate": "group",
    "slice": "cut",
    "sql": "query",
    "query": "query",
    "execute": "query",
    "df": "query",
    "pl": "query",
    "fetchdf": "query",
    "arrow": "query",
}


def observe(call: Call) -> Operation | None:
    """Return the rows and columns before and after; None where either has none that can be counted."""
    if call.site.name not in KINDS:
        return None
    before, after = _shape(call.receiver), _shape(call.result)
    if after is None:
        return None  # a relation or a connection, which nothing has been read from yet
    one = call.operation(KINDS[call.site.name])
    one.rows = (before[0] if before is not None else after[0], after[0])
    if before is not None:
        one.columns = (before[1], after[1])
    other = _shape(call.get("right_table", 0))
    one.other_rows = other[0] if other is not None and one.kind == "join" else None
    return one


def _shape(value: Any) -> tuple[int, int] | None:
    shape = getattr(value, "shape", None) if type(value).__module__.partition(".")[0] != "duckdb" else None
    if isinstance(shape, tuple) and len(shape) == 2 and all(isinstance(size, int) for size in shape):
        return shape
    return None
