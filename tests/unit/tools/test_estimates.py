"""The largest step of plans, as the databases print them."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeagent.tools.databases.estimates import (
    bytes_text,
    duckdb_rows,
    mysql_rows,
    postgresql_rows,
    postgresql_tables,
    rows_text,
)


def table(rows: Any, key: str = "rows") -> dict[str, Any]:
    return {"table": {"table_name": "t", "access_type": "ALL", key: rows}}


MATERIALIZED = {"table": {"rows": 10, "materialized": {"query_block": {"nested_loop": [table(500)]}}}}


@pytest.mark.parametrize(
    ("block", "rows"),
    [
        (table(700), 700),
        ({"nested_loop": [table(700), table(1)]}, 700),
        ({"nested_loop": [table(700), {"block-nl-join": table(200)}]}, 140_000),
        ({"filesort": {"temporary_table": {"nested_loop": [table(700)]}}}, 700),
        ({"nested_loop": [table(70, "rows_examined_per_scan"), table(3, "rows_examined_per_scan")]}, 210),
        ({"nested_loop": [MATERIALIZED, table(2)]}, 500),
        ({"message": "Impossible WHERE"}, 1),
        (table(float("inf")), 1),
    ],
)
def test_a_nested_loop_of_mariadb_or_mysql_multiplies_the_rows_of_its_tables(
    block: dict[str, Any], rows: int
) -> None:
    assert mysql_rows({"query_block": {"select_id": 1, **block}}) == rows


def test_a_table_that_postgresql_reads_whole_counts_with_all_its_rows() -> None:
    scan = {"Node Type": "Seq Scan", "Schema": "s", "Relation Name": "t", "Plan Rows": 5}
    looked_up = {"Node Type": "Index Scan", "Schema": "s", "Relation Name": "u", "Plan Rows": 1}
    plan = [{"Plan": {"Node Type": "Hash Join", "Plan Rows": 40, "Plans": [scan, looked_up]}}]
    assert postgresql_tables(plan) == [("s", "t")]
    assert postgresql_rows(plan, {("s", "t"): 9000, ("s", "u"): 70_000}) == 9000
    assert postgresql_rows(plan, {("s", "t"): -1}) == 40, "never analyzed"


def test_joins_of_duckdb_that_compare_each_row_with_each_count_their_pairs() -> None:
    def step(name: str, rows: int | None, *children: Any) -> dict[str, Any]:
        told = {} if rows is None else {"Estimated Cardinality": str(rows)}
        return {"name": name, "children": [*children], "extra_info": told}

    total = step("UNGROUPED_AGGREGATE", 1, step("SEQ_SCAN ", 300))
    assert duckdb_rows([step("PROJECTION", 300, step("CROSS_PRODUCT", None, step("SEQ_SCAN ", 300), total))]) == 300
    pairs = step("BLOCKWISE_NL_JOIN", 300, step("PROJECTION", None, step("SEQ_SCAN ", 300)), step("SEQ_SCAN ", 200))
    assert duckdb_rows([step("UNGROUPED_AGGREGATE", 1, pairs)]) == 60_000


def test_what_is_expected_is_a_sentence_and_nothing_where_nothing_is_told() -> None:
    assert rows_text("mariadb", 1) == "MariaDB expects 1 row in its largest step."
    assert rows_text("duckdb", 336_776) == "DuckDB expects about 336,776 rows in its largest step."
    assert bytes_text("spark", 3 << 29) == "Spark expects to read about 1.5 GiB."
    assert (rows_text("duckdb", 0), bytes_text("spark", 0)) == ("", "")
