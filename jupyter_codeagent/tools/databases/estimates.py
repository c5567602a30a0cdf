"""What a database expects of a query before it runs, for the person who is asked: the rows of its largest step.

That is one figure for both of what makes a query long: a large table that is read whole, and a join that multiplies
rows. It comes from `EXPLAIN`, which plans the query and runs nothing; SQLite and Polars tell no figures.

"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_codeagent.tools.databases.statements import TITLES
from jupyter_codeagent.types.sizes import format_bytes

PAIRWISE = frozenset({"CROSS_PRODUCT", "BLOCKWISE_NL_JOIN", "NESTED_LOOP_JOIN"})
"""Steps of DuckDB that compare each row with each."""


def rows_text(dialect: str, rows: int) -> str:
    """Return ``PostgreSQL expects about 336,776 rows in its largest step.``; empty where no rows are told."""
    if rows < 1:
        return ""
    what = "1 row" if rows == 1 else f"about {rows:,} rows"
    return f"{TITLES[dialect]} expects {what} in its largest step."


def bytes_text(dialect: str, size_bytes: int) -> str:
    """Return ``Spark expects to read about 2.1 GiB.``; empty where no size is told."""
    return f"{TITLES[dialect]} expects to read about {format_bytes(size_bytes)}." if size_bytes else ""


def postgresql_rows(plan: Any, table_rows: Mapping[tuple[str, str], int]) -> int:
    """Return the rows of the largest step of ``EXPLAIN (FORMAT JSON, VERBOSE)``.

    Parameters
    ----------
    table_rows
        Rows of tables by schema and name: a plan tells of a table that is read whole what passes its filter only.
    """
    largest = 0
    for node in json_nodes(plan):
        largest = max(largest, _number(node.get("Plan Rows")))
        if node.get("Node Type") == "Seq Scan":
            largest = max(largest, table_rows.get((node.get("Schema", ""), node.get("Relation Name", "")), 0))
    return largest


def postgresql_tables(plan: Any) -> list[tuple[str, str]]:
    """Return schema and name of the tables that a plan reads whole."""
    return sorted(
        {
            (str(node.get("Schema", "")), str(node.get("Relation Name", "")))
            for node in json_nodes(plan)
            if node.get("Node Type") == "Seq Scan"
        }
    )


def mysql_rows(plan: Any) -> int:
    """Return the rows of the largest step of ``EXPLAIN FORMAT=JSON`` of MariaDB or MySQL.

    A nested loop looks up rows of each table for each row of those before it, so they are multiplied.
    """
    largest = 0
    for node in json_nodes(plan):
        loop = node.get("nested_loop")
        combined = 1.0
        for part in loop if isinstance(loop, list) else [node]:
            combined *= max((_table_rows(found) for found in _tables(part)), default=1.0)
            largest = max(largest, _number(combined))
    return largest


def duckdb_rows(plan: Any) -> int:
    """Return the rows of the largest step of ``EXPLAIN (FORMAT json)`` of DuckDB.

    Of joins that compare every pair of rows DuckDB tells what is left, or nothing: their pairs are counted.
    """
    return max((max(_result_rows(node), _pairs(node)) for node in json_nodes(plan) if "name" in node), default=0)


def _result_rows(node: Mapping[str, Any]) -> int:
    told = _number((node.get("extra_info") or {}).get("Estimated Cardinality")) or _pairs(node)
    children = node.get("children") or ()
    return told or max(map(_result_rows, children), default=0)


def _pairs(node: Mapping[str, Any]) -> int:
    is_pairwise = node.get("name") in PAIRWISE
    return math.prod(map(_result_rows, node.get("children") or ())) if is_pairwise else 0


def json_nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of a JSON value, the outer ones first."""
    if isinstance(tree, dict):
        yield tree
        tree = [*tree.values()]
    if isinstance(tree, list):
        for part in tree:
            yield from json_nodes(part)


def _tables(part: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a part of a nested loop, not those of loops within it."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "table" and isinstance(value, dict):
                yield value
            elif key != "nested_loop":
                yield from _tables(value)


def _table_rows(table: Mapping[str, Any]) -> float:
    """Return how many rows are read of a table for one row before it: MySQL and MariaDB name that differently."""
    return float(max(_number(table.get("rows", table.get("rows_examined_per_scan"))), 1))


def _number(figure: Any) -> int:
    try:
        number = float(figure)
    except (TypeError, ValueError):
        return 0
    return round(number) if math.isfinite(number) else 0
