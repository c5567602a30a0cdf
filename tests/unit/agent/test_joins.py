"""Joins that multiply rows; and those that only look like it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rule_calls import issue_of, said

from jupyter_codeagent.agent.prompt.observe import issue_without_values
from jupyter_codeagent.agent.rules.joins import exploded_join
from jupyter_codeagent.types.sandbox import CopyChange, ExecutionResult, NamespaceEntry, StreamOutput


def frames(**rows: int) -> tuple[NamespaceEntry, ...]:
    return tuple(NamespaceEntry(name=name, type_name="DataFrame", shape=(n, 3)) for name, n in rows.items())


SIZES = {"sales": 100, "stores": 50, "joined": 400}


@pytest.mark.parametrize(
    "code",
    [
        "joined = sales.merge(stores, on='city')",
        "joined = pd.merge(sales, stores, on='city', how='left')",
        "joined = pd.merge(left=sales, right=stores, on='city')",
        "joined = sales.join(stores, on='city', how='outer')",
        "joined = sales.join(stores, 'city')",
        "joined = sales.merge(stores[['city', 'size']], on='city')",
        "joined = sales.rename(columns={'town': 'city'}).merge(stores.reset_index(), on='city')",
        "sales = load()\njoined = sales.merge(right=stores, on='city')\nprint(joined.amount.sum())",
        "joined = sales.merge(stores, on='city')\njoined['x'] = joined.a * 2\ntop = joined.head()",
    ],
)
def test_more_rows_than_both_inputs_together_are_noticed(code: str) -> None:
    told = said(exploded_join, code, namespace=frames(**SIZES))
    assert "400 rows from 100 and 50" in told
    assert "unique in neither" in told


@pytest.mark.parametrize(
    "code",
    [
        "joined = sales.merge(stores, how='cross')",
        "joined = sales.merge(stores, on='city', how=how)",
        "joined = pd.concat([sales, stores])",
        "joined = sales.merge(sales, on='city')",
        "joined = pd.merge_asof(sales, stores, on='day')",
        "joined = sales.merge(stores, on='city').explode('tags')",
        "joined = sales.merge(stores, on='city')\njoined = joined.explode('tags')",
        "sales = sales.merge(stores, on='city')\njoined = sales.copy()",
        "joined = sales.merge(stores, on='city')\nstores = stores.head(50)",
        "joined = sales.merge(stores, on='city')\nsales.dropna(inplace=True)",
        "joined = sales.merge(stores, on='city')\nprint(joined.drop_duplicates('id').amount.sum())",
        "joined = sales.merge(stores, on='city')\nprint(joined.id.nunique())",
        "joined = sales.query('a > 1').merge(stores, on='city')",
        "joined = sales.merge(regions, on='city')",
        "for stores in tables:\n    joined = sales.merge(stores, on='city')",
        "joined = ', '.join(names)",
        "joined = os.path.join(sales, stores)",
        "joined = sales.join([stores, regions])",
    ],
)
def test_sizes_that_are_not_certain_or_that_were_wanted_are_not_told(code: str) -> None:
    assert said(exploded_join, code, namespace=frames(**SIZES)) == ""


REBOUND = CopyChange(name="sales", kind="rebound", added=("'size'",), notes=("100 → 400 rows",))


def test_of_a_table_that_takes_the_place_of_its_copy_the_rows_of_the_copy_count() -> None:
    code = "sales = sales.merge(stores, on='city')\nprint(sales.amount.sum())"
    after = frames(sales=400, stores=50)
    assert "400 rows from 100 and 50" in said(exploded_join, code, namespace=after, changes=[REBOUND])
    large = replace(REBOUND, notes=("100,000 → 400 rows",))
    assert said(exploded_join, code, namespace=after, changes=[large]) == ""


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("sales = sales.merge(stores, on='city')", replace(REBOUND, earlier=True)),
        ("sales = sales.merge(stores, on='city')", replace(REBOUND, notes=("DataFrame → Series",))),
        ("sales = sales.merge(stores, on='city')", replace(REBOUND, name="stores")),
        ("sales = sales[sales.a > 1]\nsales = sales.merge(stores, on='city')", REBOUND),
        ("sales = sales[sales.a > 1].merge(stores, on='city')", REBOUND),
        ("sales = sales.merge(stores, on='city')\nstores = stores.head(50)", REBOUND),
    ],
)
def test_rows_of_a_copy_that_are_not_certain_do_not_count(code: str, change: CopyChange) -> None:
    assert said(exploded_join, code, namespace=frames(sales=400, stores=50), changes=[change]) == ""


@pytest.mark.parametrize(("left", "right", "joined"), [(100, 50, 100), (100, 50, 150), (100, 50, 30), (0, 50, 60)])
def test_a_join_with_a_key_that_is_unique_on_one_side_passes(left: int, right: int, joined: int) -> None:
    assert said(exploded_join, "j = a.merge(b, on='k')", namespace=frames(a=left, b=right, j=joined)) == ""


def test_arrays_and_lists_are_no_tables() -> None:
    lists = tuple(NamespaceEntry(name=name, type_name="list", shape=(n,)) for name, n in SIZES.items())
    assert said(exploded_join, "joined = sales.merge(stores, on='city')", namespace=lists) == ""


def test_it_is_an_issue_whose_sizes_are_told_only_where_they_may_be() -> None:
    shown = StreamOutput(output_type="stream", name="stdout", text="12345.5")
    code = "joined = sales.merge(stores, on='city')\nprint(joined.amount.sum())"
    told = issue_of(ExecutionResult(status="ok", outputs=(shown,), namespace=frames(**SIZES)), code)
    assert told.startswith("The join made 400 rows")
    kept = issue_without_values(told, "sales: DataFrame 100x3\nstores: DataFrame 50x3")
    assert kept.startswith("The join made (not told) rows from 100 and 50")
